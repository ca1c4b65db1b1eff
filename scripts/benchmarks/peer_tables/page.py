"""The pages of the benchmarks: templates of what holds for every run; tables, sentences and pictures of this one."""

from __future__ import annotations

import importlib.util
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from measuring import MIB, duration, factor, markdown

from peer_tables import boundaries, labels, pixels, regions, saliency
from peer_tables.contests import Contest, Effort, Stored
from segbench.aggregator.writing import write_file
from segbench.core.grouping import grouped
from segbench.drawing.palette import COLOURS, GUIDE

_TEMPLATES = Path(__file__).with_name("pages")
_BEGINS, _ENDS = "<!-- measured begins -->", "<!-- measured ends -->"
_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
_FASTEST = "The fastest other call took, in segbench's processor time: "
_NOT_MEASURED = "Not measured in this run."
HINT = "give another folder with --write"
_PICTURE_KIB = 60
_MARKERS = "osD^v<>phX*dP"
_ALIKE = 0.05
"""Share by which two measurements may differ and still count as the same."""


def largest_difference(theirs: Sequence[float], ours: Sequence[float]) -> str:
    """Write how far an answer is from ours."""
    off = float(np.abs(np.subtract(theirs, ours)).max())
    return f"{off:.0e}" if off else "same"


class Subject(NamedTuple):
    """A page of its own."""

    contests: Callable[[Effort], Iterator[Contest]]
    difference: Callable[[Sequence[float], Sequence[float]], str] = largest_difference
    metrics: Callable[[Sequence[Stored]], str] | None = None
    memory: bool = False  # whether to compare what the programs take


SUBJECTS: Mapping[str, Subject] = {
    "pixels": Subject(pixels.contests, memory=True),
    "labels": Subject(labels.contests),
    "boundaries": Subject(boundaries.contests, boundaries.difference, boundaries.metrics),
    "saliency": Subject(saliency.contests),
    "regions": Subject(regions.contests),
}


def write(measured: Path, pages: Path) -> None:
    """Write the index, and the page and picture of each subject measured; the other pages keep what they show."""
    stored = [Stored.read(path) for path in sorted(measured.glob("*.json"))]
    fastest = {}
    for name, subject in SUBJECTS.items():
        contests = sorted(
            (contest for contest in stored if contest.subject == name), key=lambda contest: contest.position
        )
        page = page_of(pages, name)
        shown = _measured_part(page)
        if contests:
            picture = picture_of(pages, name)
            draw(contests, picture)
            metrics = [subject.metrics(contests)] if subject.metrics else []
            alt = f"How many times as long as segbench other programs take, {name}"
            lines = f"{findings(contests, subject)}\n{run_of(contests)}"
            shown = "\n\n".join([f"![{alt}](../images/{picture.name})", lines, table(contests, subject), *metrics])
        _fill(page, {"measured": f"{_BEGINS}\n\n{shown}\n\n{_ENDS}"})
        fastest[name] = shown.partition(_FASTEST)[2].partition(".\n")[0] or _NOT_MEASURED
    _fill(page_of(pages, "index"), fastest)


def _measured_part(page: Path) -> str:
    """Return what a page shows of the last measurement."""
    text = page.read_text() if page.exists() else ""
    return text.partition(_BEGINS)[2].partition(_ENDS)[0].strip() or _NOT_MEASURED


def _fill(page: Path, values: Mapping[str, str]) -> None:
    """Write a page from its template."""
    text = _PLACEHOLDER.sub(lambda match: values[match[1]], (_TEMPLATES / page.name).read_text())
    write_file(page, text.encode(), hint=HINT, make_folder=True)


def page_of(pages: Path, subject: str) -> Path:
    """Return the path of the page of a subject, or of their index."""
    return pages / f"{subject}.md"


def picture_of(pages: Path, subject: str) -> Path:
    """Return the path of the picture of a subject, beside the folder of the pages."""
    return pages.parent / "images" / f"benchmark-{subject}.png"


def run_of(contests: Sequence[Stored]) -> str:
    """Say when, where and with which programs a subject was measured; refuse to mix machines and versions."""
    for name in ("hardware", "versions"):
        known = sorted({getattr(contest, name) for contest in contests})
        if len(known) != 1:
            raise SystemExit(f"expected contests with one {name}, found {known}: measure again into an empty folder")
    loads = [load for contest in contests for load in contest.load]
    return (
        f"- Measured {min(contest.began for contest in contests)} to {max(contest.ended for contest in contests)}, on "
        f"{contests[0].hardware}, load average {min(loads):.1f} to {max(loads):.1f}, with {contests[0].versions}. "
        f"{on_gpu()}"
    )


def on_gpu() -> str:
    """Say that nothing was measured on a GPU, and why."""
    if importlib.util.find_spec("torch"):
        import torch

        if torch.cuda.is_available():
            return "Nothing was measured on the GPU of this machine."
    return "Nothing was measured on a GPU, because the machine has none."


def findings(contests: Sequence[Stored], subject: Subject) -> str:
    """Say who was faster, who took less memory and what did not finish, as the tables show it."""
    times = {(contest.title, name): contest.ratio(name) for contest in contests for name in contest.peers}
    lines = [] if not times else [beside_fastest(contests), compared("processor time", times)]
    if subject.memory:
        memory = {
            (contest.title, name): max(cell.memory, MIB) / max(contest.ours.memory, MIB)
            for contest in contests
            for name, cell in contest.peers.items()
        }
        lines += [compared("memory", memory)] if memory else []
    cells = ((contest.title, name, cell.missing) for contest in contests for name, cell in contest.cells.items())
    stopped = grouped((f"{name} did not finish ({why})", title) for title, name, why in cells if why)
    lines += [f"{name}: {'; '.join(where)}." for name, where in stopped.items()]
    return "\n".join(f"- {line}" for line in lines)


def beside_fastest(contests: Sequence[Stored]) -> str:
    """Say how long the fastest of all other calls took in each comparison, whichever program it was."""
    fastest = [min((contest.ratio(name), name) for name in contest.peers) for contest in contests if contest.peers]
    programs = [
        f"{name} {_range(ratios)} times ({len(ratios)} of {len(fastest)} comparisons)"
        for name, ratios in grouped((name, ratio) for ratio, name in fastest).items()
    ]
    return f"{_FASTEST}{', '.join(programs)}."


def _range(ratios: Sequence[float]) -> str:
    least, most = (factor(ratio).removesuffix(" x") for ratio in (min(ratios), max(ratios)))
    return least if least == most else f"{least} to {most}"


def compared(quantity: str, ratios: Mapping[tuple[str, str], float]) -> str:
    """Say in how many comparisons segbench took less, by how much, and list those in which it did not."""
    less = [ratio for ratio in ratios.values() if ratio > 1 + _ALIKE]
    others = {key: ratio for key, ratio in ratios.items() if ratio <= 1 + _ALIKE}
    of_all = f"{len(less)} of {len(ratios)} comparisons" if others else "every comparison"
    sentence = f"segbench took less {quantity} in {of_all}"
    if less:
        sentence += f"; {'there ' if others else ''}the other programs took {_range(less)} times as much"
    alike = {
        key: "as much" if ratio >= 1 - _ALIKE else f"{_range([ratio])} times as much" for key, ratio in others.items()
    }
    for who, rows in grouped((f"{name} took {much}", row) for (row, name), much in alike.items()).items():
        sentence += f". {who} for {'; '.join(rows)}"
    return f"{sentence}."


def table(contests: Sequence[Stored], subject: Subject) -> str:
    """Lay out a row per program: times, ratio, what memory took where it is compared, and how far the answer is."""
    of_memory = ["first call", "memory"] if subject.memory else []
    header = ["", "program", "processor", "wall", "times segbench", *of_memory, "difference"]
    rows = []
    for contest in contests:
        for position, (name, cell) in enumerate(contest.cells.items()):
            row = ["" if position else contest.title, name]
            if cell.missing or not cell.processor:
                rows.append([*row, cell.missing, *[""] * (len(header) - 3)])
                continue
            row += [_least_and_median(cell.processor), _least_and_median(cell.wall)]
            row.append(factor(contest.ratio(name)).removesuffix(" x") if position else "")
            if subject.memory:
                row += [duration(float(np.median(cell.first))), f"{cell.memory / MIB:.0f} MiB"]
            rows.append([*row, subject.difference(cell.values, contest.ours.values) if position else ""])
    return markdown(header, rows)


def _least_and_median(seconds: Sequence[float]) -> str:
    least, median = duration(min(seconds)), duration(float(np.median(seconds)))
    return least if len(seconds) == 1 else f"{least}, {median}"


def draw(contests: Sequence[Stored], path: Path) -> None:
    """Draw how many times as long as segbench the programs take: a row per contest, a mark per program."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    names = list(dict.fromkeys(name for contest in contests for name in contest.peers))
    figure = Figure(figsize=(7.2, 1.1 + 0.34 * len(contests)), layout="constrained")
    axes = figure.add_subplot()
    for position, name in enumerate(names):
        points = [(contest.ratio(name), row) for row, contest in enumerate(contests) if name in contest.peers]
        colour = COLOURS[1 + position % (len(COLOURS) - 1)]
        style = {"color": colour, "marker": _MARKERS[position], "linestyle": "none", "markersize": 6}
        axes.plot(*zip(*points, strict=True), label=name, **style)
    axes.axvline(1, color=COLOURS[0], linewidth=2, label="segbench")
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    axes.set_xlim(min(low, 0.8), high)
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 50 else (1,)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_yticks(range(len(contests)), [contest.title for contest in contests], fontsize=8)
    axes.set_ylim(len(contests) - 0.5, -0.5)
    axes.grid(axis="both", color=GUIDE, alpha=0.25)
    axes.set_xlabel("processor time, times segbench's (log axis)", fontsize=9)
    figure.legend(loc="outside upper center", ncols=3, fontsize=8, frameon=False)
    file = io.BytesIO()
    figure.savefig(file, dpi=100, metadata={"Software": "segbench"}, pil_kwargs={"optimize": True})
    size = len(file.getvalue())
    if size > _PICTURE_KIB * 1024:
        raise SystemExit(f"{path}: {size} bytes, expected at most {_PICTURE_KIB} KiB: draw fewer rows")
    write_file(path, file.getvalue(), hint=HINT, make_folder=True)
