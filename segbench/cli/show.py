"""``segbench show``: the figures of a results file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from segbench.cli.choices import Form, print_results


def show(
    results: Annotated[Path, typer.Argument(help="Results file, as written by segbench run -o.")],
    form: Annotated[Form, typer.Option("--format", help="How to print the figures.")] = Form.TABLE,
    per_image: Annotated[bool, typer.Option("--per-image", help="A line for each image and method.")] = False,
) -> None:
    """Print the figures of a results file."""
    from segbench.aggregator.benchmark import load_results

    print_results(load_results(results), form, per_image=per_image)
