"""``segbench compare``: how the methods of a results file differ, and how sure that is."""

from __future__ import annotations

from typing import Annotated

import typer

from segbench.cli.choices import DIGITS, FORM, ZEROS, Form, shown_digits
from segbench.cli.resampling import SEED, interval_settings
from segbench.cli.selection import CLASS, ONLY, ResultsFile, chosen_methods, chosen_results, comparable
from segbench.core.errors import ArgumentError


def compare(
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
    metrics: Annotated[str | None, typer.Option(metavar="KEYS", help="Show these metrics: ods_f,auc_pr.")] = None,
    intervals: Annotated[
        float, typer.Option(metavar="PERCENT", help="Set the confidence level of the intervals.")
    ] = 95,
    replicates: Annotated[
        int, typer.Option(min=1, help="Set the number of resamples that show how stable ranks are.")
    ] = 2000,
    permutations: Annotated[
        int, typer.Option(min=1, help="Set the number of random swaps of images between methods, for p-values.")
    ] = 10_000,
    seed: Annotated[int, SEED] = 0,
    digits: Annotated[int | None, DIGITS] = None,
    zeros: Annotated[bool, ZEROS] = False,
    only: Annotated[str | None, ONLY] = None,
    class_name: Annotated[str | None, CLASS] = None,
) -> None:
    """Print paired differences between methods, with intervals.

    One row per pair of methods and metric, with p-values.
    """
    from segbench.aggregator.comparing import compare_results
    from segbench.report.comparisons import comparison_json, comparison_tables, exact_comparison, show_comparison
    from segbench.report.documents import csv_table, latex_table, markdown_table
    from segbench.statistics.comparison import compared

    places = shown_digits(digits, form)
    loaded = chosen_results(results, only, class_name)
    chosen = chosen_methods(loaded, methods, results) if methods else comparable(loaded)
    settings = interval_settings(intervals, replicates=replicates, seed=seed)
    comparison = compare_results(chosen, permutations=permutations, **settings)
    known = list(comparison.rank_shares)
    shown = metrics.split(",") if metrics else None
    if shown and (unknown := sorted(set(shown) - set(known))):
        raise ArgumentError(f"--metrics {', '.join(unknown)}: expected some of {', '.join(known)}")
    signature = chosen[0].signature
    listed = shown or compared(comparison)
    if form is Form.JSON:
        typer.echo(comparison_json(comparison, metrics=shown, signature=signature), nl=False)
    elif form is Form.TABLE:
        from rich.console import Console

        show_comparison(comparison, Console(), metrics=listed, signature=signature, digits=places, zeros=zeros)
    elif form is Form.CSV:
        typer.echo(csv_table(exact_comparison(comparison, metrics=shown)), nl=False)
    else:
        write = markdown_table if form is Form.MARKDOWN else latex_table
        tables = comparison_tables(comparison, metrics=listed, signature=signature, digits=places, zeros=zeros)
        typer.echo("\n".join(map(write, tables)), nl=False)
