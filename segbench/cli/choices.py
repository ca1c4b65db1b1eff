"""Choices that several verbs share."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from segbench.aggregator.result import Result
    from segbench.curves import Intervals


class Form(StrEnum):
    """How figures are printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"
    LATEX = "latex"


class ProtocolName(StrEnum):
    """The protocols by name."""

    PIXELS = "pixels"
    BOUNDARIES = "boundaries"
    REGIONS = "regions"


class PlotKind(StrEnum):
    """The spaces a curve is drawn in."""

    PR = "pr"
    ROC = "roc"


def print_results(
    results: Sequence[Result],
    form: Form,
    *,
    per_image: bool = False,
    per_class: bool = False,
    intervals: Sequence[Intervals] = (),
) -> None:
    """Print results to standard output, with an interval for each figure where given."""
    from segbench.report.classes import class_results, class_rows
    from segbench.report.documents import json_document
    from segbench.report.tables import by_protocol, image_rows, method_rows, optimistic_notes, text_table

    classes = class_results(results, intervals=intervals) if per_class else []
    if form is Form.TABLE:
        from rich.console import Console

        from segbench.report.terminal import show_classes, show_images, show_results

        if per_class:
            show_classes(classes, Console())
        elif per_image:
            show_images(results, Console())
        else:
            show_results(results, Console(), intervals=intervals)
    elif form is Form.JSON:
        typer.echo(json_document(results, intervals=intervals, per_image=per_image, classes=classes), nl=False)
    elif per_class:
        typer.echo(text_table(*class_rows(classes, exact=form is Form.CSV), form), nl=False)
    elif form is Form.CSV:
        table = image_rows(results, exact=True) if per_image else method_rows(results, intervals=intervals, exact=True)
        typer.echo(text_table(*table, form), nl=False)
    else:
        tables = []
        for places in by_protocol(results).values():
            some = [results[place] for place in places]
            drawn = [intervals[place] for place in places] if intervals else []
            table = image_rows(some, exact=False) if per_image else method_rows(some, intervals=drawn, exact=False)
            notes = () if per_image else optimistic_notes(some[0].protocol)
            tables.append(text_table(*table, form, notes=notes))
        typer.echo("\n".join(tables), nl=False)


def print_run(results: Sequence[Result], form: Form, *, per_class: bool, intervals: Sequence[Intervals]) -> None:
    """Print what a run has just counted; below a table each class, where asked for or where they are few."""
    from segbench.report.classes import FEW

    if form is not Form.TABLE:
        print_results(results, form, per_class=per_class, intervals=intervals)
        return
    print_results(results, form, intervals=intervals)
    lines = sum(len(result.classes) for result in results)
    if per_class or 0 < lines <= FEW:
        print_results(results, form, per_class=True, intervals=intervals)
    elif lines:
        typer.echo(f"{lines} lines class by class: segbench show RESULTS --per-class", err=True)
