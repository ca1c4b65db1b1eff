"""Tables in the terminal: columns aligned, no digit cut, as many columns as fit; and what belongs below them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from segbench.aggregator.result import Result
from segbench.core.metric import footnotes, optimistic_notes
from segbench.core.names import one_line
from segbench.core.numbers import DIGITS, number
from segbench.core.text_table import TextTable
from segbench.report.ranking import by_headline
from segbench.report.remarks import remarks
from segbench.report.tables import RowKind, Table, by_protocol, method_table, tables_of
from segbench.statistics.intervals import Intervals

_MARKS: Mapping[str, str] = {"best": "bold", "second": "underline", "": ""}
_STYLES: Mapping[str, str] = {"table": "dim", "run": "dim", "note": "dim", "undefined": "yellow", "failed": "red"}


def show(
    results: Sequence[Result],
    console: Console,
    *,
    rows: RowKind = "method",
    intervals: Sequence[Intervals] = (),
    digits: int = DIGITS,
    keys: Sequence[str] | None = None,
) -> None:
    """Print results, one row per method, image, class or threshold: metrics with a title, or those of `keys`."""
    if rows == "method":
        show_results(results, console, intervals=intervals, digits=digits, keys=keys)
        return
    for table in tables_of(results, rows, intervals=intervals, digits=digits, keys=keys):
        if rows == "class":
            _show_explained(table, table.text(digits=digits), console)
        else:
            show_table(table.text(digits=digits), console)


def show_results(
    results: Sequence[Result],
    console: Console,
    *,
    intervals: Sequence[Intervals] = (),
    digits: int = DIGITS,
    keys: Sequence[str] | None = None,
) -> None:
    """Print a table per protocol, the best value of each column in bold, then all that must be known about it.

    With intervals, one per result, each method's lower and upper ends are below its values.
    """
    of_result = dict(zip(map(id, results), intervals, strict=False))
    for _, places in sorted(by_protocol(results).items()):
        some = by_headline([results[place] for place in places])
        drawn = [of_result[id(result)] for result in some if id(result) in of_result]
        table = method_table(some, intervals=drawn, keys=keys)
        found = remarks(some, drawn, keys=keys)
        noted = tuple(remark.text for remark in found if remark.kind == "table")
        ends = {place: _ends(table, row.intervals, digits) for place, row in enumerate(table.rows)}
        text = table.text(digits=digits, intervals=False)
        _show_explained(replace(table, notes=noted), text, console, below=ends)
        for remark in sorted(found, key=lambda remark: remark.kind == "failed"):
            if remark.kind != "table":
                say(console, f"{remark.text}{':' if remark.details else ''}", _STYLES[remark.kind])
            for line in remark.details:
                say(console, f"  {line}", "red")
        signed = [f"|{of_result[id(result)].signature}" if intervals else "" for result in some]
        for signature in dict.fromkeys(result.signature + end for result, end in zip(some, signed, strict=True)):
            say(console, signature, "dim")


def _show_explained(
    table: Table, text: TextTable, console: Console, *, below: Mapping[int, Sequence[Sequence[str]]] | None = None
) -> None:
    """Print a table with the footnotes of those columns that are shown."""
    kept = show_table(replace(text, notes=()), console, below=below)
    shown = [metric for place, metric in enumerate(table.columns, start=len(table.labels)) if place in kept]
    own = [note for note in table.notes if note not in optimistic_notes(table.columns)]
    for note in (*footnotes(shown), *own):
        say(console, note, "dim")


def _ends(table: Table, intervals: Mapping[str, tuple[float, float]], digits: int) -> list[list[str]]:
    """Give the rows of the lower and the upper ends of a method's intervals."""
    if not isinstance(intervals, Intervals):
        return []
    pairs = [intervals.get(metric.key, (math.nan, math.nan)) for metric in table.columns]
    return [
        [f"  {100 * intervals.level:g} % {title}", *(number(pair[side], digits=digits) for pair in pairs)]
        for side, title in enumerate(("low", "high"))
    ]


def show_table(
    table: TextTable, console: Console, *, below: Mapping[int, Sequence[Sequence[str]]] | None = None
) -> list[int]:
    """Print a table, the best in bold, the second best underlined, its notes below; lines `below` a row are dim.

    A terminal too narrow for it gets fewer columns, if that is enough, and a line that names those left out. Returns
    the columns that are shown.
    """
    kept = _print_rows(table, console, below or {}) if table.rows else list(range(len(table.header)))
    for note in table.notes:
        say(console, note, "dim")
    return kept


def say(console: Console, text: str, style: str) -> None:
    """Print a line as it is, however long."""
    console.print(text, style=style, highlight=False, markup=False, soft_wrap=True)


def _print_rows(table: TextTable, console: Console, below: Mapping[int, Sequence[Sequence[str]]]) -> list[int]:
    lines = [table.header, *table.rows, *(more for several in below.values() for more in several)]
    widths = [
        max(cell_len(one_line(cells[place])) for cells in lines if place < len(cells))
        for place in range(len(table.header))
    ]
    kept = _kept(widths, table.spare, console.width) if console.is_terminal else list(range(len(widths)))

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

    def show(text: Text, style: str = "") -> None:
        console.print(text, style=style, highlight=False, soft_wrap=True)

    show(line(table.header), "bold")
    for row, cells in enumerate(table.rows):
        show(line(cells, [_MARKS[table.marks.get((row, place), "")] for place in range(len(cells))]))
        for more in below.get(row, ()):
            show(line(more), "dim")
    if len(kept) < len(widths):
        left_out = ", ".join(title for place, title in enumerate(table.header) if place not in kept)
        hint = f"widen the terminal to {_total(widths)} columns, or add --format markdown"
        say(console, f"left out: {left_out}; to see all, {hint}", "dim")
    return kept


def _kept(widths: Sequence[int], spare: Sequence[int], room: int) -> list[int]:
    """Give the columns that fit, without as few of those to spare as that takes; all where nothing helps."""
    for count in range(len(spare) + 1):
        kept = [place for place in range(len(widths)) if place not in spare[:count]]
        if _total([widths[place] for place in kept]) <= room:
            return kept
    return list(range(len(widths)))


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(widths) - 1
