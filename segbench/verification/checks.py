"""What is expected, what came out, and how far apart the two may be."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Literal, Protocol

State = Literal["as expected", "off", "not checked"]


@dataclass(frozen=True, kw_only=True)
class Check:
    """A number that is known from elsewhere, derived anew.

    Parameters
    ----------
    part, group : str
        Where it belongs: the paper or data, and the table, figure or folder in it.
    what : str
        The figure.
    expected, got : float
        What it has to be and what came out; nan where undefined.
    allowed : float
        The largest difference that is as expected.
    source : str
        Where `expected` stands: a section, a table, a file.
    seconds : float
        What the whole group took.
    note : str
        What to know of it, for instance where and why a paper prints another number; may be empty.
    missing : str
        Why it could not be checked; empty where it was.

    Examples
    --------
    >>> check = Check(part="", group="", what="AUC-ROC", expected=0.875, got=0.8751, allowed=0.0005, source="figure 7")
    >>> check.state, round(check.difference, 6)
    ('as expected', 0.0001)
    """

    part: str
    group: str
    what: str
    expected: float
    got: float
    allowed: float
    source: str
    seconds: float = 0.0
    note: str = ""
    missing: str = ""

    @property
    def difference(self) -> float:
        """What came out less what was expected."""
        return self.got - self.expected

    @property
    def state(self) -> State:
        """Whether it is as expected, off, or could not be checked."""
        if self.missing:
            return "not checked"
        return "as expected" if abs(self.difference) <= self.allowed else "off"


class Progress(Protocol):
    """Told how many images are done, and how many there are."""

    def __call__(self, done: int, total: int, /) -> None:
        """Take both numbers."""


@dataclass(frozen=True)
class Part:
    """A paper or a folder, and how its numbers are derived.

    Parameters
    ----------
    title : str
        What it is.
    derive : callable
        Gives its checks; takes where to count (None: here, or in threads), and whom to tell about progress.
    images : int
        How many images there are to count; 0 where there are so few that workers are not worth their start.
    """

    title: str
    derive: Callable[[Executor | None, Progress], Sequence[Check]]
    images: int = 0


def timed(derive: Callable[[], Iterable[Check]]) -> list[Check]:
    """Derive the checks of a group, and give each the seconds that all of them took."""
    started = time.perf_counter()
    checks = list(derive())
    seconds = time.perf_counter() - started
    return [replace(check, seconds=seconds) for check in checks]


def verdict(checks: Sequence[Check]) -> str:
    """Sum up in a line."""
    states = [check.state for check in checks]
    checked = [state for state in states if state != "not checked"]
    text = f"{checked.count('as expected')} of {len(checked)} as expected"
    unchecked = len(states) - len(checked)
    return text + (f", {unchecked} not checked" if unchecked else "")


def not_checked(*, part: str, group: str, what: str, source: str, missing: str, expected: float = math.nan) -> Check:
    """Make a check of which the data are missing."""
    return Check(
        part=part,
        group=group,
        what=what,
        expected=expected,
        got=math.nan,
        allowed=math.nan,
        source=source,
        missing=missing,
    )
