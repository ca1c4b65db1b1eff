"""Which methods compete, which value of a column is best, and which second best.

Conventions
-----------
1. Methods compete with those counted on the same images: of the same names, and of the same content where both know it
   (results counted from files, or both from arrays). An image that failed for one method alone sets it apart.
2. The images of a published curve are unknown: it competes where all others are on the same images, and is set
   apart where they are not. The same holds for human annotators, since images with one annotator do not count.
3. Human annotators do not compete: their row is never marked and does not keep another from being best. Nor does a
   partial result, of a run that stopped early; it has the images counted so far.
4. What is printed equal is equal: at three digits .7971 and .7968 share the first place. Two that share it leave no
   second place.
5. Best takes at least two methods with a defined value, second best at least three. An undefined value is neither.
6. Counts, thresholds, and precision and recall at a chosen threshold have no best.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from segbench.aggregator.result import Result
from segbench.core.capabilities import competes
from segbench.core.metric import Better, headline
from segbench.core.numbers import DIGITS
from segbench.core.text_table import Mark


def image_sets(results: Sequence[Result]) -> list[list[int]]:
    """Give the places of results on the same images, the largest set first, then partial results, published curves."""
    sets: list[list[int]] = []
    published: list[int] = []
    for place, result in sorted(enumerate(results), key=lambda at: not at[1].competes):
        found = [places for places in sets if _same_images(result, results[places[0]])]
        if result.published:
            published.append(place)
        elif found:
            found[0].append(place)
        elif not competes(result.rules) and len(sets) == 1:
            sets[0].append(place)
        else:
            sets.append([place])
    sets.sort(key=lambda places: (all(results[k].partial for k in places), -len(results[places[0]].counts)))
    if len(sets) == 1:
        return [sorted(sets[0] + published)]
    return [*map(sorted, sets), *([published] if published else [])]


def _same_images(one: Result, other: Result) -> bool:
    sources = [result.settings.get("source", "files") for result in (one, other)]
    # The digest of imported counts is that of the files that held them.
    known = sources[0] == sources[1] != "imported"
    return set(one.counts) == set(other.counts) and (not known or one.data == other.data)


def best_first(results: Sequence[Result], key: str) -> list[int]:
    """Give the places of results of one protocol by a metric, the best first, undefined ones last."""
    sign = next((metric.direction for metric in results[0].rules.metrics() if metric.key == key), 1)

    def rank(place: int) -> tuple[float, str]:
        value = results[place].summary.get(key, math.nan)
        return math.inf if math.isnan(value) else -sign * value, results[place].method

    return sorted(range(len(results)), key=rank)


def headline_order(results: Sequence[Result]) -> list[int]:
    """Give the order of results of one protocol: those on the same images together, the best first, undefined last."""
    key = headline(results[0].rules.metrics()).key
    rank = {place: k for k, place in enumerate(best_first(results, key))}
    ordered: list[int] = []
    for places in image_sets(results):
        ordered += sorted(places, key=lambda k: (results[k].partial is not None, rank[k]))
    return ordered


def ranked(values: Sequence[float], better: Better | None, *, digits: int = DIGITS) -> list[Mark]:
    """Mark the best and the second best of some values."""
    sign = -1 if better == "higher" else 1
    printed = [round(sign * value, digits) for value in values]
    order = sorted(value for value in printed if not math.isnan(value))
    if better is None or len(order) < 2:
        return [""] * len(values)
    # Of equals for the first place the next one is third; of two, the other is no second best.
    second = order[1] if len(order) > 2 else math.nan
    return ["best" if value == order[0] else "second" if value == second else "" for value in printed]
