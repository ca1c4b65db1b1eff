"""Precision-recall curves, each with the one achievable by a random choice of two thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from segbench.aggregator.result import Result
from segbench.core.errors import ArgumentError
from segbench.core.interface import setting
from segbench.curves.curve import achievable_pr_curve
from segbench.curves.masks import TWO_VALUED
from segbench.drawing.axes import CURVE_LAYER, draw_to_the_frame, guide_width, new_axes
from segbench.drawing.series import draw_in_space, frame, legend_in_space
from segbench.report.plots.methods import Kind, draw_prevalences, in_legend, methods_in

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PLACES = 501


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
    methods = methods_in(results, "roc", "achievable curve", key="auc_pr", title="AUC")
    if all(method.curve is None or method.curve.columns["threshold"].size == 1 for method in methods):
        points = setting("--kind pr", "plot_pr")
        raise ArgumentError(f"two-valued predictions have no achievable curve; draw their points: {points}")
    ax = ax or new_axes()
    frame(ax, "pr")
    for method in methods:
        result, colour = method.result, method.style.colour
        scores = result.scores
        if scores is None or result.summary.undefined.get("auc_pr") == TWO_VALUED:
            draw_in_space(ax, method.curve, "pr", method.style, method.label)
            continue
        achievable = in_legend(result, "auc_pr_achievable")
        both = method.label.replace("]", f", hull={achievable}]", 1)
        recall, precision = draw_in_space(ax, method.curve, "pr", method.style, both)
        if not recall.size:
            continue
        hull_recall, hull_precision = achievable_pr_curve(scores).line("pr")
        hull = ax.plot(hull_recall, hull_precision, color=colour, linewidth=guide_width(), zorder=CURVE_LAYER)
        draw_to_the_frame(ax, *hull)
        at = np.linspace(0, 1, _PLACES)
        ends = np.interp(at, recall, precision), np.interp(at, hull_recall, hull_precision)
        ax.fill_between(at, *ends, color=colour, alpha=0.2, linewidth=0, zorder=2)
    draw_prevalences(ax, methods)
    legend_in_space(ax, "pr")
    return ax


KIND = Kind(plot_achievable)
