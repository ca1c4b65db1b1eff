"""Regions of one image counted against every annotator's, and what became of each; see `segbench.protocols.regions`."""

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
    # Best overlap of every predicted region, of all thresholds, with one of any annotator.
    overlaps = [np.zeros(int(hierarchy.offsets[-1] + hierarchy.number[-1])) for hierarchy in hierarchies]
    of_annotators = [
        _annotator(hierarchies, truth, kept, overlaps) for truth, kept in zip(image.truths, image.kept, strict=True)
    ]
    counted = [annotator for annotator in of_annotators if annotator is not None]
    # Sorted, so that the mean does not depend on the order of annotators.
    means = np.sort([annotator.shares for annotator in counted], axis=0).sum(axis=0) / len(counted)
    units = np.rint(means * MEAN_UNITS).astype(np.int64)
    inside = image.inside
    return RegionCounts(
        image.thresholds,
        1,
        sum(annotator.area for annotator in counted),
        image.truths[0].size if inside is None else int(inside.sum()),
        sum(annotator.covered_best for annotator in counted),
        np.sum([annotator.covered for annotator in counted], axis=0),
        np.concatenate([_covered_pred(*pair, inside) for pair in zip(hierarchies, overlaps, strict=True)]),
        *units.clip(0),
    )


def _covered_pred(hierarchy: Hierarchy, overlaps: FloatArray, inside: BoolArray | None) -> IntArray:
    """Give the area of predicted regions covered at each threshold."""
    labels = hierarchy.labels if inside is None else hierarchy.labels[inside]
    areas = np.bincount(labels.ravel(), minlength=hierarchy.region_of.shape[1])
    covered = np.zeros(hierarchy.number.size, np.int64)
    for k, (start, number) in enumerate(zip(hierarchy.offsets, hierarchy.number, strict=True)):
        if k and start == hierarchy.offsets[k - 1]:
            covered[k] = covered[k - 1]
            continue
        merged = np.bincount(hierarchy.region_of[k], weights=areas, minlength=number)
        share = merged * overlaps[start : start + number]
        covered[k] = np.floor(share * COVERED_UNITS + 0.5).astype(np.int64).sum()
    return covered


class _Annotator(NamedTuple):
    """Covering in its units, and what is averaged over annotators, shape (6, K)."""

    area: int
    covered_best: int
    covered: IntArray
    shares: FloatArray


def _annotator(
    hierarchies: Sequence[Hierarchy],
    truth: Array,
    kept: BoolArray | None,
    overlaps: Sequence[FloatArray],
) -> _Annotator | None:
    """Compare with one annotator, None if no pixel is left, and raise the best overlaps of predicted regions."""
    labels, number = dense(truth if kept is None else truth[kept])
    if not labels.size:
        return None
    areas = np.bincount(labels.ravel(), minlength=number)
    best = np.zeros(number)
    parts = []
    for hierarchy, overlap in zip(hierarchies, overlaps, strict=True):
        predicted = hierarchy.labels if kept is None else hierarchy.labels[kept]
        table = _table(predicted.ravel(), labels.ravel(), hierarchy.region_of.shape[1], number)
        parts.append(sweep_up(hierarchy.region_of, hierarchy.number, *table, best, hierarchy.offsets, overlap))
    covered, *sums = np.concatenate(parts).T
    covered_best = int(np.floor(areas * best * COVERED_UNITS + 0.5).astype(np.int64).sum())
    return _Annotator(labels.size, covered_best, covered, _shares(sums, areas))


def _table(predicted: Array, labels: IntArray, rows: int, columns: int) -> tuple[IntArray, IntArray, IntArray]:
    """Count the pixels common to each pair of regions; the pairs that have none are not listed."""
    keys = labels * rows + predicted
    if rows * columns <= max(_DENSE_CELLS, 4 * keys.size):
        every = np.bincount(keys, minlength=rows * columns)
        places = np.flatnonzero(every)
        cells = every[places]
    else:
        places, cells = np.unique(keys, return_counts=True)
    column, row = np.divmod(places, rows)
    starts = np.searchsorted(column, np.arange(columns + 1))
    return starts.astype(np.int64), row.astype(np.int64), cells.astype(np.int64)


def _shares(sums: Sequence[IntArray], areas: IntArray) -> FloatArray:
    """Give Rand index, VOI split and merge, and F, precision and recall of pairs, from sums over the table."""
    squares, predicted_squares, logs, predicted_logs = sums
    pixels = int(areas.sum())
    truth_squares = int((areas * areas).sum())
    truth_logs = int(np.floor(areas * np.log2(areas) * LOG_UNITS + 0.5).astype(np.int64).sum())
    apart = predicted_squares - squares + (truth_squares - squares)
    rand_index = 1 - apart / max(pixels * (pixels - 1), 1)
    split, merge = (truth_logs - logs) / (LOG_UNITS * pixels), (predicted_logs - logs) / (LOG_UNITS * pixels)
    both, predicted, truth = squares - pixels, predicted_squares - pixels, truth_squares - pixels
    f = _share(2 * both, predicted + truth)
    return np.array([rand_index, split, merge, f, _share(both, predicted), _share(both, np.full_like(both, truth))])


def _share(part: IntArray, whole: IntArray) -> FloatArray:
    """Divide; of no pairs all are right."""
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
        """Where the regions of each threshold begin in a list of all; equal segmentations share their places."""
        fresh = np.concatenate([[True], self.number[1:] != self.number[:-1]])
        return np.cumsum(np.where(fresh, self.number, 0)) - self.number


def hierarchies_of(image: RegionImage) -> list[Hierarchy]:
    """Find the predicted regions: one hierarchy for a contour map, one a label map otherwise."""
    if image.levels is not None:
        labels, region_of, number = merge_upward(image.levels, image.thresholds.size)
        return [Hierarchy(labels.reshape(image.truths[0].shape), region_of, number)]
    maps = [dense(labels) for labels in image.segmentations]
    return [Hierarchy(labels, np.arange(size, dtype=np.int32)[np.newaxis], np.array([size])) for labels, size in maps]


def regions_at(hierarchies: list[Hierarchy], thresholds: FloatArray, threshold: float) -> Array:
    """Return the regions at one of the thresholds of an image."""
    places = np.flatnonzero(np.isclose(thresholds, threshold, rtol=0, atol=1e-6))
    if not places.size:
        raise ArgumentError(
            Message(
                "other-threshold",
                "threshold is {threshold:g}, expected one of the {number} measured; see thresholds",
                threshold=threshold,
                number=thresholds.size,
            )
        )
    place = int(places[0])
    hierarchy, level = (hierarchies[0], place) if len(hierarchies) == 1 else (hierarchies[place], 0)
    return hierarchy.region_of[level][hierarchy.labels]


def dense(labels: Array) -> tuple[IntArray, int]:
    """Number labels from 0 without gaps, in rising order; give how many there are."""
    highest = int(labels.max(initial=0))
    if highest >= max(_DENSE_LABELS, 4 * labels.size):
        values, places = np.unique(labels, return_inverse=True)
        return places.reshape(labels.shape).astype(np.int64, copy=False), values.size
    present = np.zeros(highest + 1, np.int64)
    present[labels.astype(np.intp).ravel()] = 1
    number = int(present.sum())
    renumbered: IntArray = (np.cumsum(present) - 1)[labels.astype(np.intp)]
    return renumbered, number


def region_states(predicted: Array, truth: Array, valid: BoolArray) -> NDArray[np.uint8]:
    """Mark where the regions of one annotator were found."""
    g, p = truth[valid].astype(np.int64), predicted[valid].astype(np.int64)
    states = np.full(truth.shape, State.IGNORED, np.uint8)
    if not g.size:
        return states
    columns = int(p.max()) + 1
    pairs, common = np.unique(g * columns + p, return_counts=True)
    region, candidate = np.divmod(pairs, columns)
    overlap = common / (np.bincount(g)[region] + np.bincount(p)[candidate] - common)
    order = np.lexsort((candidate, -overlap, region))
    first = order[np.unique(region[order], return_index=True)[1]]
    stand_in = np.full(int(g.max()) + 1, -1)
    stand_in[region[first]] = candidate[first]
    elsewhere = np.where(np.isin(p, candidate[first]), State.FALSE, State.MISSED)
    states[valid] = np.where(stand_in[g] == p, State.TRUE, elsewhere)
    return states
