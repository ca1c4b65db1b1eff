"""Tables in the terminal: columns aligned, no digit cut, in blocks that fit; and what belongs below them."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from textwrap import fill
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from segbench.aggregator.result import AXES, Result
from segbench.core.grouping import grouped
from segbench.core.messages import Note, as_note
from segbench.core.metric import LINE, OPTIMISTIC, footnotes
from segbench.core.names import one_line
from segbench.core.text_table import TextTable, side_by_side
from segbench.report.metric_table import BELOW, MetricTable
from segbench.report.remarks import Remark, remarks, run_notes
from segbench.report.tables import PLAIN, ResultSet, TableSettings, listed

_MARKS: Mapping[str, str] = {"best": "bold", "second": "underline", "": ""}
_LONGEST = 100
"""Rows of a table that may have a second block below it."""
_STYLES: Mapping[str, str] = {"table": "dim", "run": "dim", "note": "dim", "undefined": "yellow", "failed": "red"}


def show(results: Sequence[Result], console: Console, settings: TableSettings = PLAIN) -> None:
    """Print a table per protocol, the best value of each column in bold, then all that must be known about it."""
    for parts in listed(results, settings):
        tables = {name: part.table for name, part in parts.items()}
        if settings.rows == "method":
            _show_methods(parts, console, settings)
        elif settings.rows in AXES:
            _show_explained(tables, _joined(tables, settings), console)
            part = next(iter(parts.values()))
            below: list[Note | str] = (
                [*run_notes(part.results), *part.signatures] if AXES[settings.rows].has_rows else []
            )
            for line in below:
                say(console, line, "dim")
        else:
            show_table(_joined(tables, settings), console)


def _joined(tables: Mapping[str, MetricTable], settings: TableSettings, stacked: str = "") -> TextTable:
    """Return the tables of data sets side by side, as one."""
    texts = {
        name: table.text(digits=settings.digits, zeros=settings.zeros, stacked=stacked)
        for name, table in tables.items()
    }
    return side_by_side(texts, "-")


def _show_methods(parts: Mapping[str, ResultSet], console: Console, settings: TableSettings) -> None:
    """Print the table of methods, remarks and signatures; nothing where it has no columns."""
    if not any(part.table.columns for part in parts.values()):
        return
    deviations = not settings.spread
    remarks_of = {
        name: remarks(part.results, part.intervals, keys=settings.keys, names=part.names, deviations=deviations)
        for name, part in parts.items()
    }
    tables = {
        name: replace(part.table, notes=tuple(remark.note for remark in remarks_of[name] if remark.kind == "table"))
        for name, part in parts.items()
    }
    stacked = f"{100 * settings.intervals[0].level:g} %" if settings.intervals else ""
    _show_explained(tables, _joined(tables, settings, stacked), console)
    _show_remarks(remarks_of, console)
    signed = grouped((line, name) for name, part in parts.items() for line in part.signatures)
    for signature, names in signed.items():
        on = "" if len(names) == len(parts) else f"{', '.join(names)}: "
        say(console, f"{on}{signature}", "dim")


def _show_remarks(remarks_of: Mapping[str, Sequence[Remark]], console: Console) -> None:
    """Print the remarks, each with the sets that it is on unless it is on all, failures last."""
    named = grouped((remark, name) for name, several in remarks_of.items() for remark in several)
    for remark, names in sorted(named.items(), key=lambda pair: pair[0].kind == "failed"):
        on = "" if len(names) == len(remarks_of) else f"{', '.join(names)}: "
        if remark.kind != "table":
            text = remark.note.written("options")
            say_wrapped(console, f"{on}{text}{':' if remark.details else ''}", _STYLES[remark.kind])
        for line in remark.details:
            say(console, f"  {line.written('options')}", "red")


def _show_explained(of_sets: Mapping[str, MetricTable], text: TextTable, console: Console) -> None:
    """Print tables, that are side by side in `text`, with the footnotes of those columns that are shown."""
    tables = list(of_sets.values())
    kept = show_table(replace(text, notes=()), console)
    first = len(tables[0].labels)
    columns = [metric for table in tables for metric in (*table.columns, *[None] * len(table.texts))]
    seen = [columns[column - first] for column in kept if column >= first]
    shown = {metric.key: metric for metric in seen if metric is not None}
    notes = [note for note in text.notes if as_note(note).kind != OPTIMISTIC]
    width = console.width if console.is_terminal else LINE
    for note in (*footnotes(list(shown.values()), min(width, LINE)), *notes):
        say_wrapped(console, note, "dim")


def show_table(table: TextTable, console: Console) -> list[int]:
    """Print a table with its notes, and return the columns that it shows."""
    shown = _print_rows(table, console) if table.rows else list(range(len(table.header)))
    for note in table.notes:
        say_wrapped(console, note, "dim")
    return shown


def say(console: Console, text: str | Text | Note, style: str) -> None:
    """Print a line as it is, however long."""
    written = text.written("options") if isinstance(text, Note) else text
    console.print(written, style=style, highlight=False, markup=False, soft_wrap=True)


def say_wrapped(console: Console, text: str | Note, style: str) -> None:
    """Print sentences, in a terminal broken between words; paths and commands stay whole."""
    written = text.written("options") if isinstance(text, Note) else text
    if console.is_terminal:
        written = fill(written, console.width, break_long_words=False, break_on_hyphens=False)
    say(console, written, style)


def _print_rows(table: TextTable, console: Console) -> list[int]:
    """Print the columns in one block or, in a narrow terminal, in several; return those that are shown."""
    columns = list(range(len(table.header)))
    bare = [0] * len(columns)
    for cells in table.rows:
        for column, text in enumerate(cells):
            bare[column] = max(bare[column], *(cell_len(one_line(line)) for line in text.split(BELOW)))
    whole, room = _laid_out(table, bare, columns), console.width if console.is_terminal else sys.maxsize
    blocks = [whole] if whole.total <= room else _blocks(table, bare, room)
    if not all(block.total <= room for block in blocks):  # the names alone take the whole width
        blocks = [whole]
    for position, block in enumerate(blocks):
        if position:
            console.print()
        _print_block(table, block, console)
    shown = sorted({column for block in blocks for column in block.kept})
    left_out = ", ".join(name for column, name in enumerate(table.header) if column not in shown)
    if left_out and len(table.rows) > _LONGEST:
        hint = f"widen the terminal to {whole.total} columns, or add --format markdown"
        say_wrapped(console, f"left out: {left_out}; to see all, {hint}", "dim")
    elif left_out:
        say_wrapped(console, f"left out, without any value: {left_out}", "dim")
    return shown


def _print_block(table: TextTable, layout: _Layout, console: Console) -> None:
    kept, widths = layout.kept, layout.widths

    def line(cells: Sequence[str], styles: Sequence[str] = ()) -> Text:
        text = Text()
        for column in kept:
            cell = one_line(cells[column]) if column < len(cells) else ""
            blanks = widths[column] - cell_len(cell)
            # A style is that of the text alone: an underline would go on below blanks.
            if column >= table.names:
                text.pad_right(blanks)
            text.append(cell, style=styles[column] if styles else "")
            if column < table.names:
                text.pad_right(blanks)
            text.append(" ")
        text.rstrip()
        return text

    if any(group for group, _ in layout.groups):
        say(console, _group_line(layout), "bold")
    say(console, line(layout.titles), "bold")
    for row, cells in enumerate(table.rows):
        first, *below = itertools.zip_longest(*(cell.split(BELOW) for cell in cells), fillvalue="")
        styles = [_MARKS[table.marks.get((row, column), "")] for column in range(len(cells))]
        say(console, line(first, styles), "")
        for lower in below:
            if any(lower[column] for column in kept[table.names :]):
                say(console, line(lower), "dim")


class _Layout(NamedTuple):
    """The columns of a table that are shown: groups above them, and titles and widths of all columns."""

    kept: list[int]
    groups: list[tuple[str, int]]
    titles: list[str]
    widths: list[int]

    @property
    def total(self) -> int:
        return sum(self.widths[column] + 1 for column in self.kept) - 1


def _blocks(table: TextTable, bare: Sequence[int], room: int) -> list[_Layout]:
    """Put what can be spared of a table that is too wide into further blocks, and leave out columns without a value.

    Of a long table, whose second block would be out of sight, there is only the first.
    """
    names = [*range(table.names)]
    metrics = [column for column in range(table.names, len(table.header)) if column not in table.blank]
    first = metrics
    for spare in table.spare.values():
        if _laid_out(table, bare, [*names, *first]).total <= room:
            break
        first = [column for column in first if column not in spare]
    second = [column for column in metrics if column not in first and len(table.rows) <= _LONGEST]
    return [*_broken(table, bare, first, room), *_broken(table, bare, second, room)]


def _broken(table: TextTable, bare: Sequence[int], columns: Sequence[int], room: int) -> list[_Layout]:
    """Break columns into blocks that fit, each with the names, if possible between groups."""
    names, headings = [*range(table.names)], table.headings()
    blocks: list[_Layout] = []
    for group, of_heading in groupby(columns, lambda column: headings[column].group):
        of_group = list(of_heading)
        whole = bool(group) and _laid_out(table, bare, [*names, *of_group]).total <= room
        for together in [of_group] if whole else [[column] for column in of_group]:
            last = blocks[-1].kept if blocks else names
            longer = _laid_out(table, bare, [*last, *together])
            if blocks and longer.total <= room:
                blocks[-1] = longer
            else:
                blocks.append(_laid_out(table, bare, [*names, *together]))
    return blocks


def _laid_out(table: TextTable, bare: Sequence[int], kept: list[int]) -> _Layout:
    """Lay out some columns of a table; `bare` are the widths that the cells below the header take."""
    groups, shown = table.heading(kept)
    titles, widths = [""] * len(bare), list(bare)
    for column, title in zip(kept, shown, strict=True):
        titles[column] = title
        widths[column] = max(bare[column], cell_len(one_line(title)))
    first = 0
    for group, columns in groups:
        of_group = kept[first : first + columns]
        first += columns
        lacking = cell_len(group) - sum(widths[column] + 1 for column in of_group) + 1
        widths[of_group[0]] += max(0, lacking) if group else 0
    return _Layout(kept, groups, titles, widths)


def _group_line(layout: _Layout) -> Text:
    """Write the names of groups, each in the middle of a line over its columns."""
    text, shown_columns = Text(), iter(layout.kept)
    for group, columns in layout.groups:
        width = sum(layout.widths[next(shown_columns)] + 1 for _ in range(columns)) - 1
        if group:
            text.append(f"{f' {group} ':-^{width}} ")
        else:
            text.pad_right(width + 1)
    text.rstrip()
    return text
