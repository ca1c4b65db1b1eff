"""Figures of the page: charts of curves, images and classes, as SVG (`segbench.report.page.svg`).

Charts of curves are those of the plots; the page's script reads values off the points that `points` gives.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from segbench.aggregator.result import parts_if_any
from segbench.core.metric import finite, image_headline
from segbench.core.names import shortened
from segbench.core.numbers import number, number_within
from segbench.core.series import RATES
from segbench.curves.mean import MeanCurve
from segbench.drawing.axes import fitted
from segbench.drawing.charts import Area, Chart, Dot, Mark
from segbench.protocols.labels.counts import LabelCounts
from segbench.report.page.svg import WIDTH, Scale, axes, dot, drawing, element, grid, line, shape, words
from segbench.report.plots.classes import confusion_shares
from segbench.report.plots.images import spread
from segbench.report.plots.kinds import KINDS, kind_of
from segbench.report.plots.methods import Method

_LETTERS = 56  # so many fit into the width
_PROBED = 600
_MOST_DOTS = 2_000
_MOST_MATRICES = 4
_SMALL_MATRIX = 12
_LONGEST_NAME = 16  # of a class, beside the matrix
_HEIGHT = 440.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 48.0, WIDTH - 34.0, 10.0, _HEIGHT - 42.0


@dataclass(frozen=True)
class Figure:
    """A chart as the page shows it: its kind, its caption, the drawing, and what has to be said below."""

    kind: str
    caption: str
    svg: Markup
    note: str = ""


def figures(methods: Sequence[Method]) -> list[Figure]:
    """Draw the figures of one protocol, as many as have something to show."""
    charts = itertools.chain(*(kind_of(name).charts(methods) for name in KINDS))
    curves = [_of_curves(chart, methods) for chart in charts]
    matrices = map(_confusion, methods[:_MOST_MATRICES])
    return [figure for figure in (*curves, _by_image(methods), *matrices) if figure]


def points(method: Method) -> dict[str, list[float | None]] | None:
    """Return measured points to be read off: columns of the curve, evenly along it if there are many."""
    curve = method.curve
    if curve is None or isinstance(curve, MeanCurve):  # which no threshold of a network belongs to
        return None
    names = [name for space in sorted(curve.spaces) for name in RATES[space]]
    known = {name: curve.columns[name] for name in names if name in curve.columns}
    known |= curve.levels
    columns = {name: np.asarray(values, np.float64) for name, values in known.items()}
    cuts = np.asarray(curve.columns["threshold"], np.float64)
    kept = np.flatnonzero(np.all([~np.isinf(cuts), *map(np.isfinite, columns.values())], axis=0))
    if kept.size > _PROBED:
        steps = np.hypot.reduce([np.diff(values[kept]) for values in columns.values()])
        way = np.append(0, np.cumsum(steps))
        even = np.searchsorted(way, np.linspace(0, way[-1], _PROBED))
        best = method.result.summary.get("ods_threshold", math.nan)
        kept = np.union1d(kept[even], np.flatnonzero(cuts == best))
    columns = {"threshold": cuts} | columns
    return {name: [*map(_short, values[kept].tolist())] for name, values in columns.items()}


def _short(value: float) -> float | None:
    return finite(float(f"{value:.6g}"))


def _of_curves(chart: Chart, methods: Sequence[Method]) -> Figure:
    """Draw a chart of curves: guides below, the best method on top."""
    x, y = Scale(*chart.x.ends, _LEFT, _RIGHT), Scale(*chart.y.ends, _BOTTOM, _TOP)
    parts = [axes(x, y, chart.x.title, chart.y.title)]
    for guide in (*chart.guides, *chart.levels):
        known, css = np.isfinite(guide.y), "iso" if guide.is_equal_f else "chance"
        parts.append(shape(x.at(guide.x[known]), y.at(guide.y[known]), css=css))
        if guide.is_equal_f:
            end = y.place(float(guide.y[-1]))
            parts.append(words(x.end + 4.0, end + 4.0, guide.name, css="iso-text"))
    for k, marks in reversed(list(enumerate(chart.layers))):
        below = sorted(marks, key=lambda mark: not isinstance(mark, Area))
        drawn = [_mark(mark, x, y) for mark in below]
        if any(drawn):
            parts.append(_layer(methods, k, drawn))
    names = ", ".join(method.name for method in methods)
    named = f"{chart.caption}: {names}; the values are in the table of methods"
    ends = {"data_x": _ends(chart.x.column, x), "data_y": _ends(chart.y.column, y)}
    svg = drawing(parts, _HEIGHT, named, css="readable", tabindex=0, **ends)
    dotted = [f"dotted: {guide.name}" for guide in chart.levels if guide.name]
    note = "; ".join(filter(None, [chart.note, *dotted]))
    return Figure(chart.kind, chart.caption, svg, f"{note[:1].upper()}{note[1:]}")


def _mark(mark: Mark, x: Scale, y: Scale) -> Markup:
    if isinstance(mark, Area):
        across, up = np.append(mark.x, mark.x[::-1]), np.append(mark.high, mark.low[::-1])
        return shape(x.at(across), y.at(up), css="band")
    if isinstance(mark, Dot):
        return dot(x.place(mark.x), y.place(mark.y), 5.5 if mark.alone else 4.5)
    return shape(x.at(mark.x), y.at(mark.y), css="line")


def _layer(methods: Sequence[Method], k: int, parts: Sequence[Markup]) -> Markup:
    """Group what belongs to a method, so that it can be brought out."""
    leader = next((index for index, method in enumerate(methods) if method.result.competes), 0)
    css = f"method {methods[k].style.css}"
    return element("g", *parts, css=f"{css} leader" if k == leader else css, data_method=k)


def _ends(column: str, scale: Scale) -> str:
    """Write a scale for the script: what is along it, its ends, and their places in the drawing."""
    return f"{column} {scale.low:.9g} {scale.high:.9g} {scale.start:g} {scale.end:g}"


def rows(
    methods: Sequence[Method],
    title: str,
    ends: tuple[float, float],
    texts: Mapping[int, str],
    draw: Callable[[int, Scale, float], Sequence[Markup]],
    *,
    high: float,
) -> tuple[list[Markup], float]:
    """Draw a row for each method that has a text, and the axis below; return the parts and the height."""
    x, bottom = Scale(*ends, 14.0, WIDTH - 14.0), 8.0 + high * len(texts)
    parts = [grid(x, 8.0, bottom, title)]
    names = shortened([methods[k].name for k in texts], _LETTERS - max(map(len, texts.values())))
    for row, (k, name) in enumerate(zip(texts, names, strict=True)):
        top = 8.0 + high * row
        left = words(x.start, top + 14.0, name, css="name")
        right = words(x.end, top + 14.0, texts[k], text_anchor="end")
        parts.append(_layer(methods, k, [left, right, *draw(k, x, top)]))
    return parts, bottom + 42.0


def _by_image(methods: Sequence[Method]) -> Figure | None:
    """Draw a dot for each image in a row for each method, at the same height in each row."""
    metric = image_headline(methods[0].result.metrics)
    values = {k: list(method.values.values()) for k, method in enumerate(methods) if method.values}
    if not values:
        return None
    crowded = [k for k, image_values in values.items() if len(image_values) > _MOST_DOTS]
    heights = spread(sorted({name for k in values if k not in crowded for name in methods[k].values}))
    caption = f"{metric.quantity_of_images} of each image"
    ends = fitted(np.concatenate([*values.values()]), metric.range)
    medians = {}
    for k, of_images in values.items():
        lower, median, upper = np.quantile(of_images, [0.25, 0.5, 0.75]).tolist()
        medians[k] = f"median {number_within(median, lower, upper)}"

    def draw(k: int, x: Scale, top: float) -> list[Markup]:
        return _row_of_images(methods[k].values, x, top + 36.0, heights)

    parts, height = rows(methods, caption, ends, medians, draw, high=58.0)
    names = ", ".join(methods[k].name for k in values)
    named = f"{caption}: a row for each of {names}; the values are in the table"
    note = "The bar spans the quartiles, and the tall mark is the median"
    if crowded:
        note += f"; of more than {_MOST_DOTS} images, a line from the lowest to the highest replaces the dots"
    return Figure("images", caption, drawing(parts, height, named), note)


def _row_of_images(values: Mapping[str, float], x: Scale, middle: float, heights: Mapping[str, float]) -> list[Markup]:
    numbers = list(values.values())
    left, centre, right = x.at(np.quantile(numbers, [0.25, 0.5, 0.75])).tolist()
    parts = [
        element("rect", css="box", x=left, y=middle - 15, width=right - left, height=30),
        element("rect", css="fill", x=centre - 1.25, y=middle - 18, width=2.5, height=36),
    ]
    if len(values) > _MOST_DOTS:
        ends = x.at([min(numbers), max(numbers)]).tolist()
        return [*parts, line(ends[0], middle, ends[1], middle, css="whisker")]
    for image, value in sorted(values.items()):
        title = element("title", f"{image}: {number(value)}")
        at = {"cx": x.place(value), "cy": middle + 15 * heights[image], "r": 2.7}
        parts.append(element("circle", title, css="image", **at, data_image=image))
    return parts


def _confusion(method: Method) -> Figure | None:
    """Draw a confusion matrix, as shares of the pixels of the true class."""
    adds_up = parts_if_any(method.result, "class") and not method.result.averages_runs
    pooled = method.result.pooled if adds_up else None
    if not isinstance(pooled, LabelCounts):
        return None
    matrix, names = pooled.matrix, pooled.label_names
    shares, columns = confusion_shares(matrix, names)
    short = shortened(columns, _LONGEST_NAME)
    left, top = 110.0, 14.0
    side = min((WIDTH - left - 10.0) / len(columns), 40.0)
    bottom = top + side * len(names)
    letters = max(3.0, min(12.0, 0.8 * side))
    name_of = {"text_anchor": "end", "font_size": letters}
    parts = []
    for k, name in enumerate(short):
        at = side * (k + 0.5) + 4
        turned = f"translate({left + at:.1f} {bottom + 6:.1f}) rotate(-90)"
        parts.append(element("text", name, transform=turned, **name_of))
        if k < len(names):
            parts.append(words(left - 6, top + at, name, **name_of))
    # What rounds to 0 % is left out.
    for row, column in np.argwhere(np.nan_to_num(shares) >= 0.005).tolist():
        share = float(shares[row, column])
        x, y = left + side * column, top + side * row
        title = f"{names[row]}, predicted as {columns[column]}: {share:.2%}"
        cell = {"width": side - 0.5, "height": side - 0.5, "fill_opacity": f"{share:.2f}"}
        parts.append(element("rect", element("title", title), css="fill", x=x, y=y, **cell))
        if len(names) <= _SMALL_MATRIX:
            shade = "cell dark" if share > 0.5 else "cell"
            middle = {"x": x + side / 2, "y": y + side / 2 + 4, "text_anchor": "middle"}
            parts.append(element("text", f"{100 * share:.0f}", css=shade, **middle))
    size = {"width": side * len(columns), "height": side * len(names)}
    parts.append(element("rect", css="frame", x=left, y=top, **size))
    caption = f"Confusion matrix of {method.name}"
    named = f"{caption}: the true class in rows, the predicted one in columns"
    height = bottom + 12.0 + 0.6 * letters * max(map(len, short))
    svg = drawing([element("g", *parts, css=method.style.css)], height, named)
    note = "Percent of the pixels of the true class (rows) by predicted class (columns)"
    return Figure("confusion", caption, svg, note)
