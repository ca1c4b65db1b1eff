"""Paired comparison of methods on the same images: differences, intervals, p-values, wins and ranks.

Differences are drawn with the same images for both methods, so what makes an image hard for all cancels out. Where
several methods are compared, each figure's p-values are corrected by Holm for the number of pairs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.arguments import as_whole
from segbench.curves.intervals import IntervalMethod, Intervals, interval, method_for
from segbench.curves.permutation import SwapTest, holm, swap_test
from segbench.curves.replicates import MOST_REPLICATES, as_draws, as_level, leave_one_out, one_by_one
from segbench.curves.resampling import bootstrap, table_of
from segbench.curves.same_images import refuse_different
from segbench.curves.tables import Table
from segbench.display import Displayed
from segbench.errors import ArgumentError

FloatArray = NDArray[np.float64]

LOWER_IS_BETTER = frozenset(
    {
        "fpr_at_95_tpr",
        "macro_fpr_at_95_tpr",
        "micro_fpr_at_95_tpr",
        "voi_ods",
        "voi_ois",
        "voi_split",
        "voi_merge",
        "are_ods",
        "are_ois",
    }
)

_TIED = 1e-12
_SIGNIFICANT = 0.05


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
class Comparison(Displayed):
    """Methods compared on the same images.

    Parameters
    ----------
    differences : tuple of Difference
        Pair by pair in the order given, figure by figure.
    intervals : mapping of str to Intervals
        Each method's own, drawn with the same images.
    rank_shares : mapping of str to mapping of str to tuple of float
        By figure and method: the share of replicates in which the method is first, second, ... (equals share the
        better rank); nan where no replicate defines the figure for all methods.
    images, permutations : int
        Images, and ways of swapping them that were measured.
    exact : bool
        Whether these are all ways there are.
    notes : tuple of str
        What to say beside the table.
    undefined : mapping of str to str
        By figure, why it is not compared: it is not defined for some method, named with the reason.
    """

    differences: tuple[Difference, ...]
    intervals: Mapping[str, Intervals]
    rank_shares: Mapping[str, Mapping[str, tuple[float, ...]]]
    images: int
    permutations: int
    exact: bool
    notes: tuple[str, ...] = ()
    undefined: Mapping[str, str] = field(default_factory=dict)


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
        Ways of swapping images that are measured, from 1 to 10 million; all ways where there are no more.

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
    >>> from segbench.counts import ScoreCounts
    >>> def images(hits):
    ...     return {str(k): ScoreCounts([2, 1], [hits, 10 - hits], [k % 4, 20 - k % 4]) for k in range(12)}
    >>> result = compare({"good": images(8), "poor": images(6)}, replicates=200)
    >>> row = next(row for row in result.differences if row.figure == "ods_f")
    >>> row.wins, row.losses, row.p_value < 0.01, result.rank_shares["ods_f"]["good"]
    (12, 0, True, (1.0, 0.0))
    """
    if len(methods) < 2:
        raise ArgumentError(f"{len(methods)} method; comparing takes at least two")
    permutations = as_whole(permutations, "permutations", least=1, most=MOST_REPLICATES)
    level, (replicates, seed) = as_level(level), as_draws(replicates, seed)
    refuse_different(methods)
    measured = {
        name: _measure(table_of(per_image), method=method, level=level, replicates=replicates, seed=seed)
        for name, per_image in methods.items()
    }
    intervals = {name: one.intervals for name, one in measured.items()}
    figures = tuple(next(iter(intervals.values())))
    pairs = list(itertools.combinations(methods, 2))
    tests = [swap_test(_stacked(methods[a], methods[b]), permutations=permutations, seed=seed) for a, b in pairs]
    corrected = np.array([holm([float(test.p_values[k]) for test in tests]) for k in range(len(figures))])
    compared = [(k, figure) for k, figure in enumerate(figures) if not figure.endswith("threshold")]
    rows = [
        _difference((figure, k), (a, measured[a]), (b, measured[b]), (float(test.p_values[k]), float(corrected[k, i])))
        for i, ((a, b), test) in enumerate(zip(pairs, tests, strict=True))
        for k, figure in compared
    ]
    first = next(iter(intervals.values()))
    return Comparison(
        tuple(rows),
        intervals,
        {figure: _rank_shares(figure, intervals) for _, figure in compared},
        first.images,
        tests[0].permutations,
        tests[0].exact,
        (*_notes(tests[0], first.images), *dict.fromkeys(note for one in intervals.values() for note in one.notes)),
        {figure: reason for _, figure in compared if (reason := _undefined(figure, intervals))},
    )


def _notes(test: SwapTest, images: int) -> Iterator[str]:
    least = 2 / test.permutations
    if test.exact and least > _SIGNIFICANT:
        yield f"{images} image{'s'[: images > 1]}: no p-value can be below {min(least, 1):g}"


def _undefined(figure: str, intervals: Mapping[str, Intervals]) -> str:
    missing: dict[str, list[str]] = {}
    for name, one in intervals.items():
        if math.isnan(one.estimates[figure]):
            missing.setdefault(one.undefined[figure], []).append(name)
    return "; ".join(f"{reason} for {', '.join(names)}" for reason, names in missing.items())


@dataclass(frozen=True, eq=False)
class _Measured:
    """One method: its intervals, and its figures without each image (for BCa) and of each image by itself."""

    intervals: Intervals
    left_out: FloatArray
    alone: FloatArray


def _measure(table: Table, *, method: IntervalMethod, level: float, replicates: int, seed: int) -> _Measured:
    intervals = bootstrap(table, method=method, level=level, replicates=replicates, seed=seed)
    needed = method == "bca" and table.images > 1
    left_out = leave_one_out(table) if needed else np.empty((0, len(table.figures)))
    return _Measured(intervals, left_out, one_by_one(table))


def _difference(
    figure: tuple[str, int], a: tuple[str, _Measured], b: tuple[str, _Measured], p_values: tuple[float, float]
) -> Difference:
    (name, k), (name_a, one), (name_b, other) = figure, a, b
    estimates = one.intervals.estimates[name], other.intervals.estimates[name]
    difference = estimates[0] - estimates[1]
    low = high = math.nan
    if one.intervals.images > 1 and not math.isnan(difference):
        drawn = one.intervals.draws[name] - other.intervals.draws[name]
        out = one.left_out[:, k] - other.left_out[:, k]
        chosen, level = method_for(name, one.intervals.method), one.intervals.level
        low, high = interval(drawn[~np.isnan(drawn)], difference, out, method=chosen, level=level)
    wins, ties, losses = _tally(one.alone[:, k] - other.alone[:, k], lower=name in LOWER_IS_BETTER)
    return Difference(name, name_a, name_b, *estimates, difference, low, high, *p_values, wins, ties, losses)


def _stacked(a: Mapping[str, Any], b: Mapping[str, Any]) -> Table:
    return table_of({f"{k}/{name}": counts for k, images in enumerate((a, b)) for name, counts in images.items()})


def _tally(differences: FloatArray, *, lower: bool) -> tuple[int, int, int]:
    better = -differences if lower else differences
    return int(np.sum(better > _TIED)), int(np.sum(np.abs(better) <= _TIED)), int(np.sum(better < -_TIED))


def _rank_shares(figure: str, intervals: Mapping[str, Intervals]) -> dict[str, tuple[float, ...]]:
    draws = np.array([drawn.draws[figure] for drawn in intervals.values()])
    draws = draws[:, ~np.isnan(draws).any(axis=0)]
    if figure in LOWER_IS_BETTER:
        draws = -draws
    ranks = np.sum(draws[np.newaxis] > draws[:, np.newaxis] + _TIED, axis=1)
    drawn = ranks.shape[1]
    return {
        name: tuple(float(np.mean(row == rank)) if drawn else math.nan for rank in range(len(intervals)))
        for name, row in zip(intervals, ranks, strict=True)
    }
