"""What the terminal shows of results: a table, what failed, what was noted, the signatures."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from rich.console import Console

from segbench.aggregator.result import Result
from segbench.core.metric import Metric, columns, footnotes, optimistic_notes
from segbench.core.numbers import DIGITS, number
from segbench.core.text_table import TextTable
from segbench.report.classes import ClassResult, class_table
from segbench.report.grids import say, show_table
from segbench.report.image_sets import in_sets, set_notes
from segbench.report.ranking import bin_notes
from segbench.report.tables import by_protocol, image_table, method_table, names_of
from segbench.report.threshold_tables import threshold_table
from segbench.report.whose import few_names, with_names
from segbench.statistics.intervals import Intervals

_SHOWN_FAILURES = 20


def show_results(
    results: Sequence[Result], console: Console, *, intervals: Sequence[Intervals] = (), digits: int = DIGITS
) -> None:
    """Print a table a protocol, the best figure of each column in bold, then all that must be known about it.

    With intervals, one a result, each method's lower and upper ends stand below its figures.
    """
    drawn = dict(zip(map(id, results), intervals, strict=False))
    for _, group in groupby(sorted(results, key=lambda result: result.protocol), lambda result: result.protocol):
        _show_protocol(list(group), console, drawn, digits)


def show_images(results: Sequence[Result], console: Console, *, digits: int = DIGITS) -> None:
    """Print a table a protocol, with a line an image and method."""
    for places in by_protocol(results).values():
        some = [results[place] for place in places]
        show_table(image_table(some, digits=digits), console)
        published = [result.method for result in some if result.published]
        if published:
            say(console, f"{', '.join(published)}: known from print, there are no figures of images", "yellow")


def show_classes(classes: Sequence[ClassResult], console: Console, *, digits: int = DIGITS) -> None:
    """Print a table with a line a class and method, and what is undefined."""
    _show_explained(class_table(classes, digits=digits), classes[0].result, console)
    reasons: dict[tuple[str, str], list[str]] = {}
    for one in classes:
        for reason in dict.fromkeys(one.result.summary.undefined.values()):
            reasons.setdefault((one.method, reason), []).append(one.name)
    for (method, reason), names in reasons.items():
        say(console, f"{method}: undefined ({reason}) of {', '.join(names)}", "yellow")


def show_thresholds(results: Sequence[Result], console: Console, *, digits: int = DIGITS) -> None:
    """Print a table a protocol, with a line a threshold and method; not every threshold where there are many."""
    for places in by_protocol(results).values():
        show_table(threshold_table([results[place] for place in places], digits=digits), console)


def _show_explained(
    table: TextTable,
    first: Result,
    console: Console,
    *,
    below: Mapping[int, Sequence[Sequence[str]]] | None = None,
) -> None:
    """Print a table with the footnotes of those columns that are shown."""
    places = show_table(replace(table, notes=()), console, below=below)
    metrics = first.rules.metrics()
    keys = [metric.key for place, metric in enumerate(columns(metrics), start=table.names) if place in places]
    own = [note for note in table.notes if note not in optimistic_notes(metrics)]
    for note in (*footnotes(metrics, keys), *own):
        say(console, note, "dim")


def _show_protocol(results: list[Result], console: Console, drawn: Mapping[int, Intervals], digits: int) -> None:
    results = in_sets(results, key=_by_headline)
    ends = {
        row: _ends(columns(result.rules.metrics()), drawn[id(result)], digits)
        for row, result in enumerate(results)
        if id(result) in drawn
    }
    # What its other notes say of images is printed below with more detail.
    table = replace(method_table(results, digits=digits), notes=bin_notes(results, names_of(results)))
    _show_explained(table, results[0], console, below=ends)
    for note in set_notes(results, names_of(results)):
        say(console, note, "yellow")
    _show_remarks(results, console)
    shown = [result for result in results if id(result) in drawn]
    for note in with_names([drawn[id(result)].notes for result in shown], names_of(shown)):
        say(console, note, "yellow")
    for signature in dict.fromkeys(_full_signature(result, drawn) for result in results):
        say(console, signature, "dim")


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
        say(console, f"{few_names(names, len(results))}: {text}", style)
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


def _show_failures(name: str, result: Result, console: Console) -> None:
    if not result.failed:
        return
    say(console, f"{name}: {len(result.failed)} image{'s'[: len(result.failed) > 1]} failed, in no figure:", "red")
    reasons = grouped_failures(result.failed)
    lines, mends = _mends_apart(reasons[:_SHOWN_FAILURES])
    for line in (*lines, *(f"-> {mend}" for mend in mends)):
        say(console, f"  {line}", "red")
    if len(reasons) > _SHOWN_FAILURES:
        more = len(reasons) - _SHOWN_FAILURES
        say(console, f"{name}: ... and {more} reasons more, all listed by --format json", "red")


def _ends(metrics: Sequence[Metric], intervals: Intervals, digits: int) -> list[list[str]]:
    rows = []
    for side, title in enumerate(("low", "high")):
        ends = [intervals.get(metric.key, (math.nan, math.nan))[side] for metric in metrics]
        rows.append([f"  {100 * intervals.level:g} % {title}", *(number(end, digits=digits) for end in ends)])
    return rows


def _full_signature(result: Result, drawn: Mapping[int, Intervals]) -> str:
    return result.signature + (f"|{drawn[id(result)].signature}" if id(result) in drawn else "")


def _by_headline(result: Result) -> tuple[bool, float, str]:
    metric = result.rules.headline
    value = result.summary[metric.key]
    rank = math.inf if math.isnan(value) else value if metric.better == "lower" else -value
    return (result.partial is not None, rank, result.method)
