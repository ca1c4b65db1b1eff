"""What the terminal shows of results: a table, what failed, what was noted, the signatures."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from rich.console import Console
from rich.table import Table
from rich.text import Text

from segbench.aggregator.result import Result
from segbench.curves import Intervals
from segbench.report.classes import ClassResult, class_table
from segbench.report.columns import COLUMNS, FOOTNOTES, HEADLINES, Column
from segbench.report.numbers import DIGITS, number
from segbench.report.tables import TextTable, by_protocol, image_table, method_table, names_of
from segbench.report.threshold_tables import threshold_table

_SHOWN_FAILURES = 20
_SHOWN_NAMES = 4
_WIDEST = 10_000
_STYLES: Mapping[str, str] = {"best": "bold", "second": "underline", "": ""}


def show_results(
    results: Sequence[Result], console: Console, *, intervals: Sequence[Intervals] = (), digits: int = DIGITS
) -> None:
    """Print a table a protocol, the best figure of each column in bold, then all that must be known about it.

    With intervals, one a result, each method's lower and upper ends stand below its figures.
    """
    drawn = dict(zip(map(id, results), intervals, strict=False))
    for protocol, group in groupby(sorted(results, key=lambda result: result.protocol), lambda result: result.protocol):
        _show_protocol(protocol, list(group), console, drawn, digits)


def show_images(results: Sequence[Result], console: Console, *, digits: int = DIGITS) -> None:
    """Print a table a protocol, with a line an image and method."""
    for places in by_protocol(results).values():
        some = [results[place] for place in places]
        show_table(image_table(some, digits=digits), console)
        published = [result.method for result in some if result.published]
        if published:
            _say(console, f"{', '.join(published)}: known from print, there are no figures of images", "yellow")


def show_classes(classes: Sequence[ClassResult], console: Console, *, digits: int = DIGITS) -> None:
    """Print a table with a line a class and method, and what is undefined."""
    show_table(class_table(classes, digits=digits), console)
    reasons: dict[tuple[str, str], list[str]] = {}
    for one in classes:
        for reason in dict.fromkeys(one.result.summary.undefined.values()):
            reasons.setdefault((one.method, reason), []).append(one.name)
    for (method, reason), names in reasons.items():
        _say(console, f"{method}: undefined ({reason}) of {', '.join(names)}", "yellow")


def show_thresholds(results: Sequence[Result], console: Console, *, digits: int = DIGITS) -> None:
    """Print a table a protocol, with a line a threshold and method; not every threshold where there are many."""
    for places in by_protocol(results).values():
        show_table(threshold_table([results[place] for place in places], digits=digits), console)


def show_table(
    table: TextTable, console: Console, *, below: Mapping[int, Sequence[Sequence[str]]] | None = None
) -> None:
    """Print a table, the best in bold, the second best underlined, its notes below; lines `below` a row are dim."""
    if table.rows:
        grid = empty_table()
        for place, title in enumerate(table.header):
            grid.add_column(title, justify="left" if place < table.names else "right", no_wrap=True)
        for row, cells in enumerate(table.rows):
            marks = [table.marks.get((row, place), "") for place in range(len(cells))]
            grid.add_row(*(Text(text, style=_STYLES[mark]) for text, mark in zip(cells, marks, strict=True)))
            for more in (below or {}).get(row, ()):
                grid.add_row(*more, style="dim")
        print_whole(grid, console)
    for note in table.notes:
        _say(console, note, "dim")


def _show_protocol(
    protocol: str, results: list[Result], console: Console, drawn: Mapping[int, Intervals], digits: int
) -> None:
    results.sort(key=_by_f)
    ends = {
        row: _ends(COLUMNS[protocol], drawn[id(result)], digits)
        for row, result in enumerate(results)
        if id(result) in drawn
    }
    # The footnotes hold the table's own notes.
    show_table(replace(method_table(results, digits=digits), notes=FOOTNOTES[protocol]), console, below=ends)
    _show_remarks(results, console)
    shown = [drawn[id(result)] for result in results if id(result) in drawn]
    for note in dict.fromkeys(note for intervals in shown for note in intervals.notes):
        _say(console, note, "yellow")
    for signature in dict.fromkeys(_full_signature(result, drawn) for result in results):
        _say(console, signature, "dim")


def _show_remarks(results: Sequence[Result], console: Console) -> None:
    """Say what was noted, what is undefined, and what failed; the same remark on several methods once."""
    remarks: dict[tuple[str, str], list[str]] = {}
    for name, result in zip(names_of(results), results, strict=True):
        reasons: dict[str, list[str]] = {}
        for key, reason in result.summary.undefined.items():
            reasons.setdefault(reason, []).append(key)
        undefined = [(f"undefined ({reason}): {', '.join(keys)}", "yellow") for reason, keys in reasons.items()]
        noted = (*result.notes, *result.summary.notes)
        for remark in [*((note, "dim") for note in noted), *undefined]:
            remarks.setdefault(remark, []).append(name)
    for (text, style), names in remarks.items():
        _say(console, f"{_few_names(names, len(results))}: {text}", style)
    for name, result in zip(names_of(results), results, strict=True):
        _show_failures(name, result, console)


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


def _mends_apart(reasons: Sequence[str]) -> tuple[list[str], list[str]]:
    """Part reasons from what mends several of them, which is then said once."""
    parted = [reason.partition("; ")[::2] for reason in reasons]
    often = [mend for mend, count in Counter(mend for _, mend in parted).items() if mend and count > 1]
    return [what if mend in often else reason for reason, (what, mend) in zip(reasons, parted, strict=True)], often


def _few_names(names: Sequence[str], total: int) -> str:
    if len(names) <= _SHOWN_NAMES:
        return ", ".join(names)
    if len(names) == total:
        return f"all {total} methods"
    return f"{', '.join(names[:_SHOWN_NAMES])} and {len(names) - _SHOWN_NAMES} more"


def _show_failures(name: str, result: Result, console: Console) -> None:
    if not result.failed:
        return
    _say(console, f"{name}: {len(result.failed)} image{'s'[: len(result.failed) > 1]} failed, in no figure:", "red")
    reasons = grouped_failures(result.failed)
    lines, mends = _mends_apart(reasons[:_SHOWN_FAILURES])
    for line in (*lines, *(f"-> {mend}" for mend in mends)):
        _say(console, f"  {line}", "red")
    if len(reasons) > _SHOWN_FAILURES:
        more = len(reasons) - _SHOWN_FAILURES
        _say(console, f"{name}: ... and {more} reasons more, all listed by --format json", "red")


def _say(console: Console, text: str, style: str) -> None:
    console.print(text, style=style, highlight=False, markup=False, soft_wrap=True)


def _ends(columns: Sequence[Column], intervals: Intervals, digits: int) -> list[list[str]]:
    rows = []
    for side, title in enumerate(("low", "high")):
        ends = [intervals.get(column.key, (math.nan, math.nan))[side] for column in columns]
        rows.append([f"  {100 * intervals.level:g} % {title}", *(number(end, digits=digits) for end in ends)])
    return rows


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
