"""What segbench raises: one clear sentence that names what was found, what was expected and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

VOLUMES = "see docs/limits.md for volumes"
"""What to do with arrays of three dimensions that are no stack of maps."""
LISTED = 10
"""Lines of a list that messages show; `DataError.what` and the JSON of `segbench check` have all."""


class SegbenchError(Exception):
    """Anything segbench refuses; catch this to catch all of it."""


class ArgumentError(SegbenchError, ValueError):
    """A setting or argument is invalid (exit code 2 on the command line)."""


class UnknownMetricError(ArgumentError, KeyError):
    """No metric has this key, or no image or part of a result this name."""

    __str__ = Exception.__str__


class UnknownArgumentError(ArgumentError, TypeError):
    """A function or protocol has no argument of this name."""


class DataError(SegbenchError):
    """A file or a folder is invalid (exit code 1 on the command line).

    Parameters
    ----------
    path : str
        The file or folder, or the name of the array.
    what : str
        What was found and what was expected.
    hint : str
        What to do about it; may be empty.

    Examples
    --------
    >>> print(DataError("gt/7.png", "3 distinct values (0, 128, 255), expected 2", "give positive=128"))
    gt/7.png: 3 distinct values (0, 128, 255), expected 2; give positive=128
    """

    def __init__(self, path: str, what: str, hint: str = "") -> None:
        super().__init__(path, what, hint)
        self.path = path
        self.what = what
        self.hint = hint

    def __str__(self) -> str:
        """Give path, finding and hint as one sentence; below a list, cut to its first lines, the hint has a line."""
        blocks = groupby(self.what.rstrip("\n").split("\n"), lambda line: line.startswith("  ") and line[2:4] != "->")
        what = "\n".join(line for is_list, lines in blocks for line in (few([*lines]) if is_list else lines))
        mark = "\n-> " if "\n" in what else "; "
        return f"{self.path}: {what}" + (f"{mark}{self.hint}" if self.hint else "")


def few(lines: Sequence[str], indent: str = "  ") -> list[str]:
    """Give the first lines of a list, and how many others there are."""
    more = len(lines) - LISTED
    return [*lines[:LISTED], *([f"{indent}and {more} more"] if more > 0 else [])]


class WorkerError(SegbenchError):
    """The workers failed, not the data: a cluster that is gone, versions that differ (exit code 1)."""
