"""Objects: F1 and AP against the threshold of IoU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from segbench.aggregator.result import Result
from segbench.core.errors import ArgumentError
from segbench.core.interface import setting
from segbench.core.metric import headline
from segbench.drawing.charts import Axis, Chart, Path
from segbench.protocols.objects.metrics import ComponentTable, ObjectTable
from segbench.report.plots.methods import Kind, draw_methods, methods_of, of_one_protocol

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
    return _plot("f1", results, ax)


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
    return _plot("ap", results, ax)


def _plot(drawn: Literal["f1", "ap"], results: Result | Sequence[Result], ax: Axes | None) -> Axes:
    """Draw a metric at every threshold."""
    taken = of_one_protocol(results)
    methods = methods_of(taken, title=headline(taken[0].rules.metrics()).name)
    layers = []
    for method in methods:
        table = method.result.table
        if not isinstance(table, ObjectTable):
            instead = setting("--kind images", "plot_images")
            raise ArgumentError(f"{taken[0].protocol} has no objects at thresholds of IoU; draw each image: {instead}")
        found = table.by_threshold
        layers.append([Path(found.at, getattr(found, drawn))])
    kind = "sIoU" if isinstance(table, ComponentTable) else "IoU"
    x = Axis(f"Threshold of {kind}", "", (found.at[0], found.at[-1]))
    y = Axis("F1" if drawn == "f1" else "AP = TP / (TP + FP + FN)")
    chart = Chart(drawn, y.title, x, y, layers, corners=("lower left", "upper right"))
    return draw_methods(ax, chart, methods)


OBJECT_F1 = Kind(plot_object_f1)
OBJECT_AP = Kind(plot_object_ap)
