"""Progress on standard error: a bar on a terminal; elsewhere, as in batch jobs, a line every 10 % or minute."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Literal, TypeAlias

import click

from segbench.core.options import option

if TYPE_CHECKING:
    from rich.console import Console


Progress: TypeAlias = Literal["auto", "bar", "lines", "none"]


@dataclass(frozen=True, kw_only=True)
class Shown:
    """How progress is shown."""

    progress: Progress = option(
        "Show progress as a bar, as lines (every 10 % or minute) or none; auto is a bar on a terminal, else lines.",
        "auto",
        metavar="FORM",
        rare=True,
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
        yield Tally(_Lines(label, _QUIET if form == "auto" else 0))
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
        self._tenths = 0

    def __call__(self, done: int, total: int) -> None:
        now, tenths = time.monotonic(), 10 * done // total
        seconds = now - self._started
        if (tenths > self._tenths and seconds >= self._quiet) or now - self._printed >= _MINUTE:
            self._printed, self._tenths = now, tenths
            left = f", about {_clock(seconds * (total - done) / done)} left" if 0 < done < total else ""
            share = f"{100 * done // total} %"
            with suppress(OSError, ValueError):  # nobody reads it any more, which must not end the run
                click.echo(f"{self._label}: {done} of {total} ({share}) in {_clock(seconds)}{left}", err=True)


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))
