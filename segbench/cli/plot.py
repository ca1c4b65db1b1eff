"""``segbench plot``: the curves of a results file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from segbench.cli.choices import PlotKind
from segbench.cli.resampling import INTERVALS, REPLICATES, SEED, interval_settings


def plot(
    results: Annotated[Path, typer.Argument(help="Results file, as written by segbench run -o.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Picture to write: .pdf, .svg or .png.")],
    kind: Annotated[PlotKind, typer.Option(help="Precision-recall, or ROC.")] = PlotKind.PR,
    intervals: Annotated[float | None, INTERVALS] = None,
    replicates: Annotated[int, REPLICATES] = 2000,
    seed: Annotated[int, SEED] = 0,
) -> None:
    """Draw the pooled curves of all methods in a results file."""
    from segbench.aggregator.benchmark import load_results
    from segbench.report.plots import save_plot

    band = None if intervals is None else interval_settings(intervals)["level"]
    save_plot(load_results(results), output, kind=kind.value, band=band, replicates=replicates, seed=seed)
    typer.echo(f"written: {output}", err=True)
