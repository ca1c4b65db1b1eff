"""The answer first: which method leads, by how much, and how certain that is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from segbench.aggregator.comparing import compare_results, differing_repairs
from segbench.core.errors import ArgumentError
from segbench.core.metric import Metric
from segbench.core.numbers import DIGITS, many, number
from segbench.report.page.charts import Method
from segbench.report.page.svg import WIDTH, drawing, element, fitting, grid, line, row_titles
from segbench.report.ranking import best_first, image_sets
from segbench.statistics.bootstrap import FEW_IMAGES
from segbench.statistics.comparison import Comparison, Verdict, compared, disagreements, verdicts

_MOST_COMPARED = 10
"""Each pair of methods takes about a third of a second at 200 images."""
_MOST_NAMED = 4
_ROW = 40.0


@dataclass(frozen=True)
class Answer:
    """What the page says first.

    Parameters
    ----------
    said : str
        Which method leads, and by how much.
    details : tuple of str
        How certain it is, sentence by sentence.
    forest : Markup
        Every method's headline with its interval; empty where none is defined.
    names : tuple of str
        Methods compared, the best first.
    matrix : tuple of tuple of Verdict or None
        Each of them, in rows, against each other; empty for fewer than three.
    level : float
        Confidence level of intervals and tests.
    signature : str
        How methods were compared; empty where they were not.
    """

    said: str
    details: tuple[str, ...]
    forest: Markup
    names: tuple[str, ...] = ()
    matrix: tuple[tuple[Verdict | None, ...], ...] = ()
    level: float = 0.95
    signature: str = ""


def answer(methods: Sequence[Method]) -> Answer:
    """Answer from results of one protocol and their intervals; without intervals nothing is compared."""
    results = [method.result for method in methods]
    metric = results[0].rules.headline
    defined = [
        k
        for k in image_sets(results)[0]
        if results[k].competes and not math.isnan(results[k].summary.get(metric.key, math.nan))
    ]
    forest = _forest(methods, metric)
    if not defined:
        return Answer(f"{metric.name} is not defined for any method", (), forest)
    leading = [methods[defined[k]] for k in best_first([results[k] for k in defined], metric.key)]
    said = _who_leads(leading, metric)
    counted = [method for method in leading if not method.result.published and not method.result.unnamed]
    drawn = counted[0].intervals if counted else None
    images = len(counted[0].result.counts) if counted else 0
    few = f"Only {many(images, 'image')}: with fewer than {FEW_IMAGES}, intervals and p-values are unreliable"
    warnings = [f"{few}."] if drawn is not None and 0 < images < FEW_IMAGES else []
    warnings += [
        f"{method.name}, not ranked: {metric.name} {_written(method, metric)}."
        for method in methods
        if not method.result.competes and not math.isnan(method.result.summary.get(metric.key, math.nan))
    ]
    named = [replace(method.result, method=method.name) for method in counted]
    warnings += [] if len(named) < 2 else map(_sentence, differing_repairs(named))
    if len(counted) > _MOST_COMPARED:
        warnings.append(
            f"Only the best {_MOST_COMPARED} of {len(counted)} methods are compared here; segbench compare takes all."
        )
        counted = counted[:_MOST_COMPARED]
    if drawn is None or len(counted) < 2:
        return Answer(said, (*_of_one(leading[0], metric), *warnings), forest)
    try:
        comparison = compare_results(
            named[: len(counted)],
            level=drawn.level,
            replicates=drawn.replicates,
            seed=drawn.seed,
            drawn={method.name: method.intervals for method in counted if method.intervals and method.intervals.draws},
        )
    except ArgumentError as error:
        return Answer(said, (f"Not compared: {error}.", *warnings), forest)
    names = tuple(method.name for method in counted)
    details = (*_certainty(comparison, metric, names), *warnings)
    matrix = _matrix(comparison, metric, names) if len(names) > 2 else ()
    return Answer(said, details, forest, names, matrix, comparison.level, comparison.signature)


def _written(method: Method, metric: Metric) -> str:
    summary = method.result.summary
    return number(summary[metric.key], summary.bounds.get(metric.key))


def _who_leads(methods: Sequence[Method], metric: Metric) -> str:
    """Say who leads, and by how much; what is printed equal is equal."""
    values = [round(method.result.summary[metric.key], DIGITS) for method in methods]
    level = [method.name for method, value in zip(methods, values, strict=True) if value == values[0]]
    first = f"{metric.name} {_written(methods[0], metric)}"
    if len(methods) == 1:
        return f"{methods[0].name}: {first}"
    if len(level) > 1:
        return f"{', '.join(level[:-1])} and {level[-1]} are tied: {first}"
    ahead = abs(methods[0].result.summary[metric.key] - methods[1].result.summary[metric.key])
    return f"{methods[0].name} leads: {first}, {number(ahead)} ahead of {methods[1].name}"


def _of_one(method: Method, metric: Metric) -> tuple[str, ...]:
    """Give the interval of a method that is compared with none."""
    if method.intervals is None:
        return ()
    low, high = method.intervals.get(metric.key, (math.nan, math.nan))
    if math.isnan(low):
        return ()
    images = many(method.intervals.images, "image")
    return (f"{100 * method.intervals.level:g} % interval {number(low)} to {number(high)} over {images}.",)


def _certainty(comparison: Comparison, metric: Metric, names: Sequence[str]) -> list[str]:
    """Say how often the first method is first, and which methods it is significantly better than."""
    first, others = names[0], names[1:]
    share = comparison.rank_shares[metric.key][first][0]
    drawn = next(iter(comparison.intervals.values())).replicates
    said = [] if math.isnan(share) else [f"{first} is first in {_percent(share)} of {drawn} resamples of the images."]
    found = verdicts(comparison, metric.key)
    known = {other: found[first, other] for other in others if not math.isnan(found[first, other].p)}
    left_open = [other for other in others if other not in known]
    holm = " after Holm" if len(names) > 2 else ""
    better = [(other, one.p) for other, one in known.items() if one.found]
    not_better = [(other, one.p) for other, one in known.items() if not one.found]
    if better and not not_better and len(better) == len(others) > 1:
        worst = max(p for _, p in better)
        said.append(f"It is significantly better than every other method (p at most {number(worst)}{holm}).")
    elif better:
        said.append(f"It is significantly better than {_listed(better, holm, 'and')}.")
    if not_better:
        said.append(f"It is not significantly better than {_listed(not_better, holm, 'or')}.")
    if left_open:
        said.append(f"Not compared with {', '.join(left_open)}: bins of scores leave the order open.")
    return [*said, *map(_sentence, disagreements(comparison, compared(comparison), titles=True))]


def _sentence(note: str) -> str:
    return f"{note[0].upper()}{note[1:]}."


def _percent(share: float) -> str:
    return f"{100 * share:.1f}".removesuffix(".0") + " %"


def _listed(found: Sequence[tuple[str, float]], holm: str, last: str) -> str:
    """Name methods with their p-values; of many the first few."""
    parts = [f"{name} (p = {number(p)}{holm})" for name, p in found[:_MOST_NAMED]]
    parts += [f"{len(found) - _MOST_NAMED} more"] if len(found) > _MOST_NAMED else []
    return f" {last} ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def _matrix(comparison: Comparison, metric: Metric, names: Sequence[str]) -> tuple[tuple[Verdict | None, ...], ...]:
    """Give each method against each other: which of the two is significantly better."""
    found = verdicts(comparison, metric.key)
    return tuple(tuple(found.get((a, b)) for b in names) for a in names)


def _forest(methods: Sequence[Method], metric: Metric) -> Markup:
    """Draw the headline of each method with its interval, in the order of the table."""
    rows = []
    for k, method in enumerate(methods):
        value = float(method.result.summary.get(metric.key, math.nan))
        low, high = math.nan, math.nan
        if method.intervals is not None:
            low, high = method.intervals.get(metric.key, (low, high))
        if not math.isnan(value):
            rows.append((k, value, low, high))
    if not rows:
        return Markup("")
    x = fitting([end for _, *ends in rows for end in ends], 14.0, WIDTH - 14.0, metric.range)
    bottom = 8.0 + _ROW * len(rows)
    parts = [grid(x, 8.0, bottom, metric.name)]
    shown = [
        _written(methods[k], metric) + ("" if math.isnan(low) else f" [{number(low)}, {number(high)}]")
        for k, _, low, high in rows
    ]
    heights = [8.0 + _ROW * place for place in range(len(rows))]
    titles = row_titles(x, [top + 14.0 for top in heights], [methods[k].name for k, *_ in rows], shown)
    for title, top, (k, value, low, high) in zip(titles, heights, rows, strict=True):
        middle = top + 28.0
        layer = [
            title,
            element("circle", css="dot", cx=float(x.at(value)), cy=middle, r=5.0),
        ]
        if not math.isnan(low):
            layer.insert(0, line(float(x.at(low)), middle, float(x.at(high)), middle, css="whisker"))
        parts.append(element("g", *layer, css=f"method {methods[k].css}", data_method=k))
    named = f"{metric.name} of each method with its interval; the values are in the table of methods"
    return drawing(parts, bottom + 42.0, named)
