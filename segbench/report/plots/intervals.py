"""Plot of a metric of each method with its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from segbench.aggregator.result import Result, names_of
from segbench.core.errors import ArgumentError
from segbench.core.messages import Message
from segbench.core.metric import Metric, headline
from segbench.drawing.axes import (
    cell_size,
    dot_size,
    fit_height,
    fit_letters,
    fitted,
    guide_width,
    letters,
    most_rows,
    name_rows,
    names_in_lines,
    open_frame,
    space_ticks,
    wrapped,
)
from segbench.drawing.captions import add_to_caption
from segbench.drawing.numerals import numeral
from segbench.report.plots.methods import (
    Kind,
    apart,
    colours_of_rows,
    of_one_protocol,
    say_left_out,
    styles_of,
)
from segbench.report.ranking import best_first, competing_order
from segbench.statistics.measured import NO_INTERVAL
from segbench.statistics.runs import with_trainings

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEVEL = 0.95


class MeasuredMethods(NamedTuple):
    """A metric of some results with its intervals; ends are nan where there is none."""

    results: list[Result]
    metric: Metric
    values: list[float]
    ends: list[tuple[float, float]]


def measured_methods(unjoined: Sequence[Result], key: str | None, level: float) -> MeasuredMethods:
    """Return a metric of results of one protocol, by default the one that ranks methods."""
    results = of_one_protocol(unjoined)
    known = {metric.key: metric for metric in results[0].metrics if metric.kind == "score"}
    key = key or headline(results[0].metrics).key
    if key not in known:
        raise ArgumentError(
            Message(
                "unknown-metric",
                "there is no metric {metric!r}; expected one of {known}",
                metric=key,
                known=list(known),
            )
        )
    values = [float(result.summary.get(key, math.nan)) for result in results]
    if all(map(math.isnan, values)):
        raise ArgumentError(
            Message("undefined", "{metric} is undefined for every method; choose another", metric=known[key].name)
        )
    ends = [result.intervals(level=level).get(key, NO_INTERVAL) if result.counts else NO_INTERVAL for result in results]
    return MeasuredMethods(results, known[key], values, ends)


def draw_intervals(results: Sequence[Result], *, metric: str | None = None, level: float = LEVEL, ax: Axes) -> Axes:
    """Draw a metric with its interval in a row for each method, the best on top, its value on the right."""
    methods = measured_methods(results, metric, level)
    results, chosen, values, ends = methods
    order = competing_order(results, best_first(results, chosen.key))
    better = ", lower is better" if chosen.better == "lower" else ""
    ax.set_xlabel(wrapped(ax, f"{chosen.quantity}{better}"))
    ax.tick_params(axis="y", length=0)
    open_frame(ax)
    shown = order[: most_rows(ax, len(order))]
    say_left_out(ax, [names_of(results)[k] for k in order], len(shown))
    colours = colours_of_rows(styles_of(results), order)
    ax.set_xlim(fitted([number_of for k in shown for number_of in (values[k], *ends[k])], chosen.range))
    ax.set_ylim(len(shown) - 0.5, -0.5)
    for row, (k, colour) in enumerate(zip(shown, colours, strict=False)):
        if not math.isnan(ends[k][0]):
            ax.hlines(row, *ends[k], color=colour, linewidth=3 * guide_width(), zorder=2)
        ax.plot(values[k], row, "o", color=colour, markersize=1.2 * dot_size(), zorder=3, clip_on=False)
    right = ax.get_yaxis_transform()
    look = {"xytext": (3, 0), "textcoords": "offset points", "va": "center", "fontsize": letters("small")}
    texts = [
        ax.annotate(numeral(values[k], metric=chosen), (1, row), xycoords=right, **look)  # type: ignore[arg-type]  # as it takes
        for row, k in enumerate(shown)
    ]
    names, has = names_in_lines(names_of(results)), apart(results)
    ax.set_yticks(range(len(shown)), [f"{names[k]}\n({has[k]})" if has[k] else names[k] for k in shown])
    fit_height(ax)
    name_rows(ax, size="medium")
    fit_letters(texts, math.inf, cell_size(ax)[1])
    space_ticks(ax)
    say_of_what(ax, methods, level)
    return ax


def say_of_what(ax: Axes, methods: MeasuredMethods, level: float) -> None:
    """Say in the caption of what intervals are, and which methods have none."""
    named = list(zip(names_of(methods.results), methods.ends, strict=True))
    without = [name for name, (low, _) in named if math.isnan(low)]
    tables = [result.measured for result in methods.results if result.counts]
    over = dict.fromkeys(with_trainings(table.sample_size, [table]) for table in tables)
    if len(without) < len(named):
        add_to_caption(ax, f"{100 * level:g} % intervals over {' and '.join(over)}, of each method by itself")
    if without:
        add_to_caption(ax, f"Without an interval: {', '.join(without)}")


INTERVALS = Kind(draw_intervals, level="level", metric=True, joins=True)
