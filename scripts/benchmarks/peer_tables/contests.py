"""A contest: several programs do the same work in turn, each in a process of its own on one core. Kept as JSON."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from measuring import GIB, hardware, times_as_long, today, versions

from peer_tables.programs import PACKAGES, Program
from peer_tables.workers import Job, Limits, Measured, Worker
from segbench.aggregator.writing import write_file

BUDGET = 12.0
"""Seconds after which a program does not repeat its work."""
_MEMORY = 14 * GIB


@dataclass(frozen=True)
class Effort:
    """How much to measure, and a folder for arrays that are made for it."""

    quick: bool
    scratch: Path


@dataclass(frozen=True)
class Way:
    """How one program does the work; the function must be importable."""

    program: Program
    work: Callable[..., Any]
    name: str = ""

    @property
    def title(self) -> str:
        """Its name in tables."""
        return self.name or self.program.name


@dataclass(frozen=True)
class Contest:
    """Work that all programs do, segbench first; functions must be importable.

    `load` reads the input from `arguments` and `values` reduces an answer to numbers; neither is timed. `warm` are
    arguments for a call before, which imports and compiles; by default the same.
    """

    title: str
    load: Callable[..., tuple[Any, ...]]
    arguments: tuple[Any, ...]
    ways: tuple[Way, ...]
    values: Callable[[Any], list[float]]
    warm: tuple[Any, ...] = ()
    images: int = 1  # times are divided by it
    seconds: float = 120.0  # limit of a call
    rounds: int = 5
    calls: int = 1  # of each program in a round, at least


@dataclass(frozen=True)
class Cell:
    """What one program took in each round, in seconds an image; its largest memory in bytes, and its answer.

    `first` is the processor time of the first call of each round. `missing` says why there is no answer.
    """

    processor: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    memory: int = 0
    values: list[float] = field(default_factory=list)
    missing: str = ""


@dataclass(frozen=True)
class Stored:
    """A contest that was measured: what it was, on what, and a cell for each program, segbench's first."""

    subject: str
    position: int  # among the contests of the subject
    title: str
    began: str
    ended: str
    load: tuple[float, float]  # averages of the last minute, before and after
    hardware: str
    versions: str
    cells: dict[str, Cell]

    @property
    def ours(self) -> Cell:
        """What segbench took."""
        return next(iter(self.cells.values()))

    @property
    def peers(self) -> dict[str, Cell]:
        """The cells of the other programs that finished."""
        return {name: cell for name, cell in list(self.cells.items())[1:] if cell.processor}

    def ratio(self, name: str) -> float:
        """How many times as long as segbench a program took, in processor time; the median over the rounds."""
        return times_as_long(self.cells[name].processor, self.ours.processor)

    def file(self, folder: Path) -> Path:
        """Name the file that keeps it."""
        return file_of(folder, self.subject, self.title)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a file that `run` wrote."""
        fields = json.loads(path.read_text())
        cells = {name: Cell(**cell) for name, cell in fields.pop("cells").items()}
        return cls(**fields | {"load": tuple(fields["load"])}, cells=cells)


def file_of(folder: Path, subject: str, title: str) -> Path:
    """Name the file that keeps a contest."""
    return folder / f"{subject}-{re.sub('[^a-z0-9]+', '-', title.lower())}.json"


def run(subject: str, contests: Sequence[Contest], folder: Path) -> None:
    """Measure the contests that are not in the folder yet, and keep each in a file of its own."""
    with ExitStack() as stack:
        workers: dict[str, Worker] = {}
        for position, contest in enumerate(contests):
            path = file_of(folder, subject, contest.title)
            if path.exists():
                continue
            for way in contest.ways:
                if not way.program.missing and way.title not in workers:
                    workers[way.title] = stack.enter_context(Worker())
            began, load = today(), os.getloadavg()[0]
            cells = measure(contest, workers)
            stored = Stored(
                subject,
                position,
                contest.title,
                began,
                today(),
                (load, os.getloadavg()[0]),
                hardware(),
                versions(PACKAGES),
                cells,
            )
            write_file(path, json.dumps(asdict(stored), indent=1).encode(), hint="give another folder with --raw")
            print(f"{today()} {subject}: {contest.title}", flush=True)


def measure(contest: Contest, workers: dict[str, Worker]) -> dict[str, Cell]:
    """Let the programs take turns, round by round; each ends once it has taken its budget, or failed."""
    ways = {way.title: way for way in contest.ways if way.title in workers}
    cells = {title: Cell() for title in ways}
    limits = Limits(contest.seconds, _MEMORY)
    for title, way in ways.items():
        workers[title].ask(Job(contest.load, contest.warm or contest.arguments, way.work, contest.values), limits)
    for _ in range(contest.rounds):
        for title, way in ways.items():
            cell = cells[title]
            if cell.missing or sum(cell.wall) * contest.images > BUDGET:
                continue
            job = Job(contest.load, contest.arguments, way.work, contest.values, contest.calls)
            answer = workers[title].ask(job, limits)
            if isinstance(answer, Measured):
                cells[title] = Cell(
                    [*cell.processor, answer.processor / contest.images],
                    [*cell.wall, answer.wall / contest.images],
                    [*cell.first, answer.first / contest.images],
                    max(cell.memory, answer.memory),
                    answer.values,
                )
            else:
                cells[title] = Cell(missing=answer.why)
    return cells
