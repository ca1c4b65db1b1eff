"""ProgressForm of a command on standard error: a bar on a terminal, else a line now and then."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from math import inf
from typing import Literal, TypeAlias

import click

from segbench.core.settings import option

ProgressForm: TypeAlias = Literal["auto", "bar", "lines", "none"]

_QUIET = 1.0  # seconds in which auto prints no line
_MINUTE = 60.0


@dataclass(frozen=True, kw_only=True)
class ProgressOption:
    """The option of how progress is shown."""

    progress: ProgressForm = option(
        "Show progress as a bar, as lines (every 10 % or minute) or none; auto is a bar on a terminal, else lines.",
        "auto",
        metavar="FORM",
        rare=True,
    )


class ProgressCount:
    """How many images are done, of how many: a call prints a line for every 10 %, and one a minute if they take longer.

    A bar is drawn by `draw` instead.
    """

    def __init__(self, label: str, form: ProgressForm, draw: Callable[..., None] | None = None) -> None:
        self.done, self.total = 0, 0
        self._label, self._draw = label, draw
        self._quiet = {"auto": _QUIET, "lines": 0.0}.get(form, inf)
        self._started = self._printed = time.monotonic()
        self._tenths = 0

    def __call__(self, done: int, total: int) -> None:
        """Take the number done and the number of all."""
        self.done, self.total = done, total
        if self._draw:
            self._draw(completed=done, total=total)
        now, tenths = time.monotonic(), 10 * done // total
        seconds = now - self._started
        due = tenths > self._tenths or now - self._printed >= _MINUTE
        if due and seconds >= self._quiet:
            self._printed, self._tenths = now, tenths
            left = f", about {_clock(seconds * (total - done) / done)} left" if 0 < done < total else ""
            share = f"{100 * done // total} %"
            with suppress(OSError, ValueError):  # nobody reads it any more, which must not end the run
                click.echo(f"{self._label}: {done} of {total} ({share}) in {_clock(seconds)}{left}", err=True)


@contextmanager
def progress_of(label: str, form: ProgressForm = "auto") -> Iterator[ProgressCount]:
    """Show how many images are done; call what it gives with the number done and the number of all."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True, force_terminal=True if form == "bar" else None)
    if form in ("lines", "none") or not console.is_terminal:
        yield ProgressCount(label, form)
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        yield ProgressCount(label, "bar", partial(bar.update, bar.add_task(label, total=None)))


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))
