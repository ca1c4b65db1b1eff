"""``segbench merge``: several results files to one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from segbench.cli.benchmark import print_saved


def merge(
    results: Annotated[list[Path], typer.Argument(metavar="RESULTS", help="Results files, as written with -o.")],
    output: Annotated[
        Path,
        typer.Option("-o", "--output", metavar="FILE", help="Results file to write (.segbench).", show_default=False),
    ],
    leave_out_unfinished: Annotated[
        bool, typer.Option("--leave-out-unfinished", help="Leave out incomplete runs instead of refusing them.")
    ] = False,
) -> None:
    """Put the runs of several results files into one.

    Images of one method that were counted in parts become one run.
    """
    from segbench.aggregator.merging import merge_results

    merged = merge_results(results, output, leave_out_unfinished=leave_out_unfinished)
    for result in merged:
        images = "a published curve" if result.published else f"{len(result.counts)} images"
        failed = f", {len(result.failed)} failed" if result.failed else ""
        parts = 1 + len(result.inputs.merged) if result.inputs else 1
        joined = f" of {parts} parts" if parts > 1 else ""
        typer.echo(f"{result.method}: {images}{joined}{failed}  {result.signature}", err=True)
    print_saved(output)
