"""Plot of a comparison: paired differences with their intervals and p-values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

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
    letters,
    most_rows,
    name_rows,
    open_frame,
    short_names,
    space_ticks,
    wrapped,
)
from segbench.drawing.captions import add_to_caption
from segbench.drawing.numerals import as_numeral
from segbench.drawing.palette import COLOURS, GUIDE
from segbench.report.plots.methods import Kind, named_by_class, say_left_out
from segbench.statistics.answer import SHOWN, p_number
from segbench.statistics.comparison import Comparison, Difference

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TWO, _ALL_PAIRS_UP_TO = 2, 6
_LONGEST_PAIR = 16


def plot_comparison(comparison: Comparison, *, metric: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw the paired differences of one metric with their intervals, one row per pair.

    Of up to six methods it draws all pairs if they fit, else the best minus each other, of more than 20 of the best 20.
    In each row the method that is better in the whole comes first: all rows have one direction.

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
        pair by itself, not corrected; `caption_of` says so. A pair without a defined difference has an empty row.

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
    rows = _pairs_in_order(comparison, chosen.key, best)
    short = dict(zip(best, short_names(best), strict=True))
    lines = max(_pair(short[row.a], short[row.b]).count("\n") + 1 for row in rows)
    against_best = [row for row in rows if row.a == best[0]]
    ax.set_xlabel(wrapped(ax, _title(comparison, chosen, short[best[0]]), size="small"), fontsize=letters("small"))
    ax.tick_params(axis="y", length=0)
    open_frame(ax)
    is_against_best = len(best) > _ALL_PAIRS_UP_TO or most_rows(ax, len(rows), lines=lines) < len(rows)
    if is_against_best:
        shown = 1 + most_rows(ax, min(len(against_best), SHOWN - 1))
        rows = sorted((row for row in against_best if row.b in best[:shown]), key=lambda row: best.index(row.b))
        say_left_out(ax, best, shown)
    else:
        pair = (short[best[0]], short[best[1]]) if len(best) == _TWO else ("A", "B")
        label = _title(comparison, chosen, *pair)
        ax.set_xlabel(wrapped(ax, label, size="small"))
    _draw_rows(ax, rows)
    above = min(1.0, 0.25 * len(rows))  # the heading stays near the rows, however high few of them are
    ax.set(ylim=(len(rows) - 0.5, -0.5 - above))
    heading = "p, Holm" if len(best) > _TWO else "p"
    p_values = {-0.5 - above / 2: heading} | {
        position: "undefined" if math.isnan(row.difference) else as_text(as_numeral(p_number(row.p_holm)))
        for position, row in enumerate(rows)
    }
    look: dict[str, Any] = {"xycoords": ax.get_yaxis_transform(), "va": "center", "fontsize": letters("small")}
    texts = [ax.annotate(text, (1, at), **look) for at, text in p_values.items()]
    texts[0].set_color(GUIDE)
    names = [short[row.b] if is_against_best else _pair(short[row.a], short[row.b]) for row in rows]
    ax.set_yticks(range(len(rows)), names)
    fit_height(ax)
    name_rows(ax, size="small")
    fit_letters(texts, math.inf, cell_size(ax)[1])
    space_ticks(ax)
    add_to_caption(ax, *_notes(comparison, chosen, rows))
    return ax


def _pairs_in_order(comparison: Comparison, key: str, best: Sequence[str]) -> list[Difference]:
    """Return all pairs, of each the method first that is better in the whole, the largest differences first."""
    rank = {method: number for number, method in enumerate(best)}
    tested = (row.by(comparison.test) for row in comparison.rows(key))
    rows = [row.swapped() if rank[row.a] > rank[row.b] else row for row in tested]
    direction = comparison.metric(key).direction
    return sorted(
        rows, key=lambda row: (math.isnan(row.difference), -direction * row.difference, rank[row.a], rank[row.b])
    )


def _draw_rows(ax: Axes, rows: Sequence[Difference]) -> None:
    """Draw a dot with its interval in each row, and a line at no difference."""
    ax.axvline(0, color=GUIDE, linewidth=guide_width(), zorder=1)
    for position, row in enumerate(rows):
        if not math.isnan(row.low):
            ax.hlines(position, row.low, row.high, color=COLOURS[0], linewidth=3 * guide_width(), zorder=2)
        ax.plot(row.difference, position, "o", color=COLOURS[0], markersize=1.2 * dot_size(), zorder=3)


def _pair(a: str, b: str) -> str:
    """Write the names of a pair, short ones on one line."""
    pair = f"{a} - {b}"
    return pair if len(pair) <= _LONGEST_PAIR else f"{a}\n- {b}"


def _title(comparison: Comparison, metric: Metric, a: str, b: str = "each") -> str:
    """Name the axis: of what the differences are, in which unit, and on which side the first method is better."""
    differs_by = comparison.pairs(metric.key).differs_by
    quantity = f"{differs_by}, {metric.quantity}" if differs_by else f"Difference in {metric.quantity}"
    side = "negative" if metric.better == "lower" else "positive"
    judged = f"; {side}: {a} is better" if metric.better else ""
    return f"{quantity}, {a} minus {b}{judged}"


def _notes(comparison: Comparison, metric: Metric, rows: Sequence[Difference]) -> list[str]:
    """Say what intervals and p-values are, for the caption."""
    reason = comparison.pairs(metric.key).reason
    notes = [str(reason)] if reason else []
    if not all(math.isnan(row.low) for row in rows):
        # So an interval may exclude 0 beside a corrected p-value above its level.
        of_pairs = f"{100 * comparison.level:g} % intervals over {comparison.over(comparison.sample_size)}"
        corrected = "; p-values are corrected for the number of pairs, intervals are not"
        notes.append(of_pairs + (corrected if len(comparison.methods) > _TWO and not reason else ""))
    if not reason:
        notes.append(f"P-values: two-sided, of the {comparison.answer(metric.key).pairs.test}")
    return notes


def _of_results(results: Sequence[Result], *, metric: str | None = None, ax: Axes, level: float = 0.95) -> Axes:
    """Compare results, and draw the comparison."""
    return plot_comparison(compare_results(named_by_class(results), level=level), metric=metric, ax=ax)


COMPARISON = Kind(_of_results, level="level", metric=True, compares=True, joins=True)
