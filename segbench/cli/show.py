"""``segbench show``: the figures of a results file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from segbench.cli.choices import Form, print_results
from segbench.cli.resampling import BCA, INTERVALS, REPLICATES, SEED, interval_settings
from segbench.cli.selection import CLASS, ONLY, chosen_results
from segbench.errors import ArgumentError


def show(
    results: Annotated[Path, typer.Argument(help="Results file, as written by segbench run -o.")],
    form: Annotated[Form, typer.Option("--format", help="How to print the figures.")] = Form.TABLE,
    per_image: Annotated[bool, typer.Option("--per-image", help="A line for each image and method.")] = False,
    per_class: Annotated[bool, typer.Option("--per-class", help="A line for each class and method.")] = False,
    class_name: Annotated[str | None, CLASS] = None,
    intervals: Annotated[float | None, INTERVALS] = None,
    replicates: Annotated[int, REPLICATES] = 2000,
    seed: Annotated[int, SEED] = 0,
    bca: Annotated[bool, BCA] = False,
    only: Annotated[str | None, ONLY] = None,
) -> None:
    """Print the figures of a results file."""
    if bca and intervals is None:
        raise ArgumentError("--bca says how intervals are drawn; add --intervals 95")
    if per_image and intervals is not None and form is not Form.JSON:
        raise ArgumentError("--per-image has no intervals, for one image has nothing to draw from; ask for one of both")
    if per_image and per_class:
        raise ArgumentError("--per-image and --per-class are two tables; for the images of one class add --class NAME")
    loaded = chosen_results(results, only, class_name)
    drawn = []
    if intervals is not None:
        settings = interval_settings(intervals, replicates=replicates, seed=seed, bca=bca)
        drawn = [result.intervals(**settings) for result in loaded]
    print_results(loaded, form, per_image=per_image, per_class=per_class, intervals=drawn)
