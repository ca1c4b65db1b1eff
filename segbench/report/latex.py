r"""Tables in LaTeX: which columns fit a column of a paper, and what marks say.

Widths are those of Computer Modern at ``\footnotesize`` of a document of 10 points, in which `ROOM` is 3.25 inches.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

from segbench.aggregator.comparing import compare_results
from segbench.aggregator.result import Result
from segbench.core.errors import ArgumentError
from segbench.core.grouping import grouped
from segbench.core.messages import Message, Note, Setting
from segbench.core.metric import Metric, columns, headline
from segbench.core.names import PART, latex_name
from segbench.core.numbers import number
from segbench.core.text_table import Heading, Mark, TextTable
from segbench.report.tables import PartRow, ResultSet, TableSettings, listed, part_rows, part_table, table_of_sets
from segbench.statistics.comparison import Comparison

ROOM = 3.25 * 72.27
"""Width of a narrow column, in points of TeX."""
LONGEST = 20
"""Longer names are broken into two lines."""
TOLD_APART = "†"
_MOST, _FEWEST = 6, 4
_EM = 8.5
"""Size of the font: letters of 8 points are a little wider than those of 10, whose widths follow."""
_BOLD = 1.15
BETWEEN, OF_RAISED = 0.7, 0.35
"""Between columns, and of a letter of a superscript, which takes no width itself."""
_FLAT_HEADINGS = 6
_WORD = re.compile(r"([^\s$\\]+?)(?: |(?<=-)(?=\w))(.+)")
_ARROW_TEXT, _ARROW = r" $\uparrow$", 0.8 * _EM
_OF_LETTERS: Mapping[int, str] = {
    278: " !',.:;[]_`il|",
    305: "fj",
    333: "-",
    361: "I",
    390: "()tsr",
    444: "cez",
    500: "0123456789ago/*?{}~^$",
    556: "kqvxySbdhnpuJ",
    625: "LZ",
    680: "FPE",
    722: "CTwB",
    750: "AHNUVXYDR",
    780: "&+=@KOQG<>",
    833: "%m#",
    916: "M",
    1028: "W",
}
_WIDTHS = {letter: width / 1000 for width, letters in _OF_LETTERS.items() for letter in letters}


def text_width(text: str) -> float:
    """Return the width of a text in points; of letters that are not listed as if they were wide."""
    return _EM * sum(_WIDTHS.get(letter, 0.78) for letter in text)


def table_width(table: TextTable) -> float:
    """Return the width that a table takes in points."""
    _, titles = table.heading()
    headings = table.headings(latex=True)
    total = 0.0
    for column, title in enumerate(titles):
        cells = [row[column] for row in table.rows]
        if column < table.names:
            cells = [line for cell in cells for line in in_lines(cell)]
        widest = max([text_width(cell) for cell in cells], default=0.0)
        widest *= _BOLD if column >= table.names else 1.0
        latex = headings[column].alone
        whole = f"{title}{_ARROW_TEXT}" if "arrow" in latex else title
        lines = _in_two(whole) if latex.startswith(r"\shortstack") else [whole]
        shown = [text_width(line.replace(_ARROW_TEXT, "")) + _ARROW * line.count(_ARROW_TEXT) for line in lines]
        total += max(widest, *shown)
    return total + _EM * (BETWEEN * (len(titles) - 1) + OF_RAISED)


def _in_two(heading: str) -> list[str]:
    """Break a heading behind its first word, or the hyphen in it; a short one stays whole."""
    broken = _WORD.match(heading)
    return [part for part in broken.groups() if part] if broken else [heading]


def stacked(table: TextTable) -> TextTable:
    """Write the headings of columns in two lines, where they are wider than numbers."""
    headings = []
    for column, heading in enumerate(table.headings(latex=True)):
        lines = _in_two(heading.alone) if column >= table.names else [heading.alone]
        alone = rf"\shortstack{{{lines[0]}\\{lines[1]}}}" if len(lines) > 1 else heading.alone
        headings.append(heading._replace(alone=alone))
    return replace(table, latex=headings)


def in_lines(name: str) -> list[str]:
    """Break a long name into two lines, if possible behind a separator."""
    if len(name) <= LONGEST:
        return [name]
    ends = [part.end() for part in PART.finditer(name)][:-1] or [len(name) // 2]
    end = min(ends, key=lambda end: max(end, len(name) - end))
    return [name[:end].strip(), name[end:].strip()]


def latex_tables(results: Sequence[Result], settings: TableSettings, *, marked: bool = True) -> list[TextTable]:
    """Return the tables for a paper: the main metrics of methods, or methods by classes."""
    if settings.rows == "class":
        return _tables_by_class(results, settings)
    if settings.rows != "method" or settings.keys is not None:
        tables = [table_of_sets(parts, settings) for parts in listed(results, settings)]
    else:
        tables = [_main_table(parts, results, settings) for parts in listed(results, settings)]
    if settings.rows == "method" and marked and not settings.sets:
        of_parts = zip(tables, listed(results, settings), strict=True)
        tables = [_with_daggers(table, next(iter(parts.values())), settings) for table, parts in of_parts]
    return [table if marked else replace(table, marks={}) for table in tables]


def _main_table(parts: Mapping[str, ResultSet], results: Sequence[Result], settings: TableSettings) -> TextTable:
    """Return a table of four to six main metrics, as many as fit a narrow column; a note lists the others."""
    shown = next(iter(parts.values())).table.columns
    keys = _main_keys(shown, settings.first)
    rows = {id(result) for part in parts.values() for result in part.results}
    members = [k for k, result in enumerate(results) if id(result) in rows]
    of_table = replace(
        settings,
        sets=[settings.sets[k] for k in members] if settings.sets else [],
        intervals=[settings.intervals[k] for k in members] if settings.intervals else [],
    )
    fewest = 1 if len(parts) > 1 else _FEWEST
    while True:
        (chosen,) = listed([results[k] for k in members], replace(of_table, keys=keys))
        table = table_of_sets(chosen, replace(of_table, keys=keys))
        table = table if table_width(table) <= ROOM else stacked(table)
        if len(keys) <= fewest or table_width(table) <= ROOM:
            break
        keys = keys[:-1]
    others = [metric.key for metric in shown if metric.key not in keys]
    if not others:
        return table
    message = Message(
        "further-metrics",
        "further metrics: {keys}; choose with {option}",
        keys=others,
        option=Setting("metrics", ",".join([*keys, others[0]])),
    )
    return replace(table, notes=(Note(message), *table.notes))


def _main_keys(shown: Sequence[Metric], first: Sequence[str]) -> list[str]:
    """Return the keys of up to six metrics: the `first`, the one that ranks, compared ones, those always shown."""
    scores = [metric for metric in columns(shown) if metric.kind == "score"] or list(shown)
    wanted = [metric for metric in scores if metric.key in first or metric.headline]
    wanted += [metric for metric in scores if metric.compared]
    if len(wanted) < _FEWEST:
        wanted += sorted(scores, key=lambda metric: metric.priority > 0)[:_FEWEST]
    keys = list(dict.fromkeys(metric.key for metric in wanted))[:_MOST]
    return [metric.key for metric in shown if metric.key in keys]


def _with_daggers(table: TextTable, part: ResultSet, settings: TableSettings) -> TextTable:
    """Mark the values that cannot be told apart from the best of their column, and name the test."""
    comparison = _comparison_of(part)
    if comparison is None or settings.spread:
        return table
    keys = [metric.key for metric in part.table.columns]
    tested = {metric.key for metric in comparison.metrics if not comparison.pairs(metric.key).reason}
    if settings.keys is None:
        names = {metric.column_name: metric.key for metric in part.table.columns}
        keys = [names.get(title, "") for title in table.header[table.names :]]
    raised = dict(table.raised)
    for column, key in enumerate(keys, table.names):
        if key in tested:
            first, *alike = comparison.answer(key).not_worse
            for row, cells in enumerate(table.rows):
                if cells[0] in alike and cells[0] != first:
                    raised[row, column] = TOLD_APART
    if raised == dict(table.raised):
        return table
    answer = comparison.answer()
    correction = f", {answer.correction}" if answer.correction else ""
    over = comparison.over(comparison.sample_size)
    least = number(1 - comparison.level, digits=2)
    note = Message(
        "not-told-apart",
        "{mark}: not significantly different from the best ({test} over {over}, p above {least}{correction})",
        mark=TOLD_APART,
        test=answer.pairs.test,
        over=over,
        least=least,
        correction=correction,
    )
    return replace(table, raised=raised, notes=(Note(note), *table.notes))


def _comparison_of(part: ResultSet) -> Comparison | None:
    """Compare the methods of a table; None where they cannot be."""
    named = zip(part.results, part.names, strict=True)
    competing = [replace(result, method=name, run="") for result, name in named if result.competes and result.counts]
    if len(competing) < 2:
        return None
    try:
        return compare_results(competing)
    except ArgumentError:  # other images or settings
        return None


def _tables_by_class(results: Sequence[Result], settings: TableSettings) -> list[TextTable]:
    """Return a table of methods by classes for each metric, by default the main one, with the mean over classes."""
    parts = part_rows(results, "class", intervals=settings.intervals, with_means=True)
    metrics = {metric.key: metric for part in parts for metric in part.result.metrics}
    shown = headline(parts[0].result.metrics).key
    if settings.spread and not any(shown in part.result.spread for part in parts):
        shown = next((key for part in parts for key in part.result.spread), shown)
    keys = settings.keys or [shown]
    return [_table_of_classes(parts, metrics[key], results, settings) for key in keys if key in metrics]


def _table_of_classes(
    parts: Sequence[PartRow], metric: Metric, results: Sequence[Result], settings: TableSettings
) -> TextTable:
    """Return one row per method, a column per class and one of their mean, with intervals or the spread of images."""
    methods = list(dict.fromkeys(part.method for part in parts))
    of_columns = grouped(((part.kind, part.name), part) for part in sorted(parts, key=lambda part: part.kind == "mean"))
    columns = list(of_columns)
    measured = [
        part for part in chain(*of_columns.values()) if any(own.key == metric.key for own in part.result.metrics)
    ]
    by_part = part_table(measured, results, "class", keys=[metric.key], every=False, spread=settings.spread)
    text = replace(by_part, percent=settings.percent).text(digits=settings.digits, zeros=settings.zeros)
    cells = [[method, *["-"] * len(columns)] for method in methods]
    marks: dict[tuple[int, int], Mark] = {}
    for row_of_part, (part, listed_cells) in enumerate(zip(measured, text.rows, strict=True)):
        place = methods.index(part.method), 1 + columns.index((part.kind, part.name))
        cells[place[0]][place[1]] = listed_cells[2]
        marks[place] = text.marks.get((row_of_part, 2), "")
    titles = ["method", *(name for _, name in columns)]
    turned = len(columns) > _FLAT_HEADINGS + 1
    headings = [latex_name(title) for title in titles]
    headings[1:] = [rf"\rotatebox{{90}}{{{title}}}" for title in headings[1:]] if turned else headings[1:]
    notes: list[Note | str] = [f"{metric.quantity} of each class"]
    notes += [r"needs \usepackage{graphicx}"] if turned else []
    notes += ["lower is better"] if metric.better == "lower" else []
    notes += ["the mean is over classes, without a spread over images"] if settings.spread else []
    latex = [Heading("", "", title) for title in headings]
    return TextTable(titles, cells, marks=marks, notes=(*notes, *text.notes), latex=latex)
