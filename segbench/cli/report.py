"""``segbench report``: a results file as one page for a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from segbench.cli.progress import PROGRESS, Progress, progress_of
from segbench.cli.resampling import REPLICATES, SEED, interval_settings, refuse_idle
from segbench.cli.selection import CLASS, ONLY, ResultsFile, chosen_results
from segbench.cli.workers import Jobs, Workers

_WORTH_PAIRS = 5
"""Drawing an image takes as long as counting this many."""


def report(
    context: typer.Context,
    results: ResultsFile,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="Write this page: .html.")],
    images: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="Show the photographs of this folder, archive or URL, named as the images.",
            show_default=False,
        ),
    ] = None,
    title: Annotated[str | None, typer.Option(help="Set the heading of the page.", show_default=False)] = None,
    panels: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Draw this many images: those of the gallery, then the worst.",
            show_default="as many as keep the page below 25 MB",
        ),
    ] = None,
    paths: Annotated[
        bool, typer.Option("--paths", help="Show the paths of files, which the page otherwise hides for blind review.")
    ] = False,
    intervals: Annotated[
        float, typer.Option(metavar="PERCENT", help="Set the confidence level of intervals and bands.")
    ] = 95,
    no_intervals: Annotated[
        bool, typer.Option("--no-intervals", help="Leave out intervals, bands and the comparison.")
    ] = False,
    replicates: Annotated[int, REPLICATES] = 2000,
    seed: Annotated[int, SEED] = 0,
    jobs: Jobs = None,
    progress: Annotated[Progress, PROGRESS] = Progress.AUTO,
    only: Annotated[str | None, ONLY] = None,
    class_name: Annotated[str | None, CLASS] = None,
) -> None:
    """Write one page with tables, curves and pictures of the images.

    It is one HTML file for any browser, and needs no network.
    """
    from segbench.report.page.document import export_report

    if no_intervals:
        refuse_idle(context, "leave out --no-intervals")
    level = None if no_intervals else interval_settings(intervals)["level"]
    loaded = chosen_results(results, only, class_name, partial=True)
    counted = [result for result in loaded if result.counts]
    pictures = sum(len(result.counts) if panels is None else min(panels, len(result.counts)) for result in counted)
    workers = Workers(jobs=jobs).open((), _WORTH_PAIRS * pictures)
    with workers as executor, progress_of("pictures", progress) as tally:
        missing = export_report(
            loaded,
            output,
            title=title,
            intervals=level,
            replicates=replicates,
            seed=seed,
            images=images,
            most_panels=panels,
            paths=paths,
            executor=executor,
            progress=tally,
        )
    for line in missing:
        typer.secho(line, fg="yellow", err=True)
    typer.echo(f"written: {output} ({output.stat().st_size / 1e6:.1f} MB)", err=True)
