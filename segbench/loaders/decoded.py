"""What every decoder gives, and the few words they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from numpy.typing import NDArray

Role = Literal["prediction", "ground truth", "field"]
"""What a file is read as: it decides what its colours and negative numbers mean."""

MAX_PIXELS = 178_956_970
"""The largest image that is decoded: where Pillow, too, takes a file for a decompression bomb."""


@dataclass(frozen=True, eq=False)
class Decoded:
    """One file as an array.

    Parameters
    ----------
    array : array, shape (H, W)
        C-contiguous, native byte order, perhaps read-only: bool, integers or float32/float64 as stored.
    notes : tuple of str
        What was done to the data on the way, to be shown to the user.
    """

    array: NDArray[Any]
    notes: tuple[str, ...] = ()


def shown(name: object) -> str:
    r"""Give a file's name fit for one line of a terminal, whatever it holds."""
    text = str(name)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def listed(problems: Sequence[str], most: int = 100) -> str:
    r"""Give problems one a line, and of those beyond `most` their number."""
    more = [f"and {len(problems) - most} more"] if len(problems) > most else []
    return "".join(f"\n  {line}" for line in (*problems[:most], *more)) + "\n"


def size(shape: tuple[int, ...]) -> str:
    """Give height and width in words."""
    return f"{shape[0]} x {shape[1]} (height x width)"
