"""Plot of the images one by one: how each method does on each, and what is hard for all."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from segbench.aggregator.result import Result, names_of
from segbench.core.errors import ArgumentError
from segbench.core.messages import Message
from segbench.core.metric import Metric, image_columns, image_headline, images_at_their_best
from segbench.curves.pooled import AT_THE_MASK
from segbench.drawing.axes import (
    as_axes,
    as_text,
    dot_size,
    fit_height,
    fitted,
    guide_width,
    names_in_lines,
    open_frame,
    wrapped,
)
from segbench.drawing.palette import GUIDE
from segbench.report.plots.methods import Kind, apart, of_one_protocol, styles_of
from segbench.report.ranking import competing_order

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SPREAD = 0.3
_LINKED_IMAGES = 200
_DOTS_AS_VECTORS = 5_000


def plot_images(results: Result | Sequence[Result], *, metric: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw a dot for each image in a row for each method, the best median on top.

    The axis fits the data. The tall mark is the median, the bar goes from quartile to quartile. An image is at the same
    height in every row, and up to 200 images thin lines join its dots from row to row: what all methods find hard lies
    on the same side in all.

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
    results = of_one_protocol(results)
    rules = results[0].rules
    known = {metric.image_key: metric for metric in image_columns(rules.metrics())}
    metric = metric or image_headline(rules.metrics()).image_key
    if metric not in known:
        raise ArgumentError(
            Message(
                "unknown-metric",
                "images have no metric {metric!r}; expected one of {known}",
                metric=metric,
                known=list(known),
            )
        )
    if not any(result.counts for result in results):
        raise ArgumentError(Message("published", "no result has counts of images: published curves have none to draw"))
    values = [{name: summary[metric] for name, summary in result.per_image.items()} for result in results]
    direction = known[metric].direction
    best_first = sorted(range(len(results)), key=lambda k: (_rank(values[k], direction), results[k].method))
    order = competing_order(results, best_first)
    offsets = spread(sorted({name for images in values for name in images}))
    heights = {name: _SPREAD * offset for name, offset in offsets.items()}
    ax = as_axes(ax)
    styles = styles_of(results)
    for row, k in enumerate(order):
        _draw_row(ax, row, values[k], heights, styles[k].colour)
    if len(heights) <= _LINKED_IMAGES:
        _draw_links(ax, [values[k] for k in order], heights)
    names, has = names_in_lines(names_of(results)), apart(results)
    ax.set_yticks(range(len(order)), [_named(names[k], has[k], values[k]) for k in order])
    ax.set(ylim=(len(order) - 0.5, -0.5), xlabel=wrapped(ax, _title(known[metric], results)))
    ax.tick_params(axis="y", length=0)
    ax.set_xlim(fitted([value for images in values for value in images.values()], known[metric].range))
    open_frame(ax)
    fit_height(ax)
    return ax


IMAGES = Kind(plot_images, joins=True)


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


def _title(metric: Metric, results: Sequence[Result]) -> str:
    metrics, at = results[0].metrics, ""
    if metric.image_key == image_headline(metrics).image_key and images_at_their_best(metrics):
        masks = all(AT_THE_MASK in result.summary.notes for result in results if result.counts)
        at = " at the mask" if masks else " at its best threshold"
    return f"{metric.quantity_of_images} of each image{at}"
