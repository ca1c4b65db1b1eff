"""Masks of one image to contour counts: of images and of volumes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import Array, BoolArray, IntArray, keep_freed_memory
from segbench.imaging.surfaces import Elements, distances_between, marks_of, voxels_of_box
from segbench.inputs.class_label_maps import ClassLabelMaps
from segbench.inputs.class_regions import membership
from segbench.inputs.confusion import ClassesOfPixels
from segbench.inputs.label_values import places_of
from segbench.inputs.mask_pairs import MaskPair
from segbench.inputs.object_numbers import NumberedPair
from segbench.inputs.spacing import Sizes, Steps, decimal_text, exact, whole_steps
from segbench.protocols.contours.counts import NO_MATRIX, ContourCounts

ByteArray = NDArray[np.uint8]

_LENGTH_OF_KIND = np.array([[0, 0, 1, 0], [0, 1, 0, 2]])
"""Units and halves of the length of an element of each kind, see `kernels.corners`: a diagonal is two halves."""


class NumberedMasks(NamedTuple):
    """Both maps of an image, which hold the number of a mask, from 1, or 0 where there is none.

    Of classes the confusion matrix comes with them, see `segbench.LabelCounts`.
    """

    truth: Array
    predicted: Array
    number: int
    """How many masks there are."""
    matrix: IntArray = NO_MATRIX
    members: BoolArray | None = None
    """Which numbers, from 0, belong to each mask, where masks are regions that overlap, shape (masks, numbers)."""

    def in_any_mask(self, numbers: Array) -> BoolArray:
        """Mark the pixels of one of the maps that are in a mask."""
        in_mask: BoolArray = numbers > 0 if self.members is None else np.any(self.members, axis=0)[numbers]
        return in_mask

    def sides_of(self, number: int) -> list[ByteArray]:
        """Return one of the masks on both sides, as 0 and 1."""
        members = None if self.members is None else self.members[number - 1]
        sides = [numbers == number if members is None else members[numbers] for numbers in (self.truth, self.predicted)]
        return [np.ascontiguousarray(side).view(np.uint8) for side in sides]

    def without(self, numbers: Sequence[int]) -> NumberedMasks:
        """Return the maps without some of the masks."""
        if self.members is not None:
            members = self.members.copy()
            members[np.array(numbers) - 1] = False
            return self._replace(members=members)
        truth, predicted = (np.where(np.isin(side, numbers), 0, side).astype(side.dtype) for side in self[:2])
        return self._replace(truth=truth, predicted=predicted)


def masks_of_pair(masks: MaskPair) -> NumberedMasks:
    """Return a mask and a predicted one."""
    (predicted,) = masks.predicted
    return NumberedMasks(masks.truth.view(np.uint8), predicted.view(np.uint8), 1)


def masks_of_objects(objects: NumberedPair) -> NumberedMasks:
    """Return the masks of numbered objects."""
    maps = objects.truth, objects.predicted
    return NumberedMasks(*maps, max(int(numbers.max()) for numbers in maps))


def masks_of_classes(image: ClassesOfPixels, inputs: ClassLabelMaps) -> NumberedMasks:
    """Return the masks of the classes of two label maps; pixels that are void or do not count are in none."""
    labels, void = inputs.labels, inputs.void or ()
    dtype = np.dtype(np.uint8 if len(labels) < np.iinfo(np.uint8).max else np.uint16)
    numbers: list[Array] = []
    left_out: BoolArray | None = None if image.valid is None else ~image.valid
    for label_map in image.maps:
        coded = label_map.coded
        class_index = places_of(coded.values, labels)
        is_class = (class_index < len(labels)) & ~np.isin(coded.values, void)
        number_of_code = np.where(is_class, class_index + 1, 0).astype(dtype)
        numbers.append(number_of_code[coded.codes].reshape(label_map.labels.shape))
        if label_map is image.maps.truth and void:
            is_void = np.isin(coded.values, void)[coded.codes].reshape(label_map.labels.shape)
            left_out = is_void if left_out is None else left_out | is_void
    if left_out is not None:
        for side in numbers:
            side[left_out] = 0
    if not inputs.regions:
        return NumberedMasks(numbers[0], numbers[1], len(labels), image.matrix)
    members = np.pad(membership(inputs.named_classes[0]), ((0, 0), (1, 0)))
    return NumberedMasks(numbers[0], numbers[1], len(members), image.matrix, members)


def count_masks(masks: NumberedMasks, *, classes: str, surface: Elements, sizes: Sizes | None = None) -> ContourCounts:
    """Count the masks of an image, or of a volume; `sizes` are those of its pixels along the axes, if known."""
    keep_freed_memory()  # whose pages take as long as the distances
    if masks.truth.ndim == 3:
        return _count_volume(masks, classes, surface, sizes)
    height, width = shape = masks.truth.shape
    diagonal = math.sqrt(height**2 + width**2)
    tables = np.zeros((masks.number, 12), np.int64)
    lists: list[IntArray] = []
    steps = Steps((1, 1), Fraction(1)) if sizes is None else whole_steps(list(map(exact, sizes)), shape)
    for number, table in enumerate(tables, 1):
        sides = masks.sides_of(number)
        table[:10], sides = _overlaps(sides, diagonal)
        if not (table[0] and table[1]):
            continue
        directions = _contour_distances(sides, surface) if sizes is None else _distances(sides, surface, steps.numbers)
        table[10:] = [direction.shape[1] for direction in directions]
        lists += directions
    areas, bands, davis, entries = np.split(tables, [3, 6, 10], axis=1)
    tables_of_masks = areas, bands, davis, entries
    used = None if sizes is None else steps
    return _counts(masks, tables_of_masks, lists, classes=classes, surface=surface, steps=used)


def _counts(
    masks: NumberedMasks,
    tables: Sequence[IntArray],
    lists: Sequence[IntArray],
    *,
    classes: str,
    surface: Elements,
    steps: Steps | None,
    has_unit: bool = True,
) -> ContourCounts:
    """Put together the counts of an image; lists have squared distances, units, halves, and maybe elements in rows."""
    shape = masks.truth.shape
    spaced: dict[str, Any] = {}
    if steps is not None:
        spaced = {"steps": steps.numbers, "shapes": shape, "unit": decimal_text(steps.unit) if has_unit else ""}
    joined = np.concatenate(lists, axis=1) if lists else np.zeros((3, 0), np.int64)
    if len(joined) > 3:
        spaced["elements"] = joined[3]
    areas, bands, davis, entries = tables
    return ContourCounts(
        classes,
        surface,
        images=1,
        squared_diagonal=sum(size**2 for size in shape),
        areas=areas,
        bands=bands,
        davis=davis,
        sizes=entries,
        squared=joined[0],
        units=joined[1],
        halves=joined[2],
        matrix=masks.matrix,
        **spaced,
    )


def _overlaps(sides: list[ByteArray], diagonal: float) -> tuple[IntArray, list[ByteArray]]:
    """Count the areas, bands and DAVIS's boundaries of a mask of an image, and cut both sides to their box."""
    from segbench.protocols.contours import kernels

    overlaps = np.zeros(10, np.int64)
    top, bottom, left, right, *areas = kernels.extent(*sides)
    if top >= bottom:
        return overlaps, sides
    overlaps[:3] = areas
    box = slice(max(top - 1, 0), bottom + 1), slice(max(left - 1, 0), right + 1)
    truth, predicted = (np.ascontiguousarray(side[box]) for side in sides)
    reach = max(1, round(0.02 * diagonal))  # of Boundary IoU, halves to even
    true_band, predicted_band = (kernels.band(side, reach, side.copy()).view(np.bool_) for side in (truth, predicted))
    overlaps[3:6] = [np.count_nonzero(band) for band in (true_band, predicted_band, true_band & predicted_band)]
    overlaps[6:] = _davis(truth, predicted, math.ceil(0.008 * diagonal))
    return overlaps, [truth, predicted]


def _davis(truth: ByteArray, predicted: ByteArray, reach: int) -> tuple[int, int, int, int]:
    """Count boundary pixels of both masks, and those near the other."""
    from segbench.protocols.contours import kernels

    true_marks, predicted_marks = (kernels.davis_boundary(mask, np.empty_like(mask)) for mask in (truth, predicted))
    from_truth = kernels.squared_distances(true_marks, predicted_marks, reach**2 + 1)
    from_prediction = kernels.squared_distances(predicted_marks, true_marks, reach**2 + 1)
    near = [int(np.count_nonzero(squared <= reach**2)) for squared in (from_truth, from_prediction)]
    return from_truth.size, from_prediction.size, near[0], near[1]


def _contour_distances(sides: Sequence[ByteArray], surface: Elements) -> list[IntArray]:
    """Return squared distances, units and halves in rows: from the first mask to the second, and back."""
    from segbench.protocols.contours import kernels

    is_coded = surface == "lengths"
    mark, larger = (kernels.corners, 1) if is_coded else (kernels.inner_boundary, 0)
    first, second = (
        mark(np.pad(mask, 1), np.empty([size + larger for size in mask.shape], np.uint8)) for mask in sides
    )
    squared = [kernels.squared_distances(*pair, coded=is_coded) for pair in ((first, second), (second, first))]
    return [_lengths(direction) if is_coded else _pixels(direction) for direction in squared]


def _pixels(squared: IntArray) -> IntArray:
    """Count pixels by squared distance."""
    distances, numbers = _counted(squared)
    return np.array([distances, numbers, np.zeros_like(numbers)])


def _lengths(codes: IntArray) -> IntArray:
    """Add up the lengths of elements by squared distance, from distances with kinds of elements."""
    codes, numbers = _counted(codes)
    starts = np.flatnonzero(np.diff(codes // 4, prepend=-1))
    lengths = [np.add.reduceat(numbers * of_kind[codes % 4], starts) for of_kind in _LENGTH_OF_KIND]
    return np.array([codes[starts] // 4, *lengths])


def _counted(values: IntArray) -> tuple[IntArray, IntArray]:
    """Return the distinct values, rising, and how often each occurs; the array is used up."""
    from segbench.protocols.contours import kernels

    ordered = kernels.in_order(values, np.empty_like(values))
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    return ordered[starts], np.diff(starts, append=ordered.size)


def _distances(sides: list[ByteArray], surface: Elements, steps: Sequence[int]) -> list[IntArray]:
    """Return squared distances, numbers and elements in rows, in steps along the axes; empties the list of sides."""
    marks = []
    while sides:  # of which none is needed once it is marked
        marks.append(marks_of(sides.pop(0), surface))
    of_layers = (1, *steps)[-3:]
    directions = distances_between(marks[0], marks[1], of_layers)
    rows = [[part.squared, part.numbers, np.zeros_like(part.numbers), part.elements] for part in directions]
    return [np.array(direction if surface in ("lengths", "areas") else direction[:3]) for direction in rows]


def _count_volume(masks: NumberedMasks, classes: str, surface: Elements, sizes: Sizes | None) -> ContourCounts:
    """Count the masks of a volume."""
    boxes, areas = _boxes(masks)
    measured = [number for number in range(masks.number) if areas[number, :2].all()]
    # There is one corner more than voxels along each axis.
    largest = [max(boxes[measured, 2 * axis + 1] - boxes[measured, 2 * axis], default=0) + 1 for axis in range(3)]
    steps = whole_steps([exact(size) for size in sizes or (1.0, 1.0, 1.0)], list(map(int, largest)))
    entries, lists = np.zeros((masks.number, 2), np.int64), list[IntArray]()
    for number in measured:
        box = voxels_of_box(boxes[number].tolist())
        cut = masks._replace(truth=masks.truth[box], predicted=masks.predicted[box])
        directions = _distances(cut.sides_of(number + 1), surface, steps.numbers)
        entries[number] = [direction.shape[1] for direction in directions]
        lists += directions
    flat = np.zeros((masks.number, 3), np.int64), np.zeros((masks.number, 4), np.int64)
    tables = (areas, *flat, entries)
    has_unit = sizes is not None
    return _counts(masks, tables, lists, classes=classes, surface=surface, steps=steps, has_unit=has_unit)


def _boxes(masks: NumberedMasks) -> tuple[IntArray, IntArray]:
    """Return the box of each mask of a volume, and its areas, see `boxes_of_masks`."""
    from segbench.imaging.surface_kernels import boxes_of_masks

    numbered = masks.number if masks.members is None else masks.members.shape[1] - 1
    boxes, areas = np.empty((numbered, 6), np.int64), np.empty((numbered, 3), np.int64)
    # In the order in which voxels lie in memory, which files decide: the other order takes several times as long.
    order = np.argsort([-abs(stride) for stride in masks.truth.strides], kind="stable")
    boxes_of_masks(masks.truth.transpose(order), masks.predicted.transpose(order), boxes, areas)
    in_order = boxes.reshape(-1, 3, 2)[:, np.argsort(order)].reshape(-1, 6)
    return (
        (in_order, areas)
        if masks.members is None
        else _boxes_and_areas_of_regions(masks, masks.members[:, 1:], in_order, areas)
    )


def _boxes_and_areas_of_regions(
    masks: NumberedMasks, members: BoolArray, boxes: IntArray, areas: IntArray
) -> tuple[IntArray, IntArray]:
    """Return boxes and areas of regions, from those of the labels that belong to them.

    `members` has a row for each region. Boxes hold the first and the last index of each axis in turn, areas the pixels
    of the truth, of the prediction and of both.
    """
    of_regions = np.empty((len(members), 6), np.int64)
    for box, labels in zip(of_regions, members, strict=True):
        box[::2], box[1::2] = boxes[labels, ::2].min(axis=0), boxes[labels, 1::2].max(axis=0)
    membership = members.astype(np.int64)
    confusion = masks.matrix[:, :-1]  # without predictions outside the classes
    overlaps = ((membership @ confusion) * membership).sum(axis=1)
    return of_regions, np.column_stack([membership @ areas[:, :2], overlaps])
