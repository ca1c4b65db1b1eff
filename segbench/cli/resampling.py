"""Options of the verbs that draw images anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

import typer

from segbench.cli.options import typed
from segbench.core.errors import ArgumentError

if TYPE_CHECKING:
    from segbench.statistics.intervals import IntervalMethod

INTERVALS = typer.Option(help="Bootstrap intervals over images that hold so many per cent: 95.", show_default=False)
REPLICATES = typer.Option(min=1, help="Bootstrap replicates.")
SEED = typer.Option(min=0, help="Seed of what is drawn.")
BCA = typer.Option("--bca", help="Bias-corrected and accelerated intervals instead of quantiles.")


class IntervalSettings(TypedDict):
    """Keywords of `Result.intervals`."""

    level: float
    replicates: int
    seed: int
    method: IntervalMethod


def interval_settings(per_cent: float, *, replicates: int = 2000, seed: int = 0, bca: bool = False) -> IntervalSettings:
    """Read options into keywords.

    Raises
    ------
    ArgumentError
        If the per cent are not between 0 and 100; 0.95 is taken for a slip, not for a level.
    """
    if not 1 <= per_cent < 100:
        raise ArgumentError(f"--intervals {per_cent:g} is no level in per cent; write 95")
    return {
        "level": per_cent / 100,
        "replicates": replicates,
        "seed": seed,
        "method": "bca" if bca else "percentile",
    }


def refuse_idle(context: typer.Context, where: str) -> None:
    """Refuse options that say how intervals are drawn where none are.

    Parameters
    ----------
    context : typer.Context
        Of the command, which knows what was typed.
    where : str
        What to write instead.

    Raises
    ------
    ArgumentError
        If such an option was typed.
    """
    idle = [f"--{name}" for name in ("bca", "replicates", "seed") if typed(context, name)]
    if idle:
        says = "says" if len(idle) == 1 else "say"
        raise ArgumentError(f"{' and '.join(idle)} {says} how intervals are drawn; {where}")
