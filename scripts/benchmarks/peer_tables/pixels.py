"""Pixel curves and areas, from a million pixels to a hundred million: time, memory and numbers beside the peers'.

Each program has a process of its own for each size, which loads the arrays again before every call. Rounds go through
the programs in turn. A call that the size before says is beyond the limit is not tried.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from measuring import MIB, duration, factor, markdown, times_as_long
from numpy.typing import NDArray

from peer_tables.pixel_programs import CONTESTANTS, OURS, at_levels
from peer_tables.workers import Job, Limits, Measured, Worker

KINDS = ("float32", "8-bit")
_CHUNK = 10**7


@dataclass(frozen=True)
class Effort:
    """How long to try: limits of a call, and rounds, which end for a cell once it has taken `budget` seconds."""

    limits: Limits
    budget: float
    rounds: int = 5


@dataclass(frozen=True)
class Cell:
    """One place of the table: seconds of each round, most bytes, and the answer; or why there is none."""

    seconds: tuple[float, ...] = ()
    memory: int = 0
    values: tuple[float, ...] = ()
    missing: str = ""

    def plus(self, one: Measured) -> Cell:
        """Add a round."""
        return Cell((*self.seconds, one.seconds), max(self.memory, one.memory), tuple(one.values))


@dataclass(frozen=True, order=True)
class Row:
    """What is compared: so many pixels with scores of a kind, and what is asked for."""

    size: int
    kind: str
    work: str


Table = dict[Row, dict[str, Cell]]


def load(folder: str, kind: str) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    """Read the arrays."""
    return np.load(Path(folder) / "labels.npy"), np.load(Path(folder) / f"{kind}.npy")


def do(name: str, work: str, labels: NDArray[np.bool_], scores: NDArray[Any]) -> Any:  # noqa: ANN401 - what it gives
    """Do the work with the contestant of that name."""
    return next(c for c in CONTESTANTS if c.name == name).answer(work)(labels, scores)


def write_arrays(folder: Path, size: int) -> Path:
    """Write labels, a tenth of them positive, and scores: two overlapping bells, cut at 0 and 1."""
    rng = np.random.default_rng(0)
    labels, soft = np.empty(size, np.bool_), np.empty(size, np.float32)
    for start in range(0, size, _CHUNK):
        part = slice(start, min(size, start + _CHUNK))
        labels[part] = rng.random(labels[part].size, np.float32) < 0.1
        bell = rng.standard_normal(labels[part].size, np.float32) * np.float32(0.2) + np.float32(0.3)
        soft[part] = np.clip(bell + np.float32(0.3) * labels[part], 0, 1)
    folder.mkdir(parents=True)
    np.save(folder / "labels.npy", labels)
    np.save(folder / "float32.npy", soft)
    np.save(folder / "8-bit.npy", np.rint(soft * 255).astype(np.uint8))
    return folder


def measure(root: Path, sizes: Sequence[int], works: Sequence[str], effort: Effort) -> Table:
    """Measure all rows."""
    table: Table = {}
    warm = write_arrays(root / "warm", 1000)
    for size in sizes:
        folder = write_arrays(root / str(size), size)
        with ExitStack() as stack:
            workers = {c.name: stack.enter_context(Worker()) for c in CONTESTANTS if not c.program.missing}
            for row in (Row(size, kind, work) for kind in KINDS for work in works):
                cells = {name: _hopeless(table, row, name, effort.limits) or Cell() for name in workers}
                _warm_up(workers, cells, warm, row)
                table[row] = _in_rounds(workers, cells, folder, row, effort)
                print(
                    f"{size:.0e} {row.kind} {row.work}:",
                    *(f"{k} {shown(c)};" for k, c in table[row].items()),
                    flush=True,
                )
        for path in folder.iterdir():
            path.unlink()
    return table


def _job(name: str, row: Row, folder: Path) -> Job:
    return Job(load, (str(folder), row.kind), partial(do, name, row.work), partial(at_levels, name, row.work, row.kind))


def _warm_up(workers: Mapping[str, Worker], cells: Mapping[str, Cell], warm: Path, row: Row) -> None:
    """Import, and load compiled code, before anything is timed."""
    for name, worker in workers.items():
        if not cells[name].missing:
            worker.ask(_job(name, row, warm), Limits(600, 2**40))


def _in_rounds(
    workers: Mapping[str, Worker], cells: dict[str, Cell], folder: Path, row: Row, effort: Effort
) -> dict[str, Cell]:
    for _ in range(effort.rounds):
        for name, worker in workers.items():
            if not cells[name].missing and sum(cells[name].seconds) < effort.budget:
                answer = worker.ask(_job(name, row, folder), effort.limits)
                cells[name] = cells[name].plus(answer) if isinstance(answer, Measured) else Cell(missing=answer.why)
    return cells


def _hopeless(table: Table, row: Row, name: str, limits: Limits) -> Cell | None:
    """Tell from the next smaller size that a call would pass the limit: time and memory grow at least as pixels do."""
    smaller = [other for other in table if (other.kind, other.work) == (row.kind, row.work) and other.size < row.size]
    if not smaller:
        return None
    before = max(smaller)
    cell, growth = table[before][name], row.size / before.size
    if cell.missing:
        return Cell(
            missing=f"not tried: {cell.missing} at {before.size:.0e}".replace("not tried: not tried", "not tried")
        )
    if min(cell.seconds) * growth > limits.seconds:
        return Cell(missing=f"not tried: {duration(min(cell.seconds))} at {before.size:.0e}")
    return None


def shown(cell: Cell, ours: Cell | None = None) -> str:
    """Write a cell: seconds, how many times ours they are, and memory."""
    if cell.missing or not cell.seconds:
        return cell.missing or "-"
    parts = [duration(float(np.median(cell.seconds)))]
    if ours is not None and ours.seconds:
        parts.append(factor(times_as_long(cell.seconds, ours.seconds)))
    return ", ".join([*parts, f"{cell.memory / MIB:.0f} MiB"])


def report(table: Table) -> str:
    """Write the table of time and memory, then that of the numbers."""
    names = [name for name in (c.name for c in CONTESTANTS) if any(name in cells for cells in table.values())]
    lines = [
        [
            f"{row.size:.0e}".replace("e+0", "e"),
            row.kind,
            row.work,
            *(shown(cells[name], None if name == OURS else cells[OURS]) for name in names),
        ]
        for row, cells in table.items()
    ]
    return "\n\n".join(
        [
            markdown(["pixels", "scores", "asked for", *names], lines),
            "Largest difference from segbench's answer, of an area or of a rate at 255 thresholds:",
            markdown(["pixels", "scores", "asked for", *names], differences(table, names)),
        ]
    )


def differences(table: Table, names: Sequence[str]) -> list[list[str]]:
    """Give a row of largest differences for each row of the table."""
    rows = []
    for row, cells in table.items():
        off = [difference(cells[name], cells[OURS]) for name in names]
        written = ["" if x is None else "same" if x == 0 else f"{x:.0e}" for x in off]
        rows.append([f"{row.size:.0e}".replace("e+0", "e"), row.kind, row.work, *written])
    return rows


def difference(cell: Cell, other: Cell) -> float | None:
    """Give the largest difference of two answers; None where there are not two."""
    if not cell.values or not other.values:
        return None
    return float(np.abs(np.subtract(cell.values, other.values)).max())
