"""The curve of the boundary benchmark and its metrics, by the rules of BSDS500.

Conventions
-----------
1. Counts are pooled over images threshold by threshold. recall = matched_gt / total_gt, precision = matched_pred /
   total_pred, and 0 where the denominator is 0; F = 2 P R / (P + R), and 0 where both are 0.
2. ODS is the best F on straight lines between the points of neighbouring thresholds, recall and precision each
   interpolated at 100 points, ends included. The best F of the thresholds themselves is another, lower number.
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

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from segbench.core.arrays import Array, FloatArray, as_floats, frozen
from segbench.core.counts import Pooled, as_pooled
from segbench.core.errors import ArgumentError
from segbench.core.messages import Message
from segbench.core.numbers import number
from segbench.core.series import Line, Space
from segbench.core.settings import set_fields
from segbench.curves.curve import Drawn
from segbench.protocols.boundaries.counts import BoundaryCounts

SHARES = np.linspace(0, 1, 100)
"""Where between two thresholds F is measured (rule 2)."""

POOLED = ("ods_f", "ods_precision", "ods_recall", "ods_threshold", "area_pr", "area_pr_extended", "r50")
"""The metrics of one curve, in the order of the columns of `measured_curves`."""

_LEAST_RECALL_DRAWN = 0.01


@dataclass(frozen=True, eq=False, repr=False)
class BoundaryCurve(Drawn):
    """Recall and precision at rising thresholds.

    Parameters
    ----------
    thresholds, recall, precision : array of float64, shape (K,)
        K is at least 1. Also made from the rows of a published ``eval_bdry_thr.txt``.
    counts : BoundaryCounts, optional
        The counts behind the rates; None where only rates are known.

    Raises
    ------
    ArgumentError
        If lengths differ, there is no point, or a value is not in [0, 1].

    Examples
    --------
    >>> BoundaryCurve([0.25, 0.5], recall=[0.75, 0.5], precision=[0.25, 0.5]).f
    array([0.375, 0.5  ])
    """

    measure: ClassVar[str] = "f"

    thresholds: FloatArray
    recall: FloatArray
    precision: FloatArray
    counts: BoundaryCounts | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name in ("thresholds", "recall", "precision"):
            values = frozen(as_floats(getattr(self, name), name).copy())
            set_fields(self, **{name: values})
            if values.ndim != 1 or not values.size:
                raise ArgumentError(
                    Message(
                        "wrong-shape",
                        "{argument} has shape ({shape}), expected one dimension and a point",
                        argument=name,
                        shape=values.shape,
                    )
                )
            if values.size != self.thresholds.size:
                raise ArgumentError(
                    Message(
                        "other-length",
                        "{argument} has {length} entries for {expected} thresholds",
                        argument=name,
                        length=values.size,
                        expected=self.thresholds.size,
                    )
                )
            if name != "thresholds" and not np.all((values >= 0) & (values <= 1)):
                raise ArgumentError(Message("out-of-range", "{argument} must lie in [0, 1]", argument=name))

    @property
    def f(self) -> FloatArray:
        """F at each threshold."""
        return f_of(self.recall, self.precision)

    @property
    def columns(self) -> Mapping[str, Array]:
        """Thresholds, counts where they are known, rates and F; nan where no image has a pixel to match."""
        rates = {"recall": self.recall, "precision": self.precision, "f": self.f}
        if self.counts is None:
            return {"threshold": self.thresholds, **rates}
        counts = dict(zip(BoundaryCounts.arrays, self.counts.rows, strict=True))
        if not (counts["total_gt"].any() or counts["total_pred"].any()):
            rates = dict.fromkeys(rates, np.full(self.thresholds.shape, np.nan))
        return {"threshold": self.thresholds, **counts, **rates}

    @property
    def spaces(self) -> tuple[Space, ...]:
        """Precision-recall; true negatives are undefined."""
        return ("pr",)

    @property
    def caption(self) -> str:
        """The best F."""
        return f"ODS F {number(measured(self)['ods_f'])}"

    def line(self, space: Space) -> Line:
        """Return recall and precision to draw; recalls below .01 are left out, as is usual."""
        recall, precision = super().line(space)
        shown = recall >= _LEAST_RECALL_DRAWN
        return recall[shown], precision[shown]


def f_of(recall: ArrayLike, precision: ArrayLike) -> FloatArray:
    """F of recall and precision, 0 where both are 0."""
    recall, precision = np.asarray(recall, dtype=np.float64), np.asarray(precision, dtype=np.float64)
    return 2 * ratio(recall * precision, recall + precision)


def boundary_curve(counts: BoundaryCounts | Pooled) -> BoundaryCurve:
    """Recall and precision at each threshold.

    Parameters
    ----------
    counts : BoundaryCounts, or Result for its pooled counts
        Of one image, or of many added up.

    Returns
    -------
    BoundaryCurve
        At the thresholds of the counts. Recall is 0 without ground-truth pixels, precision 0 without predicted ones.

    Raises
    ------
    ArgumentError
        For counts of another kind.

    Examples
    --------
    >>> curve = boundary_curve(BoundaryCounts([0.5], [8], [10], [4], [5]))
    >>> curve.recall, curve.precision
    (array([0.8]), array([0.8]))
    """
    counts = as_pooled(counts, BoundaryCounts)
    return BoundaryCurve(
        counts.thresholds,
        ratio(counts.matched_gt, counts.total_gt),
        ratio(counts.matched_pred, counts.total_pred),
        counts,
    )


def measured(curve: BoundaryCurve) -> dict[str, float]:
    """Measure a curve by rules 2, 4 and 5: the metrics of `POOLED` by key."""
    values = measured_curves(curve.thresholds, curve.recall[np.newaxis], curve.precision[np.newaxis])
    return dict(zip(POOLED, values[0].tolist(), strict=True))


def measured_curves(thresholds: FloatArray, recall: FloatArray, precision: FloatArray) -> FloatArray:
    """Measure curves, one per row, by the rules of `measured`: a column for each of `POOLED`."""
    from segbench.protocols.boundaries import metric_kernels

    values = np.empty((len(recall), len(POOLED)))
    # Copies can be written to, which is the one type that the kernel is compiled for. Numba takes seconds to compile a
    # sort, so NumPy gives the orders; equal recalls keep theirs (rule 4).
    orders = np.argsort(recall, axis=1, kind="stable"), np.argsort(precision, axis=1, kind="stable")
    curves = np.array(recall), np.array(precision)
    metric_kernels.measure_curves(np.array(thresholds), curves, orders, SHARES, values)
    return values


def ratio(numerator: Array, denominator: Array) -> FloatArray:
    """Divide, 0 where the denominator is 0 (rule 1)."""
    numerator, denominator = np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    return np.divide(numerator, denominator, out=np.zeros_like(denominator), where=denominator > 0)
