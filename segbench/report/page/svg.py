"""Parts of charts as SVG: axes, lines, areas, dots. Colours and strokes are classes of the page's style sheet.

A chart is `WIDTH` units wide whatever the screen, so that charts side by side have letters of one size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup, escape
from numpy.typing import ArrayLike

from segbench.core.arrays import FloatArray
from segbench.core.names import shortened
from segbench.core.numbers import point_first

WIDTH = 480
_MOST_TICKS = 6
_LETTERS = 56  # so many fit into the width


@dataclass(frozen=True)
class Axis:
    """From values, `low` to `high`, to places in the drawing, `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def at(self, values: ArrayLike) -> FloatArray:
        """Give the places of values."""
        share = (np.asarray(values, np.float64) - self.low) / (self.high - self.low)
        return np.asarray(self.start + share * (self.end - self.start))

    @property
    def ticks(self) -> list[float]:
        """Round values within the axis, at most seven."""
        rough = (self.high - self.low) / _MOST_TICKS
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * (1 - 1e-9))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [round(k * step, 12) for k in range(first, last + 1)]


def fitting(values: ArrayLike, start: float, end: float, within: tuple[float, float] | None = None) -> Axis:
    """Give an axis that fits the finite values, with a margin that does not leave a range."""
    known = np.asarray(values, np.float64)
    known = known[np.isfinite(known)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    margin = 0.04 * (high - low) or 0.05 * abs(high) or 0.05
    least, most = within or (-math.inf, math.inf)
    return Axis(max(low - margin, min(low, least)), min(high + margin, max(high, most)), start, end)


def element(name: str, *inside: object, **attributes: object) -> Markup:
    """Write an element: what is inside and the attributes are escaped, numbers rounded to a tenth of a unit.

    Underscores of attributes are written as hyphens, `css` as ``class``; what is empty is left out.
    """
    written = [
        Markup(' {}="{}"').format("class" if key == "css" else key.replace("_", "-"), _value(value))
        for key, value in attributes.items()
        if value not in {"", None}
    ]
    opening = Markup("<{}{}").format(name, Markup("").join(written))
    return opening + (Markup(">{}</{}>").format(Markup("").join(map(escape, inside)), name) if inside else Markup("/>"))


def _value(value: object) -> object:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else value


def line(x1: float, y1: float, x2: float, y2: float, *, css: str) -> Markup:
    """Draw a straight line."""
    return element("line", css=css, x1=x1, y1=y1, x2=x2, y2=y2)


def shape(x: FloatArray, y: FloatArray, *, css: str, closed: bool = False) -> Markup:
    """Draw a line through points, or the area that they enclose."""
    points = [f"{_value(a)} {_value(b)}" for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    kept = [point for k, point in enumerate(points) if not k or point != points[k - 1]]
    return element("path", css=css, d=f"M{'L'.join(kept)}{'Z' * closed}") if kept else Markup("")


def between(at: FloatArray, low: FloatArray, high: FloatArray, *, css: str) -> Markup:
    """Draw the area between two lines."""
    return shape(np.append(at, at[::-1]), np.append(high, low[::-1]), css=css, closed=True)


def words(x: float, y: float, text: object, **attributes: object) -> Markup:
    """Write words at a place."""
    return element("text", text, x=x, y=y, **attributes)


def row_titles(x: Axis, heights: Sequence[float], names: Sequence[str], values: Sequence[str]) -> list[Markup]:
    """Write the name of each row at the start of an axis and its value at the end; long names are shortened."""
    short = shortened(names, _LETTERS - max(map(len, values)))
    return [
        words(x.start, y, name, css="name") + words(x.end, y, value, text_anchor="end")
        for y, name, value in zip(heights, short, values, strict=True)
    ]


def grid(x: Axis, top: float, bottom: float, title: str) -> Markup:
    """Draw the vertical lines of a grid, with numbers and a title below."""
    parts = []
    for value, at in zip(x.ticks, x.at(x.ticks).tolist(), strict=True):
        parts += [
            line(at, top, at, bottom, css="grid"),
            words(at, bottom + 16.0, _label(value), text_anchor="middle"),
        ]
    middle = (x.start + x.end) / 2
    return Markup("").join([*parts, words(middle, bottom + 36.0, title, css="title", text_anchor="middle")])


def axes(x: Axis, y: Axis, x_title: str, y_title: str) -> Markup:
    """Draw the grid of two axes with their numbers and titles."""
    parts = [grid(x, y.end, y.start, x_title)]
    for value, at in zip(y.ticks, y.at(y.ticks).tolist(), strict=True):
        parts += [
            line(x.start, at, x.end, at, css="grid"),
            words(x.start - 6.0, at + 4.0, _label(value), text_anchor="end"),
        ]
    place = f"translate({x.start - 34:g} {(y.start + y.end) / 2:g}) rotate(-90)"
    parts.append(element("text", y_title, transform=place, css="title", text_anchor="middle"))
    return Markup("").join(parts)


def _label(value: float) -> str:
    """Write a number beside an axis, in the style of the tables."""
    return point_first(f"{value:.6g}")


def drawing(parts: list[Markup], height: float, named: str, **attributes: object) -> Markup:
    """Put parts into a drawing with a name for those who cannot see it."""
    box = f"0 0 {WIDTH} {height:g}"
    return element("svg", *parts, viewBox=box, role="img", aria_label=named, **attributes)
