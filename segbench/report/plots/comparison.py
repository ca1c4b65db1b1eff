"""Plot of a comparison: paired differences with their intervals and p-values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from segbench.aggregator.comparing import compare_results
from segbench.aggregator.result import Result
from segbench.core.errors import ArgumentError
from segbench.core.messages import Message
from segbench.core.metric import Metric
from segbench.drawing.axes import (
    as_axes,
    as_text,
    cell_size,
    dot_size,
    fit_height,
    fit_letters,
    guide_width,
    name_rows,
    open_frame,
    short_names,
    space_ticks,
    wrapped,
)
from segbench.drawing.palette import COLOURS, GUIDE
from segbench.report.plots.methods import Kind, named_by_class
from segbench.statistics.answer import SHOWN, p_number
from segbench.statistics.comparison import Comparison, Difference

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ALL_PAIRS_UP_TO = 6
_LONGEST_PAIR = 16


def plot_comparison(comparison: Comparison, *, metric: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw the paired differences of one metric with their intervals, one row per pair, the largest on top.

    Of up to six methods it draws all pairs, the higher minus the lower, of more all others minus the best, and of more
    than 20 the best 20.

    Parameters
    ----------
    comparison : Comparison
        From `compare` or `compare_results`.
    metric : str, optional
        Key of the metric; by default the one by which the comparison judges.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if left out, as high as its rows need.

    Returns
    -------
    matplotlib Axes
        Dots are differences, of the signed-rank test Hodges-Lehmann estimates, and bars their intervals over images.
        The p-values on the right are corrected by Holm for all pairs that were compared; intervals are those of each
        pair by itself, not corrected. A pair without a defined difference has an empty row.

    Raises
    ------
    ArgumentError
        For a metric that was not compared, or for no comparison.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from segbench import compare_results, evaluate
    >>> ours = evaluate([([0, 1, 1], [0.1, 0.9, 0.8])] * 2, method="ours")
    >>> theirs = evaluate([([0, 1, 1], [0.1, 0.9, 0.0])] * 2, method="theirs")
    >>> ax = plot_comparison(compare_results([ours, theirs]), ax=Figure().subplots())
    >>> ax.get_yticklabels()[0].get_text().split(), ax.lines[1].get_xdata().round(3).tolist()
    (['ours', '-', 'theirs'], [0.2])
    """
    if not isinstance(comparison, Comparison):
        raise ArgumentError(
            Message(
                "not-comparison",
                "expected a comparison, as compare_results gives it, got {given}",
                given=type(comparison).__name__,
            )
        )
    chosen, ax = comparison.metric(metric), as_axes(ax)
    best = [standing.method for standing in comparison.answer(chosen.key).standings]
    reference = best[0] if len(best) > _ALL_PAIRS_UP_TO else ""
    shown = best[:SHOWN]
    tested = (row.by(comparison.test) for row in comparison.rows(chosen.key))
    rows = [row for row in tested if row.a in shown and row.b in shown]
    if reference:
        rows = [row.swapped() if row.a == reference else row for row in rows if reference in (row.a, row.b)]
    else:
        rows = [row.swapped() if row.difference < 0 else row for row in rows]
    rows.sort(key=lambda row: (math.isnan(row.difference), -row.difference, row.a, row.b))
    short = dict(zip(best, short_names(best), strict=True))
    ax.axvline(0, color=GUIDE, linewidth=guide_width(), zorder=1)
    for position, row in enumerate(rows):
        if not math.isnan(row.low):
            ax.hlines(position, row.low, row.high, color=COLOURS[0], linewidth=3 * guide_width(), zorder=2)
        ax.plot(row.difference, position, "o", color=COLOURS[0], markersize=1.2 * dot_size(), zorder=3)
    above = min(1.0, 0.25 * len(rows))  # the heading stays near the rows, however high few of them are
    ax.set(ylim=(len(rows) - 0.5, -0.5 - above))
    xlabel = _title(comparison, chosen, short.get(reference, ""), rows)
    ax.set_xlabel(wrapped(ax, xlabel, size="small"), fontsize="small")
    heading = "p, Holm" if len(best) > 2 else "p"
    p_values = {-0.5 - above / 2: heading} | {
        position: "undefined" if math.isnan(row.difference) else as_text(p_number(row.p_holm, digits=3))
        for position, row in enumerate(rows)
    }
    right = ax.get_yaxis_transform()
    texts = [ax.annotate(text, (1, at), xycoords=right, va="center", fontsize="small") for at, text in p_values.items()]
    texts[0].set_color(GUIDE)
    ax.tick_params(axis="y", length=0)
    open_frame(ax)
    names = [short[row.a] if reference else _pair(short[row.a], short[row.b]) for row in rows]
    ax.set_yticks(range(len(rows)), names)
    fit_height(ax)
    name_rows(ax, size="small")
    fit_letters(texts, math.inf, cell_size(ax)[1])
    space_ticks(ax)
    return ax


def _pair(a: str, b: str) -> str:
    """Write the names of a pair, short ones on one line."""
    pair = f"{a} - {b}"
    return pair if len(pair) <= _LONGEST_PAIR else f"{a}\n- {b}"


def _title(comparison: Comparison, metric: Metric, reference: str, rows: Sequence[Difference]) -> str:
    quantity = f"{metric.quantity} minus that of {reference}" if reference else f"Difference in {metric.quantity}"
    better = ", lower is better" if metric.better == "lower" else ""
    reason, differs_by = comparison.pairs(metric.key).reason, comparison.pairs(metric.key).differs_by
    quantity = f"{differs_by}: {quantity[0].lower()}{quantity[1:]}" if differs_by and not reference else quantity
    on_intervals = ""
    if not all(math.isnan(row.low) for row in rows):
        # So an interval may exclude 0 beside a corrected p-value above its level.
        on_intervals = f"{100 * comparison.level:g} % intervals over {comparison.over(comparison.sample_size)}"
        if len(comparison.methods) > 2 and not reason:
            on_intervals += "; p-values are corrected for the number of pairs, intervals are not"
    methods = len(comparison.methods)
    few = f"the best {SHOWN} of {methods} methods" if methods > SHOWN else ""
    return "\n".join([f"{quantity}{better}", "; ".join(filter(None, (on_intervals, str(reason), few)))])


def _of_results(results: Sequence[Result], *, ax: Axes, level: float = 0.95) -> Axes:
    """Compare results, and draw the comparison."""
    return plot_comparison(compare_results(named_by_class(results), level=level), ax=ax)


COMPARISON = Kind(_of_results, level="level", compares=True, joins=True)
