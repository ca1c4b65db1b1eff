"""The metrics of one image, from counts and moments of its pixels; conventions as in `segbench.protocols.saliency`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segbench.core.integers import IntArray

FloatArray = NDArray[np.float64]

EPS = float(np.spacing(1.0))


class Moments(NamedTuple):
    """Of the values in each quadrant, negatives and positives in turn; each of shape (4, 2)."""

    number: FloatArray
    sum: FloatArray
    squares: FloatArray
    """Squares around the mean of the group."""

    @property
    def mean(self) -> float:
        """The mean of all values."""
        return float(self.sum.sum() / self.number.sum())

    @property
    def mae(self) -> float:
        """Mean absolute error: values of negatives, and what positives lack of 1."""
        of_negatives, of_positives = map(float, self.sum.sum(axis=0))
        positives, pixels = float(self.number[:, 1].sum()), float(self.number.sum())
        return (of_negatives + (positives - of_positives)) / pixels


def s_measure(moments: Moments) -> float:
    """S of an image: half of objects, half of regions."""
    negatives, positives = moments.number.sum(axis=0).tolist()
    if not positives:
        return 1 - moments.mean
    if not negatives:
        return moments.mean
    share = positives / (positives + negatives)
    of_objects = share * _object(*_merged(moments, 1)) + (1 - share) * _object(*_merged(moments, 0), inverted=True)
    return float(max(0.0, 0.5 * of_objects + 0.5 * _regions(moments)))


def _merged(moments: Moments, label: int) -> tuple[float, float, float]:
    """Give number, mean and squares around the mean of all values of a label."""
    number, total, squares = (part[:, label] for part in moments)
    mean = total.sum() / number.sum()
    own = total / np.maximum(number, 1)
    return float(number.sum()), float(mean), float(squares.sum() + (number * (own - mean) ** 2).sum())


def _object(number: float, mean: float, squares: float, *, inverted: bool = False) -> float:
    mean = 1 - mean if inverted else mean
    deviation = np.sqrt(squares / (number - 1)) if number > 1 else 0.0
    return float(2 * mean / (mean * mean + 1 + deviation + EPS))


def _regions(moments: Moments) -> float:
    """Weigh the similarity of each quadrant by its area."""
    total = 0.0
    for (out, inside), (sum_out, sum_in), (squares_out, squares_in) in zip(
        *(part.tolist() for part in moments), strict=True
    ):
        number = out + inside
        if number:
            total += number * _similarity(out, inside, sum_out, sum_in, squares_out + squares_in)
    return float(total / moments.number.sum())


def _similarity(out: float, inside: float, sum_out: float, sum_in: float, squares: float) -> float:
    """Compare means and variances of values and labels of a quadrant, as SSIM without constants."""
    number = out + inside
    x, y = (sum_out + sum_in) / number, inside / number
    if out and inside:
        squares += out * inside / number * (sum_in / inside - sum_out / out) ** 2
        together = out * inside / number * (sum_in / inside - sum_out / out)
    else:
        together = 0.0
    free = max(number - 1, 1)
    variance_x, variance_y, covariance = squares / free, number * y * (1 - y) / free, together / free
    above, below = 4 * x * y * covariance, (x * x + y * y) * (variance_x + variance_y)
    if above:
        return float(above / (below + EPS))
    return 0.0 if below else 1.0


class Found(NamedTuple):
    """True and false positives at one or more thresholds, and how many pixels there are of either label."""

    true: IntArray
    false: IntArray
    positives: int
    negatives: int

    @property
    def precision(self) -> FloatArray:
        """True ones of all that are predicted, 0 of none."""
        precision: FloatArray = self.true / np.maximum(self.true + self.false, 1)
        return precision

    @property
    def recall(self) -> FloatArray:
        """True ones of all positives, 0 of none."""
        return self.true / max(self.positives, 1)

    @property
    def iou(self) -> FloatArray:
        """Intersection over union, 0 of nothing."""
        iou: FloatArray = self.true / np.maximum(self.positives + self.false, 1)
        return iou

    @property
    def dice(self) -> FloatArray:
        """Dice coefficient, 0 of nothing."""
        dice: FloatArray = 2 * self.true / np.maximum(self.positives + self.true + self.false, 1)
        return dice

    @property
    def balanced_error(self) -> FloatArray:
        """Mean of the error rates of both labels, or that of the label that is there."""
        errors = [self.false / self.negatives] if self.negatives else []
        errors += [1 - self.recall] if self.positives else []
        mean: FloatArray = np.mean(errors, axis=0)
        return mean

    @property
    def e_measure(self) -> FloatArray:
        """Enhanced alignment: how labels and predictions, each less its mean, agree."""
        size = self.positives + self.negatives
        predicted = self.true + self.false
        if not self.positives:
            aligned = (size - predicted).astype(np.float64)
        elif not self.negatives:
            aligned = predicted.astype(np.float64)
        else:
            prediction, truth = predicted / size, self.positives / size
            missed = self.positives - self.true
            aligned = np.zeros(predicted.shape)
            for number, p, t in (
                (self.true, 1 - prediction, 1 - truth),
                (self.false, 1 - prediction, -truth),
                (missed, -prediction, 1 - truth),
                (size - predicted - missed, -prediction, -truth),
            ):
                aligned += number * ((2 * p * t / (p * p + t * t + EPS) + 1) ** 2 / 4)
        e: FloatArray = aligned / max(size - 1, 1)
        return e


def f_measure(precision: FloatArray, recall: FloatArray, beta2: float) -> FloatArray:
    """F of precision and recall, 0 where either is."""
    above = (1 + beta2) * precision * recall
    f: FloatArray = above / np.where(above > 0, beta2 * precision + recall, 1)
    return f


def weighted_f(of_positives: float, of_negatives: float, positives: int) -> float:
    """Weighted F from the weighted errors of both labels; 0 without positives."""
    if not positives:
        return 0.0
    true = positives - of_positives
    recall = 1 - of_positives / positives
    precision = true / (true + of_negatives + EPS)
    return float(2 * recall * precision / (recall + precision + EPS))
