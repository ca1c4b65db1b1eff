"""Compiled formulas of the boundary benchmark, for one pooled curve or ten thousand; imported only where one is called.

The conventions are those of `segbench.protocols.boundaries.curve`.
"""

from __future__ import annotations

import numpy as np

from segbench.core.compiling import compiled
from segbench.core.integers import FloatArray

_compiled = compiled(error_model="numpy")

_CLOSE = 1 - 1e-12
_PLACES = 101


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
def distinct(keys: FloatArray, values: FloatArray, xs: FloatArray, ys: FloatArray) -> int:
    """Sort by key, keep the first value of equal keys, and give how many are left.

    Each is inserted, from that end on that is nearly in order: Numba takes seconds to compile a sort.
    """
    size, last = 0, keys.size - 1
    falling = keys[0] > keys[last]
    for n in range(keys.size):
        k = last - n if falling else n
        place = size
        while place > 0 and xs[place - 1] > keys[k]:
            place -= 1
        if place > 0 and xs[place - 1] == keys[k]:
            if falling:
                ys[place - 1] = values[k]
            continue
        for moved in range(size, place, -1):
            xs[moved], ys[moved] = xs[moved - 1], ys[moved - 1]
        xs[place], ys[place] = keys[k], values[k]
        size += 1
    return size


@_compiled
def area(recall: FloatArray, precision: FloatArray) -> float:
    """Sum precision at recalls 0, .01, .. 1 over 100, 0 outside the recalls there are (rule 4).

    Eight sums run side by side, as in NumPy's, so that the area is that of ``np.sum`` to the last bit.
    """
    xs, ys = np.empty(recall.size), np.empty(recall.size)
    size = distinct(recall, precision, xs, ys)
    if size < 2:
        return 0.0
    sums = np.zeros(8)
    rest = 0.0
    for place in range(_PLACES):
        at = place / 100
        value = interpolated(at, xs, ys, size) if xs[0] <= at <= xs[size - 1] else 0.0
        if place < _PLACES - _PLACES % 8:
            sums[place % 8] += value
        elif place == _PLACES - _PLACES % 8:
            rest = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]))
            rest += value
        else:
            rest += value
    return rest / 100


@_compiled
def f_of(recall: float, precision: float) -> float:
    """F, 0 where both are 0."""
    return 2 * (recall * precision / (recall + precision)) if recall + precision > 0 else 0.0


@_compiled
def ods(recall: FloatArray, precision: FloatArray, shares: FloatArray) -> tuple[float, int, float]:
    """Give the first best F between neighbouring thresholds, the upper of the two, and the share of the way to it."""
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
        for s in shares:
            f = f_of(recall[k] * s + recall[k - 1] * (1 - s), precision[k] * s + precision[k - 1] * (1 - s))
            if f > best:
                best, at, share = f, k, s
    return best, at, share


@_compiled
def measure_curve(
    thresholds: FloatArray, recall: FloatArray, precision: FloatArray, shares: FloatArray, values: FloatArray
) -> None:
    """Fill in ODS F, precision, recall and threshold, the area, the extended area and R50 of one curve."""
    size = thresholds.size
    best, at, share = ods(recall, precision, shares)
    before = max(at - 1, 0)
    values[0] = best
    values[1] = precision[at] * share + precision[before] * (1 - share)
    values[2] = recall[at] * share + recall[before] * (1 - share)
    values[3] = thresholds[at] * share + thresholds[before] * (1 - share)
    values[4] = area(recall, precision)
    longer, higher = np.zeros(size + 2), np.zeros(size + 2)
    for k in range(size):  # Numba takes seconds to compile the error that assigning a slice might raise
        longer[k], higher[k] = recall[k], precision[k]
    longer[size + 1] = higher[size] = 1.0
    values[5] = area(longer, higher)
    xs, ys = np.empty(size), np.empty(size)
    found = distinct(precision, recall, xs, ys)
    wanted = max(xs[0], 0.5)
    values[6] = interpolated(wanted, xs, ys, found) if wanted <= xs[found - 1] else np.nan


@_compiled
def measure_pooled(counts: FloatArray, thresholds: FloatArray, shares: FloatArray, values: FloatArray) -> None:
    """Measure pooled curves, one row per resample.

    `counts` holds matched_gt, total_gt, matched_pred and total_pred, shape (rows, 4, K).
    """
    recall, precision = np.empty(thresholds.size), np.empty(thresholds.size)
    for row in range(counts.shape[0]):
        for k in range(thresholds.size):
            matched_gt, total_gt, matched_pred, total_pred = counts[row, :, k]
            recall[k] = matched_gt / total_gt if total_gt > 0 else 0.0
            precision[k] = matched_pred / total_pred if total_pred > 0 else 0.0
        measure_curve(thresholds, recall, precision, shares, values[row])
