"""Confusion matrix of one method on label maps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from segbench.aggregator.result import Result
from segbench.core.capabilities import Confusing
from segbench.core.errors import ArgumentError
from segbench.core.interface import setting
from segbench.drawing.axes import new_axes, short_names, wrapped
from segbench.protocols.labels.counts import LabelCounts
from segbench.report.plots.methods import Kind

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FEW_CLASSES = 8
_MOST_NUMBERS = 25


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
    """
    counts = cast("LabelCounts", result.pooled)
    if result.rules.capability(Confusing) is None:
        raise ArgumentError(f"{result.method} is a result of {result.protocol}; confusion matrices are of labels")
    matrix = counts.matrix if counts.matrix[:, -1].any() else counts.matrix[:, :-1]
    names = short_names(list(counts.names))
    columns = [*names, "outside"][: matrix.shape[1]]
    with np.errstate(invalid="ignore"):  # 0 / 0 is nan: an empty row
        shares = matrix / matrix.sum(axis=1, keepdims=True)
    ax = ax or new_axes()
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


def _draw(results: Sequence[Result], *, ax: Axes) -> Axes:
    labelled = [result for result in results if issubclass(result.rules.counts, LabelCounts)]
    if labelled and len(results) != 1:
        raise ArgumentError(
            f"a confusion matrix shows one method, found {len(results)}; "
            f"{setting('choose one with --only', 'give one result')}"
        )
    return plot_confusion(results[0], ax=ax)


KIND = Kind(_draw)
