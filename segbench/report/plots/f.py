"""F of pixels and boundaries, and covering of regions, against the threshold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from segbench.aggregator.result import Result
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
    methods = methods_in(results, None, "curve")
    rules = methods[0].result.rules
    known = next((method.curve for method in methods if method.curve is not None), None)
    title = rules.image_headline.name_for_images
    if known is not None and known.best:
        title = known.measure.upper()
        methods = methods_in(results, None, "curve", key=known.best, title=title)
    ax = ax or new_axes()
    frame_threshold(ax, title)
    for result, curve, style, label in methods:
        if curve is not None and curve.against_threshold()[1].size == curve.columns["threshold"].size == 1:
            level = curve.against_threshold()[1].item()
            ax.axhline(level, color=style.colour, linestyle=style.dashes, label=label, zorder=CURVE_LAYER)
            continue
        draw_against_threshold(ax, curve, style, label)
        threshold = result.summary[rules.best_threshold.key] if rules.best_threshold else np.nan
        best = threshold, result.summary[rules.headline.key]
        ax.plot(*best, "o", color=style.colour, markersize=dot_size(), zorder=CURVE_LAYER + 1)
    finish_threshold(ax)
    return ax


KIND = Kind(plot_f_threshold)
