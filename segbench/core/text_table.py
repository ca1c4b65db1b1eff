"""Tables of text: what terminals, notebooks, Markdown and LaTeX show, and `print` without colours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Mark = Literal["best", "second", ""]


@dataclass(frozen=True)
class TextTable:
    """Rows of text, and what is marked.

    Parameters
    ----------
    header : list of str
    rows : list of list of str
    names : int
        How many leading columns hold names; the others hold metrics.
    marks : mapping of (row, column) to {"best", "second", ""}
        Counted from 0.
    notes : tuple of str
        What belongs below the table wherever it goes.
    spare : tuple of int
        Columns that a terminal too narrow for all is shown without, the first before the next.
    """

    header: list[str]
    rows: list[list[str]]
    names: int = 1
    marks: Mapping[tuple[int, int], Mark] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    spare: tuple[int, ...] = ()


def aligned(rows: Sequence[Sequence[str]], sides: str) -> str:
    """Write rows as aligned columns, one letter of `sides` per column: ``<`` left, ``>`` right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True)).rstrip()
        for row in rows
    )
