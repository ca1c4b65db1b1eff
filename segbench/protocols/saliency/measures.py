"""The metrics of one image, from counts and moments of its pixels; conventions as in `segbench.protocols.saliency`.

Compiled, since an image has many thresholds and few pixels. Moments are of the values in each quadrant, negatives and
positives in turn: number, sum, and squares around the mean of the group, of shape (3, 4, 2).
"""

from __future__ import annotations

import numpy as np

from segbench.core.arrays import FloatArray, IntArray
from segbench.core.compiling import compiled
from segbench.protocols.saliency.metrics import f_measure

EPS = float(np.spacing(1.0))

_f_measure = compiled()(f_measure)


@compiled()
def s_measure(moments: FloatArray, positives: int, negatives: int) -> float:
    """S of an image: half of objects, half of regions."""
    pixels = positives + negatives
    total = objects = regions = 0.0
    for part in range(4):
        total += moments[1, part, 0] + moments[1, part, 1]
    if positives == 0:
        return 1 - total / pixels
    if negatives == 0:
        return total / pixels
    objects = (positives * _object(moments, 1) + negatives * _object(moments, 0)) / pixels
    for part in range(4):
        number = moments[0, part, 0] + moments[0, part, 1]
        if number > 0:
            regions += number * _similarity(moments[:, part])
    return max(0.0, 0.5 * objects + 0.5 * regions / pixels)


@compiled()
def _object(moments: FloatArray, label: int) -> float:
    """Compare the values of a label in all quadrants with the label."""
    number = total = squares = 0.0
    for part in range(4):
        number += moments[0, part, label]
        total += moments[1, part, label]
    mean = total / number
    for part in range(4):
        own = moments[0, part, label]
        squares += moments[2, part, label] + own * (moments[1, part, label] / max(own, 1) - mean) ** 2
    deviation = np.sqrt(squares / (number - 1)) if number > 1 else 0.0
    mean = mean if label else 1 - mean
    similarity: float = 2 * mean / (mean * mean + 1 + deviation + EPS)
    return similarity


@compiled()
def _similarity(moments: FloatArray) -> float:
    """Compare means and variances of values and labels of a quadrant, as SSIM without constants."""
    out, inside = moments[0, 0], moments[0, 1]
    sum_out, sum_in = moments[1, 0], moments[1, 1]
    number, squares = out + inside, moments[2, 0] + moments[2, 1]
    x, y = (sum_out + sum_in) / number, inside / number
    together = 0.0
    if out > 0 and inside > 0:
        apart = sum_in / inside - sum_out / out
        together = out * inside / number * apart
        squares += together * apart
    free = max(number - 1, 1)
    variance_x, variance_y, covariance = squares / free, number * y * (1 - y) / free, together / free
    above, below = 4 * x * y * covariance, (x * x + y * y) * (variance_x + variance_y)
    if above != 0:
        return float(above / (below + EPS))
    return 0.0 if below != 0 else 1.0


@compiled()
def e_measure(true: int, false: int, positives: int, negatives: int) -> float:
    """Enhanced alignment: how labels and predictions, each less its mean, agree."""
    size, predicted = positives + negatives, true + false
    if positives == 0:
        aligned = float(size - predicted)
    elif negatives == 0:
        aligned = float(predicted)
    else:
        p, t = predicted / size, positives / size
        missed = positives - true
        aligned = true * _aligned(1 - p, 1 - t) + false * _aligned(1 - p, -t)
        aligned += missed * _aligned(-p, 1 - t) + (size - predicted - missed) * _aligned(-p, -t)
    return aligned / max(size - 1, 1)


@compiled()
def _aligned(p: float, t: float) -> float:
    return (2 * p * t / (p * p + t * t + EPS) + 1) ** 2 / 4


@compiled()
def at_thresholds(true: IntArray, false: IntArray, positives: int, negatives: int) -> tuple[FloatArray, FloatArray]:
    """Measure true and false positives: precision, recall, F and E; IoU, Dice and balanced error. 0 of nothing."""
    curves, others = np.empty((4, true.size)), np.empty((3, true.size))
    for k in range(true.size):
        precision, recall = true[k] / max(true[k] + false[k], 1), true[k] / max(positives, 1)
        curves[0, k], curves[1, k] = precision, recall
        curves[2, k] = _f_measure(precision, recall)
        curves[3, k] = e_measure(true[k], false[k], positives, negatives)
        others[0, k] = true[k] / max(positives + false[k], 1)
        others[1, k] = 2 * true[k] / max(positives + true[k] + false[k], 1)
        wrong, missed = false[k] / max(negatives, 1), (positives - true[k]) / max(positives, 1)
        # The mean over the labels that are there: where one is not, its error is 0.
        others[2, k] = (wrong + missed) / (min(negatives, 1) + min(positives, 1))
    return curves, others


def weighted_f(of_positives: float, of_negatives: float, positives: int) -> float:
    """Weighted F from the weighted errors of both labels; 0 without positives."""
    if not positives:
        return 0.0
    true = positives - of_positives
    recall = 1 - of_positives / positives
    precision = true / (true + of_negatives + EPS)
    return float(2 * recall * precision / (recall + precision + EPS))
