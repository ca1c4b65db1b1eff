"""Results as documents: JSON in the form that scripts rely on, CSV, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from segbench.aggregator.result import AXES, Result
from segbench.aggregator.summaries import ImageSummaries, UnitSummaries
from segbench.core.messages import Message, Note, as_note
from segbench.core.metric import finite, finite_values
from segbench.core.names import markdown_name
from segbench.core.text_table import TextTable, side_by_side
from segbench.report.latex import latex_tables
from segbench.report.nnunet import nnunet_document
from segbench.report.tables import (
    PLAIN,
    TableSettings,
    image_metrics,
    listed,
    mean_of_folds,
    part_rows,
    table_of_sets,
    threshold_columns,
    worst_first,
)
from segbench.statistics.intervals import Intervals

SCHEMA = 4


def document(results: Sequence[Result], form: str, settings: TableSettings = PLAIN) -> str:
    """Write results as json, csv, markdown or latex, or one as the summary of nnU-Net."""
    if form == "json":
        return json_document(results, settings)
    if form == "nnunet":
        return nnunet_document(results)
    if form == "latex":
        return "\n".join(table.written() for table in latex_tables(results, settings, marked=settings.marked))
    every = form == "csv"
    tables = []
    for parts in listed(results, settings, every=every):
        if every:
            tables.append(side_by_side({name: part.table.exact() for name, part in parts.items()}, ""))
        else:
            tables.append(table_of_sets(parts, settings))
    write = {"csv": csv_table, "markdown": markdown_table}[form]
    return ("" if every else "\n").join(map(write, tables))


def json_document(results: Sequence[Result], settings: TableSettings = PLAIN) -> str:
    """Write results as JSON; docs/plots.md describes it."""
    if settings.rows in AXES and AXES[settings.rows].has_rows:
        return _document_of_parts(results, settings)
    results, settings = _with_runs(results, settings)
    drawn: list[Intervals | None] = [*settings.intervals] or [None] * len(results)
    added = bool(settings.spread)
    runs = [
        result.to_dict(intervals=result_intervals, spread=added, style=settings.style)
        for result, result_intervals in zip(results, drawn, strict=True)
    ]
    runs = [{"set": name, **run} for name, run in zip(settings.sets, runs, strict=True)] if settings.sets else runs
    if settings.rows == "method":
        runs = [run | _narrowed(run, settings) for run in runs]
    elif settings.rows == "image":
        runs = [run | _images(result, settings, results) for run, result in zip(runs, results, strict=True)]
    elif settings.rows == "unit":
        runs = [
            run | _alone(result.per_unit, "unit", settings, results) for run, result in zip(runs, results, strict=True)
        ]
    elif settings.rows == "threshold":
        _add_thresholds(runs, results, settings)
    elif settings.rows == "class image":
        classes = part_rows(results, "class")
        of_classes = [row.result for row in classes]
        for row in classes:
            runs[row.run].setdefault("per_class", {})[row.name] = _images(row.result, settings, of_classes)
    else:
        for row in part_rows(results, settings.rows, intervals=settings.intervals):
            metrics = _narrowed(
                row.result.to_dict(intervals=row.intervals, spread=added, style=settings.style), settings
            )
            signed = {"signature": row.result.signature}
            runs[row.run].setdefault(f"per_{settings.rows}", {})[row.name] = signed | metrics
    return json.dumps({"schema": SCHEMA, "runs": runs}, indent=2) + "\n"


def _add_thresholds(runs: Sequence[dict[str, Any]], results: Sequence[Result], settings: TableSettings) -> None:
    """Add the rows of the pooled curve to each run, column by column."""
    for run, result, columns in zip(runs, results, threshold_columns(results), strict=True):
        if result.chosen_points:
            chosen_points = Message("chosen-points", "per_threshold: {points}", points=result.chosen_points)
            run["notes"].append(Note(chosen_points).described(settings.style))
        chosen = settings.chosen(columns, "threshold")
        run["per_threshold"] = {key: [*map(finite, values.tolist())] for key, values in chosen.items()}


def _with_runs(results: Sequence[Result], settings: TableSettings) -> tuple[list[Result], TableSettings]:
    """Put the results that were joined before each result of them, and behind pooled folds their mean."""
    listed: list[tuple[Result, int]] = []
    for number, result in enumerate(results):
        means = [mean_of_folds(result)] if result.pools_folds and settings.rows == "method" else []
        listed += [(of_method, number) for of_method in (*result.runs.values(), result, *means)]
    drawn = []
    for result, number in listed if settings.intervals else ():
        whole = settings.intervals[number]
        drawn.append(result.intervals(level=whole.level, replicates=whole.replicates, seed=whole.seed))
    sets = [settings.sets[number] for _, number in listed] if settings.sets else []
    return [result for result, _ in listed], replace(settings, intervals=drawn, sets=sets)


def _narrowed(run: Mapping[str, Any], settings: TableSettings) -> dict[str, Any]:
    """Return the fields of a run in JSON, restricted to the chosen metrics."""
    parts = ("summary", "intervals", "undefined", "sd", "spread")
    return {name: settings.chosen(run[name]) for name in parts if name in run}


def _document_of_parts(results: Sequence[Result], settings: TableSettings) -> str:
    """Write a run for each part, their mean and all of them."""
    runs = []
    if settings.rows != "run":
        results, settings = _with_runs(results, settings)
    for row in part_rows(results, settings.rows, intervals=settings.intervals):
        run = row.result.to_dict(intervals=row.intervals, spread=bool(settings.spread), style=settings.style)
        run |= _narrowed(run, settings)
        if row.kind == "mean":
            run |= {settings.rows: None} if settings.rows == "run" else {settings.rows: None, "mean": True}
        elif row.kind == "part":
            run[settings.rows] = row.name
        errors = row.result.standard_errors if settings.rows == "run" else {}
        if errors:
            run["standard_errors"] = {
                source: settings.chosen(finite_values(values)) for source, values in errors.items()
            }
        runs.append(run)
    return json.dumps({"schema": SCHEMA, "runs": runs}, indent=2) + "\n"


def _images(result: Result, settings: TableSettings, results: Sequence[Result]) -> dict[str, Any]:
    """Return the fields of single images in JSON."""
    notes = {name: [note.described(settings.style) for note in notes] for name, notes in result.image_notes.items()}
    return {"image_notes": notes, **_alone(result.per_image, "image", settings, results)}


def _alone(
    of_rows: ImageSummaries | UnitSummaries, kind: str, settings: TableSettings, results: Sequence[Result]
) -> dict[str, Any]:
    """Return the fields in JSON of images or units measured alone."""
    names = list(of_rows)
    if settings.sort is not None:
        order = worst_first(image_metrics(results)[settings.sort], of_rows.column(settings.sort))
        names = [names[index] for index in order.tolist()]
    summaries = {name: of_rows[name] for name in names}
    undefined = {
        name: {key: why.written(settings.style) for key, why in settings.chosen(summary.undefined).items()}
        for name, summary in summaries.items()
    }
    return {
        f"per_{kind}": {name: settings.chosen(finite_values(summary)) for name, summary in summaries.items()},
        f"{kind}_undefined": {name: reasons for name, reasons in undefined.items() if reasons},
    }


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

    def cell(text: str, row: int, column: int) -> str:
        written = f"**{text}**" if table.marks.get((row, column)) == "best" else markdown_name(text)
        raised = table.raised.get((row, column), "").replace("*", r"\*")
        return f"{written}<sup>{raised}</sup>" if raised else written

    rows = [[cell(text, row, column) for column, text in enumerate(cells)] for row, cells in enumerate(table.rows)]
    header = [markdown_name(title) for title in table.header]
    sides = ["left" if side == "<" else "right" for side in table.sides]
    text: str = tabulate(rows, header, tablefmt="pipe", disable_numparse=True, colalign=sides if rows else None)
    return text + "\n" + "".join(f"\n{markdown_name(as_note(note).written('options'))}\n" for note in table.notes)
