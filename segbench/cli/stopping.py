"""Ctrl-C in the middle of a command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from typer.core import TyperGroup


class Stopped(Exception):  # noqa: N818  a wish of the user's, not an error
    """Ctrl-C was pressed; the text says how far the command came, and how to continue."""


class Commands(TyperGroup):
    """All commands, which end in `Stopped` on Ctrl-C, where typer's own would exit without a message."""

    def __init__(self, **given: Any) -> None:  # noqa: ANN401  what typer gives
        super().__init__(**given)
        self.rich_markup_mode = None  # errors are plain lines

    def make_context(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  the types are those of typer's own copy of click
        """Read the command line."""
        with _stopping():
            return super().make_context(*args, **kwargs)

    def invoke(self, *args: Any) -> Any:  # noqa: ANN401  as above
        """Run the command that was typed."""
        with _stopping():
            return super().invoke(*args)


@contextmanager
def _stopping() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        raise Stopped("stopped") from None
