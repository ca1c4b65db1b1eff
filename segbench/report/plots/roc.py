"""ROC curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from segbench.aggregator.result import Result
from segbench.drawing.axes import new_axes
from segbench.drawing.series import draw_in_space, frame, legend_in_space
from segbench.report.plots.methods import Kind, band_settings, draw_band, methods_in

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
        Of the pixel protocol; true negatives of the others are undefined. Two-valued predictions are a point.
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
    band, replicates, seed = band_settings(band, replicates, seed)
    methods = methods_in(results, "roc", "ROC curve", key="auc_roc", title="AUC")
    ax = ax or new_axes()
    frame(ax, "roc")
    for method in methods:
        draw_band(ax, method, "roc", level=band, replicates=replicates, seed=seed)
        draw_in_space(ax, method.curve, "roc", method.style, method.label)
    legend_in_space(ax, "roc")
    return ax


KIND = Kind(plot_roc, level="band")
