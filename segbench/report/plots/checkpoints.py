"""Plot of a metric over the checkpoints of trainings, in the order of their names."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from segbench.aggregator.result import Result, names_of
from segbench.core.grouping import grouped
from segbench.drawing.axes import (
    LEAST_LETTERS,
    dot_size,
    fit_letters,
    in_points,
    letters,
    open_frame,
    short_names,
    space_ticks,
)
from segbench.drawing.captions import add_to_caption
from segbench.drawing.charts import COLOURED, MOST_NAMED
from segbench.drawing.legends import place_legend
from segbench.drawing.palette import FAINT, LineStyle, line_style
from segbench.report.plots.intervals import LEVEL, MeasuredMethods, measured_methods, say_of_what
from segbench.report.plots.methods import Kind

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NUMBER = re.compile(r"\d+(?:\.\d+)?(?=\D*$)")
_PARTS = re.compile(r"(\d+)")
_BETWEEN_NAMES = 1.3
"""How far apart names along the axis are at least, in the size of their letters."""
_CORNERS = ("lower right", "upper left", "lower left", "upper right")


class _Checkpoint(NamedTuple):
    """A result: the training that it belongs to, where along the axis it lies, and its row among the results."""

    training: str
    at: float
    row: int


def draw_checkpoints(results: Sequence[Result], *, metric: str | None = None, level: float = LEVEL, ax: Axes) -> Axes:
    """Draw a metric with its interval over checkpoints, a line for each training."""
    methods = measured_methods(results, metric, level)
    names = names_of(methods.results)
    points = _by_number(names)
    is_numbered = bool(points)
    if not points:
        in_order = sorted(range(len(names)), key=lambda k: _natural(names[k]))
        points = [_Checkpoint("", at, k) for at, k in enumerate(in_order)]
    trainings = grouped((point.training, point) for point in sorted(points, key=lambda point: point.at))
    better = ", lower is better" if methods.metric.better == "lower" else ""
    ax.set_ylabel(f"{methods.metric.quantity}{better}")
    open_frame(ax)
    _draw_trainings(ax, methods, trainings)
    if is_numbered:
        ax.set_xlabel("Checkpoint" if len(trainings) > 1 else short_names([*trainings])[0] or "Checkpoint")
        space_ticks(ax)
    else:
        ax.set_xlabel("Checkpoint")
        _name_ticks(ax, [names[point.row] for point in points])
    place_legend(ax, _CORNERS)
    say_of_what(ax, methods, level)
    return ax


def _by_number(names: Sequence[str]) -> list[_Checkpoint]:
    """Return checkpoints by the last number in their names; empty where some name has none, or two are the same."""
    points = []
    for row, name in enumerate(names):
        number = _NUMBER.search(name)
        if number is None:
            return []
        training = f"{name[: number.start()]}…{name[number.end() :]}".replace("…", "", not name[number.end() :])
        points.append(_Checkpoint(training.rstrip("_- @"), float(number[0]), row))
    return points if len({point[:2] for point in points}) == len(points) else []


def _natural(name: str) -> list[tuple[bool, int, str]]:
    """Return a sort key by which 2 comes before 10."""
    return [(not part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in _PARTS.split(name)]


def _draw_trainings(ax: Axes, methods: MeasuredMethods, trainings: dict[str, list[_Checkpoint]]) -> None:
    """Draw a line for each training, the one with the best checkpoint first; above `MOST_NAMED` others are grey."""

    def best(training: str) -> float:
        values = [methods.metric.direction * methods.values[point.row] for point in trainings[training]]
        return max((value for value in values if not math.isnan(value)), default=-math.inf)

    best_first = sorted(trainings, key=best, reverse=True)
    named = dict(zip(best_first, short_names(best_first), strict=True))
    others = len(best_first) - COLOURED if len(best_first) > MOST_NAMED else 0
    for rank, training in enumerate(best_first):
        is_other = others and rank >= COLOURED
        style = LineStyle(FAINT, "-") if is_other else line_style(rank)
        rows = [point.row for point in trainings[training]]
        at = [point.at for point in trainings[training]]
        label = named[training] if len(trainings) > 1 else ""
        if is_other:
            label = f"{others} others" if rank == COLOURED else ""
        else:
            low, high = np.array([methods.ends[row] for row in rows]).T
            ax.fill_between(at, low, high, color=style.colour, alpha=0.15, linewidth=0, zorder=2)
        (line,) = ax.plot(at, [methods.values[row] for row in rows], color=style.colour, label=label or None)
        line.set(linestyle=style.dashes, zorder=2.5 if is_other else 3)
        if not is_other:
            line.set(marker=style.marker, markersize=dot_size())
    if others:
        add_to_caption(ax, f"In colour: the best {COLOURED} of {len(best_first)}. All, best first: {', '.join(named)}")


def _name_ticks(ax: Axes, names: Sequence[str]) -> None:
    """Name checkpoints along the axis, as many as there is room for."""
    figure = ax.get_figure(root=True)
    ax.tick_params(axis="x", labelrotation=90, labelsize=letters("small"))
    ax.set_xticks(range(len(names)), short_names(names))
    labels = ax.get_xticklabels()
    fit_letters(labels, math.inf, 72 * figure.get_figheight() / 3)  # type: ignore[union-attr]
    figure.draw_without_rendering()  # type: ignore[union-attr]
    width = ax.get_window_extent().width * 72 / figure.dpi  # type: ignore[union-attr]
    step = math.ceil(len(names) * _BETWEEN_NAMES * max(LEAST_LETTERS, in_points(labels[0])[0] / _BETWEEN_NAMES) / width)
    ax.set_xticks(range(0, len(names), step), short_names(names)[::step])
    if step > 1:
        add_to_caption(ax, f"Checkpoints: {', '.join(names)}")


CHECKPOINTS = Kind(draw_checkpoints, level="level", metric=True, joins=True)
