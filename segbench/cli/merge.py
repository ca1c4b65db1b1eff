"""``segbench merge``: several results files to one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def merge(
    results: Annotated[list[Path], typer.Argument(help="Results files, as written by segbench run -o.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Results file to write (.segbench).", show_default=False)
    ],
) -> None:
    """Put the runs of several results files into one.

    Images of one method that were counted in parts become one run.
    """
    from segbench.aggregator.merging import merge_results

    merge_results(results, output)
    typer.echo(f"kept in {output}: segbench show {output}, segbench plot {output} -o pr.pdf", err=True)
