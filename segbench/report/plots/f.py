"""F of pixels and boundaries, and covering of regions, against the threshold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from segbench.aggregator.result import Result, as_results
from segbench.core.errors import ArgumentError
from segbench.core.interface import setting
from segbench.core.metric import best_threshold, headline, image_headline
from segbench.drawing.axes import CURVE_LAYER, dot_size, new_axes
from segbench.drawing.series import draw_against_threshold, finish_threshold, frame_threshold
from segbench.report.plots.methods import Kind, methods_in

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_f_threshold(results: Result | Sequence[Result], *, ax: Axes | None = None) -> Axes:
    """Draw F of the pool against the threshold, one line per method; a dot marks the ODS.

    A broad top means that the threshold hardly matters, a narrow one that it must be known.

    Parameters
    ----------
    results : Result or sequence of Result
        Of one protocol; of regions covering is drawn in place of F. Two-valued predictions and a method of one
        threshold, as human annotators are, are a level line. One with unknown thresholds, as of some published
        curves, is named in the legend and not drawn.
    ax
        As for `plot_pr`.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ArgumentError
        For no results, results of several protocols, or a protocol without curves.

    Notes
    -----
    F of pixels changes at scores that occur and is level between them. That of boundaries is drawn straight between the
    measured thresholds; the ODS, which is interpolated there as the official benchmark does, can lie a little above.
    """
    return draw_measure(results, "", ax)


def draw_measure(results: Result | Sequence[Result], measure: str, ax: Axes | None) -> Axes:
    """Draw a column of the curves against the threshold; empty for the one that each protocol has."""
    results = as_results(results)
    methods = methods_in(results, None, "curve")
    rules = methods[0].result.rules
    known = next((method.curve for method in methods if method.curve is not None), None)
    if measure and (known is None or measure not in known.columns):
        instead = f"F against the threshold: {setting('--kind f', 'plot_f_threshold')}"
        raise ArgumentError(f"the {rules.name} protocol has no {measure.upper()}; draw {instead}")
    title, key = image_headline(rules.metrics()).name_for_images, headline(rules.metrics()).key
    drawn = measure or (known.measure if known else "")
    if known is not None and drawn in known.best:
        title, key = drawn.upper(), known.best[drawn]
    threshold = metric.key if (metric := best_threshold(rules.metrics())) else ""
    ax = ax or new_axes()
    frame_threshold(ax, title)
    for result, curve, style, label in methods_in(results, None, "curve", key=key, title=title):
        at, values = (np.empty(0), np.empty(0)) if curve is None else curve.against_threshold(drawn)
        if curve is not None and values.size == curve.columns["threshold"].size == 1:
            ax.axhline(values.item(), color=style.colour, linestyle=style.dashes, label=label, zorder=CURVE_LAYER)
            continue
        draw_against_threshold(ax, curve, style, label, drawn)
        best = (result.summary.get(threshold, np.nan), result.summary[key])
        if measure and values.size:
            best = at[values.argmax()], values.max()
        ax.plot(*best, "o", color=style.colour, markersize=dot_size(), zorder=CURVE_LAYER + 1)
    finish_threshold(ax)
    return ax


KIND = Kind(plot_f_threshold)
