"""Compiled passes over the pixels of an image: histograms by quadrant, moments, and the sums behind weighted F.

Float sums are added up row by row, always in the same order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from segbench.core.compiling import compiled

_REACH = 3  # of the 7x7 Gaussian


@compiled()
def centroid_sums(labels: NDArray[np.uint8]) -> tuple[int, int, int]:
    """Count the positives, and add up their rows and columns."""
    height, width = labels.shape
    positives = rows = columns = 0
    for r in range(height):
        in_row = of_columns = 0
        for c in range(width):
            in_row += labels[r, c]
            of_columns += c * labels[r, c]
        positives += in_row
        rows += r * in_row
        columns += of_columns
    return positives, rows, columns


@compiled()
def count_levels(labels: NDArray[np.uint8], levels: NDArray[np.uint8], top: int, left: int) -> NDArray[np.int64]:
    """Count pixels by quadrant (four), label and level; shape (8, 256), `top` and `left` are the size of the first."""
    height, width = labels.shape
    # Neighbouring pixels are often alike: they go to separate tables, or each would wait for the last.
    tables = np.zeros(4 * 2048, np.int64)
    for r in range(height):
        below = 4 if r >= top else 0
        for part in range(2):
            start, end = (0, left) if part == 0 else (left, width)
            first = np.uintp(256 * (below + 2 * part))  # unsigned: a signed place would be tested for its sign
            for c in range(start, end):
                table = np.uintp((c & 3) << 11)
                tables[table + first + (np.uintp(labels[r, c]) << np.uintp(8)) + np.uintp(levels[r, c])] += 1
    counts: NDArray[np.int64] = tables.reshape(4, 8, 256).sum(axis=0)
    return counts


@compiled()
def count_values(
    labels: NDArray[np.uint8], values: NDArray[np.float64], top: int, left: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Give moments by quadrant and label: number, sum, squares around the mean; and 256 levels by label."""
    height, width = labels.shape
    moments = np.zeros((3, 8))
    histogram = np.zeros((2, 256), np.int64)
    for r in range(height):
        of_row = np.zeros((2, 4))
        below = 4 if r >= top else 0
        for c in range(width):
            group = (2 if c >= left else 0) + labels[r, c]
            of_row[0, group] += 1
            of_row[1, group] += values[r, c]
            histogram[labels[r, c], int(255 * values[r, c])] += 1
        moments[:2, below : below + 4] += of_row
    means = moments[1] / np.maximum(moments[0], 1)
    for r in range(height):
        squares = np.zeros(4)
        below = 4 if r >= top else 0
        for c in range(width):
            group = (2 if c >= left else 0) + labels[r, c]
            squares[group] += (values[r, c] - means[below + group]) ** 2
        moments[2, below : below + 4] += squares
    return moments, histogram


@compiled()
def count_above(labels: NDArray[np.uint8], values: NDArray[np.float64], threshold: float) -> tuple[int, int]:
    """Count positives and negatives with values of at least `threshold`."""
    height, width = labels.shape
    true = false = 0
    for r in range(height):
        for c in range(width):
            above = np.int64(values[r, c] >= threshold)
            true += above * labels[r, c]
            false += above * (1 - labels[r, c])
    return true, false


@compiled()
def values_of(levels: NDArray[np.uint8], of_level: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give the value of each pixel's level."""
    values = np.empty(levels.shape)
    for r in range(levels.shape[0]):
        for c in range(levels.shape[1]):
            values[r, c] = of_level[levels[r, c]]
    return values


@compiled()
def nearest_rows(labels: NDArray[np.uint8]) -> NDArray[np.int32]:
    """Give the row of the nearest positive in each pixel's column, of two the upper one; -1 in columns without."""
    height, width = labels.shape
    nearest = np.full((height, width), -1, np.int32)
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
def cells_of_row(rows: NDArray[np.int32], r: int, cells: NDArray[np.int32]) -> int:
    """Find the columns with a positive that is nearest to some place of row `r`, and give how many there are.

    `rows` is that row of `nearest_rows`, `cells` has room for as many as there are columns. The columns are those of
    the cells of the Voronoi diagram on the line, in order (the algorithm of Maurer, Qi and Raghavan, PAMI 2003, with
    the ties of SciPy's ``distance_transform_edt``).
    """
    number = 0
    for c in range(rows.size):
        if rows[c] < 0:
            continue
        here = np.int64(rows[c] - r) ** 2
        while number >= 2:
            middle, before = cells[number - 1], cells[number - 2]
            a, b = np.int64(middle - before), np.int64(c - middle)
            of_middle, of_before = np.int64(rows[middle] - r) ** 2, np.int64(rows[before] - r) ** 2
            if (a + b) * (of_middle - a * b) <= b * of_before + a * here:
                break
            number -= 1
        cells[number] = c
        number += 1
    return number


@compiled()
def nearest_cell(rows: NDArray[np.int32], r: int, c: int, cells: NDArray[np.int32], start: int) -> int:
    """Give the place in `cells`, `start` or a later one, of the positive nearest to row `r`, column `c`."""
    at = start
    distance = np.int64(rows[cells[at]] - r) ** 2 + np.int64(cells[at] - c) ** 2
    while at + 1 < cells.size:
        beyond = np.int64(rows[cells[at + 1]] - r) ** 2 + np.int64(cells[at + 1] - c) ** 2
        if distance <= beyond:
            break
        distance = beyond
        at += 1
    return at


@compiled()
def search_row(rows: NDArray[np.int32], r: int, c: int, start: int) -> tuple[int, int]:
    """Give the column of the positive nearest to row `r`, column `c`, the first of several, and the columns tried.

    `start` is any column with a positive; the nearer it lies to the result, the fewer are tried.
    """
    best = start
    nearest = np.int64(rows[start] - r) ** 2 + np.int64(start - c) ** 2
    away = 0
    while away * away <= nearest:
        before, after = c - away, c + away
        if before >= 0 and rows[before] >= 0:
            distance = np.int64(rows[before] - r) ** 2 + away * away
            if distance < nearest or (distance == nearest and before < best):
                best, nearest = before, distance
        if after < rows.size and rows[after] >= 0:
            distance = np.int64(rows[after] - r) ** 2 + away * away
            if distance < nearest or (distance == nearest and after < best):
                best, nearest = after, distance
        away += 1
    return best, away


@compiled()
def mark_near(rows: NDArray[np.int32], r: int, padded: NDArray[np.uint8], near: NDArray[np.uint8]) -> None:
    """Mark the columns of row `r` that the Gaussian may reach from a positive; `padded` has that more at each end."""
    width = rows.size
    for c in range(width):
        padded[c + _REACH] = (rows[c] >= 0) & (rows[c] - r <= _REACH) & (r - rows[c] <= _REACH)
    for c in range(width):
        near[c] = padded[c]
    for k in range(1, 2 * _REACH + 1):
        for c in range(width):
            near[c] |= padded[c + k]


@compiled()
def errors_of_negatives(
    labels: NDArray[np.uint8], values: NDArray[np.float64], weights: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64]]:
    """Add up the weighted errors of negatives, and give the errors that the Gaussian sees.

    Those are the errors of positives; negatives within its reach have the error of the nearest positive.
    """
    height, width = labels.shape
    rows = nearest_rows(labels)
    cells, near = np.empty(width, np.int32), np.empty(width, np.uint8)
    padded = np.zeros(width + 2 * _REACH, np.uint8)
    column = int(np.argmax(rows[0] >= 0))  # a column with a positive, where searches start
    errors = np.zeros((height, width))
    farthest = np.int64(weights.size - 1)
    total = 0.0
    for r in range(height):
        mark_near(rows[r], r, padded, near)
        number = at = 0
        tried = 0
        subtotal = 0.0
        for c in range(width):
            if labels[r, c]:
                errors[r, c] = 1.0 - values[r, c]
            elif near[c] or values[r, c] > 0:
                if tried <= 2 * width:  # few pixels, or near ones: faster than all cells of the row
                    column, more = search_row(rows[r], r, c, column)
                    tried += more
                else:
                    if not number:
                        number = cells_of_row(rows[r], r, cells)
                    at = nearest_cell(rows[r], r, c, cells[:number], at)
                    column = cells[at]
                row = rows[r, column]
                distance = np.int64(row - r) ** 2 + np.int64(column - c) ** 2
                subtotal += values[r, c] * weights[np.minimum(distance, farthest)]
                if near[c]:
                    errors[r, c] = 1.0 - values[row, column]
        total += subtotal
    return total, errors


@compiled()
def errors_of_positives(
    labels: NDArray[np.uint8], errors: NDArray[np.float64], gauss: NDArray[np.float64], first: int, last: int
) -> float:
    """Add up the errors of positives, each the lower of its own and of the blurred ones.

    `errors` is that of `errors_of_negatives`, `gauss` the filter along one axis; positives lie in the rows from `first`
    to `last`. What lies outside the image is 0.
    """
    height, width = labels.shape
    blurred = np.zeros((height + 2 * _REACH, width))
    padded = np.zeros(width + 2 * _REACH)
    for r in range(max(first - _REACH, 0), min(last + _REACH + 1, height)):
        padded[_REACH : _REACH + width] = errors[r]
        for c in range(width):
            value = 0.0
            for k in range(2 * _REACH + 1):
                value += gauss[k] * padded[c + k]
            blurred[r + _REACH, c] = value
    total = 0.0
    for r in range(first, last + 1):
        subtotal = 0.0
        for c in range(width):
            if labels[r, c]:
                value = 0.0
                for k in range(2 * _REACH + 1):
                    value += gauss[k] * blurred[r + k, c]
                subtotal += min(errors[r, c], value)
        total += subtotal
    return total


def weighted_errors(
    labels: NDArray[np.uint8], values: NDArray[np.float64], weights: NDArray[np.float64], gauss: NDArray[np.float64]
) -> tuple[float, float]:
    """Add up the weighted errors of positives and of negatives; there must be a positive.

    Parameters
    ----------
    labels, values : array, shape (H, W)
        Labels 0 and 1, values in [0, 1].
    weights : array of float64
        Of negatives, by squared distance to the nearest positive; the last for all farther ones.
    gauss : array of float64, shape (7,)
        The filter along one axis.
    """
    of_negatives, errors = errors_of_negatives(labels, values, weights)
    held = np.flatnonzero(labels.any(axis=1))
    return errors_of_positives(labels, errors, gauss, int(held[0]), int(held[-1])), of_negatives
