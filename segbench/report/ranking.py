"""Which value of a column is best, and which second best.

Conventions
-----------
1. What is printed equal is equal: at three digits .7971 and .7968 share the first place. Two that share it leave no
   second place.
2. Best takes at least two methods whose figure is defined, second best at least three. An undefined figure is neither.
3. Human annotators are no competitors: their row is never marked and does not keep another from being best. A curve
   known from print competes like any other.
   Nor is a partial result, of a run that stopped half-way.
4. Methods compete with those counted on the same images, see `segbench.report.image_sets`.
5. Counts, thresholds, and precision and recall at a chosen threshold have no best.
6. Where scores were counted in bins, a method is best only if its bounds leave no doubt: its worst end is, as printed,
   at least as good as the best end of every other method. The same holds for second best among the others.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from segbench.aggregator.result import Result
from segbench.core.metric import Better, Metric
from segbench.core.numbers import DIGITS
from segbench.core.summary import Summary
from segbench.core.text_table import Mark
from segbench.report.image_sets import image_sets
from segbench.report.whose import few_names

BINS_NOTE = "±: certain bounds of the exact value; scores were counted in bins"


def ranked(
    values: Sequence[float],
    better: Better | None,
    *,
    bounds: Sequence[tuple[float, float] | None] | None = None,
    digits: int = DIGITS,
) -> list[Mark]:
    """Mark the best and the second best of some values; bounds, one per value, are None where it is exact."""
    marks: list[Mark] = [""] * len(values)
    if better is None:
        return marks
    worst_ends, best_ends = _signed_ends(values, better, bounds, digits)
    remaining = [place for place, value in enumerate(values) if not math.isnan(value)]
    if len(remaining) < 2:
        return marks
    first = _certainly_first(remaining, worst_ends, best_ends)
    for place in first:
        marks[place] = "best"
    # Of equals for the first place the next one is third.
    if len(first) == 1 and len(remaining) > 2:
        others = [place for place in remaining if place not in first]
        for place in _certainly_first(others, worst_ends, best_ends):
            marks[place] = "second"
    return marks


def _signed_ends(
    values: Sequence[float],
    better: Better | None,
    bounds: Sequence[tuple[float, float] | None] | None,
    digits: int,
) -> tuple[list[float], list[float]]:
    """Give the worst and the best end of each value, rounded as printed, lower being better."""
    worst_ends, best_ends = [], []
    for value, pair in zip(values, bounds or [None] * len(values), strict=True):
        low, high = pair or (value, value)
        ends = (-low, -high) if better == "higher" else (high, low)
        worst, favourable = (round(end, digits) for end in ends)
        worst_ends.append(worst)
        best_ends.append(favourable)
    return worst_ends, best_ends


def _certainly_first(places: Sequence[int], worst_ends: Sequence[float], best_ends: Sequence[float]) -> list[int]:
    return [
        place for place in places if all(worst_ends[place] <= best_ends[other] for other in places if other != place)
    ]


def column_marks(results: Sequence[Result], metric: Metric, *, digits: int = DIGITS) -> list[Mark]:
    """Mark the best and the second best method of a column among those on the same images, one mark a result."""
    values = [math.nan if not result.competes else float(result.summary[metric.key]) for result in results]
    bounds = [result.summary.bounds.get(metric.key) for result in results]
    marks: dict[int, Mark] = {}
    for places in image_sets(results):
        of_set = ranked(
            [values[place] for place in places],
            metric.better,
            bounds=[bounds[place] for place in places],
            digits=digits,
        )
        marks |= zip(places, of_set, strict=True)
    return [marks[place] for place in range(len(results))]


def bin_notes(results: Sequence[Result], names: Sequence[str]) -> tuple[str, ...]:
    """Explain bounds where results of one protocol have any, and say which methods they leave in no certain order."""
    if not any(result.summary.bounds for result in results):
        return ()
    key = results[0].rules.headline.key
    undecided: dict[int, None] = {}
    for places in image_sets(results):
        known = [place for place in places if not math.isnan(results[place].summary[key])]
        for one, other in itertools.combinations(known, 2):
            if _overlap(results[one].summary, results[other].summary, key):
                undecided |= dict.fromkeys((one, other))
    open_order = few_names(sorted(names[place] for place in undecided), len(names))
    return (
        BINS_NOTE,
        *([f"bins leave the order by {key} open: {open_order}; count without bins"] if undecided else []),
    )


def _overlap(one: Summary, other: Summary, key: str) -> bool:
    if key not in one.bounds and key not in other.bounds:
        return False
    (low, high), (other_low, other_high) = (
        summary.bounds.get(key, (summary[key], summary[key])) for summary in (one, other)
    )
    return low <= other_high and other_low <= high
