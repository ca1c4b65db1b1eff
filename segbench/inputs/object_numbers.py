"""Maps of numbered objects, and whether they are masks of 0 and 1 or number their background, which the set shows.

A map with the number 1 alone may hold one object. Masks are recognised by their connected parts: two or more in the
average of the images that hold anything, and at least four more than there are such images.

A number that lies on most of the other side's background, and on less than half of its objects, may be a large object
that is false or missed; in nearly every image it is the background, which watershed and OpenCV number from 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from segbench.core.arrays import Array, BoolArray, IntArray, is_whole
from segbench.core.errors import DataError
from segbench.core.levels import refuse_nan
from segbench.core.messages import Message, Setting, joined
from segbench.core.protocol import Facts, Interpreted
from segbench.core.sample import Sample, Side
from segbench.inputs.object_kinds import COMPONENTS, PANOPTIC
from segbench.inputs.overlaps import Overlaps
from segbench.inputs.predicted_labels import in_colour

_NUMBERED, _ANOTHER = 2**20, 2**20 - 1
"""What stands for a map of several numbers, and of one that masks do not have, in place of the number of its parts."""
_SIDE = 2 * _NUMBERED
_PARTS, _FURTHER_PARTS = 2, 4
_LEAST_BACKGROUND, _MOST = 0.1, 0.5
"""Share of an image that is background, below which nothing is said, and share of this that is most of it."""
_LARGEST = 2**62


@dataclass(frozen=True, eq=False, kw_only=True)
class NumberedPair(Interpreted):
    """The numbers of the objects on both sides; 0 where there is none, also where pixels do not count."""

    truth: Array
    predicted: Array
    ignored: BoolArray | None = None
    """Where pixels do not count; None for nowhere."""


def whole_numbers(sample: Sample, maps: Sequence[Array]) -> tuple[Array, Array]:
    """Return the maps of both sides as whole numbers from 0."""
    numbers = []
    for file, values in zip((sample.truth_file, sample.predicted_file), maps, strict=True):
        if in_colour(values):
            problem = Message("in-colour", "is in colour, expected a number for each object")
            fix = Message(
                "fix",
                "colours are ids with a JSON beside the folder: {kind}; or save numbers",
                kind=Setting("kind", PANOPTIC),
            )
            raise DataError(file, problem, fix)
        refuse_nan(file, values)
        lowest, highest = float(values.min()), float(values.max())
        if not is_whole(values) or lowest < 0 or highest > _LARGEST:
            problem = Message(
                "not-whole",
                "holds values from {lowest:g} to {highest:g}, expected whole numbers from 0",
                lowest=lowest,
                highest=highest,
            )
            raise DataError(file, problem, "save numbers of objects")
        numbers.append(values.astype(np.int64) if values.dtype.kind == "f" else values)
    return numbers[0], numbers[1]


def refuse_masks(sample: Sample, maps: Sequence[Array]) -> None:
    """Refuse masks of 0 and 255, or of True and False."""
    for file, values in zip((sample.truth_file, sample.predicted_file), maps, strict=True):
        if values.dtype == np.bool_ or (values.max() == 255 and not ((values > 0) & (values < 255)).any()):
            value = int(values.max())
            problem = Message("masks", "is a mask of 0 and {value}, expected a number for each object", value=value)
            raise DataError(file, problem, advice_on_masks())


def advice_on_masks() -> Message:
    """Say what to do with masks where objects have numbers."""
    return Message(
        "fix",
        "write a number for each object; if all files are masks, take their connected components: {kind}",
        kind=Setting("kind", COMPONENTS),
    )


def advice_on_levels(side: Side) -> Message:
    """Say what to do with a mask or a soft map where objects have numbers."""
    return Message(
        "fix",
        "of masks or soft maps take the connected components: {kind} with {cut}",
        kind=Setting("kind", COMPONENTS),
        cut=Setting("positive", ">=128") if side == "ground truth" else Setting("at", 0.5),
    )


def parts_of(truth: Array, predicted: Array) -> float:
    """Count the connected parts on both sides of an image, as one of its facts."""
    return float(_parts(truth) + _SIDE * _parts(predicted))


def _parts(numbers: Array) -> int:
    from scipy.ndimage import label

    highest = int(numbers.max())
    if not np.all((numbers == 0) | (numbers == highest)):
        return _NUMBERED
    if highest != 1:
        return _ANOTHER if highest else 0
    return min(int(label(numbers, np.ones((3,) * numbers.ndim))[1]), _ANOTHER - 1)


class OnBackground(NamedTuple):
    """A number of one side that lies on the background of the other, where no object is."""

    number: int
    share: float  # of that background
    highest: bool  # whether it is the highest number of its map


def on_background(objects: NumberedPair) -> dict[Side, OnBackground | None]:
    """Find the number of each side that lies on most of the other side's background, None for none.

    A side is left out where the other has no background, or nothing but background.
    """
    maps = (objects.truth, objects.predicted)
    if objects.ignored is not None:
        maps = (objects.truth[~objects.ignored], objects.predicted[~objects.ignored])
    return _on_background(Overlaps.of(*maps)) if maps[0].size else {}


def _on_background(overlaps: Overlaps) -> dict[Side, OnBackground | None]:
    """Find the same in a table of overlaps."""
    truth, predicted = (overlaps.true, overlaps.rows), (overlaps.predicted, overlaps.columns)
    sides: dict[Side, tuple[tuple[IntArray, IntArray], tuple[IntArray, IntArray]]]
    sides = {"ground truth": (truth, predicted), "prediction": (predicted, truth)}
    numbers: dict[Side, OnBackground | None] = {}
    for side, ((own, rows), (other, other_places)) in sides.items():
        is_background = other[other_places] == 0
        background, objects = overlaps.pixels[is_background].sum(), overlaps.pixels[~is_background].sum()
        if background >= _LEAST_BACKGROUND * (background + objects) and objects and own.any():
            numbers[side] = _on_most(own, rows, overlaps.pixels, is_background)
    return numbers


def _on_most(own: IntArray, rows: IntArray, pixels: IntArray, is_background: BoolArray) -> OnBackground | None:
    """Find the number on most of a background, given the entries of a table of overlaps that lie on it."""
    on_it, on_objects = (np.bincount(rows[part], pixels[part], own.size) for part in (is_background, ~is_background))
    row = int(on_it.argmax())
    number, share = int(own[row]), float(on_it[row] / on_it.sum())
    if number == 0 or share <= _MOST or on_objects[row] > on_objects.sum() / 2:
        return None
    return OnBackground(number, share, number == int(own.max()))


def require_numbers(images: Iterable[Facts]) -> None:
    """Refuse masks of 0 and 1, given the facts of all images."""
    facts = [int(fact) for of_image in images for fact in of_image]
    for side, parts in (
        ("ground truth", [fact % _SIDE for fact in facts]),
        ("predictions", [fact // _SIDE for fact in facts]),
    ):
        numbered = [number for number in parts if number]
        if _NUMBERED in numbered:
            continue
        if _ANOTHER in numbered or sum(numbered) < max(_PARTS * len(numbered), len(numbered) + _FURTHER_PARTS):
            return  # one object an image; of its prediction, several parts are a poor one
        problem = Message(
            "masks",
            "{hold} no number but 1, for {parts} connected parts in {images:many image}, expected a number for each "
            "object",
            hold="holds" if side == "ground truth" else "hold",
            parts=sum(numbered),
            images=len(numbered),
        )
        fix = advice_on_masks()
        if side == "predictions" and _NUMBERED in (fact % _SIDE for fact in facts):
            fix = Message("fix", "number them, as skimage.measure.label(mask) numbers connected parts")
        any_number = "a single object of several parts may have any number from 2 to 254"
        raise DataError(side, problem, joined([fix, any_number]))
