"""BraTS's lesion-wise measure of volumes: lesions that are joined by dilation, their Dice and HD95, and false ones.

Begin with `count_lesions`. Every lesion of the ground truth takes all predicted components that touch it after its
dilation, whole, so that one of these may serve several lesions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import BoolArray, FloatArray, IntArray
from segbench.imaging.components import number_components, structure_of
from segbench.imaging.surfaces import (
    Histogram,
    Places,
    SurfaceDistances,
    distances_between,
    distances_between_few,
    marks_of,
    sizes_of_classes,
)
from segbench.inputs.overlaps import Overlaps, added_up
from segbench.inputs.spacing import Steps, exact, whole_steps
from segbench.protocols.objects.lesion_scores import FARTHEST

_DILATION = 18  # neighbours of a voxel that a step of dilation adds
_PAIRS_PER_CORNER = 8  # so many pairs take no longer than a corner in a transform of the whole box

Box = tuple[slice, ...]


class Lesions(NamedTuple):
    """What became of the lesions of a volume that count, and how many predicted components are false."""

    voxels: IntArray
    """Of each lesion the voxels that are predicted, all of its voxels, and those of the predicted components."""
    distances: FloatArray
    """HD95 of each lesion."""
    false: int


class _Touching(NamedTuple):
    """Numbered lesions and predicted components of a volume, and which of them touch."""

    true: NDArray[np.int32]
    predicted: NDArray[np.int32]
    lesions: IntArray
    """The number of a lesion, and of a predicted component that touches it: a row for each such pair."""
    components: IntArray

    def components_of(self, lesion: int) -> IntArray:
        """Return the predicted components that touch a lesion."""
        return self.components[self.lesions == lesion]


def count_lesions(
    truth: BoolArray,
    predicted: BoolArray,
    sizes: Sequence[float],
    *,
    connectivity: int,
    dilate: int,
    largest_left_out: int,
) -> Lesions:
    """Count the lesions of a volume.

    Parameters
    ----------
    truth, predicted : array of bool, shape (D, H, W)
        The masks, cut to a box that holds both, or not: dilations that touch each other outside touch inside, too.
    sizes : sequence of float
        How far voxels are apart along each axis.
    connectivity : {26, 18, 6}
        How many neighbours of a voxel touch it.
    dilate : int
        How many times the ground truth is dilated, by 18 neighbours each time.
    largest_left_out : int
        Lesions of at most so many voxels are left out, and predicted components that touch them are not false.
    """
    touching = _touching(truth, predicted, connectivity, dilate)
    true_voxels = np.bincount(touching.true.reshape(-1), minlength=1)
    predicted_voxels = np.bincount(touching.predicted.reshape(-1), minlength=1)
    shared = np.bincount(touching.true[touching.predicted > 0], minlength=true_voxels.size)
    taken = added_up(touching.lesions, predicted_voxels[touching.components], true_voxels.size)
    counted = 1 + np.flatnonzero(true_voxels[1:] > largest_left_out)
    return Lesions(
        np.stack([shared[counted], true_voxels[counted], taken[counted]], axis=1),
        _hd95_of_lesions(touching, counted, sizes),
        predicted_voxels.size - 1 - np.unique(touching.components).size,
    )


def _touching(truth: BoolArray, predicted: BoolArray, connectivity: int, dilate: int) -> _Touching:
    """Number the lesions, true components that touch after dilation being one, and find what touches them."""
    from scipy.ndimage import binary_dilation

    dilated = binary_dilation(truth, structure_of(_DILATION), iterations=dilate) if dilate else truth
    # The dilation of a lesion is a component of the dilated mask, which connects all that is in it.
    dilated_numbers = number_components(dilated, connectivity)
    predicted_numbers = number_components(predicted, connectivity)
    overlaps = Overlaps.of(dilated_numbers, predicted_numbers)
    both = (overlaps.true[overlaps.rows] > 0) & (overlaps.predicted[overlaps.columns] > 0)
    rows, columns, _ = overlaps.some(both)
    true_numbers = np.where(truth, dilated_numbers, np.int32(0))
    return _Touching(true_numbers, predicted_numbers, overlaps.true[rows], overlaps.predicted[columns])


def _hd95_of_lesions(touching: _Touching, lesions: IntArray, sizes: Sequence[float]) -> FloatArray:
    """Measure HD95 between each of some lesions and the predicted components that touch it."""
    from scipy.ndimage import find_objects

    distances = np.full(lesions.size, FARTHEST)
    if not lesions.size:
        return distances
    true_boxes, predicted_boxes = find_objects(touching.true), find_objects(touching.predicted)
    # Lesions with the same components follow each other, so that a large component is marked once for all of them.
    rows_by_components: dict[tuple[int, ...], list[int]] = {}
    for row, lesion in enumerate(lesions.tolist()):
        rows_by_components.setdefault(tuple(touching.components_of(lesion).tolist()), []).append(row)
    rows_by_components.pop((), None)
    for components, rows in rows_by_components.items():
        box = _joint_box([predicted_boxes[number - 1] for number in components])
        predicted = _Surface(np.isin(touching.predicted[box], components), box)
        for row in rows:
            lesion = int(lesions[row])
            box = true_boxes[lesion - 1]
            distances[row] = _hd95(_Surface(touching.true[box] == lesion, box), predicted, sizes)
    return distances


class _Surface:
    """The surface of a mask that is cut to a box."""

    def __init__(self, mask: BoolArray, box: Box) -> None:
        self.mask, self.box = mask, box

    @cached_property
    def places(self) -> Places:
        """The corners with an area, by their indices in the volume."""
        marks = marks_of(np.ascontiguousarray(self.mask).view(np.uint8), "areas")
        return Places.of(marks, [extent.start for extent in self.box])

    def mask_in(self, box: Box) -> BoolArray:
        """Return the mask in a larger box."""
        larger = np.zeros([extent.stop - extent.start for extent in box], np.bool_)
        inner = (
            slice(own.start - extent.start, own.stop - extent.start) for own, extent in zip(self.box, box, strict=True)
        )
        larger[tuple(inner)] = self.mask
        return larger


def _hd95(truth: _Surface, predicted: _Surface, sizes: Sequence[float]) -> float:
    """Measure HD95 of a lesion and what is predicted of it, pair by pair of corners where these are few."""
    box = _joint_box([truth.box, predicted.box])
    corners = [extent.stop - extent.start + 1 for extent in box]
    if truth.places.classes.size * predicted.places.classes.size > _PAIRS_PER_CORNER * math.prod(corners):
        return hd95_of_areas(truth.mask_in(box), predicted.mask_in(box), sizes)
    steps = whole_steps([exact(size) for size in sizes], corners)
    return _larger_percentile(distances_between_few(truth.places, predicted.places, steps.numbers), steps)


def _joint_box(boxes: Sequence[Box]) -> Box:
    """Return the box that holds some boxes."""
    return tuple(
        slice(min(extent.start for extent in along), max(extent.stop for extent in along))
        for along in zip(*boxes, strict=True)
    )


def hd95_of_areas(truth: BoolArray, predicted: BoolArray, sizes: Sequence[float]) -> float:
    """Measure HD95 of two masks with voxels: of the areas of their surfaces, and of both directions the larger."""
    corners = [extent + 1 for extent in truth.shape]
    steps = whole_steps([exact(size) for size in sizes], corners)
    marks = [marks_of(np.ascontiguousarray(mask).view(np.uint8), "areas") for mask in (truth, predicted)]
    return _larger_percentile(distances_between(marks[0], marks[1], steps.numbers), steps)


def _larger_percentile(directions: tuple[Histogram, Histogram], steps: Steps) -> float:
    """Return the larger of the percentiles of both directions, in mm."""
    areas = sizes_of_classes("areas", steps.numbers, steps.unit)
    return max(SurfaceDistances(*direction, areas).percentile() for direction in directions) * float(steps.unit)


def largest_of_size(size: float, sizes: Sequence[float]) -> int:
    """Return how many voxels or pixels take at most some space, exactly."""
    return math.floor(exact(size) / math.prod(map(exact, sizes), start=Fraction(1)))
