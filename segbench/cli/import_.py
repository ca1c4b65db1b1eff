"""``segbench import``: results that others counted, beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from segbench.cli.choices import Form, print_results
from segbench.cli.run import tell_kept


def import_(
    folder: Annotated[
        Path,
        typer.Argument(
            help="Folder with *_ev1.txt, eval_bdry*.txt, eval_cover*.txt or eval_RI_VOI*.txt, or with folders of them."
        ),
    ],
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help="Results file to write, or to add to (.segbench).", show_default=False),
    ],
    name: Annotated[str | None, typer.Option(help="Name of the method [default: that of its folder].")] = None,
    form: Annotated[Form, typer.Option("--format", help="How to print the figures.")] = Form.TABLE,
) -> None:
    """Read results of the official benchmarks.

    They then stand beside ours in tables and plots.
    """
    from segbench.aggregator.importing import import_bsds

    print_results(import_bsds(folder, method=name, results=output), form)
    tell_kept(output)
