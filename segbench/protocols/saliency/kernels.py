"""Compiled passes over the pixels of an image, and the metrics of their counts and moments.

Conventions as in `segbench.protocols.saliency`. Float sums are added up row by row, always in the same order. Moments,
of shape (3, 4, 2), are those of the values by quadrant and label (negatives, positives): their number, their sum, and
the sum of squares around their mean.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import FloatArray, IntArray
from segbench.core.compiling import compiled
from segbench.imaging.voronoi import cells_of_row, ends_of_cells
from segbench.protocols.saliency.metrics import f_measure

_REACH = 3  # of the 7x7 Gaussian
EPS = float(np.spacing(1.0))

_f_measure = compiled()(f_measure)


@compiled()
def count_levels(labels: NDArray[np.uint8], levels: NDArray[np.uint8], top: int, left: int) -> IntArray:
    """Count pixels by quadrant (four), label and level; shape (8, 256), `top` and `left` are the size of the first."""
    height, width = labels.shape
    # Neighbouring pixels are often alike: they go to separate tables, or each would wait for the last.
    tables = np.zeros(4 * 2048, np.int64)
    for r in range(height):
        below = 4 if r >= top else 0
        for half in range(2):
            start, end = (0, left) if half == 0 else (left, width)
            first = np.uintp(256 * (below + 2 * half))  # unsigned: a signed index would be tested for its sign
            for c in range(start, end):
                table = np.uintp((c & 3) << 11)
                tables[table + first + (np.uintp(labels[r, c]) << np.uintp(8)) + np.uintp(levels[r, c])] += 1
    counts = np.zeros((8, 256), np.int64)
    for k in range(2048):
        counts[k >> 8, k & 255] = tables[k] + tables[k + 2048] + tables[k + 4096] + tables[k + 6144]
    return counts


@compiled()
def moments_of_levels(table: IntArray, values: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return what `count_values` returns, from counts by quadrant, label and level and the value of each level."""
    moments = np.zeros((3, 4, 2))
    histogram = np.zeros((2, 256), np.int64)
    for group in range(8):
        quadrant, label = group >> 1, group & 1
        number = 0
        total = squares = 0.0
        for level in range(256):
            number += table[group, level]
            total += table[group, level] * values[level]
            histogram[label, int(255 * values[level])] += table[group, level]
        mean = total / max(number, 1)
        for level in range(256):
            squares += table[group, level] * (values[level] - mean) ** 2
        moments[0, quadrant, label], moments[1, quadrant, label], moments[2, quadrant, label] = number, total, squares
    return moments, histogram


@compiled()
def count_values(labels: NDArray[np.uint8], values: FloatArray, top: int, left: int) -> tuple[FloatArray, IntArray]:
    """Return the moments, and the histogram of shape (2, 256): pixels by label and truncated level."""
    height, width = labels.shape
    moments = np.zeros((3, 4, 2))
    histogram = np.zeros((2, 256), np.int64)
    for r in range(height):
        of_row = np.zeros((2, 4))
        below = 2 if r >= top else 0
        for c in range(width):
            group = (2 if c >= left else 0) + labels[r, c]
            of_row[0, group] += 1
            of_row[1, group] += values[r, c]
            histogram[labels[r, c], int(255 * values[r, c])] += 1
        for group in range(4):
            for k in range(2):
                moments[k, below + (group >> 1), group & 1] += of_row[k, group]
    means = np.zeros((4, 2))
    for quadrant in range(4):
        for label in range(2):
            means[quadrant, label] = moments[1, quadrant, label] / max(moments[0, quadrant, label], 1)
    for r in range(height):
        squares = np.zeros(4)
        below = 2 if r >= top else 0
        for c in range(width):
            group = (2 if c >= left else 0) + labels[r, c]
            squares[group] += (values[r, c] - means[below + (group >> 1), group & 1]) ** 2
        for group in range(4):
            moments[2, below + (group >> 1), group & 1] += squares[group]
    return moments, histogram


@compiled()
def nearest_rows(labels: NDArray[np.uint8]) -> NDArray[np.int32]:
    """Return the row of the nearest positive in each pixel's column, of two the upper one; -1 in columns without."""
    height, width = labels.shape
    nearest = np.empty((height, width), np.int32)
    for c in range(width):
        nearest[0, c] = 0 if labels[0, c] else -1
    for r in range(1, height):
        for c in range(width):
            nearest[r, c] = r if labels[r, c] else nearest[r - 1, c]
    for r in range(height - 2, -1, -1):
        for c in range(width):
            above, lower = nearest[r, c], nearest[r + 1, c]
            if lower > r and (above < 0 or lower - r < r - above):
                nearest[r, c] = lower
    return nearest


@compiled()
def blur_row(errors: FloatArray, gauss: FloatArray, blurred: FloatArray) -> None:
    """Filter a row of errors, padded by the reach of the filter at each end."""
    for c in range(blurred.size):
        outer = gauss[0] * (errors[c] + errors[c + 6]) + gauss[1] * (errors[c + 1] + errors[c + 5])
        blurred[c] = outer + (gauss[2] * (errors[c + 2] + errors[c + 4]) + gauss[3] * errors[c + 3])


@compiled()
def blur_column(window: FloatArray, r: int, gauss: FloatArray, blurred: FloatArray) -> None:
    """Filter row `r` across rows; `window` holds the rows in reach of the filter, row `k` at index ``k % 7``."""
    for c in range(blurred.size):
        blurred[c] = 0.0
    for k in range(2 * _REACH + 1):
        weight, row = gauss[k], window[(r + k - _REACH) % 7]
        for c in range(blurred.size):
            blurred[c] += weight * row[c]


@compiled()
def errors_of_positives(labels: NDArray[np.uint8], values: FloatArray, blurred: FloatArray) -> float:
    """Return the sum of the errors of the positives of a row, each the lower of its own and the filtered error."""
    total = 0.0
    for c in range(labels.size):
        if labels[c]:
            total += min(1.0 - values[c], blurred[c])
    return total


@compiled()
def weighted_errors(
    labels: NDArray[np.uint8], values: FloatArray, weights: FloatArray, gauss: FloatArray
) -> tuple[float, float]:
    """Return the sums of the weighted errors of positives and of negatives; there must be a positive.

    The weight of a negative depends on its squared distance to the nearest positive. The error of a positive is the
    lower of its own and the filtered one; for the filter a negative has the error of its nearest positive, and errors
    outside the image are 0.
    """
    height, width = labels.shape
    nearest = nearest_rows(labels)
    squares, cells, ends = np.empty(width, np.int64), np.empty(width, np.int32), np.empty(width, np.int32)
    errors, blurred = np.zeros(width + 2 * _REACH), np.empty(width)
    window = np.zeros((7, width))
    farthest = np.int64(weights.size - 1)
    of_positives = of_negatives = 0.0
    for r in range(height + _REACH):
        if r < height:
            rows = nearest[r]
            for c in range(width):
                squares[c] = np.int64(rows[c] - r) ** 2
            number = cells_of_row(rows, squares, cells)
            ends_of_cells(squares, cells[:number], ends)
            subtotal = 0.0
            start = 0
            for k in range(number):
                column = np.int64(cells[k])
                error = 1.0 - values[rows[column], column]
                for c in range(start, ends[k]):
                    if values[r, c] > 0:
                        distance = squares[column] + (c - column) ** 2
                        subtotal += values[r, c] * weights[min(distance, farthest)]
                    errors[c + _REACH] = error
                start = max(start, ends[k])
            of_negatives += subtotal
            blur_row(errors, gauss, window[r % 7])
        else:
            for c in range(width):
                window[r % 7, c] = 0.0
        centre = r - _REACH  # the row whose window is complete
        if centre >= 0:
            blur_column(window, centre, gauss, blurred)
            of_positives += errors_of_positives(labels[centre], values[centre], blurred)
    return of_positives, of_negatives


@compiled()
def s_measure(moments: FloatArray, positives: int, negatives: int) -> float:
    """Compute S of an image: half of objects, half of regions."""
    pixels = positives + negatives
    total = objects = regions = 0.0
    for quadrant in range(4):
        total += moments[1, quadrant, 0] + moments[1, quadrant, 1]
    if positives == 0:
        return 1 - total / pixels
    if negatives == 0:
        return total / pixels
    objects = (positives * _object(moments, 1) + negatives * _object(moments, 0)) / pixels
    for quadrant in range(4):
        number = moments[0, quadrant, 0] + moments[0, quadrant, 1]
        if number > 0:
            regions += number * _similarity(moments[:, quadrant])
    return max(0.0, 0.5 * objects + 0.5 * regions / pixels)


@compiled()
def _object(moments: FloatArray, label: int) -> float:
    """Compute the similarity of objects: of the values of a label, in all quadrants, with the label."""
    number = total = squares = 0.0
    for quadrant in range(4):
        number += moments[0, quadrant, label]
        total += moments[1, quadrant, label]
    mean = total / number
    for quadrant in range(4):
        pixels = moments[0, quadrant, label]
        squares += moments[2, quadrant, label] + pixels * (moments[1, quadrant, label] / max(pixels, 1) - mean) ** 2
    deviation = np.sqrt(squares / (number - 1)) if number > 1 else 0.0
    mean = mean if label else 1 - mean
    return 2 * mean / (mean * mean + 1 + deviation + EPS)


@compiled()
def _similarity(moments: FloatArray) -> float:
    """Compare means and variances of values (x) and labels (y) of a quadrant, as SSIM without constants."""
    negatives, positives = moments[0, 0], moments[0, 1]
    sum_negatives, sum_positives = moments[1, 0], moments[1, 1]
    number, squares = negatives + positives, moments[2, 0] + moments[2, 1]
    x, y = (sum_negatives + sum_positives) / number, positives / number
    products = 0.0
    if negatives > 0 and positives > 0:
        difference = sum_positives / positives - sum_negatives / negatives
        products = negatives * positives / number * difference
        squares += products * difference
    degrees = max(number - 1, 1)
    variance_x, variance_y, covariance = squares / degrees, number * y * (1 - y) / degrees, products / degrees
    numerator, denominator = 4 * x * y * covariance, (x * x + y * y) * (variance_x + variance_y)
    if numerator != 0:
        return float(numerator / (denominator + EPS))
    return 0.0 if denominator != 0 else 1.0


@compiled()
def e_measure(true: int, false: int, positives: int, negatives: int) -> float:
    """Compute the enhanced alignment of labels and predictions, each less its mean."""
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
    """Compute the enhanced alignment of a pixel from its prediction and label, each less its mean."""
    return (2 * p * t / (p * p + t * t + EPS) + 1) ** 2 / 4


@compiled()
def at_thresholds(true: IntArray, false: IntArray, positives: int, negatives: int) -> tuple[FloatArray, FloatArray]:
    """Compute the curves of `SaliencyCounts` in their order, shape (7, K), and BER; 0 where nothing is there.

    `true` and `false` are true and false positives at K thresholds. Specificity is 0 without true positives, too.
    """
    curves, ber = np.empty((7, true.size)), np.empty(true.size)
    for k in range(true.size):
        precision, recall = true[k] / max(true[k] + false[k], 1), true[k] / max(positives, 1)
        curves[0, k], curves[1, k] = precision, recall
        curves[2, k] = _f_measure(precision, recall)
        curves[3, k] = e_measure(true[k], false[k], positives, negatives)
        curves[4, k] = true[k] / max(positives + false[k], 1)
        curves[5, k] = 2 * true[k] / max(positives + true[k] + false[k], 1)
        curves[6, k] = (negatives - false[k]) / max(negatives, 1) if true[k] else 0.0
        fpr, fnr = false[k] / max(negatives, 1), (positives - true[k]) / max(positives, 1)
        # The mean over the labels that the image has; the error of a label without pixels is 0.
        ber[k] = (fpr + fnr) / (min(negatives, 1) + min(positives, 1))
    return curves, ber


def weighted_f(of_positives: float, of_negatives: float, positives: int) -> float:
    """Compute weighted F from the weighted errors of both labels; 0 without positives."""
    if not positives:
        return 0.0
    true = positives - of_positives
    recall = 1 - of_positives / positives
    precision = true / (true + of_negatives + EPS)
    return float(2 * recall * precision / (recall + precision + EPS))
