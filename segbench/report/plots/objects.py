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


def _draw(drawn: Drawn, results: Sequence[Result], *, ax: Axes) -> Axes:
    """Draw a metric of the objects of all images and classes together at every threshold."""
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


OBJECT_F1 = Kind(partial(_draw, "f1"), partial(_charts, "f1"))
OBJECT_AP = Kind(partial(_draw, "ap"), partial(_charts, "ap"))
