"""``segbench verify``: recomputes published numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from segbench.cli.check import ReportForm
from segbench.cli.progress import PROGRESS, Progress, progress_of
from segbench.cli.workers import Jobs, Workers


def verify(
    bsds500: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Also check BSDS500, unpacked in this folder."),
    ] = None,
    curves: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Also check the published curves in this folder: METHOD_bdry_thr.txt, METHOD_bdry.txt."
        ),
    ] = None,
    saliency: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Also check the saliency maps in this folder: ground_truth, predictions/METHOD, *_per_image.csv.",
        ),
    ] = None,
    form: Annotated[ReportForm, typer.Option("--format", help="Choose how the checks are printed.")] = ReportForm.TABLE,
    jobs: Jobs = None,
    progress: Annotated[Progress, PROGRESS] = Progress.AUTO,
) -> None:
    """Recompute published numbers, and print what was expected and found.

    Examples of papers and the demo's table are checked on the data that ship. The exit code is 1 if one differs.
    """
    from rich.console import Console

    from segbench.verification.checks import Check
    from segbench.verification.terminal import checks_json, show_part, show_verdict
    from segbench.verification.verifying import parts

    wanted = parts(bsds500=bsds500, curves=curves, saliency=saliency)
    images = max(part.images for part in wanted)
    console = Console()
    checks: list[Check] = []
    with Workers(jobs=jobs if images else 1).open((), images) as executor:
        for part in wanted:
            with progress_of("verify", progress) as tally:
                found = part.checks(executor, tally)
            if form is ReportForm.TABLE:
                show_part(found, console)
            checks += found
    if form is ReportForm.TABLE:
        show_verdict(checks, console)
    else:
        typer.echo(checks_json(checks), nl=False)
    if any(check.state == "off" for check in checks):
        raise typer.Exit(1)
