"""Where a legend goes: into a corner that no curve enters, else beside the axes or below them.

Matplotlib's ``loc="best"`` always places the legend inside, over curves where no place is free: six methods with long
names would hide most of a plot, and thirty leave no room for its axes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from segbench.drawing.axes import CURVE_LAYER

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend

_MANY = 12
_SIZES = (1, 0.85, 0.7, 0.6, 0.5)
_LEAST_LEFT = 0.45
_GAP = 0.4


def place_legend(ax: Axes, corners: Sequence[str]) -> None:
    """Draw the legend of all labelled artists."""
    entries = len(ax.get_legend_handles_labels()[1])
    if not entries:
        return
    if old := ax.get_legend():
        old.remove()
    ax.get_figure(root=True).draw_without_rendering()  # type: ignore[union-attr]  # lays out the axes
    legend = ax.legend()
    for corner in corners if entries <= _MANY else ():
        legend.set_loc(corner)  # type: ignore[arg-type]  # one of Matplotlib's names
        if _is_free(ax, legend):
            return
    place = _outside(ax, legend, entries)
    legend.remove()
    ax.legend(frameon=False, labelspacing=0.35, **place)


def _is_free(ax: Axes, legend: Legend) -> bool:
    """Return whether a legend lies within the axes and no curve passes through it."""
    box, frame = legend.get_window_extent(), ax.get_window_extent()
    curves = [line for line in ax.lines if line.get_zorder() >= CURVE_LAYER]
    paths = [line.get_transform().transform_path(line.get_path()) for line in curves]
    return (
        box.width <= frame.width
        and box.height <= frame.height
        and not any(path.intersects_bbox(box, filled=False) or box.count_contains(path.vertices) for path in paths)
    )


def _outside(ax: Axes, legend: Legend, entries: int) -> dict[str, Any]:
    """Place a legend beside the axes or below them, whichever leaves them more room, perhaps in smaller letters."""
    figure: Any = ax.get_figure()
    width, height = legend.get_window_extent().size
    legend.set_in_layout(False)
    frame, around = ax.get_window_extent(), ax.get_tightbbox() or ax.get_window_extent()
    wide, high = figure.bbox.size - around.size + frame.size
    room = min if ax.get_aspect() != "auto" else math.prod
    for size in _SIZES if entries <= _MANY else _SIZES[2:]:
        columns_beside = math.ceil(size * height / high)
        columns_below = max(1, int(wide // (size * width)))
        beside = wide - columns_beside * size * width, high
        below = wide, high - math.ceil(entries / columns_below) * size * height / entries
        is_beside = room(beside) >= room(below)
        left_wide, left_high = beside if is_beside else below
        if left_wide >= _LEAST_LEFT * wide and left_high >= _LEAST_LEFT * high:
            break
    letters = size * legend.prop.get_size_in_points()
    # Beyond the numbers and names of the axes, where letters do not shrink.
    taken = around.x1 - frame.x1 if is_beside else frame.y0 - around.y0
    gap = {"fontsize": letters, "borderaxespad": _GAP + taken * 72 / figure.dpi / letters}
    if is_beside:
        ax.set_anchor("W")  # in the middle of its space a square would move the legend out of the figure
        return {"loc": "center left", "bbox_to_anchor": (1, 0.5), "ncols": columns_beside, **gap}
    return {"loc": "upper center", "bbox_to_anchor": (0.5, 0), "ncols": columns_below, **gap}
