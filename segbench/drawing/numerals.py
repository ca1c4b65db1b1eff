"""How plots write numbers, along axes, in legends and beside rows: as tables do.

The setting holds while one draws, as Matplotlib's style does, since each kind of plot writes numbers in several places.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from segbench.core.metric import Metric
from segbench.core.numbers import DIGITS, number
from segbench.core.settings import as_whole
from segbench.core.text_table import leading_zeros

_MOST_DIGITS = 12


class Numerals(NamedTuple):
    """How many decimal places metrics have, None for those that are usual; whether a zero is before the point."""

    digits: int | None
    zeros: bool


_USUAL = Numerals(None, zeros=False)
_numerals: ContextVar[Numerals] = ContextVar("numerals", default=_USUAL)


@contextmanager
def numerals_as(digits: int | None = None, *, zeros: bool = False) -> Iterator[None]:
    """Write the numbers of what is drawn within so; by default with the usual decimal places, and no zero."""
    if digits is not None:
        digits = as_whole(digits, "digits", least=1, most=_MOST_DIGITS)
    token = _numerals.set(Numerals(digits, bool(zeros)))
    try:
        yield
    finally:
        _numerals.reset(token)


def has_leading_zeros() -> bool:
    """Return whether a zero stands before the point."""
    return _numerals.get().zeros


def numeral(value: float, *, usual: int = DIGITS, metric: Metric | None = None) -> str:
    """Write a number with the decimal places set, else the usual ones; that of a metric as tables write it."""
    digits = _numerals.get().digits or usual
    return as_numeral(number(value, digits=digits) if metric is None else metric.written(value, digits=digits))


def as_numeral(text: str) -> str:
    """Write a number that is a text already with or without a zero before its point, as set."""
    return leading_zeros(text) if _numerals.get().zeros else text
