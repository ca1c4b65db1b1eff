"""Tables in the terminal: columns aligned, no digit cut, as many columns as fit; and what belongs below them."""

from __future__ import annotations

import itertools
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
from segbench.core.text_table import TextTable, side_by_side
from segbench.report.ranking import by_headline
from segbench.report.remarks import Remark, remarks
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
    sets: Sequence[str] = (),
) -> None:
    """Print results, one row per method, image, class or threshold: metrics with a title, or those of `keys`."""
    if rows == "method":
        show_results(results, console, intervals=intervals, digits=digits, keys=keys, sets=sets)
        return
    for table in tables_of(results, rows, intervals=intervals, digits=digits, keys=keys):
        if rows == "class":
            _show_explained([table], table.text(digits=digits), console)
        else:
            show_table(table.text(digits=digits), console)


def show_results(
    results: Sequence[Result],
    console: Console,
    *,
    intervals: Sequence[Intervals] = (),
    digits: int = DIGITS,
    keys: Sequence[str] | None = None,
    sets: Sequence[str] = (),
) -> None:
    """Print a table per protocol, the best value of each column in bold, then all that must be known about it.

    With intervals, one per result, each method's lower and upper ends are below its values. Where `sets` names the data
    set of each result, sets are groups of columns, methods are in the order of the first set, and intervals are
    behind the values.
    """
    of_result = dict(zip(map(id, results), intervals, strict=False))
    set_of = dict(zip(map(id, results), sets or [""] * len(results), strict=True))
    for _, places in sorted(by_protocol(results).items()):
        by_set = _by_set([results[place] for place in places], set_of)
        drawn = {name: [of_result[id(one)] for one in some if id(one) in of_result] for name, some in by_set.items()}
        tables = {name: method_table(some, intervals=drawn[name], keys=keys) for name, some in by_set.items()}
        found = {name: remarks(some, drawn[name], keys=keys) for name, some in by_set.items()}
        noted = {
            name: replace(table, notes=tuple(one.text for one in found[name] if one.kind == "table"))
            for name, table in tables.items()
        }
        texts = {name: table.text(digits=digits, intervals=bool(sets)) for name, table in noted.items()}
        below = {
            place: _ends(table, row.intervals, digits)
            for table in ([] if sets else tables.values())
            for place, row in enumerate(table.rows)
        }
        _show_explained(list(noted.values()), side_by_side(texts, "-"), console, below=below)
        _show_remarks(found, console)
        signed = [
            result.signature + (f"|{of_result[id(result)].signature}" if intervals else "")
            for some in by_set.values()
            for result in some
        ]
        for signature in dict.fromkeys(signed):
            say(console, signature, "dim")


def _by_set(results: Sequence[Result], set_of: Mapping[int, str]) -> dict[str, list[Result]]:
    """Give the results of each set, the best first."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(set_of[id(result)], []).append(result)
    return {name: by_headline(some) for name, some in groups.items()}


def _show_remarks(found: Mapping[str, Sequence[Remark]], console: Console) -> None:
    """Print the remarks on each set, failures last."""
    named = [(remark, f"{name}: " if name else "") for name, several in found.items() for remark in several]
    for remark, name in sorted(named, key=lambda pair: pair[0].kind == "failed"):
        if remark.kind != "table":
            say(console, f"{name}{remark.text}{':' if remark.details else ''}", _STYLES[remark.kind])
        for line in remark.details:
            say(console, f"  {line}", "red")


def _show_explained(
    tables: Sequence[Table],
    text: TextTable,
    console: Console,
    *,
    below: Mapping[int, Sequence[Sequence[str]]] | None = None,
) -> None:
    """Print tables, that are side by side in `text`, with the footnotes of those columns that are shown."""
    kept = show_table(replace(text, notes=()), console, below=below)
    first = len(tables[0].labels)
    columns = [metric for table in tables for metric in (*table.columns, *[None] * len(table.texts))]
    shown = {one.key: one for place, one in enumerate(columns, start=first) if one is not None and place in kept}
    optimistic = {note for table in tables for note in optimistic_notes(table.columns)}
    for note in (*footnotes(list(shown.values())), *(note for note in text.notes if note not in optimistic)):
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
    for place, (group, before) in enumerate(zip(table.groups[1:], table.groups, strict=False), start=1):
        widths[place] += group != before  # a gap
    kept = _kept(widths, table.spare, console.width) if console.is_terminal else list(range(len(widths)))
    above = _groups([(table.groups[place], place) for place in kept if table.groups], widths)

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

    if above:
        show(Text(above), "bold")
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


def _groups(columns: Sequence[tuple[str, int]], widths: list[int]) -> str:
    """Write each group's name above its columns; a column is widened where the name needs it."""
    line = ""
    for group, members in itertools.groupby(columns, key=lambda column: column[0]):
        places = [place for _, place in members]
        needed = cell_len(one_line(group)) + (1 if line else 0)
        widths[places[0]] += max(0, needed - _total([widths[place] for place in places]))
        name = f" {one_line(group)}" if line else one_line(group)
        line += name + " " * (_total([widths[place] for place in places]) - cell_len(name) + 1)
    return line.rstrip()


def _kept(widths: Sequence[int], spare: Sequence[int], room: int) -> list[int]:
    """Give the columns that fit, without as few of those to spare as that takes; all where nothing helps."""
    for count in range(len(spare) + 1):
        kept = [place for place in range(len(widths)) if place not in spare[:count]]
        if _total([widths[place] for place in kept]) <= room:
            return kept
    return list(range(len(widths)))


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(widths) - 1
