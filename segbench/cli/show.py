"""``segbench show``: the metrics of a results file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from segbench.cli.choices import DIGITS, FORM, ZEROS, Form, Lines, print_results
from segbench.cli.resampling import INTERVALS, REPLICATES, SEED, interval_settings, refuse_idle
from segbench.cli.selection import CLASS, ONLY, ResultsFiles, results_files, results_of_sets
from segbench.core.errors import ArgumentError

if TYPE_CHECKING:
    from segbench.aggregator.result import Result


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
    sort: Annotated[
        str | None,
        typer.Option(
            metavar="KEY",
            help="With --per-image, list the images that are worst by this metric first: f.",
            show_default=False,
        ),
    ] = None,
    digits: Annotated[int | None, DIGITS] = None,
    zeros: Annotated[bool, ZEROS] = False,
    intervals: Annotated[float | None, INTERVALS] = None,
    replicates: Annotated[int, REPLICATES] = 2000,
    seed: Annotated[int, SEED] = 0,
    only: Annotated[str | None, ONLY] = None,
    class_name: Annotated[str | None, CLASS] = None,
) -> None:
    """Print the metrics of a results file.

    Several files are several data sets: methods are rows, and each set has its own columns.
    """
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
    if sort is not None and lines is not Lines.IMAGE:
        raise ArgumentError("--sort lists the worst images first; add --per-image")
    _refuse_unknown("--metrics", keys or (), loaded, lines)
    _refuse_unknown("--sort", () if sort is None else (sort,), loaded, lines)
    drawn = []
    if intervals is not None:
        settings = interval_settings(intervals, replicates=replicates, seed=seed)
        drawn = [result.intervals(**settings) for result in loaded]
    print_results(
        loaded, form, lines=lines, intervals=drawn, digits=digits, zeros=zeros, keys=keys, sets=sets, sort=sort
    )


def _refuse_unknown(option: str, keys: Sequence[str], results: Sequence[Result], lines: Lines) -> None:
    """Refuse keys that no column of a table has."""
    from segbench.report.tables import metric_keys

    unknown = sorted(set(keys) - set(known := metric_keys(results, lines.value))) if keys else []
    if not unknown:
        return
    listed = f"expected some of {', '.join(known)}"
    if lines is Lines.IMAGE:
        keys_of = {metric.key: metric.image_key for one in results for metric in one.rules.metrics()}
        same = [f"{keys_of[key]} for {key}" for key in unknown if keys_of.get(key)]
        listed = f"keys of single images differ ({', '.join(same)}); {listed}" if same else listed
    raise ArgumentError(f"{option} {', '.join(unknown)}: {listed}")
