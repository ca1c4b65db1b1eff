"""Maps of one image must have one size; where they differ, say what it looks like and which option fixes it."""

from __future__ import annotations

from collections.abc import Sequence

from segbench.core.errors import DataError
from segbench.core.interface import given, setting
from segbench.loaders.decoded import size

MOST_CUT = 2, 0.1
"""How much cropping cuts off height and width at most: 2 pixels or a tenth, whichever is more."""

HINT = "save all maps of an image at one size"
_TRANSPOSED = "it looks transposed"
_UCM2 = "it has 2 h + 1 and 2 w + 1 pixels, as a ucm2 has, which the boundaries and regions protocols read"


class SizeError(DataError):
    """A map has another size, (H, W), than it must have."""

    def __init__(self, path: str, what: str, hint: str, shape: tuple[int, ...], expected: tuple[int, ...]) -> None:
        super().__init__(path, what, hint)
        self.shape = shape
        self.expected = expected


def require_same_size(named: Sequence[tuple[str, tuple[int, ...]]]) -> None:
    """Refuse maps of different sizes."""
    first, expected = named[0]
    for name, shape in named[1:]:
        if shape != expected:
            raise SizeError(name, _found(shape, expected, f"as in {first}"), HINT, shape, expected)


def misfit(
    prediction: tuple[str, tuple[int, ...]], truth: tuple[str, tuple[int, ...]], *, soft: bool, refused: str = ""
) -> SizeError:
    """Say that a prediction has not the size of its ground truth, and which option fixes it."""
    (name, shape), (first, expected) = prediction, truth
    what = _found(shape, expected, f"as in {first}") + refused
    return SizeError(name, what, how_to_fix(shape, expected, soft=soft), shape, expected)


def require_doubled_size(found: tuple[str, tuple[int, ...]], truth: tuple[str, tuple[int, ...]]) -> None:
    """Refuse a ``ucm2`` that has not (2 h + 1) x (2 w + 1) pixels where ground truth has h x w."""
    name, shape = found
    expected = tuple(2 * extent + 1 for extent in truth[1])
    if shape != expected:
        what = "ucm2 is " + _found(shape, expected, f"2 h + 1 and 2 w + 1 of {truth[0]}", comma=",")
        raise SizeError(name, what, HINT, shape, expected)


def _found(shape: tuple[int, ...], expected: tuple[int, ...], why: str, comma: str = "") -> str:
    guess = relation(shape, expected)
    return f"{size(shape)}, expected {size(expected)}{comma} {why}" + (f" ({guess})" if guess else "")


def fixable(shape: tuple[int, ...], expected: tuple[int, ...]) -> bool:
    """Return whether a map may be resized or cropped: not one that is transposed, or a ``ucm2``."""
    return relation(shape, expected) not in (_TRANSPOSED, _UCM2)


def croppable(shape: tuple[int, ...], common: tuple[int, ...]) -> bool:
    """Return whether a map is so little larger that it may be cropped."""
    pixels, share = MOST_CUT
    return all(0 <= extent - kept <= max(pixels, share * extent) for extent, kept in zip(shape, common, strict=True))


def nearly(shape: tuple[int, ...], expected: tuple[int, ...]) -> bool:
    """Return whether two sizes differ so little that cropping fixes it."""
    common = tuple(map(min, shape, expected))
    return croppable(shape, common) and croppable(expected, common)


def how_to_fix(shape: tuple[int, ...], expected: tuple[int, ...], *, soft: bool) -> str:
    """Say which option brings a prediction to the size expected, or that none does."""
    guess = relation(shape, expected)
    if guess == _TRANSPOSED:
        return (
            "no option fixes that: swap rows and columns where the prediction is saved, or apply its EXIF orientation "
            "if it has one"
        )
    if guess == _UCM2:
        protocols = setting("segbench boundaries or segbench regions", "Boundaries() or Regions()")
        return f"no option fixes that: save it as ucm2 in a .mat file, for {protocols}"
    resize = setting("--resize-predictions nearest", "repairs=Repairs(resize='nearest')")
    resize += f" or {setting('bilinear', repr('bilinear'))}" * soft + " brings it to that size"
    crop = f"{given('crop', True, of='Repairs')} cuts off excess rows and columns at the lower right"
    if not nearly(shape, expected):
        options = resize
    elif max(abs(extent - wanted) for extent, wanted in zip(shape, expected, strict=True)) <= MOST_CUT[0]:
        options = f"{crop}; or {resize}"
    else:
        options = f"{resize}; if it was padded, {crop}"
    return f"{options}; without it nothing is changed"


def relation(shape: tuple[int, ...], expected: tuple[int, ...]) -> str:
    """Say in words how a size may have come about; empty where nothing fits."""
    height, width = shape
    if shape == expected[::-1] != expected:
        return _TRANSPOSED
    if shape == (2 * expected[0] + 1, 2 * expected[1] + 1):
        return _UCM2
    off = abs(height - expected[0]), abs(width - expected[1])
    if max(off) <= 2:
        return f"it is off by {off[0]} and {off[1]} pixels"
    for ours, theirs, word in ((shape, expected, "larger"), (expected, shape, "smaller")):
        factor = ours[0] // theirs[0]
        if factor > 1 and ours == (theirs[0] * factor, theirs[1] * factor):
            return f"it is {word} by a factor of {factor}"
    return ""
