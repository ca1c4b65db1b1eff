"""Choices that several verbs share."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from segbench.aggregator.result import Result


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


class PlotKind(StrEnum):
    """The spaces a curve is drawn in."""

    PR = "pr"
    ROC = "roc"


def print_results(results: Sequence[Result], form: Form, *, per_image: bool = False) -> None:
    """Print results to standard output; a table's width follows the terminal."""
    from segbench.report.documents import json_document
    from segbench.report.tables import image_rows, method_rows, text_table

    if form is Form.TABLE:
        from rich.console import Console

        from segbench.report.terminal import show_images, show_results

        (show_images if per_image else show_results)(results, Console())
    elif form is Form.JSON:
        typer.echo(json_document(results, per_image=per_image), nl=False)
    else:
        rows = image_rows if per_image else method_rows
        for_programs = form is Form.CSV
        typer.echo(text_table(*rows(results, exact=for_programs), form), nl=False)
