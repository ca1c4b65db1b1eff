"""Regions of one prediction, of label maps or of a contour map at every threshold, and what became of each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segbench.core.arrays import FloatArray, IntArray
from segbench.core.errors import ArgumentError
from segbench.protocols.regions.inputs import as_label_maps, is_ucm2, ucm2_levels
from segbench.protocols.regions.kernels import merge_upward
from segbench.protocols.states import State

_DENSE_LABELS = 2**16


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Regions at rising thresholds, where they only merge; K is 1 for a single label map."""

    labels: NDArray[Any]  # (H, W): regions at the first threshold, from 0, none missing
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
    if is_ucm2(prediction, shape):
        levels, cuts = ucm2_levels(prediction, thresholds)
        return [_merged(levels, cuts.size)], cuts
    maps = [dense(labels) for labels in as_label_maps(prediction, "segmentation")]
    each = [
        Hierarchy(labels, np.arange(number, dtype=np.int32)[np.newaxis], np.array([number])) for labels, number in maps
    ]
    return each, np.arange(1.0, len(each) + 1)


def regions_at(hierarchies: list[Hierarchy], thresholds: FloatArray, threshold: float) -> NDArray[Any]:
    """Give the regions at one of the thresholds that `hierarchies_of` gave."""
    places = np.flatnonzero(np.isclose(thresholds, threshold, rtol=0, atol=1e-6))
    if not places.size:
        raise ArgumentError(
            f"threshold is {threshold:g}, expected one of the {thresholds.size} measured; see thresholds"
        )
    place = int(places[0])
    hierarchy, level = (hierarchies[0], place) if len(hierarchies) == 1 else (hierarchies[place], 0)
    regions: NDArray[Any] = hierarchy.region_of[level][hierarchy.labels]
    return regions


def _merged(levels: NDArray[np.int32], thresholds: int) -> Hierarchy:
    labels, region_of, number = merge_upward(levels, thresholds)
    height, width = levels.shape
    return Hierarchy(labels.reshape(height // 2, width // 2), region_of, number)


def dense(labels: NDArray[Any]) -> tuple[NDArray[np.int64], int]:
    """Number labels from 0 without gaps, in rising order; give how many there are."""
    highest = int(labels.max(initial=0))
    if highest >= max(_DENSE_LABELS, 4 * labels.size):
        values, places = np.unique(labels, return_inverse=True)
        return places.reshape(labels.shape).astype(np.int64, copy=False), values.size
    present = np.zeros(highest + 1, np.int64)
    present[labels.astype(np.intp).ravel()] = 1
    number = int(present.sum())
    renumbered: NDArray[np.int64] = (np.cumsum(present) - 1)[labels.astype(np.intp)]
    return renumbered, number


def region_states(predicted: NDArray[Any], truth: NDArray[Any], valid: NDArray[np.bool_]) -> NDArray[np.uint8]:
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
    states[valid] = np.where(
        stand_in[g] == p, State.TRUE, np.where(np.isin(p, candidate[first]), State.FALSE, State.MISSED)
    )
    return states
