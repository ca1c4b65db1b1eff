"""``segbench import``: results that others counted, beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from segbench.cli.benchmark import print_saved
from segbench.cli.choices import FORM, Form, print_results


def import_(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR",
            help="Folder with *_ev1.txt, eval_bdry*.txt, eval_cover*.txt or eval_RI_VOI*.txt, or with folders of them.",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Write this results file (.segbench), or add to it.",
            show_default=False,
        ),
    ],
    name: Annotated[str | None, typer.Option(help="Name the method.", show_default="the name of its folder")] = None,
    form: Annotated[Form, FORM] = Form.TABLE,
) -> None:
    """Read results of the official benchmarks.

    Tables and plots then show them beside our own.
    """
    from segbench.aggregator.importing import import_bsds

    print_results(import_bsds(folder, method=name, results=output), form)
    print_saved(output)
