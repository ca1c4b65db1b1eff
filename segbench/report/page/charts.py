"""Charts of the page: curves, measures against the threshold, images, classes, as SVG that needs no script.

Lines come from `Series` and bands from `segbench.statistics.bands`, as those of the plots. The page's script reads
values off the points that `points` gives. What is undefined is not drawn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import ArrayLike

from segbench.aggregator.result import Result
from segbench.core.capabilities import competes
from segbench.core.errors import ArgumentError
from segbench.core.integers import FloatArray
from segbench.core.metric import headline, image_headline
from segbench.core.names import shortened
from segbench.core.numbers import many, number
from segbench.core.series import AXES, RATES, Series, Space
from segbench.drawing.axes import equal_f
from segbench.drawing.palette import COLOURS, DASHES, LineStyle
from segbench.drawing.series import drawn_line, thinned
from segbench.report.page.svg import (
    WIDTH,
    Axis,
    axes,
    between,
    drawing,
    element,
    fitting,
    grid,
    line,
    row_titles,
    shape,
    words,
)
from segbench.report.plots.methods import classes_add_up
from segbench.report.tables import Table, class_results
from segbench.statistics.bands import curve_band
from segbench.statistics.intervals import Intervals

_PROBED = 600
_MOST_DOTS = 2_000
_MOST_MATRICES = 4
_MOST_RESAMPLED = 150  # bars with intervals, each of which is resampled alone: .06 s for 500 images
_SMALL_MATRIX = 12
_LONGEST_NAME = 16  # of a class, beside the matrix
_DIGITS = 4
_DASH_NAMES = ("", "dash", "dashdot", "dot-line", "longdash")
_CAPTIONS = {
    "pr": "Precision and recall",
    "roc": "ROC",
    "PRI": "Probabilistic Rand index",
    "VOI": "Variation of information, in bits",
}
_HEIGHT = 440.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 48.0, WIDTH - 34.0, 10.0, _HEIGHT - 42.0


@dataclass(frozen=True)
class Method:
    """A method as the page shows it.

    Parameters
    ----------
    name : str
    result : Result
    css : str
        Classes of the style sheet that say its colour and dashes.
    intervals : Intervals, optional
    values : mapping of str to float
        The metric that ranks images, of those where it is defined.
    """

    name: str
    result: Result
    css: str
    intervals: Intervals | None
    values: Mapping[str, float]


@dataclass(frozen=True)
class Chart:
    """A chart: its kind, its caption, the drawing, and what has to be said below."""

    kind: str
    caption: str
    svg: Markup
    note: str = ""

    @property
    def readable(self) -> bool:
        """Whether the script reads values off it."""
        return "data-x" in self.svg


def css_of(style: LineStyle) -> str:
    """Name the classes of the style sheet for a line."""
    colour = COLOURS.index(style.colour) if style.colour in COLOURS else len(COLOURS)
    return f"c{colour} {_DASH_NAMES[DASHES.index(style.dashes)]}".rstrip()


def charts(methods: Sequence[Method]) -> list[Chart]:
    """Draw the charts of one protocol, as many as have something to show."""
    drawn = [_in_space(methods, "pr"), _in_space(methods, "roc"), *_against_thresholds(methods)]
    return [chart for chart in (*drawn, _scatter(methods), _by_image(methods), *_by_class(methods)) if chart]


def curve_of(method: Method) -> Series | None:
    """Give the curve of a method if it can be drawn: it has thresholds, and its headline is defined."""
    result = method.result
    if not result.published and not result.counts:
        return None
    curve = result.drawn
    if (
        curve is None
        or not curve.columns["threshold"].size
        or math.isnan(result.summary[headline(result.rules.metrics()).key])
    ):
        return None
    return curve


def points(method: Method) -> dict[str, list[float | None]] | None:
    """Give measured points to be read off: columns of the curve, evenly along it if there are many."""
    curve = curve_of(method)
    if curve is None:
        return None
    names = [name for space in sorted(curve.spaces) for name in RATES[space]] or list(curve.levels)
    columns = {name: np.asarray(curve.columns[name], np.float64) for name in names if name in curve.columns}
    columns |= {name: np.asarray(values, np.float64) for name, values in curve.levels.items()}
    cuts = np.asarray(curve.columns["threshold"], np.float64)
    kept = np.flatnonzero(np.all([~np.isinf(cuts), *map(np.isfinite, columns.values())], axis=0))
    if kept.size > _PROBED:
        steps = np.hypot.reduce([np.diff(values[kept]) for values in columns.values()])
        way = np.append(0, np.cumsum(steps))
        some = kept[np.unique(np.searchsorted(way, np.linspace(0, way[-1], _PROBED)))]
        kept = np.union1d(some, np.flatnonzero(cuts == method.result.summary.get("ods_threshold", math.nan)))
    return {"threshold": [_plain(value) for value in cuts[kept]]} | {
        name: [_plain(value) for value in values[kept]] for name, values in columns.items()
    }


def _in_space(methods: Sequence[Method], space: Space) -> Chart | None:
    """Draw the curves in a space: bands below, the best on top."""
    curves = [(k, curve) for k, method in enumerate(methods) if (curve := curve_of(method)) and space in curve.spaces]
    if not curves:
        return None
    x, y = Axis(0, 1, _LEFT, _RIGHT), Axis(0, 1, _BOTTOM, _TOP)
    x_title, y_title = (title[0].upper() + title[1:] for title in AXES[space])
    parts = [axes(x, y, x_title, y_title)]
    if space == "pr":
        parts += _equal_f(x, y, curves[0][1].beta2)
        rates = {round(curve.prevalence, _DIGITS) for _, curve in curves if not math.isnan(curve.prevalence)}
        parts += [line(x.start, at, x.end, at, css="chance") for at in y.at(sorted(rates)).tolist()]
    else:
        parts.append(line(x.start, y.start, x.end, y.end, css="chance"))
    note = ""
    for k, curve in reversed(curves):
        band = _band(space, methods[k], x, y)
        note = _band_note(methods[k]) if band else note
        dots = _best_points(methods[k], x, y) if space == "pr" else []
        parts.append(_layer(methods, k, [*band, *_line(*drawn_line(curve, space), x, y), *dots]))
    return Chart(space, _CAPTIONS[space], _readable(parts, methods, _CAPTIONS[space], x, y, columns=RATES[space]), note)


def _band_note(method: Method) -> str:
    """Say what the area around a curve is; nothing without intervals."""
    drawn = method.intervals
    if drawn is None:
        return ""
    band = f"pointwise {100 * drawn.level:g} % bootstrap band of the best method or those chosen"
    return f"Shaded: {band}, {drawn.replicates} resamples of images"


def _equal_f(x: Axis, y: Axis, beta2: float) -> list[Markup]:
    parts = []
    for f in np.arange(1, 10) / 10:
        recall, precision = equal_f(f, beta2, 40)
        known = np.isfinite(precision)
        parts.append(shape(x.at(recall[known]), y.at(precision[known]), css="iso"))
        label = f"F{f:.1f}".replace("0.", " .")
        parts.append(words(x.end + 4.0, float(y.at(precision[-1])) + 4.0, label, css="iso-text"))
    return parts


def _line(across: FloatArray, up: FloatArray, x: Axis, y: Axis) -> list[Markup]:
    if across.size == 1:
        return [element("circle", css="dot", cx=float(x.at(across[0])), cy=float(y.at(up[0])), r=5.5)]
    if not across.size:
        return []
    across, up = thinned(across, up)
    return [shape(x.at(across), y.at(up), css="line")]


def _best_points(method: Method, x: Axis, y: Axis) -> list[Markup]:
    """Mark the best F of a curve."""
    summary = method.result.summary
    best = [summary.get(name, math.nan) for name in ("ods_recall", "ods_precision")]
    if not np.isfinite(best).all():
        return []
    return [element("circle", css="dot", cx=float(x.at(best[0])), cy=float(y.at(best[1])), r=4.5)]


def _band(space: Space, method: Method, x: Axis, y: Axis) -> list[Markup]:
    """Draw the band over images around a curve."""
    drawn = method.intervals
    if not drawn or len(method.result.counts) < 2:
        return []
    level, replicates, seed = drawn.level, drawn.replicates, drawn.seed
    try:
        band = curve_band(method.result.table, space=space, level=level, replicates=replicates, seed=seed)
    except ArgumentError:  # of a table without `heights`
        return []
    known = np.isfinite(band.low) & np.isfinite(band.high)
    ends = x.at(band.at[known]), y.at(band.low[known]), y.at(band.high[known])
    return [between(*ends, css="band")] if known.any() else []


def _against_thresholds(methods: Sequence[Method]) -> list[Chart]:
    """Draw each measure against the threshold; nothing where every method has a single one."""
    curves = [(k, curve) for k, method in enumerate(methods) if (curve := curve_of(method))]
    several = [(k, curve) for k, curve in curves if curve.against_threshold()[0].size > 1]
    if not several:
        return []
    x = fitting(np.concatenate([curve.against_threshold()[0] for _, curve in several]), _LEFT, _RIGHT)
    if x.low > -0.2 and x.high < 1.2:
        x = Axis(0, 1, _LEFT, _RIGHT)
    names = dict.fromkeys(name for _, curve in several for name in curve.levels)
    return [_against_threshold(methods, several, name, x) for name in names]


def _against_threshold(methods: Sequence[Method], curves: Sequence[tuple[int, Series]], name: str, x: Axis) -> Chart:
    lines = []
    for k, curve in curves:
        at, up = (np.asarray(values, np.float64) for values in (curve.columns["threshold"], curve.levels[name]))
        known = np.isfinite(at) & np.isfinite(up)
        order = np.argsort(at[known], kind="stable")
        # At any threshold up to a score, and above the next lower one, the same pixels are predicted.
        times = 2 if curve.steps else 1
        if not known.any():
            continue
        steps = np.repeat(at[known][order], times), np.repeat(up[known][order], times)
        lines.append((k, (steps[0][: 1 - times or None], steps[1][times - 1 :])))
    highest = max((float(up.max()) for _, (_, up) in lines), default=0.0)
    y = Axis(0, 1 if highest <= 1 else 1.04 * highest, _BOTTOM, _TOP)
    title = name[:1].upper() + name[1:]
    parts = [axes(x, y, "Threshold", title)]
    for k, (at, up) in reversed(lines):
        unit = thinned((at - x.low) / (x.high - x.low), up / y.high)
        places = Axis(0, 1, x.start, x.end).at(unit[0]), Axis(0, 1, y.start, y.end).at(unit[1])
        parts.append(_layer(methods, k, [shape(*places, css="line")]))
    caption = f"{_CAPTIONS.get(name, title)} at each threshold"
    return Chart(f"threshold-{name}", caption, _readable(parts, methods, caption, x, y, columns=("threshold", name)))


def _layer(methods: Sequence[Method], k: int, parts: Sequence[Markup]) -> Markup:
    """Group what belongs to a method, so that it can be brought out."""
    leader = next((place for place, method in enumerate(methods) if method.result.competes), 0)
    return element("g", *parts, css=f"method {methods[k].css}{' leader' * (k == leader)}", data_method=k)


def _readable(
    parts: list[Markup], methods: Sequence[Method], caption: str, x: Axis, y: Axis, *, columns: tuple[str, str]
) -> Markup:
    """Give a drawing that a script can read values off."""
    named = f"{caption}: {', '.join(method.name for method in methods)}; the values are in the table of methods"
    ends = {"data_x": _scale(columns[0], x), "data_y": _scale(columns[1], y)}
    return drawing(parts, _HEIGHT, named, css="readable", tabindex=0, **ends)


def _scale(column: str, axis: Axis) -> str:
    """Write an axis for the script: what is along it, its ends, and their places in the drawing."""
    return f"{column} {axis.low:.9g} {axis.high:.9g} {axis.start:g} {axis.end:g}"


def _by_image(methods: Sequence[Method]) -> Chart | None:
    """Draw a dot for each image in a row for each method; dots of equal values lie side by side."""
    metric = image_headline(methods[0].result.rules.metrics())
    rows = [k for k, method in enumerate(methods) if method.values]
    if not rows:
        return None
    x = fitting([value for k in rows for value in methods[k].values.values()], 14.0, WIDTH - 14.0, metric.range)
    high = 58.0
    parts = [grid(x, 8.0, 14.0 + high * len(rows), f"{metric.name_for_images} of each image")]
    tops = [14.0 + high * row for row in range(len(rows))]
    medians = [f"median {number(float(np.median(list(methods[k].values.values()))))}" for k in rows]
    titles = row_titles(x, [top + 13.0 for top in tops], [methods[k].name for k in rows], medians)
    for k, title, top in zip(rows, titles, tops, strict=True):
        parts.append(_layer(methods, k, [title, *_row_of_images(methods[k].values, x, top)]))
    caption = f"{metric.name_for_images} of each image"
    named = f"{caption}: a row for each of {', '.join(methods[k].name for k in rows)}; the values are in the table"
    note = "The bar spans the quartiles, and the tall mark is the median"
    return Chart("images", caption, drawing(parts, 14.0 + high * len(rows) + 42.0, named), note)


def values_of_images(images: Table, results: Sequence[Result]) -> list[dict[str, float]]:
    """Give for each result the metric that ranks images, of those where it is defined, from their table."""
    values: list[dict[str, float]] = [{} for _ in results]
    for row in images.rows:
        value = float(row.summary[image_headline(results[row.method].rules.metrics()).image_key])
        if not math.isnan(value):
            values[row.method][row.labels[1]] = value
    return values


def _row_of_images(values: Mapping[str, float], x: Axis, top: float) -> list[Markup]:
    numbers = np.array(list(values.values()))
    low, median, high = np.quantile(numbers, [0.25, 0.5, 0.75])
    middle, (left, centre, right) = top + 36.0, x.at([low, median, high]).tolist()
    parts = [
        element("rect", css="box", x=left, y=middle - 15, width=right - left, height=30),
        element("rect", css="fill", x=centre - 1.25, y=middle - 18, width=2.5, height=36),
    ]
    if len(values) > _MOST_DOTS:
        ends = x.at([numbers.min(), numbers.max()]).tolist()
        return [*parts, line(ends[0], middle, ends[1], middle, css="whisker")]
    across = np.round(x.at(numbers) / 5)
    places, counts = np.unique(across, return_counts=True)
    apart, nth = min(5.2, 32 / int(counts.max())), dict.fromkeys(places.tolist(), 0)
    for (image, value), place in sorted(zip(values.items(), across.tolist(), strict=True), key=lambda one: one[0]):
        nth[place] += 1
        side = (-1) ** nth[place] * (nth[place] // 2)
        title = element("title", f"{image}: {number(value)}")
        at = {"cx": float(x.at(value)), "cy": middle + apart * side}
        parts.append(element("circle", title, css="image", r=2.7, data_image=image, **at))
    return parts


def _scatter(methods: Sequence[Method]) -> Chart | None:
    """Draw each image by one method against another, at first the best two; the script moves dots for other pairs."""
    counted = [k for k, method in enumerate(methods) if method.values and competes(method.result.rules)]
    if len(counted) < 2:
        return None
    a, b = (methods[k] for k in counted[:2])
    every = [value for k in counted for value in methods[k].values.values()]
    metric = image_headline(a.result.rules.metrics())
    x, y = fitting(every, _LEFT, _RIGHT, metric.range), fitting(every, _BOTTOM, _TOP, metric.range)
    images = sorted({name for k in counted for name in methods[k].values})
    if len(images) > _MOST_DOTS:
        return None
    dots = []
    for name in images:
        known = name in a.values and name in b.values
        place = {"cx": float(x.at(a.values[name])), "cy": float(y.at(b.values[name]))} if known else {"display": "none"}
        said = f"{name}: {number(a.values[name])}, {number(b.values[name])}" if known else name
        dots.append(element("circle", element("title", said), css="image", r=3.5, data_image=name, **place))
    ends = line(x.start, y.start, x.end, y.end, css="chance")
    caption = f"{metric.name_for_images} of each image, one method against another"
    parts = [axes(x, y, a.name, b.name), ends, element("g", *dots, css="pair")]
    svg = drawing(
        parts,
        _HEIGHT,
        f"{caption}: {a.name} across, {b.name} up",
        data_across=_scale("across", x),
        data_up=_scale("up", y),
    )
    won = _tally(a, b)
    return Chart("against", caption, svg, won)


def _tally(a: Method, b: Method) -> str:
    both = a.values.keys() & b.values.keys()
    direction = image_headline(a.result.rules.metrics()).direction
    signs = [direction * np.sign(a.values[name] - b.values[name]) for name in both]
    return f"{a.name} is better on {many(signs.count(1), 'image')}, {b.name} on {signs.count(-1)}"


def _by_class(methods: Sequence[Method]) -> list[Chart]:
    """Draw a bar for each class and method, and confusion matrices."""
    first = methods[0].result
    names = [] if classes_add_up(first) else list(first.classes)
    if not names:
        return []
    alike = [k for k, method in enumerate(methods) if list(method.result.classes) == names]
    matrices = [chart for k in alike[:_MOST_MATRICES] if (chart := _confusion(methods[k], names))]
    return [_bars(methods, alike, names), *matrices]


def _bars(methods: Sequence[Method], alike: Sequence[int], names: Sequence[str]) -> Chart:
    metric = headline(next(iter(methods[0].result.classes.values())).rules.metrics())
    thick = 9.0 if len(alike) < 5 else 5.0
    high, top = 22.0 + thick * len(alike), 12.0
    x = Axis(0, 1, 14.0, WIDTH - 14.0)
    bottom = top + high * len(names)
    parts = [grid(x, top, bottom, metric.name)]
    parts += [words(x.start, top + high * row + 14.0, name, css="name") for row, name in enumerate(names)]
    few = len(names) * len(alike) <= _MOST_RESAMPLED
    drawn = [ends for k in alike if (ends := methods[k].intervals) is not None and ends.images > 1 and few]
    classes = class_results([methods[k].result for k in alike], intervals=drawn)
    bars: dict[int, list[Markup]] = {}
    for one in classes:
        value = float(one.result.summary[metric.key])
        if math.isnan(value):
            continue
        unknown = math.nan, math.nan
        low, high_end = unknown if one.intervals is None else one.intervals.get(metric.key, unknown)
        said = "" if math.isnan(low) else f" [{number(low)}, {number(high_end)}]"
        title = element("title", f"{one.name}, {methods[alike[one.run]].name}: {number(value)}{said}")
        y = top + high * names.index(one.name) + 18.0 + thick * one.run
        bar = element("rect", title, css="fill", x=x.start, y=y, width=float(x.at(value)) - x.start, height=thick - 1)
        middle = y + (thick - 1) / 2
        whisker = [line(float(x.at(low)), middle, float(x.at(high_end)), middle, css="ends")] if said else []
        bars.setdefault(alike[one.run], []).extend([bar, *whisker])
    parts += [_layer(methods, k, layer) for k, layer in bars.items()]
    caption = f"{metric.name} of each class"
    note = f"Lines: {100 * drawn[0].level:g} % intervals over images" if drawn else ""
    return Chart("classes", caption, drawing(parts, bottom + 42.0, f"{caption}: {', '.join(names)}"), note)


def _confusion(method: Method, names: Sequence[str]) -> Chart | None:
    """Draw a confusion matrix, as shares of the pixels of the true class."""
    matrix = getattr(method.result.pooled, "matrix", None)
    if matrix is None:
        return None
    matrix = matrix if matrix[:, -1].any() else matrix[:, :-1]
    with np.errstate(invalid="ignore"):  # a class without pixels has an empty row
        shares = np.nan_to_num(matrix / matrix.sum(axis=1, keepdims=True))
    columns = [*names, "outside"][: shares.shape[1]]
    left, top = 110.0, 14.0
    short = shortened(columns, _LONGEST_NAME)
    longest = max(map(len, short))
    side = min((WIDTH - left - 10.0) / len(columns), 40.0)
    letters = max(3.0, min(12.0, 0.8 * side))
    parts, bottom = [], top + side * len(names)
    for row, name in enumerate(short[: len(names)]):
        parts.append(words(left - 6, top + side * (row + 0.5) + 4, name, text_anchor="end", font_size=letters))
    for column, name in enumerate(short):
        turned = f"translate({left + side * (column + 0.5) + 4:.1f} {bottom + 6:.1f}) rotate(-90)"
        parts.append(element("text", name, transform=turned, text_anchor="end", font_size=letters))
    for row, column in zip(*np.nonzero(shares >= 0.005), strict=True):  # what rounds to 0 % is left out
        share = float(shares[row, column])
        place = {"x": left + side * column, "y": top + side * row}
        title = element("title", f"{names[row]}, predicted as {columns[column]}: {share:.2%}")
        cell = {"width": side - 0.5, "height": side - 0.5, "fill_opacity": f"{share:.2f}"}
        parts.append(element("rect", title, css="fill", **place, **cell))
        if len(names) <= _SMALL_MATRIX:
            shade = "cell dark" if share > 0.5 else "cell"
            middle = {"x": place["x"] + side / 2, "y": place["y"] + side / 2 + 4}
            parts.append(element("text", f"{100 * share:.0f}", css=shade, text_anchor="middle", **middle))
    parts.append(element("rect", css="frame", x=left, y=top, width=side * len(columns), height=side * len(names)))
    caption = f"Confusion matrix of {method.name}"
    layer = element("g", *parts, css=method.css)
    named = f"{caption}: the true class in rows, the predicted one in columns"
    note = "Percent of the pixels of the true class (rows) by predicted class (columns)"
    return Chart("confusion", caption, drawing([layer], bottom + 12.0 + 0.6 * letters * longest, named), note)


def rounded(values: ArrayLike) -> list[float | None]:
    """Give numbers with four decimal places, None for what is not a number."""
    numbers = np.round(np.asarray(values, dtype=np.float64), _DIGITS)
    return [value if np.isfinite(value) else None for value in numbers.tolist()]


def _plain(value: Any) -> float | None:  # noqa: ANN401  a NumPy number
    """Give a number with six digits, None for what is not a number."""
    return float(f"{float(value):.6g}") if np.isfinite(value) else None
