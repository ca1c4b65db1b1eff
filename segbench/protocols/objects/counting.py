"""Label maps of one image to object counts: which objects overlap, and which of them match.

Begin with `count_instances`; `segbench.inputs.overlaps` counts the pixels that objects share.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import Array, BoolArray, FloatArray, IntArray
from segbench.core.compiling import compiled
from segbench.imaging.components import number_components
from segbench.inputs.class_names import written_classes
from segbench.inputs.object_kinds import COMPONENTS, INSTANCES
from segbench.inputs.overlaps import Overlaps, added_up
from segbench.inputs.segments import Classes, Segments
from segbench.protocols.objects.counts import ObjectCounts
from segbench.protocols.objects.froc_kernels import count_hits
from segbench.protocols.objects.targets import count_targets

_TIE = 1e-9
"""Sums of IoU that differ by less are ties, in which `aji_plus` takes the larger intersection."""
_MOST_COUNTED = 2**24
"""Numbers of objects above this are put in order before their pixels are counted."""


class OverlappingPairs(NamedTuple):
    """Objects that share pixels: their indices in the values of either map, intersections and unions."""

    rows: IntArray
    columns: IntArray
    shared: IntArray
    unions: IntArray

    def select(self, kept: Array) -> OverlappingPairs:
        """Return the pairs that a mask keeps, or those at some positions."""
        return OverlappingPairs(*(field[kept] for field in self))

    def matched(self) -> OverlappingPairs:
        """Return a one-to-one matching of the pairs with an IoU of at least 1/2, as large as can be.

        No object is in two such pairs, unless it is cut into two equal halves, which are two pairs of IoU 1/2: of these
        the first is taken. The largest matching at any higher threshold is a part of this one.
        """
        pairs = self.select(2 * self.shared >= self.unions)
        pairs = pairs.select(_first_positions(pairs.rows))
        return pairs.select(_first_positions(pairs.columns))


def _first_positions(values: IntArray) -> IntArray:
    """Return where each value stands first, in rising order."""
    return np.sort(np.unique(values, return_index=True)[1])


def instance_pairs(overlaps: Overlaps) -> OverlappingPairs:
    """Return all pairs of objects of two instance label maps that share pixels; 0 is no object."""
    both_objects = (overlaps.true[overlaps.rows] != 0) & (overlaps.predicted[overlaps.columns] != 0)
    rows, columns, shared = overlaps.some(both_objects)
    unions = overlaps.true_areas[rows] + overlaps.predicted_areas[columns] - shared
    return OverlappingPairs(rows, columns, shared, unions)


def count_instances(truth: Array, predicted: Array) -> ObjectCounts:
    """Count an image of two instance label maps, in which 0 is no object."""
    overlaps = Overlaps.of(truth, predicted)
    is_true, is_predicted = overlaps.true != 0, overlaps.predicted != 0
    pairs = instance_pairs(overlaps)
    matched = pairs.matched()
    true_areas = np.where(is_true, overlaps.true_areas, 0)
    predicted_areas = np.where(is_predicted, overlaps.predicted_areas, 0)
    return ObjectCounts.made(
        INSTANCES,
        matched.shared,
        matched.unions,
        things=[1],
        objects=[int(is_true.sum()), int(is_predicted.sum()), 0],
        sizes=[[matched.rows.size, 0]],
        aji=_aji(pairs, true_areas, predicted_areas),
    )


def _aji(pairs: OverlappingPairs, true_areas: IntArray, predicted_areas: IntArray) -> list[int]:
    """Compute intersection and union of AJI, then of AJI+."""
    total_area = int(true_areas.sum() + predicted_areas.sum())
    best = best_partners(pairs.rows, pairs.shared, pairs.unions, true_areas.size)
    chosen = pairs.select(best[best >= 0])  # several true objects may choose the same predicted one
    unpaired_area = total_area - true_areas[chosen.rows].sum() - predicted_areas[np.unique(chosen.columns)].sum()
    one_to_one = int(pairs.shared[_largest_sum(pairs)].sum())
    return [
        int(chosen.shared.sum()),
        int(chosen.unions.sum() + unpaired_area),
        one_to_one,
        total_area - one_to_one,
    ]


@compiled()
def best_partners(rows: IntArray, shared: IntArray, unions: IntArray, n_rows: int) -> IntArray:
    """Find the position of the largest intersection over union in each row, the first of several, or -1.

    Fractions are compared by their products, which are exact.
    """
    best = np.full(n_rows, -1, np.int64)
    for k in range(rows.size):
        so_far = best[rows[k]]
        if so_far < 0 or shared[k] * unions[so_far] > shared[so_far] * unions[k]:
            best[rows[k]] = k
    return best


def _largest_sum(pairs: OverlappingPairs) -> IntArray:
    """Find the one-to-one matching with the largest sum of IoU; return the positions of its pairs.

    Of ties it is the one with the largest intersection.

    A pair of IoU g leaves (1 - g) / (1 + g) at most to other pairs of either object where both are equally large, and
    less in sum where not: from .57 on it is in such a matching. What is left is an assignment problem, in which each
    object of the ground truth may also stay alone, which is one more column without gain.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    sure = 5 * pairs.shared >= 3 * pairs.unions
    open_rows = ~np.isin(pairs.rows, pairs.rows[sure])
    open_columns = ~np.isin(pairs.columns, pairs.columns[sure])
    undecided = np.flatnonzero(open_rows & open_columns)
    if not undecided.size:
        return np.flatnonzero(sure)
    rows, columns, shared, unions = pairs.select(undecided)
    gain = shared / unions + _TIE * shared / shared.sum()
    distinct_rows, rows = np.unique(rows, return_inverse=True)
    distinct_columns, columns = np.unique(columns, return_inverse=True)
    n_true, n_predicted = distinct_rows.size, distinct_columns.size
    alone = np.arange(n_true)
    costs = np.concatenate([2.0 - gain, np.full(n_true, 2.0)])  # above 0, for an entry of 0 would be none
    positions = np.concatenate([rows, alone]), np.concatenate([columns, n_predicted + alone])
    graph = csr_array((costs, positions), shape=(n_true, n_predicted + n_true))
    _, column_of_row = min_weight_full_bipartite_matching(graph)
    return np.append(np.flatnonzero(sure), undecided[column_of_row[rows] == columns])


class Panoptic(NamedTuple):
    """What became of the segments of two panoptic maps, in the order of the values of either map."""

    true_labels: IntArray  # the class of each true segment, -1 for void and crowds
    predicted_labels: IntArray  # the class of each predicted one, -1 for void
    matched: OverlappingPairs
    ignored: BoolArray  # predicted segments that are not matched and mostly in void, or crowds of their class


def match_panoptic(overlaps: Overlaps, truth: Segments, predicted: Segments) -> Panoptic:
    """Match segments of a class that share more than half of their union."""
    true_labels = _labels_of(overlaps.true, truth)
    predicted_labels = _labels_of(overlaps.predicted, predicted)
    rows, columns, pixels = overlaps.rows, overlaps.columns, overlaps.pixels
    is_crowd = np.isin(overlaps.true, list(truth.crowds))
    in_void = true_labels[rows] < 0
    same_class = true_labels[rows] == predicted_labels[columns]
    excused = in_void | (is_crowd[rows] & same_class)
    void_areas = added_up(columns[in_void], pixels[in_void], predicted_labels.size)
    excused_areas = added_up(columns[excused], pixels[excused], predicted_labels.size)

    rows, columns, shared = overlaps.some(same_class & ~in_void & ~is_crowd[rows])
    unions = overlaps.true_areas[rows] + (overlaps.predicted_areas - void_areas)[columns] - shared
    pairs = OverlappingPairs(rows, columns, shared, unions)
    matched = pairs.select(2 * shared > unions)
    ignored = (2 * excused_areas > overlaps.predicted_areas) & (predicted_labels >= 0)
    ignored[matched.columns] = False
    return Panoptic(np.where(is_crowd, -1, true_labels), predicted_labels, matched, ignored)


def _labels_of(values: IntArray, segments: Segments) -> IntArray:
    """Look up the class of each value of a map, -1 for void."""
    return np.array([segments.labels.get(value, -1) for value in values.tolist()], np.int64)


def count_panoptic(overlaps: Overlaps, truth: Segments, predicted: Segments, classes: Classes) -> ObjectCounts:
    """Count an image of two panoptic maps, whose values are these segments."""
    true_labels, predicted_labels, matched, ignored = match_panoptic(overlaps, truth, predicted)
    labels = np.union1d(true_labels, predicted_labels)
    labels = labels[labels >= 0]
    matched_labels = true_labels[matched.rows]
    segments = (true_labels, predicted_labels, predicted_labels[ignored], matched_labels)
    n_true, n_predicted, n_ignored, n_matched = (
        (segment_labels[:, np.newaxis] == labels).sum(axis=0) for segment_labels in segments
    )
    by_class = np.argsort(matched_labels, kind="stable")
    described = {label: classes.get(label, (str(label), False)) for label in labels.tolist()}
    return ObjectCounts.made(
        written_classes(list(described), [name for name, _ in described.values()]) or "none",
        matched.shared[by_class],
        matched.unions[by_class],
        things=[is_thing for _, is_thing in described.values()],
        objects=np.stack([n_true, n_predicted, n_ignored], axis=1),
        sizes=np.stack([n_matched, np.zeros_like(n_matched)], axis=1),
    )


def count_components(
    true: Array, predicted: Array, pixels: int, scores: FloatArray | None = None, hit_iou: float | None = None
) -> ObjectCounts:
    """Count an image by its numbered components, see `components_of`; `pixels` are those of it that count.

    With the scores of pixels, predicted components are ranked by their highest, and hit true ones from this IoU on.
    """
    overlaps = Overlaps.of(true, predicted)
    is_true, is_predicted = overlaps.true > 0, overlaps.predicted > 0
    rows, columns, shared = overlaps.some(is_true[overlaps.rows] & is_predicted[overlaps.columns])
    true_inside = added_up(rows, shared, overlaps.true.size)
    predicted_inside = added_up(columns, shared, overlaps.predicted.size)
    predicted_outside = overlaps.predicted_areas - predicted_inside
    outside = added_up(rows, predicted_outside[columns], overlaps.true.size)  # of the predicted ones that touch it
    n_true, n_predicted = int(is_true.sum()), int(is_predicted.sum())
    counts = ObjectCounts.made(
        COMPONENTS,
        np.concatenate([true_inside[is_true], predicted_inside[is_predicted]]),
        np.concatenate([(overlaps.true_areas + outside)[is_true], overlaps.predicted_areas[is_predicted]]),
        things=[1],
        objects=[n_true, n_predicted, 0],
        sizes=[n_true, n_predicted],
    )
    if scores is not None:
        hit = shared > 0
        if hit_iou is not None:
            hit = shared / (overlaps.true_areas[rows] + overlaps.predicted_areas[columns] - shared) >= hit_iou
        hitting = (np.cumsum(is_predicted) - 1)[columns[hit]], (np.cumsum(is_true) - 1)[rows[hit]]
        highest = _highest_scores(predicted, scores, overlaps.predicted[is_predicted])
        counts = _with_hits(counts, highest, *hitting)
    if true.ndim > 2:
        return counts
    matched, false_pixels = count_targets(true, predicted)
    return replace(counts, targets=matched, false_pixels=false_pixels, pixels=pixels)


def _highest_scores(predicted: Array, scores: FloatArray, numbers: IntArray) -> FloatArray:
    """Return the highest score in each numbered component."""
    highest = np.full(int(numbers.max(initial=0)) + 1, -np.inf)
    inside = predicted > 0
    np.maximum.at(highest, predicted[inside], scores[inside])
    return highest[numbers]


def _with_hits(counts: ObjectCounts, scores: FloatArray, predicted: IntArray, true: IntArray) -> ObjectCounts:
    """Add the scores of predicted components, and what they hit: pairs of a predicted and a true one."""
    order = np.argsort(-scores, kind="stable")
    rank_of = np.argsort(order)
    hits = np.zeros(scores.size, np.int64)
    count_hits(rank_of[predicted], true, np.ones(int(counts.objects[0, 0]), np.bool_), hits)
    return replace(counts, scored=True, scores=scores[order], hits=hits)


def components_of(
    truth: BoolArray, predicted: BoolArray, *, connectivity: int, min_true: int, min_predicted: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Number the components of two masks, without those that are too small, see `leave_out_small`."""
    true_numbers, predicted_numbers = (number_components(mask, connectivity) for mask in (truth, predicted))
    leave_out_small(true_numbers, predicted_numbers, min_true=min_true, min_predicted=min_predicted)
    return true_numbers, predicted_numbers


def leave_out_small(true_numbers: Array, predicted_numbers: Array, *, min_true: int, min_predicted: int) -> None:
    """Take out predicted objects of fewer pixels, then true ones, with all that is predicted there, as if void."""
    if min_predicted > 1:
        predicted_numbers[_in_small(predicted_numbers, min_predicted)] = 0
    if min_true > 1:
        void = _in_small(true_numbers, min_true)
        true_numbers[void] = 0
        predicted_numbers[void] = 0


def _in_small(numbers: Array, least: int) -> BoolArray:
    """Mark the pixels of objects with fewer pixels than `least`."""
    if numbers.max(initial=0) > _MOST_COUNTED:
        values, places = np.unique(numbers, return_inverse=True)
        has_zero = int(values[0] == 0)
        numbers = places.reshape(numbers.shape) + (1 - has_zero)
    small = np.bincount(numbers.reshape(-1)) < least
    small[:1] = False
    in_small: BoolArray = small[numbers]
    return in_small
