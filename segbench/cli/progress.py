"""A progress bar on standard error; silent where that is not a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


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
def progress_bar(label: str) -> Iterator[Tally]:
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

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(label, total=None)
        yield Tally(lambda done, total: progress.update(task, completed=done, total=total))
