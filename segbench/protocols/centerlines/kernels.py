"""Compiled loops over masks of 0 and 1: their Betti numbers, in one pass over the runs of each row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import IntArray
from segbench.core.compiling import compiled, root_of

ByteArray = NDArray[np.uint8]


@compiled()
def betti_numbers(mask: ByteArray, diagonal: int) -> tuple[int, int]:
    """Count components and holes; `diagonal` is 1 where pixels touch at corners, too, else 0.

    Two runs in neighbouring rows that touch either join two components or, as their component is the same, close a
    loop around a hole. Outside the mask is background.
    """
    height, width = mask.shape
    parents = np.empty(height * ((width + 1) // 2), np.int64)
    edges = np.empty((2, width + 2), np.int64)  # of this row and the one above: where runs start and end, in turn
    components = holes = runs = above = 0
    for r in range(height):
        ends, ends_above, changes, last = edges[r & 1], edges[1 - (r & 1)], 0, np.uint8(0)
        for c in range(width):
            ends[changes] = c
            changes += mask[r, c] != last
            last = mask[r, c]
        ends[changes] = width
        found = (changes + 1) // 2
        for run in range(runs, runs + found):
            parents[run] = run
        components += found
        one = other = 0
        while one < above and other < found:
            start_above, end_above = ends_above[2 * one], ends_above[2 * one + 1]
            start, end = ends[2 * other], ends[2 * other + 1]
            if start_above < end + diagonal and start < end_above + diagonal:
                a, b = root_of(parents, runs - above + one), root_of(parents, runs + other)
                if a == b:
                    holes += 1
                else:
                    components -= 1
                    parents[max(a, b)] = min(a, b)
            if end_above < end:
                one += 1
            else:
                other += 1
        runs += found
        above = found
    return components, holes


@compiled()
def betti_of_patches(mask: ByteArray, side: int, diagonal: int) -> IntArray:
    """Count components and holes of each whole patch of a grid from the top-left corner, shape (patches, 2)."""
    rows, columns = mask.shape[0] // side, mask.shape[1] // side
    found = np.empty((rows * columns, 2), np.int64)
    for row in range(rows):
        for column in range(columns):
            patch = mask[row * side : (row + 1) * side, column * side : (column + 1) * side]
            found[row * columns + column] = betti_numbers(patch, diagonal)
    return found
