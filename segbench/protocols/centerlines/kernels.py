"""Compiled loops over masks of 0 and 1: their Betti numbers, in one pass over the runs of each row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from segbench.core.compiling import compiled

ByteArray = NDArray[np.uint8]
IntArray = NDArray[np.int64]


@compiled()
def root_of(parents: IntArray, run: int) -> int:
    """Find the first run of the component that a run belongs to, and make the way to it shorter."""
    while parents[run] != run:
        parents[run] = parents[parents[run]]
        run = parents[run]
    return run


@compiled()
def betti_numbers(mask: ByteArray, diagonal: int) -> tuple[int, int]:
    """Count components and holes; `diagonal` is 1 where pixels touch at corners, too, else 0.

    Two runs in neighbouring rows that touch either join two components or, as their component is the same, close a
    loop around a hole. Outside the mask is background.
    """
    height, width = mask.shape
    parents = np.empty(height * ((width + 1) // 2), np.int64)
    starts, ends = np.empty((2, width // 2 + 1), np.int64), np.empty((2, width // 2 + 1), np.int64)
    components = holes = runs = above = 0
    for r in range(height):
        now, before, first, found, c = r & 1, 1 - (r & 1), runs, 0, 0
        while c < width:
            if mask[r, c] == 0:
                c += 1
                continue
            starts[now, found] = c
            while c < width and mask[r, c]:
                c += 1
            ends[now, found] = c
            parents[runs] = runs
            runs += 1
            found += 1
        components += found
        one = other = 0
        while one < above and other < found:
            if starts[before, one] < ends[now, other] + diagonal and starts[now, other] < ends[before, one] + diagonal:
                a, b = root_of(parents, first - above + one), root_of(parents, first + other)
                if a == b:
                    holes += 1
                else:
                    components -= 1
                    parents[max(a, b)] = min(a, b)
            if ends[before, one] < ends[now, other]:
                one += 1
            else:
                other += 1
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
