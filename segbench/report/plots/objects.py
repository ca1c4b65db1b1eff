"""Objects: F1 and AP against the threshold of IoU."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from segbench.drawing.charts import Axis, Chart, Path
from segbench.protocols.objects.metrics import ComponentTable, ObjectTable
from segbench.report.plots.methods import Method, kind_of_curves

_TITLES = {"f1": "F1", "ap": "AP = TP / (TP + FP + FN)"}
_NEEDED = "objects at thresholds of IoU"


def _charts(drawn: str, methods: Sequence[Method]) -> list[Chart]:
    """Describe a metric of all images and classes together at every threshold; nothing of other protocols."""
    tables = [method.result.table for method in methods]
    found = [table.by_threshold for table in tables if isinstance(table, ObjectTable)]
    if len(found) < len(tables):
        return []
    of = "sIoU" if isinstance(tables[0], ComponentTable) else "IoU"
    at = found[0].at
    x = Axis(f"Threshold of {of}", "", (at[0], at[-1]))
    y = Axis(_TITLES[drawn])
    layers = [[Path(one.at, getattr(one, drawn))] for one in found]
    caption = f"{drawn.upper()} at each threshold of {of}"
    corners = "lower left", "upper right"
    return [Chart(f"object_{drawn}", caption, x, y, layers, corners=corners)]


OBJECT_F1 = kind_of_curves(partial(_charts, "f1"), _NEEDED)
OBJECT_AP = kind_of_curves(partial(_charts, "ap"), _NEEDED)
