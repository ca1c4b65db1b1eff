"""Masks of one image to counts of centerlines: their skeletons (`skeletons`) and their topology, by Betti numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import BoolArray, FloatArray, IntArray
from segbench.core.compiling import compiled, root_of
from segbench.protocols.centerlines.counts import CenterlineCounts
from segbench.protocols.centerlines.skeletons import skeleton_of

PATCH_SIDE = 64
"""How many pixels wide and high a patch is."""


def count_masks(
    truth: BoolArray, predicted: Sequence[BoolArray], thresholds: FloatArray, *, skeleton: str, connectivity: int
) -> CenterlineCounts:
    """Count an image: its ground truth, and what is predicted at each threshold."""
    true_skeleton = skeleton_of(truth, skeleton)
    true_topology, true_patches = _topology(truth, connectivity)
    per_threshold = []
    for mask in predicted:
        predicted_skeleton = skeleton_of(mask, skeleton)
        topology, patches = _topology(mask, connectivity)
        pixel_sets = (mask, predicted_skeleton, predicted_skeleton & truth, true_skeleton & mask)
        errors = np.abs(topology - true_topology)
        errors_of_patches = np.abs(patches - true_patches).sum(axis=0)
        per_threshold.append([*map(np.count_nonzero, pixel_sets), *errors, *errors_of_patches])
    columns = np.array(per_threshold, np.int64).T
    return CenterlineCounts(
        thresholds,
        skeleton=skeleton,
        connectivity=connectivity,
        images=1,
        patches=len(true_patches),
        true_area=int(np.count_nonzero(truth)),
        true_skeleton=int(np.count_nonzero(true_skeleton)),
        **dict(zip(CenterlineCounts.arrays, columns, strict=True)),
    )


def _topology(mask: BoolArray, connectivity: int) -> tuple[IntArray, IntArray]:
    """Return components, holes and Euler characteristic of a mask, and of its patches in rows."""
    diagonal = int(connectivity == 8)
    pixels = np.ascontiguousarray(mask).view(np.uint8)
    components, holes = betti_numbers(pixels, diagonal)
    patches = betti_of_patches(pixels, PATCH_SIDE, diagonal)
    return np.array([components, holes, components - holes]), np.column_stack([patches, patches[:, 0] - patches[:, 1]])


@compiled()
def betti_numbers(mask: NDArray[np.uint8], diagonal: int) -> tuple[int, int]:
    """Count components and holes; `diagonal` is 1 where pixels touch at corners, too, else 0.

    Two runs in neighbouring rows that touch either join two components or, as their component is the same, close a
    loop around a hole. Outside the mask is background.
    """
    height, width = mask.shape
    parents = np.empty(height * ((width + 1) // 2), np.int64)
    edges = np.empty((2, width + 2), np.int64)  # of this row and the one above: where runs start and end, in turn
    components = holes = runs = in_row_above = 0
    for r in range(height):
        ends, ends_above = edges[r & 1], edges[1 - (r & 1)]
        changes, last = 0, np.uint8(0)
        for c in range(width):
            ends[changes] = c
            changes += mask[r, c] != last
            last = mask[r, c]
        ends[changes] = width
        in_row = (changes + 1) // 2
        for run in range(runs, runs + in_row):
            parents[run] = run
        components += in_row
        i = j = 0  # runs of the row above and of this one
        while i < in_row_above and j < in_row:
            start_above, end_above = ends_above[2 * i], ends_above[2 * i + 1]
            start, end = ends[2 * j], ends[2 * j + 1]
            if start_above < end + diagonal and start < end_above + diagonal:
                a, b = root_of(parents, runs - in_row_above + i), root_of(parents, runs + j)
                if a == b:
                    holes += 1
                else:
                    components -= 1
                    parents[max(a, b)] = min(a, b)
            if end_above < end:
                i += 1
            else:
                j += 1
        runs += in_row
        in_row_above = in_row
    return components, holes


@compiled()
def betti_of_patches(mask: NDArray[np.uint8], side: int, diagonal: int) -> IntArray:
    """Count components and holes of each whole patch of a grid from the top-left corner, shape (patches, 2)."""
    rows, columns = mask.shape[0] // side, mask.shape[1] // side
    betti = np.empty((rows * columns, 2), np.int64)
    for row in range(rows):
        for column in range(columns):
            patch = mask[row * side : (row + 1) * side, column * side : (column + 1) * side]
            betti[row * columns + column] = betti_numbers(patch, diagonal)
    return betti
