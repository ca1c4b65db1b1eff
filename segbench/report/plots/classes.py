"""Plots of label maps: a metric of each class, and confusion matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from segbench.aggregator.result import Result, names_of, parts_if_any
from segbench.core.arrays import FloatArray
from segbench.core.errors import ArgumentError
from segbench.core.messages import Either, Message
from segbench.core.metric import Metric, headline
from segbench.core.names import first_names
from segbench.drawing.axes import (
    as_axes,
    cell_size,
    fit_height,
    name_rows,
    names_in_lines,
    open_frame,
    short_names,
    wrapped,
)
from segbench.drawing.captions import add_to_caption
from segbench.drawing.charts import COLOURED, MOST_NAMED
from segbench.drawing.legends import place_legend
from segbench.drawing.numerals import numeral
from segbench.drawing.palette import FAINT
from segbench.inputs.class_names import in_no_mean
from segbench.inputs.label_inputs import LabelInputs
from segbench.protocols.labels.counts import LabelCounts
from segbench.report.plots.methods import Kind, of_one_protocol, styles_of
from segbench.report.tables import how_to_divide

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection

_BAR = 0.8
_LINE = 0.3
"""How much of the height of a bar the line of its interval covers at most."""
_LISTED = 5
_FEW_CLASSES = 8
_MOST_NUMBERS = 25


def plot_classes(
    results: Result | Sequence[Result],
    *,
    metric: str | None = None,
    level: float | None = None,
    ax: Axes | None = None,
    replicates: int = 2000,
    seed: int = 0,
) -> Axes:
    """Draw a bar for each class and method, the class that is best for the first method first.

    Parameters
    ----------
    results : Result or sequence of Result
        All of the same classes, as results of labels, contours, pixels and panoptic maps have with classes.
    metric : str, optional
        A metric of the results of single classes, ``"iou"`` or ``"dice"``; by default their main one.
    level : float, optional
        Level of intervals over images, drawn as lines; none if left out.
    ax, replicates, seed
        As for `plot_pr`.

    Returns
    -------
    matplotlib Axes
        Shares go from 0 to 1; the axis of distances ends beyond the longest bar. A class on which the metric is
        undefined has no bar and comes last. The means of the legend leave out the background, which
        comes last.

    Raises
    ------
    ArgumentError
        For results without classes or of different classes, or an unknown metric.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from segbench import Labels, evaluate
    >>> result = evaluate([(np.array([[0, 1, 1, 2]]), np.array([[0, 1, 2, 2]]))], protocol=Labels(classes=3))
    >>> ax = plot_classes(result, ax=Figure().subplots())
    >>> [float(bar.get_width()) for bar in ax.patches]
    [1.0, 0.5, 0.5]
    """
    results = of_one_protocol(results)
    classes = [parts_if_any(result, "class") for result in results]
    if not classes[0] or any(list(parts) != list(classes[0]) for parts in classes):
        listed = "; ".join(
            f"{name} has {first_names(list(parts), _LISTED) or 'none'}"
            for name, parts in zip(names_of(results), classes, strict=True)
        )
        by_signature = Either("", "; choose results by a part of their signature: --only classes:0-18")
        raise ArgumentError(
            Message(
                "other-classes",
                "bars per class need results with the same classes, but {found}{choose}",
                found=listed,
                choose=by_signature if any(classes) else "; " + how_to_divide(results, "class"),
            )
        )
    first = next(iter(classes[0].values()))
    metrics = first.metrics
    metric = metric or headline(metrics).key
    known = [name for name, value in first.summary.items() if not isinstance(value, int)]
    if metric not in known:
        raise ArgumentError(
            Message(
                "unknown-metric",
                "classes have no metric {metric!r}; expected one of {known}",
                metric=metric,
                known=known,
            )
        )
    shown = next((candidate for candidate in metrics if candidate.key == metric), Metric(key=metric))
    values = np.array([[class_result.summary[metric] for class_result in parts.values()] for parts in classes])
    within_means = [not in_no_mean(class_result.settings) for class_result in classes[0].values()]
    order = np.lexsort((-shown.direction * values[0], np.logical_not(within_means)))  # nan and the background come last
    ax = as_axes(ax)
    looks = _bars_of(ax, results, values, within_means)
    thickness, ink = _BAR / len(results), ax.xaxis.label.get_color()
    lines: list[LineCollection] = []
    for index, (parts, (colour, label)) in enumerate(zip(classes, looks, strict=True)):
        heights = np.arange(len(order)) + (index - (len(results) - 1) / 2) * thickness
        drawn = values[index][order]
        ends = np.zeros((2, len(order)))
        if level is not None:
            resampled = {"replicates": replicates, "seed": seed}
            pairs = [class_result.intervals(level=level, **resampled)[metric] for class_result in parts.values()]
            low, high = np.array(pairs)[order].T
            ends = np.nan_to_num(np.clip([drawn - low, high - drawn], 0, math.inf))
        spread = None if level is None else ends
        bars = ax.barh(heights, drawn, thickness, xerr=spread, color=colour, label=label or None, ecolor=ink)
        lines += bars.errorbar.lines[2] if bars.errorbar else ()
    named = names_in_lines(list(classes[0]))
    ax.set_yticks(range(len(order)), [named[k] for k in order])
    better = ", lower is better" if shown.better == "lower" else ""
    ax.set(ylim=(len(order) - 0.5, -0.5), xlabel=f"{shown.quantity}{better}")
    low, high = (end if math.isfinite(end) else None for end in shown.range or (-math.inf, math.inf))
    ax.set_xlim(0 if np.nanmin(values, initial=0) >= 0 else low, high)  # distances have no highest value
    ax.tick_params(axis="y", length=0)
    open_frame(ax)
    place_legend(ax, ())
    fit_height(ax)
    name_rows(ax, size="medium")
    widest = _LINE * thickness * cell_size(ax)[1]
    for line in lines:
        line.set_linewidth(min(*np.ravel(line.get_linewidth()), widest))
    return ax


def _bars_of(
    ax: Axes, results: Sequence[Result], values: FloatArray, within_means: Sequence[bool]
) -> list[tuple[str, str]]:
    """Return colour and label of the bars of each method: above `MOST_NAMED` methods of the first alone."""
    looks = []
    for style, name, of_method in zip(styles_of(results), short_names(names_of(results)), values, strict=True):
        within = of_method[np.array(within_means)]
        mean = numeral(float(np.nanmean(within))) if np.isfinite(within).any() else "-"
        looks.append((style.colour, f"{name}, mean {mean}"))
    others = len(looks) - COLOURED
    if len(looks) <= MOST_NAMED:
        return looks
    add_to_caption(
        ax, f"In colour: the first {COLOURED} of {len(looks)} methods: {'; '.join(label for _, label in looks)}"
    )
    return [*looks[:COLOURED], (FAINT, f"{others} others"), *[(FAINT, "")] * (others - 1)]


def plot_confusion(result: Result, *, ax: Axes | None = None) -> Axes:
    """Draw a confusion matrix, each row as shares of the pixels of its true class.

    Parameters
    ----------
    result : Result
        Of the labels protocol.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    matplotlib Axes
        Up to 25 classes have their shares in percent written into the cells. There is a column for predictions outside
        the classes only where there are any, and the row of a class that the ground truth lacks is empty.

    Raises
    ------
    ArgumentError
        If the result is not one of the labels protocol.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from segbench import Labels, evaluate
    >>> result = evaluate([(np.array([[0, 1, 1, 2]]), np.array([[0, 1, 2, 2]]))], protocol=Labels(classes=3))
    >>> ax = plot_confusion(result, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.texts]
    ['100', '50', '50', '100']
    """
    counts: object = result.pooled
    if not isinstance(result.rules.inputs, LabelInputs):
        raise ArgumentError(
            Message(
                "no-plot",
                "{method} is a result of {protocol}; confusion matrices are of labels",
                method=result.method,
                protocol=result.protocol,
            )
        )
    if not isinstance(counts, LabelCounts):
        raise ArgumentError(
            Message(
                "no-plot",
                "{method} was counted by others, each class against all else, which is no confusion matrix",
                method=result.method,
            )
        )
    shares, named = confusion_shares(counts.matrix, counts.label_names)
    names, columns = short_names(list(counts.label_names)), short_names(named)
    ax = as_axes(ax)
    (method,) = short_names([result.method])
    ax.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="equal")
    ax.set_xticks(range(len(columns)), columns, rotation=90)
    ax.set_yticks(range(len(names)), names)
    ax.set(xlabel="predicted", ylabel="ground truth")
    ax.set_title(wrapped(ax, f"{method}\n% of the pixels of each true class", size="small"), fontsize="small")
    ax.tick_params(length=0)
    if len(names) <= _MOST_NUMBERS:
        letters = "small" if len(names) <= _FEW_CLASSES else "x-small"
        for row, column in zip(*np.nonzero(np.nan_to_num(shares) >= 0.005), strict=True):  # 0 % is left out
            share = shares[row, column]
            colour = "white" if share > 0.5 else "black"
            ax.text(column, row, f"{100 * share:.0f}", ha="center", va="center", color=colour, fontsize=letters)
    return ax


def confusion_shares(matrix: NDArray[np.int64], names: Sequence[str]) -> tuple[FloatArray, list[str]]:
    """Return the share of each predicted class in the pixels of each true one, and the names of the columns."""
    columns = [*names, "outside"] if matrix[:, -1].any() else list(names)
    matrix = matrix[:, : len(columns)]
    with np.errstate(invalid="ignore"):
        return matrix / matrix.sum(axis=1, keepdims=True), columns


def _of_results(results: Sequence[Result], *, ax: Axes) -> Axes:
    labelled = [result for result in results if issubclass(result.rules.counts, LabelCounts)]
    if labelled and len(results) != 1:
        raise ArgumentError(
            Message(
                "several-methods",
                "a confusion matrix shows one method, found {methods}; {choose}",
                methods=len(results),
                choose=Either("give one result", "choose one with --only"),
            )
        )
    return plot_confusion(results[0], ax=ax)


CLASSES = Kind(plot_classes, level="level", metric=True, joins=True)
CONFUSION = Kind(_of_results)
