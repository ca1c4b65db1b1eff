"""Where a legend goes: into a corner that no curve enters, else beside the axes or below them.

Matplotlib's ``loc="best"`` always places the legend inside, over curves where no place is free: six methods with long
names would hide most of a plot, and thirty leave no room for its axes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from segbench.drawing.axes import CURVE_LAYER

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D

_MANY = 12
_SIZES = (1, 0.85, 0.75, 0.6, 0.5)
_LEAST_LEFT = 0.75
_GAP = 0.4
_APART = 1.0
_STYLE: dict[str, Any] = {"handlelength": 1.5, "handletextpad": 0.6, "columnspacing": 1.2, "labelspacing": 0.35}

_corners: WeakKeyDictionary[Legend, Sequence[str]] = WeakKeyDictionary()
"""Of the legends placed here; one that was removed or replaced is not drawn again."""


def place_legend(ax: Axes, corners: Sequence[str]) -> None:
    """Draw the legend of all labelled artists, and those of axes beside these again, which may have become smaller."""
    root: Any = ax.get_figure(root=True)
    others = [
        (other_ax, _corners[other_ax.get_legend()])
        for other_ax in root.axes
        if other_ax is not ax and other_ax.get_legend() in _corners
    ]
    for legend_ax, its_corners in [(ax, corners), *others, *([(ax, corners)] if others else [])]:
        _place(legend_ax, its_corners)
        legend = legend_ax.get_legend()
        if legend:
            _corners[legend] = its_corners


def _place(ax: Axes, corners: Sequence[str]) -> None:
    entries = len(ax.get_legend_handles_labels()[1])
    if not entries:
        return
    old = ax.get_legend()
    if old:
        old.remove()
    _lay_out(ax)
    legend = ax.legend(**_STYLE)
    letters = legend.prop.get_size_in_points()
    curves = [line for line in ax.lines if line.get_zorder() >= CURVE_LAYER]
    named = ax.get_legend_handles_labels()[0]
    guides = [line for line in ax.lines if line in named and line not in curves]
    # A level line that goes on beside the legend is rather covered than that the axes are made small.
    for lines in ([*curves, *guides], curves):
        for size in _SIZES[:3] if entries <= _MANY else ():
            legend = ax.legend(fontsize=size * letters, **_STYLE)
            for corner in corners:
                legend.set_loc(corner)  # type: ignore[arg-type]  # one of Matplotlib's names
                if _is_free(ax, legend, lines):
                    return
    location = _outside(ax, ax.legend(**_STYLE), entries)
    ax.legend(frameon=False, **_STYLE, **location)
    if ax.get_aspect() != "auto":
        _lay_out(ax)  # a square first gets less width, and becomes smaller by that only with the next layout


def _lay_out(ax: Axes) -> None:
    """Lay out the figure, so that the axes have the size in which they will be drawn."""
    figure: Any = ax.get_figure(root=True)
    engine = figure.get_layout_engine()
    if engine:
        engine.execute(figure)
    ax.apply_aspect()


def _is_free(ax: Axes, legend: Legend, lines: Sequence[Line2D]) -> bool:
    """Return whether a legend lies within the axes and no line passes through it."""
    within, frame = legend.get_window_extent(), ax.get_window_extent()
    box = within.padded(_APART * ax.get_figure(root=True).dpi / 72)  # type: ignore[union-attr]
    paths = [line.get_transform().transform_path(line.get_path()) for line in lines]
    return (
        within.width <= frame.width
        and within.height <= frame.height
        and not any(path.intersects_bbox(box, filled=False) or box.count_contains(path.vertices) for path in paths)
    )


def _outside(ax: Axes, legend: Legend, entries: int) -> dict[str, Any]:
    """Place a legend beside the axes or below them, whichever leaves them more room, perhaps in smaller letters."""
    figure: Any = ax.get_figure()
    width, height = legend.get_window_extent().size
    legend.set_in_layout(False)
    frame, around = ax.get_window_extent(), ax.get_tightbbox() or ax.get_window_extent()
    wide, high = figure.bbox.size * _share_of_whole(ax) - around.size + frame.size
    room = min if ax.get_aspect() != "auto" else math.prod
    for size in _SIZES[:3] if entries <= _MANY else _SIZES[2:]:
        columns_beside = math.ceil(size * height / high)
        columns_below = max(1, int(wide // (size * width)))
        beside = wide - columns_beside * size * width, high
        below = wide, high - math.ceil(entries / columns_below) * size * height / entries
        is_beside = room(beside) >= room(below)
        if room(beside if is_beside else below) >= _LEAST_LEFT * room((wide, high)):
            break
    letters = size * legend.prop.get_size_in_points()
    # Beyond the numbers and names of the axes, where letters do not shrink.
    taken = around.x1 - frame.x1 if is_beside else frame.y0 - around.y0
    gap = {"fontsize": letters, "borderaxespad": _GAP + taken * 72 / figure.dpi / letters}
    if is_beside:
        ax.set_anchor("W")  # in the middle of its space a square would move the legend out of the figure
        return {"loc": "center left", "bbox_to_anchor": (1, 0.5), "ncols": columns_beside, **gap}
    return {"loc": "upper center", "bbox_to_anchor": (0.5, 0), "ncols": columns_below, **gap}


def _share_of_whole(ax: Axes) -> tuple[float, float]:
    """Return the share of the width and of the height of the figure that these axes have in a grid."""
    spec = ax.get_subplotspec()
    if spec is None:
        return 1.0, 1.0
    rows, columns = spec.get_gridspec().get_geometry()
    return len(spec.colspan) / columns, len(spec.rowspan) / rows
