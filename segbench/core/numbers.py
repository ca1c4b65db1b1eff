"""Numbers as text."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import fields
from decimal import ROUND_FLOOR, Decimal
from typing import Any

DIGITS = 4
_TINY = 1e-6
_PRINTED = 8  # entries of an array


def shortest(value: float) -> str:
    """Write the shortest decimal that reads back as a number: 0.5, 2, 0.00001."""
    text = format(Decimal(repr(float(value) + 0.0)), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def number(value: float, *, digits: int = DIGITS) -> str:
    """Write a number as papers do: four decimal places, no leading zero."""
    if isinstance(value, int):
        return str(value)
    if math.isnan(value):
        return "-"
    return _short(value, digits)


def digits_within(low: float, high: float) -> int:
    """Return how many decimal places of a value matter beside its interval: two digits of the interval's width."""
    width = high - low
    return min(max(1 - math.floor(math.log10(width)), 0), DIGITS) if 0 < width < math.inf else DIGITS


def number_within(value: float, low: float, high: float) -> str:
    """Write a number for a sentence in the digits that its interval supports; in three without an interval."""
    if high - low > 0:
        return number(value, digits=digits_within(low, high))
    whole, point, decimals = number(value, digits=digits_within(0, abs(value) / 10)).partition(".")
    return f"{whole}{point}{decimals.rstrip('0') or '0'}" if point else whole


def number_below(value: float, *, digits: int = DIGITS) -> str:
    """Write a number rounded down: a score that reaches the number also reaches what is printed."""
    text = number(value, digits=digits)
    if math.isnan(value) or float(text) <= value:
        return text
    return point_first(str(Decimal(value).quantize(Decimal(text), ROUND_FLOOR)).lower())


def by_key(key: str, value: float, thresholds: Collection[str]) -> str:
    """Write the value of a metric; those that are thresholds are rounded down, as in tables."""
    return number_below(value) if key in thresholds else number(value)


def signed(value: float, *, digits: int = DIGITS) -> str:
    """Write a difference, with its sign."""
    text = number(value, digits=digits)
    return f"+{text}" if value > 0 else text


def exact(value: float) -> str:
    """Write a number with all its digits, for other programs; an empty text where it is undefined."""
    return "" if math.isnan(value) else repr(value)


def many(count: int, noun: str) -> str:
    """Return a number with its noun: 1 image, 2 images."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def verb(count: int, plural: str) -> str:
    """Return the form of a verb that goes with a number: has of 1, have of 2."""
    return {"are": "is", "have": "has", "match": "matches"}.get(plural, f"{plural}s") if count == 1 else plural


def of_all(count: int, total: int, noun: str, plural: str = "") -> str:
    """Return how many of a total, with a noun and perhaps a verb: 2 of 9 images have."""
    return f"{count} of {many(total, noun)}" + (f" {verb(count, plural)}" if plural else "")


def _short(value: float, digits: int) -> str:
    if value != 0 and abs(value) < 0.5 * 10**-digits:
        # What would be written as zero gets the digits it takes, in the same style as long as they can be counted.
        if abs(value) < _TINY:
            return f"{value:.2g}"
        text = f"{value:.{1 - math.floor(math.log10(abs(value)))}f}".rstrip("0")
    else:
        text = f"{value:.{digits}f}"
    return point_first(text)


def point_first(text: str) -> str:
    """Leave out the zero before the point."""
    return text.replace("0.", ".", 1) if text.lstrip("+-").startswith("0.") else text


class Brief:
    """A dataclass that prints long arrays by their type and shape."""

    def __repr__(self) -> str:
        """Print the fields in one line."""
        kept: Any = self
        parts = [f"{field.name}={_brief(getattr(self, field.name))}" for field in fields(kept)]
        return f"{type(self).__name__}({', '.join(parts)})"


def _brief(value: Any) -> str:  # noqa: ANN401  of any field
    if not hasattr(value, "dtype"):
        return repr(value)
    return repr(value.tolist()) if value.size <= _PRINTED else f"{value.dtype}{list(value.shape)}"


def written(numbers: float | Iterable[float]) -> str:
    """Write a number, or several between commas, in the fewest digits that give each back."""
    several = numbers if isinstance(numbers, Iterable) else (numbers,)
    return ",".join(repr(float(number)).removesuffix(".0") for number in several)
