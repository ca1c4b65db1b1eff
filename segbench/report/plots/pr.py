"""Precision against recall with lines of equal F, as the field draws it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

from segbench.aggregator.result import Result
from segbench.drawing.axes import new_axes
from segbench.report.plots.methods import Kind, Resampling, draw_curves, methods_in

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_pr(
    results: Result | Sequence[Result],
    *,
    band: float | None = None,
    ax: Axes | None = None,
    **resampling: Unpack[Resampling],
) -> Axes:
    """Draw the pooled precision-recall curves of several methods, the best F first in the legend.

    Behind the curves lie lines of equal F, of saliency with its weight of precision; a dot marks the best F (ODS) of
    each, and a dotted line the prevalence, the precision of random scores.

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
        Of more than three methods only the best one has a band, as the legend says.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if left out.
    **resampling
        ``replicates`` (2000) and ``seed`` (0) of the band.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ArgumentError
        For no results, results of several protocols, and those of the regions protocol.
    """
    methods = methods_in(results, "pr", "precision-recall curve")
    ax = ax or new_axes()
    draw_curves(ax, methods, "pr", band=band, **resampling)
    return ax


KIND = Kind(plot_pr, level="band")
