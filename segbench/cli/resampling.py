"""Options of the verbs that resample images."""

from __future__ import annotations

from typing import TypedDict

import typer

from segbench.cli.parameters import is_typed
from segbench.core.errors import ArgumentError
from segbench.core.numbers import verb

INTERVALS = typer.Option(
    metavar="PERCENT",
    help="Add intervals over images at this confidence level in percent: 95.",
    show_default=False,
)
REPLICATES = typer.Option(min=1, help="Set the number of resamples.")
SEED = typer.Option(min=0, help="Set the seed of the resamples.")


class IntervalSettings(TypedDict):
    """Keywords of `Result.intervals`."""

    level: float
    replicates: int
    seed: int


def interval_settings(per_cent: float, *, replicates: int = 2000, seed: int = 0) -> IntervalSettings:
    """Read options into keywords."""
    if not 1 <= per_cent < 100:
        raise ArgumentError(f"--intervals {per_cent:g} is not a confidence level in percent; write 95")
    return {"level": per_cent / 100, "replicates": replicates, "seed": seed}


def refuse_idle(context: typer.Context, where: str) -> None:
    """Refuse options that say how intervals are drawn where none are."""
    idle = [f"--{name}" for name in ("replicates", "seed") if is_typed(context, name)]
    if idle:
        raise ArgumentError(f"{' and '.join(idle)} {verb(len(idle), 'say')} how images are resampled; {where}")
