"""Intervals of metrics over images: from replicates to two ends.

BCa corrects metrics that change smoothly with the images. Where a best threshold is chosen first, what is read at it
jumps, and BCa's corrections mislead: over 50 simulated images a nominal 95 % interval of ods_recall held the
population's in 82 % of cases, where plain quantiles did in 99 %. Such metrics always get plain quantiles.

References
----------
Efron and Tibshirani, "An introduction to the bootstrap", 1993, chapters 13 (percentile) and 14 (BCa).

Difference from ``scipy.stats.bootstrap``: where all replicates lie on one side of the estimate, BCa's bias is that of
half a replicate on the other side, where SciPy gives nan.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Literal

import numpy as np

from segbench.core.html import remarks_html, table_html
from segbench.core.integers import FloatArray
from segbench.core.metric import Metric
from segbench.core.numbers import number
from segbench.core.text_table import TextTable, aligned

IntervalMethod = Literal["bca", "percentile"]

_TIED = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class Intervals(Mapping[str, tuple[float, float]]):
    """Intervals of metrics over images, by the metric's name, and how they were made.

    Parameters
    ----------
    intervals : mapping of str to (low, high)
        nan where there is none.
    estimates : mapping of str to float
        The metrics themselves.
    draws : mapping of str to array of float64, shape (replicates,)
        Every metric in every replicate; nan where undefined.
    method : {"bca", "percentile"}
    level : float
        Share of repetitions in which such an interval would hold the metric of the population.
    replicates, seed, images : int
        What it takes to draw the same intervals again.
    notes : tuple of str
        What to say beside the intervals.
    undefined : mapping of str to str
        Why an interval is nan.
    """

    intervals: Mapping[str, tuple[float, float]]
    estimates: Mapping[str, float]
    draws: Mapping[str, FloatArray]
    method: IntervalMethod
    level: float
    replicates: int
    seed: int
    images: int
    notes: tuple[str, ...] = ()
    undefined: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, key: str) -> tuple[float, float]:
        """Give the interval of the metric of that name."""
        return self.intervals[key]

    def __iter__(self) -> Iterator[str]:
        """Go through the names of the metrics."""
        return iter(self.intervals)

    def __len__(self) -> int:
        """Count the metrics."""
        return len(self.intervals)

    def __str__(self) -> str:
        """Print a metric per line with its interval, and the notes."""
        table = self._table()
        return "\n".join([aligned([table.header, *table.rows], "<>>>"), *self.notes, self.signature])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Give the table that notebooks show."""
        return table_html(self._table()) + remarks_html(*self.notes, self.signature)

    def _table(self) -> TextTable:
        rows = [[key, number(self.estimates[key]), *map(number, ends)] for key, ends in self.items()]
        level = f"{100 * self.level:g} %"
        return TextTable(["metric", "value", f"{level} low", f"{level} high"], rows)

    @property
    def signature(self) -> str:
        """Method, level, replicates and seed in one word.

        Examples
        --------
        >>> Intervals({}, {}, {}, "bca", 0.95, 2000, 0, 50).signature
        'intervals:bca-95-2000-0'
        """
        return f"intervals:{self.method}-{100 * self.level:g}-{self.replicates}-{self.seed}"


def method_for(metric: Metric, method: IntervalMethod) -> IntervalMethod:
    """Give the method that suits a metric."""
    return "percentile" if metric.chosen else method


def interval(
    drawn: FloatArray, estimate: float, left_out: FloatArray, *, method: IntervalMethod, level: float
) -> tuple[float, float]:
    """Interval of one metric from its replicates."""
    if drawn.size == 0:
        return math.nan, math.nan
    shares = (1 - level) / 2, (1 + level) / 2
    if method == "bca":
        normal = NormalDist()
        # A replicate of exactly these images differs from the estimate by rounding, which depends on the processor.
        equal = np.abs(drawn - estimate) <= _TIED
        below = np.mean((drawn < estimate) & ~equal) + np.mean(equal) / 2
        bias = normal.inv_cdf(float(np.clip(below, 0.5 / drawn.size, 1 - 0.5 / drawn.size)))
        acceleration = _acceleration(left_out[~np.isnan(left_out)])
        shifted = [bias + normal.inv_cdf(share) for share in shares]
        low, high = (normal.cdf(bias + z / (1 - acceleration * z)) for z in shifted)
        shares = low, high
    low, high = np.quantile(drawn, shares).tolist()
    return low, high


def _acceleration(left_out: FloatArray) -> float:
    if left_out.size < 2:
        return 0.0
    off = left_out.mean() - left_out
    spread = float(np.sum(off**2))
    return float(np.sum(off**3)) / (6 * spread**1.5) if spread > 0 else 0.0
