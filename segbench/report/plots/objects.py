"""Objects: F1 and AP against the threshold of IoU."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
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


def _draw(drawn: Literal["f1", "ap"], results: Sequence[Result], *, ax: Axes) -> Axes:
    """Draw a metric of the objects of all images and classes together at every threshold."""
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


OBJECT_F1 = Kind(partial(_draw, "f1"))
OBJECT_AP = Kind(partial(_draw, "ap"))
