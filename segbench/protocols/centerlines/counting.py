"""Masks of one image to counts of centerlines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import BoolArray, FloatArray, IntArray
from segbench.core.compiling import compiled, root_of
from segbench.protocols.centerlines.counts import CenterlineCounts
from segbench.protocols.centerlines.skeletons import skeleton_of

SIDE = 64
"""How many pixels wide and high a patch is."""

Mask = BoolArray


def count_masks(
    truth: Mask, predicted: Sequence[Mask], thresholds: FloatArray, *, skeleton: str, connectivity: int
) -> CenterlineCounts:
    """Count an image: its ground truth, and what is predicted at each threshold."""
    true_skeleton = skeleton_of(truth, skeleton)
    true_topology, true_patches = _topology(truth, connectivity)
    rows = np.zeros((len(predicted), len(CenterlineCounts.arrays)), np.int64)
    for row, mask in zip(rows, predicted, strict=True):
        found = skeleton_of(mask, skeleton)
        topology, patches = _topology(mask, connectivity)
        row[:4] = [np.count_nonzero(each) for each in (mask, found, found & truth, true_skeleton & mask)]
        row[4:7] = np.abs(topology - true_topology)
        row[7:] = np.abs(patches - true_patches).sum(axis=0)
    return CenterlineCounts(
        thresholds,
        skeleton,
        connectivity,
        1,
        len(true_patches),
        int(np.count_nonzero(truth)),
        int(np.count_nonzero(true_skeleton)),
        *rows.T,
    )


def _topology(mask: Mask, connectivity: int) -> tuple[IntArray, IntArray]:
    """Give components, holes and Euler characteristic of a mask, and of each patch in rows."""
    diagonal, bits = int(connectivity == 8), np.ascontiguousarray(mask).view(np.uint8)
    whole = np.array([betti_numbers(bits, diagonal)])
    patches = betti_of_patches(bits, SIDE, diagonal)
    both = (np.column_stack([each, each[:, 0] - each[:, 1]]) for each in (whole, patches))
    return next(both)[0], next(both)


@compiled()
def betti_numbers(mask: NDArray[np.uint8], diagonal: int) -> tuple[int, int]:
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
def betti_of_patches(mask: NDArray[np.uint8], side: int, diagonal: int) -> IntArray:
    """Count components and holes of each whole patch of a grid from the top-left corner, shape (patches, 2)."""
    rows, columns = mask.shape[0] // side, mask.shape[1] // side
    found = np.empty((rows * columns, 2), np.int64)
    for row in range(rows):
        for column in range(columns):
            patch = mask[row * side : (row + 1) * side, column * side : (column + 1) * side]
            found[row * columns + column] = betti_numbers(patch, diagonal)
    return found
