"""What the terminal shows of results: a table, what failed, what was noted, the signatures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from segbench.aggregator.result import Result
from segbench.curves import Intervals
from segbench.report.tables import (
    COLUMNS,
    FOOTNOTES,
    HEADLINES,
    Column,
    best_of,
    by_protocol,
    cell,
    image_rows,
    names_of,
    number,
)

_SHOWN_FAILURES = 20
_WIDEST = 10_000


def show_results(results: Sequence[Result], console: Console, *, intervals: Sequence[Intervals] = ()) -> None:
    """Print a table a protocol, the best figure of each column in bold, then all that must be known about it.

    With intervals, one a result, each method's lower and upper ends stand below its figures.
    """
    drawn = dict(zip(map(id, results), intervals, strict=False))
    for protocol, group in groupby(sorted(results, key=lambda result: result.protocol), lambda result: result.protocol):
        _show_protocol(protocol, list(group), console, drawn)


def show_images(results: Sequence[Result], console: Console) -> None:
    """Print a table a protocol, with a line an image and method."""
    for places in by_protocol(results).values():
        _show_images([results[place] for place in places], console)


def _show_images(results: Sequence[Result], console: Console) -> None:
    header, rows = image_rows(results, exact=False)
    table = empty_table()
    for position, title in enumerate(header):
        table.add_column(title, justify="left" if position < 2 else "right", no_wrap=True)
    for row in rows:
        table.add_row(*(escape(text) for text in row))
    if rows:
        print_whole(table, console)
    for result in results:
        if result.published:
            text = f"{result.method}: a published curve, there are no figures of its images"
            console.print(text, style="yellow", highlight=False, markup=False, soft_wrap=True)


def _show_protocol(protocol: str, results: list[Result], console: Console, drawn: Mapping[int, Intervals]) -> None:
    results.sort(key=_by_f)
    names = names_of(results)
    table = empty_table()
    table.add_column("method", no_wrap=True)
    for column in COLUMNS[protocol]:
        table.add_column(column.title, justify="right", no_wrap=True)
    for name, result in zip(names, results, strict=True):
        texts = [Text(name)]
        for column in COLUMNS[protocol]:
            best = result.summary[column.key] == best_of(results, column) and len(results) > 1
            texts.append(Text(cell(result.summary, column), style="bold" if best else ""))
        table.add_row(*texts)
        if id(result) in drawn:
            _add_ends(table, COLUMNS[protocol], drawn[id(result)])
    print_whole(table, console)
    for footnote in FOOTNOTES[protocol]:
        console.print(footnote, style="dim", highlight=False, markup=False, soft_wrap=True)
    for name, result in zip(names, results, strict=True):
        _show_remarks(name, result, console)
    shown = [drawn[id(result)] for result in results if id(result) in drawn]
    for note in dict.fromkeys(note for intervals in shown for note in intervals.notes):
        console.print(note, style="yellow", highlight=False, markup=False, soft_wrap=True)
    for signature in dict.fromkeys(_full_signature(result, drawn) for result in results):
        console.print(signature, style="dim", highlight=False, markup=False, soft_wrap=True)


def _show_remarks(name: str, result: Result, console: Console) -> None:
    def say(text: str, style: str) -> None:
        console.print(f"{name}: {text}", style=style, highlight=False, markup=False, soft_wrap=True)

    for note in result.notes:
        say(note, "dim")
    reasons: dict[str, list[str]] = {}
    for key, reason in result.summary.undefined.items():
        reasons.setdefault(reason, []).append(key)
    for reason, keys in reasons.items():
        say(f"undefined ({reason}): {', '.join(keys)}", "yellow")
    if result.failed:
        say(f"{len(result.failed)} image{'s'[: len(result.failed) > 1]} failed, in no figure:", "red")
        reasons_shown = grouped_failures(result.failed)
        for reason in reasons_shown[:_SHOWN_FAILURES]:
            console.print(f"  {reason}", style="red", highlight=False, markup=False, soft_wrap=True)
        if len(reasons_shown) > _SHOWN_FAILURES:
            say(f"... and {len(reasons_shown) - _SHOWN_FAILURES} reasons more, all listed by --format json", "red")


def grouped_failures(failed: Mapping[str, str]) -> list[str]:
    """Give a line a reason: that of a single image as it is, of several with their number and the first.

    A reason begins with the file at fault, ``gt/a.png: ...``; what follows says whether two are the same.
    """
    groups: dict[str, list[str]] = {}
    for failure in failed.values():
        _, separator, reason = failure.partition(": ")
        groups.setdefault(reason if separator else failure, []).append(failure)
    return [
        failures[0] if len(failures) == 1 else f"{len(failures)} images: {reason} (first: {failures[0].split(': ')[0]})"
        for reason, failures in groups.items()
    ]


def _add_ends(table: Table, columns: Sequence[Column], intervals: Intervals) -> None:
    for side, title in enumerate(("low", "high")):
        ends = [intervals.get(column.key, (math.nan, math.nan))[side] for column in columns]
        table.add_row(f"  {100 * intervals.level:g} % {title}", *map(number, ends), style="dim")


def _full_signature(result: Result, drawn: Mapping[int, Intervals]) -> str:
    return result.signature + (f"|{drawn[id(result)].signature}" if id(result) in drawn else "")


def empty_table() -> Table:
    """Make a table without lines."""
    return Table(box=None, padding=(0, 1, 0, 0), header_style="bold")


def print_whole(table: Table, console: Console) -> None:
    """Print a table without cutting a digit, however narrow the terminal."""
    needed = console.measure(table, options=console.options.update(width=_WIDEST)).maximum
    own_width = console.width
    console.width = max(own_width, needed)
    console.print(table, soft_wrap=True)
    console.width = own_width


def _by_f(result: Result) -> tuple[float, str]:
    f = result.summary[HEADLINES[result.protocol]]
    return (math.inf if math.isnan(f) else -f, result.method)
