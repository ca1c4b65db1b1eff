"""Words that choose what a figure shows, for the command line too, which imports nothing heavy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias, get_args

Style: TypeAlias = Literal["errors", "contours", "labels"]
STYLES: tuple[str, ...] = get_args(Style)
USUAL_ROWS = "worst:2,disagree:1,best:1"
VENUES: Mapping[str, float] = {
    "cvpr": 6.875,
    "cvpr-column": 3.25,
    "lncs": 4.8,
    "ieee": 7.16,
    "ieee-column": 3.5,
}
"""Widths of the text, or of a column, in inches."""
