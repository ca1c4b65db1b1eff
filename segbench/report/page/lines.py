"""Charts with a line of 24 px for each method: texts are cells of a table, and the drawings beside them share one axis.

A drawing is as wide as its cell, so that its places are percent and its letters those of the page.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from markupsafe import Markup

from segbench.report.page.svg import Scale, element

LINE = 24.0
"""Pixels from one line to the next."""
FOLDED = 12
"""A list of more lines is folded: it shows six, as many as there are methods in colour."""
_MIDDLE = LINE / 2
_START, _END = 3.0, 97.0  # percent, so that a point at the end of the axis is whole


@dataclass(frozen=True)
class LineAxis:
    """The axis of a column of drawings: its title, its ends, and the value that is marked, such as no difference."""

    title: str
    low: float
    high: float
    marked: float | None = None

    @property
    def _scale(self) -> Scale:
        return Scale(self.low, self.high, _START, _END)

    @cached_property
    def _ticks(self) -> list[tuple[float, str]]:
        return self._scale.ticks

    def percent(self, value: float) -> str:
        """Return the place of a value along the axis."""
        return f"{self._scale.place(value):.2f}%"

    @cached_property
    def grid(self) -> Markup:
        """Lines behind the drawing of one method, which those of the next go on with."""
        lines = [_upright(f"{x:.2f}%", "grid") for x, _ in self._ticks]
        lines += [] if self.marked is None else [_upright(self.percent(self.marked), "zero")]
        return Markup("").join(lines)

    @property
    def numbers(self) -> Markup:
        """The numbers of the axis, for a line below the others."""
        texts = [element("text", label, x=f"{x:.2f}%", y=15.0, text_anchor="middle") for x, label in self._ticks]
        return _drawing(texts, css="numbers")

    def drawn(self, parts: Sequence[Markup]) -> Markup:
        """Put parts into the drawing of one line, over the grid; what it shows stands beside it as text."""
        return _drawing([self.grid, *parts])

    def interval(self, value: float, ends: tuple[float, float], *, hollow: bool = False) -> list[Markup]:
        """Draw a value with its interval, if it has one; of one beyond the axis an arrow to its side."""
        if math.isnan(value):
            return []
        parts = []
        if not math.isnan(ends[0]) and ends[1] > self.low and ends[0] < self.high:
            parts.append(self._level("whisker", (self._within(ends[0]), self._within(ends[1]))))
        if not self.low <= value <= self.high:
            arrow, x, anchor = ("◂", "0%", "start") if value < self.low else ("▸", "100%", "end")
            return [*parts, element("text", arrow, css="beyond", x=x, y=16.0, text_anchor=anchor)]
        css = "dot hollow" if hollow else "dot"
        return [*parts, element("circle", css=css, cx=self.percent(value), cy=_MIDDLE, r=4.5)]

    def small(self, value: float, ends: tuple[float, float], offset: float, *, css: str, method: int) -> list[Markup]:
        """Draw one of several methods in a line, with its interval, off the middle; nothing of an undefined value."""
        if math.isnan(value):
            return []
        y = _MIDDLE + offset
        parts = [] if math.isnan(ends[0]) else [self._level("thin", ends, y)]
        parts.append(element("circle", css="dot", cx=self.percent(value), cy=y, r=2.8))
        return [element("g", *parts, css=f"method {css}", data_method=method)]

    def _level(self, css: str, ends: tuple[float, float], y: float = _MIDDLE) -> Markup:
        x1, x2 = map(self.percent, ends)
        return element("line", css=css, x1=x1, x2=x2, y1=y, y2=y)

    def spread(self, quartiles: Sequence[float], ends: tuple[float, float] | None) -> list[Markup]:
        """Draw a box from quartile to quartile, the median, and a line between the ends if there are any."""
        left, median, right = (self._scale.place(self._within(value)) for value in quartiles)
        box = {"x": f"{left:.2f}%", "width": f"{right - left:.2f}%", "y": 3.0, "height": LINE - 6.0}
        line = [] if ends is None else [self._level("range", (self._within(ends[0]), self._within(ends[1])))]
        return [*line, element("rect", css="box", **box), _upright(f"{median:.2f}%", "median")]

    def _within(self, value: float) -> float:
        return min(max(value, self.low), self.high)

    @property
    def ends_of_points(self) -> str:
        """Write the axis of `points` for the script: its ends, and their places."""
        return f"{self.low:.9g} {self.high:.9g} {10 * _START:g} {10 * _END:g}"

    def points(self, values: Iterable[float], heights: Iterable[float]) -> Markup:
        """Draw a point for each value, from -1 to 1 above the middle; an undefined one lies outside.

        It is one path in a drawing of 1000 units that stretches, with points that do not.
        """
        scale = Scale(self.low, self.high, 10 * _START, 10 * _END)
        starts = [
            "M-9-9h0" if math.isnan(value) else f"M{scale.place(value):.1f} {_MIDDLE + 8 * height:.1f}h0"
            for value, height in zip(values, heights, strict=True)
        ]
        path = element("path", css="points", d="".join(starts).replace(".0 ", " ").replace(".0h", "h"))
        view = f"0 0 1000 {LINE:g}"
        return element("svg", path, width="100%", height=LINE, viewBox=view, preserveAspectRatio="none")


def _drawing(parts: Sequence[Markup], *, css: str = "") -> Markup:
    return element("svg", *parts, css=css, width="100%", height=LINE, aria_hidden="true")


def _upright(x: str, css: str) -> Markup:
    return element("line", css=css, x1=x, x2=x, y1=0.0, y2=LINE)


@dataclass(frozen=True)
class ChartLine:
    """A line of a chart: its name, a drawing along the axis, a text behind it, and the method that it is of, if one."""

    name: str
    drawing: Markup
    text: str = ""
    method: int | None = None
