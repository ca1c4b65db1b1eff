"""Masks of one image to counts of centerlines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from segbench.core.arrays import BoolArray, FloatArray, IntArray
from segbench.protocols.centerlines.choices import Skeleton
from segbench.protocols.centerlines.counts import CenterlineCounts
from segbench.protocols.centerlines.skeletons import skeleton_of

SIDE = 64
"""How many pixels wide and high a patch is."""

Mask = BoolArray


def count_masks(
    truth: Mask, predicted: Sequence[Mask], thresholds: FloatArray, *, skeleton: Skeleton, connectivity: int
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
    from segbench.protocols.centerlines import kernels

    diagonal, bits = int(connectivity == 8), np.ascontiguousarray(mask).view(np.uint8)
    whole = np.array([kernels.betti_numbers(bits, diagonal)])
    patches = kernels.betti_of_patches(bits, SIDE, diagonal)
    both = (np.column_stack([each, each[:, 0] - each[:, 1]]) for each in (whole, patches))
    return next(both)[0], next(both)
