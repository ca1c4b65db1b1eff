"""The inner loops of the region benchmark: regions merging as the threshold rises, and tables merging with them.

All sums are of whole numbers (overlaps and logarithms in fixed units), so they do not depend on the order of regions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from segbench.protocols.boundaries.jit import helper, int64, kernel, part
from segbench.protocols.regions.counts import COVERED_UNITS

IntArray = NDArray[np.int64]

LOG_UNITS = 2**26
"""Units in 1 of ``n log2 n``; they leave room for 2**30 pixels."""


@helper
def _root(parent: IntArray, point: int) -> int:
    """Find the representative of a point's region."""
    while parent[point] != point:
        parent[point] = parent[parent[point]]
        point = parent[point]
    return point


@part
def _unite_around(parent: IntArray, levels: NDArray[np.int32], point: int, level: int) -> None:
    """Unite a point with its neighbours that are there at this level."""
    height, width = levels.shape
    row, column = point // width, point % width
    for r in range(max(row - 1, 0), min(row + 2, height)):
        for c in range(max(column - 1, 0), min(column + 2, width)):
            if levels[r, c] <= level:
                a, b = _root(parent, point), _root(parent, r * width + c)
                parent[max(a, b)] = min(a, b)


@part
def _number_regions(parent: IntArray, members: IntArray, of_root: NDArray[np.int32], labels: NDArray[np.int32]) -> int:
    """Number the regions of some points in order of appearance, leave `of_root` as it was, give how many there are."""
    regions = 0
    for place in range(members.size):
        root = _root(parent, members[place])
        if of_root[root] < 0:
            of_root[root] = regions
            regions += 1
        labels[place] = of_root[root]
    for place in range(members.size):
        of_root[_root(parent, members[place])] = -1
    return regions


@kernel
def merge_upward(
    levels: NDArray[np.int32], ordered: IntArray, starts: IntArray, pixels: IntArray
) -> tuple[NDArray[np.int32], NDArray[np.int32], IntArray]:
    """Find the 8-connected regions of a contour map of double size, at every threshold."""
    thresholds = starts.size - 1
    parent = np.arange(levels.size)
    of_root = np.full(levels.size, -1, np.int32)
    for place in range(starts[0], starts[1]):
        _unite_around(parent, levels, ordered[place], 0)
    labels = np.empty(pixels.size, np.int32)
    regions = _number_regions(parent, pixels, of_root, labels)
    members = np.empty(regions, np.int64)
    for place in range(pixels.size):
        members[labels[place]] = pixels[place]
    region_of = np.empty((thresholds, regions), np.int32)
    number = np.empty(thresholds, np.int64)
    for level in range(thresholds):
        for place in range(starts[level], starts[level + 1]):
            _unite_around(parent, levels, ordered[place], level)
        number[level] = _number_regions(parent, members, of_root, region_of[level])
    return labels, region_of, number


@kernel
def sweep_up(  # noqa: C901, PLR0912, PLR0917 - all thresholds are one call from Python
    region_of: NDArray[np.int32],
    number: IntArray,
    starts: IntArray,
    rows: IntArray,
    cells: IntArray,
    best: NDArray[np.float64],
    offsets: IntArray,
    best_pred: NDArray[np.float64],
) -> IntArray:
    """Measure a contingency table at every threshold, its rows merging."""
    thresholds, first = region_of.shape
    sums = np.zeros((thresholds, 5), np.int64)
    truths = starts.size - 1
    starts, rows, cells = starts.copy(), rows.copy(), cells.copy()
    ends = starts[1:].copy()
    areas = np.zeros(truths, np.int64)
    predicted = np.zeros(first, np.int64)
    for g in range(truths):
        for place in range(starts[g], ends[g]):
            areas[g] += cells[place]
            predicted[rows[place]] += cells[place]
    into = np.arange(first)
    slot = np.full(first, -1, np.int64)
    for k in range(thresholds):
        if k > 0 and number[k] == number[k - 1]:
            for column in range(sums.shape[1]):  # a slice takes Numba seconds to compile, for the error it might raise
                sums[k, column] = sums[k - 1, column]
            continue
        for p in range(first):
            into[p if k == 0 else region_of[k - 1, p]] = region_of[k, p]
        merged = np.zeros(number[k], np.int64)
        for p in range(first if k == 0 else number[k - 1]):
            merged[into[p]] += predicted[p]
        predicted = merged
        for area in predicted:
            if area > 0:
                sums[k, 2] += area * area
                sums[k, 4] += int64(area * np.log2(area) * LOG_UNITS + 0.5)
        for g in range(truths):
            end = starts[g]
            for place in range(starts[g], ends[g]):
                p = into[rows[place]]
                if slot[p] < 0:
                    slot[p] = end
                    rows[end], cells[end] = p, cells[place]
                    end += 1
                else:
                    cells[slot[p]] += cells[place]
            ends[g] = end
            overlap = 0.0
            for place in range(starts[g], end):
                n = cells[place]
                slot[rows[place]] = -1
                share = n / (areas[g] + predicted[rows[place]] - n)
                overlap = max(overlap, share)
                best_pred[offsets[k] + rows[place]] = max(best_pred[offsets[k] + rows[place]], share)
                sums[k, 1] += n * n
                sums[k, 3] += int64(n * np.log2(n) * LOG_UNITS + 0.5)
            best[g] = max(best[g], overlap)
            sums[k, 0] += int64(areas[g] * overlap * COVERED_UNITS + 0.5)
    return sums
