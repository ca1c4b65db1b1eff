"""Regions of one image counted against every annotator's, and what became of each; see `segbench.protocols.regions`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segbench.core.arrays import MEAN_UNITS, Array, BoolArray, FloatArray, IntArray, as_array
from segbench.core.errors import ArgumentError, DataError
from segbench.core.levels import in_type_of
from segbench.core.messages import Message
from segbench.inputs import lines as inputs
from segbench.inputs.label_rules import void_labels
from segbench.inputs.predicted_labels import in_colour
from segbench.protocols.regions.counts import COVERED_UNITS, RegionCounts
from segbench.protocols.regions.kernels import LOG_UNITS, merge_upward, sweep_up
from segbench.protocols.states import State

_DENSE_CELLS = 2**22
MOST_PIXELS = 2**30
MOST_POINTS = 2**31 - 2**20  # of a ucm2: they are numbered in 32 bits, with a border


def count_regions(
    ground_truths: ArrayLike | Iterable[ArrayLike],
    segmentations_or_ucm2: ArrayLike | Iterable[ArrayLike],
    *,
    thresholds: int | ArrayLike = 99,
    void: Collection[int] = (),
    valid: ArrayLike | None = None,
) -> RegionCounts:
    """Count how well the regions of one image agree with those of its annotators."""
    truths = as_label_maps(ground_truths, "ground truth of annotator")
    hierarchies, cuts = hierarchies_of(segmentations_or_ucm2, truths[0].shape, thresholds)
    for hierarchy in hierarchies:
        inputs.check_same_size(hierarchy.labels, truths[0], "prediction")
    void = void_labels(void, least=0)
    inside = None if valid is None else as_array(valid, "valid") != 0
    if inside is not None:
        inputs.check_same_size(inside, truths[0], "valid pixels")
    # Best overlap of every predicted region, of all thresholds, with one of any annotator.
    overlaps = [np.zeros(int(hierarchy.offsets[-1] + hierarchy.number[-1])) for hierarchy in hierarchies]
    counted = [_annotator(hierarchies, truth, _kept(truth, void, inside), overlaps) for truth in truths]
    some = [one for one in counted if one is not None]
    if not some:
        raise DataError(
            "ground truth",
            Message("all-void", "every annotator has only void pixels, so nothing is counted"),
            Message("fix", "check void labels and valid pixels"),
        )
    # Sorted, so that the mean does not depend on the order of annotators.
    means = np.sort([one.shares for one in some], axis=0).sum(axis=0) / len(some)
    units = np.rint(means * MEAN_UNITS).astype(np.int64)
    return RegionCounts(
        cuts,
        1,
        sum(one.area for one in some),
        truths[0].size if inside is None else int(inside.sum()),
        sum(one.covered_best for one in some),
        np.sum([one.covered for one in some], axis=0),
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


def _kept(truth: Array, void: Sequence[int], inside: BoolArray | None) -> BoolArray | None:
    """Mark what counts of an annotator; None for all."""
    if not void:
        return inside
    labelled = ~np.isin(truth, void)
    return labelled if inside is None else labelled & inside


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


def hierarchies_of(
    prediction: ArrayLike | Iterable[ArrayLike], shape: tuple[int, ...], thresholds: int | ArrayLike
) -> tuple[list[Hierarchy], FloatArray]:
    """Find regions: one hierarchy for a contour map, one a label map otherwise; and their thresholds."""
    parts = inputs.parts_of(prediction)
    if len(parts) == 1 and np.shape(parts[0]) == tuple(2 * side + 1 for side in shape):
        levels, cuts = ucm2_levels(parts[0], thresholds)
        labels, region_of, number = merge_upward(levels, cuts.size)
        return [Hierarchy(labels.reshape(shape), region_of, number)], cuts
    maps = [dense(labels) for labels in as_label_maps(parts, "segmentation")]
    each = [Hierarchy(labels, np.arange(size, dtype=np.int32)[np.newaxis], np.array([size])) for labels, size in maps]
    return each, np.arange(1.0, len(each) + 1)


def regions_at(hierarchies: list[Hierarchy], thresholds: FloatArray, threshold: float) -> Array:
    """Give the regions at one of the thresholds that `hierarchies_of` gave."""
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


def as_labels(label_map: ArrayLike, name: str) -> Array:
    """Read a label map: whole numbers from 0, each a region, connected or not."""
    labels = inputs.as_plane(label_map, name)
    if in_colour(labels):
        code = "numpy.unique(rgb.reshape(-1, 3), axis=0, return_inverse=True)[1].reshape(rgb.shape[:2])"
        raise DataError(
            name,
            Message("in-colour", "is in colour, expected a number for each region"),
            Message("fix", "save label maps in one channel; {code} numbers the colours", code=code),
        )
    if labels.dtype.kind not in "bui":
        raise DataError(
            name,
            Message("not-whole", "labels are of type {dtype}, expected whole numbers", dtype=str(labels.dtype)),
            Message("fix", "write them as integers"),
        )
    if not labels.size:
        raise DataError(name, Message("no-pixels", "has no pixel"))
    if labels.size > MOST_PIXELS:
        raise ArgumentError(
            Message(
                "too-many-pixels",
                "{argument} has {pixels} pixels, expected at most {expected}",
                argument=name,
                pixels=labels.size,
                expected=MOST_PIXELS,
            )
        )
    if labels.dtype.kind == "i" and labels.min() < 0:
        raise DataError(
            name,
            Message("negative-label", "holds the label {label}, expected 0 or more", label=labels.min()),
            Message("fix", "give every region a number from 0"),
        )
    return labels


def as_label_maps(label_maps: ArrayLike | Iterable[ArrayLike], name: str) -> list[Array]:
    """Read one label map, or several of one size."""
    return inputs.of_one_size(label_maps, name, as_labels)


def ucm2_levels(ucm2: Array, thresholds: int | ArrayLike) -> tuple[NDArray[np.int32], FloatArray]:
    """Find for each point of a contour map the first threshold that it does not exceed."""
    scores = inputs.as_scores(ucm2, "ucm2")
    if scores.size > MOST_POINTS:
        raise ArgumentError(
            Message(
                "too-many-pixels",
                "{argument} has {pixels} points, expected at most {expected}",
                argument="ucm2",
                pixels=scores.size,
                expected=MOST_POINTS,
            )
        )
    cuts = inputs.as_thresholds(thresholds)
    if isinstance(thresholds, (int, np.integer)):
        inputs.check_unit_range(scores, "ucm2")
    levels = np.searchsorted(in_type_of(np.asarray(ucm2).dtype, cuts), scores).astype(np.int32)
    above = int(np.count_nonzero(levels[1::2, 1::2]))
    if above:
        raise DataError(
            "ucm2",
            Message(
                "contours-on-pixels",
                "{pixels} pixels lie above the threshold {threshold:g}, "
                "but contours run between pixels, at even places",
                pixels=above,
                threshold=cuts[0],
            ),
            Message("fix", "write the map at twice the resolution with 0 at odd places"),
        )
    return levels, cuts
