"""``segbench show``: the figures of a results file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from segbench.cli.choices import DIGITS, Form, Lines, print_results
from segbench.cli.resampling import BCA, INTERVALS, REPLICATES, SEED, interval_settings
from segbench.cli.selection import ONLY, chosen_results
from segbench.errors import ArgumentError


def show(
    results: Annotated[Path, typer.Argument(help="Results file, as written by segbench run -o.")],
    form: Annotated[Form, typer.Option("--format", help="How to print the figures.")] = Form.TABLE,
    per_image: Annotated[bool, typer.Option("--per-image", help="A line for each image and method.")] = False,
    per_threshold: Annotated[
        bool,
        typer.Option("--per-threshold", help="A line for each threshold of the pooled curve; all in csv and json."),
    ] = False,
    digits: Annotated[int | None, DIGITS] = None,
    intervals: Annotated[float | None, INTERVALS] = None,
    replicates: Annotated[int, REPLICATES] = 2000,
    seed: Annotated[int, SEED] = 0,
    bca: Annotated[bool, BCA] = False,
    only: Annotated[str | None, ONLY] = None,
) -> None:
    """Print the figures of a results file."""
    if bca and intervals is None:
        raise ArgumentError("--bca says how intervals are drawn; add --intervals 95")
    if per_image and per_threshold:
        raise ArgumentError("--per-image and --per-threshold are two tables; ask for one at a time")
    lines = Lines.IMAGE if per_image else Lines.THRESHOLD if per_threshold else Lines.METHOD
    if lines is not Lines.METHOD and intervals is not None and form is not Form.JSON:
        raise ArgumentError(f"--per-{lines} has no intervals, they are of figures over all images; ask for one of both")
    loaded = chosen_results(results, only)
    drawn = []
    if intervals is not None:
        settings = interval_settings(intervals, replicates=replicates, seed=seed, bca=bca)
        drawn = [result.intervals(**settings) for result in loaded]
    print_results(loaded, form, lines=lines, intervals=drawn, digits=digits)
