"""Names of what is drawn: beside the curves where that fits, else in a legend that hides none of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import ReferenceType, WeakKeyDictionary, ref

import numpy as np

from segbench.drawing.axes import LEAST_LETTERS, OTHERS_LAYER, lay_out
from segbench.drawing.direct_labels import draw_beside

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

_SIZES = (1, 0.85, 0.75, 0.6)
_LEAST_LEFT = 0.75
_GAP = 0.4
_APART = 1.0
_MOST_LAYOUTS = 10
_BETWEEN_COLUMNS = 0.4
"""What a further column of a legend takes beside its own width, a legend of one column, in the size of letters."""
_STYLE: dict[str, Any] = {"handlelength": 1.5, "handletextpad": 0.6, "columnspacing": 1.2, "labelspacing": 0.35}


class _Placed(NamedTuple):
    """What names the artists of axes: corners where the legend may lie, and the texts and legend that were drawn.

    These are weak, since they hold their axes, which would else never be forgotten.
    """

    corners: Sequence[str]
    artists: Sequence[ReferenceType[Artist]]


_placed: WeakKeyDictionary[Axes, _Placed] = WeakKeyDictionary()


def place_legend(ax: Axes, corners: Sequence[str]) -> None:
    """Name all labelled artists: few curves beside them; else in a legend in a corner that no curve enters, or outside.

    Matplotlib's ``loc="best"`` always places the legend inside, over curves where no place is free: six methods with
    long names would hide most of a plot, and thirty leave no room for its axes. What names the artists of axes beside
    these, which may have become smaller, is placed again, unless somebody has removed it.
    """
    root: Any = ax.get_figure(root=True)
    others = [
        (other_ax, _placed[other_ax].corners) for other_ax in root.axes if other_ax is not ax and _is_whole(other_ax)
    ]
    for named_ax, named_corners in [(ax, corners), *others, *([(ax, corners)] if others else [])]:
        _remove_names(named_ax)
        artists = _named(named_ax, named_corners) if named_ax.get_legend_handles_labels()[1] else []
        if artists:
            _placed[named_ax] = _Placed(named_corners, [ref(artist) for artist in artists])


def _is_whole(ax: Axes) -> bool:
    """Return whether axes have all the names that were drawn here."""
    shown = [artist for artist in (*ax.texts, ax.get_legend()) if artist is not None]
    return ax in _placed and all(artist() in shown for artist in _placed[ax].artists)


def _remove_names(ax: Axes) -> None:
    """Remove what was drawn here, and any legend."""
    _remove_legend(ax)
    for artist in _placed.pop(ax, _Placed((), ())).artists:
        text = artist()
        if text is not None and text in ax.texts:
            text.remove()


def _remove_legend(ax: Axes) -> None:
    legend = ax.get_legend()
    if legend:
        legend.remove()


def _named(ax: Axes, corners: Sequence[str]) -> list[Artist]:
    """Draw names; return what was drawn."""
    _settle(ax)
    named = dict(zip(*ax.get_legend_handles_labels(), strict=True))
    usual = _legend(ax, named).prop.get_size_in_points()
    beside = _beside(ax, named, corners, usual)
    if beside:
        return beside
    legend = _in_corner(ax, named, corners, usual)
    if legend is not None:
        return [legend]
    legend = _legend(ax, named, frameon=False, **_outside(ax, _legend(ax, named), len(named)))
    _settle(ax)
    return [legend]


def _settle(ax: Axes) -> None:
    """Lay out a figure until axes keep their size: squares first get less width, and become smaller only after that."""
    for _ in range(_MOST_LAYOUTS):
        before = ax.get_position(original=True).bounds
        lay_out(ax)
        if np.allclose(before, ax.get_position(original=True).bounds, atol=1e-3):
            break


def _legend(ax: Axes, named: Mapping[Artist, str], **look: Any) -> Legend:  # noqa: ANN401  as Matplotlib takes them
    """Draw a legend in place of any before."""
    return ax.legend([*named], [*named.values()], **_STYLE, **look)


def _beside(ax: Axes, named: Mapping[Artist, str], corners: Sequence[str], usual: float) -> list[Artist]:
    """Write names beside lines, those of areas into a corner; return what was drawn, nothing where not all fits."""
    from matplotlib.lines import Line2D

    lines = {artist: name for artist, name in named.items() if isinstance(artist, Line2D)}
    areas = {artist: name for artist, name in named.items() if artist not in lines}
    for size in _readable(usual):
        texts = draw_beside(ax, lines, size=size * usual)
        legend = _in_corner(ax, areas, corners, usual, texts) if texts and areas else None
        if texts and (legend is not None or not areas):
            if not areas:
                _remove_legend(ax)
            return [*texts, *([legend] if legend is not None else [])]
        for text in texts:
            text.remove()
    return []


def _in_corner(
    ax: Axes, named: Mapping[Artist, str], corners: Sequence[str], usual: float, texts: Sequence[Text] = ()
) -> Legend | None:
    """Draw a legend in a corner without a curve or text, if necessary in smaller letters; None where none is free."""
    curves = [line for line in ax.lines if line.get_zorder() >= OTHERS_LAYER]
    guides = [line for line in ax.lines if line in named and line not in curves]
    # A level line that goes on beside the legend is rather covered than that the axes are made small.
    for lines in ([*curves, *guides], curves):
        for size in _readable(usual):
            legend = _legend(ax, named, fontsize=size * usual)
            for corner in corners:
                legend.set_loc(corner)  # type: ignore[arg-type]  # one of Matplotlib's names
                box = legend.get_window_extent()
                if _is_free(ax, legend, lines) and not any(box.overlaps(text.get_window_extent()) for text in texts):
                    return legend
    return None


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
    frame = ax.get_window_extent()
    with_ticks = ax.get_tightbbox() or frame
    # The width and height that the axes could have without a legend.
    whole = figure.bbox.size * _share_of_whole(ax)
    wide, high = whole - with_ticks.size + frame.size
    size_of = min if ax.get_aspect() != "auto" else math.prod
    usual = legend.prop.get_size_in_points()
    for size in _readable(usual):
        columns_beside = math.ceil(size * height / high)
        between = _BETWEEN_COLUMNS * size * usual * figure.dpi / 72
        columns_below = max(1, int((whole[0] + between) // (size * width + between)))
        beside = wide - columns_beside * size * width, high
        below = wide, high - math.ceil(entries / columns_below) * size * height / entries
        is_beside = size_of(beside) >= size_of(below)
        if size_of(beside if is_beside else below) >= _LEAST_LEFT * size_of((wide, high)):
            break
    # Beyond the numbers and names of the axes, where letters do not shrink.
    ticks_width = with_ticks.x1 - frame.x1 if is_beside else frame.y0 - with_ticks.y0
    gap = {"fontsize": size * usual, "borderaxespad": _GAP + ticks_width * 72 / figure.dpi / (size * usual)}
    if is_beside:
        ax.set_anchor("W")  # in the middle of its space a square would move the legend out of the figure
        return {"loc": "center left", "bbox_to_anchor": (1, 0.5), "ncols": columns_beside, **gap}
    middle = 0.5 if columns_below == 1 else ((with_ticks.x0 + with_ticks.x1) / 2 - frame.x0) / frame.width
    return {"loc": "upper center", "bbox_to_anchor": (middle, 0), "ncols": columns_below, **gap}


def _readable(usual: float) -> list[float]:
    """Return by how much the letters of a legend may shrink, the largest first, so that each can be read."""
    least = min(1.0, LEAST_LETTERS / usual)
    return [*(size for size in _SIZES if size > least), least]


def _share_of_whole(ax: Axes) -> tuple[float, float]:
    """Return the share of the width and of the height of the figure that these axes have in a grid."""
    spec = ax.get_subplotspec()
    if spec is None:
        return 1.0, 1.0
    rows, columns = spec.get_gridspec().get_geometry()
    return len(spec.colspan) / columns, len(spec.rowspan) / rows
