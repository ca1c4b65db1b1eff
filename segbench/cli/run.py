"""``segbench run``: two folders to figures."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from segbench.cli.choices import Form, ProtocolName, print_run
from segbench.cli.counting import chosen_methods, count_methods
from segbench.cli.look_first import inputs_of, look_first
from segbench.cli.options import (
    ANNOTATORS,
    CATEGORY,
    CLASSES,
    FIELD,
    FIELD_PATTERN,
    GROUND_TRUTH,
    GT_PATTERN,
    INVERT,
    LABEL_MAPS,
    MAX_DIST,
    NEGATIVES,
    NMS,
    PAIRS,
    POSITIVE,
    PRED_PATTERN,
    PREDICTION,
    PROTOCOL,
    THRESHOLDS,
    VOID,
    refuse_idle_pattern,
)
from segbench.cli.preset import PRESET, placed
from segbench.cli.repairing import CROP, RESIZE, SCALE, repairs_of
from segbench.cli.resampling import INTERVALS, interval_settings
from segbench.cli.settings import Options
from segbench.cli.stopping import Stopped
from segbench.cli.tuning import thresholds_of
from segbench.cli.workers import Dask, Jobs, Threads, Workers
from segbench.core.errors import ArgumentError


def run(
    context: typer.Context,
    ground_truth: Annotated[str | None, GROUND_TRUTH] = None,
    prediction: Annotated[list[str] | None, PREDICTION] = None,
    pairs: Annotated[str | None, PAIRS] = None,
    protocol: Annotated[ProtocolName, PROTOCOL] = ProtocolName.PIXELS,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Results file to write, or to go on with (.segbench).")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Count anew what the results file holds of this run.")] = False,
    jobs: Jobs = None,
    threads: Threads = False,
    dask: Dask = None,
    positive: Annotated[str | None, POSITIVE] = None,
    void: Annotated[str | None, VOID] = None,
    classes: Annotated[str | None, CLASSES] = None,
    per_class: Annotated[bool, typer.Option("--per-class", help="Print every class, however many.")] = False,
    field: Annotated[str | None, FIELD] = None,
    invert: Annotated[bool, INVERT] = False,
    bins: Annotated[
        bool,
        typer.Option(
            "--bins", help="Keep float scores in bins: constant memory per image, metrics with bounds instead of exact."
        ),
    ] = False,
    annotators: Annotated[str | None, ANNOTATORS] = None,
    resize_predictions: Annotated[str | None, RESIZE] = None,
    crop: Annotated[bool, CROP] = False,
    scale: Annotated[str | None, SCALE] = None,
    max_dist: Annotated[float | None, MAX_DIST] = None,
    thresholds: Annotated[str | None, THRESHOLDS] = None,
    no_thin: Annotated[bool, typer.Option("--no-thin", help="Boundaries: do not thin thresholded maps.")] = False,
    nms: Annotated[str | None, NMS] = None,
    label_maps: Annotated[bool, LABEL_MAPS] = False,
    category: Annotated[int | None, CATEGORY] = None,
    human: Annotated[
        bool, typer.Option("--human", help="Boundaries: also each annotator against the others, as a method 'human'.")
    ] = False,
    gt_pattern: Annotated[str, GT_PATTERN] = "*",
    pred_pattern: Annotated[str, PRED_PATTERN] = "*",
    field_pattern: Annotated[str, FIELD_PATTERN] = "*",
    negatives: Annotated[str, NEGATIVES] = "",
    preset: Annotated[str | None, PRESET] = None,
    intervals: Annotated[float | None, INTERVALS] = None,
    tuning_set: Annotated[
        tuple[str, str] | None,
        typer.Option(
            metavar="GT PRED",
            help="Pixels, one method: take the thresholds of this set's hull instead of the scores themselves.",
        ),
    ] = None,
    tuning_field: Annotated[
        str | None, typer.Option(help="Masks of the tuning set, where the run has --field.")
    ] = None,
    tuning_results: Annotated[
        Path | None, typer.Option(help="The same for several methods: a results file with a run of each.")
    ] = None,
    no_check: Annotated[
        bool, typer.Option("--no-check", help="Do not look for what does not line up first; see segbench check.")
    ] = False,
    form: Annotated[Form, typer.Option("--format", help="How to print the figures.")] = Form.TABLE,
) -> None:
    """Count two folders of images; print the figures of each method.

    A folder may be an archive (.zip, .tar, .tar.gz), a folder of archives, or a URL.
    """
    from segbench.loaders.listing import listed_once

    options = Options(
        positive=positive,
        void=void,
        invert=invert,
        bins=bins,
        max_dist=max_dist,
        thresholds=thresholds,
        no_thin=no_thin,
        nms=nms,
        label_maps=label_maps,
        category=category,
        classes=classes,
        annotators=annotators,
    )
    if per_class and classes is None:
        raise ArgumentError("--per-class prints what --classes names; add --classes 0-18")
    if fresh and output is None:
        raise ArgumentError("--fresh is about a results file; name it with -o")
    if output is not None:
        from segbench.aggregator.database import require_results_name

        require_results_name(output)
    resampling = None if intervals is None else interval_settings(intervals)
    repairs = repairs_of(resize_predictions, scale, crop=crop)
    patterns = {"gt_pattern": gt_pattern, "pred_pattern": pred_pattern, "field_pattern": field_pattern}
    patterns["negatives"] = negatives
    context.with_resource(listed_once())
    methods = chosen_methods(pairs, ground_truth, prediction, field=field, patterns=patterns, preset=preset)
    settings = options.protocol(protocol)
    if preset is not None and ground_truth is not None:
        ground_truth, field = placed(preset, ground_truth, field)
    refuse_idle_pattern(context, field)
    where = inputs_of(ground_truth, methods, field=field, patterns=patterns, pairs=pairs)
    workers = Workers(jobs=jobs, threads=threads, dask=dask)
    try:
        if not no_check:
            look_first(where, settings, repairs)
        tuning = thresholds_of(
            tuning_set,
            tuning_results,
            where,
            settings,
            patterns,
            field=tuning_field,
            workers=workers,
            repairs=repairs,
        )
        results = count_methods(
            ground_truth,
            methods,
            settings,
            pairs=pairs,
            field=field,
            patterns=patterns,
            output=output,
            fresh=fresh,
            workers=workers,
            human=human,
            repairs=repairs,
            tuning=tuning,
        )
    except (Stopped, KeyboardInterrupt) as stopped:
        raise Stopped(f"{str(stopped) or 'stopped'}; {_going_on(output)}") from None
    drawn = [] if resampling is None else [result.intervals(**resampling) for result in results]
    print_run(results, form, per_class=per_class, intervals=drawn)
    if output:
        tell_kept(output)
    if any(result.failed or result.summary.empty for result in results):
        raise typer.Exit(1)


def tell_kept(output: Path) -> None:
    """Say where results are kept, and what can be done with them."""
    typed = shlex.quote(str(output))
    typer.echo(f"kept in {output}: segbench show {typed}, segbench plot {typed} -o pr.pdf", err=True)


def _going_on(output: Path | None) -> str:
    if output is None:
        return "nothing is kept, for no results file was named (-o)"
    command = shlex.join(["segbench", *(argument for argument in sys.argv[1:] if argument != "--fresh")])
    return f"what was counted is kept in {output}; go on with:\n  {command}"
