"""Plot of ranking stability: how often each method is first, second, ... when images are resampled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from segbench.aggregator.comparing import compare_results
from segbench.aggregator.result import Result
from segbench.core.errors import ArgumentError
from segbench.core.numbers import many
from segbench.drawing.axes import (
    cell_size,
    fit_height,
    fit_letters,
    in_points,
    name_rows,
    names_in_lines,
    new_axes,
    open_frame,
    short_names,
    wrapped,
)
from segbench.drawing.palette import line_style
from segbench.report.plots.comparison import best_methods_first, compared_metric, shown_of
from segbench.report.plots.methods import Kind, named_by_class, styles_of
from segbench.statistics.answer import SHOWN
from segbench.statistics.comparison import Comparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LARGEST = 0.95
_ROOM = 0.8
_LEAST_LETTERS = 3.5


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
    return _draw_ranks(comparison, ax or new_axes(), metric=metric, colours=colours, fit=ax is None)


def _draw_ranks(
    comparison: Comparison, ax: Axes, *, metric: str | None = None, colours: Sequence[str] | None = None, fit: bool
) -> Axes:
    """Draw a row per method, with `fit` as high as they need."""
    chosen = compared_metric(comparison, metric)
    shares = comparison.rank_shares[chosen.key]
    if any(np.isnan(row).any() for row in shares.values()):
        reason = comparison.undefined.get(chosen.key, "no resample defines it for every method")
        raise ArgumentError(f"{chosen.key} has no ranks: {reason}")
    methods = list(shares)
    colours = colours or [line_style(place).colour for place in range(len(methods))]
    shown = best_methods_first(comparison, chosen)[:SHOWN]
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
    ax.set_xlabel(wrapped(ax, ", ".join(filter(None, (said, shown_of(comparison))))))
    ax.tick_params(length=0)
    open_frame(ax)
    names = names_in_lines(shown), short_names(shown)
    if fit:
        ax.set_yticks(range(len(shown)), names[0])
        fit_height(ax)
    name_rows(ax, *names)
    width, height = cell_size(ax)
    ax.set_xticks(range(1, ranks + 1, _step(ax, width)))
    largest = _LARGEST * min(width, height)
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


def _step(ax: Axes, width: float) -> int:
    """Give how many ranks apart numbers below columns of this width have room."""
    needed = 1.3 * in_points(ax.get_xticklabels()[-1])[0]
    return next(step for step in (1, 2, 5, 10, 20, 50, 100, 1000) if step * width >= needed)


def _draw(results: Sequence[Result], *, ax: Axes, fit: bool, replicates: int = 2000, seed: int = 0) -> Axes:
    """Compare results, and draw the ranks."""
    comparison = compare_results(named_by_class(results), replicates=replicates, seed=seed)
    return _draw_ranks(comparison, ax, colours=[style.colour for style in styles_of(results)], fit=fit)


KIND = Kind(_draw, rows=True, compares=True)
