"""Compiled formulas of the boundary benchmark, for one pooled curve or ten thousand; imported only where one is called.

The conventions are those of `segbench.protocols.boundaries.curve`.
"""

from __future__ import annotations

import numpy as np

from segbench.core.arrays import FloatArray, IntArray
from segbench.core.compiling import compiled

_compiled = compiled(error_model="numpy")

_CLOSE = 1 - 1e-12
_RECALLS = 101


@_compiled
def interpolated(x: float, xs: FloatArray, ys: FloatArray, size: int) -> float:
    """Read off straight lines between points with rising xs, of which x is within the range."""
    j, above = 0, size
    while above - j > 1:
        middle = (j + above) // 2
        if xs[middle] <= x:
            j = middle
        else:
            above = middle
    if j == size - 1 or xs[j] == x:
        return float(ys[j])
    return float((ys[j + 1] - ys[j]) / (xs[j + 1] - xs[j]) * (x - xs[j]) + ys[j])


@_compiled
def distinct(keys: FloatArray, values: FloatArray, order: IntArray, xs: FloatArray, ys: FloatArray) -> int:
    """Fill in points in an order of rising keys, keep the first value of equal keys, and return how many there are."""
    size = 0
    for k in order:
        if size == 0 or keys[k] != xs[size - 1]:
            xs[size], ys[size] = keys[k], values[k]
            size += 1
    return size


@_compiled
def area(recall: FloatArray, precision: FloatArray) -> float:
    """Sum precision at rising recalls 0, .01, .. 1 over 100 (rule 4); eight sums at a time, as ``np.sum``."""
    size = recall.size
    if size < 2:
        return 0.0
    sums = np.zeros(8)
    total = 0.0
    for k in range(_RECALLS):
        at = k / 100
        value = interpolated(at, recall, precision, size) if recall[0] <= at <= recall[size - 1] else 0.0
        if k < _RECALLS - _RECALLS % 8:
            sums[k % 8] += value
        elif k == _RECALLS - _RECALLS % 8:
            total = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]))
            total += value
        else:
            total += value
    return total / 100


@_compiled
def f_of(recall: float, precision: float) -> float:
    """F, 0 where both are 0."""
    return 2 * (recall * precision / (recall + precision)) if recall + precision > 0 else 0.0


@_compiled
def ods(recall: FloatArray, precision: FloatArray, shares: FloatArray) -> tuple[float, int, float]:
    """Find the first best F between neighbouring thresholds, the upper of the two, and the share of the way to it."""
    highest = 0.0
    for k in range(recall.size):
        highest = max(highest, f_of(recall[k], precision[k]))
    best, at, share = -1.0, 0, 0.0
    if recall.size == 1:
        return highest, 0, 1.0
    for k in range(1, recall.size):
        # No point between two others has more recall or precision than both: most pairs cannot hold the best.
        if f_of(max(recall[k - 1], recall[k]), max(precision[k - 1], precision[k])) < highest * _CLOSE:
            continue
        for way in shares:
            f = f_of(recall[k] * way + recall[k - 1] * (1 - way), precision[k] * way + precision[k - 1] * (1 - way))
            if f > best:
                best, at, share = f, k, way
    return best, at, share


@_compiled
def measure_curves(
    thresholds: FloatArray,
    curves: tuple[FloatArray, FloatArray],
    orders: tuple[IntArray, IntArray],
    shares: FloatArray,
    values: FloatArray,
) -> None:
    """Fill in the `POOLED` metrics of curves, shape (curves, 7).

    Recalls and precisions of `curves`, and the `orders` in which either rises, have shape (curves, K).
    """
    (recalls, precisions), (by_recall, by_precision) = curves, orders
    xs, ys = np.empty(thresholds.size + 2), np.empty(thresholds.size + 2)
    for row in range(values.shape[0]):
        recall, precision = recalls[row], precisions[row]
        best, upper, share = ods(recall, precision, shares)
        lower = max(upper - 1, 0)
        values[row, 0] = best
        values[row, 1] = precision[upper] * share + precision[lower] * (1 - share)
        values[row, 2] = recall[upper] * share + recall[lower] * (1 - share)
        values[row, 3] = thresholds[upper] * share + thresholds[lower] * (1 - share)
        size = distinct(recall, precision, by_recall[row], xs[1:], ys[1:])
        values[row, 4] = area(xs[1 : size + 1], ys[1 : size + 1])
        # The curve goes on to (recall 0, precision 1) and (1, 0), unless it has a point with this recall.
        xs[0], ys[0], xs[size + 1], ys[size + 1] = 0.0, 1.0, 1.0, 0.0
        first, last = int(xs[1] == 0), size + int(xs[size] != 1)
        values[row, 5] = area(xs[first : last + 1], ys[first : last + 1])
        size = distinct(precision, recall, by_precision[row], xs, ys)
        wanted = max(xs[0], 0.5)
        values[row, 6] = interpolated(wanted, xs, ys, size) if wanted <= xs[size - 1] else np.nan
