"""``segbench merge``: several results files to one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from segbench.cli.benchmark import print_saved
from segbench.core.numbers import many


def merge(
    results: Annotated[list[Path], typer.Argument(metavar="RESULTS", help="Results files, as written with -o.")],
    output: Annotated[
        Path,
        typer.Option("-o", "--output", metavar="FILE", help="Write this results file (.segbench).", show_default=False),
    ],
    leave_out: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Leave out this run, by its name in tables: 'net (invert:no)'; give it once per run.",
            show_default=False,
        ),
    ] = None,
    leave_out_unfinished: Annotated[
        bool, typer.Option("--leave-out-unfinished", help="Leave out incomplete runs instead of refusing them.")
    ] = False,
) -> None:
    """Put the runs of several results files into one.

    Images of one method that were counted in parts become one run.
    """
    from segbench.aggregator.merging import lacking, merge_results

    merged = merge_results(results, output, leave_out=leave_out or (), leave_out_unfinished=leave_out_unfinished)
    places: dict[str, None] = {}  # of the ground truth of runs that were put together
    for result in merged:
        images = "a published curve" if result.published else many(len(result.counts), "image")
        failed = f", {len(result.failed)} failed" if result.failed else ""
        parts = (result.inputs, *result.inputs.merged) if result.inputs else ()
        joined = f" of {len(parts)} parts" if len(parts) > 1 else ""
        if len(parts) > 1:
            places |= dict.fromkeys(part.pairs or part.ground_truth for part in parts)
        typer.echo(f"{result.method}: {images}{joined}{failed}  {result.signature}", err=True)
        if text := lacking(result):
            typer.secho(f"{result.method}: {text}", fg="yellow", err=True)
    if len(places) > 1:
        typer.echo(
            f"note: parts with different ground truth became one set: {', '.join(places)}. If these are different test "
            "sets, keep their files apart and show them side by side: segbench show A=FILE B=FILE",
            err=True,
        )
    print_saved(output)
