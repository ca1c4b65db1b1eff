"""Label maps of one image to object counts: which objects lie on each other, and which are found."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import Array, BoolArray, IntArray
from segbench.core.compiling import compiled
from segbench.inputs.class_names import written_classes
from segbench.inputs.object_kinds import COMPONENTS, INSTANCES
from segbench.inputs.overlaps import Overlaps, added_up
from segbench.inputs.segments import Classes, Segments
from segbench.protocols.objects.counts import ObjectCounts

_TIE = 1e-9
"""Sums of IoU that differ by less are ties, in which `aji_plus` takes the larger intersection."""


class OverlappingPairs(NamedTuple):
    """Objects that share pixels: their places among the values of either map, intersections and unions."""

    rows: IntArray
    columns: IntArray
    shared: IntArray
    unions: IntArray

    def some(self, kept: Array) -> OverlappingPairs:
        """Give some of them."""
        return OverlappingPairs(*(part[kept] for part in self))

    def matched(self) -> OverlappingPairs:
        """Give a one-to-one matching of the pairs with an IoU of at least 1/2, as large as can be.

        No object is in two such pairs, unless it is cut into two equal halves, which are two pairs of IoU 1/2: of these
        the first is taken. The largest matching at any higher threshold is a part of this one.
        """
        near = self.some(2 * self.shared >= self.unions)
        for side in (0, 1):
            near = near.some(np.sort(np.unique(near[side], return_index=True)[1]))
        return near


def instance_pairs(found: Overlaps) -> OverlappingPairs:
    """Give all pairs of objects of two instance label maps that share pixels; 0 is no object."""
    rows, columns, shared = found.some((found.true[found.rows] != 0) & (found.predicted[found.columns] != 0))
    return OverlappingPairs(rows, columns, shared, found.true_areas[rows] + found.predicted_areas[columns] - shared)


def count_instances(truth: Array, predicted: Array) -> ObjectCounts:
    """Count an image of two instance label maps, in which 0 is no object."""
    found = Overlaps.of(truth, predicted)
    pairs = instance_pairs(found)
    matched = pairs.matched()
    areas = np.where(found.true != 0, found.true_areas, 0), np.where(found.predicted != 0, found.predicted_areas, 0)
    return ObjectCounts.made(
        INSTANCES,
        matched.shared,
        matched.unions,
        things=[1],
        objects=[int((found.true != 0).sum()), int((found.predicted != 0).sum()), 0],
        sizes=[[matched.rows.size, 0]],
        aji=_aji(pairs, areas),
    )


def _aji(pairs: OverlappingPairs, areas: tuple[IntArray, IntArray]) -> list[int]:
    """Give intersection and union of AJI, then of AJI+."""
    rows, columns, shared, unions = pairs
    total = int(areas[0].sum() + areas[1].sum())
    best = best_columns(rows, shared, unions, areas[0].size)
    best = best[best >= 0]
    lonely = total - areas[0][rows[best]].sum() - areas[1][np.unique(columns[best])].sum()
    one_to_one = int(shared[_largest_sum(pairs)].sum())
    return [int(shared[best].sum()), int(unions[best].sum() + lonely), one_to_one, total - one_to_one]


@compiled()
def best_columns(rows: IntArray, shared: IntArray, unions: IntArray, number: int) -> IntArray:
    """Find the entry of the largest intersection over union in each row, the first of several, or -1.

    Fractions are compared by their products, which are exact.
    """
    best = np.full(number, -1, np.int64)
    for k in range(rows.size):
        known = best[rows[k]]
        if known < 0 or shared[k] * unions[known] > shared[known] * unions[k]:
            best[rows[k]] = k
    return best


def _largest_sum(pairs: OverlappingPairs) -> IntArray:
    """Find the entries of the one-to-one matching with the largest sum of IoU; of ties, the largest intersection.

    A pair of IoU g leaves (1 - g) / (1 + g) at most to other pairs of either object where both are equally large, and
    less in sum where not: from .57 on it is in such a matching. What is left is an assignment problem, in which each
    object of the ground truth may also stay alone, which is one more column without gain.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    sure = 5 * pairs.shared >= 3 * pairs.unions
    left = np.flatnonzero(~np.isin(pairs.rows, pairs.rows[sure]) & ~np.isin(pairs.columns, pairs.columns[sure]))
    if not left.size:
        return np.flatnonzero(sure)
    rows, columns, shared, unions = pairs.some(left)
    gain = shared / unions + _TIE * shared / shared.sum()
    (true, rows), (found, columns) = (np.unique(part, return_inverse=True) for part in (rows, columns))
    alone = np.arange(true.size)
    costs = np.concatenate([2.0 - gain, np.full(true.size, 2.0)])  # above 0, for an entry of 0 would be none
    places = np.concatenate([rows, alone]), np.concatenate([columns, found.size + alone])
    matched = min_weight_full_bipartite_matching(csr_array((costs, places), shape=(true.size, found.size + true.size)))
    return np.append(np.flatnonzero(sure), left[matched[1][rows] == columns])


class Panoptic(NamedTuple):
    """What became of the segments of two panoptic maps, by their places among the values."""

    true: IntArray  # the class of each true segment, -1 for void and crowds
    predicted: IntArray  # the class of each predicted one, -1 for void
    matched: OverlappingPairs
    ignored: BoolArray  # predicted segments that are not matched and mostly in void, or crowds of their class


def match_panoptic(found: Overlaps, truth: Segments, predicted: Segments) -> Panoptic:
    """Match segments of a class that share more than half of their union."""
    true, labels = (
        np.array([side.labels.get(value, -1) for value in values.tolist()], np.int64)
        for side, values in ((truth, found.true), (predicted, found.predicted))
    )
    rows, columns, pixels = found.rows, found.columns, found.pixels
    void, same = true[rows] < 0, true[rows] == labels[columns]
    crowd = np.isin(found.true, list(truth.crowds))
    some = void | (crowd[rows] & same)
    in_void, excused = (added_up(columns[part], pixels[part], labels.size) for part in (void, some))
    rows, columns, shared = found.some(same & ~void & ~crowd[rows])
    unions = found.true_areas[rows] + (found.predicted_areas - in_void)[columns] - shared
    pairs = OverlappingPairs(rows, columns, shared, unions)
    matched = pairs.some(2 * shared > unions)
    ignored = (2 * excused > found.predicted_areas) & (labels >= 0)
    ignored[matched.columns] = False
    return Panoptic(np.where(crowd, -1, true), labels, matched, ignored)


def count_panoptic(found: Overlaps, truth: Segments, predicted: Segments, classes: Classes) -> ObjectCounts:
    """Count an image of two panoptic maps, whose values are these segments."""
    true, labels, matched, ignored = match_panoptic(found, truth, predicted)
    known = np.unique(np.concatenate([true, labels]))
    known = known[known >= 0]
    sides = true, labels, labels[ignored], true[matched.rows]
    numbers = np.stack([(side[:, np.newaxis] == known).sum(axis=0) for side in sides], axis=1)
    order = np.argsort(true[matched.rows], kind="stable")
    named = {label: classes.get(label, (str(label), False)) for label in known.tolist()}
    return ObjectCounts.made(
        written_classes(list(named), [name for name, _ in named.values()]) or "none",
        matched.shared[order],
        matched.unions[order],
        things=[thing for _, thing in named.values()],
        objects=numbers[:, :3],
        sizes=numbers[:, 3:] * [1, 0],
    )


def count_components(true: Array, predicted: Array) -> ObjectCounts:
    """Count an image by its numbered components, see `components_of`."""
    table = Overlaps.of(true, predicted)
    rows, columns, shared = table.some((table.true[table.rows] > 0) & (table.predicted[table.columns] > 0))
    met, inside = added_up(rows, shared, table.true.size), added_up(columns, shared, table.predicted.size)
    outside = added_up(rows, (table.predicted_areas - inside)[columns], table.true.size)  # of what meets it
    real, drawn = table.true > 0, table.predicted > 0
    sizes = int(real.sum()), int(drawn.sum())
    return ObjectCounts.made(
        COMPONENTS,
        np.concatenate([met[real], inside[drawn]]),
        np.concatenate([(table.true_areas + outside)[real], table.predicted_areas[drawn]]),
        things=[1],
        objects=[*sizes, 0],
        sizes=sizes,
    )


def components_of(
    truth: BoolArray, predicted: BoolArray, *, connectivity: int, min_true: int, min_predicted: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Number the components of two masks: predicted ones below a size go, true ones become void with all on them."""
    from scipy.ndimage import label

    ways = np.ones((3, 3)) if connectivity == 8 else None
    true, found = (label(mask, ways)[0] for mask in (truth, predicted))
    for numbers, least in ((found, min_predicted), (true, min_true)):
        small = np.bincount(numbers.reshape(-1)) < least
        small[0] = False
        if small.any():
            gone = small[numbers]
            for each in (numbers,) if numbers is found else (true, found):
                each[gone] = 0
    return true, found
