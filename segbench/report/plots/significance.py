"""Plot of the significance matrix: which methods are better than which, with p-values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from segbench.aggregator.comparing import compare_results
from segbench.aggregator.result import Result
from segbench.core.numbers import number
from segbench.drawing.axes import names_in_lines, new_axes, wrapped
from segbench.drawing.palette import COLOURS
from segbench.report.plots.comparison import best_methods_first, compared_metric
from segbench.report.plots.methods import Kind, named_by_class
from segbench.statistics.comparison import Comparison, verdicts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_NUMBERS = 12
_BETTER, _WORSE, _OPEN, _NONE = COLOURS[0], COLOURS[4], "#ececec", "#ffffff"


def plot_significance(comparison: Comparison, *, metric: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw Holm's p-value of each method, in rows, against each other, in columns, the best method first.

    Parameters
    ----------
    comparison, metric, ax
        As for `plot_comparison`.

    Returns
    -------
    matplotlib Axes
        A cell is blue with ``>`` where the method of its row is better than that of its column and the p-value is at
        most 1 - level, orange with ``<`` where it is worse, grey where neither is shown. Up to 12 methods have their
        p-values written.

    Raises
    ------
    ArgumentError
        For a metric that was not compared.
    """
    chosen = compared_metric(comparison, metric)
    methods = best_methods_first(comparison, chosen.key)
    places = {name: place for place, name in enumerate(methods)}
    ax = ax or new_axes()
    from matplotlib.colors import ListedColormap

    cells = np.full((len(methods), len(methods)), 3)
    for (a, b), one in verdicts(comparison, chosen.key).items():
        cells[places[a], places[b]] = {"better": 0, "worse": 1, "": 2}[one.found]
        text = {"better": "> ", "worse": "< ", "": ""}[one.found] + number(one.p, digits=3)
        if len(methods) <= _MOST_NUMBERS:
            ax.text(places[b], places[a], text, ha="center", va="center", fontsize="x-small", color="black")
    ax.set_facecolor("white")  # seen through the colours, on any style's background
    ax.imshow(cells, cmap=ListedColormap([_BETTER, _WORSE, _OPEN, _NONE]), vmin=0, vmax=3, alpha=0.55)
    names = names_in_lines(methods)
    ax.set_xticks(range(len(methods)), names, rotation=90, fontsize="small")
    ax.set_yticks(range(len(methods)), names, fontsize="small")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set_xticks(np.arange(1, len(methods)) - 0.5, minor=True)
    ax.set_yticks(np.arange(1, len(methods)) - 0.5, minor=True)
    ax.tick_params(which="minor", length=0)
    ax.grid(which="minor", color="white", linewidth=2)
    key = f"> row better than column, < worse: p at most {1 - comparison.level:.2g}"
    ax.set_title(wrapped(ax, f"p by {chosen.name}, corrected by Holm\n{key}", size="small"), fontsize="small")
    return ax


def _draw(results: Sequence[Result], *, level: float = 0.95, seed: int = 0, ax: Axes, **_idle: int) -> Axes:
    """Compare results, and draw the matrix; ranks, which it does not show, take the replicates."""
    comparison = compare_results(named_by_class(results), level=level, replicates=1, seed=seed)
    return plot_significance(comparison, ax=ax)


KIND = Kind(_draw, level="level", compares=True)
