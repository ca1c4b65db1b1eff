"""Curves and distributions of the page, as plain data for its scripts.

Everything is rounded to what a screen can show; the point of best F is exact. Undefined numbers are None.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segbench.aggregator.result import Result
from segbench.core.errors import ArgumentError
from segbench.core.numbers import number
from segbench.core.series import RATES, Series, Space
from segbench.drawing.palette import COLOURS, DASHES, Dashes, class_colours, line_style
from segbench.protocols.states import State
from segbench.report.plots.methods import classes_add_up
from segbench.statistics.bands import curve_band
from segbench.statistics.intervals import Intervals

FloatArray = NDArray[np.float64]

_PROBED = 600
_IMAGES_AS_POINTS = 2_000
_PLOTLY_DASHES: dict[Dashes, str] = dict(zip(DASHES, ("solid", "dash", "dashdot", "dot", "longdashdot"), strict=True))
_DIGITS = 4


def charts(results: Sequence[Result], names: Sequence[str], intervals: Sequence[Intervals]) -> dict[str, Any]:
    """Give what the charts of one protocol show."""
    classes = [] if classes_add_up(results[0]) else list(results[0].classes)
    methods = []
    for place, (result, name) in enumerate(zip(results, names, strict=True)):
        drawn = intervals[place] if intervals else None
        methods.append(
            {
                "name": name,
                **style(place),
                **_curves(result, drawn),
                **_by_class(result, classes),
                "images": _images(result),
            },
        )
    rules = results[0].rules
    words = [rules.states_called.get(state, "") for state in State]
    headline = rules.image_headline.image_key
    return {
        "protocol": rules.name,
        "headline": headline,
        "states": words,
        "methods": methods,
        "classes": {"names": classes, "colours": class_colours(len(classes))},
    }


def style(place: int) -> dict[str, Any]:
    """Give the line of the method at that place, as plotly names it."""
    line = line_style(place)
    return {"colour": COLOURS.index(line.colour), "dash": _PLOTLY_DASHES[line.dashes]}


def _by_class(result: Result, classes: Sequence[str]) -> dict[str, Any]:
    """Give the headline of each class, and the confusion matrix as shares of the pixels of the true class."""
    if not classes or list(result.classes) != list(classes):
        return {}
    of_classes = [result.classes[name] for name in classes]
    by_class = {"by_class": rounded([one.summary[one.rules.headline.key] for one in of_classes])}
    matrix = getattr(result.pooled, "matrix", None)
    if matrix is None:
        return by_class
    matrix = matrix if matrix[:, -1].any() else matrix[:, :-1]
    with np.errstate(invalid="ignore"):  # a class without pixels has an empty row
        shares = matrix / matrix.sum(axis=1, keepdims=True)
    return {**by_class, "confusion": [rounded(row) for row in shares]}


def _curves(result: Result, drawn: Intervals | None) -> dict[str, Any]:
    if not result.published and not result.counts:
        return {}
    curve = result.drawn
    if curve is None or not curve.columns["threshold"].size:
        return {}
    if not curve.spaces:
        levels = {"thresholds": curve.columns["threshold"], **curve.levels}
        return {"levels": {name: rounded(values) for name, values in levels.items()}}
    key = result.rules.headline.key
    if math.isnan(result.summary[key]):
        return {}
    known: dict[str, Any] = {space: _in_space(curve, space, result, drawn) for space in sorted(curve.spaces)}
    if "pr" in known:
        best = [result.summary.get(name, math.nan) for name in ("ods_recall", "ods_precision", "ods_threshold", key)]
        known["pr"]["best"] = [_plain(value) for value in best]
        known["pr"] |= {"open": _open(result, key)} if key in result.summary.bounds else {}
        known["pr"] |= {} if math.isnan(curve.prevalence) else {"prevalence": _plain(curve.prevalence)}
    return known


def _in_space(curve: Series, space: Space, result: Result, drawn: Intervals | None) -> dict[str, Any]:
    x, y = curve.line(space)
    probes = _probes(curve, space, keep=result.summary.get("ods_threshold", math.nan))
    return {"x": rounded(x), "y": rounded(y), "points": probes, "areas": _areas(curve, space, result, drawn)}


def _open(result: Result, key: str) -> str:
    """Write what bins leave open of the best F."""
    return f"best F {number(result.summary[key], result.summary.bounds[key])} by bounds of bins"


def _probes(curve: Series, space: Space, *, keep: float) -> list[list[float | None]]:
    """Give measured points to be read off by hovering: x, y, threshold; at most `_PROBED`, evenly along the curve."""
    x, y, cuts = (np.asarray(curve.columns[name], np.float64) for name in (*RATES[space], "threshold"))
    known = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    if known.size > _PROBED:
        way = np.append(0, np.cumsum(np.hypot(np.diff(x[known]), np.diff(y[known]))))
        kept = known[np.unique(np.searchsorted(way, np.linspace(0, way[-1], _PROBED)))]
        known = np.union1d(kept, np.flatnonzero(cuts == keep))
    return [[_plain(x[k]), _plain(y[k]), _plain(cuts[k])] for k in known]


def _areas(curve: Series, space: Space, result: Result, drawn: Intervals | None) -> list[list[list[float | None]]]:
    """Give areas around a curve as closed outlines: what bins leave open, and the band over images."""
    bounds = curve.envelope(space)
    outlines = [] if bounds is None else [(bounds.at, bounds.low, bounds.high)]
    if drawn and len(result.counts) > 1:
        level, replicates, seed = drawn.level, drawn.replicates, drawn.seed
        with suppress(ArgumentError):  # of a table without `heights`
            band = curve_band(result.table, space=space, level=level, replicates=replicates, seed=seed)
            outlines.append((band.at, band.low, band.high))
    return [_outline(*ends) for ends in outlines if np.isfinite(ends[1]).any()]


def _outline(at: FloatArray, low: FloatArray, high: FloatArray) -> list[list[float | None]]:
    known = np.isfinite(low) & np.isfinite(high)
    at, low, high = at[known], low[known], high[known]
    return [rounded(np.append(at, at[::-1])), rounded(np.append(high, low[::-1]))]


def _images(result: Result) -> dict[str, Any]:
    """Give the metric of each image; of very many, their quartiles and the ends of the whiskers instead."""
    key = result.rules.image_headline.image_key
    values_of = {name: float(summary[key]) for name, summary in result.per_image.items()}
    known = {name: value for name, value in values_of.items() if not np.isnan(value)}
    if len(known) <= _IMAGES_AS_POINTS:
        return {"names": list(known), "values": rounded(list(known.values()))}
    values = np.array(list(known.values()))
    low, middle, high = np.quantile(values, (0.25, 0.5, 0.75)).tolist()
    reach = 1.5 * (high - low)
    inner = values[(values >= low - reach) & (values <= high + reach)]
    return {"box": [_plain(end) for end in (inner.min(), low, middle, high, inner.max())]}


def rounded(values: ArrayLike) -> list[float | None]:
    """Give numbers with four decimal places, None for what is not a number."""
    numbers = np.round(np.asarray(values, dtype=np.float64), _DIGITS)
    return [value if np.isfinite(value) else None for value in numbers.tolist()]


def _plain(value: float) -> float | None:
    """Give a number with seven digits, None for what is not a number."""
    return float(f"{float(value):.7g}") if np.isfinite(value) else None
