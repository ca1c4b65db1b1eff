"""The metrics of the region benchmark at each threshold; conventions as in `segbench.protocols.regions.metrics`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import MEAN_UNITS, FloatArray
from segbench.core.counts import Pooled, as_pooled
from segbench.core.numbers import Brief, number
from segbench.core.series import Series
from segbench.protocols.regions.counts import COVERED_UNITS, RegionCounts

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class RegionCurve(Brief, Series):
    """The region metrics at rising thresholds.

    Parameters
    ----------
    thresholds, covering, covering_of_prediction, rand_index, voi, voi_split, voi_merge : array of float64, shape (K,)
        All but the entropies (bits) in [0, 1]; nan where a published curve does not give it.
    adapted_rand_error, rand_precision, rand_recall : array of float64, shape (K,)
        In [0, 1], or nan.
    """

    measure: ClassVar[str] = "covering"

    thresholds: FloatArray
    covering: FloatArray
    covering_of_prediction: FloatArray
    rand_index: FloatArray
    voi: FloatArray
    voi_split: FloatArray
    voi_merge: FloatArray
    adapted_rand_error: FloatArray
    rand_precision: FloatArray
    rand_recall: FloatArray

    @property
    def columns(self) -> Mapping[str, FloatArray]:
        """Thresholds and every metric at each."""
        metrics = {field.name: getattr(self, field.name) for field in fields(self)[1:]}
        return {"threshold": self.thresholds, **metrics}

    @property
    def caption(self) -> str:
        """The best covering."""
        return f"covering ODS {number(max(self.against_threshold()[1].tolist(), default=math.nan))}"

    @property
    def levels(self) -> Mapping[str, FloatArray]:
        """The metrics that plots and pages show, by name."""
        return {"covering": self.covering, "PRI": self.rand_index, "VOI": self.voi}

    def plot(self, *, ax: Axes | None = None, label: str | None = None) -> Axes:
        """Draw covering against threshold."""
        from segbench.drawing.series import plot_series

        return plot_series(self, ax=ax, label=label)


def region_curve(counts: RegionCounts | Pooled) -> RegionCurve:
    """Give the region metrics at each threshold, of one image, of many pooled, or of a result.

    Examples
    --------
    >>> curve = region_curve(RegionCounts([0.5], 1, 4, 4, 4 * 2**20, [2**21], [2**22], *([[2**35]] * 6)))
    >>> curve.covering, curve.voi
    (array([0.5]), array([1.]))
    """
    pooled = as_pooled(counts, RegionCounts)

    def mean(sums: NDArray[np.int64]) -> FloatArray:
        return sums / (MEAN_UNITS * pooled.images)

    return RegionCurve(
        pooled.thresholds,
        pooled.covered / (COVERED_UNITS * pooled.area),
        pooled.covered_pred / (COVERED_UNITS * pooled.pixels),
        mean(pooled.rand_index),
        mean(pooled.voi_split + pooled.voi_merge),
        mean(pooled.voi_split),
        mean(pooled.voi_merge),
        1 - mean(pooled.adapted_rand),
        mean(pooled.rand_precision),
        mean(pooled.rand_recall),
    )
