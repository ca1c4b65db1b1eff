r"""Tables in LaTeX: which columns fit a column of a paper, and what marks say.

A narrow column is `ROOM` wide, 3.25 inches; texts are measured at ``\footnotesize``, see `latex_width`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from segbench.aggregator.comparing import compare_results
from segbench.aggregator.result import Result
from segbench.core.errors import ArgumentError
from segbench.core.grouping import grouped
from segbench.core.messages import Message, Note, Setting, as_note
from segbench.core.metric import Metric, columns, headline
from segbench.core.names import PART, latex_name, one_line, unknown_to_pdflatex
from segbench.core.numbers import number
from segbench.core.text_table import Heading, Mark, TextTable
from segbench.inputs.class_names import in_no_mean
from segbench.report.latex_width import EM, latex_width
from segbench.report.tables import PartRow, ResultSet, TableSettings, listed, part_rows, part_table, table_of_sets
from segbench.statistics.comparison import Comparison

ROOM = 3.25 * 72.27 - 1
"""Width of a narrow column, in points of TeX, less one for rounding."""
LONGEST = 20
"""Longer names are broken into lines; in tables that are too wide already shorter ones."""
_SHORTER = (16, 12, 9)
_MOST, _FEWEST = 6, 4
_BETWEEN, _OF_RAISED = 0.7, 0.35
"""Between columns, and of a letter of a superscript, which takes no width itself."""
_AROUND_GROUP = 12
_FLAT_HEADINGS = 6
_NEW_LINE = r"\\"
TOLD_APART = "†"
_WORD = re.compile(r"((?:[^\s$\\]|\\[%&#_])+?)(?: |(?<=-)(?=\w))(.+)")


@dataclass(frozen=True)
class LatexTable:
    """A table for LaTeX, with names broken into lines of so many letters."""

    table: TextTable
    line: int = LONGEST

    @property
    def width(self) -> float:
        """The width that it takes, in points."""
        groups, titles = self.table.heading(latex=True)
        columns = zip(*([titles, *self._cells]), strict=True)
        widths = [max(map(latex_width, column)) for column in columns]
        first, wider = 0, 0.0
        for group, of_group in groups:
            own = latex_width(group) + _AROUND_GROUP if group else 0.0
            wider += max(0.0, own - sum(widths[first : first + of_group]))
            first += of_group
        sides = map(float, re.findall(r"\{([\d.]+)em\}", "".join(self._sides)))
        return sum(widths) + wider + EM * (sum(sides) + (0.0 if self.table.raised else _OF_RAISED))

    @property
    def _cells(self) -> list[list[str]]:
        rows = enumerate(self.table.rows)
        return [[self._cell(text, row, column) for column, text in enumerate(cells)] for row, cells in rows]

    def written(self) -> str:
        """Write it for booktabs; the best of a column is bold, the second best underlined. Notes are comments."""
        table, rows = self.table, self._cells
        groups, header = table.heading(latex=True)
        widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
        first, *others = [
            " & ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip() + r" \\"
            for cells in [header, *rows]
        ]
        start = rf"\begin{{tabular}}{{@{{}}{''.join(self._sides)}@{{}}}}"
        lines = [
            start,
            r"\toprule",
            *_latex_groups(groups),
            first,
            r"\midrule",
            *others,
            r"\bottomrule",
            r"\end{tabular}",
        ]
        # A note is a comment, for the caption is the author's.
        unknown = " ".join(unknown_to_pdflatex("".join(lines)))
        compiler = [f"needs LuaLaTeX or XeLaTeX, with a font that has {unknown}"] if unknown else []
        long = dict.fromkeys(name for row in table.rows for name in row[: table.names] if len(name) > self.line)
        breaks = [f"names of more than {self.line} letters are broken into lines: {', '.join(long)}"] if long else []
        notes = (r"needs \usepackage{booktabs}", *compiler, *breaks, *table.notes)
        return "\n".join([*lines, *(f"% {one_line(as_note(note).written('options'))}" for note in notes)]) + "\n"

    def _cell(self, text: str, row: int, column: int) -> str:
        if column < self.table.names:
            lines = [latex_name(line) for line in _in_lines(text, self.line)]
            return lines[0] if len(lines) == 1 else rf"\shortstack[l]{{{_NEW_LINE.join(lines)}}}"
        value = "--" if text == "-" else latex_name(text).replace("-", "$-$")
        mark = self.table.marks.get((row, column))
        if mark:
            value = rf"\{'textbf' if mark == 'best' else 'underline'}{{{value}}}"
        raised = self.table.raised.get((row, column), "").replace("-", "--")
        return rf"{value}\rlap{{\textsuperscript{{{raised}}}}}" if raised else value

    @property
    def _sides(self) -> list[str]:
        """Align columns; superscripts take no width, so that digits align, and have room behind them."""
        longest: dict[int, int] = {}
        for (_, column), raised in self.table.raised.items():
            longest[column] = max(len(raised), longest.get(column, 0))
        sides = []
        for column, side in enumerate(self.table.sides):
            letters = longest.get(column, 0)
            between = _BETWEEN if column < len(self.table.header) - 1 else 0.0
            between += _OF_RAISED * max(0, letters - bool(between))  # a single one lies between the columns
            apart = rf"@{{\hspace{{{between:.2f}em}}}}" if between else ""
            sides.append(("l" if side == "<" else "r") + apart)
        return sides


def latex_table(table: TextTable) -> str:
    """Write a table for booktabs, see `LatexTable.written`."""
    return LatexTable(table).written()


def _latex_groups(groups: Sequence[tuple[str, int]]) -> list[str]:
    """Write the row of groups above the titles, with a rule below each; nothing where there are none."""
    if not any(group for group, _ in groups):
        return []
    cells, rules, last = [], [], 0
    for group, of_group in groups:
        cells += [rf"\multicolumn{{{of_group}}}{{c}}{{{group}}}"] if group else [""] * of_group
        rules += [rf"\cmidrule(lr){{{last + 1}-{last + of_group}}}"] if group else []
        last += of_group
    return [" & ".join(cells).rstrip() + r" \\", " ".join(rules)]


def _in_two(heading: str) -> list[str]:
    """Break a heading behind its first word, or the hyphen in it; a short one stays whole."""
    broken = _WORD.match(heading)
    return [part for part in broken.groups() if part] if broken else [heading]


def _stacked(table: TextTable) -> TextTable:
    """Write the headings of columns in two lines, where they are wider than numbers."""
    headings = []
    for column, heading in enumerate(table.headings(latex=True)):
        lines = _in_two(heading.alone) if column >= table.names else [heading.alone]
        alone = rf"\shortstack{{{lines[0]}\\{lines[1]}}}" if len(lines) > 1 else heading.alone
        headings.append(heading._replace(alone=alone))
    return replace(table, latex=headings)


def _in_lines(name: str, longest: int) -> list[str]:
    """Break a long name into lines of so many letters, if possible behind separators."""
    lines = [""]
    for part in PART.findall(name):
        if len((lines[-1] + part).strip()) > longest:
            lines.append("")
        lines[-1] += part
        while len(lines[-1].strip()) > longest:
            lines[-1:] = lines[-1][:longest], lines[-1][longest:]
    return [line.strip() for line in lines if line.strip()]


def latex_tables(results: Sequence[Result], settings: TableSettings, *, marked: bool = True) -> list[LatexTable]:
    """Return the tables for a paper: the main metrics of methods, or methods by classes."""
    if settings.rows == "class":
        tables = [LatexTable(table) for table in _tables_by_class(results, settings)]
    elif settings.rows != "method" or settings.keys is not None:
        tables = [LatexTable(table_of_sets(parts, settings)) for parts in listed(results, settings)]
    else:
        tables = [_main_table(parts, results, settings) for parts in listed(results, settings)]
    if settings.rows == "method" and marked and not settings.sets:
        of_parts = zip(tables, listed(results, settings), strict=True)
        tables = [
            replace(table, table=_with_daggers(table.table, next(iter(parts.values())), settings))
            for table, parts in of_parts
        ]
    return [table if marked else replace(table, table=replace(table.table, marks={})) for table in tables]


def _main_table(parts: Mapping[str, ResultSet], results: Sequence[Result], settings: TableSettings) -> LatexTable:
    """Return a table of four to six main metrics, as many as fit a narrow column; a note lists the others.

    Where four are too wide, names are broken into shorter lines, and where that is not enough there are fewer metrics;
    not so with intervals or a spread, which only tables across the page have room for.
    """
    shown = next(iter(parts.values())).table.columns
    every = _main_keys(shown, settings.first)
    rows = {id(result) for part in parts.values() for result in part.results}
    members = [k for k, result in enumerate(results) if id(result) in rows]
    of_table = replace(
        settings,
        sets=[settings.sets[k] for k in members] if settings.sets else [],
        intervals=[settings.intervals[k] for k in members] if settings.intervals else [],
    )
    fewest = min(_FEWEST, len(every))
    choices = [(number_of, LONGEST) for number_of in range(len(every), fewest, -1)]
    if settings.intervals or settings.spread:
        choices += [(fewest, LONGEST)]
    else:
        choices += [(fewest, line) for line in (LONGEST, *_SHORTER)]
        choices += [(number_of, _SHORTER[-1]) for number_of in range(fewest - 1, 0, -1)]
    for number_of, line in choices:
        keys = every[:number_of]
        (chosen,) = listed([results[k] for k in members], replace(of_table, keys=keys))
        table = LatexTable(table_of_sets(chosen, replace(of_table, keys=keys)), line)
        table = table if table.width <= ROOM else replace(table, table=_stacked(table.table))
        if table.width <= ROOM:
            break
    others = [metric.key for metric in shown if metric.key not in keys]
    if not others:
        return table
    message = Message(
        "further-metrics",
        "further metrics: {keys}; choose with {option}",
        keys=others,
        option=Setting("metrics", ",".join([*keys, others[0]])),
    )
    return replace(table, table=replace(table.table, notes=(Note(message), *table.table.notes)))


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
    """Return one row per method, a column per class and one of their mean, with intervals or the spread of images.

    The background, which is not in the mean, comes behind it.
    """
    methods = list(dict.fromkeys(part.method for part in parts))
    in_order = sorted(parts, key=lambda part: (in_no_mean(part.result.settings), part.kind == "mean"))
    of_columns = grouped(((part.kind, part.name), part) for part in in_order)
    columns = list(of_columns)
    measured = [
        part for part in chain(*of_columns.values()) if any(own.key == metric.key for own in part.result.metrics)
    ]
    by_part = part_table(measured, results, "class", keys=[metric.key], every=False, spread=settings.spread)
    text = replace(by_part, percent=settings.percent).text(digits=settings.digits, zeros=settings.zeros)
    cells = [[method, *["-"] * len(columns)] for method in methods]
    marks: dict[tuple[int, int], Mark] = {}
    for row_of_part, (part, listed_cells) in enumerate(zip(measured, text.rows, strict=True)):
        row, column = methods.index(part.method), 1 + columns.index((part.kind, part.name))
        cells[row][column] = listed_cells[2]
        marks[row, column] = text.marks.get((row_of_part, 2), "")
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
