"""Charts of curves: one description of what is drawn, for Matplotlib (here) and for the report page (SVG).

Conventions
-----------
1. A description has values and words, no colours: a layer for each method, the best first, and guides for all.
2. What can be seen is decided here: points that fall together are left out, steps are written out as points.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import FloatArray
from segbench.core.numbers import number
from segbench.core.series import AXES, RATES, Line, Series, Space
from segbench.drawing.axes import (
    CURVE_LAYER,
    OTHERS_LAYER,
    as_axes,
    dot_size,
    draw_to_the_frame,
    fitted,
    guide_width,
    keep_quantity_inside,
    letters,
    open_frame,
)
from segbench.drawing.captions import add_to_caption
from segbench.drawing.legends import place_legend
from segbench.drawing.numerals import as_numeral
from segbench.drawing.palette import FAINT, GUIDE, HUMAN, ISO_F, ISO_F_TEXT, OTHERS, LineStyle, line_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox

_CELLS = 2_000
_AT_THE_FRAME, _STROKE = 0.005, 0.05
"""A precision-recall line begins at this recall where it would cover the frame, rising or falling by so much."""
_DOT_MARGIN = 0.03
_EVERY, _STAGGERED = 0.2, 5
"""Markers of a line are apart by this share of the diagonal, and those of so many methods begin elsewhere."""
_NUMBER = {"markerfacecolor": "black", "markeredgewidth": 0, "linewidth": 0.8}
COLUMN = 4.5
"""Pictures that are less wide, in inches, are for one column of a paper."""
_MOST_COLOURED, COLOURED = 8, 6
"""Of more methods in a column, these have colours, the best ones, and the others have numbers."""
MOST_NAMED = 12
"""Of more methods, in a picture of any width, the legend names those in colour, and counts the others."""
_UNIT = (0.0, 1.0)
_NOTHING = np.empty(0)


class Path(NamedTuple):
    """A line through points."""

    x: FloatArray
    y: FloatArray


class Area(NamedTuple):
    """What lies between two lines."""

    x: FloatArray
    low: FloatArray
    high: FloatArray


class Dot(NamedTuple):
    """A point on a line, or all there is of a method."""

    x: float
    y: float
    alone: bool = False


Mark: TypeAlias = Path | Area | Dot


class Guide(NamedTuple):
    """A line that belongs to no method: of equal F, with its name at its end, or dotted, named in the legend."""

    x: FloatArray
    y: FloatArray
    name: str = ""
    is_equal_f: bool = False


DIAGONAL = Guide(np.array(_UNIT), np.array(_UNIT))


class ChartAxis(NamedTuple):
    """An axis: its title, its ends, and what the script of the page calls its values.

    Of values on a logarithmic axis, `ticks` are the places and what is written there; other axes number themselves.
    """

    title: str
    column: str = ""
    ends: tuple[float, float] = _UNIT
    ticks: tuple[tuple[float, str], ...] = ()


@dataclass(frozen=True)
class Chart:
    """What a chart of curves shows: of each method marks, of which the first is in the legend, before some guides.

    `kind` and `caption` are for the page. `levels` are to be compared with the curves: the legend names them. It may
    lie in `corners`, and says what `areas` are; below the chart of the page is a `note`.
    """

    kind: str
    caption: str
    x: ChartAxis
    y: ChartAxis
    layers: Sequence[Sequence[Mark]]
    guides: Sequence[Guide] = ()
    levels: Sequence[Guide] = ()
    corners: Sequence[str] = ("lower left", "lower right", "upper right", "upper left")
    areas: str = ""
    note: str = ""


def chart_in_space(
    curves: Sequence[Series | None],
    space: Space,
    *,
    best: Mapping[int, tuple[float, float]] = MappingProxyType({}),
    areas: Mapping[int, Area] = MappingProxyType({}),
) -> Chart:
    """Describe curves in precision-recall or ROC space, with the points and the bands of some of them."""
    layers: list[list[Mark]] = []
    for k, curve in enumerate(curves):
        x, y = (_NOTHING, _NOTHING) if curve is None else _without_stroke(curve, space)
        # Masks are alike at every threshold.
        is_point = x.size > 0 and max(np.ptp(x), np.ptp(y)) * _CELLS < 1
        line: list[Mark] = [Path(*thinned(x, y)), *_dots(best, k)]
        marks = [Dot(float(x[0]), float(y[0]), alone=True)] if is_point else line
        layers.append([*marks, *([areas[k]] if k in areas else [])])
    beta2 = next((curve.beta2 for curve in curves if curve is not None), 1.0)
    guides = _equal_f_lines(beta2) if space == "pr" else [DIAGONAL]
    x_axis, y_axis = (ChartAxis(_capital(title), rate) for title, rate in zip(AXES[space], RATES[space], strict=True))
    condition = next((f" {curve.condition}" for curve in curves if curve is not None and curve.condition), "")
    y_axis = y_axis._replace(title=y_axis.title + condition)
    corners = ("lower left", "lower right") if space == "pr" else ("lower right",)
    caption = "Precision and recall" if space == "pr" else "ROC"
    return Chart(space, caption + condition, x_axis, y_axis, layers, guides, corners=corners)


def chart_of_thresholds(
    curves: Sequence[Series | None],
    measure: str,
    title: str,
    *,
    best: Mapping[int, tuple[float, float]] = MappingProxyType({}),
    areas: Mapping[int, Area] = MappingProxyType({}),
) -> Chart:
    """Describe a measure of curves against the threshold; one of a single threshold is a level line."""
    lines = [(_NOTHING, _NOTHING) if curve is None else curve.against_threshold(measure) for curve in curves]
    level = [
        len(x) == 1 and curve is not None and curve.columns["threshold"].size == 1
        for curve, (x, _) in zip(curves, lines, strict=True)
    ]
    thresholds = np.concatenate([x for x, _ in lines])
    ends = _UNIT if np.all((thresholds >= 0) & (thresholds <= 1)) else fitted(thresholds)
    highest = max((float(y.max()) for _, y in lines if y.size), default=0.0)
    top = 1.0 if highest <= 1 else 1.04 * highest
    layers: list[list[Mark]] = []
    for k, (curve, (x, y)) in enumerate(zip(curves, lines, strict=True)):
        if level[k]:
            layers.append([Path(np.array(ends), np.repeat(y, 2))])
            continue
        # At any threshold up to a score, and above the next lower one, the same pixels are predicted.
        if curve is not None and curve.steps and x.size:
            step_x, step_y = np.repeat(x, 2)[:-1], np.repeat(y, 2)[1:]
        else:
            step_x, step_y = x, y
        kept = _visible((step_x - ends[0]) / (ends[1] - ends[0]), step_y / top)
        rises = y.size == 1 or (y != y[:1]).any()  # what is alike everywhere, as of masks, is best nowhere
        dots = _dots(best, k) if rises else []
        layers.append([Path(step_x[kept], step_y[kept]), *dots, *([areas[k]] if k in areas else [])])
    x_axis, y_axis = ChartAxis("Threshold", "threshold", ends), ChartAxis(_capital(title), measure, (0.0, top))
    return Chart(f"threshold-{measure}", f"{y_axis.title} at each threshold", x_axis, y_axis, layers)


def plot_series(series: Series, *, ax: Axes | None = None, label: str | None = None) -> Axes:
    """Draw a curve by itself, in its own space or else against the threshold; see `segbench.Curve.plot`."""
    ax = as_axes(ax)
    style = line_style(sum(line.get_zorder() == CURVE_LAYER for line in ax.lines))
    if series.spaces:
        chart = chart_in_space([series], series.spaces[0])
    else:
        x, y = series.against_threshold()
        best = {0: (float(x[y.argmax()]), float(y.max()))} if y.size else {}
        chart = chart_of_thresholds([series], series.measure, series.measure, best=best)
    return draw_chart(ax, chart, [(style, label or series.caption)])


def draw_chart(ax: Axes, chart: Chart, methods: Sequence[tuple[LineStyle, str]]) -> Axes:
    """Draw a chart with Matplotlib, its methods in their styles and with their legends; its frame once."""
    is_new = ax.get_xlabel() != chart.x.title
    if is_new:
        ax.set(xlim=chart.x.ends, ylim=chart.y.ends, xlabel=chart.x.title, ylabel=chart.y.title)
        open_frame(ax)
        if chart.x.ticks:
            ax.set_xticks([at for at, _ in chart.x.ticks], [written for _, written in chart.x.ticks])
        for guide in chart.guides:
            _draw_guide(ax, guide)
        if chart.guides:
            ax.set(aspect="equal", xticks=np.linspace(0, 1, 6), yticks=np.linspace(0, 1, 6))
    is_narrow = ax.get_figure(root=True).get_figwidth() < COLUMN  # type: ignore[union-attr]
    for (style, label, marker), marks in zip(_looks(ax, methods, is_narrow=is_narrow), chart.layers, strict=True):
        for k, mark in enumerate(marks[:1] if marker.get("zorder") == OTHERS_LAYER else marks):
            _draw_mark(ax, mark, style, "" if k else label, marker)
    for guide in chart.levels:
        _draw_guide(ax, guide)
    if chart.areas:
        ax.fill([], [], color=GUIDE, alpha=0.3, linewidth=0, label=chart.areas)
    place_legend(ax, chart.corners)
    keep_quantity_inside(ax)
    _leave_room(ax, [text for text in ax.texts if text.get_text().startswith("F=")])
    return ax


def _leave_room(ax: Axes, names: Sequence[Text]) -> None:
    """Hide those of the names beside lines of equal F that lie on the one before, as in low axes."""
    if not names:
        return
    ax.get_figure(root=True).draw_without_rendering()  # type: ignore[union-attr]
    last: Bbox | None = None
    for text in names:
        box = text.get_window_extent()
        text.set_visible(last is None or not last.overlaps(box))
        last = box if text.get_visible() else last


def _looks(
    ax: Axes, methods: Sequence[tuple[LineStyle, str]], *, is_narrow: bool
) -> list[tuple[LineStyle, str, Mapping[str, Any]]]:
    """Return the style, the label and the marker of each method, the best first: of many the others are grey.

    Of up to `MOST_NAMED` these have numbers. Of more they are counted in the legend, and named in the caption.
    """
    looks: list[tuple[LineStyle, str, Mapping[str, Any]]] = [
        (style, label, {} if len(methods) == 1 else _marker(style.marker, index))
        for index, (style, label) in enumerate(methods)
    ]
    competing = [index for index, (style, _) in enumerate(methods) if style.colour != HUMAN]
    if len(competing) <= (_MOST_COLOURED if is_narrow else MOST_NAMED):
        return looks
    others = competing[COLOURED:]
    are_counted = len(competing) > MOST_NAMED
    for index in others:
        number_of, label = str(index + 1), methods[index][1]
        marker = _marker(rf"$\mathbf{{{number_of}}}$", index, size=0.9 * len(number_of) + 0.3) | _NUMBER
        if are_counted:
            label = f"{len(others)} others" if index == others[-1] else ""
            marker = {"zorder": OTHERS_LAYER, "linewidth": guide_width()}
        looks[index] = LineStyle(OTHERS if are_counted else FAINT, "-"), label, marker
    if are_counted:
        listed = ", ".join(methods[index][1] for index in competing)
        add_to_caption(ax, f"In colour: the best {COLOURED} of {len(competing)} methods. All, best first: {listed}")
    return looks


def _marker(shape: str, index: int, size: float = 0.7) -> dict[str, Any]:
    """Return the settings of the markers that distinguish a line from others in greyscale."""
    first = _EVERY * (index % _STAGGERED) / _STAGGERED
    return {"marker": shape, "markevery": (first, _EVERY), "markersize": size * dot_size()}


def _draw_mark(ax: Axes, mark: Mark, style: LineStyle, label: str, marker: Mapping[str, Any]) -> None:
    """Draw a mark."""
    colour = style.colour
    if isinstance(mark, Area):
        ax.fill_between(*mark, color=colour, alpha=0.15, linewidth=0, zorder=2)
    elif isinstance(mark, Dot):
        look: dict[str, Any] = {"marker": "o", "markersize": dot_size(), "zorder": CURVE_LAYER + 1}
        if mark.alone:
            size = max(1.4 * dot_size(), marker.get("markersize", 0))
            look = {"marker": "o", "zorder": CURVE_LAYER, **marker, "markevery": None, "markersize": size}
        dots = ax.plot(mark.x, mark.y, color=colour, label=label or None, **{**look, "linestyle": "none"})
        draw_to_the_frame(ax, *dots, margin=_DOT_MARGIN)
    else:
        look = {"linestyle": style.dashes, "zorder": CURVE_LAYER, **marker}
        lines = ax.plot(mark.x, mark.y, color=colour, label=label or None, **look)
        draw_to_the_frame(ax, *lines)


def _draw_guide(ax: Axes, guide: Guide) -> None:
    if not guide.is_equal_f:
        look: dict[str, Any] = {"color": GUIDE, "linestyle": (0, (1, 2)), "label": guide.name or None}
        ax.plot(guide.x, guide.y, linewidth=guide_width(), zorder=2, **look)
        return
    ax.plot(guide.x, guide.y, color=ISO_F, linestyle="-", linewidth=guide_width(), zorder=1)
    beside: dict[str, Any] = {"xytext": (3, 0), "textcoords": "offset points", "va": "center"}
    end = (guide.x[-1], guide.y[-1])
    ax.annotate(guide.name, end, fontsize=letters("x-small"), color=ISO_F_TEXT, annotation_clip=False, **beside)


def thinned(x: FloatArray, y: FloatArray) -> Line:
    """Keep the points of a line in the unit square that differ, on a fine grid, from the one before, and the last."""
    kept = _visible(x, y)
    return x[kept], y[kept]


def _visible(*coordinates: FloatArray) -> NDArray[np.bool_]:
    cells = np.rint(np.stack(coordinates) * _CELLS)
    kept: NDArray[np.bool_] = np.ones(cells.shape[1], bool)
    kept[1:-1] = np.any(np.diff(cells, axis=1) != 0, axis=0)[:-1]
    return kept


def _without_stroke(series: Series, space: Space) -> Line:
    """Return the points of a curve to draw in a space, without a stroke along the frame of precision and recall."""
    x, y = series.line(space)
    near = x < _AT_THE_FRAME
    if space == "pr" and near.any() and not near.all() and np.ptp(y[near]) > _STROKE:
        return x[~near], y[~near]
    return x, y


def _equal_f_lines(beta2: float) -> list[Guide]:
    """Return lines of equal F in precision-recall space, each from precision 1 to recall 1."""
    lines = []
    for f in np.arange(1, 10) / 10:
        least = beta2 * f / (1 + beta2 - f)
        recall = least + (1 - least) * np.linspace(0, 1, 40) ** 3  # where the line is steep it needs more points
        name = f"F={as_numeral(number(f, digits=1))}"
        with np.errstate(invalid="ignore"):  # at recall 0, where only precision counts
            lines.append(
                Guide(
                    recall,
                    f * recall / ((1 + beta2) * recall - beta2 * f),
                    name,
                    is_equal_f=True,
                )
            )
    return lines


def _dots(best: Mapping[int, tuple[float, float]], k: int) -> list[Dot]:
    return [Dot(*best[k])] if k in best and np.isfinite(best[k]).all() else []


def _capital(title: str) -> str:
    """Write a title with a capital, unless its first word has one of its own, as clDice has."""
    first, *_ = title.split(" ")
    return title if any(map(str.isupper, first)) else title[:1].upper() + title[1:]
