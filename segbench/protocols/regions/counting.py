"""From the regions of one image and its annotators to counts, and to the states of its pixels.

Begin with `count_regions`; conventions as in `segbench.protocols.regions`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import MEAN_UNITS, Array, BoolArray, FloatArray, IntArray
from segbench.core.errors import ArgumentError
from segbench.core.messages import Message
from segbench.inputs.region_maps import RegionImage
from segbench.protocols.regions.counts import COVERED_UNITS, RegionCounts
from segbench.protocols.regions.kernels import LOG_UNITS, merge_upward, sweep_up
from segbench.protocols.states import State

_DENSE_CELLS = 2**22


def count_regions(image: RegionImage) -> RegionCounts:
    """Count how well the regions of one image agree with those of its annotators."""
    hierarchies = hierarchies_of(image)
    # Best overlap of every predicted region, at all thresholds, with a region of any annotator.
    best_overlaps = [np.zeros(int(hierarchy.offsets[-1] + hierarchy.number[-1])) for hierarchy in hierarchies]
    annotators = []
    for truth, kept in zip(image.truths, image.kept, strict=True):
        annotator = _compare(hierarchies, truth, kept, best_overlaps)
        if annotator is not None:
            annotators.append(annotator)
    # Sorted, so that the mean does not depend on the order of annotators.
    means = np.sort([annotator.means for annotator in annotators], axis=0).sum(axis=0) / len(annotators)
    rand_index, voi_split, voi_merge, f, precision, recall = np.rint(means * MEAN_UNITS).astype(np.int64).clip(0)
    inside = image.inside
    covered_pred = [_covered_pred(*pair, inside) for pair in zip(hierarchies, best_overlaps, strict=True)]
    return RegionCounts(
        thresholds=image.thresholds,
        images=1,
        area=sum(annotator.area for annotator in annotators),
        pixels=image.truths[0].size if inside is None else int(inside.sum()),
        covered_best=sum(annotator.covered_best for annotator in annotators),
        covered=np.sum([annotator.covered for annotator in annotators], axis=0),
        covered_pred=np.concatenate(covered_pred),
        rand_index=rand_index,
        voi_split=voi_split,
        voi_merge=voi_merge,
        adapted_rand=f,
        rand_precision=precision,
        rand_recall=recall,
    )


def _covered_pred(hierarchy: Hierarchy, overlaps: FloatArray, inside: BoolArray | None) -> IntArray:
    """Return the area of predicted regions covered at each threshold, in its units."""
    labels = hierarchy.labels if inside is None else hierarchy.labels[inside]
    areas = np.bincount(labels.ravel(), minlength=hierarchy.region_of.shape[1])
    covered = np.zeros(hierarchy.number.size, np.int64)
    for k, (start, number) in enumerate(zip(hierarchy.offsets, hierarchy.number, strict=True)):
        if k and start == hierarchy.offsets[k - 1]:
            covered[k] = covered[k - 1]
            continue
        merged = np.bincount(hierarchy.region_of[k], weights=areas, minlength=number)
        covered_of_regions = merged * overlaps[start : start + number]
        covered[k] = np.floor(covered_of_regions * COVERED_UNITS + 0.5).astype(np.int64).sum()
    return covered


class _Annotator(NamedTuple):
    """Covering by the predicted regions, in its units, and what is averaged over annotators; see `RegionCounts`."""

    area: int
    covered_best: int
    covered: IntArray  # (K,)
    means: FloatArray  # (6, K)


def _compare(
    hierarchies: Sequence[Hierarchy],
    truth: Array,
    kept: BoolArray | None,
    best_overlaps: Sequence[FloatArray],
) -> _Annotator | None:
    """Compare with one annotator, and raise the best overlaps of predicted regions; None if no pixel counts."""
    labels, number = dense(truth if kept is None else truth[kept])
    if not labels.size:
        return None
    areas = np.bincount(labels.ravel(), minlength=number)
    best = np.zeros(number)
    sums_of_hierarchies = []
    for hierarchy, best_pred in zip(hierarchies, best_overlaps, strict=True):
        predicted = hierarchy.labels if kept is None else hierarchy.labels[kept]
        table = _table(predicted.ravel(), labels.ravel(), hierarchy.region_of.shape[1], number)
        sums_of_hierarchies.append(
            sweep_up(hierarchy.region_of, hierarchy.number, *table, best, hierarchy.offsets, best_pred)
        )
    covered, *sums = np.concatenate(sums_of_hierarchies).T
    covered_best = int(np.floor(areas * best * COVERED_UNITS + 0.5).astype(np.int64).sum())
    return _Annotator(labels.size, covered_best, covered, _agreement(sums, areas))


def _table(predicted: Array, labels: IntArray, rows: int, columns: int) -> tuple[IntArray, IntArray, IntArray]:
    """Count the pixels common to each pair of a predicted region (row) and a true one (column), if there are any.

    Return where the pairs of each column start, shape (columns + 1,), and the row and the pixels of each pair.
    """
    keys = labels * rows + predicted
    if rows * columns <= max(_DENSE_CELLS, 4 * keys.size):
        pixels_of_keys = np.bincount(keys, minlength=rows * columns)
        distinct_keys = np.flatnonzero(pixels_of_keys)
        pixels = pixels_of_keys[distinct_keys]
    else:
        distinct_keys, pixels = np.unique(keys, return_counts=True)
    column_of_pair, row_of_pair = np.divmod(distinct_keys, rows)
    starts = np.searchsorted(column_of_pair, np.arange(columns + 1))
    return starts.astype(np.int64), row_of_pair.astype(np.int64), pixels.astype(np.int64)


def _agreement(sums: Sequence[IntArray], areas: IntArray) -> FloatArray:
    """Compute Rand index, VOI split and merge, and F, precision and recall of pairs, shape (6, K).

    `sums` are those of `sweep_up` but the first; `areas` are the areas of true regions.
    """
    squares, predicted_squares, logs, predicted_logs = sums
    pixels = int(areas.sum())
    truth_squares = int((areas * areas).sum())
    truth_logs = int(np.floor(areas * np.log2(areas) * LOG_UNITS + 0.5).astype(np.int64).sum())
    disagreeing_pairs = predicted_squares - squares + (truth_squares - squares)
    rand_index = 1 - disagreeing_pairs / max(pixels * (pixels - 1), 1)
    voi_split = (truth_logs - logs) / (LOG_UNITS * pixels)
    voi_merge = (predicted_logs - logs) / (LOG_UNITS * pixels)
    # Ordered pairs of different pixels that share a region on both sides, in the prediction, and in the ground truth.
    both, predicted, truth = squares - pixels, predicted_squares - pixels, truth_squares - pixels
    f = _share(2 * both, predicted + truth)
    precision, recall = _share(both, predicted), _share(both, np.full_like(both, truth))
    return np.array([rand_index, voi_split, voi_merge, f, precision, recall])


def _share(part: IntArray, whole: IntArray) -> FloatArray:
    """Divide, where 0 of 0 is 1: of no pairs all are right."""
    share = np.ones(part.shape)
    np.divide(part, whole, out=share, where=whole > 0)
    return share


_DENSE_LABELS = 2**16


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Regions at rising thresholds, where they only merge; K is 1 for a single label map."""

    labels: Array  # (H, W): regions at the first threshold, from 0, none missing
    region_of: NDArray[np.int32]  # (K, regions): in which region each of them lies at each threshold
    number: IntArray  # (K,): regions at each threshold

    @cached_property
    def offsets(self) -> IntArray:
        """Where the regions of each threshold begin in a list of all; equal segmentations share their entries."""
        changes = np.concatenate([[True], self.number[1:] != self.number[:-1]])
        return np.cumsum(np.where(changes, self.number, 0)) - self.number


def hierarchies_of(image: RegionImage) -> list[Hierarchy]:
    """Find the predicted regions: one hierarchy for a contour map, otherwise one per label map."""
    if image.levels is not None:
        labels, region_of, number = merge_upward(image.levels, image.thresholds.size)
        return [Hierarchy(labels.reshape(image.truths[0].shape), region_of, number)]
    hierarchies = []
    for segmentation in image.segmentations:
        regions, number_of_regions = dense(segmentation)
        unmerged = np.arange(number_of_regions, dtype=np.int32)[np.newaxis]
        hierarchies.append(Hierarchy(regions, unmerged, np.array([number_of_regions])))
    return hierarchies


def regions_at(hierarchies: list[Hierarchy], thresholds: FloatArray, threshold: float) -> Array:
    """Return the regions at one of the thresholds of an image."""
    matching = np.flatnonzero(np.isclose(thresholds, threshold, rtol=0, atol=1e-6))
    if not matching.size:
        raise ArgumentError(
            Message(
                "other-threshold",
                "threshold is {threshold:g}, expected one of the {number} measured; see thresholds",
                threshold=threshold,
                number=thresholds.size,
            )
        )
    k = int(matching[0])
    hierarchy, level = (hierarchies[0], k) if len(hierarchies) == 1 else (hierarchies[k], 0)
    return hierarchy.region_of[level][hierarchy.labels]


def dense(labels: Array) -> tuple[IntArray, int]:
    """Renumber labels from 0 without gaps, in rising order; return the new labels and their number."""
    highest = int(labels.max(initial=0))
    if highest >= max(_DENSE_LABELS, 4 * labels.size):
        distinct, index = np.unique(labels, return_inverse=True)
        return index.reshape(labels.shape).astype(np.int64, copy=False), distinct.size
    present = np.zeros(highest + 1, np.int64)
    present[labels.astype(np.intp).ravel()] = 1
    number = int(present.sum())
    renumbered: IntArray = (np.cumsum(present) - 1)[labels.astype(np.intp)]
    return renumbered, number


def region_states(predicted: Array, truth: Array, valid: BoolArray) -> NDArray[np.uint8]:
    """Return the state of each pixel against one annotator.

    A pixel is true in the predicted region that overlaps best with its true region (of ties the lowest label), false in
    the best match of another, and missed in a region that is no best match.
    """
    true_labels, predicted_labels = truth[valid].astype(np.int64), predicted[valid].astype(np.int64)
    states = np.full(truth.shape, State.IGNORED, np.uint8)
    if not true_labels.size:
        return states
    columns = int(predicted_labels.max()) + 1
    pairs, common = np.unique(true_labels * columns + predicted_labels, return_counts=True)
    region, candidate = np.divmod(pairs, columns)
    overlap = common / (np.bincount(true_labels)[region] + np.bincount(predicted_labels)[candidate] - common)
    order = np.lexsort((candidate, -overlap, region))
    _, first_of_region = np.unique(region[order], return_index=True)
    best_pairs = order[first_of_region]
    best_match = np.full(int(true_labels.max()) + 1, -1)
    best_match[region[best_pairs]] = candidate[best_pairs]
    elsewhere = np.where(np.isin(predicted_labels, candidate[best_pairs]), State.FALSE, State.MISSED)
    states[valid] = np.where(best_match[true_labels] == predicted_labels, State.TRUE, elsewhere)
    return states
