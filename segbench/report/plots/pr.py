"""Precision against recall with lines of equal F, as the field draws it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from segbench.aggregator.result import Result
from segbench.drawing.axes import CURVE_LAYER, DOT_MARGIN, dot_size, draw_to_the_frame, new_axes
from segbench.drawing.series import draw_in_space, frame, legend_in_space
from segbench.report.plots.methods import Kind, band_settings, draw_band, draw_prevalences, methods_in

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_pr(
    results: Result | Sequence[Result],
    *,
    band: float | None = None,
    replicates: int = 2000,
    seed: int = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw the pooled precision-recall curves of several methods, the best F first in the legend.

    Behind the curves lie lines of equal F, of saliency with its weight of precision; a dot marks the best F (ODS) of
    each, and a dotted line the prevalence, the precision of random scores. Where scores were kept in bins, what that
    leaves open is a light area around the curve, and the legend's F has its bound: the exact one lies within.

    Parameters
    ----------
    results : Result or sequence of Result
        Of the pixel or the boundary protocol, not both; of several classes all added up are drawn. A method keeps its
        colour in every plot of the same results.
        Methods without a defined curve are named in the legend and not drawn; two-valued predictions, and a method
        measured at a single threshold, such as human annotators, are a point.
    band : float, optional
        Level of a bootstrap band over images around each curve, for instance 0.95; it holds at each point by itself,
        not for the whole curve. A curve published without images has none.
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
    band, replicates, seed = band_settings(band, replicates, seed)
    methods = methods_in(results, "pr", "precision-recall curve")
    ax = ax or new_axes()
    frame(ax, "pr", next((method.curve.beta2 for method in methods if method.curve is not None), 1.0))
    for method in methods:
        draw_band(ax, method, "pr", level=band, replicates=replicates, seed=seed)
        drawn = draw_in_space(ax, method.curve, "pr", method.style, method.label)[0].size
        if drawn > 1 and "ods_recall" in method.result.summary:
            best = (method.result.summary["ods_recall"], method.result.summary["ods_precision"])
            dots = ax.plot(*best, "o", color=method.style.colour, markersize=dot_size(), zorder=CURVE_LAYER + 1)
            draw_to_the_frame(ax, *dots, margin=DOT_MARGIN)
    draw_prevalences(ax, methods)
    legend_in_space(ax, "pr")
    return ax


KIND = Kind(plot_pr, level="band")
