"""The compiled loop of the pixel protocol: histograms of levels; imported only when pixels are counted."""

from __future__ import annotations

import numpy as np

from segbench.core.arrays import Array
from segbench.core.compiling import compiled, int64

_CELLS_AT_ONCE = 256


@compiled()
def histogram(classes: Array, highest: np.uint8, levels: Array, tables: Array, counts: Array) -> None:
    """Count pixels by class and level: the columns of `counts` are the levels of class 0, of class 1 and of class 2.

    Classes above `highest` are taken for it. `tables` are four of zeros, with the columns of `counts`; small numbers
    in them are quicker, so they are added to `counts` before they can overflow.
    """
    cells = np.empty(_CELLS_AT_ONCE, tables.dtype)  # columns of so many pixels are computed faster than one by one
    level_count = counts.size // 3
    pixels_at_once = 2 * int64(np.iinfo(tables.dtype).max)
    for first in range(0, classes.size, pixels_at_once):
        end = min(classes.size, first + pixels_at_once)
        for start in range(first, end, cells.size):
            some_classes = classes[start : min(end, start + cells.size)]
            some_levels = levels[start : min(end, start + cells.size)]
            for i in range(some_classes.size):
                cells[i] = min(some_classes[i], highest) * level_count + some_levels[i]
            # Edge maps are mostly one level: neighbours go to separate tables, or each would wait for the last.
            whole = some_classes.size - some_classes.size % 4
            for i in range(0, whole, 4):
                tables[0, cells[i]] += 1
                tables[1, cells[i + 1]] += 1
                tables[2, cells[i + 2]] += 1
                tables[3, cells[i + 3]] += 1
            for i in range(whole, some_classes.size):
                tables[0, cells[i]] += 1
        for table in tables:
            for column in range(counts.size):
                counts[column] += table[column]
                table[column] = 0
