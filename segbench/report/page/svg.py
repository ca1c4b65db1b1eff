"""SVG of the page's charts: scales, elements, points, lines, texts and axes.

Colours and strokes are classes of the page's style sheet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup, escape
from numpy.typing import ArrayLike

from segbench.core.arrays import FloatArray
from segbench.core.numbers import point_first

WIDTH = 480
"""Units across a chart whatever the screen, so that charts side by side have letters of one size."""
_MOST_TICKS = 6
NOTHING_DRAWN = Markup("")


@dataclass(frozen=True)
class Scale:
    """From values, `low` to `high`, to places in the drawing, `start` to `end`; with the ticks that it is to have."""

    low: float
    high: float
    start: float
    end: float
    own_ticks: tuple[tuple[float, str], ...] = ()

    def at(self, values: ArrayLike) -> FloatArray:
        """Return the positions of values in the drawing."""
        share = (np.asarray(values, np.float64) - self.low) / (self.high - self.low)
        return np.asarray(self.start + share * (self.end - self.start))

    def place(self, value: float) -> float:
        """Return the position of a value in the drawing."""
        return float(self.at(value))

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Its own, or round values within the scale, at most seven: the place of each, and what is written there."""
        if self.own_ticks:
            return [(self.place(value), written) for value, written in self.own_ticks]
        from matplotlib.ticker import MaxNLocator

        ticks = MaxNLocator(_MOST_TICKS, steps=[1, 2, 5, 10]).tick_values(self.low, self.high)
        values = np.round(ticks, 12)
        kept = values[(values >= self.low) & (values <= self.high)].tolist()
        return [(self.place(value), point_first(f"{value:.6g}")) for value in kept]


def element(name: str, *inside: object, **attributes: object) -> Markup:
    """Write an element, all escaped, numbers rounded to a tenth; `css` is ``class``, and what is empty is left out."""
    written = "".join(
        f' {"class" if key == "css" else key.replace("_", "-")}="{escape(_attribute(value))}"'
        for key, value in attributes.items()
        if value not in ("", None)
    )
    content = "".join(map(escape, inside))
    return Markup(f"<{name}{written}>{content}</{name}>" if inside else f"<{name}{written}/>")  # noqa: S704  all escaped


def _attribute(value: object) -> object:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else value


def dot(x: float, y: float, r: float) -> Markup:
    """Draw a point."""
    return element("circle", css="dot", cx=x, cy=y, r=r)


def line(x1: float, y1: float, x2: float, y2: float, *, css: str) -> Markup:
    """Draw a straight line."""
    return element("line", css=css, x1=x1, y1=y1, x2=x2, y2=y2)


def shape(x: FloatArray, y: FloatArray, *, css: str, step: float = 0.0) -> Markup:
    """Draw a line through points, without those that lie less than a `step` from the one before."""
    points = list(zip(x.tolist(), y.tolist(), strict=True))
    if step:
        points = _thinned(points, step)
    written = [f"{_attribute(a)} {_attribute(b)}" for a, b in points]
    kept = [point for k, point in enumerate(written) if not k or point != written[k - 1]]
    return element("path", css=css, d=f"M{'L'.join(kept)}") if kept else Markup("")


def _thinned(points: Sequence[tuple[float, float]], step: float) -> list[tuple[float, float]]:
    """Return the points that lie a step from the one kept before, and the last."""
    kept = [*points[:1]]
    for x, y in points[1:-1]:
        if abs(x - kept[-1][0]) + abs(y - kept[-1][1]) >= step:
            kept.append((x, y))
    return [*kept, *points[1:][-1:]]


def words(x: float, y: float, text: object, **attributes: object) -> Markup:
    """Draw text at (x, y)."""
    return element("text", text, x=x, y=y, **attributes)


def grid(x: Scale, top: float, bottom: float, title: str) -> Markup:
    """Draw the vertical lines of a grid, with numbers and a title below."""
    parts = []
    for at, label in x.ticks:
        parts.append(line(at, top, at, bottom, css="grid"))
        parts.append(words(at, bottom + 16.0, label, text_anchor="middle"))
    middle = (x.start + x.end) / 2
    parts.append(words(middle, bottom + 36.0, title, css="title", text_anchor="middle"))
    return Markup("").join(parts)


def axes(x: Scale, y: Scale, x_title: str, y_title: str) -> Markup:
    """Draw the grid of two axes with their numbers and titles."""
    parts = [grid(x, y.end, y.start, x_title)]
    for at, label in y.ticks:
        parts.append(line(x.start, at, x.end, at, css="grid"))
        parts.append(words(x.start - 6.0, at + 4.0, label, text_anchor="end"))
    transform = f"translate({x.start - 34:g} {(y.start + y.end) / 2:g}) rotate(-90)"
    parts.append(element("text", y_title, transform=transform, css="title", text_anchor="middle"))
    return Markup("").join(parts)


def drawing(parts: list[Markup], height: float, named: str, **attributes: object) -> Markup:
    """Put parts into a drawing with a name for those who cannot see it."""
    box = f"0 0 {WIDTH} {height:g}"
    return element("svg", *parts, viewBox=box, role="img", aria_label=named, **attributes)
