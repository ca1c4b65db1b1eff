"""``segbench plot``: the curves of a results file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from segbench.cli.choices import PlotKind
from segbench.cli.resampling import INTERVALS, REPLICATES, SEED, interval_settings
from segbench.cli.selection import CLASS, ONLY, chosen_results


def plot(
    results: Annotated[Path, typer.Argument(help="Results file, as written by segbench run -o.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Picture to write: .pdf, .svg or .png.")],
    kind: Annotated[PlotKind, typer.Option(help="Precision-recall, or ROC.")] = PlotKind.PR,
    intervals: Annotated[float | None, INTERVALS] = None,
    replicates: Annotated[int, REPLICATES] = 2000,
    seed: Annotated[int, SEED] = 0,
    only: Annotated[str | None, ONLY] = None,
    class_name: Annotated[str | None, CLASS] = None,
) -> None:
    """Draw the pooled curves of all methods in a results file."""
    from segbench.curves.resampling import notes_on
    from segbench.report.plots import save_plot

    band = None if intervals is None else interval_settings(intervals)["level"]
    loaded = chosen_results(results, only, class_name)
    save_plot(loaded, output, kind=kind.value, band=band, replicates=replicates, seed=seed)
    if band is not None:
        typer.echo(f"bands: {intervals:g} % of {replicates} replicates over images, point by point", err=True)
        for note in dict.fromkeys(note for result in loaded for note in notes_on(len(result.counts))):
            typer.echo(note, err=True)
    typer.echo(f"written: {output}", err=True)
