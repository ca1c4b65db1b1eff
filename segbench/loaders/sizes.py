"""Predictions of another size: how it may have come about, which repair fixes it, and how maps are resized.

`segbench.loaders.reading` makes these repairs, and a check advises them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from segbench.core.errors import DataError
from segbench.core.messages import NOTHING, Either, Message, Setting

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_CUT = 2, 0.1
"""How much cropping cuts off height and width at most: 2 pixels or a tenth, whichever is more."""

HINT = "save all maps of an image at one size"
RESIZE = Either(Setting("resize", "nearest", of="Repairs"), "--resize-predictions nearest")


class SizeError(DataError):
    """A map has another `size`, (H, W), than is `expected`."""


def misfit(
    prediction: tuple[str, tuple[int, ...]], truth: tuple[str, tuple[int, ...]], *, soft: bool, refused: str = ""
) -> SizeError:
    """Say that a prediction has not the size of its ground truth, and which option fixes it."""
    (name, shape), (first, expected) = prediction, truth
    problem = other_size(shape, expected, first) + refused
    return SizeError(name, problem, how_to_fix(shape, expected, soft=soft, cropped=bool(refused)))


def require_doubled_size(prediction: tuple[str, tuple[int, ...]], truth: tuple[str, tuple[int, ...]]) -> None:
    """Refuse a ``ucm2`` that has not (2 h + 1) x (2 w + 1) pixels where ground truth has h x w."""
    name, shape = prediction
    expected = tuple(2 * extent + 1 for extent in truth[1])
    if shape != expected:
        guess = relation(shape, expected)
        problem = Message(
            "other-size",
            "ucm2 is {size: x } (height x width), expected {expected: x } (height x width), "
            "2 h + 1 and 2 w + 1 of {other}{guess}",
            size=shape,
            expected=expected,
            other=truth[0],
            guess=" (" + guess + ")" if guess else "",
        )
        raise SizeError(name, problem, HINT)


def other_size(shape: tuple[int, ...], expected: tuple[int, ...], other: str) -> Message:
    """Say which size a map has and which it must have, as another one has."""
    guess = relation(shape, expected)
    return Message(
        "other-size",
        "{size: x } (height x width), expected {expected: x } (height x width) as in {other}{guess}",
        size=shape,
        expected=expected,
        other=other,
        guess=" (" + guess + ")" if guess else "",
    )


def fixable(shape: tuple[int, ...], expected: tuple[int, ...]) -> bool:
    """Return whether a map may be resized or cropped: not one that is transposed, or a ``ucm2``."""
    return relation(shape, expected).kind not in ("transposed", "doubled")


def croppable(shape: tuple[int, ...], common: tuple[int, ...]) -> bool:
    """Return whether a map is so little larger that it may be cropped."""
    pixels, share = MOST_CUT
    return all(0 <= size - cropped <= max(pixels, share * size) for size, cropped in zip(shape, common, strict=True))


def nearly(shape: tuple[int, ...], expected: tuple[int, ...]) -> bool:
    """Return whether two sizes differ so little that cropping fixes it."""
    common = tuple(map(min, shape, expected))
    return croppable(shape, common) and croppable(expected, common)


def how_to_fix(shape: tuple[int, ...], expected: tuple[int, ...], *, soft: bool, cropped: bool = False) -> Message:
    """Say which option brings a prediction to the size expected, or that none does; cropping may be given."""
    guess = relation(shape, expected)
    if guess.kind == "transposed":
        return Message(
            "fix",
            "no option fixes that: swap rows and columns where the prediction is saved, or apply its EXIF orientation "
            "if it has one",
        )
    if guess.kind == "doubled":
        protocols = Either("Boundaries() or Regions()", "segbench boundaries or segbench regions")
        return Message(
            "fix", "no option fixes that: save it as ucm2 in a .mat file, for {protocols}", protocols=protocols
        )
    or_bilinear = Either(" or 'bilinear'", " or bilinear") if soft else ""
    resize = Message(
        "fix",
        "{resize}{or_bilinear}{alone} brings it to that size",
        resize=RESIZE,
        or_bilinear=or_bilinear,
        alone=Message("fix", ", without {given},", given=Setting("crop", None)) if cropped else "",
    )
    crop = Message(
        "fix",
        "{crop} cuts off excess rows and columns, at the lower right only",
        crop=Setting("crop", True, of="Repairs"),
    )
    excess = [extent - expected_extent for extent, expected_extent in zip(shape, expected, strict=True)]
    if not nearly(shape, expected):
        fix = resize
    elif max(map(abs, excess)) <= MOST_CUT[0]:
        fix = Message("alternatives", "{crop}; or {resize}", crop=crop, resize=resize)
    else:
        fix = Message("alternatives", "{resize}; if it was padded, {crop}", resize=resize, crop=crop)
    if nearly(shape, expected) and all(more > 1 for more in excess):
        fix = "if there is padding on all sides, remove it from the files first; otherwise " + fix
    return fix + "; without it nothing is changed"


def relation(shape: tuple[int, ...], expected: tuple[int, ...]) -> Message:
    """Say how a size may have come about; nothing where nothing fits."""
    if len(shape) != 2 or 0 in (*shape, *expected):
        return NOTHING
    height, width = shape
    if shape == expected[::-1] != expected:
        return Message("transposed", "it looks transposed")
    if shape == (2 * expected[0] + 1, 2 * expected[1] + 1):
        return Message(
            "doubled",
            "it has 2 h + 1 and 2 w + 1 pixels, as a ucm2 has, which the boundaries and regions protocols read",
        )
    off = abs(height - expected[0]), abs(width - expected[1])
    if max(off) <= 2:
        return Message("off-by-pixels", "it is off by {off: and } pixels", off=off)
    for ours, theirs, word in ((shape, expected, "larger"), (expected, shape, "smaller")):
        factor = ours[0] // theirs[0]
        if factor > 1 and ours == (theirs[0] * factor, theirs[1] * factor):
            return Message("off-by-factor", "it is {word} by a factor of {factor}", word=word, factor=factor)
    return NOTHING


def nearest(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Take for each output pixel the input pixel in which its centre lies; of two the later one.

    The rule of Pillow's ``NEAREST`` and PyTorch's ``nearest-exact``, in whole numbers, so free of their rounding.
    """
    import numpy as np

    rows, columns = (
        (2 * np.arange(wanted) + 1) * length // (2 * wanted) for wanted, length in zip(shape, array.shape, strict=True)
    )
    return np.ascontiguousarray(array[np.ix_(rows, columns)])


def bilinear(stored: NDArray[Any], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Interpolate scores linearly along rows, then along columns.

    Levels are interpolated in whole numbers and divided once, so that scores which are equal stay ties. Between floats
    ``a`` and ``b`` a score is ``a + (b - a) t``, so that an area of one score keeps it to the bit; sums of weights, as
    libraries form them, differ in the last place and would not.
    """
    import numpy as np

    from segbench.core.levels import are_levels, scores_of

    if are_levels(stored.dtype):
        full = 1 if stored.dtype == np.bool_ else np.iinfo(stored.dtype).max
        parts = _levels_between(_levels_between(stored.astype(np.int64), shape[0]).T, shape[1]).T
        return parts / (4 * shape[0] * shape[1] * full)
    return _along_columns(_along_columns(scores_of(stored), shape[0]).T, shape[1]).T


def _levels_between(levels: NDArray[np.int64], wanted: int) -> NDArray[np.int64]:
    """Interpolate along columns, in parts of ``2 * wanted`` of a level."""
    import numpy as np

    length, parts = levels.shape[0], 2 * wanted
    centres = np.clip((2 * np.arange(wanted) + 1) * length - wanted, 0, (length - 1) * parts)
    above = np.minimum(centres // parts, max(length - 2, 0))
    share = (centres - above * parts)[:, np.newaxis]
    return levels[above] * (parts - share) + levels[np.minimum(above + 1, length - 1)] * share


def _along_columns(scores: NDArray[np.float64], wanted: int) -> NDArray[np.float64]:
    import numpy as np

    length = scores.shape[0]
    centres = np.clip((np.arange(wanted) + 0.5) * length / wanted - 0.5, 0, length - 1)
    above = np.minimum(centres.astype(np.intp), max(length - 2, 0))
    below = np.minimum(above + 1, length - 1)
    share = (centres - above)[:, np.newaxis]
    resized: NDArray[np.float64] = scores[above] + (scores[below] - scores[above]) * share
    return resized
