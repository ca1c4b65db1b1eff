"""Names beside curves, so that no legend need be matched: near their own curve, or joined with it by a thin line.

Conventions
-----------
1. All curves get their names so, or none: half a legend is harder to read than a whole one.
2. A name lies within the frame and touches no line, dot or text; without a line of its own no other curve is as near.
3. It has the colour of its curve, darkened on white paper (lightened on dark) until it can be read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from segbench.core.arrays import FloatArray
from segbench.drawing.axes import guide_width

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

MOST_DIRECT = 5
"""More lines have a legend: so many are four methods, and the annotators or the precision of random scores."""
_GAPS = (2.5, 7.0, 13.0, 20.0, 28.0)
"""How far from its line a name is tried, in points; beyond the first it is joined with the line."""
_CLEAR, _BETWEEN, _BESIDE_JOINT = 2.5, 2.0, 2.0
"""Between a name and other lines, between names, and between a joining line and other lines, in points."""
_NEARER, _FAR = 1.8, 12.0
"""How many times as far as its own line others are, at least; and from where on farther is no better, in points."""
_STEP, _EVERY = 2.0, 8.0
"""Lines are measured at points so far apart, and names are tried beside points so far apart."""
_MOST_TRIED = 150
_BEHIND = 1.5
"""Lines below this layer are guides that a name may interrupt."""
_CONTRAST = 4.5
_SIDES = np.array([(x, y) for x in (1, -1, 0) for y in (0, 1, -1) if x or y])
_VALUE_FIRST = re.compile(r"\[([^\]]*)\] (.*)", re.DOTALL)


class _Drawn(NamedTuple):
    """Points along a line, in points of the figure, and half the width of what is drawn there."""

    points: FloatArray
    radius: float


class _Spot(NamedTuple):
    """Where a name may stand: its lower left corner, the point of its line that it is beside, and whether it is joined.

    The joining line has some `points`.
    """

    corner: FloatArray
    beside: FloatArray
    joined: bool
    points: FloatArray


def draw_beside(ax: Axes, named: Mapping[Line2D, str], *, size: float) -> list[Text]:
    """Write names beside lines of axes that are laid out, in letters of a size; return the texts, none if not all fit.

    A value that a legend has before a name, ``[F=.7] net``, stands below it.
    """
    from matplotlib.collections import PathCollection

    figure: Any = ax.get_figure(root=True)
    scale = 72 / figure.dpi
    drawn: dict[Artist, _Drawn] = {
        line: _drawn(line, ax, scale) for line in ax.lines if line.get_visible() and line.get_zorder() > _BEHIND
    }
    drawn |= {dots: _dots(dots, scale) for dots in ax.collections if isinstance(dots, PathCollection)}
    drawn = {artist: along for artist, along in drawn.items() if len(along.points)}
    if not 0 < len(named) <= MOST_DIRECT or not named.keys() <= drawn.keys():
        return []
    look: dict[str, Any] = {"textcoords": "offset points", "fontsize": size, "ha": "left", "va": "bottom"}
    look |= {"linespacing": 1.05, "bbox": {"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 0.5}}
    names = [_VALUE_FIRST.sub(r"\2\n\1", name) for name in named.values()]
    boxes = []
    for name in names:
        text = ax.text(0, 0, name, fontsize=size, linespacing=look["linespacing"])
        boxes.append(np.array(text.get_window_extent().size) * scale)
        text.remove()
    frame = np.array([ax.get_window_extent().min, ax.get_window_extent().max]) * scale
    spots = [_spots(drawn, line, box, frame) for line, box in zip(named, boxes, strict=True)]
    chosen = _apart(spots, boxes)
    to_data = ax.transData.inverted()
    texts: list[Text] = []
    for line, name, box, spot in zip(named, names, boxes, chosen, strict=bool(chosen)):
        colour = readable(line.get_color(), ax.get_facecolor())
        joint = {"arrowstyle": "-", "color": colour, "linewidth": guide_width(), "shrinkA": 0, "shrinkB": 0}
        joint["relpos"] = tuple(((spot.points[-1] - spot.corner) / box).clip(0, 1))
        look["arrowprops"] = joint if spot.joined else None
        at = tuple(to_data.transform(spot.beside / scale))
        text = ax.annotate(name, at, xytext=tuple(spot.corner - spot.beside), **look)
        text.set(color=colour, zorder=line.get_zorder())
        texts.append(text)
    return texts


def _drawn(line: Line2D, ax: Axes, scale: float) -> _Drawn:
    """Return points along the part of a line that is within the frame."""
    corners = np.asarray(line.get_transform().transform(line.get_xydata()), np.float64) * scale
    corners = corners[np.isfinite(corners).all(axis=1)]
    points = corners
    if line.get_linestyle() != "None" and len(corners) > 1:
        lengths = np.append(0, np.cumsum(np.hypot(*np.diff(corners, axis=0).T)))
        at = np.linspace(0, lengths[-1], max(2, math.ceil(lengths[-1] / _STEP)))
        points = np.column_stack([np.interp(at, lengths, axis) for axis in corners.T])
    frame = ax.get_window_extent()
    low, high = np.array(frame.min) * scale - 1, np.array(frame.max) * scale + 1
    within = points[((points >= low) & (points <= high)).all(axis=1)]
    cells = np.rint(within / _STEP)
    within = within[np.append(True, np.any(np.diff(cells, axis=0) != 0, axis=1))[: len(within)]]  # of steps a part
    has_markers = line.get_marker() not in ("None", "", None)
    return _Drawn(within, max(line.get_linewidth(), line.get_markersize() if has_markers else 0) / 2)


def _dots(collection: PathCollection, scale: float) -> _Drawn:
    """Return the dots of a scatter plot, all as large as the largest."""
    middles = collection.get_offset_transform().transform(np.asarray(collection.get_offsets(), np.float64))
    return _Drawn(middles * scale, math.sqrt(max(collection.get_sizes(), default=0.0)) / 2)


def _spots(drawn: Mapping[Artist, _Drawn], line: Line2D, box: FloatArray, frame: FloatArray) -> list[_Spot]:
    """Return the best places of a name beside its line, the best first."""
    own, others = drawn[line], [along for other, along in drawn.items() if other is not line]
    beside = own.points[:: max(1, round(_EVERY / _STEP))]
    tried: list[tuple[FloatArray, ...]] = []
    for gap in _GAPS:
        # The middle of the nearest side, or the nearest corner, is this gap away from the point.
        off = own.radius + gap
        shifts = np.where(_SIDES > 0, off, np.where(_SIDES < 0, -off - box, -box / 2))
        corners, at = (beside[:, None] + shifts).reshape(-1, 2), np.repeat(beside, len(shifts), axis=0)
        inside = ((corners >= frame[0] + 1) & (corners + box <= frame[1] - 1)).all(axis=1)
        corners, at = corners[inside], at[inside]
        nearest = _distances(corners, box, own)
        clear = np.full(len(corners), _FAR)
        for other in others:
            clear = np.minimum(clear, _distances(corners, box, other))
        fits = (nearest >= _GAPS[0] / 2) & (clear >= _CLEAR)
        fits &= (gap > _GAPS[0]) | (clear >= _NEARER * nearest)
        tried.append((corners[fits], at[fits], clear[fits] - gap, np.full(int(fits.sum()), gap)))
    corners, at, scores, gaps = (np.concatenate(columns) for columns in zip(*tried, strict=True))
    spots: list[_Spot] = []
    for k in np.argsort(-scores, kind="stable").tolist():
        end = np.clip(at[k], corners[k], corners[k] + box)  # the nearest point of the box
        joint = at[k] + np.linspace(0, 1, max(2, round(gaps[k])))[:, None] * (end - at[k])
        joined = bool(gaps[k] > _GAPS[0])
        if not joined or all(_distances(joint, np.zeros(2), other).min() >= _BESIDE_JOINT for other in others):
            spots.append(_Spot(corners[k], at[k], joined, joint))
        if len(spots) == _MOST_TRIED:
            break
    return spots


def _distances(corners: FloatArray, box: FloatArray, along: _Drawn) -> FloatArray:
    """Return how far boxes at some lower left corners are from what is drawn along a line; negative where on it."""
    middle = corners[:, None] + box / 2
    beyond = np.maximum(np.abs(along.points - middle) - box / 2, 0)
    distances: FloatArray = np.hypot(beyond[..., 0], beyond[..., 1]).min(axis=1) - along.radius
    return distances


def _apart(spots: Sequence[Sequence[_Spot]], boxes: Sequence[FloatArray]) -> list[_Spot]:
    """Choose a place of each name so that none lies on another; nothing if that cannot be."""
    order = sorted(range(len(spots)), key=lambda k: len(spots[k]))
    chosen: dict[int, _Spot] = {}

    def place(rank: int) -> bool:
        if rank == len(order):
            return True
        name = order[rank]
        for spot in spots[name]:
            if any(_meet(spot, boxes[name], other, boxes[k]) for k, other in chosen.items()):
                continue
            chosen[name] = spot
            if place(rank + 1):
                return True
            del chosen[name]
        return False

    return [chosen[k] for k in range(len(spots))] if place(0) else []


def _meet(first: _Spot, first_box: FloatArray, second: _Spot, second_box: FloatArray) -> bool:
    """Return whether two names, or a name and the joining line of another, are nearer than they may be."""
    ends = first.corner + first_box + _BETWEEN, second.corner + second_box + _BETWEEN
    if (ends[0] > second.corner).all() and (ends[1] > first.corner).all():
        return True
    return any(
        bool(((spot.points > other.corner - 1) & (spot.points < other.corner + box + 1)).all(axis=1).any())
        for spot, other, box in ((first, second, second_box), (second, first, first_box))
    )


def readable(colour: Any, paper: Any) -> tuple[float, float, float]:  # noqa: ANN401  colours as Matplotlib takes them
    """Return a colour mixed with black, or on dark paper with white, until texts in it can be read."""
    from matplotlib.colors import to_rgb

    of_text, ground = np.array(to_rgb(colour)), _luminance(to_rgb(paper))
    ink = np.zeros(3) if ground > 0.5 else np.ones(3)
    for share in np.linspace(0, 1, 21):
        mixed = (1 - share) * of_text + share * ink
        low, high = sorted((_luminance(mixed), ground))
        if (high + 0.05) / (low + 0.05) >= _CONTRAST:
            break
    red, green, blue = mixed.tolist()
    return red, green, blue


def _luminance(colour: Any) -> float:  # noqa: ANN401  three shares
    """Return the relative luminance of a colour, as WCAG defines it."""
    shares = np.asarray(colour, np.float64)
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))
