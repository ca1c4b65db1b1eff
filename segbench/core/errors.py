"""What segbench raises: one clear sentence that names what was found, what was expected and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from segbench.core.messages import Message, Setting, Style, as_message

VOLUMES = "see docs/limits.md for volumes"
"""What to do with arrays of three dimensions that are no stack of maps."""
LISTED = 10
"""Lines of a list that messages show; `DataError.what` and the JSON of `segbench check` have all."""


class SegbenchError(Exception):
    """Anything segbench refuses; catch this to catch all of it.

    Parameters
    ----------
    message : Message or str
        What was found, what was expected and what to do.
    """

    def __init__(self, message: Message | Setting | str = "") -> None:
        super().__init__(message)
        self.message = as_message(message)

    @property
    def kind(self) -> str:
        """What it is, for scripts, see the page *Messages* of the documentation."""
        return self.message.kind

    @property
    def values(self) -> dict[str, Any]:
        """The values that the message speaks of, by name."""
        return self.message.values

    @property
    def settings(self) -> tuple[Setting, ...]:
        """The settings that would help, with their values."""
        return self.message.settings

    def written(self, style: Style | None = None) -> str:
        """Write the message for a reader: with arguments of Python, or with options of the command line."""
        return self.message.written(style)

    def __str__(self) -> str:
        """Write the message, which names arguments of Python."""
        return self.written()


class ArgumentError(SegbenchError, ValueError):
    """A setting or argument is invalid (exit code 2 on the command line)."""


class UnknownMetricError(ArgumentError, KeyError):
    """No metric has this key, or no image or part of a result this name."""


class UnknownArgumentError(ArgumentError, TypeError):
    """A function or protocol has no argument of this name."""


class DataError(SegbenchError):
    """A file or a folder is invalid (exit code 1 on the command line).

    Parameters
    ----------
    path : str
        The file or folder, or the name of the array.
    what : Message or str
        What was found and what was expected.
    hint : Message, Setting or str
        What to do about it; may be empty.

    Examples
    --------
    >>> print(DataError("gt/7.png", "3 distinct values (0, 128, 255), expected 2", "give positive=128"))
    gt/7.png: 3 distinct values (0, 128, 255), expected 2; give positive=128
    """

    def __init__(self, path: str, what: Message | str, hint: Message | Setting | str = "") -> None:
        super().__init__(what)
        self.args = path, what, hint
        self.path = path
        self.what = self.message
        self.hint = as_message(hint)

    @property
    def settings(self) -> tuple[Setting, ...]:
        """The settings that would help, with their values."""
        return self.hint.settings

    def written(self, style: Style | None = None) -> str:
        """Write path, finding and hint as one sentence; below a list, cut to its first lines, the hint has a line."""
        whole, hint = self.what.written(style), self.hint.written(style)
        blocks = groupby(whole.rstrip("\n").split("\n"), lambda line: line.startswith("  ") and line[2:4] != "->")
        what = "\n".join(line for is_list, lines in blocks for line in (few([*lines]) if is_list else lines))
        mark = "\n-> " if "\n" in what else "; "
        return f"{self.path}: {what}" + (f"{mark}{hint}" if hint else "")


def few(lines: Sequence[str], indent: str = "  ") -> list[str]:
    """Give the first lines of a list, and how many others there are."""
    more = len(lines) - LISTED
    return [*lines[:LISTED], *([f"{indent}and {more} more"] if more > 0 else [])]


class WorkerError(SegbenchError):
    """The workers failed, not the data: a cluster that is gone, versions that differ (exit code 1)."""
