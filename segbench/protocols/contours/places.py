"""An image as places of masks: 0 for the first, and one beyond the last for pixels in none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from segbench.core.arrays import Array, BoolArray, IntArray
from segbench.core.sample import Sample
from segbench.inputs.label_maps import label_maps
from segbench.inputs.label_values import places_of
from segbench.inputs.mask_pairs import MaskPair
from segbench.inputs.object_numbers import NumberedPair
from segbench.protocols.contours.counts import NO_MATRIX
from segbench.protocols.labels.counting import count_maps


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


def places_of_mask(masks: MaskPair) -> Places:
    """Return the places of a mask and of a predicted one."""
    (predicted,) = masks.predicted
    return Places((~masks.truth).view(np.uint8), (~predicted).view(np.uint8), 1)


def places_of_objects(objects: NumberedPair) -> Places:
    """Return the places of numbered objects."""
    maps = objects.truth, objects.predicted
    number = max(int(numbers.max()) for numbers in maps)
    nowhere, first = np.uint8(number), np.uint8(1)
    truth, predicted = (np.where(numbers == 0, nowhere, numbers - first) for numbers in maps)
    return Places(truth, predicted, number)


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
