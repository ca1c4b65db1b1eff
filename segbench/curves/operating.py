"""Operating points: single thresholds chosen by a rule, with everything their confusion counts say.

Conventions
-----------
A point is a threshold of the counts, ``score >= threshold``; nothing is interpolated. Rates asked for are read as the
decimals they are written as and compared in integers: 0.9 of 10 positives is 9. Among equals the highest
threshold wins.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from segbench.core.arguments import as_share
from segbench.core.counts import Pooled, as_pooled
from segbench.core.operating_point import OperatingPoint
from segbench.core.scores import ScoreCounts
from segbench.curves.fmeasure import best_point, first_reaching
from segbench.curves.points import Points, cumulate

_CLOSE = 1e-12


def best_iou(counts: ScoreCounts | Pooled) -> OperatingPoint:
    """Threshold with the best intersection over union, which is also the one with the best Dice and F.

    Parameters
    ----------
    counts : ScoreCounts or Result
        Pixels of an image or of many; of a result its pooled counts.

    Returns
    -------
    OperatingPoint
        Its rates are nan without positives.

    Examples
    --------
    >>> point = best_iou(ScoreCounts([3, 2, 1], [2, 1, 1], [0, 0, 9]))
    >>> point.threshold, point.iou
    (2.0, 0.75)
    """
    counts = as_pooled(counts, ScoreCounts)
    points = cumulate(counts)
    return _point(counts, points, best_point(points) if counts.scores.size else 0)


def precision_at_recall(counts: ScoreCounts | Pooled, *, recall: float) -> OperatingPoint:
    """Point of the best precision among the thresholds that reach a recall.

    Parameters
    ----------
    counts : ScoreCounts or Result
        Pixels of an image or of many; of a result its pooled counts.
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
    counts : ScoreCounts or Result
        Pixels of an image or of many; of a result its pooled counts.
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
    """Point at the highest threshold whose true positive rate reaches `tpr`; its `fpr` is the least there is.

    Parameters
    ----------
    counts : ScoreCounts or Result
        Pixels of an image or of many; of a result its pooled counts.
    tpr : float
        In [0, 1].

    Returns
    -------
    OperatingPoint
        Rates are nan where a class is missing.

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
