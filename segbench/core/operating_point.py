"""One threshold and the metrics of its confusion counts, in exact integers."""

from __future__ import annotations

import math
from dataclasses import dataclass


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

    Notes
    -----
    A metric is nan where its denominator is 0, and `f` and `iou` are nan without positives; scikit-learn gives 0 there.

    Examples
    --------
    >>> point = OperatingPoint(0.5, tp=6, fp=2, positives=8, negatives=92)
    >>> point.precision, point.recall, point.f, point.iou, point.accuracy
    (0.75, 0.75, 0.75, 0.6, 0.96)
    >>> round(point.specificity, 3), round(point.mcc, 3)
    (0.978, 0.728)
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
    def specificity(self) -> float:
        """TN / N, the true negative rate; nan without negatives."""
        return _share(self.negatives - self.fp, self.negatives)

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

    @property
    def mcc(self) -> float:
        """Matthews correlation coefficient, in [-1, 1]; nan where labels or predictions are all alike."""
        true_negatives, missed = self.negatives - self.fp, self.positives - self.tp
        covariance = self.tp * true_negatives - self.fp * missed
        predicted = self.tp + self.fp
        variances = predicted * (self.positives + self.negatives - predicted) * self.positives * self.negatives
        # Squared in integers and divided once, so that nothing cancels and the magnitude is at most 1.
        return math.copysign(math.sqrt(covariance**2 / variances), covariance) if variances else math.nan


def f_of(tp: int, fp: int, positives: int, *, beta: float = 1.0) -> float:
    """F of one point; nan without positives."""
    return (1 + beta**2) * tp / (beta**2 * positives + tp + fp) if positives else math.nan


def _share(part: int, whole: int) -> float:
    return part / whole if whole else math.nan
