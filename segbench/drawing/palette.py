"""One palette for all plots: Okabe and Ito's, for colour-blind readers too, with dashes once colours repeat.

References
----------
Okabe, Ito: Color Universal Design, 2008.
"""

from __future__ import annotations

from colorsys import hls_to_rgb
from typing import NamedTuple, TypeAlias

Dashes: TypeAlias = str | tuple[int, tuple[int, ...]]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)))
GUIDE = "#7a7a7a"
ISO_F = "#b9d7b4"
ISO_F_TEXT = "#5f8f57"
MATCHED, MATCHED_TRUTH, ELSEWHERE = COLOURS[0], COLOURS[5], COLOURS[2]
FALSE_POSITIVE, MISS, LINK = COLOURS[1], COLOURS[4], COLOURS[6]


class LineStyle(NamedTuple):
    """How the line of one method is drawn."""

    colour: str
    dashes: Dashes


def class_colours(count: int) -> list[str]:
    """Give a colour for each of so many classes: some of methods, none of right or wrong pixels, then further hues."""
    chosen = list(COLOURS[2:4])
    for place in range(count - len(chosen)):
        lightness = (0.35, 0.55, 0.75)[place % 3]
        parts = hls_to_rgb(place * 0.618034 % 1, lightness, 0.6)
        chosen.append("#" + "".join(f"{round(255 * part):02x}" for part in parts))
    return chosen[:count]


def line_style(rank: int) -> LineStyle:
    """Give the style of the method with that rank; 35 differ."""
    return LineStyle(COLOURS[rank % len(COLOURS)], DASHES[rank // len(COLOURS) % len(DASHES)])
