"""Objects: F1 and AP against the threshold of IoU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from segbench.aggregator.result import Result, names_of
from segbench.core.errors import ArgumentError
from segbench.core.interface import setting
from segbench.core.metric import headline
from segbench.core.numbers import number
from segbench.drawing.axes import CURVE_LAYER, draw_to_the_frame, new_axes, open_frame, short_names
from segbench.drawing.legends import place_legend
from segbench.protocols.objects.metrics import ComponentTable, ObjectTable
from segbench.report.plots.methods import Kind, of_one_protocol, styles_of
from segbench.report.ranking import best_first

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_object_f1(results: Result | Sequence[Result], *, ax: Axes | None = None) -> Axes:
    """Draw the F1 of all objects against the threshold of IoU, one line per method.

    Objects of all images and classes count together. Of components the threshold is that of sIoU.

    Parameters
    ----------
    results : Result or sequence of Result
        Of the objects protocol.
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
    return _draw(results, "f1", "F1", ax)


def plot_object_ap(results: Result | Sequence[Result], *, ax: Axes | None = None) -> Axes:
    """Draw AP, which is TP / (TP + FP + FN), against the threshold of IoU, one line per method.

    Parameters
    ----------
    results, ax
        As for `plot_object_f1`.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ArgumentError
        As `plot_object_f1` does.
    """
    return _draw(results, "ap", "AP = TP / (TP + FP + FN)", ax)


def _draw(results: Result | Sequence[Result], drawn: Literal["f1", "ap"], title: str, ax: Axes | None) -> Axes:
    """Draw a metric at every threshold."""
    taken = of_one_protocol(results)
    tables = [result.table for result in taken]
    if not all(isinstance(table, ObjectTable) for table in tables):
        instead = setting("--kind images", "plot_images")
        raise ArgumentError(f"{taken[0].protocol} has no objects at thresholds of IoU; draw each image: {instead}")
    ax = ax or new_axes()
    names, styles, rank = short_names(names_of(taken)), styles_of(taken), headline(taken[0].rules.metrics())
    for place in best_first(taken, rank.key):
        table: ObjectTable = tables[place]  # type: ignore[assignment]  # as was asked above
        found, style = table.by_threshold, styles[place]
        label = f"[{rank.name}={number(taken[place].summary[rank.key], digits=3)}] {names[place]}"
        values = getattr(found, drawn)
        lines = ax.plot(found.at, values, color=style.colour, linestyle=style.dashes, label=label, zorder=CURVE_LAYER)
        draw_to_the_frame(ax, *lines)
    kind = "sIoU" if isinstance(table, ComponentTable) else "IoU"
    ax.set(xlim=(found.at[0], found.at[-1]), ylim=(0, 1), xlabel=f"Threshold of {kind}", ylabel=title)
    open_frame(ax)
    place_legend(ax, ("lower left", "upper right"))
    return ax


OBJECT_F1 = Kind(plot_object_f1)
OBJECT_AP = Kind(plot_object_ap)
