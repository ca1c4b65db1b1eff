"""Which methods compete, which value of a column is best, and which second best.

Conventions
-----------
1. Methods compete with those counted under the same settings on the same images: of the same names, and of the same
   content where both know it (results counted from files, or both from arrays). An image that failed for one method
   alone sets it apart. Settings that change only the predictions may differ, as in comparisons. Those of imported
   counts are not known.
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

from segbench.aggregator.comparing import different_settings
from segbench.aggregator.result import Result
from segbench.core.metric import Better, headline
from segbench.core.numbers import DIGITS, many
from segbench.core.text_table import Mark


def competing_sets(results: Sequence[Result]) -> list[list[int]]:
    """Give the places of results that compete, those on most images first, then partial results, published curves."""
    sets: list[list[int]] = []
    published: list[int] = []
    for place, result in sorted(enumerate(results), key=lambda at: not at[1].competes):
        # With all of them, as two of different settings are both like one whose settings are not known.
        found = [places for places in sets if all(_alike(result, results[k]) for k in places)]
        if result.published:
            published.append(place)
        elif found:
            found[0].append(place)
        elif not result.rules.competes and len(sets) == 1:
            sets[0].append(place)
        else:
            sets.append([place])
    order = [(all(results[k].partial for k in some), -len(results[some[0]].counts), -len(some)) for some in sets]
    sets = [places for _, places in sorted(zip(order, sets, strict=True))]
    if len(sets) == 1:
        return [sorted(sets[0] + published)]
    return [*map(sorted, sets), *([published] if published else [])]


def _alike(one: Result, other: Result) -> bool:
    """Return whether results are of the same images and settings, as far as these are known."""
    sources = [result.settings.get("source", "files") for result in (one, other)]
    # The digest of imported counts is that of the files that held them.
    known = sources[0] == sources[1] != "imported"
    same_images = set(one.counts) == set(other.counts) and (not known or one.data == other.data)
    if not same_images or "imported" in sources or not (one.rules.competes and other.rules.competes):
        return same_images
    return different_settings((one, other)).keys() <= {"source"}


def why_apart(results: Sequence[Result], sets: Sequence[Sequence[int]]) -> tuple[str, list[str]]:
    """Say in what the sets of results differ, images or settings, and what the results of each set have."""
    best_known = (min(of, key=lambda k: bool(results[k].published) or "source" in results[k].settings) for of in sets)
    firsts = [results[place] for place in best_known]
    known = [one for one in firsts if not one.published and one.settings.get("source") != "imported"]
    methods = [one for one in known if one.rules.competes]
    settings = different_settings(methods).keys() - {"source"} if methods else frozenset()
    numbers = [len(one.counts) for one in known]
    images = [frozenset(one.counts) for one in firsts if not one.published]
    same_images = len(set(images)) == 1 and len({one.data for one in known}) == 1
    said = []
    for one in firsts:
        if one.published:
            said.append("published without images")
            continue
        has = []
        if one.unnamed:
            has.append("images without names")
        elif not same_images:
            digest = "" if len(set(numbers)) == len(numbers) else f", data:{one.data}"
            has.append(f"{many(len(one.counts), 'image')}{digest}")
        has += [f"{key}:{one.settings.get(key, 'none')}" for key in sorted(settings)]
        said.append(", ".join(has))
    return " and ".join([*["images"] * (not same_images), *["settings"] * bool(settings)]), said


def best_first(results: Sequence[Result], key: str) -> list[int]:
    """Give the places of results of one protocol by a metric, the best first, undefined ones last."""
    sign = next((metric.direction for metric in results[0].metrics if metric.key == key), 1)

    def rank(place: int) -> tuple[float, str]:
        value = results[place].summary.get(key, math.nan)
        return math.inf if math.isnan(value) else -sign * value, results[place].method

    return sorted(range(len(results)), key=rank)


def headline_order(results: Sequence[Result]) -> list[int]:
    """Give the order of results of one protocol by the metric that ranks them, see `competing_order`."""
    return competing_order(results, best_first(results, headline(results[0].metrics).key))


def competing_order(results: Sequence[Result], best_first: Sequence[int]) -> list[int]:
    """Give places that are sorted, the best first, so that results that compete are together, partial ones last."""
    rank = {place: k for k, place in enumerate(best_first)}
    ordered: list[int] = []
    for places in competing_sets(results):
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
