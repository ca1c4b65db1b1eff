"""Tables of text: what terminals, notebooks, Markdown and LaTeX show, and `print` without colours; and for pandas."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from segbench.core.errors import ArgumentError
from segbench.core.messages import Message, Note, as_note
from segbench.core.names import latex_name, shortened

if TYPE_CHECKING:
    import pandas as pd

Mark = Literal["best", "second", ""]

WIDTH = 80
"""Columns of a terminal that tables with shortened names fit."""
_SHORTEST = 12  # letters of a name


class Heading(NamedTuple):
    """What is above a column: the title of its group, empty for none; its own below that; and its own by itself."""

    group: str
    title: str
    alone: str


@dataclass(frozen=True)
class TextTable:
    """Rows of text, and what is marked."""

    header: list[str]  # titles that say what a column is by itself
    rows: list[list[str]]
    names: int = 1  # how many leading columns hold names; the others hold metrics
    marks: Mapping[tuple[int, int], Mark] = field(default_factory=dict)  # by row and column, from 0
    notes: tuple[Note | str, ...] = ()  # what belongs below the table wherever it goes
    spare: Mapping[str, Sequence[int]] = field(default_factory=dict)  # columns that go to a second block, in this order
    blank: Sequence[int] = ()  # columns without any value beside others, which a narrow terminal lacks
    groups: Sequence[tuple[str, str]] = ()  # the title of each column's group, perhaps empty, and its own below
    latex: Sequence[Heading] = ()  # what LaTeX prints; made from `header` and `groups` if left out
    raised: Mapping[tuple[int, int], str] = field(default_factory=dict)  # superscripts in Markdown and LaTeX

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, str]], *, names: int = 1, notes: Sequence[Note | str] = ()) -> TextTable:
        """Make a table of rows by title; without a row it has no columns."""
        header = list(rows[0]) if rows else []
        return cls(header, [list(row.values()) for row in rows], names, notes=tuple(notes))

    def headings(self, *, latex: bool = False) -> list[Heading]:
        """Return the heading of each column, in LaTeX where wanted."""
        if latex and self.latex:
            return list(self.latex)
        groups = self.groups or [("", "")] * len(self.header)
        headings = [Heading(*group, alone) for group, alone in zip(groups, self.header, strict=True)]
        return [Heading(*map(latex_name, heading)) for heading in headings] if latex else headings

    def heading(
        self, kept: Sequence[int] | None = None, *, latex: bool = False
    ) -> tuple[list[tuple[str, int]], list[str]]:
        """Return the rows of a heading: groups with numbers of columns, empty over lone columns, and titles below."""
        kept = range(len(self.header)) if kept is None else kept
        headings = self.headings(latex=latex)
        groups, titles = [], []
        for group, columns in groupby((headings[column] for column in kept), lambda heading: heading.group):
            of_group = list(columns)
            grouped = bool(group) and len(of_group) > 1
            groups.append((group if grouped else "", len(of_group)))
            titles += [heading.title if grouped else heading.alone for heading in of_group]
        return groups, titles

    @property
    def width(self) -> int:
        """Columns of a terminal that it takes."""
        return sum(max(map(len, column)) + 1 for column in zip(self.header, *self.rows, strict=True)) - 1

    @property
    def sides(self) -> str:
        """How columns are aligned, a letter each: names to the left, ``<``, metrics to the right, ``>``."""
        return "".ljust(self.names, "<").ljust(len(self.header), ">")

    def __str__(self) -> str:
        """Return the aligned rows, with the notes below."""
        return "\n".join([aligned([self.header, *self.rows], self.sides), *map(str, self.notes)])

    def fitted(self, column: int) -> TextTable:
        """Shorten the names in a column so that a terminal shows rows whole; names stay different and readable."""
        names = [row[column] for row in self.rows]
        room = WIDTH - self.width + max(map(len, [self.header[column], *names]))
        short = shortened(names, max(room, _SHORTEST))
        rows = [[*row[:column], name, *row[column + 1 :]] for row, name in zip(self.rows, short, strict=True)]
        return replace(self, rows=rows)

    def with_leading_zeros(self) -> TextTable:
        """Write 0.5 for .5 in all columns but those of names."""
        rows = [[*cells[: self.names], *map(leading_zeros, cells[self.names :])] for cells in self.rows]
        return replace(self, rows=rows)


def leading_zeros(text: str) -> str:
    """Write 0.5 for .5 wherever a number begins with the point."""
    return re.sub(r"(?<![\w.])\.(?=\d)", "0.", text)


def side_by_side(tables: Mapping[str, TextTable], blank: str) -> TextTable:
    """Join tables by the names in their first column; each is a group of columns, `blank` where it lacks a row."""
    if list(tables) == [""]:
        return tables[""]
    names = list(dict.fromkeys(cells[0] for table in tables.values() for cells in table.rows))
    first = next(iter(tables.values()))
    header, latex, groups = first.header[:1], first.headings(latex=True)[:1], [("", "")]
    rows = [[name] for name in names]
    marks: dict[tuple[int, int], Mark] = {}
    spare: list[tuple[int, str, int]] = []
    blanks: list[int] = []
    for group, table in tables.items():
        shift = len(header) - 1
        row_of = {cells[0]: row_number for row_number, cells in enumerate(table.rows)}
        for row, name in enumerate(names):
            own = row_of.get(name)
            rows[row] += [blank] * (len(table.header) - 1) if own is None else table.rows[own][1:]
            marks |= {(row, column + shift): mark for (marked, column), mark in table.marks.items() if marked == own}
        for rank, (title, columns) in enumerate(table.spare.items()):
            spare += [(rank, title, column + shift) for column in columns]
        blanks += [column + shift for column in table.blank]
        header += [f"{group} {title}" for title in table.header[1:]]
        groups += [(group, title) for title in table.header[1:]]
        name = latex_name(group)
        latex += [Heading(name, heading.alone, f"{name} {heading.alone}") for heading in table.headings(latex=True)[1:]]
    notes = dict.fromkeys(note for table in tables.values() for note in table.notes)
    last_rank = {title: rank for rank, title, _ in sorted(spare)}  # a metric is spared in all tables or in none
    groups_with_note = {note: [group for group, table in tables.items() if note in table.notes] for note in notes}
    return TextTable(
        header,
        rows,
        marks=marks,
        notes=tuple(
            note if len(noted) == len(tables) else as_note(note).said_of(", ".join(noted))
            for note, noted in groups_with_note.items()
        ),
        spare={
            metric_title: [column for _, title, column in spare if title == metric_title]
            for metric_title in sorted(last_rank, key=last_rank.__getitem__)
        },
        blank=blanks,
        groups=groups,
        latex=latex,
    )


def aligned(rows: Sequence[Sequence[str]], sides: str, between: str = "  ") -> str:
    """Write rows as aligned columns, one letter of `sides` per column: ``<`` left, ``>`` right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        between.join(f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True)).rstrip()
        for row in rows
    )


def data_frame(
    rows: Sequence[Mapping[str, Any]], index: str, names: Sequence[str], columns: Sequence[str] | None = None
) -> pd.DataFrame:
    """Return a data frame with a row per name and an index of this name, if any; segbench does not install pandas."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ArgumentError(
            Message(
                "not-installed",
                "to_dataframe takes {package}, which is not installed: pip install {package}",
                package="pandas",
            )
        ) from error
    return pd.DataFrame(list(map(dict, rows)), pd.Index(list(names), name=index or None), columns)


def table_html(table: TextTable, caption: str = "") -> str:
    """Write a table with its notes."""
    from tabulate import tabulate

    sides = [{"<": "left", ">": "right"}[side] for side in table.sides]
    text = tabulate(table.rows, table.header, tablefmt="html", colalign=sides, disable_numparse=True)
    return f"{remarks_html(caption) if caption else ''}{text}{remarks_html(*table.notes)}"


def remarks_html(*remarks: Note | str) -> str:
    """Write remarks, one below the other."""
    return "".join(f"<div><small>{escape(str(remark))}</small></div>" for remark in remarks)
