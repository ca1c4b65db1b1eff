"""Paired comparison of methods on the same images: differences, intervals, p-values, wins and ranks.

Differences are those of the same images, so what makes an image hard for all cancels out. Intervals and p-values of
differences come from one test (`segbench.statistics.permutation`) and agree with each other. Where several methods are
compared, each metric's p-values are corrected by Holm for the number of pairs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from segbench.core.arguments import as_whole
from segbench.core.errors import ArgumentError
from segbench.core.grouping import grouped
from segbench.core.html import remarks_html, table_html
from segbench.core.integers import FloatArray
from segbench.core.interface import named
from segbench.core.metric import Metric
from segbench.core.names import first_names, latex_name
from segbench.core.numbers import DIGITS, many, number, point_first, signed
from segbench.core.protocol import Protocol
from segbench.core.summary import Summary, order_is_open
from segbench.core.table import Table
from segbench.core.text_table import Heading, TextTable, aligned
from segbench.statistics.bootstrap import bootstrap, protocol_measuring
from segbench.statistics.intervals import IntervalMethod, Intervals
from segbench.statistics.permutation import SwapTest, holm, swap_test
from segbench.statistics.replicates import MOST_REPLICATES, as_draws, as_level
from segbench.statistics.same_images import refuse_different

Interval = tuple[float, float]

_TIED = 1e-12
_MOST_DIGITS = 12
_SIGNIFICANT = 0.05
_NAMED_PAIRS = 4
_HOLM, _UNDECIDED = "p (Holm)", "undecided"
_HEADER = ("metric", "a", "b", "of a", "of b", "a - b", "p", _HOLM, "wins", "ties", "losses", _UNDECIDED)


@dataclass(frozen=True)
class Difference:
    """One metric of one pair of methods, a minus b.

    Parameters
    ----------
    metric, a, b : str
        Names.
    estimate_a, estimate_b, difference : float
        nan where a metric is undefined.
    low, high : float
        Interval of the difference over images: all values that the test behind the p-value does not reject, so that it
        excludes 0 exactly where the p-value is at most 1 - level. nan where there are too few images for the level.
    p_value, p_holm : float
        Two-sided, by swapping images; and corrected for the number of pairs.
    wins, ties, losses : int
        Images with a better value for a, the same, or a better one for b, each by the image's own counts. An image on
        which the metric is undefined is none of these.
    undecided : int
        Images on which bounds of binned scores overlap, so that they are none of these either.
    bounds_a, bounds_b : tuple of float, optional
        Certain bounds of the estimates where scores were counted in bins; None where an estimate is exact.
    """

    metric: str
    a: str
    b: str
    estimate_a: float
    estimate_b: float
    difference: float
    low: float
    high: float
    p_value: float
    p_holm: float
    wins: int
    ties: int
    losses: int
    undecided: int = 0
    bounds_a: Interval | None = None
    bounds_b: Interval | None = None

    @property
    def bounds(self) -> Interval | None:
        """Certain bounds of the difference; None where it is exact."""
        if self.bounds_a is None and self.bounds_b is None:
            return None
        low_a, high_a = self.bounds_a or (self.estimate_a, self.estimate_a)
        low_b, high_b = self.bounds_b or (self.estimate_b, self.estimate_b)
        return low_a - high_b, high_a - low_b


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Methods compared on the same images.

    Parameters
    ----------
    differences : tuple of Difference
        Pair by pair in the order given, metric by metric.
    intervals : mapping of str to Intervals
        Each method's own, drawn with the same images.
    rank_shares : mapping of str to mapping of str to tuple of float
        By metric and method: the share of replicates in which the method is first, second, ... (equals share the
        better rank); nan where no replicate defines the metric for all methods, or bins leave the order open.
    images, permutations : int
        Images, and ways of swapping them that were measured.
    exact : bool
        Whether these are all ways there are.
    notes : tuple of str
        What to say beside the table.
    undefined : mapping of str to str
        By metric, why it is not compared: it is undefined for some method, named with the reason.
    metrics : tuple of Metric
        What is compared, in the order of the rows of a pair.
    """

    differences: tuple[Difference, ...]
    intervals: Mapping[str, Intervals]
    rank_shares: Mapping[str, Mapping[str, tuple[float, ...]]]
    images: int
    permutations: int
    exact: bool
    notes: tuple[str, ...] = ()
    undefined: Mapping[str, str] = field(default_factory=dict)
    metrics: tuple[Metric, ...] = ()

    @property
    def level(self) -> float:
        """Confidence level of the intervals."""
        return next(iter(self.intervals.values())).level

    @property
    def signature(self) -> str:
        """How differences were tested and ranks drawn: level and ways of swapping, replicates, and the seed of both."""
        drawn = next(iter(self.intervals.values()))
        return f"swaps:{100 * self.level:g}-{self.permutations}|ranks:{drawn.replicates}|seed:{drawn.seed}"

    def __str__(self) -> str:
        """Print the metrics that tables show, pair by pair, and the notes."""
        table = comparison_table(self, metrics=compared(self))
        sides = "<" * table.names + ">" * (len(table.header) - table.names)
        return "\n".join([aligned([table.header, *table.rows], sides), *self._notes_on(table)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Give the table that notebooks show."""
        table = comparison_table(self, metrics=compared(self))
        return table_html(table) + remarks_html(*self._notes_on(table))

    def _notes_on(self, table: TextTable) -> list[str]:
        others = [metric.key for metric in self.metrics if metric.key not in compared(self)]
        left_out = [f"left out: {', '.join(others)}; `differences` holds all"] if others else []
        return [*table.notes, *disagreements(self, compared(self)), *self.notes, *left_out]


def compared(comparison: Comparison) -> list[str]:
    """Give the keys of the metrics that tables show; JSON and CSV hold all."""
    return [metric.key for metric in comparison.metrics if metric.compared] or list(comparison.rank_shares)


def comparison_table(comparison: Comparison, *, metrics: Sequence[str], digits: int = DIGITS) -> TextTable:
    """Give one row per metric and pair, of these metrics in their order.

    Metrics that no pair has are left out, unless there is no other; notes say which metrics are undefined, and why.
    """
    defined = {row.metric for row in comparison.differences if not math.isnan(row.difference)}
    kept = [key for key in metrics if key in defined] or metrics
    rows = sorted((row for row in comparison.differences if row.metric in kept), key=lambda row: kept.index(row.metric))
    notes = []
    for reason in dict.fromkeys(comparison.undefined.values()):
        without = [key for key in metrics if comparison.undefined.get(key) == reason]
        notes += [f"undefined ({reason}): {', '.join(without)}"] if without else []
    # Of a single pair, the correction changes nothing.
    left_out = {_HOLM: len(comparison.intervals) < 3, _UNDECIDED: not any(row.undecided for row in rows)}
    shown = [not left_out.get(title) for title in _HEADER]
    lines = [_HEADER, *(_short_row(row, digits) for row in rows)]
    header, *cells = (list(itertools.compress(line, shown)) for line in lines)
    titles = {metric.key: metric.latex(metric.name) for metric in comparison.metrics}
    return TextTable(header, cells, names=3, notes=tuple(notes), latex_names=titles)


def rank_table(comparison: Comparison, key: str) -> TextTable:
    """Give one row per method, with the share of resamples in which it is first, second, ... by a metric."""
    shares = sorted(comparison.rank_shares[key].items(), key=lambda item: [-share for share in item[1]])
    rows = [[name, *("-" if math.isnan(share) else f"{share:.1%}" for share in ranks)] for name, ranks in shares]
    drawn = next(iter(comparison.intervals.values())).replicates
    note = f"rank by {key} in {drawn} resamples of the images; tied methods share the better rank"
    return _by_method(comparison, key, [f"rank {k + 1}" for k in range(len(shares))], rows, note)


def significance_table(comparison: Comparison, key: str) -> TextTable:
    """Give Holm's p-value of each method, in rows, against each other, in columns, and which of them is better."""
    methods = list(comparison.intervals)
    least = 1 - comparison.level
    cells = {pair: f"{one.found} {number(one.p)}".lstrip() for pair, one in verdicts(comparison, key).items()}
    rows = [[name, *(cells.get((name, other), "") for other in methods)] for name in methods]
    note = f"p (Holm) by {key}, row against column; better, worse: of the row, where p is at most {least:.2g}"
    return _by_method(comparison, key, methods, rows, note)


def _by_method(comparison: Comparison, key: str, titles: Sequence[str], rows: list[list[str]], note: str) -> TextTable:
    """Give a table of methods by one metric, which is above them."""
    (metric,) = (metric for metric in comparison.metrics if metric.key == key)
    latex = [Heading("", "", title) for title in (metric.latex(metric.name), *map(latex_name, titles))]
    return TextTable([key, *titles], rows, notes=(note,), latex=latex)


class Verdict(NamedTuple):
    """One method against another: p after Holm's correction, and which it is, if that is significant."""

    p: float
    found: Literal["better", "worse", ""]


def verdicts(comparison: Comparison, key: str) -> dict[tuple[str, str], Verdict]:
    """Give by a metric how each method does against each other, both ways round."""
    sign = next(metric.direction for metric in comparison.metrics if metric.key == key)
    found: dict[tuple[str, str], Verdict] = {}
    for row in comparison.differences:
        if row.metric == key:
            known, better = row.p_holm <= 1 - comparison.level + _TIED, sign * row.difference > 0  # undefined: neither
            found[row.a, row.b] = Verdict(row.p_holm, ("better" if better else "worse") if known else "")
            found[row.b, row.a] = Verdict(row.p_holm, ("worse" if better else "better") if known else "")
    return found


def disagreements(comparison: Comparison, metrics: Sequence[str], *, titles: bool = False) -> list[str]:
    """Give one line on pairs in which each method is significantly better by some metric; nothing without such pairs.

    Metrics are those given and the one that ranks methods, called by their keys or by their titles.
    """
    chosen = [metric for metric in comparison.metrics if metric.headline or metric.key in metrics]
    by_metric = {metric.name if titles else metric.key: verdicts(comparison, metric.key) for metric in chosen}
    found = []
    for a, b in itertools.combinations(comparison.intervals, 2):
        better, worse = (
            [name for name, known in by_metric.items() if known[a, b].found == verdict]
            for verdict in ("better", "worse")
        )
        if better and worse:
            found.append(f"{a} is better than {b} by {', '.join(better)} but worse by {', '.join(worse)}")
    return [f"metrics disagree, each significantly: {first_names(found, _NAMED_PAIRS, '; ')}"] if found else []


def _with_interval(row: Difference, digits: int) -> str:
    """Write a difference and its interval with the same number of decimal places."""
    size = abs(row.difference)
    if 0 < size < 0.5 * 10**-digits:  # what would be written as zero gets the places it takes
        digits = min(1 - math.floor(math.log10(size)), _MOST_DIGITS)
    ends = "" if math.isnan(row.low) else f" [{_placed(row.low, digits)}, {_placed(row.high, digits)}]"
    found = signed(row.difference, row.bounds, digits=digits) if row.bounds else _placed(row.difference, digits)
    return f"{found}{ends}"


def _placed(value: float, digits: int) -> str:
    """Write a signed number with this many decimal places, whatever its size."""
    if math.isnan(value):
        return "-"
    return ("+" if value > 0 else "") + point_first(f"{value:.{digits}f}")


def _short_row(row: Difference, digits: int) -> list[str]:
    """Write a row under `_HEADER`."""
    return [
        row.metric,
        row.a,
        row.b,
        number(row.estimate_a, row.bounds_a, digits=digits),
        number(row.estimate_b, row.bounds_b, digits=digits),
        _with_interval(row, digits),
        number(row.p_value),
        number(row.p_holm),
        str(row.wins),
        str(row.ties),
        str(row.losses),
        str(row.undecided),
    ]


def compare(
    methods: Mapping[str, Mapping[str, Any]],
    *,
    protocol: Protocol | None = None,
    method: IntervalMethod = "percentile",
    level: float = 0.95,
    replicates: int = 2000,
    permutations: int = 10_000,
    seed: int = 0,
    kept: Mapping[str, tuple[Summary, Any]] | None = None,
    same_truth: bool = False,
    drawn: Mapping[str, Intervals] | None = None,
) -> Comparison:
    """Compare methods by their counts, see `segbench.compare`, `Protocol.prepared` and `refuse_different`.

    `drawn` holds intervals of methods that were drawn with these settings already.
    """
    if len(methods) < 2:
        raise ArgumentError(f"{', '.join(methods) or 'no method'}: a comparison needs at least two methods")
    permutations = as_whole(permutations, named("permutations"), least=1, most=MOST_REPLICATES)
    level, (replicates, seed) = as_level(level), as_draws(replicates, seed)
    refuse_different(methods, same_truth=same_truth)
    protocol = protocol or protocol_measuring(*methods.values())
    sets = protocol.prepared(methods, kept or {})
    tables = {name: protocol.table(images) for name, images in sets.items()}
    given = drawn or {}
    for name, table in tables.items():
        if name in given:
            _require_of(table, name, given[name], (method, level, replicates, seed))
    measured = {
        name: _Measured(
            given.get(name) or bootstrap(one, method=method, level=level, replicates=replicates, seed=seed),
            one.bounds,
            *one.measure_images(),
        )
        for name, one in tables.items()
    }
    intervals = {name: one.intervals for name, one in measured.items()}
    metrics = next(iter(tables.values())).metrics
    compared = [(k, metric) for k, metric in enumerate(metrics) if metric.key and metric.kind == "score"]
    pairs = list(itertools.combinations(methods, 2))
    tests = [
        swap_test(
            protocol.table(sets[a], sets[b]),
            permutations=permutations,
            seed=seed,
            # Of scores in bins the binned values are tested.
            estimates=None if tables[a].bounds or tables[b].bounds else tables[a].estimates - tables[b].estimates,
        )
        for a, b in pairs
    ]
    # Values in bins say nothing of a difference that the bins leave open: it has no p-value, no interval and no ranks.
    left_open = {
        (a, b): [metric.key for _, metric in compared if _is_open(measured[a], measured[b], metric.key)]
        for a, b in pairs
    }
    p_values = np.array([test.p_values for test in tests])[:, [k for k, _ in compared]]
    for i, pair in enumerate(pairs):
        p_values[i, [metric.key in left_open[pair] for _, metric in compared]] = math.nan
    corrected = np.array([holm(column) for column in p_values.T.tolist()]).T
    rows = [
        _difference(
            metric,
            k,
            (a, measured[a]),
            (b, measured[b]),
            (float(p_values[i, n]), float(corrected[i, n])),
            ends=tests[i].interval(k, level),
        )
        for i, (a, b) in enumerate(pairs)
        for n, (k, metric) in enumerate(compared)
    ]
    first = next(iter(intervals.values()))
    return Comparison(
        tuple(rows),
        intervals,
        {
            metric.key: _rank_shares(
                metric, intervals, known=all(metric.key not in keys for keys in left_open.values())
            )
            for _, metric in compared
        },
        first.images,
        tests[0].permutations,
        tests[0].exact,
        (
            *_notes(tests[0], first.images, level),
            *_bin_notes(measured, left_open),
            *dict.fromkeys(f"ranks and resamples: {note}" for one in intervals.values() for note in one.notes),
        ),
        {metric.key: reason for _, metric in compared if (reason := _undefined(metric.key, intervals))},
        tuple(metric for _, metric in compared),
    )


def _require_of(table: Table, name: str, drawn: Intervals, settings: tuple[object, ...]) -> None:
    """Refuse intervals of other images, or drawn with other settings."""
    found = [drawn.estimates.get(metric.key, math.nan) for metric in table.metrics]
    wanted = np.where([bool(metric.key) for metric in table.metrics], table.estimates, math.nan)
    same = (drawn.method, drawn.level, drawn.replicates, drawn.seed) == settings and drawn.images == table.images
    if not (same and drawn.draws and np.array_equal(found, wanted, equal_nan=True)):
        raise ArgumentError(f"drawn[{name!r}] is {drawn.signature}, expected intervals of this method, drawn alike")


def _notes(test: SwapTest, images: int, level: float) -> Iterator[str]:
    least = 2 / test.permutations
    said = many(images, "image")
    if test.exact and least > _SIGNIFICANT:
        yield f"{said}: no p-value can be below {min(least, 1):g}"
    if test.exact and least > 1 - level:
        yield f"{said}: too few for {100 * level:g} % intervals of differences"


def _bin_notes(
    measured: Mapping[str, _Measured], left_open: Mapping[tuple[str, str], Collection[str]]
) -> Iterator[str]:
    binned = [name for name, one in measured.items() if one.bounds]
    if binned:
        yield (
            f"scores counted in bins: {', '.join(binned)}; ± gives certain bounds of the exact value, and intervals, "
            "p-values and rank shares are those of the binned values"
        )
    for (a, b), keys in left_open.items():
        if keys:
            yield (
                f"bins leave open which of {a} and {b} is higher, so there is no interval, p-value or rank: "
                f"{', '.join(keys)}; count without bins"
            )


def _is_open(one: _Measured, other: _Measured, key: str) -> bool:
    """Return whether the bounds of a metric leave open which of two methods has the higher value."""
    values = one.intervals.estimates[key], other.intervals.estimates[key]
    return order_is_open(values, (one.bounds.get(key), other.bounds.get(key)))


def _undefined(key: str, intervals: Mapping[str, Intervals]) -> str:
    lacking = {name: one for name, one in intervals.items() if math.isnan(one.estimates[key])}
    return by_reason((one.undefined[key], name) for name, one in lacking.items())


def by_reason(lacking: Iterable[tuple[str, str]]) -> str:
    """Say for which methods each reason holds."""
    return "; ".join(f"{reason} for {', '.join(names)}" for reason, names in grouped(lacking).items())


@dataclass(frozen=True, eq=False)
class _Measured:
    """One method: its intervals and bounds, and its values of each image by itself.

    Values of images have the shape (images, metrics); the lowest and the highest are equal where the image is exact.
    """

    intervals: Intervals
    bounds: Mapping[str, Interval]
    lowest: FloatArray
    highest: FloatArray


def _difference(
    metric: Metric,
    k: int,
    a: tuple[str, _Measured],
    b: tuple[str, _Measured],
    p_values: tuple[float, float],
    *,
    ends: Interval,
) -> Difference:
    """Compare two methods by a metric, which is number k of their tables."""
    name, (name_a, one), (name_b, other) = metric.key, a, b
    estimates = one.intervals.estimates[name], other.intervals.estimates[name]
    difference = estimates[0] - estimates[1]
    low, high = (math.nan, math.nan) if _is_open(one, other, name) else ends
    if metric.range is not None:
        widest = metric.range[1] - metric.range[0]
        low, high = max(low, -widest), min(high, widest)
    bounds = one.bounds.get(name), other.bounds.get(name)
    tally = _tally(one.lowest[:, k] - other.highest[:, k], one.highest[:, k] - other.lowest[:, k])
    wins, ties, losses, undecided = tally if metric.better != "lower" else (tally[2], tally[1], tally[0], tally[3])
    return Difference(
        name, name_a, name_b, *estimates, difference, low, high, *p_values, wins, ties, losses, undecided, *bounds
    )


def _tally(lowest: FloatArray, highest: FloatArray) -> tuple[int, int, int, int]:
    """Count images that are higher for a, equal, higher for b, or undecided, given the ends of each difference."""
    higher, lower = lowest > _TIED, highest < -_TIED
    equal = (lowest >= -_TIED) & (highest <= _TIED)
    undecided = ~(higher | lower | equal | np.isnan(lowest))
    return int(higher.sum()), int(equal.sum()), int(lower.sum()), int(undecided.sum())


def _rank_shares(metric: Metric, intervals: Mapping[str, Intervals], *, known: bool) -> dict[str, tuple[float, ...]]:
    if not known:
        return dict.fromkeys(intervals, (math.nan,) * len(intervals))
    draws = np.array([drawn.draws[metric.key] for drawn in intervals.values()])
    draws = draws[:, ~np.isnan(draws).any(axis=0)]
    draws = metric.direction * draws
    ranks = np.sum(draws[np.newaxis] > draws[:, np.newaxis] + _TIED, axis=1)
    drawn = ranks.shape[1]
    return {
        name: tuple(float(np.mean(row == rank)) if drawn else math.nan for rank in range(len(intervals)))
        for name, row in zip(intervals, ranks, strict=True)
    }
