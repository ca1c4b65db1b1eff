"""Tables with a line a threshold: counts, precision, recall and F of the pool at each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.aggregator.result import Result
from segbench.core.numbers import DIGITS, exact, number
from segbench.core.text_table import Mark, TextTable
from segbench.curves.curve import Curve
from segbench.protocols.boundaries.counts import BoundaryCounts
from segbench.protocols.boundaries.curve import f_of
from segbench.protocols.regions.curve import RegionCurve
from segbench.report.tables import names_of

SHOWN_ROWS = 21

_MATCHED = ("matched_gt", "total_gt", "matched_pred", "total_pred")
_REGIONS = (
    "covering",
    "covering_of_prediction",
    "rand_index",
    "voi",
    "voi_split",
    "voi_merge",
    "adapted_rand_error",
    "rand_precision",
    "rand_recall",
)


def threshold_columns(result: Result) -> dict[str, NDArray[Any]]:
    """Give the rows of the pooled curve by column, ``threshold`` first; nan where undefined.

    Of pixels the first row is where nothing is predicted, at an infinite threshold; two-valued predictions have one
    row, that of the mask. A published curve has no counts, and the regions protocol has its own figures.
    """
    curve = result.drawn
    columns: dict[str, NDArray[Any]] = {"threshold": curve.thresholds}
    if isinstance(curve, Curve):
        rates = {"recall": curve.recall, "precision": curve.precision, "tpr": curve.tpr, "fpr": curve.fpr}
        columns |= {"tp": curve.tp, "fp": curve.fp} | rates | {"f": pixel_f(curve)}
        return columns if curve.mask is None else _of_mask(result, columns, curve.mask)
    if isinstance(curve, RegionCurve):
        return columns | {name: getattr(curve, name) for name in _REGIONS}
    if not result.published and isinstance(result.pooled, BoundaryCounts):
        columns |= {name: getattr(result.pooled, name) for name in _MATCHED}
    rates = {"recall": curve.recall, "precision": curve.precision, "f": curve.f}
    if result.rules.headline.key in result.summary.undefined:  # nothing was compared
        rates = {name: np.full_like(values, np.nan) for name, values in rates.items()}
    return columns | rates


def _of_mask(result: Result, columns: dict[str, NDArray[Any]], place: int) -> dict[str, NDArray[Any]]:
    """Keep the row of the mask, with the threshold of the summary, and no precision where nothing is predicted."""
    columns = {key: values[[place]] for key, values in columns.items()}
    summary = result.summary
    return columns | {key: np.array([summary[f"ods_{key}"]]) for key in ("threshold", "precision")}


def pixel_f(curve: Curve) -> NDArray[np.float64]:
    """Give F at each point of a curve of pixels; nan without positives.

    Examples
    --------
    >>> from segbench.core.scores import ScoreCounts
    >>> from segbench.curves.curve import pr_curve
    >>> pixel_f(pr_curve(ScoreCounts([0.9, 0.1], [3, 1], [1, 5])))
    array([0.        , 0.75      , 0.57142857])
    """
    return f_of(curve.recall, curve.precision)


def threshold_table(results: Sequence[Result], *, digits: int = DIGITS) -> TextTable:
    """Give a line a threshold and method, for results of one protocol.

    Of each method some `SHOWN_ROWS` rows, and the best, which is marked; notes say how many were left out, and whether
    thresholds are rounded. Those of pixels are spaced evenly half by threshold and half by recall, those of other
    protocols by their place.
    """
    tables = [threshold_columns(result) for result in results]
    # A published curve lacks the counts, so the longest list of columns has all; tpr is recall once more.
    keys = max(([key for key in columns if key != "tpr"] for columns in tables), key=len)
    measure = "covering" if "covering" in keys else "f"
    rows: list[list[str]] = []
    marks: dict[tuple[int, int], Mark] = {}
    notes = []
    rounded = False
    for name, columns, result in zip(names_of(results), tables, results, strict=True):
        best = _best_place(columns[measure])
        kept = _few(columns, best)
        undecided = _undecided(result, digits)
        notes += [f"{name}: {undecided}"] if undecided else []
        if len(kept) < columns[measure].size:
            chosen = f", at {result.chosen_points}" if result.chosen_points else ""
            notes.append(
                f"{name}: {len(kept)} of {columns[measure].size} thresholds{chosen}; --format csv and json list all"
            )
        for place in kept:
            if place == best and not undecided:
                marks[len(rows), 1 + keys.index(measure)] = "best"
            cells = {key: number(columns[key][place].item(), digits=digits) for key in keys if key in columns}
            threshold = columns["threshold"][place].item()
            rounded |= math.isfinite(threshold) and float(cells["threshold"]) != threshold
            rows.append([name, *(cells.get(key, "-") for key in keys)])
    if rounded:
        notes.append("thresholds are rounded here; --format csv and json list them in all digits")
    return TextTable(["method", *keys], rows, marks=marks, notes=tuple(notes))


def exact_thresholds(results: Sequence[Result], *, named: bool = True) -> TextTable:
    """Give a line a threshold and method, every one; the method only where `named`."""
    tables = [threshold_columns(result) for result in results]
    keys = list(dict.fromkeys(key for columns in tables for key in columns))
    rows = []
    for name, columns in zip(names_of(results), tables, strict=True):
        length = columns["threshold"].size
        lists = [columns[key].tolist() if key in columns else [math.nan] * length for key in keys]
        rows += [[*([name] if named else []), *map(exact, values)] for values in zip(*lists, strict=True)]
    return TextTable([*(["method"] if named else []), *keys], rows)


def _undecided(result: Result, digits: int) -> str:
    """Say where the best F can be, if bins leave that open; empty where they do not."""
    if result.classes:
        return _undecided(result.micro, digits)
    bounds = result.summary.bounds
    best = result.rules.best_threshold
    if best is None or best.key not in bounds:
        return ""
    f, threshold = (
        number(result.summary[key], bounds.get(key), digits=digits) for key in (result.rules.headline.key, best.key)
    )
    return f"rows are edges of bins; the exact best F is {f}, at a threshold of {threshold}"


def _best_place(measure: NDArray[np.float64]) -> int | None:
    return None if np.isnan(measure).all() else int(np.nanargmax(measure))


def _few(columns: Mapping[str, NDArray[Any]], best: int | None) -> list[int]:
    thresholds = columns["threshold"]
    total = thresholds.size
    if total <= SHOWN_ROWS:
        return list(range(total))
    if "fpr" in columns:
        # Thresholds of pixels are scores that occur, most of which may lie where nothing happens any more.
        kept = {0, total - 1, *_spaced(-thresholds[1:], 1), *_spaced(columns["recall"], 0)}
    else:
        kept = set(np.rint(np.linspace(0, total - 1, SHOWN_ROWS)).astype(int).tolist())
    return sorted({*kept, *([] if best is None else [best])})


def _spaced(rising: NDArray[Any], start: int) -> list[int]:
    """Give the places, counted from `start`, at which rising values reach half of the rows' even steps."""
    if np.isnan(rising).any():
        return []
    steps = np.linspace(rising[0], rising[-1], SHOWN_ROWS // 2 + 1)
    # A step that a value meets but for its last bit is met.
    places: list[int] = (start + np.searchsorted(rising, steps - 1e-9 * np.ptp(rising))).tolist()
    return [min(place, start + rising.size - 1) for place in places]
