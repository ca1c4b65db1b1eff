"""Plots of anomaly maps: the PRO curve up to a false positive rate of 30 %, and the mean PIMO curve."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from segbench.aggregator.result import Result
from segbench.core.errors import ArgumentError
from segbench.core.interface import setting
from segbench.drawing.charts import Axis, Chart, Mark, Path
from segbench.protocols.anomalies.curves import LIMITS, RATES
from segbench.protocols.anomalies.metrics import AnomalyCurve
from segbench.report.plots.methods import Kind, Method, draw_methods, methods_in

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS = 500


def _draw_pro(results: Sequence[Result], *, ax: Axes) -> Axes:
    """Draw the PRO curves up to a false positive rate of 30 %, the largest area first."""
    return _plot("pro", methods_in(results, None, "PRO curve"), ax)


def _draw_pimo(results: Sequence[Result], *, ax: Axes) -> Axes:
    """Draw the mean PIMO curves between shared false positive rates of 1e-5 and 1e-4."""
    methods = methods_in(results, None, "PIMO curve", key="aupimo", title="AUPIMO")
    reasons = [method.result.summary.undefined.get("aupimo", "") for method in methods]
    if all(reasons):
        raise ArgumentError(f"AUPIMO is undefined: {reasons[0]}; draw {setting('--kind pro', 'kind pro')}")
    return _plot("pimo", methods, ax)


def _plot(kind: Literal["pro", "pimo"], methods: Sequence[Method], ax: Axes | None) -> Axes:
    charts = _charts(kind, methods)
    if not charts:
        instead = setting("--kind images", "plot_images")
        raise ArgumentError(f"{methods[0].result.protocol} has no {kind.upper()} curve; draw each image: {instead}")
    return draw_methods(ax, charts[0], methods)


def _charts(kind: Literal["pro", "pimo"], methods: Sequence[Method]) -> list[Chart]:
    """Describe the curves; nothing where no method has one."""
    curves = [method.curve for method in methods]
    ends = (0.0, LIMITS[0]) if kind == "pro" else (float(np.log10(RATES[0])), float(np.log10(RATES[1])))
    layers: list[list[Mark]] = []
    for curve in curves:
        x, y = np.empty(0), np.empty(0)
        if isinstance(curve, AnomalyCurve) and kind == "pro":
            x, y = np.append(0.0, curve.pro.fpr), np.append(0.0, curve.pro.pro)
        elif isinstance(curve, AnomalyCurve):
            rates, recalls = curve.pimo
            x, y = np.log10(rates[rates > 0]), recalls[rates > 0]
        if x.size:
            at = np.union1d(
                np.linspace(*ends, _POINTS), x[(x >= ends[0]) & (x <= ends[1])][:: max(1, x.size // _POINTS)]
            )
            x, y = at, np.interp(at, x, y)
        layers.append([Path(x, y)])
    if not any(isinstance(curve, AnomalyCurve) for curve in curves):
        return []
    if kind == "pro":
        axes = Axis("False positive rate", "", ends), Axis("Per-region overlap")
        return [Chart("pro", "Per-region overlap (PRO)", *axes, layers, corners=("lower right", "upper left"))]
    axes = Axis("Mean false positive rate of normal images (power of ten)", "", ends), Axis("Mean recall of images")
    return [Chart("pimo", "Per-image overlap (PIMO)", *axes, layers, corners=("upper left", "lower right"))]


def _charts_of_pimo(methods: Sequence[Method]) -> list[Chart]:
    defined = any("aupimo" not in method.result.summary.undefined for method in methods)
    return _charts("pimo", methods) if defined else []


PRO = Kind(_draw_pro, partial(_charts, "pro"))
PIMO = Kind(_draw_pimo, _charts_of_pimo)
