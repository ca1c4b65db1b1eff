"""How verbs print results: tables and documents on standard output, what else must be known on standard error."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import click

from segbench.cli.selection import LEVEL, competing, means_over_groups, named_as_in_tables
from segbench.core.errors import ArgumentError, SegbenchError
from segbench.core.messages import Message
from segbench.core.numbers import DIGITS
from segbench.core.settings import option

if TYPE_CHECKING:
    from segbench.aggregator.result import Result
    from segbench.statistics.intervals import Intervals

Form: TypeAlias = Literal["table", "json", "csv", "markdown", "latex"]
ShownForm: TypeAlias = Literal["table", "json", "csv", "markdown", "latex", "nnunet"]

_DIGITS_OF_PERCENT = 1
_FEWEST_METHODS = 2  # that can be compared
_LARGEST = 25_000_000
"""Bytes of packed counts that are compared at the end of a run, which takes some 2 s: those of 120 maps of floats."""
_FEW_CLASSES = 20  # rows of classes that a run prints without --per-class


@dataclass(frozen=True, kw_only=True)
class Printed:
    """How metrics are printed."""

    form: Form = option(
        "Choose how to print: as table, json, csv, markdown or latex.", "table", flag="--format", metavar="FORMAT"
    )


@dataclass(frozen=True, kw_only=True)
class Rounded(Printed):
    """How metrics are printed, and with how many digits."""

    digits: int | None = option(
        "Set the number of decimal places in table, markdown and latex.", shown="4", least=1, most=12, rare=True
    )
    zeros: bool = option(
        "Print 0.7971 instead of .7971 in table, markdown and latex.", False, flag="--leading-zeros", rare=True
    )

    percent: bool = option("Print shares in percent, 85.3, in table, markdown and latex.", False, rare=True)

    @property
    def rounding(self) -> dict[str, Any]:
        """How numbers are written, as keywords of tables."""
        if self.digits is not None and self.form in ("json", "csv", "nnunet"):
            raise ArgumentError(
                Message(
                    "other-form",
                    "--digits is for table, markdown and latex; {form} keeps all digits, so leave it out",
                    form=self.form,
                )
            )
        if self.percent and self.form in ("json", "csv", "nnunet"):
            raise ArgumentError(
                Message(
                    "other-form",
                    "--percent is for table, markdown and latex; {form} keeps shares of 1, so leave it out",
                    form=self.form,
                )
            )
        usual = _DIGITS_OF_PERCENT if self.percent else DIGITS
        digits = usual if self.digits is None else self.digits
        return {"digits": digits, "zeros": self.zeros, "percent": self.percent}


@dataclass(frozen=True, kw_only=True)
class DrawnNumbers:
    """How numbers are written into pictures."""

    digits: int | None = option("Set the number of decimal places of metrics.", shown="4", least=1, most=12, rare=True)
    zeros: bool = option("Write 0.7971 instead of .7971.", False, flag="--leading-zeros", rare=True)


def print_results(results: Sequence[Result], form: ShownForm, **listing: Any) -> None:  # noqa: ANN401  as `TableSettings` takes them
    """Print results to standard output."""
    from segbench.report.tables import TableSettings

    settings = TableSettings(**listing, style="options")
    if form == "table":
        from rich.console import Console

        from segbench.report.terminal import show

        show(results, Console(), settings)
    else:
        from segbench.report.documents import document

        click.echo(document(results, form, settings), nl=False)
    if form == "csv" and settings.rows in ("method", "group", "object", "run"):  # which has no place for them
        from segbench.report.remarks import run_notes

        notes = run_notes(results, of_metrics=settings.rows == "method")
        click.echo("".join(f"{note.written('options')}\n" for note in notes), nl=False, err=True)


def print_run(
    results: Sequence[Result],
    form: Form,
    *,
    per_class: bool,
    intervals: Sequence[Intervals],
    first: Sequence[str] = (),
) -> None:
    """Print what a run has just counted, some metrics `first`: groups, or methods and, below a table, their classes.

    Classes are printed with --per-class, or where they are few. Other formats hold either methods or classes. Tables
    of several methods end with the verdict.
    """
    from segbench.aggregator.result import parts_if_any

    by_group = any("group" in result.axes for result in results)
    if by_group:
        rows = "group"
    elif per_class and form != "table":
        rows = "class"
    else:
        rows = "method"
    print_results(results, form, rows=rows, intervals=intervals, first=first)
    classes = sum(len(parts_if_any(result, "class")) for result in results)
    if form != "table":
        return
    if not by_group and (per_class or 0 < classes <= _FEW_CLASSES):
        click.echo()
        print_results(results, form, rows="class", intervals=intervals, first=first)
    elif not by_group and classes:
        click.echo(
            f"{classes} results of single classes are not shown; to print them: segbench show RESULTS --per-class",
            err=True,
        )
    _print_verdict(results, intervals)


def _print_verdict(results: Sequence[Result], intervals: Sequence[Intervals]) -> None:
    """Print how ``segbench compare`` answers, at the level of the intervals; nothing of a single method."""
    from rich.console import Console

    from segbench.aggregator.comparing import compare_results
    from segbench.report.comparisons import show_verdict
    from segbench.report.terminal import say_wrapped

    methods = named_as_in_tables(competing(results))
    if len(methods) < _FEWEST_METHODS or any(method.summary.empty for method in methods):
        return
    console = Console()
    console.print()
    if not intervals and sum(_packed_size(method) for method in methods) > _LARGEST:
        too_many = "not compared here, as that takes long with so many scores: segbench compare RESULTS"
        say_wrapped(console, too_many, "bold")
        return
    level = intervals[0].level if intervals else LEVEL
    try:
        comparison = compare_results(means_over_groups(methods), level=level)
    except SegbenchError as error:
        say_wrapped(console, f"not compared: {error.written('options')}", "yellow")
    else:
        show_verdict(comparison, console, known=[note for of_method in intervals for note in of_method.notes])


def _packed_size(result: Result) -> int:
    """Return the number of bytes that the counts of a result take."""
    from segbench.aggregator.codec import EncodedCounts

    counts = [run.counts for run in result.runs.values()] or [result.counts]
    return sum(of_run.packed_size for of_run in counts if isinstance(of_run, EncodedCounts))


def print_reasons(results: Sequence[Result]) -> None:
    """Say on standard error why images failed, and why results without any metric have none."""
    from segbench.report.remarks import remarks

    for result in results:
        for remark in remarks([result]):
            if remark.kind == "failed" or (remark.kind == "undefined" and result.summary.empty):
                text = remark.note.written("options")
                lines = [f"{text}:" if remark.details else text, *(line.written("options") for line in remark.details)]
                click.secho("\n  ".join(lines), fg="red", err=True)


def print_saved(output: Path) -> None:
    """Say where results are saved, and what can be done with them."""
    typed = shlex.quote(str(output))
    click.echo(f"Saved to {output}. Next: segbench report {typed}, segbench compare {typed}", err=True)
