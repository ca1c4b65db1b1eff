"""Distribution of the distances between contours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from segbench.aggregator.result import Result
from segbench.report.plots.methods import Kind
from segbench.report.plots.nsd import draw_tolerances

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_distances(results: Result | Sequence[Result], *, ax: Axes | None = None) -> Axes:
    """Draw the share of all contours within each distance of the other contour, one line per method.

    Both directions of all images count together, so that long contours weigh more. A dotted line is at 95 %.

    Parameters
    ----------
    results, ax
        As for `plot_nsd`.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ArgumentError
        As `plot_nsd` does.
    """
    return draw_tolerances(results, "share", "Share of the contours", ax)


KIND = Kind(plot_distances)
