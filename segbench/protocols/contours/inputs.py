"""The files of an image as places of masks: 0 for the first, and one beyond the last for pixels in none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segbench.core.errors import DataError
from segbench.core.interface import given, setting
from segbench.core.levels import scores_of
from segbench.core.sample import Sample
from segbench.protocols.annotators import take_one, zero_or_one
from segbench.protocols.label_rules import LabelRule, Positive, describe, equals_any, suggested_positive
from segbench.protocols.labels.counting import count_maps
from segbench.protocols.labels.inputs import label_maps

MOST_OBJECTS = 254


class Places(NamedTuple):
    """Both maps, and how many masks there are."""

    truth: NDArray[Any]
    predicted: NDArray[Any]
    number: int

    @classmethod
    def of(cls, truth: NDArray[Any], predicted: NDArray[Any], none: NDArray[np.bool_] | None, number: int) -> Places:
        """Give places of which those where there is `none` are in no mask."""
        dtype = np.dtype(np.uint8 if number < np.iinfo(np.uint8).max else np.uint16)
        if truth.dtype == np.bool_:  # whether a pixel is in no mask
            true, found = ((part if none is None else part | none).view(np.uint8) for part in (truth, predicted))
        else:
            true, found = (part.astype(dtype) for part in (truth, predicted))
            if none is not None:
                true[none] = found[none] = number
        return cls(true, found, number)


def places_of_mask(
    sample: Sample, *, positive: Positive | None, void: Sequence[float], at: float | None, of_labels: str = ""
) -> Places:
    """Read a mask, and a predicted mask or a soft map; `of_labels` is the advice for label maps."""
    classes = setting("--classes 0-18", "classes='0-18'")
    of_labels = of_labels or f"for label maps name {classes}"
    truth, predicted = _one_of_each(sample)
    left_out = _left_out(sample, truth, void)
    if left_out is not None:
        truth = np.where(left_out, truth.dtype.type(0), truth)
    rule = None if positive is None else LabelRule.parse(positive)
    mask = rule.positive(truth) if rule else _two_valued(sample.truth_file, truth, "", of_labels)
    found = (
        _two_valued(sample.predicted_file, predicted, "prediction", of_labels)
        if at is None
        else _cut(sample, predicted, at)
    )
    return Places.of(~zero_or_one(mask), ~zero_or_one(found), left_out, 1)


def places_of_classes(sample: Sample, *, labels: Sequence[int], void: Sequence[int], maps: Mapping[str, str]) -> Places:
    """Read label maps, as `segbench.Labels` does."""
    both = label_maps(sample, labels=labels, **maps)
    count_maps(both, labels=labels, void=void, valid=sample.field)  # which refuses labels that are no classes
    number = len(labels)
    known = {label: place for place, label in enumerate(labels)}
    shape = both.truth.labels.shape
    found = []
    for each in both:
        coded = each.coded
        table = each.mapping.table(coded.values, known | dict.fromkeys(void, number + 1), number).astype(np.uint16)
        found.append(table[coded.codes].reshape(shape))
    left_out = found[0] == number + 1
    if sample.field is not None:
        left_out |= ~sample.field
    return Places.of(found[0], found[1], left_out, number)


def places_of_objects(sample: Sample, *, void: Sequence[float]) -> Places:
    """Read maps of numbered objects, 0 for the background."""
    truth, predicted = _one_of_each(sample)
    left_out = _left_out(sample, truth, void)
    found = []
    for file, numbers in ((sample.truth_file, truth), (sample.predicted_file, predicted)):
        void_there = equals_any(numbers, tuple(map(float, void)))
        objects = np.where(void_there if left_out is None else void_there | left_out, numbers.dtype.type(0), numbers)
        if not np.array_equal(objects, np.rint(objects)) or objects.min() < 0 or objects.max() > MOST_OBJECTS:
            what = f"holds {describe(np.unique(objects))}, expected numbers of objects from 0 to {MOST_OBJECTS}"
            mask = setting("--positive 255", "positive=255")
            raise DataError(file, what, f"save the number of its object for each pixel; of a single object give {mask}")
        found.append(objects.astype(np.int64))
    number = int(max(objects.max() for objects in found))
    truth, predicted = (np.where(objects == 0, number, objects - 1) for objects in found)
    return Places.of(truth, predicted, left_out, number)


def _one_of_each(sample: Sample) -> tuple[NDArray[Any], NDArray[Any]]:
    """Give the ground truth and the prediction of an image that has one of each, of the same size."""
    if len(sample.ground_truths) > 1:
        raise DataError(sample.truth_file, f"{len(sample.ground_truths)} annotators, expected one mask", take_one())
    truth, predicted = sample.ground_truths[0], sample.predictions[0]
    if predicted.ndim == 3 and 1 in (predicted.shape[0], predicted.shape[-1]):
        predicted = predicted.reshape([size for size in predicted.shape if size > 1] if predicted.size > 1 else (1, 1))
    if predicted.ndim != 2 or truth.ndim != 2:
        raise DataError(sample.predicted_file, f"shape {predicted.shape}, expected (H, W)", no_volumes())
    if predicted.shape != truth.shape:
        what = f"shape {predicted.shape}, expected {truth.shape} as the ground truth has"
        raise DataError(sample.predicted_file, what, "resize it by nearest neighbour first")
    return truth, predicted


def no_volumes() -> str:
    """Say what to do with volumes."""
    return "contours are measured in two dimensions: save one image per slice, or see docs/limits.md for volumes"


def _left_out(sample: Sample, truth: NDArray[Any], void: Sequence[float]) -> NDArray[np.bool_] | None:
    """Mark pixels that are in no mask; None for none."""
    outside = None if sample.field is None else ~sample.field
    if not void:
        return outside
    found = equals_any(truth, tuple(map(float, void)))
    return found if outside is None else found | outside


def _two_valued(file: str, values: NDArray[Any], role: str, of_labels: str) -> NDArray[np.bool_]:
    """Mark what is not 0 in a map with at most one other value."""
    if values.dtype == np.bool_:
        return values
    marked: NDArray[np.bool_] = values != 0
    if np.all(~marked | (values == values.max())):
        return marked
    held = np.unique(values)
    what = f"holds {describe(held)}, expected a mask of 0 and one other value"
    if role:
        raise DataError(file, what, f"cut a soft map at a score, {given('at', 0.5)}; {of_labels}")
    raise DataError(file, what, f"{suggested_positive(held.tolist())}; {of_labels}")


def _cut(sample: Sample, stored: NDArray[Any], at: float) -> NDArray[np.bool_]:
    """Mark scores of at least `at`."""
    scores = scores_of(stored)
    if not np.isfinite(scores).all():
        wrong = np.count_nonzero(~np.isfinite(scores))
        what = f"{wrong} of {scores.size} scores NaN or infinite, expected finite ones"
        raise DataError(sample.predicted_file, what, "fix the prediction")
    marked: NDArray[np.bool_] = scores >= at
    return marked
