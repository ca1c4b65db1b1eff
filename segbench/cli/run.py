"""``segbench run``: two folders to figures."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from segbench.cli.choices import Form, ProtocolName, print_results
from segbench.cli.counting import Stopped, count_methods, methods_of
from segbench.cli.resampling import INTERVALS, interval_settings
from segbench.cli.settings import Options
from segbench.cli.tuning import thresholds_of
from segbench.cli.workers import Dask, Jobs, Threads, Workers
from segbench.errors import ArgumentError

INTERRUPTED = 130


def run(
    ground_truth: Annotated[Path, typer.Argument(help="Folder of ground truth, or one file.")],
    prediction: Annotated[
        list[str], typer.Argument(help="Folder of soft predictions (or one file), one a method; may be name=FOLDER.")
    ],
    protocol: Annotated[ProtocolName, typer.Option("-p", "--protocol", help="What counts as right.")] = (
        ProtocolName.PIXELS
    ),
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Results file to write, or to go on with (.segbench).")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Count anew what the results file holds of this run.")] = False,
    jobs: Jobs = None,
    threads: Threads = False,
    dask: Dask = None,
    positive: Annotated[
        str | None,
        typer.Option(help="Ground-truth values that are positive: 255, '>=128' or 1,3 [default: the larger of two]."),
    ] = None,
    void: Annotated[str | None, typer.Option(help="Ground-truth values to leave out, as in 255 or 254,255.")] = None,
    field: Annotated[
        Path | None, typer.Option(help="Folder of masks (fields of view): pixels where the mask is 0 are left out.")
    ] = None,
    invert: Annotated[bool, typer.Option("--invert", help="Low predictions mean positive: black edges on white.")] = (
        False
    ),
    exact: Annotated[bool, typer.Option("--exact", help="Keep every distinct float score, never bins.")] = False,
    max_dist: Annotated[
        float | None,
        typer.Option(help="Boundaries: tolerance as a fraction of the diagonal [default: 0.0075].", show_default=False),
    ] = None,
    thresholds: Annotated[
        str | None, typer.Option(help="Boundaries, regions: how many, or which, as in 0.25,0.5 [default: 99].")
    ] = None,
    no_thin: Annotated[bool, typer.Option("--no-thin", help="Boundaries: do not thin thresholded maps.")] = False,
    nms: Annotated[
        str | None, typer.Option(help="Boundaries: suppress first; radius,border,multiplier as in 1,5,1.01.")
    ] = None,
    label_maps: Annotated[
        bool, typer.Option("--label-maps", help="Boundaries: ground-truth images are label maps; take their borders.")
    ] = False,
    human: Annotated[
        bool, typer.Option("--human", help="Boundaries: also each annotator against the others, as a method 'human'.")
    ] = False,
    gt_pattern: Annotated[
        str,
        typer.Option(help="How ground-truth names hold the image's name, *, and an annotator, #: '*_manual1', '*.#'."),
    ] = "*",
    pred_pattern: Annotated[
        str, typer.Option(help="The same for predictions, # being one of several label maps: '*_pred', '*/#'.")
    ] = "*",
    field_pattern: Annotated[str, typer.Option(help="The same for masks: '*_mask'.")] = "*",
    intervals: Annotated[float | None, INTERVALS] = None,
    tuning_set: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            metavar="GT PRED",
            help="Pixels, one method: take the thresholds of this set's hull instead of the scores themselves.",
        ),
    ] = None,
    tuning_results: Annotated[
        Path | None, typer.Option(help="The same for several methods: a results file with a run of each.")
    ] = None,
    form: Annotated[Form, typer.Option("--format", help="How to print the figures.")] = Form.TABLE,
) -> None:
    """Count two folders of images and print the pooled figures of each method."""
    options = Options(
        positive=positive,
        void=void,
        invert=invert,
        exact=exact,
        max_dist=max_dist,
        thresholds=thresholds,
        no_thin=no_thin,
        nms=nms,
        label_maps=label_maps,
    )
    methods = methods_of(prediction)
    patterns = {"gt_pattern": gt_pattern, "pred_pattern": pred_pattern, "field_pattern": field_pattern}
    workers = Workers(jobs=jobs, threads=threads, dask=dask)
    if fresh and output is None:
        raise ArgumentError("--fresh is about a results file; name it with -o")
    try:
        tuning = thresholds_of(
            tuning_set, tuning_results, list(methods), options.protocol(protocol), patterns, workers=workers
        )
        results = count_methods(
            ground_truth,
            methods,
            options.protocol(protocol),
            field=field,
            patterns=patterns,
            output=output,
            fresh=fresh,
            workers=workers,
            human=human,
            tuning=tuning,
        )
    except (Stopped, KeyboardInterrupt) as stopped:
        typer.echo(f"\n{str(stopped) or 'stopped'}; {_going_on(output)}", err=True)
        raise typer.Exit(INTERRUPTED) from None
    drawn = [] if intervals is None else [result.intervals(**interval_settings(intervals)) for result in results]
    print_results(results, form, intervals=drawn)
    if output:
        typer.echo(f"kept in {output}: segbench show {output}, segbench plot {output} -o pr.pdf", err=True)
    if any(result.failed or result.summary.empty for result in results):
        raise typer.Exit(1)


def _going_on(output: Path | None) -> str:
    if output is None:
        return "nothing is kept, for no results file was named (-o)"
    command = shlex.join(["segbench", *(argument for argument in sys.argv[1:] if argument != "--fresh")])
    return f"what was counted is kept in {output}; go on with:\n  {command}"
