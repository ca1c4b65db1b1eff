"""The inner loops of the region benchmark: regions merging as the threshold rises, and tables merging with them.

All sums are of whole numbers (overlaps and logarithms in fixed units), so they do not depend on the order of regions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import FloatArray, IntArray
from segbench.core.compiling import helper, index, int64, kernel, part
from segbench.protocols.regions.counts import COVERED_UNITS

LOG_UNITS = 2**26
"""Units in 1 of ``n log2 n``; they leave room for 2**30 pixels."""


@helper
def _root(parent: NDArray[np.int32], node: Any) -> Any:
    """Return the representative of a node's region."""
    while parent[index(node)] != node:
        parent[index(node)] = parent[index(parent[index(node)])]
        node = parent[index(node)]
    return node


@helper
def _unite(parent: NDArray[np.int32], node: Any, other: Any) -> None:
    a, b = _root(parent, node), _root(parent, other)
    if a < b:
        parent[index(b)] = a
    else:
        parent[index(a)] = b


@part
def _number_regions(
    parent: NDArray[np.int32], members: NDArray[np.int32], of_root: NDArray[np.int32], labels: NDArray[np.int32]
) -> int:
    """Label nodes by their regions, in order of appearance, and return the number of regions.

    `of_root` is -1 for every node, before and after.
    """
    regions = 0
    for i in range(members.size):
        root = index(_root(parent, members[i]))
        if of_root[root] < 0:
            of_root[root] = regions
            regions += 1
        labels[i] = of_root[root]
    for i in range(members.size):
        of_root[index(_root(parent, members[i]))] = -1
    return regions


@kernel
def merge_upward(  # noqa: C901, PLR0912, PLR0915 - one pass after the other
    levels: NDArray[np.int32], thresholds: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], IntArray]:
    """Find the 8-connected regions of a contour map of double size, at every threshold.

    A node is a part of a region at level 0, or a point of a higher level; the latter are numbered in order of their
    levels. Return the region of each pixel at the first threshold, shape (pixels,); the region that each of these
    belongs to at every threshold, shape (thresholds, regions); and the number of regions at every threshold.
    """
    height, width = levels.shape
    stride = width + 2
    node_of = np.full((height + 2) * stride, -1, np.int32)  # of the padded map
    parent = np.empty(levels.size, np.int32)
    starts = np.zeros(thresholds + 2, np.int64)
    nodes = np.int32(0)
    for y in range(height):
        for x in range(width):
            if levels[y, x] != 0:
                starts[min(levels[y, x], thresholds) + 1] += 1
                continue
            p = index((y + 1) * stride + x + 1)
            above = index(p - stride)
            left, upper_left = node_of[index(p - 1)], node_of[index(above - 1)]
            upper, upper_right = node_of[above], node_of[index(above + 1)]
            if upper >= 0:  # beside all of the others
                node_of[p] = upper
                continue
            before = max(left, upper_left)  # two that are beside each other, so that any of them will do
            if before >= 0:
                node_of[p] = before
                if upper_right >= 0:
                    _unite(parent, before, upper_right)
            elif upper_right >= 0:
                node_of[p] = upper_right
            else:
                node_of[p] = parent[index(nodes)] = nodes
                nodes += np.int32(1)
    for level in range(thresholds + 1):
        starts[level + 1] += starts[level]
    point_of = np.empty(starts[thresholds], np.uint32)
    filled = starts.copy()
    for y in range(height):
        for x in range(width):
            level = levels[y, x]
            if 0 < level < thresholds:
                p = index((y + 1) * stride + x + 1)
                point_of[filled[level]] = p
                node_of[p] = parent[nodes + filled[level]] = nodes + filled[level]
                filled[level] += 1

    pixels = np.empty((height // 2) * (width // 2), np.int32)
    pixel = 0
    for y in range(1, height, 2):
        for x in range(1, width, 2):
            pixels[pixel] = node_of[index((y + 1) * stride + x + 1)]
            pixel += 1
    of_root = np.full(nodes + point_of.size, -1, np.int32)
    labels = np.empty(pixels.size, np.int32)
    regions = _number_regions(parent, pixels, of_root, labels)
    members = np.empty(regions, np.int32)
    for pixel in range(pixels.size):
        members[labels[pixel]] = pixels[pixel]
    region_of = np.empty((thresholds, regions), np.int32)
    number = np.empty(thresholds, np.int64)
    for level in range(thresholds):
        for point in range(starts[level], starts[level + 1]):
            p = point_of[point]
            for dy in (-stride, 0, stride):
                for dx in (-1, 0, 1):
                    neighbour = node_of[index(p + dy + dx)]
                    if 0 <= neighbour < node_of[p]:  # of this level or a lower one
                        _unite(parent, node_of[p], neighbour)
        number[level] = _number_regions(parent, members, of_root, region_of[level])
    return labels, region_of, number


@kernel
def sweep_up(  # noqa: C901, PLR0912, PLR0917 - all thresholds are one call from Python
    region_of: NDArray[np.int32],
    number: IntArray,
    starts: IntArray,
    rows: IntArray,
    cells: IntArray,
    best: FloatArray,
    offsets: IntArray,
    best_pred: FloatArray,
) -> IntArray:
    """Measure a contingency table of predicted regions (rows) and true ones (columns) at every threshold.

    Rows merge from threshold to threshold, as `region_of` and `number` say (see `merge_upward`). The pairs of a column
    begin at its entry of `starts`; `rows` and `cells` are the row and the pixels of each pair. Return sums of shape
    (thresholds, 5): covered area; squares of the pixels of pairs, and of predicted regions; and ``n log2 n`` of both.
    Raise `best`, the best overlap of each true region, and `best_pred`, that of each predicted region, which begin at
    the entry of `offsets`.
    """
    thresholds, first = region_of.shape
    sums = np.zeros((thresholds, 5), np.int64)
    truths = starts.size - 1
    starts, rows, cells = starts.copy(), rows.copy(), cells.copy()
    ends = starts[1:].copy()
    areas = np.zeros(truths, np.int64)
    predicted = np.zeros(first, np.int64)
    for g in range(truths):
        for pair in range(starts[g], ends[g]):
            areas[g] += cells[pair]
            predicted[rows[pair]] += cells[pair]
    merged_row = np.arange(first)
    pair_of_row = np.full(first, -1, np.int64)  # in the column that is merged
    for k in range(thresholds):
        if k > 0 and number[k] == number[k - 1]:
            for column in range(sums.shape[1]):  # a slice takes Numba seconds to compile, for the error it might raise
                sums[k, column] = sums[k - 1, column]
            continue
        for p in range(first):
            merged_row[p if k == 0 else region_of[k - 1, p]] = region_of[k, p]
        merged = np.zeros(number[k], np.int64)
        for p in range(first if k == 0 else number[k - 1]):
            merged[merged_row[p]] += predicted[p]
        predicted = merged
        for area in predicted:
            if area > 0:
                sums[k, 2] += area * area
                sums[k, 4] += int64(area * np.log2(area) * LOG_UNITS + 0.5)
        for g in range(truths):
            end = starts[g]
            for pair in range(starts[g], ends[g]):
                p = merged_row[rows[pair]]
                if pair_of_row[p] < 0:
                    pair_of_row[p] = end
                    rows[end], cells[end] = p, cells[pair]
                    end += 1
                else:
                    cells[pair_of_row[p]] += cells[pair]
            ends[g] = end
            best_overlap = 0.0
            for pair in range(starts[g], end):
                n = cells[pair]
                pair_of_row[rows[pair]] = -1
                overlap = n / (areas[g] + predicted[rows[pair]] - n)
                best_overlap = max(best_overlap, overlap)
                best_pred[offsets[k] + rows[pair]] = max(best_pred[offsets[k] + rows[pair]], overlap)
                sums[k, 1] += n * n
                sums[k, 3] += int64(n * np.log2(n) * LOG_UNITS + 0.5)
            best[g] = max(best[g], best_overlap)
            sums[k, 0] += int64(areas[g] * best_overlap * COVERED_UNITS + 0.5)
    return sums
