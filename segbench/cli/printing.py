"""How verbs print results: tables in a terminal, or documents on standard output, and on standard error what else."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import click

from segbench.core.errors import ArgumentError
from segbench.core.numbers import DIGITS
from segbench.core.options import option

if TYPE_CHECKING:
    from segbench.aggregator.result import Result
    from segbench.statistics.intervals import Intervals

Form: TypeAlias = Literal["table", "json", "csv", "markdown", "latex"]
Lines: TypeAlias = Literal["method", "image", "class", "threshold", "group"]
"""What a row of a table is."""

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

    @property
    def rounding(self) -> dict[str, Any]:
        """How numbers are written, as keywords of tables."""
        if self.digits is not None and self.form in ("json", "csv"):
            raise ArgumentError(
                f"--digits is for table, markdown and latex; {self.form} keeps all digits, so leave it out"
            )
        return {"digits": DIGITS if self.digits is None else self.digits, "zeros": self.zeros}


def print_results(results: Sequence[Result], form: Form, **listing: Any) -> None:  # noqa: ANN401  as `Listing` takes them
    """Print results to standard output."""
    from segbench.report.tables import Listing

    how = Listing(**listing)
    if form == "table":
        from rich.console import Console

        from segbench.report.terminal import show

        show(results, Console(), how)
    else:
        from segbench.report.documents import document

        click.echo(document(results, form, how), nl=False)


def print_run(results: Sequence[Result], form: Form, *, per_class: bool, intervals: Sequence[Intervals]) -> None:
    """Print what a run has just counted; below a table each class, with --per-class or where they are few."""
    from segbench.report.tables import has_groups

    if any(map(has_groups, results)):
        print_results(results, form, rows="group", intervals=intervals)
        return
    classes = sum(len(result.classes) for result in results)
    if form != "table":
        print_results(results, form, rows="class" if per_class else "method", intervals=intervals)
        return
    print_results(results, form, intervals=intervals)
    if per_class or 0 < classes <= _FEW_CLASSES:
        print_results(results, form, rows="class", intervals=intervals)
    elif classes:
        click.echo(
            f"{classes} results of single classes are not shown; to print them: segbench show RESULTS --per-class",
            err=True,
        )


def print_reasons(results: Sequence[Result]) -> None:
    """Say on standard error why images failed, and why results without any metric have none."""
    from segbench.report.remarks import remarks

    for result in results:
        for remark in remarks([result]):
            if remark.kind == "failed" or (remark.kind == "undefined" and result.summary.empty):
                text = f"{remark.text}:" if remark.details else remark.text
                click.secho("\n  ".join([text, *remark.details]), fg="red", err=True)


def print_saved(output: Path) -> None:
    """Say where results are saved, and what can be done with them."""
    typed = shlex.quote(str(output))
    click.echo(f"Saved to {output}. Next: segbench report {typed}, segbench compare {typed}", err=True)
