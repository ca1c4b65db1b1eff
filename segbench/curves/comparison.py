"""Paired comparison of methods on the same images: differences, intervals, p-values, wins and ranks.

Differences are drawn with the same images for both methods, so what makes an image hard for all cancels out. Where
several methods are compared, each figure's p-values are corrected by Holm for the number of pairs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.counts import ScoreCounts
from segbench.curves.intervals import IntervalMethod, Intervals, interval, method_for
from segbench.curves.permutation import holm, swap_test
from segbench.curves.replicates import leave_one_out, one_by_one
from segbench.curves.resampling import bootstrap, table_of
from segbench.curves.tables import Table
from segbench.errors import ArgumentError

FloatArray = NDArray[np.float64]

LOWER_IS_BETTER = frozenset({"fpr_at_95_tpr", "voi_ods", "voi_ois"})

_TIED = 1e-12
_LISTED = 5


@dataclass(frozen=True)
class Difference:
    """One figure of one pair of methods, a minus b.

    Parameters
    ----------
    figure, a, b : str
        Names.
    estimate_a, estimate_b, difference : float
        nan where a figure is undefined.
    low, high : float
        Bootstrap interval of the difference over images.
    p_value, p_holm : float
        Two-sided, by swapping images; and corrected for the number of pairs.
    wins, ties, losses : int
        Images whose own figure is better for a, the same, or better for b; an image on which it is undefined is none.
    """

    figure: str
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


@dataclass(frozen=True, eq=False)
class Comparison:
    """Methods compared on the same images.

    Parameters
    ----------
    differences : tuple of Difference
        Pair by pair in the order given, figure by figure.
    intervals : mapping of str to Intervals
        Each method's own, drawn with the same images.
    rank_shares : mapping of str to mapping of str to tuple of float
        By figure and method: the share of replicates in which the method is first, second, ... (equals share the
        better rank).
    images, permutations : int
        Images, and ways of swapping them that were measured.
    exact : bool
        Whether these are all ways there are.
    notes : tuple of str
        What to say beside the table.
    """

    differences: tuple[Difference, ...]
    intervals: Mapping[str, Intervals]
    rank_shares: Mapping[str, Mapping[str, tuple[float, ...]]]
    images: int
    permutations: int
    exact: bool
    notes: tuple[str, ...] = field(default=())


def compare(
    methods: Mapping[str, Mapping[str, Any]],
    *,
    method: IntervalMethod = "percentile",
    level: float = 0.95,
    replicates: int = 2000,
    permutations: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """Compare methods, each pair of them, by every figure but thresholds.

    Parameters
    ----------
    methods : mapping of str to mapping of str to counts
        By the method's name: counts by the image's name. All methods over the same images and ground truth.
    method, level, replicates, seed
        Of the intervals, see `bootstrap`.
    permutations : int
        Ways of swapping images that are measured, at least 1; all ways where there are no more.

    Returns
    -------
    Comparison
        One `Difference` a pair and figure.

    Raises
    ------
    ArgumentError
        For fewer than two methods, or different images or ground truth: it says what differs.

    Examples
    --------
    >>> def images(hits):
    ...     return {str(k): ScoreCounts([2, 1], [hits, 10 - hits], [k % 4, 20 - k % 4]) for k in range(12)}
    >>> result = compare({"good": images(8), "poor": images(6)}, replicates=200)
    >>> row = next(row for row in result.differences if row.figure == "ods_f")
    >>> row.wins, row.losses, row.p_value < 0.01, result.rank_shares["ods_f"]["good"]
    (12, 0, True, (1.0, 0.0))
    """
    if len(methods) < 2:
        raise ArgumentError(f"{len(methods)} method; comparing takes at least two")
    if permutations < 1:
        raise ArgumentError(f"permutations is {permutations}; expected at least 1")
    _refuse_different(methods)
    intervals = {
        name: bootstrap(per_image, method=method, level=level, replicates=replicates, seed=seed)
        for name, per_image in methods.items()
    }
    tables = {name: table_of(per_image) for name, per_image in methods.items()}
    left_out = {name: leave_one_out(table) for name, table in tables.items()}
    alone = {name: one_by_one(table) for name, table in tables.items()}
    figures = next(iter(tables.values())).figures
    compared = [(k, figure) for k, figure in enumerate(figures) if not figure.endswith("threshold")]
    pairs = list(itertools.combinations(methods, 2))
    tests = [swap_test(_stacked(methods[a], methods[b]), permutations=permutations, seed=seed) for a, b in pairs]
    corrected = [holm([float(test.p_values[k]) for test in tests]) for k in range(len(figures))]
    rows: list[Difference] = []
    for i, (a, b) in enumerate(pairs):
        for k, figure in compared:
            estimates = intervals[a].estimates[figure], intervals[b].estimates[figure]
            drawn = intervals[a].draws[figure] - intervals[b].draws[figure]
            out = left_out[a][:, k] - left_out[b][:, k]
            low, high = _interval(drawn, estimates[0] - estimates[1], out, method_for(figure, method), level)
            wins, ties, losses = _tally(alone[a][:, k] - alone[b][:, k], lower=figure in LOWER_IS_BETTER)
            p_value = float(tests[i].p_values[k])
            rows.append(
                Difference(
                    figure,
                    a,
                    b,
                    *estimates,
                    estimates[0] - estimates[1],
                    low,
                    high,
                    p_value,
                    corrected[k][i],
                    wins,
                    ties,
                    losses,
                )
            )
    first = next(iter(intervals.values()))
    return Comparison(
        tuple(rows),
        intervals,
        {figure: _rank_shares(figure, intervals) for _, figure in compared},
        first.images,
        tests[0].permutations,
        tests[0].exact,
        first.notes,
    )


def _stacked(a: Mapping[str, Any], b: Mapping[str, Any]) -> Table:
    return table_of({f"{k}/{name}": counts for k, images in enumerate((a, b)) for name, counts in images.items()})


def _interval(
    drawn: FloatArray, difference: float, left_out: FloatArray, method: IntervalMethod, level: float
) -> tuple[float, float]:
    if math.isnan(difference) or left_out.size < 2:
        return math.nan, math.nan
    return interval(drawn[~np.isnan(drawn)], difference, left_out, method=method, level=level)


def _tally(differences: FloatArray, *, lower: bool) -> tuple[int, int, int]:
    better = -differences if lower else differences
    return int(np.sum(better > _TIED)), int(np.sum(np.abs(better) <= _TIED)), int(np.sum(better < -_TIED))


def _rank_shares(figure: str, intervals: Mapping[str, Intervals]) -> dict[str, tuple[float, ...]]:
    draws = np.array([drawn.draws[figure] for drawn in intervals.values()])
    draws = draws[:, ~np.isnan(draws).any(axis=0)]
    if figure in LOWER_IS_BETTER:
        draws = -draws
    ranks = np.sum(draws[np.newaxis] > draws[:, np.newaxis] + _TIED, axis=1)
    count = max(ranks.shape[1], 1)
    return {
        name: tuple(float(np.sum(row == rank)) / count for rank in range(len(intervals)))
        for name, row in zip(intervals, ranks, strict=True)
    }


def _refuse_different(methods: Mapping[str, Mapping[str, Any]]) -> None:
    (first, reference), *others = methods.items()
    problems: list[str] = []
    for name, per_image in others:
        for present, absent, images in (
            (first, name, sorted(set(reference) - set(per_image))),
            (name, first, sorted(set(per_image) - set(reference))),
        ):
            if images:
                more = f" and {len(images) - _LISTED} more" if len(images) > _LISTED else ""
                problems.append(f"{present} has {', '.join(images[:_LISTED])}{more}, {absent} has not")
        for image in sorted(set(reference) & set(per_image)):
            totals = [_totals(images[image]) for images in (reference, per_image)]
            if totals[0] != totals[1]:
                problems.append(f"{image} has {totals[0]} in {first}, {totals[1]} in {name}")
                break
    if problems:
        raise ArgumentError(
            f"methods are compared on the same images and ground truth, but {'; '.join(problems)}; "
            "count all methods on the same set"
        )


def _totals(counts: object) -> str:
    if isinstance(counts, ScoreCounts):
        return f"{counts.total_positives} positives and {counts.total_negatives} negatives"
    return type(counts).__name__
