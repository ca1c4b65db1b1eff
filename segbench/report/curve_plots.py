"""One curve drawn: its points, what bins leave open, and the curve by itself as `Curve.plot` shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from segbench.core.numbers import number
from segbench.curves.curve import Curve
from segbench.protocols.boundaries.curve import BoundaryCurve, measured
from segbench.report.axes import CURVE_LAYER, dot_size, draw_to_the_frame, frame_pr, frame_roc, new_axes
from segbench.report.legends import place_legend
from segbench.report.palette import LineStyle, line_style
from segbench.report.points import FloatArray, area_bounds, boundary_points, envelope, pr_points, roc_points
from segbench.report.threshold_tables import pixel_f

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PR_CORNERS = ("lower left", "lower right")
BESIDE_ISO_F = 3.5


def plot_curve(curve: Curve | BoundaryCurve, *, ax: Axes | None = None, label: str | None = None) -> Axes:
    """Draw one curve in its space; see `Curve.plot`."""
    ax = ax or new_axes()
    if isinstance(curve, BoundaryCurve):
        figure = f"ODS F {number(measured(curve)['ods_f'])}"
    elif curve.mask is not None:
        figure = f"F of the mask {number(pixel_f(curve)[curve.mask].item())}"
    else:
        name = "achievable, optimistic" if curve.optimistic else "AUC-PR" if curve.space == "pr" else "AUC-ROC"
        figure = f"{name} {number(curve.area, area_bounds(curve))}"
    in_pr = isinstance(curve, BoundaryCurve) or curve.space == "pr"
    frame_pr(ax) if in_pr else frame_roc(ax)
    draw_curve(ax, curve, next_style(ax), label or figure)
    place_legend(ax, PR_CORNERS if in_pr else ("lower right",), beside=BESIDE_ISO_F)
    return ax


def next_style(ax: Axes) -> LineStyle:
    """Give the style of the next curve on axes that hold some."""
    return line_style(sum(line.get_zorder() == CURVE_LAYER for line in ax.lines))


def draw_curve(ax: Axes, curve: Curve | BoundaryCurve, style: LineStyle, label: str) -> tuple[FloatArray, FloatArray]:
    """Draw a curve, and what bins leave open around it; give the points drawn."""
    bounds = envelope(curve) if isinstance(curve, Curve) else None
    if bounds and bounds.at.size:
        ax.fill_between(bounds.at, bounds.low, bounds.high, color=style.colour, alpha=0.3, linewidth=0, zorder=2)
    x, y = _points(curve)
    if x.size == 1:
        ax.plot(
            x, y, "o", color=style.colour, markersize=1.4 * dot_size(), label=label, zorder=CURVE_LAYER, clip_on=False
        )
    else:
        lines = ax.plot(x, y, color=style.colour, linestyle=style.dashes, label=label, zorder=CURVE_LAYER)
        draw_to_the_frame(ax, *lines)
    return x, y


def _points(curve: Curve | BoundaryCurve) -> tuple[FloatArray, FloatArray]:
    if isinstance(curve, BoundaryCurve):
        return boundary_points(curve)
    return pr_points(curve) if curve.space == "pr" else roc_points(curve)
