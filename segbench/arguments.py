"""Numbers that callers give are read here, once; the error names the argument, what was found and what is expected."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from segbench.errors import ArgumentError


def as_whole(value: Any, name: str, *, least: int = 0, most: int | None = None) -> int:  # noqa: ANN401  checked here
    """Read a whole number of Python or NumPy; 2.0 is accepted, True and "2" are not.

    Raises
    ------
    ArgumentError
        For anything else, and out of range.
    """
    if _is_number(value) and math.isfinite(value) and value == int(value) >= least and (most is None or value <= most):
        return int(value)
    between = f"{least} or more" if most is None else f"from {least} to {most}"
    raise ArgumentError(f"{name} is {_shown(value)}, expected a whole number, {between}")


def as_real(value: Any, name: str, expected: str, *, least: float, most: float, open_ends: bool = False) -> float:  # noqa: ANN401  as above
    """Read a number from `least` to `most`, or with `open_ends` between them; `expected` describes this in the error.

    Raises
    ------
    ArgumentError
        For anything else: NaN, an infinity, a bool, text.
    """
    within = _is_number(value) and (least < value < most if open_ends else least <= value <= most)
    if not within or not math.isfinite(value):
        raise ArgumentError(f"{name} is {_shown(value)}, expected {expected}")
    return float(value)


def as_share(value: Any, name: str, *, above_zero: bool = False) -> Fraction:  # noqa: ANN401  as above
    """Read a rate from 0 to 1 as the decimal it is written as, so that 0.9 of 10 is 9.

    Raises
    ------
    ArgumentError
        For anything else.
    """
    expected = "above 0, at most 1" if above_zero else "from 0 to 1"
    share = as_real(value, name, f"a number {expected}", least=0, most=1)
    if above_zero and not share:
        raise ArgumentError(f"{name} is {_shown(value)}, expected a number {expected}")
    return Fraction(str(value)) if isinstance(value, np.floating) else Fraction(repr(share))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, Fraction, np.integer, np.floating)) and not isinstance(value, bool)


def _shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else f"{value!r:.60}"
