"""What segbench raises: one clear sentence that names what was found, what was expected and what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from segbench.core.messages import NOTHING, Message, Setting, Style, as_message, described

VOLUMES = "see docs/volumes.md for volumes"
"""What to do with arrays of three dimensions that are no stack of maps."""
LISTED = 10
"""Lines of a list that messages show; `DataError.what` and the JSON of `segbench check` have all."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an image could not be counted, or a file not be used: what a `DataError` says, to be kept.

    Parameters
    ----------
    path : str
        The file or folder, or the name of the array or image.
    what : Message
        What was found and what was expected.
    hint : Message
        What to do about it; may be empty.

    Examples
    --------
    >>> found = Message("other-size", "has size {size}, expected {expected}", size="9x9", expected="9x8")
    >>> failure = Failure("pred/7.png", found, Message("text", "give another file"))
    >>> print(failure)
    pred/7.png: has size 9x9, expected 9x8; give another file
    >>> failure.kind, failure.values["expected"], Failure.of_json(failure.to_json()) == failure
    ('other-size', '9x8', True)
    """

    path: str
    what: Message
    hint: Message = NOTHING

    @property
    def kind(self) -> str:
        """What it is, for scripts, see the page *Messages* of the documentation."""
        return self.what.kind

    @property
    def values(self) -> dict[str, Any]:
        """The values that the finding speaks of, by name."""
        return self.what.values

    @property
    def settings(self) -> tuple[Setting, ...]:
        """The settings that would help, with their values; without a hint, those that the finding names."""
        return self.hint.settings or self.what.settings

    def written(self, style: Style = "python") -> str:
        """Write path, finding and hint as one sentence; below a list, cut to its first lines, the hint has a line."""
        return f"{self.path}: {self.reason(style)}"

    def reason(self, style: Style = "python") -> str:
        """Write finding and hint, without the path."""
        hint = self.hint.written(style)
        text_lines = self.what.written(style).rstrip("\n").split("\n")
        blocks = groupby(text_lines, lambda line: line.startswith("  ") and line[2:4] != "->")
        problem = "\n".join(line for is_list, lines in blocks for line in (few([*lines]) if is_list else lines))
        if not hint:
            return problem
        return f"{problem}\n-> {hint}" if "\n" in problem else f"{problem}; {hint}"

    def __str__(self) -> str:
        """Write it, with settings as arguments of Python."""
        return self.written()

    @property
    def sentence(self) -> Message:
        """The whole as a message, of the kind of the finding, to stand in another one."""
        if not self.hint:
            return Message(self.kind, "{path}: {what}", path=self.path, what=self.what)
        return Message(self.kind, "{path}: {what}; {hint}", path=self.path, what=self.what, hint=self.hint)

    def described(self, style: Style = "python") -> dict[str, Any]:
        """Return what JSON for scripts says of it: kind, file, text, values, and the settings that would help."""
        about = {"file": self.path, "text": self.written(style), "settings": described(self.settings, style)}
        return self.what.described(style) | about

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON has it, from which `of_json` makes the same failure."""
        return {"path": self.path, "what": self.what.to_json(), "hint": self.hint.to_json()}

    @classmethod
    def of_json(cls, stored: Mapping[str, Any]) -> Failure:
        """Rebuild the failure from its `to_json`."""
        return cls(str(stored["path"]), Message.of_json(stored["what"]), Message.of_json(stored["hint"]))


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

    def written(self, style: Style = "python") -> str:
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
    def failure(self) -> Failure:
        """What it says, without the exception and what that holds."""
        return Failure(self.path, self.what, self.hint)

    @property
    def settings(self) -> tuple[Setting, ...]:
        """The settings that would help, with their values."""
        return self.failure.settings

    def written(self, style: Style = "python") -> str:
        """Write path, finding and hint, see `Failure.written`."""
        return self.failure.written(style)


def few(lines: Sequence[str], indent: str = "  ") -> list[str]:
    """Return the first lines of a list, and a line with the number of the others."""
    more = len(lines) - LISTED
    return [*lines[:LISTED], *([f"{indent}and {more} more"] if more > 0 else [])]


class WorkerError(SegbenchError):
    """The workers failed, not the data: a cluster that is gone, versions that differ (exit code 1)."""
