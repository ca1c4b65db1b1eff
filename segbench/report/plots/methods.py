"""What the kinds of plots share: methods with their styles and labels, and how a kind is drawn."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from segbench.aggregator.comparing import choice_of
from segbench.aggregator.joining import join_runs
from segbench.aggregator.measuring import measured_apart
from segbench.aggregator.result import Result, as_results, names_of
from segbench.core.arrays import FloatArray
from segbench.core.errors import ArgumentError
from segbench.core.messages import NOTHING, Either, Message, Setting
from segbench.core.metric import headline, image_headline
from segbench.core.protocol import Pictured
from segbench.core.series import Series, Space
from segbench.curves.pooled import TWO_VALUED
from segbench.drawing.axes import as_axes, as_text, short_names
from segbench.drawing.captions import add_to_caption
from segbench.drawing.charts import COLOURED, MOST_NAMED, Chart, draw_chart
from segbench.drawing.numerals import numeral
from segbench.drawing.palette import GUIDE, LineStyle, free_places, line_style
from segbench.report.ranking import best_first, competing_order, competing_sets, why_apart
from segbench.report.tables import by_protocol
from segbench.statistics.intervals import Intervals

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Method:
    """A method as plots show it, and the page."""

    name: str
    result: Result
    style: LineStyle
    label: str = ""
    intervals: Intervals | None = None

    @cached_property
    def curve(self) -> Series | None:
        """Its curve, if it can be drawn: it has thresholds, and the metric that ranks methods is defined."""
        if math.isnan(self.result.summary[headline(self.result.metrics).key]):
            return None  # before the curve is asked for, which is refused where every image failed
        curve = self.result.drawn
        return curve if curve is not None and curve.columns["threshold"].size else None

    @cached_property
    def values(self) -> dict[str, float]:
        """What ranks images, of those where it is defined."""
        return self._of_images(image_headline(self.result.metrics).image_key)

    @cached_property
    def beside(self) -> dict[str, float]:
        """What ranks the other images, see `Pictured.ranked_beside`."""
        pictured = self.result.rules.capability(Pictured)
        if pictured is None or not pictured.ranked_beside:
            return {}
        values = self._of_images(pictured.ranked_beside)
        return {name: value for name, value in values.items() if name not in self.values}

    def _of_images(self, key: str) -> dict[str, float]:
        values = self.result.per_image.column(key).tolist()
        return {name: value for name, value in zip(self.result.counts, values, strict=True) if not math.isnan(value)}

    def interval(self, key: str) -> tuple[float, float]:
        """Return the interval of a metric; nan where there is none."""
        known = {} if self.intervals is None else self.intervals
        return known.get(key, (math.nan, math.nan))


def values_by_image(methods: Sequence[Method]) -> tuple[list[str], FloatArray]:
    """Return all images, sorted, and the metric that ranks them, shape (methods, images); nan where undefined."""
    names = sorted(set().union(*(method.result.counts for method in methods)))
    values = [[method.values.get(name, math.nan) for name in names] for method in methods]
    return names, np.array(values, np.float64).reshape(len(methods), len(names))


@dataclass(frozen=True)
class Kind:
    """A kind of plot: `draw` draws a list of results on ``ax``, `charts` gives what the page shows of some methods.

    `level` is the keyword for a confidence level, if it has one, and `metric` says whether one can be chosen. One that
    `compares` is given those methods alone that can be compared image by image. One that `joins` draws one mean of the
    runs of a method, others each run.
    """

    draw: Callable[..., Axes]
    charts: Callable[[Sequence[Method]], Sequence[Chart]] = lambda _: ()
    level: str = ""
    metric: bool = False
    compares: bool = False
    joins: bool = False

    @property
    def options(self) -> list[str]:
        """Keywords of `draw` beside the axes."""
        return [*([self.level] if self.level else []), *(["metric"] if self.metric else [])]


def kind_of_curves(
    charts: Callable[[Sequence[Method]], Sequence[Chart]],
    plot_name: str,
    ranked_by: str = "",
) -> Kind:
    """Return a kind that draws the first chart of methods, or refuses those without one.

    The best comes first by the first metric whose key begins as `ranked_by`, or else by the one that ranks methods.
    """

    def draw(results: Sequence[Result], *, ax: Axes) -> Axes:
        taken = of_one_protocol(results, join=False)
        metrics = taken[0].metrics if ranked_by else ()
        metric = next((candidate for candidate in metrics if candidate.key.startswith(ranked_by)), None)
        methods = methods_of(taken, key=metric.key, title=metric.name) if metric else methods_of(taken)
        method_charts = charts(methods)
        if not method_charts:
            raise no_plot(taken, plot_name)
        return draw_methods(ax, method_charts[0], methods)

    return Kind(draw, charts)


def usual_kind(results: Sequence[Result]) -> str:
    """Return the kind of plot that all results have: of curves, or else of images."""
    curves = [result.drawn for result in results]
    if all(curve is not None and "pr" in curve.spaces for curve in curves):
        return "pr"
    return "images" if None in curves else "f"


def no_plot(results: Sequence[Result], plot_name: str) -> ArgumentError:
    """Say that results of one protocol have no such plot, and which they have."""
    kind = usual_kind(results)
    return ArgumentError(
        Message(
            "no-plot",
            "the {protocol} protocol has no {plot}; draw {instead}",
            protocol=results[0].protocol,
            plot=plot_name,
            instead=Either(f"kind {kind}", f"--kind {kind}"),
            value=Setting("kind", kind),
        )
    )


def methods_in(
    results: object, space: Space, plot_name: str, *, key: str | None = None, title: str | None = None
) -> list[Method]:
    """Take results to be drawn in a space, the best by a metric first."""
    taken = of_one_protocol(results)
    known = next((result.drawn for result in taken if result.drawn is not None), None)
    if known is None or space not in known.spaces:
        raise no_plot(taken, plot_name)
    if space == "pr" and known.ranked_by:
        metric = next(metric for metric in taken[0].metrics if metric.key == known.ranked_by)
        key, title = metric.key, metric.name
    return methods_of(taken, key=key, title=title)


def methods_of(taken: Sequence[Result], *, key: str | None = None, title: str | None = None) -> list[Method]:
    """Return results of one protocol as methods, the best by a metric first, with its value in their labels."""
    rules, names = taken[0].rules, names_in_legend(taken)
    key, title = key or headline(rules.metrics()).key, title or image_headline(rules.metrics()).name_for_images

    def label(k: int) -> str:
        masks = taken[k].summary.undefined.get(key, NOTHING).kind == TWO_VALUED.kind
        value = numeral(taken[k].summary.get(key, math.nan))
        deviation = taken[k].sd.get(key, math.nan)
        value += "" if math.isnan(deviation) else f" ± {numeral(deviation)}"
        return f"[{'mask' if masks else f'{title}={value}'}] {names[k]}"

    styles = styles_of(taken)
    order = competing_order(taken, best_first(taken, key))
    return [Method(names[k], taken[k], styles[k], label(k)) for k in order]


def names_in_legend(results: Sequence[Result]) -> list[str]:
    """Name results for a legend, those that are ranked apart with their images or settings."""
    named = zip(short_names(names_of(results)), apart(results), strict=True)
    return [f"{name} ({as_text(has)})" if has else name for name, has in named]


def apart(results: Sequence[Result]) -> list[str]:
    """Say of each result what images or settings it has, where not all have the same and its name does not say it."""
    sets, names = competing_sets(results), names_of(results)
    descriptions = [""] * len(results)
    if len(sets) > 1:
        _, of_sets = why_apart(results, sets)
        for members, has in zip(sets, of_sets, strict=True):
            for k in members:
                descriptions[k] = "" if has in names[k] else has
    return descriptions


def draw_methods(ax: Axes | None, chart: Chart, methods: Sequence[Method]) -> Axes:
    """Draw a chart of methods on these axes, or on new ones."""
    return draw_chart(as_axes(ax), chart, [(method.style, method.label) for method in methods])


def colours_of_rows(styles: Sequence[LineStyle], order: Sequence[int]) -> list[str]:
    """Return the colours of methods in rows, in an order, the best first; above `MOST_NAMED` of the best alone."""
    colours = [styles[k].colour for k in order]
    return colours if len(colours) <= MOST_NAMED else colours[:COLOURED] + [GUIDE] * (len(colours) - COLOURED)


def say_left_out(ax: Axes, named: Sequence[str], shown: int) -> None:
    """Name in the caption those of the methods, the best first, for which there are no rows."""
    if shown < len(named):
        left_out = f"not drawn: {', '.join(named[shown:])}"
        add_to_caption(ax, f"The best {shown} of {len(named)} methods, as many as there is room for; {left_out}")


def styles_of(results: Sequence[Result]) -> list[LineStyle]:
    """Return the style of each result: by its position in its file, else in this list; neutral for annotators."""
    methods = [result for result in results if result.rules.competes]
    style_numbers = iter(free_places(result.place for result in methods))
    return [line_style(next(style_numbers) if result.rules.competes else None) for result in results]


def of_one_protocol(unjoined: object, *, join: bool = True) -> list[Result]:
    """Take results to be drawn in one picture: several classes as all of them added up, the runs of a method joined."""
    results = join_runs(as_results(unjoined)) if join else as_results(unjoined)
    protocols = sorted(by_protocol(results))
    if not protocols:
        raise ArgumentError(Message("no-results", "no results to draw"))
    if len(protocols) > 1:
        of_one = Either("", f": --only protocol:{results[0].protocol}")
        remedy = Message("one-protocol", "draw results of one protocol{choose}", choose=of_one)
        if len({result.protocol for result in results}) == 1:
            apart = measured_apart(results)
            of_unit = Either("", ": --only and a part of their signatures")
            units = Message("one-unit", "draw results in one unit{choose}", choose=of_unit)
            remedy = choice_of(apart) if apart else units
        raise ArgumentError(
            Message(
                "several-protocols",
                "curves of {protocols: and } are not comparable; {remedy}",
                protocols=protocols,
                remedy=remedy,
            )
        )
    pooled = [(result, pooled_classes(result)) for result in results]
    return named_by_class(
        [
            result if of_all is None else replace(of_all, method=f"{result.method}, classes added up")
            for result, of_all in pooled
        ]
    )


def pooled_classes(result: Result) -> Result | None:
    """Return the sum of the classes of a result, which plots show in its place; None where classes do not add up."""
    return result.parts("class").pooled if "class" in result.axes else None


def named_by_class(results: Sequence[Result]) -> list[Result]:
    """Put the class into the names of methods where all results are of the same one; the names of others have it."""
    classes = {result.settings.get("class", "micro") for result in results}
    if len(classes) != 1 or "micro" in classes:
        return list(results)
    return [replace(result, method=f"{result.method}, class {result.settings['class']}") for result in results]
