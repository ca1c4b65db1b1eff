"""What the kinds of plots share: the methods to draw, their styles and labels, bands, and lines of prevalence."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypedDict, Unpack

from segbench.aggregator.result import Result, as_results, names_of
from segbench.core.capabilities import AddedUp, competes
from segbench.core.errors import ArgumentError
from segbench.core.interface import setting
from segbench.core.metric import headline, image_headline
from segbench.core.numbers import number
from segbench.core.series import Series, Space
from segbench.curves.masks import TWO_VALUED
from segbench.drawing.axes import (
    CURVE_LAYER,
    DOT_MARGIN,
    dot_size,
    draw_to_the_frame,
    guide_width,
    short_names,
)
from segbench.drawing.palette import GUIDE, LineStyle, free_places, line_style
from segbench.drawing.series import draw_in_space, frame, legend_in_space
from segbench.report.ranking import best_first
from segbench.statistics.bands import curve_band
from segbench.statistics.replicates import as_draws, as_level

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_BANDS = 3


@dataclass(frozen=True)
class Kind:
    """A kind of plot.

    Parameters
    ----------
    draw : callable
        Draws a list of results on ``ax``.
    level : str
        Its keyword for a confidence level, if it has one; then it takes ``replicates`` and ``seed``, too.
    rows : bool
        Whether it has one row per method or pair; it then takes ``fit``: whether to draw as high as they need.
    compares : bool
        Whether it draws a comparison: of those methods alone that can be compared image by image.
    """

    draw: Callable[..., Axes]
    level: str = ""
    rows: bool = False
    compares: bool = False

    @property
    def bands(self) -> bool:
        """Whether its level is that of bands around curves."""
        return self.level == "band"


class Method(NamedTuple):
    """A method as curves show it."""

    result: Result
    curve: Series | None
    style: LineStyle
    label: str


def methods_in(
    results: object, space: Space | None, what: str, *, key: str | None = None, title: str | None = None
) -> list[Method]:
    """Take results to be drawn in a space, or against the threshold for None: the best by a metric first.

    Labels are as the field writes them, ``[F=.788] HED``; without a key they are of the metric that ranks methods. A
    method has the style of its place in the results. Masks have no area: ``[mask] HED``.
    """
    taken = of_one_protocol(results)
    rules, names, curves = taken[0].rules, short_names(names_of(taken)), _curves_in(taken, space, what)
    key, title = key or headline(rules.metrics()).key, title or image_headline(rules.metrics()).name_for_images

    def label(place: int) -> str:
        masks = taken[place].summary.undefined.get(key) == TWO_VALUED
        return f"[{'mask' if masks else f'{title}={in_legend(taken[place], key)}'}] {names[place]}"

    styles = styles_of(taken)
    return [Method(taken[k], curves[k], styles[k], label(k)) for k in best_first(taken, key)]


def styles_of(results: Sequence[Result]) -> list[LineStyle]:
    """Give the style of each result: by its place in its results file, else in this list; of annotators a neutral one.

    Every plot, table and page takes colours from here, so that a method has the same one in all of them.
    """
    methods = [result for result in results if competes(result.rules)]
    places = iter(free_places(result.place for result in methods))
    return [line_style(next(places) if competes(result.rules) else None) for result in results]


def in_legend(result: Result, key: str) -> str:
    """Write a metric for a legend."""
    return number(result.summary.get(key, math.nan), digits=3)


class Resampling(TypedDict, total=False):
    """How bands and intervals are drawn: 2000 `replicates` by default, by a `seed`, 0 by default."""

    replicates: int
    seed: int


def draw_curves(
    ax: Axes, methods: Sequence[Method], space: Space, *, band: float | None, **resampling: Unpack[Resampling]
) -> None:
    """Draw the curves of methods in a space, with bands of this level, and dots at their best F.

    Bands of more than `_MOST_BANDS` methods would hide each other: then only the best method has one.
    """
    level = None if band is None else as_level(band, "band")
    replicates, seed = as_draws(resampling.get("replicates", 2000), resampling.get("seed", 0))
    frame(ax, space, next((method.curve.beta2 for method in methods if method.curve is not None), 1.0))
    banded = [method for method in methods if level is not None and _has_band(method.result)]
    only = "" if len(banded) <= _MOST_BANDS else ", of the best method"
    for method in banded[: 1 if only else None]:
        ends = curve_band(method.result.table, space=space, level=level or 0, replicates=replicates, seed=seed)
        ax.fill_between(ends.at, ends.low, ends.high, color=method.style.colour, alpha=0.15, linewidth=0, zorder=2)
    for method in methods:
        drawn = draw_in_space(ax, method.curve, space, method.style, method.label)[0].size
        if space == "pr" and drawn > 1 and "ods_recall" in method.result.summary:
            best = (method.result.summary["ods_recall"], method.result.summary["ods_precision"])
            dots = ax.plot(*best, "o", color=method.style.colour, markersize=dot_size(), zorder=CURVE_LAYER + 1)
            draw_to_the_frame(ax, *dots, margin=DOT_MARGIN)
    if space == "pr":
        draw_prevalences(ax, methods)
    if banded and level is not None:
        ax.fill([], [], color=GUIDE, alpha=0.3, linewidth=0, label=f"{100 * level:g} % band{only}")
    legend_in_space(ax, space)


def _has_band(result: Result) -> bool:
    several = result.drawn is not None and result.drawn.columns["threshold"].size > 1
    return bool(result.counts) and not result.unnamed and several


def draw_prevalences(ax: Axes, methods: Sequence[Method]) -> None:
    """Draw the precision of random scores as dotted lines."""
    known = {round(method.curve.prevalence, 4) for method in methods if method.curve is not None}
    prevalences = sorted(prevalence for prevalence in known if not math.isnan(prevalence))
    for rank, prevalence in enumerate(prevalences):
        label = (
            None if rank else f"prevalence {number(prevalence, digits=3)}" if len(prevalences) == 1 else "prevalences"
        )
        ax.axhline(prevalence, color=GUIDE, linewidth=guide_width(), linestyle=(0, (1, 2)), zorder=2, label=label)


def of_one_protocol(given: object) -> list[Result]:
    """Take results to be drawn in one picture: several classes as all of them added up."""
    results = as_results(given)
    protocols = sorted({result.protocol for result in results})
    if not protocols:
        raise ArgumentError("no results to draw")
    if len(protocols) > 1:
        one = f"draw results of one protocol{setting(f': --only protocol:{protocols[0]}', '')}"
        raise ArgumentError(f"curves of {' and '.join(protocols)} are not comparable; {one}")
    return named_by_class(
        [
            replace(result.micro, method=f"{result.method}, classes added up") if classes_add_up(result) else result
            for result in results
        ]
    )


def classes_add_up(result: Result) -> bool:
    """Say whether plots show a result as the sum of its classes."""
    return result.rules.capability(AddedUp) is not None and bool(result.classes)


def named_by_class(results: Sequence[Result]) -> list[Result]:
    """Put the class into the names of methods where all results are of the same one; the names of others have it."""
    classes = {result.settings.get("class", "micro") for result in results}
    if len(classes) != 1 or "micro" in classes:
        return list(results)
    return [replace(result, method=f"{result.method}, class {result.settings['class']}") for result in results]


def _curves_in(results: Sequence[Result], space: Space | None, what: str) -> list[Series | None]:
    """Give the curves of results of one protocol, to be drawn in a space, or against the threshold for None."""
    curves = [result.drawn for result in results]
    known = next((curve for curve in curves if curve is not None), None)
    if known is not None and (space is None or space in known.spaces):
        return curves
    if known is None:
        instead = f"each image: {setting('--kind images', 'plot_images')}"
    elif known.spaces:
        instead = f"its precision-recall curve: {setting('--kind pr', 'plot_pr')}"
    else:
        instead = f"its {known.measure} against the threshold: {setting('--kind f', 'plot_f_threshold')}"
    raise ArgumentError(f"the {results[0].protocol} protocol has no {what}; draw {instead}")
