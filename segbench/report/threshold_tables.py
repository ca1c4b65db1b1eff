"""Tables with a line a threshold: counts, precision, recall and F of the pool at each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.aggregator.result import Result
from segbench.core.errors import ArgumentError
from segbench.core.numbers import DIGITS, exact, number
from segbench.core.text_table import Mark, TextTable
from segbench.report.tables import names_of

SHOWN_ROWS = 21


def threshold_columns(results: Sequence[Result]) -> list[Mapping[str, NDArray[Any]]]:
    """Give the rows of each pooled curve by column, ``threshold`` first; nothing for a result without a curve.

    Of pixels the first row is where nothing is predicted, at an infinite threshold; two-valued predictions have one
    row, that of the mask. A published curve has no counts, and each protocol has its own columns.
    """
    tables = [{} if result.drawn is None else result.drawn.columns for result in results]
    if results and not any(tables):
        protocols = " and ".join(dict.fromkeys(result.protocol for result in results))
        raise ArgumentError(
            f"results of {protocols} have no curve, so there are no thresholds to list; leave out --per-threshold, or "
            "choose other methods with --only"
        )
    return tables


def threshold_table(results: Sequence[Result], *, digits: int = DIGITS) -> TextTable:
    """Give a line a threshold and method, for results of one protocol.

    Of each method some `SHOWN_ROWS` rows, and the best, which is marked; notes say how many were left out, and whether
    thresholds are rounded. Those of pixels are spaced evenly half by threshold and half by recall, those of other
    protocols by their place.
    """
    tables = threshold_columns(results)
    # A published curve lacks the counts, so the longest list of columns has all; tpr is recall once more.
    keys = max(([key for key in columns if key != "tpr"] for columns in tables), key=len)
    rows: list[list[str]] = []
    marks: dict[tuple[int, int], Mark] = {}
    notes = []
    rounded = False
    for name, columns, result in zip(names_of(results), tables, results, strict=True):
        if result.drawn is None:
            notes.append(f"{name}: no curve is known")
            continue
        measure = result.drawn.measure
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
    tables = threshold_columns(results)
    keys = list(dict.fromkeys(key for columns in tables for key in columns))
    rows = []
    for name, columns in zip(names_of(results), tables, strict=True):
        length = columns["threshold"].size if columns else 0
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
    if np.isinf(thresholds[0]) and "recall" in columns:
        # These thresholds are scores that occur, most of which may lie where nothing happens any more.
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
