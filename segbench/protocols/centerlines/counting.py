"""Masks of one image to counts of centerlines: their skeletons (`skeletons`) and their topology, by Betti numbers.

Volumes have their own in `volumes`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import BoolArray, FloatArray, IntArray
from segbench.core.compiling import compiled, root_of
from segbench.core.geometry import Affine
from segbench.protocols.centerlines.counts import ERRORS, ERRORS_OF_VOLUMES, CenterlineCounts
from segbench.protocols.centerlines.skeletons import skeleton_of
from segbench.protocols.centerlines.volumes import skeleton_of_volume, topology_of_volume

PATCH_SIDE = 64
"""How many pixels wide and high a patch is."""


def count_masks(
    truth: BoolArray, predicted: Sequence[BoolArray], thresholds: FloatArray, *, skeleton: str, connectivity: int
) -> CenterlineCounts:
    """Count an image: its ground truth, and what is predicted at each threshold."""
    true_topology, true_patches = _topology(truth, connectivity)
    per_threshold = []
    for mask in predicted:
        topology, patches = _topology(mask, connectivity)
        errors = np.abs(topology - true_topology)
        errors_of_patches = np.abs(patches - true_patches).sum(axis=0)
        named = dict(zip(ERRORS, errors.tolist(), strict=True))
        named |= dict(zip((f"{name}_patches" for name in ERRORS), errors_of_patches.tolist(), strict=True))
        per_threshold.append(named)
    return _counts(
        truth,
        predicted,
        thresholds,
        per_threshold,
        skeletonise=partial(skeleton_of, method=skeleton),
        skeleton=skeleton,
        connectivity=connectivity,
        patches=len(true_patches),
    )


def count_volumes(
    truth: BoolArray,
    predicted: Sequence[BoolArray],
    thresholds: FloatArray,
    *,
    connectivity: int,
    affine: Affine | None,
) -> CenterlineCounts:
    """Count a volume: its ground truth, and what is predicted at each threshold; `affine` says how axes lie."""
    true_topology = topology_of_volume(truth, connectivity)
    per_threshold = []
    for mask in predicted:
        errors = np.abs(topology_of_volume(mask, connectivity) - true_topology)
        without_patches = dict.fromkeys((f"{name}_patches" for name in ERRORS), 0)
        per_threshold.append(without_patches | dict(zip(ERRORS_OF_VOLUMES, errors.tolist(), strict=True)))
    return _counts(
        truth,
        predicted,
        thresholds,
        per_threshold,
        skeletonise=partial(skeleton_of_volume, affine=affine),
        skeleton="lee",
        connectivity=connectivity,
        patches=0,
    )


def _counts(
    truth: BoolArray,
    predicted: Sequence[BoolArray],
    thresholds: FloatArray,
    errors: Sequence[Mapping[str, int]],
    *,
    skeletonise: Callable[[BoolArray], BoolArray],
    skeleton: str,
    connectivity: int,
    patches: int,
) -> CenterlineCounts:
    """Count the pixels of skeletons inside the other mask, and put the errors at each threshold beside them."""
    true_skeleton = skeletonise(truth)
    per_threshold = []
    for mask, errors_of_mask in zip(predicted, errors, strict=True):
        predicted_skeleton = skeletonise(mask)
        per_threshold.append(
            {
                "area": np.count_nonzero(mask),
                "skeleton_pixels": np.count_nonzero(predicted_skeleton),
                "skeleton_inside": np.count_nonzero(predicted_skeleton & truth),
                "true_inside": np.count_nonzero(true_skeleton & mask),
                **errors_of_mask,
            }
        )
    columns = {name: np.array([counted[name] for counted in per_threshold], np.int64) for name in per_threshold[0]}
    return CenterlineCounts(
        thresholds,
        skeleton=skeleton,
        connectivity=connectivity,
        images=1,
        patches=patches,
        true_area=int(np.count_nonzero(truth)),
        true_skeleton=int(np.count_nonzero(true_skeleton)),
        **columns,
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
