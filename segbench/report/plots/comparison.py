"""Plot of a comparison: paired differences with their intervals, one row per pair."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from segbench.aggregator.comparing import compare_results
from segbench.aggregator.result import Result
from segbench.core.errors import ArgumentError
from segbench.core.metric import Metric
from segbench.core.numbers import many, number
from segbench.drawing.axes import (
    dot_size,
    fit_height,
    guide_width,
    names_in_lines,
    new_axes,
    open_frame,
    short_names,
    wrapped,
)
from segbench.drawing.palette import COLOURS, GUIDE
from segbench.report.plots.methods import Kind, named_by_class
from segbench.statistics.comparison import Comparison, Difference

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ALL_PAIRS_UP_TO = 6


def plot_comparison(
    comparison: Comparison, *, metric: str | None = None, reference: str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the paired differences of one metric with their intervals, one row per pair, the largest on top.

    Parameters
    ----------
    comparison : Comparison
        From `compare` or `compare_results`.
    metric : str, optional
        Key of the metric; by default the one that ranks methods.
    reference : str, optional
        A method: draw all others minus it. By default all pairs, the higher minus the lower, and above six methods all
        others minus the best.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if left out, as high as its rows need.

    Returns
    -------
    matplotlib Axes
        Dots are differences, bars their intervals over images, wide light bars the certain bounds of differences where
        scores were counted in bins. The p-values on the right are corrected by Holm for all pairs that were compared;
        intervals are those of each pair by itself, not corrected. A pair without a defined difference has an empty row.

    Raises
    ------
    ArgumentError
        For a metric or a method that was not compared, or for no comparison.
    """
    metric = compared_metric(comparison, metric).key
    methods = list(comparison.intervals)
    if reference is not None and reference not in methods:
        raise ArgumentError(f"{reference!r} is not among the methods compared: {', '.join(methods)}")
    if reference is None and len(methods) > _ALL_PAIRS_UP_TO:
        reference = best_methods_first(comparison, metric)[0]
    rows = [row for row in comparison.differences if row.metric == metric]
    if reference is not None:
        rows = [_minus(row, reference) for row in rows if reference in (row.a, row.b)]
    else:
        rows = [_minus(row, row.a) if row.difference < 0 else row for row in rows]
    rows.sort(key=lambda row: (math.isnan(row.difference), -row.difference, row.a, row.b))
    own = ax is None
    ax = ax or new_axes()
    ax.axvline(0, color=GUIDE, linewidth=guide_width(), zorder=1)
    for place, row in enumerate(rows):
        _draw_row(ax, place, row)
    short = dict(zip(methods, short_names(methods), strict=True))
    if reference:
        labels = names_in_lines([row.a for row in rows])
    else:
        labels = [f"{short[row.a]}\n- {short[row.b]}" for row in rows]
    ax.set_yticks(range(len(rows)), labels, fontsize="small")
    xlabel = _title(comparison, metric, short.get(reference or "", ""))
    above = min(0.8, 0.25 * len(rows))  # the heading stays near the rows, however high few of them are
    ax.set(ylim=(len(rows) - 0.5, -0.5 - above))
    ax.set_xlabel(wrapped(ax, xlabel, size="small"), fontsize="small")
    ax.locator_params(axis="x", nbins=5)
    heading = 1, -0.5 - above / 2
    p = "p, Holm" if len(methods) > 2 else "p"
    ax.annotate(p, heading, xycoords=ax.get_yaxis_transform(), va="center", fontsize="small", color=GUIDE)
    ax.tick_params(axis="y", length=0)
    open_frame(ax)
    if own:
        fit_height(ax)
    return ax


def _draw(results: Sequence[Result], *, level: float = 0.95, replicates: int = 2000, seed: int = 0, ax: Axes) -> Axes:
    """Compare results, and draw the comparison."""
    comparison = compare_results(named_by_class(results), level=level, replicates=replicates, seed=seed)
    return plot_comparison(comparison, ax=ax)


KIND = Kind(_draw, level="level", rows=True, compares=True)


def compared_metric(comparison: Comparison, key: str | None) -> Metric:
    """Give the metric of a key that was compared; by default the one that ranks methods."""
    if not isinstance(comparison, Comparison):
        raise ArgumentError(f"expected a comparison, as compare_results gives it, got {type(comparison).__name__}")
    for metric in comparison.metrics:
        if metric.key == key or (key is None and metric.headline):
            return metric
    raise ArgumentError(f"{key!r} is not compared; expected one of {', '.join(comparison.rank_shares)}")


def best_methods_first(comparison: Comparison, metric: str) -> list[str]:
    """Give the methods of a comparison, the best by a metric first, undefined ones last."""
    sign = compared_metric(comparison, metric).direction
    known = {name: -sign * one.estimates[metric] for name, one in comparison.intervals.items()}
    return sorted(known, key=lambda name: math.inf if math.isnan(known[name]) else known[name])


def _minus(row: Difference, reference: str) -> Difference:
    """Turn a pair around where the reference comes first."""
    if row.b == reference:
        return row
    return replace(
        row,
        a=row.b,
        b=row.a,
        estimate_a=row.estimate_b,
        estimate_b=row.estimate_a,
        difference=-row.difference,
        low=-row.high,
        high=-row.low,
        wins=row.losses,
        losses=row.wins,
        bounds_a=row.bounds_b,
        bounds_b=row.bounds_a,
    )


def _draw_row(ax: Axes, place: int, row: Difference) -> None:
    text = "undefined" if math.isnan(row.difference) else number(row.p_holm, digits=3)
    ax.annotate(text, (1, place), xycoords=ax.get_yaxis_transform(), va="center", fontsize="small")
    if math.isnan(row.difference):
        return
    if row.bounds:
        ax.hlines(place, *row.bounds, color=COLOURS[0], alpha=0.3, linewidth=12 * guide_width(), zorder=2)
    if not math.isnan(row.low):
        ax.hlines(place, row.low, row.high, color=COLOURS[0], linewidth=3 * guide_width(), zorder=2)
    ax.plot(row.difference, place, "o", color=COLOURS[0], markersize=1.2 * dot_size(), zorder=3)


def _title(comparison: Comparison, metric: str, reference: str) -> str:
    level = next(iter(comparison.intervals.values())).level
    chosen = compared_metric(comparison, metric)
    what = f"{chosen.name} minus that of {reference}" if reference else f"Difference in {chosen.name}"
    better = ", lower is better" if chosen.better == "lower" else ""
    images = many(comparison.images, "image")
    bins = "; light: what bins leave open" if any(row.bounds for row in comparison.differences) else ""
    # So an interval may exclude 0 beside a corrected p-value above its level.
    single = ", not corrected for the number of pairs as p is" if len(comparison.intervals) > 2 else ""
    return f"{what}{better}\n{100 * level:g} % intervals over {images}{single}{bins}"
