"""The compiled loop of the pixel protocol: histograms of levels; imported only when pixels are counted."""

from __future__ import annotations

import numpy as np

from segbench.core.arrays import Array
from segbench.core.compiling import compiled, int64

_PIXELS_IN_BATCH = 256


@compiled()
def histogram(classes: Array, highest: np.uint8, levels: Array, tables: Array, counts: Array) -> None:
    """Count pixels by class and level: the columns of `counts` are the levels of class 0, of class 1 and of class 2.

    Classes above `highest` count as `highest`. `tables`, of shape (4, columns of `counts`), are zero; their small
    numbers are faster, and are added to `counts` before they can overflow.
    """
    columns = np.empty(_PIXELS_IN_BATCH, tables.dtype)  # those of a batch are computed faster than one by one
    level_count = counts.size // 3
    pixels_at_once = 2 * int64(np.iinfo(tables.dtype).max)
    for first in range(0, classes.size, pixels_at_once):
        end = min(classes.size, first + pixels_at_once)
        for start in range(first, end, columns.size):
            batch_classes = classes[start : min(end, start + columns.size)]
            batch_levels = levels[start : min(end, start + columns.size)]
            for i in range(batch_classes.size):
                columns[i] = min(batch_classes[i], highest) * level_count + batch_levels[i]
            # Edge maps are mostly one level: neighbours go to separate tables, or each would wait for the last.
            whole = batch_classes.size - batch_classes.size % 4
            for i in range(0, whole, 4):
                tables[0, columns[i]] += 1
                tables[1, columns[i + 1]] += 1
                tables[2, columns[i + 2]] += 1
                tables[3, columns[i + 3]] += 1
            for i in range(whole, batch_classes.size):
                tables[0, columns[i]] += 1
        for table in tables:
            for column in range(counts.size):
                counts[column] += table[column]
                table[column] = 0
