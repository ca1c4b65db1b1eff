"""``segbench show``: the metrics of a results file."""

from __future__ import annotations

from typing import Annotated

import typer

from segbench.cli.choices import DIGITS, FORM, ZEROS, Form, Lines, print_results
from segbench.cli.resampling import BCA, INTERVALS, REPLICATES, SEED, interval_settings, refuse_idle
from segbench.cli.selection import CLASS, ONLY, ResultsFiles, results_files, results_of_sets
from segbench.core.errors import ArgumentError


def show(
    context: typer.Context,
    results: ResultsFiles,
    form: Annotated[Form, FORM] = Form.TABLE,
    per_image: Annotated[bool, typer.Option("--per-image", help="Print one row per image and method.")] = False,
    per_class: Annotated[bool, typer.Option("--per-class", help="Print one row per class and method.")] = False,
    per_threshold: Annotated[
        bool,
        typer.Option(
            "--per-threshold", help="Print one row per threshold of the pooled curve; all of them in csv and json."
        ),
    ] = False,
    metrics: Annotated[
        str | None,
        typer.Option(
            metavar="KEYS",
            help="Show these metrics in this order: ods_f,auc_pr.",
            show_default="all that have a column",
        ),
    ] = None,
    digits: Annotated[int | None, DIGITS] = None,
    zeros: Annotated[bool, ZEROS] = False,
    intervals: Annotated[float | None, INTERVALS] = None,
    replicates: Annotated[int, REPLICATES] = 2000,
    seed: Annotated[int, SEED] = 0,
    bca: Annotated[bool, BCA] = False,
    only: Annotated[str | None, ONLY] = None,
    class_name: Annotated[str | None, CLASS] = None,
) -> None:
    """Print the metrics of a results file.

    Several files are several data sets: methods are rows, and each set has its own columns.
    """
    from segbench.report.tables import metric_keys

    if intervals is None:
        refuse_idle(context, "add --intervals 95")
    wanted_lines = {Lines.IMAGE: per_image, Lines.CLASS: per_class, Lines.THRESHOLD: per_threshold}
    lines, *others = [line for line, wanted in wanted_lines.items() if wanted] or [Lines.METHOD]
    if others:
        raise ArgumentError(f"--per-{lines} and --per-{others[0]} are two tables; choose one")
    if lines is Lines.CLASS and class_name is not None:
        raise ArgumentError("--class shows one class and --per-class one row per class; choose one of the two")
    if lines in (Lines.IMAGE, Lines.THRESHOLD) and intervals is not None and form is not Form.JSON:
        raise ArgumentError(
            f"--per-{lines} has no intervals, which describe metrics over all images; choose one of the two"
        )
    files = results_files(results)
    if len(files) > 1 and lines is not Lines.METHOD:
        raise ArgumentError(f"--per-{lines} is a table of one data set; give one results file")
    of_sets = results_of_sets(files, only, class_name)
    loaded = [result for several in of_sets.values() for result in several]
    sets = [name for name, several in of_sets.items() for _ in several] if len(files) > 1 else []
    keys = metrics.split(",") if metrics else None
    if keys and (unknown := sorted(set(keys) - set(known := metric_keys(loaded, lines.value)))):
        listed = f"expected some of {', '.join(known)}"
        if lines is Lines.IMAGE:
            keys_of = {metric.key: metric.image_key for one in loaded for metric in one.rules.metrics()}
            same = [f"{keys_of[key]} for {key}" for key in unknown if keys_of.get(key)]
            listed = f"keys of single images differ ({', '.join(same)}); {listed}" if same else listed
        raise ArgumentError(f"--metrics {', '.join(unknown)}: {listed}")
    drawn = []
    if intervals is not None:
        settings = interval_settings(intervals, replicates=replicates, seed=seed, bca=bca)
        drawn = [result.intervals(**settings) for result in loaded]
    print_results(loaded, form, lines=lines, intervals=drawn, digits=digits, zeros=zeros, keys=keys, sets=sets)
