"""Figures of the page: charts of curves, images and classes, as SVG (`segbench.report.page.svg`).

Charts of curves are those of the plots; the page's script reads values off the points that `readings` gives.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from markupsafe import Markup

from segbench.aggregator.result import parts_if_any
from segbench.core.arrays import FloatArray
from segbench.core.metric import finite, image_headline
from segbench.core.names import shortened
from segbench.core.numbers import digits_within, number
from segbench.core.series import RATES
from segbench.curves.mean import MeanCurve
from segbench.drawing.axes import fitted
from segbench.drawing.charts import Area, Chart, Dot, Mark
from segbench.drawing.palette import OTHER
from segbench.protocols.labels.counts import LabelCounts
from segbench.report.page.lines import FOLDED, ChartLine, LineAxis
from segbench.report.page.svg import NOTHING_DRAWN, WIDTH, Scale, axes, dot, drawing, element, shape, words
from segbench.report.plots.classes import confusion_shares
from segbench.report.plots.images import spread
from segbench.report.plots.kinds import KINDS, kind_of
from segbench.report.plots.methods import Method

_PROBED = 7_200  # points of all methods together
_MOST_PROBED, _FEWEST_PROBED = 600, 40
_MOST_DOTS = 2_000
_MOST_MATRICES = 4
_LEAST_SHARE = 0.005  # what rounds to 0 %
_LEAST_DIGITS = 8.0  # smaller numbers cannot be read
_LONGEST_NAME = 16  # of a class, beside the matrix
_STEP = 2.0  # between the points of grey lines
_HEIGHT = 360.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 48.0, WIDTH - 34.0, 10.0, _HEIGHT - 42.0


@dataclass(frozen=True)
class Figure:
    """A chart as the page shows it: its kind, its caption, what has to be said below, and a drawing or lines."""

    kind: str
    caption: str
    svg: Markup = NOTHING_DRAWN
    note: str = ""
    axis: LineAxis | None = None
    lines: tuple[ChartLine, ...] = ()


def figures(methods: Sequence[Method]) -> list[Figure]:
    """Draw the figures of one protocol, as many as have something to show."""
    # Bands are of methods in colour alone.
    banded = [method if method.style.colour != OTHER else replace(method, intervals=None) for method in methods]
    charts = itertools.chain(*(kind_of(name).charts(banded) for name in KINDS))
    curves = [_of_curves(chart, methods) for chart in charts]
    return [figure for figure in (*curves, _by_image(methods), *_confusions(methods[:_MOST_MATRICES])) if figure]


def readings(methods: Sequence[Method]) -> list[dict[str, list[float | None]] | None]:
    """Return the points of each method that can be read off; of many methods fewer of each."""
    most = min(_MOST_PROBED, max(_FEWEST_PROBED, _PROBED // len(methods)))
    return [_points(method, most) for method in methods]


def _points(method: Method, most: int) -> dict[str, list[float | None]] | None:
    """Return at most so many measured points to be read off: columns of the curve, evenly along it."""
    curve = method.curve
    if curve is None or isinstance(curve, MeanCurve):  # which no threshold of a network belongs to
        return None
    names = [name for space in sorted(curve.spaces) for name in RATES[space]]
    known = {name: curve.columns[name] for name in names if name in curve.columns}
    known |= curve.levels
    columns = {name: np.asarray(values, np.float64) for name, values in known.items()}
    cuts = np.asarray(curve.columns["threshold"], np.float64)
    kept = np.flatnonzero(np.all([~np.isinf(cuts), *map(np.isfinite, columns.values())], axis=0))
    if kept.size > most:
        steps = np.hypot.reduce([np.diff(values[kept]) for values in columns.values()])
        way = np.append(0, np.cumsum(steps))
        even = np.searchsorted(way, np.linspace(0, way[-1], most))
        best = method.result.summary.get("ods_threshold", math.nan)
        kept = np.union1d(kept[even], np.flatnonzero(cuts == best))
    columns = {"threshold": cuts} | columns
    return {name: [*map(_short, values[kept].tolist())] for name, values in columns.items()}


def _short(value: float) -> float | None:
    return finite(float(f"{value:.6g}"))


def _of_curves(chart: Chart, methods: Sequence[Method]) -> Figure:
    """Draw a chart of curves: guides below, the best method on top."""
    x, y = Scale(*chart.x.ends, _LEFT, _RIGHT, chart.x.ticks), Scale(*chart.y.ends, _BOTTOM, _TOP)
    parts = [axes(x, y, chart.x.title, chart.y.title)]
    for guide in (*chart.guides, *chart.levels):
        known, css = np.isfinite(guide.y), "iso" if guide.is_equal_f else "chance"
        parts.append(shape(x.at(guide.x[known]), y.at(guide.y[known]), css=css))
        if guide.is_equal_f:
            end = y.place(float(guide.y[-1]))
            parts.append(words(x.end + 4.0, end + 4.0, guide.name, css="iso-text"))
    for k, marks in reversed(list(enumerate(chart.layers))):
        below = sorted(marks, key=lambda mark: not isinstance(mark, Area))
        step = _STEP if methods[k].style.colour == OTHER else 0.0
        drawn = [_mark(mark, x, y, step) for mark in below]
        if any(drawn):
            parts.append(_layer(methods, k, drawn))
    names = ", ".join(method.name for method in methods)
    named = f"{chart.caption}: {names}; the values are in the table of methods"
    ends = {"data_x": _ends(chart.x.column, x), "data_y": _ends(chart.y.column, y)}
    svg = drawing(parts, _HEIGHT, named, css="readable", tabindex=0, **ends)
    dotted = [f"dotted: {guide.name}" for guide in chart.levels if guide.name]
    note = "; ".join(filter(None, [chart.note, *dotted]))
    return Figure(chart.kind, chart.caption, svg, f"{note[:1].upper()}{note[1:]}")


def _mark(mark: Mark, x: Scale, y: Scale, step: float) -> Markup:
    if isinstance(mark, Area):
        across, up = np.append(mark.x, mark.x[::-1]), np.append(mark.high, mark.low[::-1])
        return shape(x.at(across), y.at(up), css="band")
    if isinstance(mark, Dot):
        return dot(x.place(mark.x), y.place(mark.y), 5.5 if mark.alone else 4.5)
    return shape(x.at(mark.x), y.at(mark.y), css="line", step=step)


def _layer(methods: Sequence[Method], k: int, parts: Sequence[Markup]) -> Markup:
    """Group what belongs to a method, so that it can be brought out."""
    leader = next((index for index, method in enumerate(methods) if method.result.competes), 0)
    css = f"method {methods[k].style.css}"
    return element("g", *parts, css=f"{css} leader" if k == leader else css, data_method=k)


def _ends(column: str, scale: Scale) -> str:
    """Write a scale for the script: what is along it, its ends, and their places in the drawing."""
    return f"{column} {scale.low:.9g} {scale.high:.9g} {scale.start:g} {scale.end:g}"


def _by_image(methods: Sequence[Method]) -> Figure | None:
    """Draw a point for each image in a line for each method, at the same height in each line."""
    metric = image_headline(methods[0].result.metrics)
    known = {k: method.values for k, method in enumerate(methods) if method.values}
    if not known:
        return None
    images = images_of(methods)
    heights = [*spread(images).values()] if len(images) <= _MOST_DOTS else []
    shown = np.concatenate([[*values.values()] for values in [*known.values()][:FOLDED]])
    axis = LineAxis(metric.quantity_of_images, *fitted(shown, metric.range))
    quartiles_of = {k: np.quantile([*values.values()], [0.25, 0.5, 0.75]).tolist() for k, values in known.items()}
    digits = max(digits_within(low, high) for low, _, high in quartiles_of.values())  # alike, so that these align
    lines: list[ChartLine] = []
    for k, values in known.items():
        of_images, quartiles = [*values.values()], quartiles_of[k]
        has_points = bool(heights) and len(lines) < FOLDED
        parts = axis.spread(quartiles, None if has_points else (min(of_images), max(of_images)))
        if has_points:
            parts.append(axis.points([values.get(image, math.nan) for image in images], heights))
        lines.append(ChartLine(methods[k].name, axis.drawn(parts), number(quartiles[1], digits=digits), k))
    note = "The bar spans the quartiles, the tall mark and the number are the median"
    if not heights:
        note += f"; of more than {_MOST_DOTS} images, a line from the lowest to the highest replaces the points"
    elif len(lines) > FOLDED:
        note += (
            f"; below the first {FOLDED} methods, whose values fill the axis, a line joins the lowest and the highest"
        )
    return Figure("images", f"{metric.quantity_of_images} of each image", note=note, axis=axis, lines=tuple(lines))


def images_of(methods: Sequence[Method]) -> list[str]:
    """Name the images of which some method has the metric of images, sorted."""
    return sorted(set().union(*(method.values for method in methods)))


def _confusions(methods: Sequence[Method]) -> list[Figure]:
    """Draw confusion matrices, as shares of the pixels of the true class: errors alone in colour, on one scale."""
    matrices = {}
    for method in methods:
        adds_up = parts_if_any(method.result, "class") and not method.result.averages_runs
        pooled = method.result.pooled if adds_up else None
        if isinstance(pooled, LabelCounts):
            matrices[method.name] = (*confusion_shares(pooled.matrix, pooled.label_names), pooled.label_names)
    errors = [np.nan_to_num(shares[~np.eye(*shares.shape, dtype=np.bool_)]) for shares, *_ in matrices.values()]
    most = max((float(of_method.max(initial=0)) for of_method in errors), default=0)
    return [
        _confusion(name, shares, names, columns, max(most, _LEAST_SHARE))
        for name, (shares, columns, names) in matrices.items()
    ]


def _confusion(method: str, shares: FloatArray, names: Sequence[str], columns: Sequence[str], most: float) -> Figure:
    """Draw the confusion matrix of a method; the strongest colour is that of the greatest share of errors of all."""
    short = shortened(columns, _LONGEST_NAME)
    left, top = 110.0, 14.0
    side = min((WIDTH - left - 10.0) / len(columns), 64.0)
    bottom = top + side * len(names)
    letters = max(3.0, min(12.0, 0.8 * side))
    digits = min(11.0, 0.6 * side)
    name_of = {"text_anchor": "end", "font_size": letters}
    parts = []
    for k, name in enumerate(short):
        at = side * (k + 0.5) + 4
        turned = f"translate({left + at:.1f} {bottom + 6:.1f}) rotate(-90)"
        parts.append(element("text", name, transform=turned, **name_of))
        if k < len(names):
            parts.append(words(left - 6, top + at, name, **name_of))
    for row, column in np.argwhere(np.nan_to_num(shares) >= _LEAST_SHARE).tolist():
        share, is_error = float(shares[row, column]), row != column
        x, y = left + side * column, top + side * row
        title = f"{names[row]}, predicted as {columns[column]}: {share:.2%}"
        cell = {"width": side - 0.5, "height": side - 0.5, "fill_opacity": f"{share / most:.2f}" if is_error else ""}
        parts.append(element("rect", element("title", title), css="error" if is_error else "right", x=x, y=y, **cell))
        if digits >= _LEAST_DIGITS:
            shade = "cell dark" if is_error and share > most / 2 else "cell"
            middle = {"x": x + side / 2, "y": y + side / 2 + 0.35 * digits, "text_anchor": "middle"}
            parts.append(element("text", f"{100 * share:.0f}", css=shade, font_size=digits, **middle))
    size = {"width": side * len(columns), "height": side * len(names)}
    parts.append(element("rect", css="frame", x=left, y=top, **size))
    caption = f"Confusion matrix of {method}"
    named = f"{caption}: the true class in rows, the predicted one in columns"
    height = bottom + 12.0 + 0.6 * letters * max(map(len, short))
    note = "Percent of the pixels of the true class (rows) by predicted class (columns)"
    note += f"; errors in colour, the strongest {100 * most:.2g} % in all matrices"
    return Figure("confusion", caption, drawing(parts, height, named), note)
