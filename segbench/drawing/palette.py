"""One palette for all plots and pages: Okabe and Ito's, for colour-blind readers too, with dashes once colours repeat.

References
----------
Okabe, Ito: Color Universal Design, 2008.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from colorsys import hls_to_rgb
from itertools import count
from typing import NamedTuple, TypeAlias

Dashes: TypeAlias = str | tuple[int, tuple[int, ...]]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)))
_MARKERS = ("s", "^", "D", "v", "P", "X", "*")
_DASH_NAMES = ("", "dash", "dashdot", "dot-line", "longdash")
GUIDE = "#7a7a7a"
FAINT, OTHERS = "#a8a8a8", "#c8c8c8"
HUMAN = "#5c5c5c"
OTHER = "#8a9198"
"""Of methods that are not among the best, where there are many."""
MOST_COLOURED = 6
ISO_F = "#b9d7b4"
ISO_F_TEXT = "#5f8f57"
# Found by measuring (scripts/checks/state_colours.py): they hold over any photograph, blended as `blended` does.
MATCHED, FALSE_POSITIVE, MISS = "#0871ca", "#9d0006", "#dd8100"
NEAR, FAR = "#a0a070", "#d90092"
MATCHED_TRUTH = COLOURS[5]


class LineStyle(NamedTuple):
    """How the line of one method is drawn."""

    colour: str
    dashes: Dashes

    @property
    def marker(self) -> str:
        """The marker that tells the line from others in grey print; annotators are a dot."""
        if self.colour not in COLOURS:
            return "o"
        return _MARKERS[(COLOURS.index(self.colour) + DASHES.index(self.dashes)) % len(_MARKERS)]

    @property
    def css(self) -> str:
        """The classes of the page's style sheet for it."""
        if self.colour == OTHER:
            return "other"
        colour = COLOURS.index(self.colour) if self.colour in COLOURS else len(COLOURS)
        return f"c{colour} {_DASH_NAMES[DASHES.index(self.dashes)]}".rstrip()


def class_colours(count: int) -> list[str]:
    """Return a colour per class: some of methods, none of right or wrong pixels, then further hues."""
    chosen = list(COLOURS[2:4])
    for k in range(count - len(chosen)):
        lightness = (0.35, 0.55, 0.75)[k % 3]
        parts = hls_to_rgb((0.9 + k * 0.618034) % 1, lightness, 0.6)
        chosen.append("#" + "".join(f"{round(255 * part):02x}" for part in parts))
    return chosen[:count]


def line_style(position: int | None) -> LineStyle:
    """Return the style of the method at a position, of which 35 differ; None is that of human annotators."""
    if position is None:
        return LineStyle(HUMAN, "-")
    return LineStyle(COLOURS[position % len(COLOURS)], DASHES[position // len(COLOURS) % len(DASHES)])


def styles_by_rank(styles: Sequence[LineStyle]) -> list[LineStyle]:
    """Return the styles of methods, the best first: six in colours that differ, the first solid, and the others grey.

    They keep the colours that they have unless a better method has the same; annotators stay as they are.
    """
    shown, taken = [], list[str]()
    for style in styles:
        if style.colour not in COLOURS:
            shown.append(style)
        elif len(taken) == MOST_COLOURED:
            shown.append(LineStyle(OTHER, "-"))
        else:
            colour = next(colour for colour in (style.colour, *COLOURS) if colour not in taken)
            shown.append(LineStyle(colour, DASHES[len(taken) if len(taken) < len(DASHES) else 1]))
            taken.append(colour)
    return shown


def free_places(wanted: Iterable[int | None]) -> list[int]:
    """Return a distinct position for each method: the wanted one unless taken before, else the first free one."""
    chosen: list[int | None] = []
    for position in wanted:
        chosen.append(None if position in chosen else position)
    free = (position for position in count() if position not in chosen)
    return [next(free) if position is None else position for position in chosen]
