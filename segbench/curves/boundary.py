"""Figures of the boundary benchmark, by the rules of BSDS500.

Conventions
-----------
1. Counts are pooled over images threshold by threshold. recall = matched_gt / total_gt, precision = matched_pred /
   total_pred, and 0 where the denominator is 0; F = 2 P R / (P + R), and 0 where both are 0.
2. ODS is the best F on straight lines between the points of neighbouring thresholds, recall and precision each
   interpolated at 100 places, ends included. The best F of the thresholds themselves is another, lower number.
3. OIS takes each image at its first best threshold, adds those counts up and gives one F. The mean of the images' best
   F is a third number, `mean_image_f`.
4. Area_PR, "AP" in papers: precision interpolated linearly at recalls 0, .01, .. 1, taken as 0 outside the recalls that
   were measured, summed and divided by 100 (not 101). Of equal recalls the lowest threshold's precision is used.
   `area_pr_extended` is the other common rule: the curve first goes on to (recall 0, precision 1) and (1, 0).
5. R50 is the recall interpolated at precision .5. Where no precision is that low it is, as in the field's code, the
   recall at the lowest precision; where none is that high it is undefined.

References
----------
Arbelaez, Maire, Fowlkes, Malik: Contour Detection and Hierarchical Image Segmentation. PAMI 2011
(``collect_eval_bdry``).
Dollar, Zitnick: Fast Edge Detection Using Structured Forests. PAMI 2015 (``edgesEvalDir``: R50, the extended area).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segbench.arrays import as_floats
from segbench.counts import BoundaryCounts
from segbench.display import Displayed
from segbench.errors import ArgumentError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FloatArray = NDArray[np.float64]

_PLACES = 100


@dataclass(frozen=True, eq=False)
class BoundaryCurve(Displayed):
    """Recall and precision at rising thresholds.

    Parameters
    ----------
    thresholds, recall, precision : array of float64, shape (K,)
        K is at least 1. Also made from the rows of a published ``eval_bdry_thr.txt``.

    Raises
    ------
    ArgumentError
        If lengths differ, there is no point, or a value is not in [0, 1].
    """

    thresholds: FloatArray
    recall: FloatArray
    precision: FloatArray

    def __post_init__(self) -> None:
        for name in ("thresholds", "recall", "precision"):
            values = as_floats(getattr(self, name), name).copy()
            values.flags.writeable = False
            object.__setattr__(self, name, values)
        if self.thresholds.ndim != 1 or not self.thresholds.size:
            raise ArgumentError(f"thresholds has shape {self.thresholds.shape}, expected one dimension and a point")
        for name in ("recall", "precision"):
            values = getattr(self, name)
            if values.shape != self.thresholds.shape:
                raise ArgumentError(f"{name} has {values.size} entries for {self.thresholds.size} thresholds")
            if not np.all((values >= 0) & (values <= 1)):
                raise ArgumentError(f"{name} must lie in [0, 1]")

    @property
    def f(self) -> FloatArray:
        """F at each threshold."""
        return f_of(self.recall, self.precision)

    def plot(self, *, ax: Axes | None = None, label: str | None = None) -> Axes:
        """Draw the curve with lines of equal F behind it; as `Curve.plot`."""
        from segbench.report.curve_plots import plot_curve

        return plot_curve(self, ax=ax, label=label)


@dataclass(frozen=True)
class BoundaryBest:
    """A best F with its recall, precision and threshold (nan where there is no single one)."""

    f: float
    recall: float
    precision: float
    threshold: float


def f_of(recall: ArrayLike, precision: ArrayLike) -> FloatArray:
    """F of recall and precision, 0 where both are 0.

    Examples
    --------
    >>> f_of([0.5, 0.0], [1.0, 0.0])
    array([0.66666667, 0.        ])
    """
    r, p = np.asarray(recall, dtype=np.float64), np.asarray(precision, dtype=np.float64)
    return 2 * ratio(r * p, r + p)


def boundary_curve(counts: BoundaryCounts) -> BoundaryCurve:
    """Recall and precision of the counts of one image or of many pooled.

    Examples
    --------
    >>> curve = boundary_curve(BoundaryCounts([0.5], [8], [10], [4], [5]))
    >>> curve.recall, curve.precision
    (array([0.8]), array([0.8]))
    """
    return BoundaryCurve(
        counts.thresholds,
        ratio(counts.matched_gt, counts.total_gt),
        ratio(counts.matched_pred, counts.total_pred),
    )


def boundary_ods(curve: BoundaryCurve) -> BoundaryBest:
    """Best F at one threshold for all images, interpolated between thresholds (rule 2).

    Examples
    --------
    >>> best = boundary_ods(BoundaryCurve([0.25, 0.75], [1.0, 0.4], [0.4, 1.0]))
    >>> round(best.f, 2), round(best.threshold, 1)
    (0.7, 0.5)
    """
    if curve.thresholds.size == 1:
        return BoundaryBest(*(float(v[0]) for v in (curve.f, curve.recall, curve.precision, curve.thresholds)))
    share = np.linspace(0, 1, _PLACES)
    threshold, recall, precision = (
        values[1:, None] * share + values[:-1, None] * (1 - share)
        for values in (curve.thresholds, curve.recall, curve.precision)
    )
    f = f_of(recall, precision)
    best = np.unravel_index(np.argmax(f), f.shape)
    return BoundaryBest(float(f[best]), float(recall[best]), float(precision[best]), float(threshold[best]))


def area_pr(curve: BoundaryCurve) -> float:
    """Area under the measured part of the curve (rule 4), Area_PR of the official files.

    Examples
    --------
    >>> area_pr(BoundaryCurve([0.2, 0.8], [0.5, 0.25], [0.5, 1.0]))
    0.195
    """
    return _area(curve.recall, curve.precision)


def area_pr_extended(curve: BoundaryCurve) -> float:
    """Area with the curve extended to recall 0 at precision 1 and recall 1 at precision 0 (rule 4).

    Examples
    --------
    >>> area_pr_extended(BoundaryCurve([0.2, 0.8], [0.5, 0.25], [0.5, 1.0]))
    0.5675
    """
    return _area(np.append(curve.recall, [0.0, 1.0]), np.append(curve.precision, [1.0, 0.0]))


def r50(curve: BoundaryCurve) -> float:
    """Recall at precision .5 (rule 5), nan where no precision is that high.

    Examples
    --------
    >>> round(r50(BoundaryCurve([0.2, 0.8], [0.5, 0.25], [0.4, 0.8])), 4)
    0.4375
    """
    precision, first = np.unique(curve.precision, return_index=True)
    wanted = max(float(precision[0]), 0.5)
    return float(np.interp(wanted, precision, curve.recall[first], right=np.nan))


def _area(recall: FloatArray, precision: FloatArray) -> float:
    measured, first = np.unique(recall, return_index=True)
    if measured.size < 2:
        return 0.0
    places = np.arange(101) / 100
    return float(np.interp(places, measured, precision[first], left=0.0, right=0.0).sum() / 100)


def ratio(part: NDArray[Any], whole: NDArray[Any]) -> FloatArray:
    """Divide, 0 where the whole is 0 (rule 1)."""
    part, whole = np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    quotient: FloatArray = np.divide(part, whole, out=np.zeros_like(whole), where=whole > 0)
    return quotient
