"""ROC curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

from segbench.aggregator.result import Result
from segbench.drawing.axes import new_axes
from segbench.report.plots.methods import Kind, Resampling, draw_curves, methods_in

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_roc(
    results: Result | Sequence[Result],
    *,
    band: float | None = None,
    ax: Axes | None = None,
    **resampling: Unpack[Resampling],
) -> Axes:
    """Draw the pooled ROC curves of several methods, the largest area first in the legend.

    Parameters
    ----------
    results : Result or sequence of Result
        Of the pixel protocol; true negatives of the others are undefined. Two-valued predictions are a point.
    band, ax, **resampling
        As for `plot_pr`.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ArgumentError
        For no results, or a protocol without ROC curves.
    """
    methods = methods_in(results, "roc", "ROC curve", key="auc_roc", title="AUC")
    ax = ax or new_axes()
    draw_curves(ax, methods, "roc", band=band, **resampling)
    return ax


KIND = Kind(plot_roc, level="band")
