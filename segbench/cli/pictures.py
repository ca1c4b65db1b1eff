"""Verbs that draw a results file: ``plot``, ``report``, ``overlay``."""

from __future__ import annotations

from dataclasses import MISSING, dataclass
from pathlib import Path

import click

from segbench.cli.counting import Jobs, Workers
from segbench.cli.printing import Shown, progress_of
from segbench.cli.selection import Grouped, Leveled, OneClass, OneFile, comparable
from segbench.core.errors import ArgumentError
from segbench.core.options import option
from segbench.report.plots.kinds import KINDS, kind_of

_WORTH_PAIRS = 5
"""Drawing an image for the page takes as long as counting this many."""


@dataclass(frozen=True, kw_only=True)
class Plot(OneClass, OneFile, Grouped, Leveled):
    """``segbench plot``."""

    output: Path | None = option(
        "Write this picture: .pdf, .svg or .png.", flag="-o --output", shown="KIND.pdf, such as pr.pdf"
    )
    kind: str | None = option(
        f"Choose the plot: {', '.join(f'{kind} ({what})' for kind, (_, what) in KINDS.items())}.",
        choices=tuple(KINDS),
        metavar="KIND",
        shown="pr; regions: f, label maps: images",
    )
    size: str | None = option(
        "Set the size in inches: 3.5x3 for one column of a paper.",
        metavar="WIDTHxHEIGHT",
        shown="that of Matplotlib",
    )

    def __call__(self) -> None:
        from segbench.aggregator.writing import refuse_place
        from segbench.report.plots.saving import save_plot, usual_kind
        from segbench.statistics.intervals import few_images

        compares = self.kind is not None and kind_of(self.kind).compares
        level, size = self.level, None if self.size is None else _inches(self.size)
        loaded = self.chosen(self.class_name)
        loaded = self.means(comparable(loaded)) if compares else self.whole(loaded)
        output = self.output or Path(f"{self.kind or usual_kind(loaded)}.pdf")
        refuse_place(output)
        drawn = save_plot(loaded, output, kind=self.kind, level=level, size=size)
        if self.intervals is not None and drawn.level == "band":
            click.echo(f"shaded: pointwise {self.intervals:g} % bootstrap bands over images", err=True)
        if self.intervals is not None or compares:
            for note in dict.fromkeys(note for result in loaded for note in few_images(len(result.counts))):
                click.echo(note, err=True)
        click.echo(f"written: {output}", err=True)


def _inches(text: str) -> tuple[float, float]:
    """Read ``WIDTHxHEIGHT``."""
    try:
        width, height = map(float, text.split("x"))
    except ValueError:
        width = height = 0.0
    if not (1 <= width <= 100 and 1 <= height <= 100):
        raise ArgumentError(f"--size {text!r} is not a size from 1 to 100 inches; write 3.5x3")
    return width, height


@dataclass(frozen=True, kw_only=True)
class Report(OneClass, OneFile, Grouped, Shown, Jobs, Leveled):
    """``segbench report``."""

    output: Path = option("Write this page: .html.", Path("report.html"), flag="-o --output")
    images: str | None = option(
        "Show the photographs of this folder, archive or URL, named as the images.", metavar="FOLDER"
    )
    title: str | None = option("Set the heading of the page.", rare=True)
    panels: int | None = option(
        "Draw this many images: those of the gallery, then the worst.",
        shown="as many as keep the page below 6 MB",
        least=0,
        rare=True,
    )
    paths: bool = option("Show the paths of files, which the page otherwise hides for blind review.", False, rare=True)
    intervals: float | None = option("Set the confidence level of intervals and bands.", metavar="PERCENT", shown="95")
    no_intervals: bool = option("Leave out intervals, bands and the comparison.", False, rare=True)

    def __call__(self) -> None:
        from segbench.aggregator.writing import refuse_place
        from segbench.report.page.document import export_report

        refuse_place(self.output)
        loaded = self.of_group(self.chosen(self.class_name, partial=True))
        counted = [len(result.counts) for result in loaded]
        pictures = sum(counted) if self.panels is None else sum(min(self.panels, images) for images in counted)
        workers = Workers(jobs=self.jobs).open((), _WORTH_PAIRS * pictures)
        with workers as executor, progress_of("pictures", self.progress) as tally:
            missing = export_report(
                loaded,
                self.output,
                title=self.title,
                group_by=(self.group_by or "") if self.group is None else "none",
                intervals=None if self.no_intervals else self.level or 0.95,
                images=self.images,
                most_panels=self.panels,
                paths=self.paths,
                executor=executor,
                progress=tally,
            )
        for line in missing:
            click.secho(line, fg="yellow", err=True)
        click.echo(f"written: {self.output} ({self.output.stat().st_size / 1e6:.1f} MB)", err=True)


@dataclass(frozen=True, kw_only=True)
class Overlay(OneFile, Shown):
    """``segbench overlay``."""

    output: Path = option(
        "Write the pictures to this folder, one folder per method.", MISSING, flag="-o --output", metavar="DIR"
    )
    threshold: float | None = option("Draw at this threshold.", shown="each method's best over all images")
    image: tuple[str, ...] = option("Draw only this image; may be given several times.", (), metavar="NAME")
    classes: bool = option("Draw the classes of label maps, ground truth and prediction, beside the errors.", False)

    def __call__(self) -> None:
        from segbench.aggregator.rereading import best_cut, why_no_pictures
        from segbench.core.metric import best_threshold
        from segbench.core.numbers import number
        from segbench.drawing.palette import class_colours
        from segbench.report.overlays import export_overlays, legend

        threshold, classes, output = self.threshold, self.classes, self.output
        found = self.chosen()
        chosen = [result for result in found if not why_no_pictures(result)] or found
        for result in found:
            if result not in chosen:
                click.echo(f"{result.method}: left out, since it {why_no_pictures(result)}", err=True)
        with progress_of("overlays", self.progress) as tally:
            problems = export_overlays(
                chosen, output, threshold=threshold, names=self.image, classes=classes, progress=tally
            )
        for problem in problems:
            click.secho(problem, fg="red", err=True)
        for result in chosen if threshold is None and not classes else ():
            if (metric := best_threshold(result.rules.metrics())) is not None:
                click.echo(f"{result.method}: at threshold {number(best_cut(result))} ({metric.key})", err=True)
        if classes:
            for names, colours in {tuple(one.classes): class_colours(len(one.classes)) for one in chosen}.items():
                listed = (f"{colour}: {name}" for name, colour in zip(names, colours, strict=True))
                click.echo(", ".join(listed), err=True)
        for protocol in {result.protocol: result.rules for result in chosen if not classes}.values():
            click.echo(f"{protocol.name} in {output}: {legend(protocol)}", err=True)
        if problems:
            raise click.exceptions.Exit(1)
