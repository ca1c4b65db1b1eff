"""Contours: NSD against the tolerance, and the distribution of distances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from segbench.aggregator.result import Result, names_of
from segbench.core.errors import ArgumentError
from segbench.core.interface import setting
from segbench.core.metric import headline
from segbench.core.numbers import number
from segbench.drawing.axes import CURVE_LAYER, draw_to_the_frame, guide_width, new_axes, open_frame, short_names
from segbench.drawing.legends import place_legend
from segbench.drawing.palette import GUIDE
from segbench.protocols.contours.metrics import ContourTable
from segbench.report.plots.methods import Kind, of_one_protocol, styles_of
from segbench.report.ranking import best_first

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_nsd(results: Result | Sequence[Result], *, ax: Axes | None = None) -> Axes:
    """Draw the mean NSD against the tolerance, one line per method.

    Parameters
    ----------
    results : Result or sequence of Result
        Of the contours protocol, without sequences.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ArgumentError
        For no results, or results of another protocol.
    """
    return _draw_tolerances(results, "nsd", "NSD", ax)


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
    return _draw_tolerances(results, "share", "Share of the contours", ax)


def _draw_tolerances(
    results: Result | Sequence[Result], drawn: Literal["nsd", "share"], title: str, ax: Axes | None
) -> Axes:
    """Draw what is within each tolerance, up to where all methods have 99.5 % of it."""
    taken = of_one_protocol(results)
    tables = [result.table for result in taken]
    if not all(isinstance(table, ContourTable) for table in tables):
        instead = setting("--kind images", "plot_images")
        raise ArgumentError(f"{taken[0].protocol} has no distances of contours; draw each image: {instead}")
    ax = ax or new_axes()
    names, styles, key = short_names(names_of(taken)), styles_of(taken), headline(taken[0].rules.metrics()).key
    end = 0.0
    for place in best_first(taken, key):
        table: ContourTable = tables[place]  # type: ignore[assignment]  # as was asked above
        found, style = table.tolerances, styles[place]
        values = getattr(found, drawn)
        label = f"[HD95={number(taken[place].summary[key], digits=3)}] {names[place]}"
        lines = ax.plot(
            found.at, values, color=style.colour, linestyle=style.dashes, label=label, drawstyle="steps-post",
            zorder=CURVE_LAYER,
        )  # fmt: skip
        draw_to_the_frame(ax, *lines)
        reached = found.at[np.argmax(values >= 0.995)] if (values >= 0.995).any() else found.at[-1]
        end = max(end, float(reached))
    if drawn == "share":
        ax.axhline(0.95, color=GUIDE, linewidth=guide_width(), linestyle=(0, (1, 2)), zorder=2)
    unit = "pixels" if table.conventions.spacing == 1 else "mm"
    ax.set(xlim=(0, end or 1), ylim=(0, 1), xlabel=f"Tolerance ({unit})", ylabel=title)
    open_frame(ax)
    place_legend(ax, ("lower right", "upper left"))
    return ax


NSD = Kind(plot_nsd)
DISTANCES = Kind(plot_distances)
