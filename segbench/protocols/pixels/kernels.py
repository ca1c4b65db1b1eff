"""The compiled loop of the pixel protocol: histograms of levels; imported only when pixels are counted."""

from __future__ import annotations

from segbench.core.arrays import Array
from segbench.core.compiling import compiled


@compiled()
def histogram(classes: Array, levels: Array, cells: Array, tables: Array) -> None:
    """Add pixels to four tables, whose columns are the levels of class 0, those of class 1 and those of class 2.

    `cells` holds the columns of some pixels at a time: so many at once are computed faster than one by one.
    """
    level_count = tables.shape[1] // 3
    for start in range(0, classes.size, cells.size):
        some_classes = classes[start : start + cells.size]
        some_levels = levels[start : start + cells.size]
        for i in range(some_classes.size):
            cells[i] = some_classes[i] * level_count + some_levels[i]
        # Edge maps are mostly one level: neighbouring pixels go to separate tables, or each would wait for the last.
        whole = some_classes.size - some_classes.size % 4
        for i in range(0, whole, 4):
            tables[0, cells[i]] += 1
            tables[1, cells[i + 1]] += 1
            tables[2, cells[i + 2]] += 1
            tables[3, cells[i + 3]] += 1
        for i in range(whole, some_classes.size):
            tables[0, cells[i]] += 1
