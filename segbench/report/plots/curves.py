"""Plots of curves: precision-recall, ROC, against the threshold, reliability.

Each describes what it shows as a `segbench.drawing.charts.Chart`, which Matplotlib and the report page draw.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, cast

import numpy as np

from segbench.aggregator.result import Result
from segbench.core.arrays import FloatArray
from segbench.core.errors import ArgumentError
from segbench.core.messages import Either, Message
from segbench.core.metric import best_threshold, headline, image_headline
from segbench.core.names import first_names
from segbench.core.numbers import number
from segbench.core.protocol import Pooling
from segbench.core.scores import ScoreCounts
from segbench.core.series import RATES, Series, Space
from segbench.curves.mean import MeanCurve
from segbench.curves.pooled import TWO_VALUED
from segbench.drawing.axes import CURVE_LAYER
from segbench.drawing.charts import (
    DIAGONAL,
    Area,
    Chart,
    ChartAxis,
    Dot,
    Guide,
    Mark,
    Path,
    chart_in_space,
    chart_of_thresholds,
)
from segbench.drawing.numerals import numeral
from segbench.protocols.pixels.calibration import BINS, Reliability, are_masks, reliability, why_uncalibrated
from segbench.report.plots.methods import (
    Kind,
    Method,
    draw_methods,
    methods_in,
    methods_of,
    names_in_legend,
    no_plot,
    of_one_protocol,
    styles_of,
)
from segbench.report.ranking import competing_order
from segbench.statistics.bands import curve_band
from segbench.statistics.measured import as_draws, as_level

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_BANDS = 3
_LARGEST_DOT = 120
_DIGITS = 4
_MOST_ERRORS = 6
_TITLES = {"PRI": "Probabilistic Rand index", "VOI": "Variation of information, in bits"}


def plot_pr(
    results: Result | Sequence[Result],
    *,
    band: float | None = None,
    ax: Axes | None = None,
    replicates: int = 2000,
    seed: int = 0,
) -> Axes:
    """Draw the pooled precision-recall curves of several methods, the best F first in the legend.

    Behind the curves lie lines of equal F, of saliency with its weight of precision; a dot marks the best F (ODS) of
    each, and a dotted line the prevalence, the precision of random scores.

    Parameters
    ----------
    results : Result or sequence of Result
        Of the pixel or the boundary protocol, not both; of several classes all added up are drawn. A method keeps its
        colour in every plot of the same results.
        Methods without a defined curve are named in the legend and not drawn; two-valued predictions, and a method
        measured at a single threshold, such as human annotators, are a point.
    band : float, optional
        Level of a bootstrap band over images around each curve, for instance 0.95; it holds at each point by itself,
        not for the whole curve. A curve published without images has none.
        Of more than three methods only the best one has a band, as the legend says.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if left out.
    replicates, seed : int
        Of the resamples behind the band.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ArgumentError
        For no results, results of several protocols, and those of the regions protocol.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from segbench import evaluate
    >>> result = evaluate([([0, 1, 1], [0.2, 0.9, 0.1])], method="net")
    >>> plot_pr(result, ax=Figure().subplots()).get_legend_handles_labels()[1]
    ['[F=.8000] net', 'prevalence .6667']
    """
    methods = methods_in(results, "pr", "precision-recall curve")
    return _plot_in_space(methods, "pr", ax=ax, band=band, replicates=replicates, seed=seed)


def plot_roc(
    results: Result | Sequence[Result],
    *,
    band: float | None = None,
    ax: Axes | None = None,
    replicates: int = 2000,
    seed: int = 0,
) -> Axes:
    """Draw the pooled ROC curves of several methods, the largest area first in the legend.

    Parameters
    ----------
    results : Result or sequence of Result
        Of the pixel protocol; true negatives of the others are undefined. Two-valued predictions are a point.
    band, ax, replicates, seed
        As for `plot_pr`.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ArgumentError
        For no results, or a protocol without ROC curves.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from segbench import evaluate
    >>> result = evaluate([([0, 1, 1], [0.2, 0.9, 0.1])], method="net")
    >>> plot_roc(result, ax=Figure().subplots()).get_legend_handles_labels()[1]
    ['[AUC=.5000] net']
    """
    methods = methods_in(results, "roc", "ROC curve", key="auc_roc", title="AUC")
    return _plot_in_space(methods, "roc", ax=ax, band=band, replicates=replicates, seed=seed)


def _plot_in_space(
    methods: Sequence[Method], space: Space, *, ax: Axes | None, band: float | None, replicates: int, seed: int
) -> Axes:
    """Draw curves, with bands of this level: of more than `_MOST_BANDS`, which would hide each other, of the best."""
    level = None if band is None else as_level(band, "band")
    replicates, seed = as_draws(replicates, seed)
    banded = [k for k, method in enumerate(methods) if level is not None and _has_band(method)]
    only = "" if len(banded) <= _MOST_BANDS else ", of the best method"
    areas = {k: _band(methods[k], space, level or 0, replicates, seed) for k in banded[: 1 if only else None]}
    legend = f"{100 * level:g} % band{only}" if banded and level else ""
    if level is None:
        areas, legend = _ranges([method.curve for method in methods], lambda curve: curve.ends(space))
    return draw_methods(ax, replace(_in_space(methods, space, areas), areas=legend), methods)


def _ranges(
    curves: Sequence[Series | None], ends: Callable[[MeanCurve], tuple[FloatArray, FloatArray, FloatArray]]
) -> tuple[dict[int, Area], str]:
    """Return the range of the runs around the means of methods, and what the legend says of it.

    Of more than `_MOST_BANDS`, which would hide each other, it is that of the best method that has runs.
    """
    means = {k: curve for k, curve in enumerate(curves) if isinstance(curve, MeanCurve)}
    shown = list(means)[: None if len(means) <= _MOST_BANDS else 1]
    areas = {k: Area(*ends(means[k])) for k in shown}
    only = "" if len(shown) == len(means) else ", of the best with runs"
    return areas, f"lowest to highest run{only}" if means else ""


def _in_space(methods: Sequence[Method], space: Space, areas: Mapping[int, Area]) -> Chart:
    """Describe the curves in a space; dots mark the best F."""
    summaries = [method.result.summary for method in methods] if space == "pr" else []
    across, up = (f"ods_{name}" for name in RATES["pr"])
    best = {k: (summary.get(across, math.nan), summary.get(up, math.nan)) for k, summary in enumerate(summaries)}
    curves = [method.curve for method in methods]
    chart = chart_in_space(curves, space, best=best, areas=areas)
    return replace(chart, levels=_prevalences(curves)) if space == "pr" else chart


def _prevalences(curves: Sequence[Series | None]) -> list[Guide]:
    """Return the precision of random scores as lines, a single line where methods have the same."""
    rates = {round(curve.prevalence, _DIGITS) for curve in curves if curve is not None}
    known = sorted(rate for rate in rates if not math.isnan(rate))
    name = f"prevalence {numeral(known[0])}" if len(known) == 1 else "prevalences"
    return [Guide(np.array([0.0, 1.0]), np.repeat(rate, 2), "" if k else name) for k, rate in enumerate(known)]


def _has_band(method: Method) -> bool:
    several = method.curve is not None and method.curve.columns["threshold"].size > 1
    return len(method.result.counts) > 1 and not method.result.unnamed and several


def _band(method: Method, space: Space, level: float, replicates: int, seed: int) -> Area:
    band = curve_band(method.result.measured, space=space, level=level, replicates=replicates, seed=seed)
    known = np.isfinite(band.low) & np.isfinite(band.high)
    return Area(band.at[known], band.low[known], band.high[known])


def _charts_in_space(space: Space, methods: Sequence[Method]) -> list[Chart]:
    """Describe the curves for the page, each with its band."""
    if not any(method.curve is not None and space in method.curve.spaces for method in methods):
        return []
    areas, note = {}, ""
    ranges = {k: method.curve for k, method in enumerate(methods) if isinstance(method.curve, MeanCurve)}
    for k, method in enumerate(methods):
        drawn = method.intervals
        if drawn is None or k in ranges or not _has_band(method):
            continue
        try:
            areas[k] = _band(method, space, drawn.level, drawn.replicates, drawn.seed)
        except ArgumentError:  # of a table without `heights`
            continue
        band = f"pointwise {100 * drawn.level:g} % bootstrap band of the best method or those chosen"
        note = f"Shaded: {band}, {drawn.replicates} resamples of {method.result.measured.noun}s"
    areas |= {k: Area(*curve.ends(space)) for k, curve in ranges.items()}
    if ranges:
        of_runs = "of methods with runs from the lowest to the highest run at each place"
        note = f"{note}, {of_runs}" if note else f"Shaded: {of_runs}"
    return [replace(_in_space(methods, space, areas), note=note)]


def _draw_thresholds(measure: str, results: Sequence[Result], *, ax: Axes) -> Axes:
    """Draw a column of the curves against the threshold; empty for the one that each protocol has.

    F of pixels changes at scores that occur and is level between them. That of boundaries is drawn straight between the
    measured thresholds; the ODS, which is interpolated there as the official benchmark does, can lie a little above.
    """
    taken = of_one_protocol(results)
    known = next((result.drawn for result in taken if result.drawn is not None), None)
    if known is None or (measure and measure not in known.columns):
        raise no_plot(taken, measure.upper() or "curve")
    metrics, drawn = taken[0].metrics, measure or known.measure
    title, key = image_headline(metrics).name_for_images, headline(metrics).key
    if drawn in known.best:
        title, key = drawn.upper(), known.best[drawn]
    methods = methods_of(taken, key=key, title=title)
    curves = [method.curve for method in methods]
    threshold = best_threshold(metrics)
    best = {}
    for k, curve in enumerate(curves):
        summary = methods[k].result.summary
        if measure and curve is not None:
            at, values = curve.against_threshold(measure)
            best[k] = at[values.argmax()], values.max()
        elif threshold is not None:
            best[k] = summary.get(threshold.key, math.nan), summary[key]
    areas, legend = _ranges(curves, lambda curve: curve.ends_at_thresholds(measure))
    chart = replace(chart_of_thresholds(curves, drawn, title, best=best, areas=areas), areas=legend)
    return draw_methods(ax, chart, methods)


def _charts_of_thresholds(methods: Sequence[Method]) -> list[Chart]:
    """Describe each measure against the threshold for the page; nothing where every method has a single one."""
    curves = [method.curve for method in methods]
    several = [curve for curve in curves if curve is not None and curve.against_threshold()[0].size > 1]
    names = dict.fromkeys(name for curve in several for name in curve.levels)
    return [
        chart_of_thresholds(
            [curve if curve is not None and name in curve.levels else None for curve in curves],
            name,
            _TITLES.get(name, name),
        )
        for name in names
    ]


def _draw_reliability(results: Sequence[Result], *, ax: Axes) -> Axes:
    """Draw the share of positives in 15 bins of scores; the area of a dot is its share of the pixels."""
    results = of_one_protocol(results, join=False)
    named = zip(results, names_in_legend(results), styles_of(results), strict=True)
    measured = []
    for result, name, style in named:
        bins = reliability(_counts(result))
        error = _expected_error(bins)
        label = f"[ECE={numeral(error)}] {name}"
        measured.append((error, Method(name, result, style, label), bins))
    best_first = sorted(range(len(measured)), key=lambda k: measured[k][0])
    measured = [measured[k] for k in competing_order(results, best_first)]
    chart = _chart_of_reliability([bins for _, _, bins in measured], of_objects=_of_objects(results[0]))
    for (_, method, bins), layer in zip(measured, chart.layers, strict=True):
        line, pixels = cast("Path", layer[0]), bins.pixels[bins.pixels > 0]
        area = _LARGEST_DOT * np.maximum(pixels / pixels.sum(), 0.05)
        colour = method.style.colour
        ax.scatter(line.x, line.y, area, color=colour, linewidths=0, zorder=CURVE_LAYER, clip_on=False)
    return draw_methods(ax, chart, [method for _, method, _ in measured])


def _chart_of_reliability(measured: Sequence[Reliability], *, of_objects: bool) -> Chart:
    """Describe the share of positives in each bin that has any pixel, or any detection, against the mean score."""
    layers = []
    for bins in measured:
        filled = bins.pixels > 0
        layers.append([Path(*(part[filled] / bins.pixels[filled] for part in (bins.scores, bins.positives)))])
    share = "Share of true detections at IoU .5" if of_objects else "Share of positives"
    axes, corners = (ChartAxis("Score"), ChartAxis(share)), ("upper left", "lower right")
    return Chart("reliability", "Reliability of scores", *axes, layers, [DIAGONAL], corners=corners)


def _charts_of_reliability(methods: Sequence[Method]) -> list[Chart]:
    """Describe the reliability of scored objects for the page; nothing where no method has one."""
    known = {k: method.result.table.confidences for k, method in enumerate(methods)}
    measured = {
        k: reliability(counts) for k, counts in known.items() if counts is not None and not _why_unreliable(counts)
    }
    if not measured:
        return []
    chart = _chart_of_reliability([*measured.values()], of_objects=True)
    layers: list[list[Mark]] = [[] for _ in methods]
    for k, (line,) in zip(measured, chart.layers, strict=True):
        points = cast("Path", line)
        layers[k] = [points, *itertools.starmap(Dot, zip(points.x.tolist(), points.y.tolist(), strict=True))]
    errors = [f"{methods[k].name} {number(_expected_error(bins))}" for k, bins in measured.items()]
    note = f"A dot for each of {BINS} bins of scores that holds detections; ECE: {first_names(errors, _MOST_ERRORS)}"
    return [replace(chart, layers=layers, note=note)]


def _expected_error(bins: Reliability) -> float:
    """Return the expected calibration error."""
    return float(np.abs(bins.positives - bins.scores).sum() / bins.pixels.sum())


def _of_objects(result: Result) -> bool:
    """Return whether scores are those of objects."""
    return result.table.confidences is not None


def _counts(result: Result) -> ScoreCounts:
    """Return the pooled counts of a result; raise where they have no reliability."""
    confidences = result.table.confidences
    if confidences is None and result.rules.capability(Pooling) is None:
        raise no_plot([result], "reliability, which is that of soft maps and of scored objects")
    counts = confidences or cast("ScoreCounts", result.pooled)
    reason = _why_unreliable(counts)
    if reason:
        raise ArgumentError(
            Message(
                "no-plot",
                "{method} has no reliability: {reason}; {instead}",
                method=result.method,
                reason=reason,
                instead=Either("leave this method out", "choose other methods with --only"),
            )
        )
    return counts


def _why_unreliable(counts: ScoreCounts) -> Message:
    """Say why scores have no reliability; empty where they have."""
    if not counts.scores.size:
        return Message("no-pixels", "no pixels")
    return TWO_VALUED if are_masks(counts) else why_uncalibrated(counts)


PR = Kind(plot_pr, partial(_charts_in_space, "pr"), level="band", joins=True)
ROC = Kind(plot_roc, partial(_charts_in_space, "roc"), level="band", joins=True)
F = Kind(partial(_draw_thresholds, ""), _charts_of_thresholds, joins=True)
E = Kind(partial(_draw_thresholds, "e"), joins=True)
RELIABILITY = Kind(_draw_reliability, _charts_of_reliability)
