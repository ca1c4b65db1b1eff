"""Plots of pooled curves: precision-recall with lines of equal F as the field draws it, ROC, the achievable curve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from segbench.aggregator.result import Result
from segbench.core.errors import ArgumentError
from segbench.core.scores import ScoreCounts
from segbench.curves.curve import Curve
from segbench.curves.hull import achievable_pr_curve
from segbench.protocols.boundaries.curve import BoundaryCurve
from segbench.protocols.pixels.metrics import TWO_VALUED
from segbench.protocols.regions.curve import RegionCurve
from segbench.report.axes import (
    CURVE_LAYER,
    DOT_MARGIN,
    dot_size,
    draw_to_the_frame,
    frame_pr,
    frame_roc,
    guide_width,
    new_axes,
    short_names,
    three_digits,
)
from segbench.report.curve_plots import BESIDE_ISO_F, PR_CORNERS, draw_curve
from segbench.report.given import of_one_protocol
from segbench.report.legends import place_legend
from segbench.report.palette import GUIDE, LineStyle, line_style
from segbench.report.points import pr_points
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
    curves = [_pr_curve_of(result) for result in results]
    ax = ax or new_axes()
    frame_pr(ax)
    for place, label in _ordered(results, "ods_f", "F"):
        style, result, curve = line_style(place), results[place], curves[place]
        if band is not None:
            _draw_band(ax, result, "pr", style, level=band, replicates=replicates, seed=seed)
        drawn = draw_curve(ax, curve, style, label)[0].size
        best = (result.summary["ods_recall"], result.summary["ods_precision"])
        if drawn > 1:
            dots = ax.plot(*best, "o", color=style.colour, markersize=dot_size(), zorder=CURVE_LAYER + 1)
            draw_to_the_frame(ax, *dots, margin=DOT_MARGIN)
    _draw_prevalences(ax, results)
    place_legend(ax, PR_CORNERS, beside=BESIDE_ISO_F)
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
    curves = [_pixel_curve_of(result, "ROC curve").in_space("roc") for result in results]
    ax = ax or new_axes()
    frame_roc(ax)
    for place, label in _ordered(results, "auc_roc", "AUC"):
        style = line_style(place)
        if band is not None:
            _draw_band(ax, results[place], "roc", style, level=band, replicates=replicates, seed=seed)
        draw_curve(ax, curves[place], style, label)
    place_legend(ax, ("lower right",))
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
    curves = [_pixel_curve_of(result, "achievable curve") for result in results]
    if all(curve.mask is not None for curve in curves):
        hint = "draw their points: --kind pr (plot_pr(results))"
        raise ArgumentError(f"two-valued predictions have no achievable curve; {hint}")
    ax = ax or new_axes()
    frame_pr(ax)
    for place, label in _ordered(results, "auc_pr", "AUC"):
        style, result = line_style(place), results[place]
        if curves[place].mask is not None or not isinstance(result.reduced, ScoreCounts):
            draw_curve(ax, curves[place], style, label)
            continue
        achievable = _written(result, "auc_pr_achievable")
        both = label.replace("]", f", achievable {achievable}]", 1)
        recall, precision = draw_curve(ax, curves[place], style, both)
        if not recall.size:
            continue
        hull_recall, hull_precision = pr_points(achievable_pr_curve(result.reduced))
        hull = ax.plot(hull_recall, hull_precision, color=style.colour, linewidth=guide_width(), zorder=CURVE_LAYER)
        draw_to_the_frame(ax, *hull)
        at = np.linspace(0, 1, _PLACES)
        ends = np.interp(at, recall, precision), np.interp(at, hull_recall, hull_precision)
        ax.fill_between(at, *ends, color=style.colour, alpha=0.2, linewidth=0, zorder=2)
    _draw_prevalences(ax, results)
    place_legend(ax, PR_CORNERS, beside=BESIDE_ISO_F)
    return ax


def best_first(results: Sequence[Result], key: str) -> list[int]:
    """Give the places of results, the highest figure first, undefined ones last."""
    return sorted(
        range(len(results)), key=lambda k: (-np.nan_to_num(results[k].summary[key], nan=-1), results[k].method)
    )


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
    return three_digits(result.summary[key], result.summary.bounds.get(key))


def _pr_curve_of(result: Result) -> Curve | BoundaryCurve:
    if isinstance(result.drawn, RegionCurve):
        hint = "draw its covering: --kind f (plot_f_threshold(results))"
        raise ArgumentError(f"the {result.protocol} protocol has no precision-recall curve; {hint}")
    curve: Curve | BoundaryCurve = result.drawn
    return curve


def _pixel_curve_of(result: Result, what: str) -> Curve:
    if not isinstance(result.drawn, Curve):
        raise ArgumentError(f"the {result.protocol} protocol has no {what}, for it knows no true negatives")
    return result.drawn


def _draw_band(
    ax: Axes,
    result: Result,
    space: Literal["pr", "roc"],
    style: LineStyle,
    *,
    level: float,
    replicates: int,
    seed: int,
) -> None:
    masks = isinstance(result.drawn, Curve) and result.drawn.mask is not None
    if result.counts and not result.unnamed and not masks:
        ends = curve_band(result.counts, space=space, level=level, replicates=replicates, seed=seed)
        ax.fill_between(ends.at, ends.low, ends.high, color=style.colour, alpha=0.15, linewidth=0, zorder=2)


def _draw_prevalences(ax: Axes, results: Sequence[Result]) -> None:
    prevalences = {
        round(curve.positives / (curve.positives + curve.negatives), 4)
        for curve in (result.drawn for result in results)
        if isinstance(curve, Curve) and curve.positives
    }
    for rank, prevalence in enumerate(sorted(prevalences)):
        label = None if rank else f"prevalence {three_digits(prevalence)}" if len(prevalences) == 1 else "prevalences"
        ax.axhline(prevalence, color=GUIDE, linewidth=guide_width(), linestyle=(0, (1, 2)), zorder=2, label=label)
