"""Charts that one protocol alone has: of contours, of objects, and of anomaly maps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Literal

import numpy as np

from segbench.core.series import Line
from segbench.drawing.charts import Chart, ChartAxis, Guide, Path
from segbench.protocols.anomalies.curves import LIMITS, RATES, AnomalyCurve
from segbench.protocols.contours.measures import NEAR
from segbench.protocols.contours.metrics import ContourTable
from segbench.protocols.objects.froc import RATES as FROC_RATES
from segbench.protocols.objects.metrics import ComponentTable, ObjectTable
from segbench.protocols.objects.scored_metrics import ScoredObjectTable
from segbench.report.plots.methods import Method, kind_of_curves

_POINTS = 600
_NEARLY_ALL = 0.995
"""The axis of tolerances ends where so much of every contour is within them."""
_HIGH = 0.5
"""The axis of shares ends at 1 if one of them is above this, else beyond the highest."""
_TITLES = {"f1": "F1", "ts": "TS = TP / (TP + FP + FN)"}
_OBJECTS = "objects at thresholds of IoU"


def _charts_of_contours(drawn: Literal["nsd", "share"], methods: Sequence[Method]) -> list[Chart]:
    """Describe how much of the contours lies within each tolerance: the NSD, or the share of their length.

    Shares pool the distances from prediction to ground truth and back, of all images.
    """
    every = [method.result.table for method in methods]
    tables = [table for table in every if isinstance(table, ContourTable)]
    # Small tolerances alone are of interest for NSD, which a missed object keeps below 1 at any.
    size = NEAR if drawn == "nsd" else None
    lines = [(table.tolerances.at[:size], getattr(table.tolerances, drawn)[:size]) for table in tables]
    if len(tables) < len(every) or all(np.isnan(values).all() for _, values in lines):
        return []  # sequences have no distances
    nearly_all = (np.append(at[values >= _NEARLY_ALL], at[-1]) for at, values in lines)
    end = max(float(tolerances[0]) for tolerances in nearly_all) or 1.0
    layers = []
    for at, values in lines:
        steps = np.append(np.repeat(at, 2)[1:], max(end, at[-1]))
        step_values = np.repeat(values, 2)  # each up to the next tolerance
        kept = (steps <= end) & np.isfinite(step_values)
        layers.append([Path(steps[kept], step_values[kept])])
    unit = tables[0].conventions.unit or ("pixels" if tables[0].conventions.is_flat else "voxels")
    x = ChartAxis(f"Tolerance ({unit})", "", (0.0, end))
    corners = "lower right", "upper left"
    if drawn == "nsd":
        return [Chart("nsd", "NSD at each tolerance", x, ChartAxis("NSD"), layers, corners=corners)]
    guide = Guide(np.array(x.ends), np.full(2, 0.95), "95 % of the contours")
    y = ChartAxis("Share of the contours")
    caption = "Contours within each distance"
    return [Chart("distances", caption, x, y, layers, levels=[guide], corners=corners)]


def _charts_of_objects(drawn: str, methods: Sequence[Method]) -> list[Chart]:
    """Describe a metric of all images and classes together at every threshold; nothing of other protocols."""
    tables = [method.result.table for method in methods]
    of_objects = [table for table in tables if isinstance(table, ObjectTable)]
    curves = [table.by_threshold if table.images else None for table in of_objects]  # None where every image failed
    known = [curve for curve in curves if curve]
    if len(of_objects) < len(tables) or not known:
        return []
    overlap = "sIoU" if isinstance(tables[0], ComponentTable) else "IoU"
    thresholds = known[0].at
    x = ChartAxis(f"Threshold of {overlap}", "", (thresholds[0], thresholds[-1]))
    highest = max(float(np.nanmax(getattr(curve, drawn), initial=0.0)) for curve in known)
    y = ChartAxis(_TITLES[drawn], "", (0.0, 1.0 if highest > _HIGH or not highest else 1.05 * highest))
    nothing = Path(np.empty(0), np.empty(0))
    layers = [[Path(curve.at, getattr(curve, drawn)) if curve else nothing] for curve in curves]
    caption = f"{drawn.upper()} at each threshold of {overlap}"
    corners = "lower left", "upper right"
    return [Chart(f"object_{drawn}", caption, x, y, layers, corners=corners)]


def _charts_of_froc(methods: Sequence[Method]) -> list[Chart]:
    """Describe the share of objects that is found at each number of false detections per image."""
    tables = [method.result.table for method in methods]
    detections = [table.froc if isinstance(table, (ComponentTable, ScoredObjectTable)) else None for table in tables]
    if None in detections or all("froc" in method.result.summary.undefined for method in methods):
        return []
    low, high = np.log2([min(FROC_RATES.values()), max(FROC_RATES.values())]).tolist()
    at = np.linspace(low, high, 1 + _POINTS)  # the rates that metrics have are among them
    layers = []
    for table, froc in zip(tables, detections, strict=True):
        shares = froc.sensitivity(2.0**at, np.ones((1, table.images)))[0] if froc and table.images else np.empty(0)
        known = np.isfinite(shares)
        layers.append([Path(at[: known.size][known], shares[known])])
    ticks = tuple((float(np.log2(rate)), f"{Fraction(rate)}") for rate in FROC_RATES.values())
    x = ChartAxis("False detections per image", "", (low, high), ticks)
    y = ChartAxis("Share of the objects found")
    corners = "lower right", "upper left"
    return [Chart("froc", "Objects found at false detections per image (FROC)", x, y, layers, corners=corners)]


def _charts_of_pro(methods: Sequence[Method]) -> list[Chart]:
    """Describe the PRO curves up to a false positive rate of 30 %."""

    def line(curve: AnomalyCurve) -> Line:
        return np.append(0.0, curve.pro.fpr), np.append(0.0, curve.pro.pro)

    x = ChartAxis("False positive rate", "", (0.0, LIMITS[0]))
    y = ChartAxis("Per-region overlap")
    layers = _layers(methods, line, x)
    corners = "lower right", "upper left"
    return [Chart("pro", "Per-region overlap (PRO)", x, y, layers, corners=corners)] if layers else []


def _charts_of_pimo(methods: Sequence[Method]) -> list[Chart]:
    """Describe the mean PIMO curves between shared false positive rates of 1e-5 and 1e-4."""
    if all("aupimo" in method.result.summary.undefined for method in methods):
        return []

    def line(curve: AnomalyCurve) -> Line:
        rates, recalls = curve.pimo
        known = rates > 0
        return np.log10(rates[known]), recalls[known]

    low, high = np.log10(RATES).tolist()
    ticks = tuple((float(np.log10(float(rate))), rate) for rate in ("1e-5", "2e-5", "5e-5", "1e-4"))
    x = ChartAxis("Mean FPR of normal images", "", (low, high), ticks)
    y = ChartAxis("Mean recall of images")
    layers = _layers(methods, line, x)
    corners = "upper left", "lower right"
    return [Chart("pimo", "Per-image overlap (PIMO)", x, y, layers, corners=corners)] if layers else []


def _layers(methods: Sequence[Method], line: Callable[[AnomalyCurve], Line], axis: ChartAxis) -> list[list[Path]]:
    """Return the line of each method at evenly spaced points and some of its own; none where no method has one."""
    curves = [method.curve for method in methods]
    if not any(isinstance(curve, AnomalyCurve) for curve in curves):
        return []
    low, high = axis.ends
    layers = []
    for curve in curves:
        x, y = line(curve) if isinstance(curve, AnomalyCurve) else (np.empty(0), np.empty(0))
        if x.size:
            own = x[(x >= low) & (x <= high)]
            at = np.union1d(np.linspace(low, high, _POINTS), own[:: max(1, x.size // _POINTS)])
            x, y = at, np.interp(at, x, y)
        layers.append([Path(x, y)])
    return layers


_CONTOURS = "distances of contours"
NSD = kind_of_curves(partial(_charts_of_contours, "nsd"), _CONTOURS, ranked_by="nsd@")
DISTANCES = kind_of_curves(partial(_charts_of_contours, "share"), _CONTOURS)
OBJECT_F1 = kind_of_curves(partial(_charts_of_objects, "f1"), _OBJECTS)
OBJECT_TS = kind_of_curves(partial(_charts_of_objects, "ts"), _OBJECTS)
FROC = kind_of_curves(_charts_of_froc, "FROC curve, as its objects have no scores", ranked_by="froc")
PRO = kind_of_curves(_charts_of_pro, "PRO curve")
PIMO = kind_of_curves(_charts_of_pimo, "defined AUPIMO", ranked_by="aupimo")
