"""Where a legend goes: into a corner that no curve enters, else beside the axes or below them.

Matplotlib's ``loc="best"`` always places the legend inside, over curves where no place is free, and counts lines of
equal F as curves: six methods with long names hide most of a plot, and thirty leave no room for its axes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from segbench.drawing.axes import CURVE_LAYER

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MANY = 12
_SMALLER = 0.75
# Parts of the font size: a line with its gap, a letter, the line in front of a text.
_LINE, _LETTER, _HANDLE = 1.6, 0.56, 4.5
_MARGIN = 0.03
_ALONG_AXIS = 0.02
_LEAST_LEFT = 0.45
_SMALLEST = 4.0


def place_legend(ax: Axes, corners: Sequence[str], *, beside: float = 1.0) -> None:
    """Draw the legend of all labelled artists."""
    import matplotlib as mpl
    from matplotlib.font_manager import FontProperties

    handles, labels = ax.get_legend_handles_labels()
    if not labels:
        return
    size = FontProperties(size=mpl.rcParams["legend.fontsize"]).get_size_in_points()
    width, height = _extent(ax)
    entry = _HANDLE + _LETTER * max(map(len, labels))
    box = entry * size / width, (_LINE * len(labels) + 1) * size / height
    free = [corner for corner in corners if not _entered(ax, corner, box)] if len(labels) <= _MANY else []
    place = {"loc": free[0], "fontsize": size} if free else _outside(ax, entry, len(labels), size, beside)
    ax.legend(handles, labels, **place)


def _outside(ax: Axes, entry: float, entries: int, size: float, beside: float) -> dict[str, Any]:
    """Place a legend beside axes or below them, whichever leaves them more room.

    An entry is given as wide as so many times the size of its letters, which shrink where the legend would take most of
    the figure.
    """
    figure = ax.get_figure()
    wide, high = (side / figure.dpi * 72 for side in figure.bbox.size)  # type: ignore[union-attr]
    full = size
    size *= _SMALLER if entries > _MANY else 1
    room = min if ax.get_aspect() != "auto" else math.prod
    while True:
        line = _LINE * size
        columns_beside = math.ceil(entries * line / high)
        columns_below = max(1, int(wide // (entry * size)))
        left_beside = wide - columns_beside * entry * size, high
        left_below = wide, high - math.ceil(entries / columns_below) * line
        is_beside = room(left_beside) >= room(left_below)
        (left_wide, left_high) = left_beside if is_beside else left_below
        if size <= _SMALLEST or (left_wide >= _LEAST_LEFT * wide and left_high >= _LEAST_LEFT * high):
            break
        size *= 0.95
    columns = columns_beside if is_beside else columns_below
    style = {"fontsize": size, "ncols": columns, "frameon": False, "labelspacing": 0.35}
    if is_beside:
        return {"loc": "center left", "bbox_to_anchor": (1, 0.5), "borderaxespad": beside * full / size, **style}
    # Below the numbers and the name of the axis, whose letters did not shrink.
    return {"loc": "upper center", "bbox_to_anchor": (0.5, 0), "borderaxespad": _below_axis() / size, **style}


def _below_axis() -> float:
    """Give the height of an axis's numbers and name, in points."""
    import matplotlib as mpl

    return 3.8 * float(mpl.rcParams["font.size"])


def _extent(ax: Axes) -> tuple[float, float]:
    """Give width and height of the axes in points, about what the layout will leave of them."""
    figure = ax.get_figure()
    box = ax.get_position().transformed(figure.transSubfigure)  # type: ignore[union-attr]
    width, height = (side / figure.dpi * 72 for side in box.size)  # type: ignore[union-attr]
    return (width, height) if ax.get_aspect() == "auto" else (min(width, height),) * 2


def _entered(ax: Axes, corner: str, box: tuple[float, float]) -> bool:
    """Tell whether a curve passes through a corner of that width and height, in parts of the axes."""
    vertical, horizontal = corner.split()
    width, height = (side + _MARGIN for side in box)
    for line in ax.lines:
        if line.get_zorder() < CURVE_LAYER:
            continue
        x, y = _dense(ax, np.asarray(line.get_xydata(), np.float64))
        # A curve that runs along an axis passes between it and the legend.
        from_side = np.stack([1 - x if horizontal == "right" else x, 1 - y if vertical == "upper" else y])
        if np.any(np.all((from_side > _ALONG_AXIS) & (from_side < [[width], [height]]), axis=0)):
            return True
    return max(box) > 1


def _dense(ax: Axes, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give points along a line in parts of the axes, so close that none passes a legend between two."""
    shares = ax.transLimits.transform(points)
    if len(shares) < 2:
        return shares.T
    at = np.linspace(0, len(shares) - 1, 20 * len(shares))
    return np.stack([np.interp(at, np.arange(len(shares)), column) for column in shares.T])
