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
    latex : tuple of str
        The header as LaTeX prints it; made from `header` if left out.
    groups : tuple of str
        Above each column the name of its group, equal in neighbouring columns; empty where it has none.
    """

    header: list[str]
    rows: list[list[str]]
    names: int = 1
    marks: Mapping[tuple[int, int], Mark] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    spare: tuple[int, ...] = ()
    latex: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


def side_by_side(tables: Mapping[str, TextTable], blank: str) -> TextTable:
    """Join tables by the names in their first column; each is a group of columns, `blank` where it lacks a row."""
    if list(tables) == [""]:
        return tables[""]
    names = list(dict.fromkeys(cells[0] for table in tables.values() for cells in table.rows))
    first = next(iter(tables.values()))
    header, latex, groups = first.header[:1], first.latex[:1], [""]
    rows = [[name] for name in names]
    marks: dict[tuple[int, int], Mark] = {}
    spare: list[tuple[int, int]] = []
    for group, table in tables.items():
        shift = len(header) - 1
        place_of = {cells[0]: place for place, cells in enumerate(table.rows)}
        for row, name in enumerate(names):
            own = place_of.get(name)
            rows[row] += [blank] * (len(table.header) - 1) if own is None else table.rows[own][1:]
            marks |= {(row, at + shift): mark for (of, at), mark in table.marks.items() if of == own}
        spare += [(rank, at + shift) for rank, at in enumerate(table.spare)]
        header, latex = [*header, *table.header[1:]], (*latex, *table.latex[1:])
        groups += [group] * (len(table.header) - 1)
    said = {note: [group for group, table in tables.items() if note in table.notes] for note in _notes(tables)}
    return TextTable(
        header,
        rows,
        marks=marks,
        notes=tuple(note if len(of) == len(tables) else f"{', '.join(of)}: {note}" for note, of in said.items()),
        spare=tuple(place for _, place in sorted(spare)),
        latex=latex,
        groups=tuple(groups),
    )


def _notes(tables: Mapping[str, TextTable]) -> list[str]:
    return list(dict.fromkeys(note for table in tables.values() for note in table.notes))


def aligned(rows: Sequence[Sequence[str]], sides: str) -> str:
    """Write rows as aligned columns, one letter of `sides` per column: ``<`` left, ``>`` right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True)).rstrip()
        for row in rows
    )
