"""``segbench check``: what does not line up between two folders, and the option that mends it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from segbench.cli.choices import ProtocolName
from segbench.cli.counting import chosen_methods
from segbench.cli.look_first import inputs_of
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
from segbench.cli.settings import Options


class ReportForm(StrEnum):
    """How a report is printed."""

    TABLE = "table"
    JSON = "json"


def check(
    context: typer.Context,
    ground_truth: Annotated[str | None, GROUND_TRUTH] = None,
    prediction: Annotated[list[str] | None, PREDICTION] = None,
    pairs: Annotated[str | None, PAIRS] = None,
    protocol: Annotated[ProtocolName, PROTOCOL] = ProtocolName.PIXELS,
    positive: Annotated[str | None, POSITIVE] = None,
    void: Annotated[str | None, VOID] = None,
    classes: Annotated[str | None, CLASSES] = None,
    field: Annotated[str | None, FIELD] = None,
    invert: Annotated[bool, INVERT] = False,
    annotators: Annotated[str | None, ANNOTATORS] = None,
    resize_predictions: Annotated[str | None, RESIZE] = None,
    crop: Annotated[bool, CROP] = False,
    scale: Annotated[str | None, SCALE] = None,
    max_dist: Annotated[float | None, MAX_DIST] = None,
    thresholds: Annotated[str | None, THRESHOLDS] = None,
    nms: Annotated[str | None, NMS] = None,
    label_maps: Annotated[bool, LABEL_MAPS] = False,
    category: Annotated[int | None, CATEGORY] = None,
    gt_pattern: Annotated[str, GT_PATTERN] = "*",
    pred_pattern: Annotated[str, PRED_PATTERN] = "*",
    field_pattern: Annotated[str, FIELD_PATTERN] = "*",
    negatives: Annotated[str, NEGATIVES] = "",
    preset: Annotated[str | None, PRESET] = None,
    sample: Annotated[int, typer.Option(min=1, help="How many images to look into, evenly spread.")] = 32,
    everything: Annotated[bool, typer.Option("--all", help="Look into every image.")] = False,
    form: Annotated[ReportForm, typer.Option("--format", help="How to print the report.")] = ReportForm.TABLE,
) -> None:
    """Find what does not line up, and the option that mends it.

    The exit code is 1 if images could not be counted.
    """
    from segbench.checks.checking import check_methods
    from segbench.loaders.listing import listed_once
    from segbench.report.findings import report_json, show_reports

    options = Options(
        positive=positive,
        void=void,
        invert=invert,
        bins=False,
        max_dist=max_dist,
        thresholds=thresholds,
        no_thin=False,
        nms=nms,
        label_maps=label_maps,
        category=category,
        classes=classes,
        annotators=annotators,
    )
    patterns = {"gt_pattern": gt_pattern, "pred_pattern": pred_pattern, "field_pattern": field_pattern}
    patterns["negatives"] = negatives
    context.with_resource(listed_once())
    methods = chosen_methods(pairs, ground_truth, prediction, field=field, patterns=patterns, preset=preset)
    if preset is not None and ground_truth is not None:
        ground_truth, field = placed(preset, ground_truth, field)
    refuse_idle_pattern(context, field)
    reports = check_methods(
        inputs_of(ground_truth, methods, pairs=pairs, field=field, patterns=patterns),
        options.protocol(protocol),
        repairs_of(resize_predictions, scale, crop=crop),
        sample=None if everything else sample,
    )
    if form is ReportForm.JSON:
        typer.echo(report_json(reports), nl=False)
    else:
        from rich.console import Console

        show_reports(reports, Console())
    if any(report.stops for report in reports):
        raise typer.Exit(1)
