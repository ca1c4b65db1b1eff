"""Numbers as signatures write them: short, and never two numbers alike."""

from __future__ import annotations

from collections.abc import Iterable


def written(numbers: Iterable[float]) -> str:
    """Write numbers between commas, in the fewest digits that give each back.

    Examples
    --------
    >>> written((255.0, 0.0075, 1234567.0))
    '255,0.0075,1234567'
    """
    return ",".join(repr(float(number)).removesuffix(".0") for number in numbers)
