"""``segbench plot``: the curves of a results file, and what else of it is better seen than read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from segbench.cli.choices import PlotKind
from segbench.cli.resampling import INTERVALS, REPLICATES, SEED, interval_settings, refuse_idle
from segbench.cli.selection import CLASS, ONLY, ResultsFile, chosen_results, comparable
from segbench.core.errors import ArgumentError


def plot(
    context: typer.Context,
    results: ResultsFile,
    output: Annotated[Path, typer.Option("-o", "--output", help="Write this picture: .pdf, .svg or .png.")],
    kind: Annotated[
        PlotKind | None,
        typer.Option(
            help="Draw precision and recall, ROC, F against threshold, each image's F, the achievable curve beside the "
            "raw one, or paired differences; of label maps the confusion matrix of one method, or IoU per class.",
            show_default="pr; of regions f, their covering",
        ),
    ] = None,
    intervals: Annotated[float | None, INTERVALS] = None,
    replicates: Annotated[int, REPLICATES] = 2000,
    seed: Annotated[int, SEED] = 0,
    size: Annotated[
        str | None,
        typer.Option(
            metavar="WIDTHxHEIGHT",
            help="Set the size in inches: 3.5x3 for one column of a paper.",
            show_default="that of Matplotlib, cropped",
        ),
    ] = None,
    only: Annotated[str | None, ONLY] = None,
    class_name: Annotated[str | None, CLASS] = None,
) -> None:
    """Draw all methods in a results file."""
    from segbench.report.saving import Kind, save_plot
    from segbench.statistics.bootstrap import notes_on

    if intervals is None and kind is not PlotKind.COMPARISON:
        refuse_idle(context, "add --intervals 95")
    level = None if intervals is None else interval_settings(intervals)["level"]
    inches = None if size is None else _inches(size)
    loaded = chosen_results(results, only, class_name)
    if kind is PlotKind.COMPARISON:
        loaded = comparable(loaded)
    name: Kind | None = None if kind is None else kind.value
    save_plot(loaded, output, kind=name, level=level, replicates=replicates, seed=seed, size=inches)
    if level is not None:
        typer.echo(f"intervals: {intervals:g} % of {replicates} replicates over images, point by point", err=True)
    if level is not None or kind is PlotKind.COMPARISON:
        for note in dict.fromkeys(note for result in loaded for note in notes_on(len(result.counts))):
            typer.echo(note, err=True)
    typer.echo(f"written: {output}", err=True)


def _inches(text: str) -> tuple[float, float]:
    found = re.fullmatch(r"([\d.]+)x([\d.]+)", text)
    try:
        width, height = map(float, found.groups() if found else ())
    except ValueError:
        width = height = 0.0
    if not (1 <= width <= 100 and 1 <= height <= 100):
        raise ArgumentError(f"--size {text!r} is no size in inches, 1 to 100 each; write 3.5x3")
    return width, height
