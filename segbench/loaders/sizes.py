"""Maps of one image must have one size; where they do not, say what it looks like."""

from __future__ import annotations

from collections.abc import Sequence

from segbench.errors import DataError
from segbench.loaders.decoded import size

HINT = "save all maps of an image at one size; nothing is resized"


class SizeError(DataError):
    """A map has another size than it must have.

    Parameters
    ----------
    path, what, hint : str
        As for `DataError`.
    shape, expected : tuple of int
        Both sizes, (H, W).
    """

    def __init__(
        self, path: str, what: str, hint: str = "", shape: tuple[int, ...] = (), expected: tuple[int, ...] = ()
    ) -> None:
        super().__init__(path, what, hint)
        self.shape = shape
        self.expected = expected


def require_same_size(named: Sequence[tuple[str, tuple[int, ...]]]) -> None:
    """Refuse maps of different sizes.

    Parameters
    ----------
    named : sequence of (str, shape)
        Each file and its (H, W); the first is what the others are held against.

    Raises
    ------
    SizeError
        For the first file that differs.
    """
    first, expected = named[0]
    for name, shape in named[1:]:
        if shape != expected:
            guess = relation(shape, expected)
            looks = f" ({guess})" if guess else ""
            what = f"{size(shape)}, expected {size(expected)} as in {first}{looks}"
            raise SizeError(name, what, HINT, shape, expected)


def require_doubled_size(found: tuple[str, tuple[int, ...]], truth: tuple[str, tuple[int, ...]]) -> None:
    """Refuse a ``ucm2`` that has not (2 h + 1) x (2 w + 1) pixels where ground truth has h x w.

    Parameters
    ----------
    found, truth : (str, shape)
        File and size of the prediction and of the ground truth.

    Raises
    ------
    SizeError
        If it has not.
    """
    expected = tuple(2 * extent + 1 for extent in truth[1])
    if found[1] != expected:
        guess = relation(found[1], expected)
        looks = f" ({guess})" if guess else ""
        what = f"ucm2 is {size(found[1])}, expected {size(expected)}, 2 h + 1 and 2 w + 1 of {truth[0]}{looks}"
        raise SizeError(found[0], what, HINT, found[1], expected)


def relation(shape: tuple[int, ...], expected: tuple[int, ...]) -> str:
    """Say in words how a size may have come about; empty where nothing fits.

    Examples
    --------
    >>> relation((481, 321), (321, 481))
    'it looks transposed'
    >>> relation((320, 480), (321, 481))
    'it is off by 1 and 1 pixels'
    >>> relation((160, 240), (320, 480))
    'it is smaller by a factor of 2'
    """
    height, width = shape
    if shape == expected[::-1]:
        return "it looks transposed"
    if shape == (2 * expected[0] + 1, 2 * expected[1] + 1):
        return "it has 2 h + 1 and 2 w + 1 pixels, as a ucm2 has, which the boundaries and regions protocols read"
    off = abs(height - expected[0]), abs(width - expected[1])
    if max(off) <= 2:
        return f"it is off by {off[0]} and {off[1]} pixels"
    for ours, theirs, word in ((shape, expected, "larger"), (expected, shape, "smaller")):
        factor = ours[0] // theirs[0]
        if factor > 1 and ours == (theirs[0] * factor, theirs[1] * factor):
            return f"it is {word} by a factor of {factor}"
    return ""
