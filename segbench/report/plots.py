"""Plots of pooled curves: precision-recall with lines of equal F as the field draws it, ROC, the achievable curve."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from segbench.aggregator.result import Result
from segbench.core.errors import ArgumentError
from segbench.core.scores import ScoreCounts
from segbench.core.series import Series, Space
from segbench.curves.curve import achievable_pr_curve
from segbench.curves.masks import TWO_VALUED
from segbench.drawing.axes import (
    CURVE_LAYER,
    DOT_MARGIN,
    dot_size,
    draw_to_the_frame,
    guide_width,
    new_axes,
    short_names,
    three_digits,
)
from segbench.drawing.palette import GUIDE, LineStyle, line_style
from segbench.drawing.series import draw_in_space, frame, legend_in_space
from segbench.report.given import curves_in, of_one_protocol
from segbench.report.tables import names_of
from segbench.statistics.bands import curve_band
from segbench.statistics.replicates import as_draws, as_level

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PLACES = 501


def plot_pr(
    results: Result | Sequence[Result],
    *,
    band: float | None = None,
    replicates: int = 2000,
    seed: int = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw the pooled precision-recall curves of several methods, the best F first in the legend.

    Behind the curves lie lines of equal F; a dot marks the best F (ODS) of each, and a dotted line the prevalence, the
    precision of random scores. Where scores were kept in bins, what that leaves open is a light area around the curve,
    and the legend's figure has its bound: the exact one lies within.

    Parameters
    ----------
    results : Result or sequence of Result
        Of the pixel or the boundary protocol, not both; of several classes all added up are drawn. A method keeps its
        colour in every plot of the same results.
        Methods without a defined curve are named in the legend and not drawn; two-valued predictions, and a method
        measured at a single threshold, such as human annotators, are a point.
    band : float, optional
        Level of a bootstrap band over images around each curve, for instance 0.95; it holds at each point by itself,
        not for the whole curve. A curve known from print has none.
    replicates, seed : int
        Of the band.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ArgumentError
        For no results, results of several protocols, and those of the regions protocol.
    """
    band = None if band is None else as_level(band, "band")
    replicates, seed = as_draws(replicates, seed)
    results = of_one_protocol(results)
    rules = results[0].rules
    curves = curves_in(results, "pr", "precision-recall curve")
    ax = ax or new_axes()
    frame(ax, "pr")
    for place, label in _ordered(results, rules.headline.key, rules.image_headline.name_for_images):
        style, result, curve = line_style(place), results[place], curves[place]
        if band is not None:
            _draw_band(ax, result, "pr", style, level=band, replicates=replicates, seed=seed)
        drawn = draw_in_space(ax, curve, "pr", style, label)[0].size
        if drawn > 1 and "ods_recall" in result.summary:
            best = (result.summary["ods_recall"], result.summary["ods_precision"])
            dots = ax.plot(*best, "o", color=style.colour, markersize=dot_size(), zorder=CURVE_LAYER + 1)
            draw_to_the_frame(ax, *dots, margin=DOT_MARGIN)
    _draw_prevalences(ax, curves)
    legend_in_space(ax, "pr")
    return ax


def plot_roc(
    results: Result | Sequence[Result],
    *,
    band: float | None = None,
    replicates: int = 2000,
    seed: int = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw the pooled ROC curves of several methods, the largest area first in the legend.

    Parameters
    ----------
    results : Result or sequence of Result
        Of the pixel protocol; the others know no true negatives. Two-valued predictions are a point.
    band, replicates, seed, ax
        As for `plot_pr`.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ArgumentError
        For no results, or a protocol without ROC curves.
    """
    band = None if band is None else as_level(band, "band")
    replicates, seed = as_draws(replicates, seed)
    results = of_one_protocol(results)
    curves = curves_in(results, "roc", "ROC curve")
    ax = ax or new_axes()
    frame(ax, "roc")
    for place, label in _ordered(results, "auc_roc", "AUC"):
        style = line_style(place)
        if band is not None:
            _draw_band(ax, results[place], "roc", style, level=band, replicates=replicates, seed=seed)
        draw_in_space(ax, curves[place], "roc", style, label)
    legend_in_space(ax, "roc")
    return ax


def plot_achievable(results: Result | Sequence[Result], *, ax: Axes | None = None) -> Axes:
    """Draw each pooled precision-recall curve and, thin above it, the curve achievable with it.

    The achievable curve is that of the convex hull in ROC space: what a random choice of two thresholds reaches.
    Its thresholds are chosen on the images it describes, so it is optimistic.

    Parameters
    ----------
    results : Result or sequence of Result
        Of the pixel protocol. Two-valued predictions are a point.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    matplotlib Axes
        What lies between the two curves is shaded; the legend gives both areas.

    Raises
    ------
    ArgumentError
        For no results, another protocol, or two-valued predictions alone.
    """
    results = of_one_protocol(results)
    curves = curves_in(results, "roc", "achievable curve")
    if all(curve is None or curve.columns["threshold"].size == 1 for curve in curves):
        raise ArgumentError("two-valued predictions have no achievable curve; draw their points: --kind pr (plot_pr)")
    ax = ax or new_axes()
    frame(ax, "pr")
    for place, label in _ordered(results, "auc_pr", "AUC"):
        style, result = line_style(place), results[place]
        if result.summary.undefined.get("auc_pr") == TWO_VALUED or not isinstance(result.reduced, ScoreCounts):
            draw_in_space(ax, curves[place], "pr", style, label)
            continue
        achievable = _written(result, "auc_pr_achievable")
        both = label.replace("]", f", achievable {achievable}]", 1)
        recall, precision = draw_in_space(ax, curves[place], "pr", style, both)
        if not recall.size:
            continue
        hull_recall, hull_precision = achievable_pr_curve(result.reduced).line("pr")
        hull = ax.plot(hull_recall, hull_precision, color=style.colour, linewidth=guide_width(), zorder=CURVE_LAYER)
        draw_to_the_frame(ax, *hull)
        at = np.linspace(0, 1, _PLACES)
        ends = np.interp(at, recall, precision), np.interp(at, hull_recall, hull_precision)
        ax.fill_between(at, *ends, color=style.colour, alpha=0.2, linewidth=0, zorder=2)
    _draw_prevalences(ax, curves)
    legend_in_space(ax, "pr")
    return ax


def best_first(results: Sequence[Result], key: str) -> list[int]:
    """Give the places of results, the best value first, undefined ones last."""
    lower = any(metric.key == key and metric.better == "lower" for metric in results[0].rules.metrics())

    def rank(place: int) -> tuple[float, str]:
        value = results[place].summary.get(key, math.nan)
        return math.inf if math.isnan(value) else value if lower else -value, results[place].method

    return sorted(range(len(results)), key=rank)


def _ordered(results: Sequence[Result], key: str, figure: str) -> list[tuple[int, str]]:
    """Give the places of results, the best first, and their labels as the field writes them: ``[F=.788] HED``.

    Masks have no area: ``[mask] HED``.
    """
    names = short_names(names_of(results))
    labels = []
    for k in best_first(results, key):
        masks = results[k].summary.undefined.get(key) == TWO_VALUED
        labels.append((k, f"[{'mask' if masks else f'{figure}={_written(results[k], key)}'}] {names[k]}"))
    return labels


def _written(result: Result, key: str) -> str:
    return three_digits(result.summary.get(key, math.nan), result.summary.bounds.get(key))


def _draw_band(
    ax: Axes,
    result: Result,
    space: Space,
    style: LineStyle,
    *,
    level: float,
    replicates: int,
    seed: int,
) -> None:
    several = result.drawn is not None and result.drawn.columns["threshold"].size > 1
    if result.counts and not result.unnamed and several:
        ends = curve_band(result.table, space=space, level=level, replicates=replicates, seed=seed)
        ax.fill_between(ends.at, ends.low, ends.high, color=style.colour, alpha=0.15, linewidth=0, zorder=2)


def _draw_prevalences(ax: Axes, curves: Sequence[Series | None]) -> None:
    prevalences = {
        round(curve.prevalence, 4) for curve in curves if curve is not None and not np.isnan(curve.prevalence)
    }
    for rank, prevalence in enumerate(sorted(prevalences)):
        label = None if rank else f"prevalence {three_digits(prevalence)}" if len(prevalences) == 1 else "prevalences"
        ax.axhline(prevalence, color=GUIDE, linewidth=guide_width(), linestyle=(0, (1, 2)), zorder=2, label=label)
