"""``segbench overlay``: true, false and missed pixels drawn, image by image."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from segbench.cli.selection import ONLY, chosen_results


def overlay(
    results: Annotated[Path, typer.Argument(help="Results file, as written by segbench run -o.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the pictures, one folder a method in it.")],
    threshold: Annotated[
        float | None,
        typer.Option(help="Draw at this threshold [default: each method's best over all images].", show_default=False),
    ] = None,
    image: Annotated[
        list[str] | None, typer.Option(help="Only this image; may be given several times.", show_default=False)
    ] = None,
    only: Annotated[str | None, ONLY] = None,
) -> None:
    """Draw true, false and missed pixels on each image.

    What was found, what was not there, and what was missed: one PNG an image.
    """
    from segbench.aggregator.rereading import why_no_pictures
    from segbench.cli.progress import progress_bar
    from segbench.report.overlays import export_overlays, legend

    found = chosen_results(results, only)
    chosen = [result for result in found if not why_no_pictures(result)] or found
    for result in found:
        if result not in chosen:
            typer.echo(f"{result.method}: left out, since it {why_no_pictures(result)}", err=True)
    with progress_bar("overlays") as progress:
        problems = export_overlays(chosen, output, threshold=threshold, names=image or (), progress=progress)
    for problem in problems:
        typer.secho(problem, fg="red", err=True)
    for protocol in {result.protocol: result.rules for result in chosen}.values():
        typer.echo(f"{protocol.name} in {output}: {legend(protocol)}", err=True)
    if problems:
        raise typer.Exit(1)
