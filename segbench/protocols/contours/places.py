"""An image as places of masks: 0 for the first, and one beyond the last for pixels in none."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from segbench.core.arrays import Array, BoolArray, IntArray
from segbench.inputs.class_label_maps import ClassLabelMaps
from segbench.inputs.confusion import ClassesOfPixels
from segbench.inputs.label_values import places_of
from segbench.inputs.mask_pairs import MaskPair
from segbench.inputs.object_numbers import NumberedPair
from segbench.protocols.contours.counts import NO_MATRIX


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


def places_of_classes(image: ClassesOfPixels, inputs: ClassLabelMaps) -> Places:
    """Return the places of the classes of two label maps."""
    labels, void = inputs.labels, inputs.void or ()
    number = len(labels)
    places = []
    for label_map in image.maps:
        coded = label_map.coded
        table = places_of(coded.values, labels).astype(np.uint16)
        table[np.isin(coded.values, void)] = number + 1
        places.append(table[coded.codes].reshape(label_map.labels.shape))
    none = places[0] == number + 1
    if image.valid is not None:
        none |= ~image.valid
    return Places.of(places[0], places[1], none, number)._replace(matrix=image.matrix)
