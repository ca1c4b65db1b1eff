"""Precision-recall-gain curves: PR curves on scales where predicting everything is 0 and lines are straight.

Precision gain is 1 - (P / N) FP / TP and recall gain 1 - (P / N) FN / TP: 0 for predicting everything positive, 1 for
perfect. Between two points of a curve both are linear in 1 / TP, so straight lines are the interpolation of Davis and
Goadrich, and trapezoids are exact. The area is that of recall gain 0 to 1, negative precision gains included.

References
----------
Flach and Kull, "Precision-recall-gain curves: PR analysis done right", NeurIPS 2015.

Difference from the authors' ``prg`` package: none in the area; the points below recall gain 0, which lie outside the
unit square, are left out of the curve, and the crossing of precision gain 0 is not added, since it lies on a line.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from segbench.core.arrays import FloatArray
from segbench.core.counts import Pooled, as_pooled
from segbench.core.numbers import Brief
from segbench.core.scores import ScoreCounts
from segbench.curves.points import cumulate


@dataclass(frozen=True, eq=False, repr=False)
class GainCurve(Brief):
    """A precision-recall-gain curve, from recall gain 0 to 1.

    Parameters
    ----------
    recall_gain : array of float64, shape (K,)
        Rising from 0 to 1.
    precision_gain : array of float64, shape (K,)
        At most 1; below 0 where precision is below the prevalence.
    thresholds : array of float, shape (K,)
        Falling. The first point lies between two thresholds and has the lower one.
    area : float
        AUPRG, at most 1; nan where a class is missing, and then there are no points.
    """

    recall_gain: FloatArray
    precision_gain: FloatArray
    thresholds: FloatArray
    area: float


def pr_gain_curve(counts: ScoreCounts | Pooled) -> GainCurve:
    """Precision-recall-gain curve of the counts and the area under it.

    Parameters
    ----------
    counts : ScoreCounts, or Result for its pooled counts

    Returns
    -------
    GainCurve
        Without points, and with area nan, where positives or negatives are missing.

    Examples
    --------
    >>> pr_gain_curve(ScoreCounts([2, 1], [5, 0], [0, 7])).area
    1.0
    >>> pr_gain_curve(ScoreCounts([1], [5], [7])).area  # all one score: the baseline
    0.0
    """
    from segbench.curves import kernels

    counts = as_pooled(counts, ScoreCounts)
    tp, fp = (values.astype(np.float64) for values in cumulate(counts))
    positives, negatives = tp[-1], fp[-1]
    if not (positives and negatives):
        return GainCurve(np.empty(0), np.empty(0), np.empty(0), math.nan)
    start = positives * (positives / (positives + negatives))  # true positives at recall gain 0
    first = int(np.searchsorted(tp, start))  # first point at or beyond it; the one before lies short of it
    share = (start - tp[first - 1]) / (tp[first] - tp[first - 1])
    tp = np.append(start, tp[first:])
    fp = np.append(fp[first - 1] + share * (fp[first] - fp[first - 1]), fp[first:])
    odds = positives / negatives
    recall_gain = 1 - odds * (positives - tp) / tp
    recall_gain[0] = 0.0
    precision_gain = 1 - odds * fp / tp
    area = kernels.area_share(float(np.sum(np.diff(recall_gain) * (precision_gain[1:] + precision_gain[:-1]))), 2.0)
    return GainCurve(recall_gain, precision_gain, np.append(counts.scores[first - 1], counts.scores[first - 1 :]), area)
