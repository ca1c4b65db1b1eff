"""Operating points: single thresholds chosen by a rule, with everything their confusion counts say.

Conventions
-----------
A point is a threshold of the counts, ``score >= threshold``; nothing is interpolated. Rates asked for are read as the
decimals they are written as and compared in integers: 0.9 of 10 positives is 9. Among equals the highest
threshold wins.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from segbench.core.arguments import as_share
from segbench.core.scores import ScoreCounts
from segbench.curves.fmeasure import best_point, f_of, first_reaching
from segbench.curves.points import Points, cumulate

_CLOSE = 1e-12


@dataclass(frozen=True)
class OperatingPoint:
    """One threshold and its confusion counts.

    Parameters
    ----------
    threshold : float
        Pixels with this score or a higher one are predicted; infinite where nothing is, nan where scores are not known.
    tp, fp : int
        True and false positives.
    positives, negatives : int
        Totals of the ground truth.

    Examples
    --------
    >>> point = OperatingPoint(0.5, tp=6, fp=2, positives=8, negatives=92)
    >>> point.precision, point.recall, point.f, point.iou, point.accuracy
    (0.75, 0.75, 0.75, 0.6, 0.96)
    """

    threshold: float
    tp: int
    fp: int
    positives: int
    negatives: int

    @property
    def precision(self) -> float:
        """TP / (TP + FP); nan where nothing is predicted."""
        return _share(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> float:
        """TP / P, the true positive rate; nan without positives."""
        return _share(self.tp, self.positives)

    @property
    def fpr(self) -> float:
        """FP / N; nan without negatives."""
        return _share(self.fp, self.negatives)

    @property
    def f(self) -> float:
        """2 TP / (P + TP + FP), also known as Dice; nan without positives."""
        return f_of(self.tp, self.fp, self.positives)

    @property
    def dice(self) -> float:
        """The Dice coefficient, another name of `f`."""
        return self.f

    @property
    def iou(self) -> float:
        """TP / (P + FP), intersection over union, also known as Jaccard; nan without positives."""
        return _share(self.tp, self.positives + self.fp) if self.positives else math.nan

    @property
    def accuracy(self) -> float:
        """Share of pixels that are labelled right; nan without pixels."""
        return _share(self.tp + self.negatives - self.fp, self.positives + self.negatives)


def best_iou(counts: ScoreCounts) -> OperatingPoint:
    """Threshold with the best intersection over union, which is also the one with the best Dice and F.

    Parameters
    ----------
    counts : ScoreCounts
        Pixels of an image or of many.

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
    points = cumulate(counts)
    return _point(counts, points, best_point(points) if counts.scores.size else 0)


def precision_at_recall(counts: ScoreCounts, *, recall: float) -> OperatingPoint:
    """Point of the best precision among the thresholds that reach a recall.

    Parameters
    ----------
    counts : ScoreCounts
        Pixels of an image or of many.
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
    points = tp, fp = cumulate(counts)
    first = first_reaching(points, share)
    if not tp[-1]:
        return _point(counts, points, first)
    precision = tp[first:] / (tp[first:] + fp[first:].astype(np.float64))
    return _point(counts, points, first + int(np.argmax(precision)))


def recall_at_precision(counts: ScoreCounts, *, precision: float) -> OperatingPoint:
    """Point of the most recall among the thresholds that reach a precision.

    Parameters
    ----------
    counts : ScoreCounts
        Pixels of an image or of many.
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
    points = tp, fp = cumulate(counts)
    reaching = _reaching(tp, fp, share)
    most = int(tp[reaching].max(initial=0))
    return _point(counts, points, int(np.flatnonzero(reaching & (tp == most))[0]) if most else 0)


def at_tpr(counts: ScoreCounts, *, tpr: float = 0.95) -> OperatingPoint:
    """Point at the highest threshold whose true positive rate reaches `tpr`; its `fpr` is the least there is.

    Parameters
    ----------
    counts : ScoreCounts
        Pixels of an image or of many.
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


def _share(part: int, whole: int) -> float:
    return part / whole if whole else math.nan
