"""The files of an image as places of masks: 0 for the first, and one beyond the last for pixels in none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from segbench.core.arrays import Array, BoolArray, IntArray
from segbench.core.errors import VOLUMES, DataError
from segbench.core.interface import format_setting, setting
from segbench.core.sample import Sample, Side
from segbench.protocols.contours.counts import NO_MATRIX
from segbench.protocols.label_rules import MANY_LEVELS, Positive, describe, equals_any
from segbench.protocols.labels.counting import count_maps
from segbench.protocols.labels.inputs import label_maps, likely_classes
from segbench.protocols.labels.values import places_of
from segbench.protocols.mask_pairs import left_out, masks_at, refuse_numbers_with_loss, two_maps

MOST_OBJECTS = 254


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
    settings: dict[str, Any] = {"positive": positive, "void": void, "no_volumes": no_volumes(), "of_labels": _of_labels}
    mask, (found,) = masks_at(sample, None if at is None else (at,), **settings)
    return Places((~mask).view(np.uint8), (~found).view(np.uint8), 1)


def _of_labels(values: Sequence[float]) -> str:
    """Say how label maps of these values are measured."""
    classes = likely_classes(np.asarray(values), MANY_LEVELS) or setting("--classes 0-18", "classes='0-18'")
    background = setting("--background 0", f"Contours({classes}, background=0)")
    return f"for label maps name {classes}{f', with {background} if 0 is background' * (values[0] == 0)}"


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
    """Read maps of numbered objects, 0 for the background."""
    refuse_numbers_with_loss(sample, _advice_on_levels)
    truth, predicted = two_maps(sample, no_volumes())
    none = left_out(sample, truth, void)
    found = []
    nothing = equals_any(predicted, tuple(map(float, void)))
    cleared = none, nothing if none is None else nothing | none
    files = sample.truth_file, sample.predicted_file
    for file, numbers, blank in zip(files, (truth, predicted), cleared, strict=True):
        objects = numbers if blank is None else np.where(blank, numbers.dtype.type(0), numbers)
        if not np.array_equal(objects, np.rint(objects)) or objects.min() < 0 or objects.max() > MOST_OBJECTS:
            what = f"holds {describe(np.unique(objects))}, expected numbers of objects from 0 to {MOST_OBJECTS}"
            mask = setting("--positive 255", "positive=255")
            raise DataError(file, what, f"save the number of its object for each pixel; of a single object give {mask}")
        found.append(objects.astype(np.int64))
    number = int(max(objects.max() for objects in found))
    truth, predicted = (np.where(objects == 0, number, objects - 1) for objects in found)
    return Places.of(truth, predicted, none, number)


def _advice_on_levels(side: Side) -> str:
    """Say what to do with the masks of a single object where objects have numbers."""
    positive = format_setting("positive", ">=128")
    cut = positive if side == "ground truth" else f"{positive} and {format_setting('at', 0.5)}"
    return f"for masks of a single object give {cut}"


def no_volumes() -> str:
    """Say what to do with volumes."""
    return f"contours are measured in two dimensions: save one image per slice, or {VOLUMES}"
