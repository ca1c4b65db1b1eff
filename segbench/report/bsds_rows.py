"""Rows of numbers as the official text files hold them."""

from __future__ import annotations

from collections.abc import Iterable


def rows_text(rows: Iterable[Iterable[float]]) -> str:
    r"""Write rows of numbers, each as ``%10g``; whole numbers keep all their digits."""
    return "".join(" ".join(_ten(value) for value in row) + "\n" for row in rows)


def _ten(value: float) -> str:
    return f"{value:10d}" if isinstance(value, int) else f"{value:10.6g}"
