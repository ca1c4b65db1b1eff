"""What segbench raises: one clear sentence that names what was found, what was expected and what to do."""

from __future__ import annotations


class SegbenchError(Exception):
    """Anything segbench refuses; catch this to catch all of it."""


class ArgumentError(SegbenchError, ValueError):
    """A setting or argument is invalid (exit code 2 on the command line)."""


class UnknownMetricError(ArgumentError, KeyError):
    """No metric has this key."""

    __str__ = Exception.__str__


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
        """Give path, finding and hint as one sentence, or below a list the hint on a line of its own."""
        what = self.what.rstrip("\n")
        mark = "\n-> " if "\n" in what else "; "
        return f"{self.path}: {what}" + (f"{mark}{self.hint}" if self.hint else "")


class WorkerError(SegbenchError):
    """The workers failed, not the data: a cluster that is gone, versions that differ (exit code 1)."""
