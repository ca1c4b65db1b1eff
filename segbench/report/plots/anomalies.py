"""Plots of anomaly maps: the PRO curve up to a false positive rate of 30 %, and the mean PIMO curve."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from segbench.core.series import Line
from segbench.drawing.charts import Axis, Chart, Path
from segbench.protocols.anomalies.curves import LIMITS, RATES
from segbench.protocols.anomalies.metrics import AnomalyCurve
from segbench.report.plots.methods import Method, kind_of_curves

_POINTS = 500


def _charts_of_pro(methods: Sequence[Method]) -> list[Chart]:
    """Describe the PRO curves up to a false positive rate of 30 %."""

    def line(curve: AnomalyCurve) -> Line:
        return np.append(0.0, curve.pro.fpr), np.append(0.0, curve.pro.pro)

    x = Axis("False positive rate", "", (0.0, LIMITS[0]))
    y = Axis("Per-region overlap")
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
    x = Axis("Mean false positive rate of normal images (power of ten)", "", (low, high))
    y = Axis("Mean recall of images")
    layers = _layers(methods, line, x)
    corners = "upper left", "lower right"
    return [Chart("pimo", "Per-image overlap (PIMO)", x, y, layers, corners=corners)] if layers else []


def _layers(methods: Sequence[Method], line: Callable[[AnomalyCurve], Line], axis: Axis) -> list[list[Path]]:
    """Give the line of each method at even places and at some of its own; nothing where no method has one."""
    curves = [method.curve for method in methods]
    if not any(isinstance(curve, AnomalyCurve) for curve in curves):
        return []
    low, high = axis.ends
    layers = []
    for curve in curves:
        x, y = np.empty(0), np.empty(0)
        if isinstance(curve, AnomalyCurve):
            x, y = line(curve)
        if x.size:
            own = x[(x >= low) & (x <= high)]
            at = np.union1d(np.linspace(low, high, _POINTS), own[:: max(1, x.size // _POINTS)])
            x, y = at, np.interp(at, x, y)
        layers.append([Path(x, y)])
    return layers


PRO = kind_of_curves(_charts_of_pro, "PRO curve")
PIMO = kind_of_curves(_charts_of_pimo, "defined AUPIMO", key="aupimo", title="AUPIMO")
