"""Curves drawn on axes: in precision-recall or ROC space, or against the threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import FloatArray
from segbench.core.series import Line, Series, Space
from segbench.drawing.axes import CURVE_LAYER, dot_size, draw_to_the_frame, frame_pr, frame_roc, new_axes, open_frame
from segbench.drawing.legends import place_legend
from segbench.drawing.palette import LineStyle, line_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CORNERS: dict[Space, tuple[str, ...]] = {"pr": ("lower left", "lower right"), "roc": ("lower right",)}
_THRESHOLD_CORNERS = ("lower left", "lower right", "upper right", "upper left")
_CELLS = 2_000
_AT_THE_FRAME, _STROKE = 0.005, 0.05
"""A precision-recall line begins at this recall where it would cover the frame, rising or falling by so much."""


def plot_series(series: Series, *, ax: Axes | None = None, label: str | None = None) -> Axes:
    """Draw a curve by itself, in its own space or else against the threshold; see `segbench.Curve.plot`."""
    ax = ax or new_axes()
    style = line_style(sum(line.get_zorder() == CURVE_LAYER for line in ax.lines))
    label = label or series.caption
    if series.spaces:
        space = series.spaces[0]
        frame(ax, space, series.beta2)
        draw_in_space(ax, series, space, style, label)
        legend_in_space(ax, space)
        return ax
    frame_threshold(ax, series.measure)
    x, y = draw_against_threshold(ax, series, style, label)
    if y.size:
        ax.plot(x[y.argmax()], y.max(), "o", color=style.colour, markersize=dot_size(), zorder=CURVE_LAYER + 1)
    finish_threshold(ax)
    return ax


def frame(ax: Axes, space: Space, beta2: float = 1.0) -> None:
    """Draw the frame of a space, once; `beta2` is the weight of precision in lines of equal F."""
    if space == "pr":
        frame_pr(ax, beta2)
    else:
        frame_roc(ax)


def legend_in_space(ax: Axes, space: Space) -> None:
    """Draw the legend of curves in a space."""
    place_legend(ax, _CORNERS[space])


def drawn_line(series: Series, space: Space) -> Line:
    """Give the points of a curve to draw in a space: without a stroke along the frame of precision and recall."""
    x, y = series.line(space)
    near = x < _AT_THE_FRAME
    if space == "pr" and near.any() and not near.all() and np.ptp(y[near]) > _STROKE:
        return x[~near], y[~near]
    return x, y


def draw_in_space(ax: Axes, series: Series | None, space: Space, style: LineStyle, label: str) -> Line:
    """Draw a curve, or for None its legend alone, in a space; give the points."""
    x, y = (np.empty(0), np.empty(0)) if series is None else drawn_line(series, space)
    if x.size == 1:
        ax.plot(
            x, y, "o", color=style.colour, markersize=1.4 * dot_size(), label=label, zorder=CURVE_LAYER, clip_on=False
        )
    else:
        lines = ax.plot(x, y, color=style.colour, linestyle=style.dashes, label=label, zorder=CURVE_LAYER)
        draw_to_the_frame(ax, *lines)
    return x, y


def frame_threshold(ax: Axes, measure: str) -> None:
    """Draw the frame of a measure against the threshold."""
    ax.set(ylim=(0, 1), xlabel="Threshold", ylabel=measure[:1].upper() + measure[1:])
    open_frame(ax)


def draw_against_threshold(ax: Axes, series: Series | None, style: LineStyle, label: str, measure: str = "") -> Line:
    """Draw the measure of a curve, or another column, against the threshold, for None nothing; give the points."""
    x, y = (np.empty(0), np.empty(0)) if series is None else series.against_threshold(measure)
    if x.size:
        kept = visible((x - x[0]) / (float(np.ptp(x)) or 1.0), y)
        x, y = x[kept], y[kept]
    lines = ax.plot(
        x,
        y,
        color=style.colour,
        linestyle=style.dashes,
        # At any threshold up to a score, and above the next lower one, the same pixels are predicted.
        drawstyle="steps-pre" if series is not None and series.steps else "default",
        label=label,
        zorder=CURVE_LAYER,
    )
    draw_to_the_frame(ax, *lines)
    return x, y


def finish_threshold(ax: Axes) -> None:
    """Settle the range of thresholds, and draw the legend."""
    low, high = ax.dataLim.intervalx
    if low >= 0 and high <= 1:
        ax.set_xlim(0, 1)
    place_legend(ax, _THRESHOLD_CORNERS)


def visible(*coordinates: FloatArray) -> NDArray[np.bool_]:
    """Mark the points of a line in the unit square in another cell of a fine grid than the one before, and the last."""
    cells = np.rint(np.stack(coordinates) * _CELLS)
    kept: NDArray[np.bool_] = np.append(True, np.any(np.diff(cells, axis=1) != 0, axis=0))
    kept[-1] = True
    return kept


def thinned(x: FloatArray, y: FloatArray) -> Line:
    """Keep the `visible` points of a line in the unit square."""
    kept = visible(x, y)
    return x[kept], y[kept]
