"""Choices that several verbs share."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

import typer

from segbench.core.errors import ArgumentError

if TYPE_CHECKING:
    from segbench.aggregator.result import Result
    from segbench.statistics.intervals import Intervals


class Form(StrEnum):
    """How metrics are printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"
    LATEX = "latex"


class Lines(StrEnum):
    """What a row of a table is."""

    METHOD = "method"
    IMAGE = "image"
    CLASS = "class"
    THRESHOLD = "threshold"


_FEW_CLASSES = 20  # rows of classes that a run prints without --per-class

FORM = typer.Option("--format", metavar="FORMAT", help="Choose how to print: as table, json, csv, markdown or latex.")

DIGITS = typer.Option(
    min=1, max=12, help="Set the number of decimal places in table, markdown and latex.", show_default="4"
)

ZEROS = typer.Option("--leading-zeros", help="Print 0.7971 instead of .7971 in table, markdown and latex.")


def shown_digits(digits: int | None, form: Form) -> int:
    """Read the option into a number of digits."""
    from segbench.core import numbers

    if digits is not None and form in (Form.JSON, Form.CSV):
        raise ArgumentError(f"--digits is for table, markdown and latex; {form} keeps all digits, so leave it out")
    return numbers.DIGITS if digits is None else digits


def print_results(
    results: Sequence[Result],
    form: Form,
    *,
    lines: Lines = Lines.METHOD,
    intervals: Sequence[Intervals] = (),
    digits: int | None = None,
    zeros: bool = False,
    keys: Sequence[str] | None = None,
    sets: Sequence[str] = (),
    sort: str | None = None,
) -> None:
    """Print results to standard output, with intervals where given: all metrics, or those of `keys`.

    Where `sets` names the data set of each result, these are groups of columns. By `sort`, the worst images come first.
    """
    from segbench.report.tables import Listing

    places = shown_digits(digits, form)
    how = Listing(rows=lines.value, intervals=intervals, digits=places, zeros=zeros, keys=keys, sets=sets, sort=sort)
    if form is Form.TABLE:
        from rich.console import Console

        from segbench.report.terminal import show

        show(results, Console(), how)
    else:
        from segbench.report.documents import document

        typer.echo(document(results, form.value, how), nl=False)


def print_run(results: Sequence[Result], form: Form, *, per_class: bool, intervals: Sequence[Intervals]) -> None:
    """Print what a run has just counted; below a table each class, with --per-class or where they are few."""
    classes = sum(len(result.classes) for result in results)
    if form is not Form.TABLE:
        print_results(results, form, lines=Lines.CLASS if per_class else Lines.METHOD, intervals=intervals)
        return
    print_results(results, form, intervals=intervals)
    if per_class or 0 < classes <= _FEW_CLASSES:
        print_results(results, form, lines=Lines.CLASS, intervals=intervals)
    elif classes:
        typer.echo(
            f"{classes} results of single classes are not shown; to print them: segbench show RESULTS --per-class",
            err=True,
        )
