"""Plot of two methods image by image: each image is a point, at its value by the one and by the other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from segbench.aggregator.result import Result, names_of
from segbench.core.arrays import FloatArray
from segbench.core.errors import ArgumentError
from segbench.core.messages import Either, Message
from segbench.core.numbers import many
from segbench.drawing.axes import as_text, dot_size, fitted, guide_width, letters, open_frame, short_names, space_ticks
from segbench.drawing.captions import add_to_caption
from segbench.drawing.palette import COLOURS, GUIDE
from segbench.report.plots.images import quantity_of_images, values_of_images
from segbench.report.plots.methods import Kind
from segbench.report.ranking import headline_order
from segbench.statistics.signed_rank import TIED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.transforms import Bbox

_TWO = 2
_NAMED_IMAGES = 3
_MANY_POINTS = 200
_AROUND = (
    ((4, 0), "left", "center"),
    ((-4, 0), "right", "center"),
    ((0, -4), "center", "top"),
    ((0, 4), "center", "bottom"),
)
"""Where a name may stand beside its point."""


class _ImagesOfSide(NamedTuple):
    """The images on which a method is better, or none is: what they are called and how they are drawn."""

    label: str
    images: FloatArray
    marker: str
    colour: str


def draw_scatter(results: Sequence[Result], *, metric: str | None = None, ax: Axes) -> Axes:
    """Draw a point for each image: across the first method, up the second; of more than two methods the best two."""
    of_images = values_of_images(results, metric)
    order = [k for k in headline_order(of_images.results) if of_images.values[k]]
    if len(order) < _TWO:
        raise ArgumentError(
            Message(
                "too-few-methods",
                "a scatter plot shows two methods image by image, found {found}; {more}",
                found=names_of(of_images.results),
                more=Either("give two results", "add another to the results file"),
            )
        )
    first, second = sorted(order) if len(order) == _TWO else order[:_TWO]
    names = names_of(of_images.results)
    a, b = short_names([names[first], names[second]])
    values = of_images.values[first], of_images.values[second]
    images = [name for name in values[0] if not math.isnan(values[0][name] + values[1].get(name, math.nan))]
    x, y = (np.array([of_method[name] for name in images]) for of_method in values)
    quantity = quantity_of_images(of_images.metric, of_images.results)
    ax.set(xlabel=f"{quantity}\n{a}", ylabel=f"{quantity}\n{b}")
    low, high = fitted(np.concatenate([x, y]), of_images.metric.range)
    ax.set(xlim=(low, high), ylim=(low, high), aspect="equal")
    open_frame(ax)
    ax.plot([low, high], [low, high], color=GUIDE, linewidth=guide_width(), zorder=1)
    ahead = of_images.metric.direction * (x - y)
    sides = (
        _ImagesOfSide(f"{a} better: {many(int(np.sum(ahead > TIED)), 'image')}", ahead > TIED, "o", COLOURS[0]),
        _ImagesOfSide(f"{b} better: {many(int(np.sum(ahead < -TIED)), 'image')}", ahead < -TIED, "^", COLOURS[1]),
        _ImagesOfSide("equal", np.abs(ahead) <= TIED, "s", GUIDE),
    )
    alpha = 0.8 if len(images) <= _MANY_POINTS else 0.4
    for side in sides:
        look = {"marker": side.marker, "color": side.colour, "alpha": alpha, "linewidth": 0, "clip_on": False}
        ax.scatter(x[side.images], y[side.images], dot_size() ** 2, zorder=3, **look)  # type: ignore[arg-type]  # as it takes
    space_ticks(ax)
    ax.set_yticks([tick for tick in ax.get_xticks() if low <= tick <= high])
    _write_sides(ax, sides, of_images.metric.direction)
    farthest = np.argsort(-np.abs(ahead), kind="stable")[:_NAMED_IMAGES].tolist()
    named = [(images[k], float(x[k]), float(y[k])) for k in farthest if abs(ahead[k]) > TIED]
    _name_points(ax, named, np.column_stack([x, y]))
    _say_what_is_drawn(ax, of_images.results, images, (first, second), sides)
    return ax


def _write_sides(ax: Axes, sides: Sequence[_ImagesOfSide], direction: int) -> None:
    """Write above the axes how many images are on each side of the diagonal, that above it first."""
    below, above, equal = sides
    upper, lower = (above, below) if direction > 0 else (below, above)
    ties = f", {int(equal.images.sum())} equal" if equal.images.any() else ""
    ax.set_title(f"above: {upper.label}\nbelow: {lower.label}{ties}", fontsize=letters("small"), loc="left")


def _name_points(ax: Axes, named: Sequence[tuple[str, float, float]], points: FloatArray) -> None:
    """Write names beside some points where they lie within the axes, on no other text and best on no point."""
    ax.get_figure(root=True).draw_without_rendering()  # type: ignore[union-attr]
    within = ax.get_window_extent()
    drawn = ax.transData.transform(points)
    written: list[Bbox] = []
    for name, x, y in named:
        look: dict[str, Any] = {"xytext": (0, 0), "textcoords": "offset points", "fontsize": letters("x-small")}
        text = ax.annotate(as_text(name), (x, y), **look)
        choices: list[tuple[int, int, Bbox]] = []
        for number, (shift, side, height) in enumerate(_AROUND):
            text.set(position=shift, ha=side, va=height)
            box = text.get_window_extent()
            is_within = within.x0 <= box.x0 and box.x1 <= within.x1 and within.y0 <= box.y0 and box.y1 <= within.y1
            if is_within and not any(box.padded(1).overlaps(other) for other in written):
                choices.append((int(box.count_contains(drawn)), number, box))
        if not choices:
            text.remove()
            continue
        _, number, box = min(choices, key=lambda choice: choice[:2])
        shift, side, height = _AROUND[number]
        text.set(position=shift, ha=side, va=height)
        written.append(box)


def _say_what_is_drawn(
    ax: Axes, results: Sequence[Result], images: Sequence[str], shown: tuple[int, int], sides: Sequence[_ImagesOfSide]
) -> None:
    """Say in the caption how many images there are, and which methods are not drawn."""
    names = names_of(results)
    a, b = (names[k] for k in shown)
    of_all = len({*results[shown[0]].counts, *results[shown[1]].counts})
    counted = ", ".join(side.label for side in sides[:2])
    lacking = f" of {of_all}, on the others one of the two is undefined" if len(images) < of_all else ""
    add_to_caption(ax, f"{many(len(images), 'image')}{lacking}; {counted}")
    if len(results) > _TWO:
        others = ", ".join(name for k, name in enumerate(names) if k not in shown)
        add_to_caption(ax, f"{a} and {b} are the best two; not drawn: {others}")


SCATTER = Kind(draw_scatter, metric=True, joins=True)
