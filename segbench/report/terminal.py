"""Tables in the terminal: columns aligned, no digit cut, as many columns as fit; and what belongs below them."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from segbench.aggregator.result import AXES, Result
from segbench.core.grouping import grouped
from segbench.core.metric import OPTIMISTIC, footnotes
from segbench.core.names import one_line
from segbench.core.notes import Note, as_note
from segbench.core.text_table import TextTable, side_by_side
from segbench.report.remarks import Remark, remarks, run_notes
from segbench.report.tables import BELOW, PLAIN, MetricTable, ResultSet, TableSettings, listed

_MARKS: Mapping[str, str] = {"best": "bold", "second": "underline", "": ""}
_STYLES: Mapping[str, str] = {"table": "dim", "run": "dim", "note": "dim", "undefined": "yellow", "failed": "red"}


def show(results: Sequence[Result], console: Console, how: TableSettings = PLAIN) -> None:
    """Print a table per protocol, the best value of each column in bold, then all that must be known about it."""
    for parts in listed(results, how):
        tables = {name: part.table for name, part in parts.items()}
        if how.rows == "method":
            _show_methods(parts, console, how)
        elif how.rows in AXES:
            _show_explained(tables, _joined(tables, how), console)
            part = next(iter(parts.values()))
            below: list[Note | str] = [*run_notes(part.results), *part.signatures] if AXES[how.rows].has_rows else []
            for line in below:
                say(console, line, "dim")
        else:
            show_table(_joined(tables, how), console)


def _joined(tables: Mapping[str, MetricTable], how: TableSettings, stacked: str = "") -> TextTable:
    """Give the tables of data sets side by side."""
    texts = {name: one.text(digits=how.digits, zeros=how.zeros, stacked=stacked) for name, one in tables.items()}
    return side_by_side(texts, "-")


def _show_methods(parts: Mapping[str, ResultSet], console: Console, how: TableSettings) -> None:
    """Print the table of methods, remarks and signatures; nothing where it has no columns."""
    if not any(part.table.columns for part in parts.values()):
        return
    deviations = not how.spread
    found = {
        name: remarks(of.results, of.intervals, keys=how.keys, names=of.names, deviations=deviations)
        for name, of in parts.items()
    }
    tables = {
        name: replace(of.table, notes=tuple(one.note for one in found[name] if one.kind == "table"))
        for name, of in parts.items()
    }
    stacked = f"{100 * how.intervals[0].level:g} %" if how.intervals else ""
    _show_explained(tables, _joined(tables, how, stacked), console)
    _show_remarks(found, console)
    signed = grouped((line, name) for name, of in parts.items() for line in of.signatures)
    for signature, names in signed.items():
        on = "" if len(names) == len(parts) else f"{', '.join(names)}: "
        say(console, f"{on}{signature}", "dim")


def _show_remarks(found: Mapping[str, Sequence[Remark]], console: Console) -> None:
    """Print the remarks, each with the sets that it is on unless it is on all, failures last."""
    named = grouped((remark, name) for name, several in found.items() for remark in several)
    for remark, names in sorted(named.items(), key=lambda pair: pair[0].kind == "failed"):
        on = "" if len(names) == len(found) else f"{', '.join(names)}: "
        if remark.kind != "table":
            text = remark.note.written("options")
            say(console, f"{on}{text}{':' if remark.details else ''}", _STYLES[remark.kind])
        for line in remark.details:
            say(console, f"  {line.written('options')}", "red")


def _show_explained(of_sets: Mapping[str, MetricTable], text: TextTable, console: Console) -> None:
    """Print tables, that are side by side in `text`, with the footnotes of those columns that are shown."""
    tables = list(of_sets.values())
    kept = show_table(replace(text, notes=()), console)
    first = len(tables[0].labels)
    columns = [metric for table in tables for metric in (*table.columns, *[None] * len(table.texts))]
    seen = [columns[place - first] for place in kept if place >= first]
    shown = {one.key: one for one in seen if one is not None}
    notes = [note for note in text.notes if as_note(note).kind != OPTIMISTIC]
    for note in (*footnotes(list(shown.values())), *notes):
        say(console, note, "dim")


def show_table(table: TextTable, console: Console) -> list[int]:
    """Print a table with its notes; give the columns that a narrow terminal shows."""
    kept = _print_rows(table, console) if table.rows else list(range(len(table.header)))
    for note in table.notes:
        say(console, note, "dim")
    return kept


def say(console: Console, text: str | Text | Note, style: str) -> None:
    """Print a line as it is, however long."""
    written = text.written("options") if isinstance(text, Note) else text
    console.print(written, style=style, highlight=False, markup=False, soft_wrap=True)


def _print_rows(table: TextTable, console: Console) -> list[int]:
    every, titles = list(range(len(table.header))), list(table.spare)
    bare = [0] * len(every)
    for cells in table.rows:
        for place, text in enumerate(cells):
            bare[place] = max(bare[place], *(cell_len(one_line(line)) for line in text.split(BELOW)))
    room = console.width if console.is_terminal else sys.maxsize
    choices = [_laid_out(table, bare, every)]
    # Columns that are left out may leave another alone in its group, so that it takes its whole title.
    for title in titles:
        every = [place for place in every if place not in table.spare[title]]
        choices.append(_laid_out(table, bare, every))
    layout = next((one for one in choices if one.total <= room), choices[-1])
    blocks = [layout] if layout.total <= room else _blocks(table, bare, layout.kept, room) or choices[:1]
    for place, block in enumerate(blocks):
        if place:
            console.print()
        _print_block(table, block, console)
    kept = sorted({place for block in blocks for place in block.kept})
    if len(kept) < len(table.header):
        spared = titles[: choices.index(layout)]
        left_out = ", ".join(sorted(spared, key=lambda title: table.spare[title][0]))
        hint = f"widen the terminal to {choices[0].total} columns, or add --format markdown"
        say(console, f"left out: {left_out}; to see all, {hint}", "dim")
    return kept


def _print_block(table: TextTable, layout: _Layout, console: Console) -> None:
    kept, widths = layout.kept, layout.widths

    def line(cells: Sequence[str], styles: Sequence[str] = ()) -> Text:
        text = Text()
        for place in kept:
            cell = one_line(cells[place]) if place < len(cells) else ""
            blank = " " * (widths[place] - cell_len(cell))
            # A style is that of the text alone: an underline would go on below blanks.
            text.append("" if place < table.names else blank)
            text.append(cell, style=styles[place] if styles else "")
            text.append(blank + " " if place < table.names else " ")
        text.rstrip()
        return text

    if any(group for group, _ in layout.groups):
        say(console, _group_line(layout), "bold")
    say(console, line(layout.titles), "bold")
    for row, cells in enumerate(table.rows):
        first, *below = itertools.zip_longest(*(cell.split(BELOW) for cell in cells), fillvalue="")
        say(console, line(first, [_MARKS[table.marks.get((row, place), "")] for place in range(len(cells))]), "")
        for more in below:
            if any(more[place] for place in kept[table.names :]):
                say(console, line(more), "dim")


class _Layout(NamedTuple):
    """The columns of a table that are shown: groups above them, and titles and widths of all columns."""

    kept: list[int]
    groups: list[tuple[str, int]]
    titles: list[str]
    widths: list[int]

    @property
    def total(self) -> int:
        return sum(self.widths[place] + 1 for place in self.kept) - 1


def _blocks(table: TextTable, bare: Sequence[int], kept: Sequence[int], room: int) -> list[_Layout]:
    """Break columns into blocks that fit, each with the names, if possible between groups; nothing where none fit."""
    names, headings = list(kept[: table.names]), table.headings()
    blocks: list[_Layout] = []
    for group, columns in groupby(kept[table.names :], lambda place: headings[place].group):
        some = list(columns)
        whole = bool(group) and _laid_out(table, bare, [*names, *some]).total <= room
        for unit in [some] if whole else [[place] for place in some]:
            longer = _laid_out(table, bare, [*(blocks[-1].kept if blocks else names), *unit])
            if blocks and longer.total <= room:
                blocks[-1] = longer
            else:
                blocks.append(_laid_out(table, bare, [*names, *unit]))
    return blocks if all(block.total <= room for block in blocks) else []


def _laid_out(table: TextTable, bare: Sequence[int], kept: list[int]) -> _Layout:
    """Lay out some columns of a table; `bare` are the widths that the cells below the header take."""
    groups, shown = table.heading(kept)
    titles, widths = [""] * len(bare), list(bare)
    for place, title in zip(kept, shown, strict=True):
        titles[place], widths[place] = title, max(bare[place], cell_len(one_line(title)))
    first = 0
    for group, columns in groups:
        some = kept[first : first + columns]
        first += columns
        lacking = cell_len(group) - sum(widths[place] + 1 for place in some) + 1
        widths[some[0]] += max(0, lacking) if group else 0
    return _Layout(kept, groups, titles, widths)


def _group_line(layout: _Layout) -> Text:
    """Write the names of groups, each in the middle of a line over its columns."""
    text, places = Text(), iter(layout.kept)
    for group, columns in layout.groups:
        width = sum(layout.widths[next(places)] + 1 for _ in range(columns)) - 1
        text.append(f"{f' {group} ':-^{width}} " if group else " " * (width + 1))
    text.rstrip()
    return text
