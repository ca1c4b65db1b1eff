"""Compiled loops: the best partner of each object."""

from __future__ import annotations

import numpy as np

from segbench.core.arrays import IntArray
from segbench.core.compiling import compiled


@compiled()
def best_columns(rows: IntArray, shared: IntArray, unions: IntArray, number: int) -> IntArray:
    """Find the entry of the largest intersection over union in each row, the first of several, or -1.

    Fractions are compared by their products, which are exact.
    """
    best = np.full(number, -1, np.int64)
    for k in range(rows.size):
        known = best[rows[k]]
        if known < 0 or shared[k] * unions[known] > shared[known] * unions[k]:
            best[rows[k]] = k
    return best
