"""Operating points: single thresholds chosen by a rule, with everything their confusion counts say.

Conventions
-----------
1. A point is a threshold of the counts, ``score >= threshold``; nothing is interpolated.
   Rates are read as the decimals they are written as and compared in integers: 0.9 of 10 positives is 9.
   Among equals the highest threshold wins.
2. F is (1 + beta^2) TP / (beta^2 P + TP + FP), the weighted harmonic mean of precision and recall; above 1, beta
   favours recall. The best F is over the points of the curve, one a distinct score.
3. Without positives F is undefined, and the point reported is the one at the highest score: such an image pools the
   false positives that no threshold of its own can avoid. (BSDS's code counts such an image's F as 0 instead.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from segbench.core.arguments import as_real, as_share
from segbench.core.counts import Pooled, as_pooled
from segbench.core.operating_point import OperatingPoint, f_of
from segbench.core.scores import ScoreCounts
from segbench.curves.points import Points, best_point, cumulate, first_reaching

_CLOSE = 1e-12


@dataclass(frozen=True)
class BestF(OperatingPoint):
    """The point of a curve with the best F, of the highest threshold that attains it.

    Parameters
    ----------
    threshold : float
        Pixels with this score or a higher one are predicted; nan where scores are not known.
    tp, fp, positives, negatives : int
        As in `OperatingPoint`.
    beta : float
        The weight of recall against precision in `f`; `dice` weighs both alike.
    """

    beta: float = 1.0

    @property
    def f(self) -> float:
        """F; nan without positives."""
        f: float = f_of(self.tp, self.fp, self.positives, beta=self.beta) if self.positives else math.nan
        return f

    @property
    def dice(self) -> float:
        """The Dice coefficient; nan without positives."""
        return super().f


def best_f(counts: ScoreCounts | Pooled, *, beta: float = 1.0) -> BestF:
    """Best F over all thresholds.

    Parameters
    ----------
    counts : ScoreCounts, or Result for its pooled counts
    beta : float
        Weight of recall against precision, from 1e-100 to 1e100.

    Returns
    -------
    BestF
        Of the highest threshold among equals, compared in exact arithmetic. With `beta` 1 its IoU is the best, too.

    Raises
    ------
    ArgumentError
        If `beta` is not such a number.

    Examples
    --------
    >>> best = best_f(ScoreCounts([3, 2, 1], [2, 1, 1], [0, 0, 9]))
    >>> best.threshold, best.iou, round(best.f, 3)
    (2.0, 0.75, 0.857)
    """
    beta = as_real(beta, "beta", "a number from 1e-100 to 1e100", least=1e-100, most=1e100)
    counts = as_pooled(counts, ScoreCounts)
    points = tp, fp = cumulate(counts)
    if counts.scores.size == 0:
        return BestF(math.nan, 0, 0, 0, 0, beta)
    k = best_point(points, beta=beta)
    return BestF(float(counts.scores[k - 1]), int(tp[k]), int(fp[k]), int(tp[-1]), int(fp[-1]), beta)


def precision_at_recall(counts: ScoreCounts | Pooled, *, recall: float) -> OperatingPoint:
    """Point of the best precision among the thresholds that reach a recall.

    Parameters
    ----------
    counts : ScoreCounts, or Result for its pooled counts
    recall : float
        Above 0, at most 1.

    Returns
    -------
    OperatingPoint
        Its `precision` is the answer; rates are nan without positives.

    Raises
    ------
    ArgumentError
        If `recall` is not above 0 and at most 1.

    Examples
    --------
    >>> precision_at_recall(ScoreCounts([4, 3, 2, 1], [2, 0, 2, 0], [1, 3, 0, 8]), recall=0.5).precision
    0.666...
    """
    share = as_share(recall, "recall", above_zero=True)
    counts = as_pooled(counts, ScoreCounts)
    points = tp, fp = cumulate(counts)
    first = first_reaching(points, share)
    if not tp[-1]:
        return _point(counts, points, first)
    precision = tp[first:] / (tp[first:] + fp[first:].astype(np.float64))
    return _point(counts, points, first + int(np.argmax(precision)))


def recall_at_precision(counts: ScoreCounts | Pooled, *, precision: float) -> OperatingPoint:
    """Point of the most recall among the thresholds that reach a precision.

    Parameters
    ----------
    counts : ScoreCounts, or Result for its pooled counts
    precision : float
        Above 0, at most 1.

    Returns
    -------
    OperatingPoint
        Its `recall` is the answer. Where no threshold reaches the precision, the point without predictions: recall 0,
        threshold infinite.

    Raises
    ------
    ArgumentError
        If `precision` is not above 0 and at most 1.

    Examples
    --------
    >>> recall_at_precision(ScoreCounts([4, 3, 2, 1], [2, 0, 2, 0], [1, 3, 0, 8]), precision=0.5).recall
    1.0
    """
    share = as_share(precision, "precision", above_zero=True)
    counts = as_pooled(counts, ScoreCounts)
    points = tp, fp = cumulate(counts)
    reaching = _reaching(tp, fp, share)
    most = int(tp[reaching].max(initial=0))
    return _point(counts, points, int(np.flatnonzero(reaching & (tp == most))[0]) if most else 0)


def at_tpr(counts: ScoreCounts | Pooled, *, tpr: float = 0.95) -> OperatingPoint:
    """Point at the highest threshold with a true positive rate of at least `tpr`; no other has a lower `fpr`.

    Parameters
    ----------
    counts : ScoreCounts, or Result for its pooled counts
    tpr : float
        In [0, 1].

    Returns
    -------
    OperatingPoint
        Its `fpr` is nan without negatives, and 0 without positives.

    Raises
    ------
    ArgumentError
        If `tpr` is outside [0, 1].

    Examples
    --------
    >>> at_tpr(ScoreCounts([3, 2, 1], [10, 9, 1], [0, 1, 3])).fpr
    0.25
    """
    counts = as_pooled(counts, ScoreCounts)
    points = cumulate(counts)
    return _point(counts, points, first_reaching(points, as_share(tpr, "tpr")))


def _reaching(tp: NDArray[np.int64], fp: NDArray[np.int64], precision: Fraction) -> NDArray[np.bool_]:
    reached = np.subtract(tp, (tp + fp.astype(np.float64)) * float(precision))
    reaching: NDArray[np.bool_] = reached >= 0
    # Floats decide all but near-ties; those are decided in integers.
    for k in np.flatnonzero(np.abs(reached) <= _CLOSE * (tp + fp.astype(np.float64))).tolist():
        reaching[k] = int(tp[k]) >= precision * (int(tp[k]) + int(fp[k]))
    return reaching


def _point(counts: ScoreCounts, points: Points, k: int) -> OperatingPoint:
    tp, fp = points
    threshold = float(counts.scores[k - 1]) if k else math.inf
    return OperatingPoint(threshold, int(tp[k]), int(fp[k]), int(tp[-1]), int(fp[-1]))
