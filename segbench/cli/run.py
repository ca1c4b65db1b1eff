"""``segbench run``: two folders to figures."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from segbench.cli.choices import Form, ProtocolName, print_results
from segbench.cli.counting import chosen_methods, count_methods
from segbench.cli.preset import PRESET, placed
from segbench.cli.repairing import CROP, RESIZE, SCALE, repairs_of
from segbench.cli.resampling import INTERVALS, interval_settings
from segbench.cli.settings import Options
from segbench.cli.tuning import thresholds_of

INTERRUPTED = 130


def run(
    ground_truth: Annotated[
        str | None,
        typer.Argument(
            help="Folder of ground truth, archive, URL, or one file; with --preset the data set's folder.",
            show_default=False,
        ),
    ] = None,
    prediction: Annotated[
        list[str] | None,
        typer.Argument(help="The same of soft predictions, one a method; may be name=FOLDER.", show_default=False),
    ] = None,
    pairs: Annotated[
        str | None,
        typer.Option(
            metavar="CSV",
            help="In place of both, a list of files: columns name, ground_truth, prediction[:METHOD], field.",
        ),
    ] = None,
    protocol: Annotated[ProtocolName, typer.Option("-p", "--protocol", help="What counts as right.")] = (
        ProtocolName.PIXELS
    ),
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Results file to write, or to go on with (.segbench).")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("-j", "--jobs", min=1, help="Worker processes [default: as many as the work fills].")
    ] = None,
    positive: Annotated[
        str | None,
        typer.Option(help="Ground-truth values that are positive: 255, '>=128' or 1,3 [default: the larger of two]."),
    ] = None,
    void: Annotated[str | None, typer.Option(help="Ground-truth values to leave out, as in 255 or 254,255.")] = None,
    field: Annotated[
        str | None, typer.Option(help="Folder of masks (fields of view): pixels where the mask is 0 are left out.")
    ] = None,
    invert: Annotated[bool, typer.Option("--invert", help="Low predictions mean positive: black edges on white.")] = (
        False
    ),
    exact: Annotated[bool, typer.Option("--exact", help="Keep every distinct float score, never bins.")] = False,
    annotators: Annotated[
        str | None,
        typer.Option(
            metavar="any|all|majority|each",
            help="Pixels, several annotators: positive where any, all or most of them say so; or count each.",
            show_default=False,
        ),
    ] = None,
    resize_predictions: Annotated[str | None, RESIZE] = None,
    crop: Annotated[bool, CROP] = False,
    scale: Annotated[str | None, SCALE] = None,
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
    category: Annotated[
        int | None,
        typer.Option(min=1, help="Boundaries: which category of an SBD ground truth counts.", show_default=False),
    ] = None,
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
    negatives: Annotated[
        str, typer.Option(help="Predictions that need no ground truth, since all is negative: 'good/*'.")
    ] = "",
    preset: Annotated[str | None, PRESET] = None,
    intervals: Annotated[float | None, INTERVALS] = None,
    tuning_set: Annotated[
        tuple[str, str] | None,
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
    """Count two folders of images and print the pooled figures of each method.

    A folder may be an archive (.zip, .tar, .tar.gz), a folder of archives, or a URL.
    """
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
        category=category,
        annotators=annotators,
    )
    repairs = repairs_of(resize_predictions, scale, crop=crop)
    methods = chosen_methods(pairs, ground_truth, prediction)
    if preset is not None and ground_truth is not None:
        ground_truth, field = placed(preset, ground_truth, field)
    patterns = {"gt_pattern": gt_pattern, "pred_pattern": pred_pattern, "field_pattern": field_pattern}
    patterns["negatives"] = negatives
    tuning = thresholds_of(
        tuning_set, tuning_results, list(methods), options.protocol(protocol), patterns, jobs=jobs, repairs=repairs
    )
    try:
        results = count_methods(
            ground_truth,
            methods,
            options.protocol(protocol),
            pairs=pairs,
            field=field,
            patterns=patterns,
            output=output,
            jobs=jobs,
            human=human,
            repairs=repairs,
            tuning=tuning,
        )
    except KeyboardInterrupt:
        kept = (
            f"what was counted is kept in {output}, and the same command goes on with it" if output else "nothing kept"
        )
        typer.echo(f"stopped; {kept}", err=True)
        raise typer.Exit(INTERRUPTED) from None
    drawn = [] if intervals is None else [result.intervals(**interval_settings(intervals)) for result in results]
    print_results(results, form, intervals=drawn)
    if output:
        typed = shlex.quote(str(output))
        typer.echo(f"kept in {output}: segbench show {typed}, segbench plot {typed} -o pr.pdf", err=True)
    if any(result.failed for result in results):
        raise typer.Exit(1)
