"""E of saliency maps against the threshold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from segbench.aggregator.result import Result
from segbench.report.plots.f import draw_measure
from segbench.report.plots.methods import Kind

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_e_threshold(results: Result | Sequence[Result], *, ax: Axes | None = None) -> Axes:
    """Draw the mean E of saliency maps against the threshold, one line per method; a dot marks its maximum.

    Parameters
    ----------
    results : Result or sequence of Result
        Of the saliency protocol.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ArgumentError
        For no results, results of several protocols, or a protocol without E.
    """
    return draw_measure(results, "e", ax)


KIND = Kind(plot_e_threshold)
