"""``segbench plot``: the curves of a results file, and what else of it is better seen than read."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from segbench.cli.resampling import INTERVALS, REPLICATES, SEED, interval_settings, refuse_idle
from segbench.cli.selection import CLASS, ONLY, ResultsFile, chosen_results, comparable
from segbench.core.errors import ArgumentError
from segbench.report.plots.kinds import KINDS, kind_of

if TYPE_CHECKING:
    PlotKind: TypeAlias = str
else:
    PlotKind = StrEnum("PlotKind", {kind: kind for kind in KINDS})


_UNITS = {"in": 1, "cm": 2.54, "mm": 25.4}
"""How much of each is an inch."""


def plot(
    context: typer.Context,
    results: ResultsFile,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="Write this picture: .pdf, .svg or .png.")
    ],
    kind: Annotated[
        PlotKind | None,
        typer.Option(
            help=f"Choose the plot: {', '.join(f'{kind} ({what})' for kind, (_, what) in KINDS.items())}.",
            metavar="KIND",
            show_default="pr; regions: f, label maps: images",
        ),
    ] = None,
    intervals: Annotated[float | None, INTERVALS] = None,
    replicates: Annotated[int, REPLICATES] = 2000,
    seed: Annotated[int, SEED] = 0,
    size: Annotated[
        str | None,
        typer.Option(
            metavar="WIDTHxHEIGHT",
            help="Set the size in inches, or in cm or mm: 3.5x3 or 84x70mm for one column of a paper.",
            show_default="that of Matplotlib",
        ),
    ] = None,
    only: Annotated[str | None, ONLY] = None,
    class_name: Annotated[str | None, CLASS] = None,
) -> None:
    """Draw all methods in a results file."""
    from segbench.report.plots.saving import save_plot
    from segbench.statistics.intervals import few_images

    compares = kind is not None and kind_of(kind).compares
    if intervals is None and not compares:
        refuse_idle(context, "add --intervals 95")
    level = None if intervals is None else interval_settings(intervals)["level"]
    inches = None if size is None else _inches(size)
    loaded = chosen_results(results, only, class_name)
    if compares:
        loaded = comparable(loaded)
    drawn = save_plot(loaded, output, kind=kind, level=level, replicates=replicates, seed=seed, size=inches)
    if level is not None and drawn.level == "band":
        typer.echo(f"bands: {intervals:g} % of {replicates} resamples of the images, point by point", err=True)
    if level is not None or compares:
        for note in dict.fromkeys(note for result in loaded for note in few_images(len(result.counts))):
            typer.echo(note, err=True)
    typer.echo(f"written: {output}", err=True)


def _inches(text: str) -> tuple[float, float]:
    """Read ``WIDTHxHEIGHT`` with a unit behind both or behind each, inches where there is none."""
    units = "|".join(_UNITS)
    found = re.fullmatch(rf"([\d.]+) ?({units})?x([\d.]+) ?({units})?", text.lower())
    try:
        width, one, height, other = found.groups() if found else ()
        sides = float(width) / _UNITS[one or other or "in"], float(height) / _UNITS[other or one or "in"]
    except ValueError:
        sides = 0.0, 0.0
    if not all(1 <= side <= 100 for side in sides):
        raise ArgumentError(f"--size {text!r} is not a size from 1 to 100 inches; write 3.5x3, 84x70mm or 8.4x7cm")
    return sides
