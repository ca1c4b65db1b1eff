"""What is expected, what came out, and how far apart the two may be.

Expected numbers are texts in the TOML files beside this one. Their digits say how near the tool must come: ``"4/7"`` to
1e-12, ``".0801748"`` to half a unit of its last digit, ``"544"`` exactly.
"""

from __future__ import annotations

import math
import tomllib
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from segbench.aggregator.benchmark import FailedImages, evaluate
from segbench.aggregator.result import Result
from segbench.core.errors import DataError
from segbench.core.messages import Message

State = Literal["as expected", "off", "not checked"]
Progress = Callable[[int, int], None]

_ROUNDING = 1e-12  # by which float arithmetic may move a number that is known exactly


@dataclass(frozen=True, kw_only=True)
class Check:
    """A number that is known from elsewhere, recomputed.

    Parameters
    ----------
    part, group : str
        Where it belongs: the paper or data, and the table, figure or folder in it.
    what : str
        The key of the metric, or what else is compared.
    expected, got : float
        What it has to be and what came out; nan where undefined.
    allowed : float
        The largest difference that is as expected.
    source : str
        Where `expected` is printed: a section, a table, a file.
    note : str
        What to know of it, for instance where and why a paper prints another number; may be empty.
    missing : str
        Why it could not be checked; empty where it was.

    Examples
    --------
    >>> check = Check(part="", group="", what="auc_roc", expected=0.875, got=0.8751, allowed=0.0005, source="figure 7")
    >>> check.state, round(check.difference, 6)
    ('as expected', 0.0001)
    """

    part: str = ""
    group: str = ""
    what: str
    expected: float = math.nan
    got: float = math.nan
    allowed: float = math.nan
    source: str
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


@dataclass(frozen=True)
class Group:
    """Numbers that are recomputed together; `images` says how many are counted, if they are many."""

    name: str
    recompute: Callable[[Executor | None, Progress], Iterable[Check]]
    images: int = 0


@dataclass(frozen=True)
class VerifiedPart:
    """A paper or a folder, and the groups of its numbers."""

    title: str
    groups: Sequence[Group]

    @property
    def images(self) -> int:
        """How many images are counted; 0 where they are so few that workers are not worth their start."""
        return sum(group.images for group in self.groups)

    def checks(self, executor: Executor | None = None, progress: Progress | None = None) -> list[Check]:
        """Recompute all numbers; progress is that of the images, or else of the groups."""
        total, done = self.images or len(self.groups), 0

        def advance(images: int, _of_group: int = 0) -> None:
            if progress:
                progress(done + images, total)

        checks: list[Check] = []
        for group in self.groups:
            group_checks = group.recompute(executor, advance)
            checks += [replace(check, part=self.title, group=check.group or group.name) for check in group_checks]
            done += group.images if self.images else 1
            advance(0)
        return checks


def verdict(checks: Sequence[Check]) -> str:
    """Sum up in a line."""
    states = [check.state for check in checks]
    checked = [state for state in states if state != "not checked"]
    text = f"{checked.count('as expected')} of {len(checked)} as expected"
    unchecked = len(states) - len(checked)
    return text + (f", {unchecked} not checked" if unchecked else "")


@cache
def expected(name: str) -> dict[str, Any]:
    """Read a table of expected numbers: ``papers``, ``demo``, ``bsds500``."""
    return tomllib.loads(files("segbench.verification").joinpath(f"{name}.toml").read_text("utf-8"))


def read_expectation(text: str) -> tuple[float, float]:
    """Read an expected number, and return it with the largest difference that is allowed."""
    value = float(Fraction(text))
    if "/" in text:
        return value, _ROUNDING
    _, point, digits = text.partition(".")
    return value, 0.5 * 10 ** -len(digits) + _ROUNDING if point else 0.0


def compare_texts(texts: Mapping[str, str], measured: Mapping[str, float], source: str) -> Iterator[Check]:
    """Check metrics by key against expected numbers as text."""
    for key, text in texts.items():
        value, allowed = read_expectation(text)
        yield Check(what=key, expected=value, got=measured[key], allowed=allowed, source=source)


def counted(*arguments: Any, **options: Any) -> Result:  # noqa: ANN401  those of `evaluate`
    """Count images as `evaluate` does; each must be counted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FailedImages)
        result = evaluate(*arguments, **options)
    if result.failed:
        problem = Message(
            "not-counted",
            "{count:many image} could not be counted:\n  {problems:\n  }\n",
            count=len(result.failed),
            problems=[failure.sentence for failure in result.failed.values()],
        )
        raise DataError(result.method, problem)
    return result


def compare(
    wanted: Mapping[str, float], measured: Mapping[str, float], allowed: float | Mapping[str, float], source: str
) -> Iterator[Check]:
    """Check metrics by key; `allowed` is how far each may be off, or all."""
    for key, value in wanted.items():
        off = allowed[key] if isinstance(allowed, Mapping) else allowed
        yield Check(what=key, expected=value, got=measured[key], allowed=off, source=source)


def small_group(name: str, recompute: Callable[[], Iterable[Check]]) -> Group:
    """Recompute what takes neither workers nor time."""
    return Group(name, lambda _executor, _progress: recompute())


def counted_group(
    name: str,
    images: Collection[str],
    run: tuple[Any, ...],
    comparison: Callable[[Result | None], Iterable[Check]],
    **options: Any,  # noqa: ANN401  as `run`, those of `evaluate`
) -> Group:
    """Count images, if there are any, and compare the result; without any, say what is missing."""

    def recompute(executor: Executor | None, progress: Progress) -> Iterable[Check]:
        told = {"executor": executor, "progress": progress}
        return comparison(counted(*run, images=sorted(images), **told, **options) if images else None)

    return Group(name, recompute, len(images))
