"""The files of an image as places of masks: 0 for the first, and one beyond the last for pixels in none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from segbench.core.arrays import Array, BoolArray, IntArray
from segbench.core.errors import VOLUMES, DataError
from segbench.core.messages import Either, Message, Setting, as_message, joined, protocol_with
from segbench.core.sample import Sample, Side
from segbench.inputs.label_maps import label_maps, likely_classes
from segbench.inputs.label_rules import (
    MANY_LEVELS,
    ManyValuesError,
    Positive,
    are_grey_levels,
    counted,
    equals_any,
    first_of,
)
from segbench.inputs.label_values import places_of
from segbench.inputs.mask_pairs import left_out, masks_at, refuse_numbers_with_loss, two_maps
from segbench.inputs.predicted_labels import in_colour
from segbench.protocols.contours.counts import NO_MATRIX
from segbench.protocols.labels.counting import count_maps

MOST_OBJECTS = 254
NO_OBJECT = 255.0
"""What DAVIS's annotations hold where they leave open what is there; its code for given objects sets it to 0."""
_NO_VOLUMES = f"contours are measured in two dimensions: save one image per slice, or {VOLUMES}"


class Places(NamedTuple):
    """Both maps, how many masks there are, and of classes the confusion matrix, see `segbench.LabelCounts`."""

    truth: Array
    predicted: Array
    number: int
    matrix: IntArray = NO_MATRIX

    @classmethod
    def of(cls, truth: Array, predicted: Array, none: BoolArray | None, number: int) -> Places:
        """Give places of which those where there is `none` are in no mask."""
        dtype = np.dtype(np.uint8 if number < np.iinfo(np.uint8).max else np.uint16)
        true, found = (part.astype(dtype) for part in (truth, predicted))
        if none is not None:
            true[none] = found[none] = number
        return cls(true, found, number)


def places_of_mask(sample: Sample, *, positive: Positive | None, void: Sequence[float], at: float | None) -> Places:
    """Read a mask, and a predicted mask or a soft map."""
    settings: dict[str, Any] = {"positive": positive, "void": void, "no_volumes": _NO_VOLUMES, "of_labels": _of_labels}
    mask, (found,) = masks_at(sample, None if at is None else (at,), **settings)
    return Places((~mask).view(np.uint8), (~found).view(np.uint8), 1)


def _of_labels(values: Sequence[float]) -> Message:
    """Say how label maps of these values are measured."""
    classes = likely_classes(np.asarray(values), MANY_LEVELS) or Setting("classes", "0-18")
    if values[0] != 0:
        return Message("fix", "for label maps name {classes}", classes=classes)
    background = Setting("background", 0)
    return Message(
        "fix",
        "for label maps name {classes}, with {background} if 0 is background",
        classes=classes,
        background=Either(protocol_with("Contours", "", classes, background), background),
    )


def places_of_classes(
    sample: Sample, *, labels: Sequence[int], names: Sequence[str], void: Sequence[int], maps: Mapping[str, str]
) -> Places:
    """Read label maps, as `segbench.Labels` does."""
    both = label_maps(sample, labels=labels, protocol="Contours", **maps)
    matrix, _ = count_maps(both, labels=labels, names=names, void=void, valid=sample.field, protocol="Contours")
    number = len(labels)
    shape = both.truth.labels.shape
    found = []
    for each in both:
        coded = each.coded
        table = places_of(coded.values, labels).astype(np.uint16)
        table[np.isin(coded.values, void)] = number + 1
        found.append(table[coded.codes].reshape(shape))
    none = found[0] == number + 1
    if sample.field is not None:
        none |= ~sample.field
    return Places.of(found[0], found[1], none, number)._replace(matrix=matrix)


def places_of_objects(sample: Sample, *, void: Sequence[float]) -> Places:
    """Read maps of numbered objects, 0 for the background; 255 is background in the ground truth alone, as in DAVIS."""
    refuse_numbers_with_loss(sample, _advice_on_levels)
    truth, predicted = two_maps(sample, _NO_VOLUMES)
    none = left_out(sample, truth, void)
    files = sample.truth_file, sample.predicted_file
    for file, numbers in zip(files, (truth, predicted), strict=True):
        if in_colour(numbers):
            raise DataError(
                file,
                Message("in-colour", "is in colour, expected the number of an object for each pixel"),
                Message(
                    "fix",
                    "save the number of its object for each pixel, for instance the index of its colour in a palette",
                ),
            )
    true_objects = np.where(equals_any(truth, (NO_OBJECT,)), truth.dtype.type(0), truth)
    objects = []
    for file, numbers in zip(files, (true_objects, predicted), strict=True):
        inside = numbers if none is None else np.where(none, numbers.dtype.type(0), numbers)
        if not np.array_equal(inside, np.rint(inside)) or inside.min() < 0 or inside.max() > MOST_OBJECTS:
            values = np.unique(inside)
            problem = Message(
                "not-numbered",
                "holds {count} distinct values ({values}), expected numbers of objects from 0 to {expected}",
                **counted(values),
                expected=MOST_OBJECTS,
            )
            if file == sample.truth_file:
                raise DataError(file, problem, advice_on_objects([], values.tolist()))
            raise ManyValuesError(file, problem, np.unique(truth).tolist(), advice_on_objects, values.tolist())
        objects.append(inside.astype(np.int64))
    number = int(max(each.max() for each in objects))
    truth, predicted = (np.where(each == 0, number, each - 1) for each in objects)
    return Places.of(truth, predicted, none, number)


def advice_on_objects(true_values: Sequence[float], predicted: Sequence[float]) -> Message:
    """Say how predictions of these values get the numbers of the objects in the ground truth, given its values."""
    numbers = [value for value in true_values if value not in (0, NO_OBJECT)]
    if not numbers and NO_OBJECT in true_values:
        numbers = [NO_OBJECT]
    by_hand = Message("fix", "save the number of its object for each pixel, and 0 for none")
    others = set(predicted) - {0, NO_OBJECT}
    if others and NO_OBJECT in predicted and others.issubset(numbers):
        return Message("fix", "save 0, and not {value}, where no object is predicted", value=NO_OBJECT)
    if not numbers:
        return by_hand
    if len(numbers) > 1:
        return Message(
            "fix", "{by_hand}; the ground truth numbers {numbers}", by_hand=by_hand, numbers=first_of(numbers)
        )
    mask = as_message(Setting("positive", numbers[0]))
    if np.count_nonzero(predicted) > 1:
        shares = min(predicted) >= 0 and max(predicted) <= 1
        soft = shares or are_grey_levels(predicted)
        mask = joined([mask, Setting("at", 0.5) if soft else "save masks of 0 and 255"], " and ")
    return Message(
        "fix",
        "if {number:g} is the only object of every sequence, {mask}; otherwise {by_hand}",
        number=numbers[0],
        mask=mask,
        by_hand=by_hand,
    )


def _advice_on_levels(side: Side) -> Message:
    """Say what to do with the masks of a single object where objects have numbers."""
    settings = [Setting("positive", ">=128")]
    if side == "prediction":
        settings.append(Setting("at", 0.5))
    return Message("fix", "for masks of a single object give {settings}", settings=joined(settings, " and "))
