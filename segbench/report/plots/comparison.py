"""Plots of comparisons: paired differences, how stable ranks are, and the matrix of p-values."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from segbench.aggregator.comparing import compare_results
from segbench.aggregator.result import Result
from segbench.core.errors import ArgumentError
from segbench.core.metric import Metric
from segbench.core.numbers import many, number
from segbench.drawing.axes import (
    as_text,
    cell_size,
    dot_size,
    fit_height,
    fit_letters,
    guide_width,
    in_points,
    name_rows,
    names_in_lines,
    new_axes,
    open_frame,
    short_names,
    space_ticks,
    wrapped,
)
from segbench.drawing.palette import COLOURS, GUIDE, line_style
from segbench.report.plots.methods import Kind, named_by_class, styles_of
from segbench.statistics.answer import SHOWN, Answer, p_number, star_key, stars
from segbench.statistics.comparison import Comparison, Difference

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

_BETTER, _WORSE, _OPEN, _NONE = COLOURS[0], COLOURS[4], "#ececec", "#ffffff"
_ROOM = 0.8
_WIDEST_LINE = 2.0
_LARGEST_DISC = 0.95
_LEAST_LETTERS = 3.5
_ALL_PAIRS_UP_TO = 6


def plot_comparison(comparison: Comparison, *, metric: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw the paired differences of one metric with their intervals, one row per pair, the largest on top.

    Of up to six methods it draws all pairs, the higher minus the lower, of more all others minus the best, and of more
    than 20 the best 20.

    Parameters
    ----------
    comparison : Comparison
        From `compare` or `compare_results`.
    metric : str, optional
        Key of the metric; by default the one that ranks methods.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if left out, as high as its rows need.

    Returns
    -------
    matplotlib Axes
        Dots are differences, bars their intervals over images. The p-values on the right are corrected by Holm for
        all pairs that were compared; intervals are those of each pair by itself, not corrected. A pair
        without a defined difference has an empty row.

    Raises
    ------
    ArgumentError
        For a metric that was not compared, or for no comparison.
    """
    ax = ax or new_axes()
    chosen = _compared_metric(comparison, metric)
    best = [one.method for one in comparison.answer(chosen.key).standings]
    reference = best[0] if len(best) > _ALL_PAIRS_UP_TO else ""
    shown = best[:SHOWN]
    rows = [row for row in comparison.rows(chosen.key) if row.a in shown and row.b in shown]
    if reference:
        rows = [row.turned() if row.a == reference else row for row in rows if reference in (row.a, row.b)]
    else:
        rows = [row.turned() if row.difference < 0 else row for row in rows]
    rows.sort(key=lambda row: (math.isnan(row.difference), -row.difference, row.a, row.b))
    short = dict(zip(best, short_names(best), strict=True))
    ax.axvline(0, color=GUIDE, linewidth=guide_width(), zorder=1)
    for place, row in enumerate(rows):
        if not math.isnan(row.low):
            ax.hlines(place, row.low, row.high, color=COLOURS[0], linewidth=3 * guide_width(), zorder=2)
        ax.plot(row.difference, place, "o", color=COLOURS[0], markersize=1.2 * dot_size(), zorder=3)
    above = min(1.0, 0.25 * len(rows))  # the heading stays near the rows, however high few of them are
    ax.set(ylim=(len(rows) - 0.5, -0.5 - above))
    xlabel = _title(comparison, chosen, short.get(reference, ""), rows)
    ax.set_xlabel(wrapped(ax, xlabel, size="small"), fontsize="small")
    heading = "p, Holm" if len(best) > 2 else "p"
    p_values = {-0.5 - above / 2: heading} | {
        place: "undefined" if math.isnan(row.difference) else as_text(p_number(row.p_holm, digits=3))
        for place, row in enumerate(rows)
    }
    right = ax.get_yaxis_transform()
    texts = [ax.annotate(text, (1, at), xycoords=right, va="center", fontsize="small") for at, text in p_values.items()]
    texts[0].set_color(GUIDE)
    ax.tick_params(axis="y", length=0)
    open_frame(ax)
    in_lines = dict(zip(best, names_in_lines(best), strict=True))
    written = short, in_lines  # for rows of any height
    names = [[of[row.a] + ("" if reference else f"\n- {of[row.b]}") for row in rows] for of in written]
    ax.set_yticks(range(len(rows)), names[-1 if reference else 0])
    fit_height(ax)
    name_rows(ax, *names, size="small")
    fit_letters(texts, math.inf, cell_size(ax)[1])
    space_ticks(ax)
    return ax


def plot_ranks(
    comparison: Comparison,
    *,
    metric: str | None = None,
    colours: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw how often each method is first, second, ... in resamples of the images, one row per method.

    Parameters
    ----------
    comparison, metric, ax
        As for `plot_comparison`.
    colours : sequence of str, optional
        Of the methods, in the order of the comparison.

    Returns
    -------
    matplotlib Axes
        The area of a disc is the share of resamples from .5 % on, written in percent where there is room; the best
        method is on top. Methods that are equal share the better rank. Of more than 20 methods the best 20 are drawn,
        with their ranks among all.

    Raises
    ------
    ArgumentError
        For a metric that was not compared or has no ranks, since it is undefined.

    References
    ----------
    Wiesenfarth et al.: Methods and open-source toolkit for analyzing and visualizing challenge results. Scientific
    Reports 2021 (challengeR).
    """
    ax = ax or new_axes()
    chosen = _compared_metric(comparison, metric)
    shares = comparison.rank_shares[chosen.key]
    if any(np.isnan(row).any() for row in shares.values()):
        reason = comparison.undefined.get(chosen.key, "no resample defines it for every method")
        raise ArgumentError(f"{chosen.key} has no ranks: {reason}")
    methods = list(shares)
    colours = colours or [line_style(place).colour for place in range(len(methods))]
    shown = [one.method for one in comparison.answer(chosen.key).standings[:SHOWN]]
    drawn = {
        (rank, row): share
        for row, name in enumerate(shown)
        for rank, share in enumerate(shares[name], 1)
        if round(100 * share)
    }
    ranks = max([len(shown), *(rank for rank, _ in drawn)])
    ax.set(xlim=(0.4, ranks + 0.6), ylim=(len(shown) - 0.4, -0.6))
    ax.set_xticks([1, ranks])
    of = many(comparison.images, "image")
    said = f"Rank by {chosen.name} in {comparison.replicates} resamples of {of}, in %"
    ax.set_xlabel(wrapped(ax, ", ".join(filter(None, (said, _shown_of(comparison))))))
    ax.tick_params(length=0)
    open_frame(ax)
    names = names_in_lines(shown), short_names(shown)
    ax.set_yticks(range(len(shown)), names[0])
    fit_height(ax)
    name_rows(ax, *names)
    width, height = cell_size(ax)
    needed = 1.3 * in_points(ax.get_xticklabels()[-1])[0]
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100, 1000) if step * width >= needed)
    ax.set_xticks(range(1, ranks + 1, step))
    largest = _LARGEST_DISC * min(width, height)
    for (rank, row), share in drawn.items():
        colour = colours[methods.index(shown[row])]
        ax.scatter(rank, row, s=share * largest**2, color=colour, alpha=0.4, linewidth=0, clip_on=False)
    texts = [
        ax.annotate(f"{100 * share:.0f}", at, ha="center", va="center", fontsize="small") for at, share in drawn.items()
    ]
    fit_letters(texts, _ROOM * width, _ROOM * height)
    if texts and float(texts[0].get_fontsize()) < _LEAST_LETTERS:
        for text in texts:
            text.remove()
    return ax


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
    chosen = _compared_metric(comparison, metric)
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
    _set_title(ax, answer, _shown_of(comparison), in_stars=True)
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
        _set_title(ax, answer, _shown_of(comparison), in_stars=False)
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


def _compared_metric(comparison: Comparison, key: str | None) -> Metric:
    """Give the metric of a key that was compared; by default the one that ranks methods."""
    if not isinstance(comparison, Comparison):
        raise ArgumentError(f"expected a comparison, as compare_results gives it, got {type(comparison).__name__}")
    return comparison.metric(key)


def _shown_of(comparison: Comparison) -> str:
    """Say that the best are shown where not all are."""
    methods = len(comparison.methods)
    return f"the best {SHOWN} of {methods} methods" if methods > SHOWN else ""


def _title(comparison: Comparison, metric: Metric, reference: str, rows: Sequence[Difference]) -> str:
    what = f"{metric.name} minus that of {reference}" if reference else f"Difference in {metric.name}"
    better = ", lower is better" if metric.better == "lower" else ""
    reason = comparison.pairs(metric.key).reason
    said = ""
    if not all(math.isnan(row.low) for row in rows):
        # So an interval may exclude 0 beside a corrected p-value above its level.
        said = f"{100 * comparison.level:g} % intervals over {many(comparison.images, 'image')}"
        if len(comparison.methods) > 2 and not reason:
            said += "; p-values are corrected for the number of pairs, intervals are not"
    return "\n".join([f"{what}{better}", "; ".join(filter(None, (said, reason, _shown_of(comparison))))])


def _of_results(
    draw: Callable[..., Axes],
    results: Sequence[Result],
    *,
    ax: Axes,
    level: float = 0.95,
    replicates: int = 2000,
    seed: int = 0,
) -> Axes:
    """Compare results, and draw the comparison."""
    return draw(compare_results(named_by_class(results), level=level, replicates=replicates, seed=seed), ax=ax)


def _ranks_of_results(results: Sequence[Result], *, ax: Axes, replicates: int = 2000, seed: int = 0) -> Axes:
    """Compare results, and draw the ranks in their colours."""
    colours = [style.colour for style in styles_of(results)]
    return _of_results(partial(plot_ranks, colours=colours), results, ax=ax, replicates=replicates, seed=seed)


COMPARISON = Kind(partial(_of_results, plot_comparison), level="level", compares=True)
RANKS = Kind(_ranks_of_results, compares=True)
SIGNIFICANCE = Kind(partial(_of_results, plot_significance), level="level", compares=True)
