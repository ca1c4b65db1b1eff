"""Which runs of a results file a verb takes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from segbench.errors import ArgumentError

if TYPE_CHECKING:
    from segbench.aggregator.result import Result

ONLY = typer.Option(
    help="Only runs whose signature holds this, as in protocol:pixels or thresholds:9.", show_default=False
)


def chosen_results(path: Path, only: str | None) -> list[Result]:
    """Read the runs of a results file whose signature holds a text; all where none is asked for.

    Raises
    ------
    ArgumentError
        If no run's does: it lists the signatures there are.
    DataError
        If the file is none, or holds no complete run.
    """
    from segbench.aggregator.benchmark import load_results

    results = load_results(path)
    chosen = [result for result in results if only is None or only in result.signature]
    if not chosen:
        listed = "\n  ".join(dict.fromkeys(result.signature for result in results))
        raise ArgumentError(f"--only {only!r} is in no signature of {path}, which holds\n  {listed}")
    return chosen


def comparable(results: Sequence[Result]) -> list[Result]:
    """Give the results that can be compared image by image, and say which cannot."""
    left_out = [result.method for result in results if result.published or result.human]
    if left_out:
        typer.echo(f"not compared, being annotators or known from print: {', '.join(left_out)}", err=True)
    return [result for result in results if not (result.published or result.human)]
