"""Plots of the images one by one, as dots and as boxes: how each method does on each, and what is hard for all."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segbench.aggregator.result import Result, names_of
from segbench.core.errors import ArgumentError
from segbench.core.messages import Message
from segbench.core.metric import Metric, image_columns, image_headline, images_at_their_best
from segbench.core.numbers import many
from segbench.curves.pooled import AT_THE_MASK
from segbench.drawing.axes import (
    as_axes,
    as_text,
    dot_size,
    fit_height,
    fitted,
    guide_width,
    most_rows,
    name_rows,
    names_in_lines,
    open_frame,
    wrapped,
)
from segbench.drawing.captions import add_to_caption
from segbench.drawing.palette import GUIDE
from segbench.report.plots.methods import (
    Kind,
    apart,
    colours_of_rows,
    of_one_protocol,
    say_left_out,
    styles_of,
)
from segbench.report.ranking import competing_order

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SPREAD = 0.3
_LINKED_IMAGES, _LINKED_METHODS = 200, 3
_HALF_BOX, _SPREAD_IN_BOX, _WHISKER = 0.3, 0.22, 1.5
_DOTS_AS_VECTORS = 5_000


def plot_images(results: Result | Sequence[Result], *, metric: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw a dot for each image in a row for each method, the best median on top.

    The axis fits the data. The tall mark is the median, the bar goes from quartile to quartile. An image is at the same
    height in every row. Thin lines join its dots from row to row for up to three methods and 200 images: what all find
    hard lies on the same side in all.

    Parameters
    ----------
    results : Result or sequence of Result
        Of one protocol. A method published without images has no images: it is named and its row left empty.
    metric : str, optional
        A metric of `Result.per_image`; by default the one that ranks methods, such as ``"f"``, at the image's best
        threshold; of two-valued predictions at the mask.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if left out, as high as its rows need.

    Returns
    -------
    matplotlib Axes
        Images on which the metric is undefined are left out, and their number is beside the method.

    Raises
    ------
    ArgumentError
        For no results, results of several protocols, an unknown metric, or if no result has images.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from segbench import evaluate
    >>> result = evaluate([([0, 1, 1], [0.1, 0.9, 0.8]), ([0, 1, 1], [0.1, 0.9, 0.0])], method="net")
    >>> ax = plot_images(result, ax=Figure().subplots())
    >>> ax.get_xlabel(), ax.collections[0].get_offsets()[:, 0].tolist()
    ('F of each image at its best threshold', [1.0, 0.8])
    """
    of_images = values_of_images(results, metric)
    offsets = spread(sorted({name for images in of_images.values for name in images}))
    heights = {name: _SPREAD * offset for name, offset in offsets.items()}
    ax = as_axes(ax)
    order, colours = _rows_of(ax, of_images)
    for row, k in enumerate(order):
        _draw_row(ax, row, of_images.values[k], heights, colours[row])
    if len(heights) <= _LINKED_IMAGES and len(order) <= _LINKED_METHODS:
        _draw_links(ax, [of_images.values[k] for k in order], heights)
    return ax


def draw_boxes(results: Sequence[Result], *, metric: str | None = None, ax: Axes) -> Axes:
    """Draw a box in a row for each method, the best median on top, and a dot for each image on it."""
    of_images = values_of_images(results, metric)
    heights = spread(sorted({*itertools.chain(*of_images.values)}))
    order, colours = _rows_of(ax, of_images)
    for row, k in enumerate(order):
        _draw_box(ax, row, of_images.values[k], heights, colours[row])
    number_of = many(len(heights), "image")
    box = f"Boxes: median and quartiles over {number_of}"
    add_to_caption(ax, f"{box}; whiskers: the farthest image within 1.5 times their distance")
    return ax


IMAGES = Kind(plot_images, metric=True, joins=True)
BOX = Kind(draw_boxes, metric=True, joins=True)


class ImageValues(NamedTuple):
    """A metric of single images, of some results; nan where it is undefined."""

    results: list[Result]
    metric: Metric
    values: list[dict[str, float]]


def values_of_images(unjoined: Result | Sequence[Result], key: str | None) -> ImageValues:
    """Return a metric of the images of results of one protocol, by default the one that ranks methods."""
    results = of_one_protocol(unjoined)
    rules = results[0].rules
    known = {metric.image_key: metric for metric in image_columns(rules.metrics())}
    key = key or image_headline(rules.metrics()).image_key
    if key not in known:
        raise ArgumentError(
            Message(
                "unknown-metric",
                "images have no metric {metric!r}; expected one of {known}",
                metric=key,
                known=list(known),
            )
        )
    if not any(result.counts for result in results):
        raise ArgumentError(Message("published", "no result has counts of images: published curves have none to draw"))
    values = [{name: summary[key] for name, summary in result.per_image.items()} for result in results]
    return ImageValues(results, known[key], values)


def _rows_of(ax: Axes, of_images: ImageValues) -> tuple[list[int], list[str]]:
    """Name a row for each method for which there is room, the best median on top; return these and their colours."""
    results, metric, values = of_images
    best_first = sorted(range(len(results)), key=lambda k: (_rank(values[k], metric.direction), results[k].method))
    order = competing_order(results, best_first)
    ax.set_xlabel(wrapped(ax, quantity_of_images(metric, results)))
    ax.tick_params(axis="y", length=0)
    open_frame(ax)
    names, has = names_in_lines(names_of(results)), apart(results)
    colours = colours_of_rows(styles_of(results), order)
    shown = order[: most_rows(ax, len(order))]
    say_left_out(ax, [names_of(results)[k] for k in order], len(shown))
    ax.set_xlim(fitted([value for k in shown for value in values[k].values()], metric.range))
    ax.set_ylim(len(shown) - 0.5, -0.5)
    ax.set_yticks(range(len(shown)), [_named(names[k], has[k], values[k]) for k in shown])
    fit_height(ax)
    name_rows(ax, size="medium")
    return shown, colours


def _rank(values: dict[str, float], direction: int) -> float:
    """Return a sort key: lowest for the best median, infinite without any defined value."""
    defined = [value for value in values.values() if not math.isnan(value)]
    return -direction * float(np.median(defined)) if defined else math.inf


def spread(names: Sequence[str]) -> dict[str, float]:
    """Spread images from -1 to 1 over the height of a row, neighbours far apart, each always at the same place."""
    golden = (math.sqrt(5) - 1) / 2
    return {name: 2 * ((k + 1) * golden % 1) - 1 for k, name in enumerate(names)}


def _draw_row(ax: Axes, row: int, values: dict[str, float], heights: dict[str, float], colour: str) -> None:
    points = np.array([(value, row + heights[name]) for name, value in values.items() if not math.isnan(value)])
    if not points.size:
        return
    crowded = len(points) > _DOTS_AS_VECTORS
    alpha = 0.7 if len(points) <= _LINKED_IMAGES else 0.25
    dots: dict[str, Any] = {"alpha": alpha, "linewidth": 0, "zorder": 3, "rasterized": crowded, "clip_on": False}
    ax.scatter(points[:, 0], points[:, 1], s=(0.75 * dot_size()) ** 2, color=colour, **dots)
    low, median, high = np.quantile(points[:, 0], [0.25, 0.5, 0.75])
    ax.fill_between([low, high], row - _SPREAD, row + _SPREAD, color=colour, alpha=0.18, linewidth=0, zorder=2)
    ax.vlines(median, row - 1.3 * _SPREAD, row + 1.3 * _SPREAD, color=colour, linewidth=4 * guide_width(), zorder=4)


def _draw_box(ax: Axes, row: int, values: dict[str, float], heights: dict[str, float], colour: str) -> None:
    """Draw a box with whiskers, and the images as dots that do not hide it."""
    known = {name: value for name, value in values.items() if not math.isnan(value)}
    if not known:
        return
    at = np.array(list(known.values()))
    low, median, high = np.quantile(at, [0.25, 0.5, 0.75])
    reach = _WHISKER * (high - low)
    ends = at[at >= low - reach].min(), at[at <= high + reach].max()
    bottom, top = row - _HALF_BOX, row + _HALF_BOX
    width = 2 * guide_width()
    ink = ax.xaxis.label.get_color()
    ax.fill_between([low, high], bottom, top, facecolor=colour, alpha=0.25, linewidth=0, zorder=2)
    ax.plot([low, low, high, high, low], [bottom, top, top, bottom, bottom], color=colour, linewidth=width, zorder=3)
    ax.hlines([row, row], [ends[0], high], [low, ends[1]], color=colour, linewidth=width, zorder=3)
    ax.vlines(median, bottom, top, color=ink, linewidth=2 * width, zorder=5)
    up = [row + _SPREAD_IN_BOX * heights[name] for name in known]
    crowded = len(known) > _DOTS_AS_VECTORS
    dots: dict[str, Any] = {"linewidth": 0, "zorder": 4, "rasterized": crowded, "clip_on": False}
    alpha = 0.7 if len(known) <= _LINKED_IMAGES else 0.25
    ax.scatter(at, up, s=(0.5 * dot_size()) ** 2, color=ink, alpha=alpha, **dots)


def _draw_links(ax: Axes, rows: Sequence[dict[str, float]], heights: dict[str, float]) -> None:
    from matplotlib.collections import LineCollection

    links: list[NDArray[np.float64]] = [
        np.array([(upper[name], row + heights[name]), (lower[name], row + 1 + heights[name])])
        for row, (upper, lower) in enumerate(itertools.pairwise(rows))
        for name in upper
        if not math.isnan(upper[name] + lower.get(name, math.nan))
    ]
    ax.add_collection(LineCollection(links, color=GUIDE, linewidth=0.6 * guide_width(), alpha=0.5, zorder=1))


def _named(name: str, has: str, values: dict[str, float]) -> str:
    undefined = sum(math.isnan(value) for value in values.values())
    remarks = [as_text(has), f"{undefined} undefined" if undefined else ""] if values else ["no images"]
    return "\n".join([name, *(f"({remark})" for remark in remarks if remark)])


def quantity_of_images(metric: Metric, results: Sequence[Result]) -> str:
    """Name an axis along the metric of single images, and say at which threshold they are measured."""
    metrics, at = results[0].metrics, ""
    if metric.image_key == image_headline(metrics).image_key and images_at_their_best(metrics):
        masks = all(AT_THE_MASK in result.summary.notes for result in results if result.counts)
        at = " at the mask" if masks else " at its best threshold"
    return f"{metric.quantity_of_images} of each image{at}"
