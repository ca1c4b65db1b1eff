"""Expected numbers as texts, whose own digits say how near the tool must come.

``"4/7"`` must come out to 1e-12, ``".0801748"`` to half a unit of its last digit, ``"544"`` exactly.
"""

from __future__ import annotations

from fractions import Fraction

ROUNDING = 1e-12
"""What float arithmetic may move a figure that is known exactly."""


def read_expectation(text: str) -> tuple[float, float]:
    """Give the number, and how far from it a figure may be."""
    value = float(Fraction(text))
    if "/" in text:
        return value, ROUNDING
    _, point, digits = text.partition(".")
    return value, 0.5 * 10 ** -len(digits) + ROUNDING if point else 0.0
