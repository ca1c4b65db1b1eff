"""The metrics of confusion counts, each with its only formula, for numbers and for arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from segbench.core.arrays import FloatArray

Rate = TypeVar("Rate", float, FloatArray)


class Rates(Generic[Rate]):
    """What follows from true and false positives and the totals of the ground truth: of numbers, or of arrays."""

    tp: Any
    fp: Any
    positives: Any
    negatives: Any

    @property
    def precision(self) -> Rate:
        """TP / (TP + FP); nan where nothing is predicted."""
        return share(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> Rate:
        """TP / P, the true positive rate; nan without positives."""
        return share(self.tp, self.positives)

    @property
    def tpr(self) -> Rate:
        """The true positive rate, another name of `recall`."""
        return self.recall

    @property
    def fpr(self) -> Rate:
        """FP / N; nan without negatives."""
        return share(self.fp, self.negatives)

    @property
    def specificity(self) -> Rate:
        """TN / N, the true negative rate; nan without negatives."""
        return share(self.negatives - self.fp, self.negatives)

    @property
    def f(self) -> Rate:
        """2 TP / (P + TP + FP), also known as Dice; nan without positives."""
        return _defined(f_of(self.tp, self.fp, self.positives), self.positives)

    @property
    def dice(self) -> Rate:
        """The Dice coefficient, another name of `f`."""
        return self.f

    @property
    def iou(self) -> Rate:
        """TP / (P + FP), intersection over union, also known as Jaccard; nan without positives."""
        return _defined(iou_of(self.tp, self.fp, self.positives), self.positives)

    @property
    def accuracy(self) -> Rate:
        """Share of pixels that are labelled right; nan without pixels."""
        return share(self.tp + (self.negatives - self.fp), self.positives + self.negatives)

    @property
    def mcc(self) -> Rate:
        """Matthews correlation coefficient, in [-1, 1]; nan where labels or predictions are all alike."""
        predicted, rejected = self.tp + self.fp, self.negatives - self.fp
        of_positives = _root(predicted * self.positives)
        of_negatives = _root((self.positives + self.negatives - predicted) * self.negatives)
        return share(self.tp * rejected - self.fp * (self.positives - self.tp), of_positives * of_negatives)


@dataclass(frozen=True, eq=False)
class Confusion(Rates[FloatArray]):
    """Arrays of counts with their metrics."""

    tp: Any
    fp: Any
    positives: Any
    negatives: Any


@dataclass(frozen=True, repr=False)
class OperatingPoint(Rates[float]):
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

    def __repr__(self) -> str:
        """Return one line with F, P and R, and the threshold, not rounded since scores are compared with it."""
        rates = f"f={self.f:.4f}, precision={self.precision:.4f}, recall={self.recall:.4f}"
        return f"{type(self).__name__}({rates}, threshold={self.threshold!r})"


def f_of(tp: Any, fp: Any, positives: Any, *, beta: float = 1.0) -> Any:  # noqa: ANN401  numbers or arrays
    """Compute F from counts; 0 where all that is predicted is wrong, nan where there is nothing."""
    return share((1 + beta**2) * tp, beta**2 * positives + tp + fp)


def iou_of(tp: Any, fp: Any, positives: Any) -> Any:  # noqa: ANN401  numbers or arrays
    """Compute intersection over union; 0 where all that is predicted is wrong, nan where there is nothing."""
    return share(tp, positives + fp)


def share(part: Any, whole: Any) -> Any:  # noqa: ANN401  numbers or arrays
    """Divide a part by the whole; nan where the whole is 0."""
    if isinstance(part, (int, float)):
        return part / whole if whole else math.nan
    with np.errstate(invalid="ignore", divide="ignore"):
        return part / whole


def _defined(rate: Any, positives: Any) -> Any:  # noqa: ANN401  numbers or arrays
    if isinstance(rate, float):
        return rate if positives else math.nan
    return np.where(positives, rate, np.nan)


def _root(number: Any) -> Any:  # noqa: ANN401  numbers or arrays
    return math.sqrt(number) if isinstance(number, (int, float)) else np.sqrt(number)
