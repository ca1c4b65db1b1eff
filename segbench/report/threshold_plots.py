"""Plots against the threshold: F of pixels and boundaries, covering of regions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from segbench.aggregator.result import Result
from segbench.core.numbers import number
from segbench.curves.curve import Curve
from segbench.protocols.boundaries.curve import BoundaryCurve
from segbench.protocols.regions.curve import RegionCurve
from segbench.report.axes import (
    CURVE_LAYER,
    dot_size,
    draw_to_the_frame,
    new_axes,
    open_frame,
    short_names,
    three_digits,
)
from segbench.report.curve_plots import next_style
from segbench.report.given import of_one_protocol
from segbench.report.legends import place_legend
from segbench.report.palette import LineStyle, line_style
from segbench.report.plots import best_first
from segbench.report.points import FloatArray, visible
from segbench.report.tables import names_of
from segbench.report.threshold_tables import pixel_f

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CORNERS = ("lower left", "lower right", "upper right", "upper left")


def plot_f_threshold(results: Result | Sequence[Result], *, ax: Axes | None = None) -> Axes:
    """Draw F of the pool against the threshold, a line a method; a dot marks the ODS.

    A broad top means that the threshold hardly matters, a narrow one that it must be known.

    Parameters
    ----------
    results : Result or sequence of Result
        Of one protocol; of regions covering is drawn in place of F. Two-valued predictions and a method of one
        threshold, as human annotators are, are a level line. One whose thresholds are not known, as of some published
        curves, is named in the legend and not drawn.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ArgumentError
        For no results, or results of several protocols.

    Notes
    -----
    F of pixels changes at scores that occur and is level between them. That of boundaries is drawn straight between the
    measured thresholds; the ODS, which is interpolated there as the official benchmark does, can lie a little above.
    """
    results = of_one_protocol(results)
    rules = results[0].rules
    key, sign = rules.headline.key, rules.image_headline.name_for_images
    ax = ax or new_axes()
    _frame(ax, sign)
    names = short_names(names_of(results))
    for k in best_first(results, key):
        result, style = results[k], line_style(k)
        label = f"[{sign}={three_digits(result.summary[key], result.summary.bounds.get(key))}] {names[k]}"
        x, y = _points(result.drawn)
        mask = isinstance(result.drawn, Curve) and result.drawn.mask is not None
        if mask:
            x, y = np.zeros(1), np.array([result.summary[key]])
        if np.isnan(result.summary[key]):  # of no pixel, where the curve's rules say 0
            x, y = x[:0], y[:0]
        if x.size == 1 and (mask or result.drawn.thresholds.size == 1):
            ax.axhline(y[0], color=style.colour, linestyle=style.dashes, label=label, zorder=CURVE_LAYER)
            continue
        _draw(ax, (x, y), style, label, steps=isinstance(result.drawn, Curve))
        best = result.summary[rules.best_threshold.key] if rules.best_threshold else np.nan, result.summary[key]
        ax.plot(*best, "o", color=style.colour, markersize=dot_size(), zorder=CURVE_LAYER + 1)
    _finish(ax)
    return ax


def plot_region_curve(curve: RegionCurve, *, ax: Axes | None = None, label: str | None = None) -> Axes:
    """Draw covering against threshold; see `RegionCurve.plot`."""
    ax = ax or new_axes()
    _frame(ax, "covering")
    style = next_style(ax)
    x, y = _points(curve)
    known = y.size > 0
    best = float(y.max()) if known else float("nan")
    _draw(ax, (x, y), style, label or f"covering ODS {number(best)}", steps=False)
    if known:
        ax.plot(x[y.argmax()], best, "o", color=style.colour, markersize=dot_size(), zorder=CURVE_LAYER + 1)
    _finish(ax)
    return ax


def _points(curve: Curve | BoundaryCurve | RegionCurve) -> tuple[FloatArray, FloatArray]:
    """Give rising thresholds and the measure at each, where both are known."""
    measure = (
        curve.covering if isinstance(curve, RegionCurve) else pixel_f(curve) if isinstance(curve, Curve) else curve.f
    )
    thresholds = np.asarray(curve.thresholds, np.float64)
    known = np.isfinite(thresholds) & np.isfinite(measure)
    x, y = thresholds[known], measure[known]
    order = np.argsort(x)
    x, y = x[order], y[order]
    span = float(np.ptp(x)) if x.size else 0.0
    kept = visible((x - x[0]) / (span or 1.0), y) if x.size else np.empty(0, np.bool_)
    return x[kept], y[kept]


def _frame(ax: Axes, sign: str) -> None:
    ax.set(ylim=(0, 1), xlabel="Threshold", ylabel=sign.capitalize())
    open_frame(ax)


def _draw(ax: Axes, points: tuple[FloatArray, FloatArray], style: LineStyle, label: str, *, steps: bool) -> None:
    # At any threshold up to a score, and above the next lower one, the same pixels are predicted.
    lines = ax.plot(
        *points,
        color=style.colour,
        linestyle=style.dashes,
        drawstyle="steps-pre" if steps else "default",
        label=label,
        zorder=CURVE_LAYER,
    )
    draw_to_the_frame(ax, *lines)


def _finish(ax: Axes) -> None:
    low, high = ax.dataLim.intervalx
    if low >= 0 and high <= 1:
        ax.set_xlim(0, 1)
    place_legend(ax, _CORNERS)
