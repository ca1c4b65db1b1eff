"""Critical difference diagram: mean ranks of methods over images, and which cannot be told apart.

Conventions
-----------
1. Ranks are within each image (or unit, such as a patient): 1 is the best, ties share the mean of their ranks. Images
   on which the metric is undefined for some method are left out of the mean ranks.
2. Bars join neighbours by mean rank of which no pair differs significantly by the signed-rank test over images, with
   Holm's correction for all pairs: the same test as ``segbench compare --test signed-rank``. Demšar joins methods by
   Nemenyi's test of the mean ranks, by which the verdict on two methods depends on the others that are compared.
3. Pairs that cannot be told apart although they differ from a method between them have no bar, but are named in the
   caption.

References
----------
Demšar: Statistical Comparisons of Classifiers over Multiple Data Sets, JMLR 2006.
Benavoli, Corani, Mangili: Should We Really Use Post-Hoc Tests Based on Mean-Ranks?, JMLR 2016.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from segbench.aggregator.comparing import compare_results
from segbench.aggregator.result import Result
from segbench.core.arrays import FloatArray
from segbench.core.errors import ArgumentError
from segbench.core.messages import Either, Message
from segbench.core.names import first_names, shortened
from segbench.core.numbers import number
from segbench.drawing.axes import LEAST_LETTERS, as_text, grow_to, guide_width, in_points, letters
from segbench.drawing.captions import add_to_caption
from segbench.drawing.numerals import as_numeral
from segbench.drawing.palette import COLOURS, GUIDE
from segbench.report.plots.methods import Kind, named_by_class, say_left_out
from segbench.statistics.comparison import Comparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEVEL = 0.95
_NAMED_PAIRS = 6
_DIGITS = 2
_DECIMALS = 10
"""Values that are alike to so many places are ties, as in the signed-rank test."""
_ABOVE, _ROW, _BAR = 4.0, 1.3, 0.6
"""Heights of what is above the axis, of a row of names and of a bar, in the size of letters."""
_FEWEST = 4
"""Methods that are drawn however low the axes are."""
_SIDE, _LETTER_WIDTH = 0.36, 0.6
"""Share of the width for the names of one side, and the width of a letter in its size."""


class _Ranked(NamedTuple):
    """Methods by their mean rank, the best first, how many images they are ranked on, and those that differ."""

    methods: list[str]
    ranks: list[float]
    images: int
    noun: str  # what they are called, as patients are images that belong together
    differ: set[frozenset[str]]

    def runs_alike(self) -> list[tuple[int, int]]:
        """Return first and last place of the longest rows of methods of which no pair differs."""
        runs: list[tuple[int, int]] = []
        for first in range(len(self.methods)):
            last = first
            while last + 1 < len(self.methods) and not any(
                self._differ(row, last + 1) for row in range(first, last + 1)
            ):
                last += 1
            if last > first and not (runs and runs[-1][1] >= last):
                runs.append((first, last))
        return runs

    def _differ(self, a: int, b: int) -> bool:
        return frozenset((self.methods[a], self.methods[b])) in self.differ

    def unjoined(self) -> list[str]:
        """Name the pairs that do not differ although no bar joins them."""
        joined = {
            pair for first, last in self.runs_alike() for pair in itertools.combinations(range(first, last + 1), 2)
        }
        pairs = itertools.combinations(range(len(self.methods)), 2)
        alone = [pair for pair in pairs if pair not in joined and not self._differ(*pair)]
        return [f"{self.methods[a]} and {self.methods[b]}" for a, b in alone]


def draw_critical_difference(
    results: Sequence[Result], *, metric: str | None = None, level: float = _LEVEL, ax: Axes
) -> Axes:
    """Draw methods along an axis of mean ranks, and bars that join those that cannot be told apart."""
    comparison = compare_results(named_by_class(results), level=level, test="signed-rank")
    key = comparison.metric(metric).key
    ranked = _ranked(comparison, key)
    _draw(ax, ranked)
    _say_what_is_tested(ax, comparison, key, ranked)
    return ax


def _ranked(comparison: Comparison, key: str) -> _Ranked:
    """Rank methods on each image that has a value for all of them."""
    from scipy.stats import rankdata

    metric, pairs = comparison.metric(key), comparison.signed_rank_tests(key)
    column = comparison.place(key)
    if pairs.reason:
        raise ArgumentError(
            Message(
                "no-test",
                "{metric}: {reason}; draw the intervals: {instead}",
                metric=metric.name,
                reason=pairs.reason,
                instead=Either("kind intervals", "--kind intervals"),
            )
        )
    values: FloatArray = np.array([measured.of_images[:, column] for measured in comparison.measured.values()])
    known = values[:, ~np.isnan(values).any(axis=0)]
    if not known.size:
        raise ArgumentError(
            Message("no-common-images", "{metric} is defined for all methods on no image", metric=metric.name)
        )
    ranks = rankdata(-metric.direction * np.round(known, _DECIMALS), axis=0).mean(axis=1)
    order = sorted(range(len(ranks)), key=lambda k: (ranks[k], comparison.methods[k]))
    won = pairs.won(comparison.level)
    first, second = pairs.pairs
    differ = {
        frozenset((comparison.methods[a], comparison.methods[b]))
        for a, b in zip(first[won != 0].tolist(), second[won != 0].tolist(), strict=True)
    }
    return _Ranked(
        [comparison.methods[k] for k in order],
        [float(ranks[k]) for k in order],
        known.shape[1],
        comparison.noun,
        differ,
    )


class _DiagramLayout(NamedTuple):
    """Where the parts of a diagram are, below its axis, in the size of its letters."""

    size: float  # of letters, in points
    room: float  # height of the axes
    methods: int  # that are drawn
    bars: list[tuple[int, int, int]]  # first and last place, and the level below the axis

    @property
    def rows_from(self) -> float:
        """Where the first row of names is."""
        return 1.2 + _BAR * (1 + max((level for *_, level in self.bars), default=0))

    @property
    def height(self) -> float:
        """Height of all: the title and the numbers of the axis, bars and rows."""
        return _ABOVE + self.rows_from + _ROW * math.ceil(self.methods / 2)


def _laid_out(ax: Axes, ranked: _Ranked) -> _DiagramLayout:
    """Lay out a diagram in the height of the axes, if necessary in smaller letters, or of fewer methods."""
    bars: list[tuple[int, int, int]] = []
    for first, last in ranked.runs_alike():
        taken = {level for start, end, level in bars if start <= last and first <= end}
        bars.append((first, last, next(level for level in itertools.count() if level not in taken)))
    whole = _DiagramLayout(letters("small"), 0.0, len(ranked.methods), bars)
    figure: Any = ax.get_figure(root=True)
    has_grown = grow_to(ax, whole.height * whole.size + 2 * whole.size)
    figure.draw_without_rendering()
    height = ax.get_window_extent().height * 72 / figure.dpi
    if not has_grown:
        whole = whole._replace(size=min(whole.size, max(LEAST_LETTERS, height / whole.height)))
        while whole.methods > _FEWEST and whole.height * whole.size > height:
            kept = whole.methods - 2
            bars = [(first, min(last, kept - 1), level) for first, last, level in bars if first < kept - 1]
            whole = whole._replace(methods=kept, bars=bars)
    return whole._replace(room=height / whole.size)


def _draw(ax: Axes, ranked: _Ranked) -> None:
    """Draw the axis, the methods at both sides of it, and the bars."""
    figure: Any = ax.get_figure(root=True)
    ax.set_axis_off()
    layout = _laid_out(ax, ranked)
    shown = ranked.methods[: layout.methods]
    say_left_out(ax, ranked.methods, layout.methods)
    figure.draw_without_rendering()
    width = ax.get_window_extent().width * 72 / figure.dpi
    longest = int(_SIDE * width / (_LETTER_WIDTH * layout.size)) - len(" 12.34")
    names = [as_text(name) for name in shortened(shown, max(8, longest))]
    if names != [as_text(name) for name in shown]:
        add_to_caption(ax, f"Methods, best first: {', '.join(shown)}")
    labels = [
        f"{name}  {as_numeral(number(rank, digits=_DIGITS))}" for name, rank in zip(names, ranked.ranks, strict=False)
    ]
    sides = math.ceil(len(shown) / 2)
    look: dict[str, Any] = {"fontsize": layout.size, "va": "center", "clip_on": False}
    texts = [ax.text(0, 0, label, ha="right" if row < sides else "left", **look) for row, label in enumerate(labels)]
    widths = [in_points(text)[0] + layout.size for text in texts]
    left, right = max(widths[:sides]), max(widths[sides:], default=0.0)
    low, high = math.floor(min(ranked.ranks)), math.ceil(max(ranked.ranks[: layout.methods]))
    scale = max(width - left - right, width * 0.2) / (high - low or 1)
    ends = low - left / scale, high + right / scale
    spare = (layout.room - layout.height) / 2
    ax.set(xlim=ends, ylim=(layout.height - _ABOVE + spare, -_ABOVE - spare))
    line: dict[str, Any] = {"clip_on": False, "solid_capstyle": "butt"}
    for row, (text, rank) in enumerate(zip(texts, ranked.ranks, strict=False)):
        is_left = row < sides
        y = layout.rows_from + _ROW * ((row if is_left else len(shown) - 1 - row) + 0.5)
        side = low - 0.3 * layout.size / scale if is_left else high + 0.3 * layout.size / scale
        text.set_position((side - 0.3 * layout.size / scale if is_left else side + 0.3 * layout.size / scale, y))
        ax.plot([rank, rank, side], [0, y, y], color=GUIDE, linewidth=guide_width(), zorder=1, **line)
    for first, last, level in layout.bars:
        y, beyond = 0.7 + _BAR * level, 0.25 * layout.size / scale
        across = [ranked.ranks[first] - beyond, ranked.ranks[last] + beyond]
        ax.plot(across, [y, y], color=COLOURS[0], linewidth=0.3 * layout.size, zorder=3, **line)
    _draw_axis(ax, range(low, high + 1), scale, layout.size)
    title = f"Mean rank over {ranked.images} {ranked.noun}s"
    ax.text((low + high) / 2, 1.4 - _ABOVE, title, ha="center", **look)


def _draw_axis(ax: Axes, ranks: Sequence[int], scale: float, size: float) -> None:
    """Draw the axis of ranks with numbers above it, as many as there is room for."""
    ink = ax.xaxis.label.get_color()
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100) if step * scale > 2 * size or step >= len(ranks))
    ax.plot([ranks[0], ranks[-1]], [0, 0], color=ink, linewidth=guide_width(), clip_on=False)
    for rank in (rank for rank in ranks if rank % step == 0):
        ax.plot([rank, rank], [0, -0.4], color=ink, linewidth=guide_width(), clip_on=False)
        ax.text(rank, -1.1, str(rank), ha="center", va="center", fontsize=size, clip_on=False)


def _say_what_is_tested(ax: Axes, comparison: Comparison, key: str, ranked: _Ranked) -> None:
    """Say in the caption what ranks and bars are, and which pairs no bar can show."""
    answer = comparison.answer(key)
    correction = f", {answer.correction}" if answer.correction else ""
    ranks = f"Mean ranks by {answer.metric.name} over {ranked.images} {ranked.noun}s with a value for all methods"
    add_to_caption(ax, f"{ranks}; 1 is the best")
    least = number(1 - comparison.level, digits=2)
    alike = (
        f"Bars join methods of which no pair differs significantly ({answer.pairs.test}, p above {least}{correction})"
    )
    add_to_caption(ax, alike, answer.never)
    unjoined = ranked.unjoined()
    if unjoined:
        pairs = first_names(unjoined, _NAMED_PAIRS, "; ")
        add_to_caption(
            ax, f"No bar shows that these cannot be told apart, either, since one between them differs: {pairs}"
        )


CRITICAL_DIFFERENCE = Kind(draw_critical_difference, level="level", metric=True, compares=True, joins=True)
