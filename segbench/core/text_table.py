"""Tables of text: what terminals, notebooks, Markdown and LaTeX show, and `print` without colours."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Literal

Mark = Literal["best", "second", ""]


@dataclass(frozen=True)
class TextTable:
    """Rows of text, and what is marked.

    Parameters
    ----------
    header : list of str
        One title per column that says what it is by itself.
    rows : list of list of str
    names : int
        How many leading columns hold names; the others hold metrics.
    marks : mapping of (row, column) to {"best", "second", ""}
        Counted from 0.
    notes : tuple of str
        What belongs below the table wherever it goes.
    spare : tuple of int
        Columns that a terminal too narrow for all is shown without, the first before the next.
    groups : list of (str, str)
        Of each column the title of its group, empty for none, and its own below; without any, headers have one row.
    """

    header: list[str]
    rows: list[list[str]]
    names: int = 1
    marks: Mapping[tuple[int, int], Mark] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    spare: tuple[int, ...] = ()
    groups: Sequence[tuple[str, str]] = ()

    def heading(self, kept: Sequence[int] | None = None) -> tuple[list[tuple[str, int]], list[str]]:
        """Give the two rows of a heading over some columns: each group with its number of columns, and the titles.

        A column that is alone in its group, or of none, has its whole title below an empty group.
        """
        kept = range(len(self.header)) if kept is None else kept
        groups, titles = [], []
        for group, columns in groupby(kept, lambda place: self.groups[place][0] if self.groups else ""):
            some = list(columns)
            grouped = bool(group) and len(some) > 1
            groups.append((group if grouped else "", len(some)))
            titles += [self.groups[place][1] if grouped else self.header[place] for place in some]
        return groups, titles

    def with_leading_zeros(self) -> TextTable:
        """Write 0.5 for .5 in all columns but those of names."""
        rows = [[*cells[: self.names], *map(leading_zeros, cells[self.names :])] for cells in self.rows]
        return replace(self, rows=rows)


def leading_zeros(text: str) -> str:
    """Write 0.5 for .5 wherever a number begins with the point."""
    return re.sub(r"(?<![\w.])\.(?=\d)", "0.", text)


def aligned(rows: Sequence[Sequence[str]], sides: str) -> str:
    """Write rows as aligned columns, one letter of `sides` per column: ``<`` left, ``>`` right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True)).rstrip()
        for row in rows
    )
