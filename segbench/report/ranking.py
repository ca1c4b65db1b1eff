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
from collections.abc import Hashable, Sequence
from functools import cache

from segbench.aggregator.comparing import different_settings
from segbench.aggregator.result import Result
from segbench.core.metric import Better, headline
from segbench.core.numbers import DIGITS, many
from segbench.core.text_table import Mark


def competing_sets(results: Sequence[Result]) -> list[list[int]]:
    """Return the indices of results that compete: sets on most images first, then partial ones and published curves."""
    sets: list[list[int]] = []
    published: list[int] = []
    numbers: dict[Hashable, int] = {}
    kinds = [numbers.setdefault(_counted_as(result), len(numbers)) for result in results]

    @cache
    def are_alike(kind: int, other: int) -> bool:
        """Compare results once for all that were counted as they were."""
        return _alike(results[kinds.index(kind)], results[kinds.index(other)])

    for index, result in sorted(enumerate(results), key=lambda at: not at[1].competes):
        # With all of them, as two of different settings are both like one whose settings are not known.
        alike = [members for members in sets if all(are_alike(kinds[index], kinds[k]) for k in members)]
        if result.published:
            published.append(index)
        elif alike:
            alike[0].append(index)
        elif not result.rules.competes and len(sets) == 1:
            sets[0].append(index)
        else:
            sets.append([index])
    order = [
        (all(results[k].partial for k in members), -len(results[members[0]].counts), -len(members)) for members in sets
    ]
    sets = [members for _, members in sorted(zip(order, sets, strict=True))]
    if len(sets) == 1:
        return [sorted(sets[0] + published)]
    return [*map(sorted, sets), *([published] if published else [])]


def _counted_as(result: Result) -> Hashable:
    """Return all that `_alike` asks of a result: the same of two results that were counted alike."""
    settings = frozenset(result.settings.items()), frozenset(result.measuring_settings)
    return frozenset(result.counts), result.data, settings, result.kind, result.rules.competes


def _alike(first: Result, second: Result) -> bool:
    """Return whether results are of the same images and settings, as far as these are known."""
    sources = [result.settings.get("source", "files") for result in (first, second)]
    # The digest of imported counts is that of the files that held them.
    known = sources[0] == sources[1] != "imported"
    same_images = set(first.counts) == set(second.counts) and (not known or first.data == second.data)
    if not same_images or "imported" in sources or not (first.rules.competes and second.rules.competes):
        return same_images
    return different_settings((first, second)).keys() <= {"source"}


def why_apart(results: Sequence[Result], sets: Sequence[Sequence[int]]) -> tuple[str, list[str]]:
    """Say in what the sets of results differ, images or settings, and what the results of each set have."""
    firsts = []
    for members in sets:
        best_known = min(members, key=lambda k: bool(results[k].published) or "source" in results[k].settings)
        firsts.append(results[best_known])
    known = [result for result in firsts if not result.published and result.settings.get("source") != "imported"]
    methods = [result for result in known if result.rules.competes]
    settings = different_settings(methods).keys() - {"source"} if methods else frozenset()
    numbers = [len(result.counts) for result in known]
    images = [frozenset(result.counts) for result in firsts if not result.published]
    same_images = len(set(images)) == 1 and len({result.data for result in known}) == 1
    descriptions = []
    for result in firsts:
        if result.published:
            descriptions.append("published without images")
            continue
        has = []
        if result.unnamed:
            has.append("images without names")
        elif not same_images:
            digest = "" if len(set(numbers)) == len(numbers) else f", data:{result.data}"
            has.append(f"{many(len(result.counts), 'image')}{digest}")
        has += [f"{key}:{result.settings.get(key, 'none')}" for key in sorted(settings)]
        descriptions.append(", ".join(has))
    differing = []
    if not same_images:
        differing.append("images")
    if settings:
        differing.append("settings")
    return " and ".join(differing), descriptions


def best_first(results: Sequence[Result], key: str) -> list[int]:
    """Return the indices of results of one protocol by a metric, the best first, undefined ones last."""
    sign = next((metric.direction for metric in results[0].metrics if metric.key == key), 1)

    def rank(k: int) -> tuple[float, str]:
        value = results[k].summary.get(key, math.nan)
        return math.inf if math.isnan(value) else -sign * value, results[k].method

    return sorted(range(len(results)), key=rank)


def headline_order(results: Sequence[Result]) -> list[int]:
    """Return the indices of results of one protocol by the metric that ranks them, see `competing_order`."""
    return competing_order(results, best_first(results, headline(results[0].metrics).key))


def competing_order(results: Sequence[Result], best_first: Sequence[int]) -> list[int]:
    """Return indices in `best_first` so that results that compete stay together, partial ones last in their set."""
    rank = {index: k for k, index in enumerate(best_first)}
    ordered: list[int] = []
    for members in competing_sets(results):
        ordered += sorted(members, key=lambda k: (results[k].partial is not None, rank[k]))
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
