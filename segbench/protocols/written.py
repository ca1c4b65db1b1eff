"""Numbers as signatures write them: short, and never two numbers alike."""

from __future__ import annotations

from collections.abc import Iterable


def written(numbers: Iterable[float]) -> str:
    """Write numbers between commas, in the fewest digits that give each back."""
    return ",".join(repr(float(number)).removesuffix(".0") for number in numbers)
