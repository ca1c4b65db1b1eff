"""Compiled loops over masks: where contours lie, and the exact squared distances between them, in linear time.

Masks are arrays of 0 and 1 of type uint8, cut to the box that holds both, which is one pixel wider where the image is.
Outside a mask is background. Marks are arrays of the same type, not 0 on a contour.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.compiling import compiled
from segbench.protocols.saliency.kernels import cells_of_row, ends_of_cells

_FAR = 2**30
_CHECKS = 8  # of neighbours per pixel of a row, before the nearest are found for the whole row

ByteArray = NDArray[np.uint8]
IntArray = NDArray[np.int64]


@compiled()
def extent(truth: ByteArray, predicted: ByteArray) -> tuple[int, int, int, int, int, int, int]:
    """Find the first and last row and column of two masks, the last excluded, and count the pixels of each and of both.

    Where both are empty, so is the box.
    """
    height, width = truth.shape
    top, bottom, left, right = height, 0, width, 0
    sizes = np.zeros(3, np.int64)
    for r in range(height):
        first = second = both = np.int32(0)
        for c in range(width):
            first += np.int32(truth[r, c])
            second += np.int32(predicted[r, c])
            both += np.int32(truth[r, c] & predicted[r, c])
        if first or second:
            top, bottom = min(top, r), r + 1
            for c in range(left):
                if truth[r, c] | predicted[r, c]:
                    left = c
                    break
            for c in range(width - 1, right - 1, -1):
                if truth[r, c] | predicted[r, c]:
                    right = c + 1
                    break
            sizes[0] += first
            sizes[1] += second
            sizes[2] += both
    return top, bottom, left, right, sizes[0], sizes[1], sizes[2]


@compiled()
def inner_boundary(mask: ByteArray) -> ByteArray:
    """Mark the pixels of a mask with a neighbour of four that is background."""
    height, width = mask.shape
    marks = np.empty_like(mask)
    blank = np.zeros(width, np.uint8)
    for r in range(height):
        row = mask[r]
        above = mask[r - 1] if r else blank
        below = mask[r + 1] if r + 1 < height else blank
        for c in range(1, width - 1):
            marks[r, c] = row[c] & (1 ^ (above[c] & below[c] & row[c - 1] & row[c + 1]))
        marks[r, 0], marks[r, width - 1] = row[0], row[width - 1]
    return marks


@compiled()
def corners(mask: ByteArray) -> ByteArray:
    """Mark the corners of pixels on the contour by the kind of its element there, shape (H + 1, W + 1).

    Kind 1 has one or three of its four pixels in the mask, kind 2 two that are adjacent, kind 3 two in a diagonal.
    """
    height, width = mask.shape
    marks = np.empty((height + 1, width + 1), np.uint8)
    upper, lower = np.zeros(width + 2, np.uint8), np.zeros(width + 2, np.uint8)
    for r in range(height + 1):
        upper, lower = lower, upper
        for c in range(width):
            lower[c + 1] = mask[r, c] if r < height else 0
        for c in range(width + 1):
            a, b, d, e = upper[c], upper[c + 1], lower[c], lower[c + 1]
            odd = a ^ b ^ d ^ e
            two = (a | b | d | e) & (1 ^ (a & b & d & e)) & (1 ^ odd)
            marks[r, c] = odd | (two << 1) | (two & (1 ^ (a ^ e)))
    return marks


@compiled()
def davis_boundary(mask: ByteArray) -> ByteArray:
    """Mark the pixels that differ from the right, the lower or the lower right one, as `seg2bmap` of DAVIS does."""
    height, width = mask.shape
    marks = np.zeros_like(mask)
    for r in range(height - 1):
        row, below = mask[r], mask[r + 1]
        for c in range(width - 1):
            marks[r, c] = (row[c] ^ row[c + 1]) | (row[c] ^ below[c]) | (row[c] ^ below[c + 1])
        marks[r, width - 1] = row[width - 1] ^ below[width - 1]
    for c in range(width - 1):
        marks[height - 1, c] = mask[height - 1, c] ^ mask[height - 1, c + 1]
    return marks


@compiled()
def band(mask: ByteArray, reach: int) -> ByteArray:
    """Mark the pixels of a mask within so many pixels of the background, diagonal steps included."""
    height, width = mask.shape
    marks = mask.copy()
    full = 2 * reach + 1
    row, other, rows = np.empty(width, np.uint8), np.empty(width, np.uint8), np.zeros(width, np.uint16)
    for r in range(height):
        row[:] = mask[r]
        covered = 1
        while covered < full:  # row[c] says whether this many pixels from c on are all in the mask
            step = min(covered, full - covered)
            ahead = row[step:]
            for c in range(ahead.size):
                other[c] = row[c] & ahead[c]
            other[ahead.size :] = 0
            row, other = other, row
            covered += step
        for c in range(width):
            rows[c] = min(rows[c] + np.uint16(1), np.uint16(full)) * row[c]
        if r >= 2 * reach:
            middle = marks[r - reach, reach:]
            for c in range(width - 2 * reach):
                middle[c] &= np.uint8(rows[c] < full)
    return marks


@compiled()
def common(one: ByteArray, other: ByteArray) -> tuple[int, int, int]:
    """Count the pixels that are 1 in one, in the other, and in both."""
    first = second = both = 0
    for r in range(one.shape[0]):
        for c in range(one.shape[1]):
            first += one[r, c]
            second += other[r, c]
            both += one[r, c] & other[r, c]
    return first, second, both


@compiled()
def _places(flat: ByteArray, words: NDArray[np.uint64]) -> IntArray:
    """Give the places of bytes that are not 0, eight at a time; `words` are the same bytes."""
    found = np.empty(np.count_nonzero(flat), np.int64)
    number = 0
    for k in range(words.size):
        if words[k]:
            for place in range(8 * k, 8 * k + 8):
                if flat[place]:
                    found[number] = place
                    number += 1
    return found


def places_of(marks: ByteArray) -> IntArray:
    """Give the places of marks in the flat array, rising; several times as fast as `numpy.flatnonzero`."""
    flat = np.zeros(-(-marks.size // 8) * 8, np.uint8)
    flat[: marks.size] = marks.reshape(-1)
    return _places(flat, flat.view(np.uint64))


@compiled()
def along_columns(marks: ByteArray) -> NDArray[np.int32]:
    """Give the distance of each pixel to the nearest mark in its column; `_FAR` or more in columns without."""
    height, width = marks.shape
    distances = np.empty((height, width), np.int32)
    for c in range(width):
        distances[0, c] = 0 if marks[0, c] else _FAR
    for r in range(1, height):
        for c in range(width):
            distances[r, c] = 0 if marks[r, c] else distances[r - 1, c] + 1
    for r in range(height - 2, -1, -1):
        for c in range(width):
            distances[r, c] = min(distances[r, c], distances[r + 1, c] + 1)
    return distances


@compiled()
def _nearest(row: NDArray[np.int32], c: int, most: int) -> int:
    """Give the squared distance from column `c` to the nearest mark by its neighbours in the row, at most `most`."""
    best: Any = min(np.int64(row[c]) ** 2, most)
    both, last = min(c, row.size - 1 - c), max(c, row.size - 1 - c)
    step = 1
    while step <= both and step * step < best:
        near = np.int64(min(row[np.uint64(c - step)], row[np.uint64(c + step)]))
        best = min(best, step * step + near * near)
        step += 1
    while step <= last and step * step < best:
        near = np.int64(row[np.uint64(c - step if c >= step else c + step)])
        best = min(best, step * step + near * near)
        step += 1
    return best  # type: ignore[no-any-return]  # a number


@compiled()
def squared_distances(places: IntArray, columns: NDArray[np.int32]) -> IntArray:
    """Give the squared distance of each mark to the nearest of the others.

    `places` are those of the marks in the flat array, rising; `columns` are `along_columns` of the others, of which
    there must be one. Neighbours of a mark in its row are looked at until none can be nearer. In rows where that takes
    long, the nearest are found for all columns together, so that the time is linear in the number of pixels.
    """
    width = columns.shape[1]
    found = np.empty(places.size, np.int64)
    rows, cells, ends = np.empty(width, np.int32), np.empty(width, np.int32), np.empty(width, np.int32)
    squares = np.empty(width, np.int64)
    r: Any = -1
    left = cell = 0
    for k in range(places.size):
        if places[k] // width > r:
            r, left, cell = places[k] // width, _CHECKS * width, -1
        c, row = places[k] - r * width, columns[r]
        if left > 0:
            found[k] = _nearest(row, c, 2 * _FAR * _FAR)
            left -= min(int(np.sqrt(found[k])), width)
            continue
        if cell < 0:
            cell = 0
            for at in range(width):
                rows[at] = -1 if row[at] >= _FAR else 0
                squares[at] = np.int64(row[at]) ** 2
            ends_of_cells(squares, cells[: cells_of_row(rows, squares, cells)], ends)
        while ends[cell] <= c:
            cell += 1
        found[k] = squares[cells[cell]] + np.int64(c - cells[cell]) ** 2
    return found


@compiled()
def count_near(places: IntArray, columns: NDArray[np.int32], reach: int) -> int:
    """Count the marks within so many pixels of the others; see `squared_distances`."""
    width = columns.shape[1]
    number = 0
    most = reach * reach
    for k in range(places.size):
        r = places[k] // width
        number += int(_nearest(columns[r], places[k] - r * width, most + 1) <= most)
    return number
