"""Results as documents: JSON in the form that scripts rely on, CSV, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

from segbench.aggregator.result import Result
from segbench.core.names import latex_name, markdown_name, one_line
from segbench.core.numbers import DIGITS
from segbench.core.summary import finite, finite_values
from segbench.core.text_table import TextTable
from segbench.report.tables import (
    ClassResult,
    RowKind,
    class_results,
    image_metrics,
    text_tables,
    threshold_columns,
    worst_first,
)
from segbench.statistics.intervals import Intervals

SCHEMA = 1


def document(
    results: Sequence[Result],
    form: str,
    *,
    rows: RowKind = "method",
    intervals: Sequence[Intervals] = (),
    digits: int = DIGITS,
    zeros: bool = False,
    keys: Sequence[str] | None = None,
    sets: Sequence[str] = (),
    sort: str | None = None,
) -> str:
    """Write results as json, csv, markdown or latex, one row per method, image, class or threshold.

    Where `sets` names the data set of each result, methods are rows and sets are groups of columns. By `sort`,
    a metric of single images, the worst images come first.
    """
    if form == "json":
        classes = class_results(results, intervals=intervals) if rows == "class" else ()
        return json_document(results, intervals=intervals, rows=rows, classes=classes, keys=keys, sets=sets, sort=sort)
    write = {"csv": csv_table, "markdown": markdown_table, "latex": latex_table}[form]
    tables = text_tables(
        results,
        rows,
        sets=sets,
        intervals=intervals,
        digits=digits,
        zeros=zeros,
        keys=keys,
        every=form == "csv",
        sort=sort,
    )
    return ("" if form == "csv" else "\n").join(map(write, tables))


def json_document(
    results: Sequence[Result],
    *,
    intervals: Sequence[Intervals] = (),
    rows: RowKind = "method",
    classes: Sequence[ClassResult] = (),
    keys: Sequence[str] | None = None,
    sets: Sequence[str] = (),
    sort: str | None = None,
) -> str:
    """Write results as JSON: ``{"schema": 1, "runs": [...]}``.

    Undefined metrics are null, with the reason under ``undefined``. ``images`` and ``failed`` are numbers,
    ``failures`` says why; ``partial`` is null, or for a run that stopped early [images done, all images or null];
    ``optimistic`` names metrics with thresholds chosen on the images they describe. ``intervals`` maps metrics to
    [low, high], ``sampling`` says how they were made, with standard errors and degrees of freedom. By `rows`,
    ``per_image`` holds the metrics of each image, the worst by `sort` first,
    ``image_undefined`` why some are undefined and ``image_notes`` what was done to the image; ``per_threshold`` has one
    list per column of the curve (`segbench.core.series.Series.columns`), where an infinite threshold is null, and none
    without a curve; and ``per_class`` holds the metrics of each of `classes`. `keys` chooses metrics of these rows.
    Where `sets` names the data set of each result, ``set`` is its name.
    """
    drawn: list[Intervals | None] = [*intervals] or [None] * len(results)
    runs = [result.to_dict(intervals=one) for result, one in zip(results, drawn, strict=True)]
    runs = [{"set": name, **run} for name, run in zip(sets, runs, strict=True)] if sets else runs
    tables = threshold_columns(results) if rows == "threshold" else []
    for place, (run, result) in enumerate(zip(runs, results, strict=True)):
        if rows == "method":
            run |= {name: _chosen(run[name], keys) for name in ("summary", "intervals", "undefined")}
        if rows == "image":
            run["image_notes"] = {name: list(notes) for name, notes in result.image_notes.items()}
            summaries = dict(result.per_image)
            if sort is not None:
                by = image_metrics(results)[sort]
                summaries = dict(sorted(summaries.items(), key=lambda item: worst_first(by, item[1])))
            run["per_image"] = {name: _chosen(finite_values(one), keys) for name, one in summaries.items()}
            undefined = {name: _chosen(one.undefined, keys) for name, one in summaries.items()}
            run["image_undefined"] = {name: reasons for name, reasons in undefined.items() if reasons}
        if rows == "threshold":
            columns = tables[place]
            if result.chosen_points:
                run["notes"].append(f"per_threshold: {result.chosen_points}")
            run["per_threshold"] = {
                key: [finite(value) for value in values.tolist()]
                for key, values in _chosen(columns, keys and ["threshold", *keys]).items()
            }
    for one in classes:
        runs[one.run].setdefault("per_class", {})[one.name] = _class(one, keys)
    return json.dumps({"schema": SCHEMA, "runs": runs}, indent=2) + "\n"


def _class(one: ClassResult, keys: Sequence[str] | None) -> dict[str, Any]:
    summary = one.result.summary
    drawn: Mapping[str, tuple[float, float]] = one.intervals or {}
    return {
        "signature": one.result.signature,
        "summary": _chosen(finite_values(summary), keys),
        "intervals": _chosen({key: [finite(end) for end in ends] for key, ends in drawn.items()}, keys),
        "undefined": _chosen(summary.undefined, keys),
    }


def _chosen(values: Mapping[str, Any], keys: Sequence[str] | None) -> dict[str, Any]:
    """Give the values of some keys, in their order; all for None."""
    return dict(values) if keys is None else {key: values[key] for key in keys if key in values}


def csv_table(table: TextTable) -> str:
    """Write a table as CSV; names that spreadsheets take for formulas are quoted as text."""
    lines = io.StringIO()
    header = [f"{group}:{title}" if group else alone for group, title, alone in table.headings()]
    rows = (map(_as_text, cells) for cells in [header, *table.rows])
    csv.writer(lines, lineterminator="\n").writerows(rows)
    return lines.getvalue()


def _as_text(cell: str) -> str:
    """Put an apostrophe before a name that begins as a formula does, which a results file of others may hold."""
    if not cell.startswith(("=", "+", "-", "@")):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def markdown_table(table: TextTable) -> str:
    """Write a table as Markdown with its notes below; the best of a column is bold, and there is no underline."""
    from tabulate import tabulate

    def cell(text: str, row: int, place: int) -> str:
        written = f"**{text}**" if table.marks.get((row, place)) == "best" else markdown_name(text)
        raised = table.raised.get((row, place), "").replace("*", r"\*")
        return f"{written}<sup>{raised}</sup>" if raised else written

    rows = [[cell(text, row, place) for place, text in enumerate(cells)] for row, cells in enumerate(table.rows)]
    header = [markdown_name(title) for title in table.header]
    sides = _sides(table, "left", "right")
    text: str = tabulate(rows, header, tablefmt="pipe", disable_numparse=True, colalign=sides if rows else None)
    return text + "\n" + "".join(f"\n{markdown_name(note)}\n" for note in table.notes)


def latex_table(table: TextTable) -> str:
    """Write a table for booktabs; the best of a column is bold, the second best underlined. Notes are comments."""
    rows = [
        [_latex_cell(table, text, row, place) for place, text in enumerate(cells)]
        for row, cells in enumerate(table.rows)
    ]
    groups, header = table.heading(latex=True)
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    first, *others = [
        " & ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip() + r" \\"
        for cells in [header, *rows]
    ]
    start = rf"\begin{{tabular}}{{{''.join(_sides(table, 'l', 'r'))}}}"
    lines = [start, r"\toprule", *_latex_groups(groups), first, r"\midrule", *others, r"\bottomrule", r"\end{tabular}"]
    # A note is a comment, for the caption is the author's.
    notes = (r"needs \usepackage{booktabs}", *table.notes)
    return "\n".join([*lines, *(f"% {one_line(note)}" for note in notes)]) + "\n"


def _latex_groups(groups: Sequence[tuple[str, int]]) -> list[str]:
    """Write the row of groups above the titles, with a rule below each; nothing where there are none."""
    if not any(group for group, _ in groups):
        return []
    cells, rules, last = [], [], 0
    for group, columns in groups:
        cells += [rf"\multicolumn{{{columns}}}{{c}}{{{group}}}"] if group else [""] * columns
        rules += [rf"\cmidrule(lr){{{last + 1}-{last + columns}}}"] if group else []
        last += columns
    return [" & ".join(cells).rstrip() + r" \\", " ".join(rules)]


def _latex_cell(table: TextTable, text: str, row: int, place: int) -> str:
    if place >= table.names:
        raised = table.raised.get((row, place), "").replace("-", "--")
        value = _latex_value(text, table.marks.get((row, place), ""))
        return rf"{value}\textsuperscript{{{raised}}}" if raised else value
    return latex_name(text) if place else table.latex_names.get(text, latex_name(text))


def _latex_value(text: str, mark: str) -> str:
    escaped = "--" if text == "-" else latex_name(text).replace("-", "$-$")
    return {"best": rf"\textbf{{{escaped}}}", "second": rf"\underline{{{escaped}}}"}.get(mark, escaped)


def _sides(table: TextTable, name: str, value: str) -> list[str]:
    return [name if place < table.names else value for place in range(len(table.header))]
