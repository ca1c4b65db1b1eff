"""``segbench compare``: which methods of a results file are best, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from segbench.cli.choices import DIGITS, FORM, ZEROS, Form, shown_digits
from segbench.cli.parameters import is_typed
from segbench.cli.resampling import SEED, interval_settings
from segbench.cli.selection import ONLY, ResultsFile, chosen_methods, chosen_results, comparable, results_of_classes
from segbench.core.errors import ArgumentError
from segbench.core.names import first_names

if TYPE_CHECKING:
    from segbench.aggregator.result import Result
    from segbench.cli.resampling import IntervalSettings
    from segbench.report.comparisons import Compared

_EVERY_CLASS = "all"
_LISTED = 20


def compare(
    context: typer.Context,
    results: ResultsFile,
    form: Annotated[Form, FORM] = Form.TABLE,
    methods: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Compare only these methods, by their names in tables: ours,theirs.",
            show_default="all but human annotators",
        ),
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option(
            metavar="KEYS",
            help="Answer by each of these metrics: ods_f,auc_pr.",
            show_default="the metric that ranks methods; csv, json: all",
        ),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Print every pair of methods by every metric, and how often each is first.")
    ] = False,
    against: Annotated[
        str | None,
        typer.Option(metavar="METHOD", help="Print only the differences to this method.", show_default=False),
    ] = None,
    fail_if_worse: Annotated[
        float | None,
        typer.Option(
            metavar="MARGIN",
            help="Exit with 3 if a method is worse than that of --against by more than this, with 4 if that is "
            "undecided: 0.01.",
            show_default=False,
        ),
    ] = None,
    intervals: Annotated[
        float,
        typer.Option(
            metavar="PERCENT", help="Set the confidence level of the intervals; in markdown and latex, print them: 95."
        ),
    ] = 95,
    replicates: Annotated[
        int, typer.Option(min=1, help="Set the number of resamples behind ranks and metrics that jump.")
    ] = 2000,
    seed: Annotated[int, SEED] = 0,
    digits: Annotated[int | None, DIGITS] = None,
    zeros: Annotated[bool, ZEROS] = False,
    only: Annotated[str | None, ONLY] = None,
    class_name: Annotated[
        str | None,
        typer.Option(
            "--class",
            metavar="NAME",
            help="Compare by one class of runs with --classes, measured against all others, or by each of them: all.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Say which method is best, and how sure that is.

    Methods are compared on the same images, with intervals and p-values.
    """
    from segbench.report.comparisons import comparison_json, exact_comparison, paper_table, show_comparison
    from segbench.report.documents import csv_table, latex_table, markdown_table

    places = shown_digits(digits, form)
    if every and form is not Form.TABLE:
        hint = "csv and json hold everything" if form in (Form.CSV, Form.JSON) else "--metrics KEYS chooses columns"
        raise ArgumentError(f"--all is for --format table; leave it out: {hint}")
    loaded = chosen_results(results, only, None if class_name == _EVERY_CLASS else class_name)
    chosen = chosen_methods(loaded, methods, results) if methods else comparable(loaded)
    by_class = results_of_classes(results, chosen) if class_name == _EVERY_CLASS else {"": chosen}
    for several in by_class.values():
        _refuse_baseline([result.method for result in several], against, fail_if_worse)
    settings = interval_settings(intervals, replicates=replicates, seed=seed)
    found = _compared(by_class, chosen, settings, metrics, against, fail_if_worse)
    if form is Form.JSON:
        typer.echo(comparison_json(found), nl=False)
    elif form is Form.CSV:
        typer.echo(csv_table(exact_comparison(found)), nl=False)
    elif form is Form.TABLE:
        from rich.console import Console

        show_comparison(found, Console(), every=every, digits=places, zeros=zeros)
    else:
        write = markdown_table if form is Form.MARKDOWN else latex_table
        marked = {"intervals": is_typed(context, "intervals"), "underlined": form is Form.LATEX}
        table = paper_table(found, **marked, digits=places, zeros=zeros)
        typer.echo(write(table), nl=False)
    if found.check is not None:
        code = found.check.exit_code
        typer.secho(str(found.check), fg={3: "red", 4: "yellow"}.get(code), err=True)
        raise typer.Exit(code)


def _compared(
    by_class: Mapping[str, Sequence[Result]],
    runs: Sequence[Result],
    settings: IntervalSettings,
    metrics: str | None,
    against: str | None,
    margin: float | None,
) -> Compared:
    """Compare methods, class by class."""
    from segbench.aggregator.comparing import compare_results
    from segbench.report.comparisons import Compared
    from segbench.statistics.comparison import together
    from segbench.statistics.worse import check_not_worse

    comparisons = together([compare_results(results, **settings) for results in by_class.values()])
    by_name = dict(zip(by_class, comparisons, strict=True))
    found = Compared(by_name, by_class, runs[0].signature, metrics.split(",") if metrics else None, against)
    known = {metric.key: metric for metric in found.first.metrics}
    if unknown := sorted(set(found.metrics or ()) - set(known)):
        raise ArgumentError(f"--metrics {', '.join(unknown)}: expected some of {', '.join(known)}")
    if against is None or margin is None:
        return found
    keys = found.keys(every=False)
    if neutral := [key for key in keys if known[key].better is None]:
        named = ", ".join(neutral)
        raise ArgumentError(f"--fail-if-worse: neither side of {named} is worse; choose other metrics with --metrics")
    return replace(found, check=check_not_worse(by_name, keys, baseline=against, margin=margin))


def _refuse_baseline(methods: Sequence[str], against: str | None, margin: float | None) -> None:
    """Refuse a baseline that is not compared, and a margin without baseline or below 0."""
    listed = first_names(list(methods), _LISTED)
    if against is None and margin is not None:
        raise ArgumentError(f"--fail-if-worse takes a baseline, too: add --against METHOD, one of {listed}")
    if against is not None and against not in methods:
        raise ArgumentError(f"--against {against}: expected one of the methods compared, {listed}")
    if margin is not None and not 0 <= margin < math.inf:
        raise ArgumentError(f"--fail-if-worse {margin:g}: expected a margin of 0 or more, such as 0.01")
