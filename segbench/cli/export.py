"""``segbench export``: results in the files of others."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from segbench.cli.selection import ONLY, ResultsFile, chosen_results


def export(
    results: ResultsFile,
    bsds: Annotated[
        Path,
        typer.Option(
            metavar="DIR",
            help="Write official files to this folder: *_ev1.txt, eval_bdry*.txt, eval_cover*.txt, eval_RI_VOI*.txt.",
        ),
    ],
    only: Annotated[str | None, ONLY] = None,
) -> None:
    """Write results as the text files of the official benchmark."""
    from segbench.report.bsds import export_bsds

    loaded = chosen_results(results, only)
    for result in loaded:
        if result.failed and not result.counts:
            typer.echo(f"{result.method}: no image was counted, so it has no curve to write", err=True)
    for path in export_bsds(loaded, bsds):
        typer.echo(f"written: {path}", err=True)
