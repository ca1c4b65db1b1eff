"""Plot of ranking stability: how often each method is first, second, ... when images are resampled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from segbench.aggregator.comparing import compare_results
from segbench.aggregator.result import Result
from segbench.core.errors import ArgumentError
from segbench.core.numbers import many
from segbench.drawing.axes import fit_height, names_in_lines, new_axes, open_frame, wrapped
from segbench.drawing.palette import line_style
from segbench.report.plots.comparison import best_methods_first, compared_metric
from segbench.report.plots.methods import Kind, named_by_class, styles_of
from segbench.statistics.comparison import Comparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LARGEST = 0.75


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
        The area of a disc is the share of resamples, written in percent from .5 on; the best
        method is on top. Methods that are equal share the better rank.

    Raises
    ------
    ArgumentError
        For a metric that was not compared or has no ranks, since it is undefined or bins leave the order open.

    References
    ----------
    Wiesenfarth et al.: Methods and open-source toolkit for analyzing and visualizing challenge results. Scientific
    Reports 2021 (challengeR).
    """
    chosen = compared_metric(comparison, metric)
    shares = comparison.rank_shares[chosen.key]
    if any(np.isnan(row).any() for row in shares.values()):
        reason = comparison.undefined.get(chosen.key, "bins leave the order open; count without bins")
        raise ArgumentError(f"{chosen.key} has no ranks: {reason}")
    methods = list(shares)
    colours = colours or [line_style(place).colour for place in range(len(methods))]
    order = [methods.index(name) for name in best_methods_first(comparison, chosen.key)]
    own = ax is None
    ax = ax or new_axes()
    ax.set(xlim=(0.4, len(methods) + 0.6), ylim=(len(methods) - 0.4, -0.6))
    if own:
        ax.set_yticks(range(len(methods)))
        fit_height(ax)
    sides = ax.get_figure(root=True).get_size_inches()  # type: ignore[union-attr]
    largest = _LARGEST * 72 * min(sides) / (len(methods) + 2)
    for row, k in enumerate(order):
        for rank, share in enumerate(shares[methods[k]], 1):
            if round(100 * share):
                ax.scatter(rank, row, s=share * largest**2, color=colours[k], alpha=0.4, linewidth=0, clip_on=False)
                ax.annotate(f"{100 * share:.0f}", (rank, row), ha="center", va="center", fontsize="small")
    ax.set_xticks(range(1, len(methods) + 1))
    ax.set_yticks(range(len(methods)), [names_in_lines(methods)[k] for k in order])
    drawn = next(iter(comparison.intervals.values())).replicates
    images = many(comparison.images, "image")
    ax.set_xlabel(wrapped(ax, f"Rank by {chosen.name} in {drawn} resamples of {images}, in %"))
    ax.tick_params(length=0)
    open_frame(ax)
    return ax


def _draw(results: Sequence[Result], *, ax: Axes, replicates: int = 2000, seed: int = 0) -> Axes:
    """Compare results, and draw the ranks."""
    comparison = compare_results(named_by_class(results), permutations=1, replicates=replicates, seed=seed)
    return plot_ranks(comparison, colours=[style.colour for style in styles_of(results)], ax=ax)


KIND = Kind(_draw, rows=True, compares=True)
