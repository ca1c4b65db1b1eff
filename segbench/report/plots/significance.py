"""Plot of the significance matrix: which methods are better than which, with p-values."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from segbench.aggregator.comparing import compare_results
from segbench.aggregator.result import Result
from segbench.core.numbers import number
from segbench.drawing.axes import (
    as_text,
    cell_size,
    fit_letters,
    name_rows,
    names_in_lines,
    new_axes,
    short_names,
    wrapped,
)
from segbench.drawing.palette import COLOURS
from segbench.report.plots.comparison import compared_metric, shown_of
from segbench.report.plots.methods import Kind, named_by_class
from segbench.statistics.answer import SHOWN, Answer, p_number, star_key, stars
from segbench.statistics.comparison import Comparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

_BETTER, _WORSE, _OPEN, _NONE = COLOURS[0], COLOURS[4], "#ececec", "#ffffff"
_ROOM = 0.8
_WIDEST_LINE = 2.0


def plot_significance(comparison: Comparison, *, metric: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw Holm's p-value of each method, in rows, against each other, in columns, the best method first.

    Parameters
    ----------
    comparison, metric, ax
        As for `plot_comparison`.

    Returns
    -------
    matplotlib Axes
        Columns are numbered as the rows are, before their names. A cell is blue where the method of its row is
        better than that of its column and the p-value is at most 1 - level, orange where it is worse, grey where
        neither is shown. Cells have their p-values where there is room, else stars. Of more than 20 methods the best 20
        are drawn; p-values are corrected for all pairs.

    Raises
    ------
    ArgumentError
        For a metric that was not compared.
    """
    chosen = compared_metric(comparison, metric)
    answer = comparison.answer(chosen.key)
    shown = answer.standings[:SHOWN]
    least = 1 - comparison.level
    ax = ax or new_axes()
    from matplotlib.colors import ListedColormap

    cells = np.full((len(shown), len(shown)), 3)
    p_values = {}
    for (row, one), (column, other) in itertools.permutations(enumerate(shown), 2):
        cells[row, column] = 0 if other.letter in one.better_than else 1 if one.letter in other.better_than else 2
        p_values[row, column] = answer.p_values[one.method, other.method]
    ax.set_facecolor("white")  # seen through the colours, on any style's background
    ax.imshow(cells, cmap=ListedColormap([_BETTER, _WORSE, _OPEN, _NONE]), vmin=0, vmax=3, alpha=0.55)
    ax.xaxis.tick_top()
    ax.set_xticks(range(len(shown)), [str(k) for k in range(1, len(shown) + 1)], fontsize="small")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set_xticks(np.arange(1, len(shown)) - 0.5, minor=True)
    ax.set_yticks(np.arange(1, len(shown)) - 0.5, minor=True)
    ax.tick_params(which="minor", length=0)
    names = [one.method for one in shown]
    # The longest title first: what it takes from the axes decides whether p-values have room.
    _set_title(ax, answer, shown_of(comparison), in_stars=True)
    numbered = [
        [f"{k}  {name}" for k, name in enumerate(some, 1)] for some in (names_in_lines(names), short_names(names))
    ]
    letters = name_rows(ax, *numbered, size="small")
    ax.tick_params(axis="x", labelsize=letters)
    side, _ = cell_size(ax)
    ax.grid(which="minor", color="white", linewidth=min(_WIDEST_LINE, (1 - _ROOM) / 2 * side))
    room = _ROOM * side
    texts = _write(ax, {place: as_text(p_number(p, digits=3)) for place, p in p_values.items()})
    if fit_letters(texts, room, room) < 1:
        for text in texts:
            text.remove()
        fit_letters(_write(ax, {place: stars(p, least) for place, p in p_values.items()}), room, room)
    else:
        _set_title(ax, answer, shown_of(comparison), in_stars=False)
    return ax


def _write(ax: Axes, cells: Mapping[tuple[int, int], str]) -> list[Text]:
    """Write texts into cells, by row and column."""
    return [
        ax.text(column, row, text, ha="center", va="center", fontsize="x-small", color="black")
        for (row, column), text in cells.items()
        if text
    ]


def _set_title(ax: Axes, answer: Answer, shown: str, *, in_stars: bool) -> None:
    least, reason = 1 - answer.level, answer.pairs.reason
    corrected = ", corrected by Holm" if answer.correction and not reason else ""
    said = [f"{'Significance' if in_stars else 'p'} by {answer.metric.name}{corrected}"]
    if not reason:
        said.append(star_key(least) if in_stars else f"coloured: at most {number(least, digits=2)}")
        said.append("above the diagonal the row is better")
    ax.set_title(wrapped(ax, "\n".join(filter(None, [*said, reason, shown])), size="small"), fontsize="small")


def _draw(results: Sequence[Result], *, level: float = 0.95, seed: int = 0, ax: Axes, replicates: int = 2000) -> Axes:
    """Compare results, and draw the matrix."""
    comparison = compare_results(named_by_class(results), level=level, replicates=replicates, seed=seed)
    return plot_significance(comparison, ax=ax)


KIND = Kind(_draw, level="level", compares=True)
