"""``segbench verify``: what the program promises, derived anew before one's eyes."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from segbench.cli.check import ReportForm
from segbench.cli.progress import progress_bar
from segbench.cli.workers import Jobs

_LEAST_WORKERS = 2


def verify(
    bsds500: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where BSDS500 was unpacked: also its own examples and published figures."),
    ] = None,
    curves: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of METHOD_bdry_thr.txt and METHOD_bdry.txt: also published curves."),
    ] = None,
    form: Annotated[ReportForm, typer.Option("--format", help="How to print the checks.")] = ReportForm.TABLE,
    jobs: Jobs = None,
) -> None:
    """Derive known numbers anew; print expected and got.

    The papers' examples and what must hold of any data, from what ships; exit 1 if any is off.
    """
    from rich.console import Console

    from segbench.aggregator.pools import jobs_for, process_pool
    from segbench.verification.checks import Check
    from segbench.verification.terminal import checks_json, show_part, show_verdict
    from segbench.verification.verifying import parts

    wanted = parts(bsds500=bsds500, curves=curves)
    # That any number of workers counts alike takes at least two of them to show.
    workers = jobs or max(_LEAST_WORKERS, jobs_for(max(part.images for part in wanted), None))
    console = Console()
    checks: list[Check] = []
    with process_pool(workers) if workers > 1 else nullcontext() as executor:
        for part in wanted:
            with progress_bar("verify") as tally:
                derived = part.derive(executor, tally)
            if form is ReportForm.TABLE:
                show_part(derived, console)
            checks += derived
    if form is ReportForm.TABLE:
        show_verdict(checks, console)
    else:
        typer.echo(checks_json(checks), nl=False)
    if any(check.state == "off" for check in checks):
        raise typer.Exit(1)
