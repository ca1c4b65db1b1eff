"""Objects: F1 and AP against the threshold of IoU."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

from segbench.aggregator.result import Result
from segbench.core.errors import ArgumentError
from segbench.core.interface import setting
from segbench.drawing.charts import Axis, Chart, Path
from segbench.protocols.objects.metrics import ComponentTable, ObjectTable
from segbench.report.plots.methods import Kind, Method, draw_methods, methods_of, of_one_protocol

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Drawn = Literal["f1", "ap"]
_TITLES = {"f1": "F1", "ap": "AP = TP / (TP + FP + FN)"}


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


def _plot(drawn: Drawn, results: Result | Sequence[Result], ax: Axes | None) -> Axes:
    methods = methods_of(of_one_protocol(results))
    charts = _charts(drawn, methods)
    if not charts:
        found, instead = methods[0].result.protocol, setting("--kind images", "plot_images")
        raise ArgumentError(f"{found} has no objects at thresholds of IoU; draw each image: {instead}")
    return draw_methods(ax, charts[0], methods)


def _charts(drawn: Drawn, methods: Sequence[Method]) -> list[Chart]:
    """Describe a metric at every threshold; nothing of other protocols."""
    tables = [table for method in methods if isinstance(table := method.result.table, ObjectTable)]
    if len(tables) < len(methods):
        return []
    found = [table.by_threshold for table in tables]
    of = "sIoU" if isinstance(tables[0], ComponentTable) else "IoU"
    x = Axis(f"Threshold of {of}", "", (found[0].at[0], found[0].at[-1]))
    layers = [[Path(one.at, getattr(one, drawn))] for one in found]
    caption = f"{drawn.upper()} at each threshold of {of}"
    return [Chart(f"object_{drawn}", caption, x, Axis(_TITLES[drawn]), layers, corners=("lower left", "upper right"))]


OBJECT_F1 = Kind(plot_object_f1, partial(_charts, "f1"))
OBJECT_AP = Kind(plot_object_ap, partial(_charts, "ap"))
