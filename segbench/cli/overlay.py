"""``segbench overlay``: true, false and missed pixels drawn, image by image."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from segbench.cli.progress import PROGRESS, Progress, progress_of
from segbench.cli.selection import ONLY, ResultsFile, chosen_results


def overlay(
    results: ResultsFile,
    output: Annotated[
        Path,
        typer.Option("-o", "--output", metavar="DIR", help="Write the pictures to this folder, one folder per method."),
    ],
    threshold: Annotated[
        float | None,
        typer.Option(help="Draw at this threshold.", show_default="each method's best over all images"),
    ] = None,
    image: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Draw only this image; may be given several times.", show_default=False),
    ] = None,
    classes: Annotated[
        bool,
        typer.Option(
            "--classes",
            help="Draw the classes of label maps, ground truth and prediction, beside the errors.",
        ),
    ] = False,
    only: Annotated[str | None, ONLY] = None,
    progress: Annotated[Progress, PROGRESS] = Progress.AUTO,
) -> None:
    """Draw true, false and missed pixels on each image.

    It writes one PNG per image and method. Pictures of label maps show wrong pixels.
    """
    from segbench.aggregator.rereading import best_cut, why_no_pictures
    from segbench.core.metric import best_threshold
    from segbench.core.numbers import number
    from segbench.drawing.palette import class_colours
    from segbench.report.overlays import export_overlays, legend

    found = chosen_results(results, only)
    chosen = [result for result in found if not why_no_pictures(result)] or found
    for result in found:
        if result not in chosen:
            typer.echo(f"{result.method}: left out, since it {why_no_pictures(result)}", err=True)
    with progress_of("overlays", progress) as tally:
        problems = export_overlays(
            chosen, output, threshold=threshold, names=image or (), classes=classes, progress=tally
        )
    for problem in problems:
        typer.secho(problem, fg="red", err=True)
    for result in chosen if threshold is None and not classes else ():
        if (metric := best_threshold(result.rules.metrics())) is not None:
            typer.echo(f"{result.method}: at threshold {number(best_cut(result))} ({metric.key})", err=True)
    if classes:
        for names, colours in {tuple(one.classes): class_colours(len(one.classes)) for one in chosen}.items():
            typer.echo(", ".join(f"{colour}: {name}" for name, colour in zip(names, colours, strict=True)), err=True)
    for protocol in {result.protocol: result.rules for result in chosen if not classes}.values():
        typer.echo(f"{protocol.name} in {output}: {legend(protocol)}", err=True)
    if problems:
        raise typer.Exit(1)
