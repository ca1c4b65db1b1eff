"""Plots of the region benchmark: covering against threshold, with each method's best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from segbench.aggregator.result import Result
from segbench.curves.regions import RegionCurve
from segbench.errors import ArgumentError
from segbench.report.numbers import number
from segbench.report.palette import line_style
from segbench.report.tables import names_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SIZE_INCHES = (5, 5)
_CURVE_LAYER = 3


def plot_region_results(results: Sequence[Result], *, ax: Axes) -> Axes:
    """Draw covering against threshold for several methods, the best first in the legend; a dot is the ODS."""
    ordered = sorted(
        results, key=lambda result: (-np.nan_to_num(result.summary["covering_ods"], nan=-1), result.method)
    )
    for name, result in zip(names_of(ordered), ordered, strict=True):
        if not isinstance(result.curve, RegionCurve):
            raise ArgumentError(f"{result.method} has no region figures")
        plot_region_curve(result.curve, ax=ax, label=f"[{number(result.summary['covering_ods'])}] {name}")
    return ax


def plot_region_curve(curve: RegionCurve, *, ax: Axes | None = None, label: str | None = None) -> Axes:
    """Draw covering against threshold; see `RegionCurve.plot`."""
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(figsize=_SIZE_INCHES, layout="constrained")[1]
    style = line_style(sum(line.get_zorder() == _CURVE_LAYER for line in ax.lines))
    best = int(np.argmax(curve.covering))
    label = label or f"covering ODS {number(float(curve.covering[best]))}"
    ax.plot(
        curve.thresholds, curve.covering, color=style.colour, linestyle=style.dashes, label=label, zorder=_CURVE_LAYER
    )
    ax.plot(curve.thresholds[best], curve.covering[best], "o", color=style.colour, markersize=5, zorder=4)
    ax.set(ylim=(0, 1), xlabel="Threshold", ylabel="Covering")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.legend(loc="lower left", fontsize="small", framealpha=0.9)
    return ax
