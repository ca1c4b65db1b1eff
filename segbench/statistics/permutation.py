"""Is a difference between two methods more than chance: tests by swapping images, and intervals that agree with them.

If the methods were equally good, it would not matter which of them made the prediction of an image. Swapping the two
predictions of some images, pooling again and measuring the difference shows what chance alone does. A pooled metric
also depends on the scale of scores, so methods that score on different scales differ by this test even where their
ranking of the pixels of each image is the same.

The interval of a difference holds every value that the same test does not reject: it excludes 0 exactly where the
p-value is at most 1 - level. To test another value than 0, it is taken off the difference in every image, in proportion
to the share that the image has in the metric (`Table.shares`).

References
----------
Good, "Permutation, parametric and bootstrap tests of hypotheses", 2005, chapter 3; Holm, "A simple sequentially
rejective multiple test procedure", 1979.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from segbench.core.integers import FloatArray
from segbench.core.table import CELLS_AT_ONCE, Table, multiplied, weighted_sums

_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class SwapTest:
    """Differences between two methods under every way of swapping images that was measured.

    `found` holds the differences by metric, nan where undefined for one of the methods. By way and metric,
    `differences` holds those after swapping, and `kept` the share of the metric in images that are not swapped minus
    the share of the others. `exact` says whether these are all ways there are.
    """

    found: FloatArray
    differences: FloatArray
    kept: FloatArray
    exact: bool

    @property
    def permutations(self) -> int:
        """Ways of swapping that were measured."""
        return len(self.differences)

    @property
    def _itself(self) -> int:
        """How often the arrangement found is to be added to the ways measured."""
        return 0 if self.exact else 1

    @property
    def p_values(self) -> FloatArray:
        """Two-sided p-values; nan where a difference is undefined.

        Exact p-values are at least 2 / 2**n of n images (all swapped differs as much as none), others at least
        1 / (permutations + 1): the arrangement found counts as one of the ways.
        """
        least = np.abs(self.found) - _ROUNDING
        reached = np.sum(np.abs(self.differences) >= least, axis=0)
        measured = np.sum(~np.isnan(self.differences), axis=0)
        p_values = np.full(self.found.size, np.nan)
        np.divide(reached + self._itself, measured + self._itself, out=p_values, where=~np.isnan(self.found))
        return p_values

    def interval(self, place: int, level: float) -> tuple[float, float]:
        """Give the interval of a metric's difference, every value that the test does not reject; nan if it has no end.

        A way of swapping speaks against a value unless it differs from it at least as much as what was found. For each
        way that is so between two values, on either side of the difference found; ends are order statistics of these.
        """
        found, differences, kept = self.found[place], self.differences[:, place], self.kept[:, place]
        known = ~np.isnan(differences)
        differences, kept = differences[known], kept[known]
        with np.errstate(divide="ignore", invalid="ignore"):
            one, other = (found - differences) / (1 - kept), (found + differences) / (1 + kept)
        always = np.abs(kept) > 1 - _ROUNDING  # none or all are swapped
        lows = np.where(always, -np.inf, np.minimum(one, other))
        highs = np.where(always, np.inf, np.maximum(one, other))
        needed = int((1 - level) * (lows.size + self._itself) + _ROUNDING) + 1 - self._itself
        if math.isnan(found) or not 0 < needed <= lows.size:
            return math.nan, math.nan
        low = np.partition(lows, needed - 1)[needed - 1]
        high = np.partition(highs, lows.size - needed)[lows.size - needed]
        if not (np.isfinite(low) and np.isfinite(high)):
            return math.nan, math.nan
        low, high = (0.0 if abs(end) <= _ROUNDING else float(end) for end in (low, high))
        return low, high


def swap_test(both: Table, *, permutations: int, seed: int, estimates: FloatArray | None = None) -> SwapTest:
    """Test the differences of two methods by swapping images between them.

    A table may measure resamples at a choice of thresholds. With `estimates`, the differences of the methods at all
    thresholds, what that takes from the difference found it takes from the others in proportion to what is not swapped.
    """
    images = both.images // 2
    exact = 2**images <= permutations
    swapping = _Swapping(both)
    found = swapping.differences(np.zeros((1, images)))[0]
    off = np.zeros(found.size) if estimates is None else estimates - found
    off[~(np.abs(off) > _ROUNDING)] = 0
    shares = both.shares[:images] + both.shares[images:]
    shares = shares / np.maximum(shares.sum(axis=0), np.finfo(float).tiny)  # all are 0 where a metric is undefined
    differences, kept = [], []
    for swapped in _ways(images, permutations, seed, exact=exact):
        kept.append(1 - 2 * multiplied(swapped, shares))
        differences.append(swapping.differences(swapped) + kept[-1] * off)
    return SwapTest(found + off, np.concatenate(differences), np.concatenate(kept), exact)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's correction of p-values for being several; nan are left out of the number."""
    values = np.asarray(p_values, dtype=np.float64)
    corrected = np.full(values.size, np.nan)
    order = np.argsort(values)[: int(np.sum(~np.isnan(values)))]
    times = np.arange(order.size, 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(values[order] * times), 1.0)
    return [float(value) for value in corrected]


class _Swapping:
    """Two methods, one after the other in a table, of which images are swapped."""

    def __init__(self, both: Table) -> None:
        images = both.images // 2
        one, other = both.rows[:images], both.rows[images:]
        self._score, self._change = both.score, other - one
        self._kept, self._total = (np.asarray(rows.sum(axis=0)).ravel() for rows in (one, both.rows))

    def differences(self, swapped: FloatArray) -> FloatArray:
        """Measure the difference between the methods for each way of swapping images, shape (ways, metrics)."""
        parts = []
        for changed in weighted_sums(swapped, self._change):
            np.add(changed, self._kept, out=changed)
            parts.append(self._score(changed) - self._score(self._total - changed))
        return np.concatenate(parts)


def _ways(images: int, permutations: int, seed: int, *, exact: bool) -> Iterator[FloatArray]:
    """Give rows of 0 and 1, 1 where an image's predictions are swapped, some rows at a time."""
    random = np.random.default_rng(seed)
    total = 2**images if exact else permutations
    step = max(CELLS_AT_ONCE // max(images, 1), 1)
    for start in range(0, total, step):
        rows = min(step, total - start)
        if exact:
            numbers = np.arange(start, start + rows)[:, np.newaxis]
            yield ((numbers >> np.arange(images)) & 1).astype(np.float64)
        else:
            yield random.integers(0, 2, size=(rows, images)).astype(np.float64)
