"""``segbench demo``: the main job on the data that ship with the program."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from segbench.cli.run import run
from segbench.errors import DataError


def demo(
    context: typer.Context,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder to write to.")] = Path("segbench-demo"),
) -> None:
    """Benchmark four methods on nine photographs that ship.

    It prints their figures and draws their curves.
    """
    from segbench.aggregator.benchmark import load_results
    from segbench.loaders.shipped import shipped
    from segbench.report.saving import Kind, save_plot

    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(str(output), f"cannot be made ({error.strerror})", "give another folder with -o") from error
    data = shipped("demo") / "objects"
    methods = sorted(folder for folder in (data / "predictions").iterdir() if folder.is_dir())
    results = output / "results.segbench"
    typer.echo(f"segbench run {data / 'ground_truth'} {data / 'predictions'}/* -o {results}", err=True)
    run(context, str(data / "ground_truth"), [str(folder) for folder in methods], output=results)
    kinds: tuple[Kind, ...] = ("pr", "roc")
    for kind in kinds:
        picture = output / f"{kind}.png"
        save_plot(load_results(results), picture, kind=kind)
        typer.echo(f"written: {picture}", err=True)
