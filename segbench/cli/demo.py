"""``segbench demo``: the main job on the data that ship with the program."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from segbench.cli.benchmark import print_saved
from segbench.cli.choices import Form, print_results
from segbench.cli.command import stopping
from segbench.cli.counting import count_methods
from segbench.core.errors import DataError


def demo(
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Write to this folder.")] = Path(
        "segbench-demo"
    ),
) -> None:
    """Benchmark four methods on nine photographs that ship with segbench.

    It prints their metrics and draws their curves.
    """
    from segbench.loaders.inputs import Inputs
    from segbench.loaders.presets import shipped
    from segbench.protocols.files import find_files
    from segbench.protocols.pixels.settings import Pixels
    from segbench.report.plots.saving import save_plot

    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(str(output), f"cannot be made ({error.strerror})", "give another folder with -o") from error
    data = shipped("demo") / "objects"
    folders = sorted(folder for folder in (data / "predictions").iterdir() if folder.is_dir())
    where = {each.name: Inputs(ground_truth=str(data / "ground_truth"), prediction=str(each)) for each in folders}
    kept = output / "results.segbench"
    typer.echo(f"segbench pixels {data / 'ground_truth'} {data / 'predictions'}/* -o {kept}", err=True)
    with stopping(lambda: "to continue, repeat segbench demo"):
        pairings = {method: find_files(inputs, Pixels()) for method, inputs in where.items()}
        results = count_methods(pairings, Pixels(), output=kept)
    # Before the table: whoever reads it may have enough after a line, as head has.
    for kind in ("pr", "roc"):
        picture = output / f"{kind}.png"
        save_plot(results, picture, kind=kind)
        typer.echo(f"written: {picture}", err=True)
    print_results(results, Form.TABLE)
    print_saved(kept)
