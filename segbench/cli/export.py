"""``segbench export``: results in the files of others."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from segbench.cli.selection import ONLY, ResultsFile, chosen_results
from segbench.core.errors import ArgumentError


def export(
    results: ResultsFile,
    bsds: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write official files to this folder: *_ev1.txt, eval_bdry*.txt, eval_cover*.txt, eval_RI_VOI*.txt.",
        ),
    ] = None,
    csv: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write CSV files to this folder: metrics, per image, per threshold."),
    ] = None,
    only: Annotated[str | None, ONLY] = None,
) -> None:
    """Write results as the official text files, or as CSV."""
    from segbench.report.bsds import export_bsds
    from segbench.report.csv_files import export_csv

    if bsds is None and csv is None:
        raise ArgumentError("say what to write, and where: --bsds DIR or --csv DIR")
    loaded = chosen_results(results, only)
    for result in loaded:
        if result.failed and not result.counts:
            typer.echo(f"{result.method}: no image was counted, so it has no curve to write", err=True)
    for folder, write in ((bsds, export_bsds), (csv, export_csv)):
        if folder is not None:
            for path in write(loaded, folder):
                typer.echo(f"written: {path}", err=True)
