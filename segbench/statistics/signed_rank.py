"""The signed-rank test: to which side the differences of pairs lie.

It takes one difference per image (per unit, if images belong to units). It says whether the mean of two differences
drawn at random is above 0 more often than below; neither that the mean differs from 0, nor that more differences are
above it.

Conventions
-----------
1. Differences that are nan are left out. Those within 1e-10 of 0 are 0, and sizes within 1e-10 of each other are tied.
2. Sizes are ranked together with the zeros, ties by midranks; then the ranks of zeros are dropped (Pratt).
3. p is two-sided and conditional on these ranks. Where at most 50 differences are not 0 it is exact, with ties and
   zeros, too: the choices of signs are counted by a convolution. Otherwise it comes from the normal approximation with
   the variance of these ranks, without continuity correction.
4. The Hodges-Lehmann estimate is the median of the Walsh averages: of the means of each two differences and of each
   with itself, zeros included.
5. The interval goes from one Walsh average to another. Which two follows from the distribution without ties: exact up
   to 50 differences, zeros included, and normal beyond. Without ties and zeros it excludes 0 where p is at most
   1 - level. With them it may differ from p, and p decides.

Differences from other code
---------------------------
1. ``scipy.stats.wilcoxon`` with ``zero_method="pratt"`` has the normal approximation for more than 13 differences if
   any are tied or 0: four equal differences beside ten zeros have p .125 here, .046 there. Without ties and zeros, up
   to 13 differences, and for more than 50 that are not 0 (``method="asymptotic"``), p is the same.
2. ``wilcox.test`` of R drops zeros before it ranks. Up to 49 differences without ties, its interval is the same.

References
----------
Wilcoxon: Individual comparisons by ranking methods. Biometrics Bulletin 1945. Pratt: Remarks on zeros and ties in the
Wilcoxon signed rank procedures. JASA 1959. Hodges and Lehmann: Estimates of location based on rank tests. Annals of
Mathematical Statistics 1963. Hollander, Wolfe and Chicken: Nonparametric statistical methods, 2014, chapter 3.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from segbench.core.arrays import FloatArray, IntArray

TIED = 1e-10
"""Values within this of each other are equal."""
EXACT_UP_TO = 50
"""Differences of which the distribution is exact."""
_ROUNDING = 1e-12


def signed_rank_p(differences: FloatArray) -> float:
    """Compute the two-sided p-value of some differences; nan of none.

    Examples
    --------
    >>> signed_rank_p(np.array([0.3, 0.1, 0.4, -0.2, 0.5, 0.6]))
    0.09375
    >>> signed_rank_p(np.array([0.1, 0.1, 0.1, 0.1] + [0.0] * 10))
    0.125
    """
    ranks = _signed_ranks(differences)
    sizes = np.abs(ranks[np.flatnonzero(ranks)])
    if not sizes.size:
        return 1.0 if ranks.size else math.nan
    total = int(sizes.sum())
    smaller = (total - abs(int(ranks.sum()))) // 2
    if sizes.size <= EXACT_UP_TO:
        from segbench.statistics.rank_kernels import choices_of_signs

        return min(2 * float(choices_of_signs(sizes, smaller)) / 2.0**sizes.size, 1.0)
    from scipy.special import ndtr

    below_mean = smaller - total / 2
    return 2 * float(ndtr(below_mean / math.sqrt(np.square(sizes, dtype=np.float64).sum() / 4)))


def hodges_lehmann(differences: FloatArray) -> float:
    """Compute the Hodges-Lehmann estimate of some differences; nan of none.

    Examples
    --------
    >>> hodges_lehmann(np.array([1.0, 2.0, 6.0]))
    2.75
    """
    rising = _rising(differences)
    if not rising.size:
        return math.nan
    from segbench.statistics.rank_kernels import walsh_average

    averages = rising.size * (rising.size + 1) // 2
    low, high = (float(walsh_average(rising, rank)) for rank in ((averages + 1) // 2, averages // 2 + 1))
    return (low + high) / 2


def walsh_interval(differences: FloatArray, level: float) -> tuple[float, float]:
    """Compute the interval that goes with the Hodges-Lehmann estimate; nan of too few differences.

    Examples
    --------
    >>> walsh_interval(np.array([0.3, 0.1, 0.4, -0.2, 0.5, 0.6]), 0.95)
    (-0.2, 0.6)
    >>> walsh_interval(np.array([0.3, 0.1, 0.4, 0.2, 0.5]), 0.95)
    (nan, nan)
    """
    rising = _rising(differences)
    rank = _rank_of_end(rising.size, level)
    if not rank:
        return math.nan, math.nan
    from segbench.statistics.rank_kernels import walsh_average

    averages = rising.size * (rising.size + 1) // 2
    return float(walsh_average(rising, rank)), float(walsh_average(rising, averages + 1 - rank))


def side_of_ranks(differences: FloatArray) -> int:
    """Return 1 where the ranks of positive differences add up to more than those of negative ones, -1 or 0 else."""
    return int(np.sign(_signed_ranks(differences).sum()))


def fewest_differences(level: float, tests: int = 1) -> int:
    """Return how many differences must not be 0 so that one of several tests, corrected by Holm, can be significant."""
    return max(math.ceil(math.log2(2 * tests / (1 - level)) - _ROUNDING), 1)


def _known(differences: FloatArray) -> FloatArray:
    """Leave out nan, and write 0 for what is close to it."""
    from segbench.statistics.rank_kernels import known_differences

    return known_differences(differences, TIED)


def _signed_ranks(differences: FloatArray) -> IntArray:
    """Return twice the midrank of each difference with its sign, 0 for zeros."""
    from segbench.statistics.rank_kernels import signed_ranks

    return signed_ranks(_known(differences), TIED)


def _rising(differences: FloatArray) -> FloatArray:
    """Return the differences in rising order."""
    return np.sort(_known(differences))


@lru_cache(maxsize=1024)
def _rank_of_end(differences: int, level: float) -> int:
    """Return at which of the Walsh averages, from 1, the interval begins; 0 of too few differences."""
    if differences > EXACT_UP_TO:
        from scipy.special import ndtri

        mean = differences * (differences + 1) / 4
        deviation = math.sqrt(differences * (differences + 1) * (2 * differences + 1) / 24)
        return max(math.floor(mean + float(ndtri((1 - level) / 2)) * deviation) + 1, 0)
    choices = np.zeros(differences * (differences + 1) // 2 + 1)
    choices[0] = 1
    for rank in range(1, differences + 1):
        choices[rank:] += choices[:-rank].copy()
    p_values = 2 * np.cumsum(choices) / 2.0**differences
    return int(np.count_nonzero(p_values <= 1 - level + _ROUNDING))
