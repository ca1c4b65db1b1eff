"""``segbench compare``: which methods of a results file are best, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from segbench.cli.options import given
from segbench.cli.printing import Rounded
from segbench.cli.selection import OneFile, Resampling, chosen_methods, chosen_results, comparable, results_of_classes
from segbench.core.errors import ArgumentError
from segbench.core.names import first_names

if TYPE_CHECKING:
    from segbench.aggregator.result import Result
    from segbench.cli.selection import IntervalSettings
    from segbench.report.comparisons import Compared

_EVERY_CLASS = "all"
_LISTED = 20


@dataclass(frozen=True, kw_only=True)
class Compare(OneFile, Resampling, Rounded):
    """``segbench compare``."""

    methods: str | None = given(
        "Compare only these methods, by their names in tables: ours,theirs.",
        metavar="NAMES",
        shown="all but human annotators",
    )
    metrics: str | None = given(
        "Answer by each of these metrics: ods_f,auc_pr.",
        metavar="KEYS",
        shown="the metric that ranks methods; csv, json: all",
    )
    every: bool = given(
        "Print every pair of methods by every metric, and how often each is first.", False, flag="--all"
    )
    against: str | None = given("Print only the differences to this method.", metavar="METHOD")
    fail_if_worse: float | None = given(
        "Exit with 3 if a method is worse than that of --against by more than this, with 4 if that is undecided: 0.01.",
        metavar="MARGIN",
    )
    intervals: float | None = given(
        "Set the confidence level of the intervals; in markdown and latex, print them: 95.",
        metavar="PERCENT",
        shown="95",
    )
    replicates: int | None = given(
        "Set the number of resamples behind ranks and metrics that jump.", shown="2000", least=1
    )
    class_name: str | None = given(
        "Compare by one class of runs with --classes, measured against all others, or by each of them: all.",
        flag="--class",
        metavar="NAME",
    )

    def run(self) -> None:
        """Say which method is best, and how sure that is."""
        from segbench.report.comparisons import comparison_json, exact_comparison, paper_table, show_comparison
        from segbench.report.documents import csv_table, latex_table, markdown_table

        rounding, form = self.rounding, self.form
        if self.every and form != "table":
            hint = "csv and json hold everything" if form in ("csv", "json") else "--metrics KEYS chooses columns"
            raise ArgumentError(f"--all is for --format table; leave it out: {hint}")
        loaded = chosen_results(self.results, self.only, None if self.class_name == _EVERY_CLASS else self.class_name)
        chosen = chosen_methods(loaded, self.methods, self.results) if self.methods else comparable(loaded)
        by_class = results_of_classes(self.results, chosen) if self.class_name == _EVERY_CLASS else {"": chosen}
        for several in by_class.values():
            _refuse_baseline([result.method for result in several], self.against, self.fail_if_worse)
        found = _compared(by_class, chosen, self.settings, self.metrics, self.against, self.fail_if_worse)
        if form == "json":
            click.echo(comparison_json(found), nl=False)
        elif form == "csv":
            click.echo(csv_table(exact_comparison(found)), nl=False)
        elif form == "table":
            from rich.console import Console

            show_comparison(found, Console(), every=self.every, **rounding)
        else:
            write = markdown_table if form == "markdown" else latex_table
            marked = {"intervals": self.intervals is not None, "underlined": form == "latex"}
            table = paper_table(found, **marked, **rounding)
            click.echo(write(table), nl=False)
        if found.check is not None:
            code = found.check.exit_code
            click.secho(str(found.check), fg={3: "red", 4: "yellow"}.get(code), err=True)
            raise click.exceptions.Exit(code)


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
