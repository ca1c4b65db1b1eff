"""Choices that several verbs share."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

import typer

from segbench.core.errors import ArgumentError

if TYPE_CHECKING:
    from segbench.aggregator.result import Result
    from segbench.statistics.intervals import Intervals


class Form(StrEnum):
    """How figures are printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"
    LATEX = "latex"


class PlotKind(StrEnum):
    """What a plot shows."""

    PR = "pr"
    ROC = "roc"
    F = "f"
    IMAGES = "images"
    ACHIEVABLE = "achievable"
    COMPARISON = "comparison"
    CONFUSION = "confusion"
    CLASSES = "classes"


class Lines(StrEnum):
    """What a line of a table is."""

    METHOD = "method"
    IMAGE = "image"
    CLASS = "class"
    THRESHOLD = "threshold"


DIGITS = typer.Option(
    min=1, max=12, help="Round to so many decimal places in table, markdown and latex.", show_default="4"
)


def shown_digits(digits: int | None, form: Form) -> int:
    """Read the option into a number of digits."""
    from segbench.core import numbers

    if digits is not None and form in (Form.JSON, Form.CSV):
        raise ArgumentError(f"--digits rounds what people read; {form} keeps all digits, so leave it out")
    return numbers.DIGITS if digits is None else digits


def print_results(
    results: Sequence[Result],
    form: Form,
    *,
    lines: Lines = Lines.METHOD,
    intervals: Sequence[Intervals] = (),
    digits: int | None = None,
) -> None:
    """Print results to standard output, with an interval for each figure where given."""
    from segbench.report.classes import class_results
    from segbench.report.documents import json_document

    places = shown_digits(digits, form)
    if form is Form.TABLE:
        _print_to_terminal(results, lines, intervals, places)
    elif form is Form.JSON:
        text = json_document(
            results,
            intervals=intervals,
            per_image=lines is Lines.IMAGE,
            per_threshold=lines is Lines.THRESHOLD,
            classes=class_results(results, intervals=intervals) if lines is Lines.CLASS else (),
        )
        typer.echo(text, nl=False)
    else:
        typer.echo(_tables(results, form, lines, intervals, places), nl=False)


def _print_to_terminal(results: Sequence[Result], lines: Lines, intervals: Sequence[Intervals], digits: int) -> None:
    from rich.console import Console

    from segbench.report.classes import class_results
    from segbench.report.terminal import show_classes, show_images, show_results, show_thresholds

    if lines is Lines.METHOD:
        show_results(results, Console(), intervals=intervals, digits=digits)
    elif lines is Lines.CLASS:
        show_classes(class_results(results, intervals=intervals), Console(), digits=digits)
    else:
        show = show_images if lines is Lines.IMAGE else show_thresholds
        show(results, Console(), digits=digits)


def _tables(
    results: Sequence[Result],
    form: Literal[Form.CSV, Form.MARKDOWN, Form.LATEX],
    lines: Lines,
    intervals: Sequence[Intervals],
    digits: int,
) -> str:
    from segbench.report.classes import class_results, class_table, exact_classes
    from segbench.report.table_text import csv_table, latex_table, markdown_table
    from segbench.report.tables import by_protocol, exact_images, exact_methods, image_table, method_table
    from segbench.report.threshold_tables import exact_thresholds, threshold_table

    if lines is Lines.CLASS:
        classes = class_results(results, intervals=intervals)
        if form is Form.CSV:
            return csv_table(exact_classes(classes))
        return (markdown_table if form is Form.MARKDOWN else latex_table)(class_table(classes, digits=digits))
    if form is Form.CSV:
        if lines is Lines.METHOD:
            return csv_table(exact_methods(results, intervals=intervals))
        return csv_table((exact_images if lines is Lines.IMAGE else exact_thresholds)(results))
    write = markdown_table if form is Form.MARKDOWN else latex_table
    tables = []
    for places in by_protocol(results).values():
        some = [results[place] for place in places]
        if lines is Lines.METHOD:
            drawn = [intervals[place] for place in places] if intervals else []
            table = method_table(some, intervals=drawn, digits=digits)
        else:
            table = (image_table if lines is Lines.IMAGE else threshold_table)(some, digits=digits)
        tables.append(write(table))
    return "\n".join(tables)


def print_run(results: Sequence[Result], form: Form, *, per_class: bool, intervals: Sequence[Intervals]) -> None:
    """Print what a run has just counted; below a table each class, where asked for or where they are few."""
    from segbench.report.classes import FEW

    classes = sum(len(result.classes) for result in results)
    if form is not Form.TABLE:
        print_results(results, form, lines=Lines.CLASS if per_class else Lines.METHOD, intervals=intervals)
        return
    print_results(results, form, intervals=intervals)
    if per_class or 0 < classes <= FEW:
        print_results(results, form, lines=Lines.CLASS, intervals=intervals)
    elif classes:
        typer.echo(f"{classes} lines class by class: segbench show RESULTS --per-class", err=True)
