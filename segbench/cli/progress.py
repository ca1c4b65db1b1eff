"""Progress on standard error: a bar on a terminal; elsewhere, as in batch jobs, a line every 10 % or minute."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Literal, Self, TypeAlias

import click

from segbench.cli.options import given

if TYPE_CHECKING:
    from rich.console import Console


Progress: TypeAlias = Literal["auto", "bar", "lines", "none"]


@dataclass(frozen=True, kw_only=True)
class Shown:
    """How progress is shown."""

    progress: Progress = given(
        "Show progress as a bar, as lines (every 10 % or minute) or none; auto is a bar on a terminal, else lines.",
        "auto",
        metavar="FORM",
    )


_QUIET = 1.0  # seconds in which auto prints no line
_MINUTE = 60.0


class Tally:
    """How many images are done, of how many; a call updates and shows it."""

    def __init__(self, show: Callable[[int, int], None]) -> None:
        self.done, self.total = 0, 0
        self._show = show

    def __call__(self, done: int, total: int) -> None:
        """Take the number done and the number of all."""
        self.done, self.total = done, total
        self._show(done, total)


@contextmanager
def progress_of(label: str, form: Progress = "auto") -> Iterator[Tally]:
    """Show how many images are done; call what it gives with the number done and the number of all."""
    from rich.console import Console

    console = Console(stderr=True, force_terminal=True if form == "bar" else None)
    if form == "none":
        yield Tally(lambda _done, _total: None)
    elif form == "lines" or not console.is_terminal:
        with _Lines(label, _QUIET if form == "auto" else 0) as lines:
            yield Tally(lines.update)
    else:
        with _bar(label, console) as show:
            yield Tally(show)


@contextmanager
def _bar(label: str, console: Console) -> Iterator[Callable[[int, int], None]]:
    from rich import progress as parts

    columns = (
        parts.TextColumn("{task.description}", markup=False),
        parts.BarColumn(),
        parts.MofNCompleteColumn(),
        parts.TimeElapsedColumn(),
        parts.TimeRemainingColumn(),
    )
    with parts.Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


class _Lines:
    """A line for every 10 %, and one a minute where images take longer."""

    def __init__(self, label: str, quiet: float) -> None:
        self._label, self._quiet = label, quiet
        self._started = self._printed = time.monotonic()
        self._done = self._total = self._tenths = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._every_minute, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def update(self, done: int, total: int) -> None:
        self._done, self._total = done, total
        if 10 * done // max(total, 1) > self._tenths and time.monotonic() - self._started >= self._quiet:
            self._print()

    def _every_minute(self) -> None:
        while not self._over.wait(max(self._printed + _MINUTE - time.monotonic(), 0)):
            if time.monotonic() - self._printed >= _MINUTE:
                self._print()

    def _print(self) -> None:
        self._printed = time.monotonic()
        seconds = self._printed - self._started
        done, total = self._done, self._total
        self._tenths = 10 * done // max(total, 1)
        share = f" of {total} ({100 * done // total} %)" if total else ""
        left = f", about {_clock(seconds * (total - done) / done)} left" if 0 < done < total else ""
        with suppress(OSError, ValueError):  # nobody reads it any more, which must not end the run
            click.echo(f"{self._label}: {done}{share} in {_clock(seconds)}{left}", err=True)


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))
