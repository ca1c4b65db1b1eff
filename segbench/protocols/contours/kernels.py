"""Compiled loops over masks: where contours lie, and the exact squared distances between them, in linear time.

Masks are arrays of 0 and 1 of type uint8, cut to the box that holds both, which is one pixel wider where the image is.
Outside a mask is background. Marks are arrays of the same type, not 0 on a contour. Arrays of the size of the image are
given, not made here: NumPy asks for large pages of memory, and mapping small ones takes as long as the distances.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import IntArray
from segbench.core.compiling import compiled
from segbench.imaging.voronoi import cells_of_row, ends_of_cells

_FAR = 2**30
ANY = 2 * _FAR**2
"""More than any squared distance."""
_CHECKS = 8  # of neighbours per pixel of a row, before the nearest are found for the whole row
_AT_ONCE = 8  # pixels without marks that are passed over together
_NEAR_VALUES = 2**17  # of 32 bits, which the second cache of any processor holds
_BITS = 11  # of a digit of values that are sorted
_DIGIT = 2**_BITS - 1

ByteArray = NDArray[np.uint8]
Int32Array = NDArray[np.int32]


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
def inner_boundary(padded: ByteArray, marks: ByteArray) -> ByteArray:
    """Mark the pixels of a mask, given with a pixel more on each side, with a neighbour of four that is background."""
    height, width = marks.shape
    for r in range(height):
        above, row, below = padded[r], padded[r + 1], padded[r + 2]
        for c in range(width):
            marks[r, c] = row[c + 1] & (1 ^ (above[c + 1] & below[c + 1] & row[c] & row[c + 2]))
    return marks


@compiled()
def corners(padded: ByteArray, marks: ByteArray) -> ByteArray:
    """Mark the corners of pixels on the contour by the kind of its element there, of a mask as `inner_boundary` has it.

    Kind 1 has one or three of its four pixels in the mask, kind 2 two that are adjacent, kind 3 two in a diagonal.
    """
    height, width = marks.shape
    for r in range(height):
        upper, lower = padded[r], padded[r + 1]
        for c in range(width):
            a, b, d, e = upper[c], upper[c + 1], lower[c], lower[c + 1]
            odd = a ^ b ^ d ^ e
            two = (a | b | d | e) & (1 ^ (a & b & d & e)) & (1 ^ odd)
            marks[r, c] = odd | (two << 1) | (two & (1 ^ (a ^ e)))
    return marks


@compiled()
def davis_boundary(mask: ByteArray, marks: ByteArray) -> ByteArray:
    """Mark the pixels that differ from the right, the lower or the lower right one, as `seg2bmap` of DAVIS does."""
    height, width = mask.shape
    for r in range(height - 1):
        row, below = mask[r], mask[r + 1]
        for c in range(width - 1):
            marks[r, c] = (row[c] ^ row[c + 1]) | (row[c] ^ below[c]) | (row[c] ^ below[c + 1])
        marks[r, width - 1] = row[width - 1] ^ below[width - 1]
    for c in range(width - 1):
        marks[height - 1, c] = mask[height - 1, c] ^ mask[height - 1, c + 1]
    marks[height - 1, width - 1] = 0
    return marks


@compiled()
def _both(row: ByteArray, ahead: ByteArray, both: ByteArray) -> None:
    """Find where both are 1; a function of its own is compiled to code that takes many pixels at once."""
    for c in range(row.size):
        both[c] = row[c] & ahead[c]


@compiled()
def band(mask: ByteArray, reach: int, marks: ByteArray) -> ByteArray:
    """Mark the pixels of a mask within so many pixels of the background, diagonal steps included."""
    height, width = mask.shape
    full = 2 * reach + 1
    row, other = np.zeros(width + full, np.uint8), np.zeros(width + full, np.uint8)  # 0 beyond the last column
    rows = np.zeros(width, np.uint16)
    for r in range(height):
        _both(mask[r], mask[r], row)
        covered = 1
        while covered < full:  # row[c] says whether this many pixels from c on are all in the mask
            step = min(covered, full - covered)
            _both(row[:width], row[step:], other)
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
def _nearest(row: Int32Array, c: int, most: int) -> int:
    """Return the squared distance from column `c` to the nearest mark by its neighbours in the row, at most `most`."""
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
    return best


@compiled()
def _marked(marks: ByteArray, columns: Int32Array) -> int:
    """Write down the columns of the marks of a row, and return how many there are."""
    number, remainder = 0, marks.size % _AT_ONCE
    for start in range(0, marks.size - remainder, _AT_ONCE):
        marks_ahead = marks[start : start + _AT_ONCE]
        any_mark = np.uint8(0)
        for k in range(_AT_ONCE):
            any_mark |= marks_ahead[k]
        if any_mark:
            for k in range(_AT_ONCE):
                columns[number] = start + k
                number += marks_ahead[k] != 0
    for c in range(marks.size - remainder, marks.size):
        columns[number] = c
        number += marks[c] != 0
    return number


@compiled()
def _go_on(marks: ByteArray, near: Int32Array, kept: Int32Array) -> None:
    """Compute the distances to marks along columns of a row, from those of the row above, twice."""
    for c in range(near.size):
        near[c] = kept[c] = 0 if marks[c] else near[c] + 1


@compiled()
def _of_row(near: Int32Array, columns: Int32Array, most: int, distances: IntArray) -> None:
    """Find the squared distances of the marks in these columns of a row, from those along columns.

    Neighbours of a mark are looked at until none can be nearer. Where that takes long, the nearest are found for all
    columns together, so that the time is linear in their number.
    """
    left = _CHECKS * near.size
    number = 0
    while number < columns.size and left > 0:
        distances[number] = _nearest(near, int(columns[number]), most)
        left -= min(int(np.sqrt(distances[number])), near.size)
        number += 1
    if number == columns.size:
        return
    rows, squares = np.where(near < _FAR, 0, -1).astype(np.int32), near.astype(np.int64) ** 2
    cells, ends = np.empty_like(near), np.empty_like(near)
    ends_of_cells(squares, cells[: cells_of_row(rows, squares, cells)], ends)
    cell = 0
    for k in range(number, columns.size):
        c = columns[k]
        while ends[cell] <= c:
            cell += 1
        distances[k] = min(squares[cells[cell]] + np.int64(c - cells[cell]) ** 2, most)


@compiled()
def _find_distances(marks: ByteArray, others: ByteArray, most: int, distances: IntArray, coded: bool) -> None:  # noqa: FBT001  by place
    """Find what `squared_distances` gives, from the last row to the first.

    Distances along columns are kept for a few rows at a time, few enough for the processor's own memory.
    """
    height, width = marks.shape
    many = max(_NEAR_VALUES // width, 1)
    above, before = np.empty((many, width), np.int32), np.empty((-(-height // many), width), np.int32)
    near = np.full(width, _FAR, np.int32)
    for r in range(height):
        if r % many == 0:
            before[r // many] = near
        _go_on(others[r], near, above[0])
    if near.min() >= _FAR:
        distances[:] = most
        return
    near[:] = _FAR
    columns = np.empty(width + 1, np.int32)
    number: Any = distances.size
    for r in range(height - 1, -1, -1):
        if r == height - 1 or r % many == many - 1:
            last = before[r // many]
            for k in range(r % many + 1):
                _go_on(others[r - r % many + k], last, above[k])
        row = above[r % many]
        for c in range(width):
            near[c] = min(row[c], near[c] + 1)
        here = _marked(marks[r], columns)
        number -= here
        _of_row(near, columns[:here], most, distances[number : number + here])
        if coded:
            for k in range(here):
                distances[number + k] = 4 * distances[number + k] + marks[r, columns[k]]


def squared_distances(marks: ByteArray, others: ByteArray, most: int = ANY, *, coded: bool = False) -> IntArray:
    """Compute the squared distance of each mark, row by row, to the nearest of the others, at most `most`.

    Coded are four times the distance plus the mark.
    """
    distances = np.empty(np.count_nonzero(marks), np.int64)
    _find_distances(marks, others, most, distances, coded)
    return distances


@compiled()
def in_order(values: IntArray, spare: IntArray) -> IntArray:
    """Sort values digit by digit, in linear time; `spare` is as large, and both are used up."""
    shift, most = 0, values.max()
    while most >> shift:
        positions = np.zeros(_DIGIT + 2, np.int64)
        for value in values:
            positions[((value >> shift) & _DIGIT) + 1] += 1
        positions = np.cumsum(positions)
        for value in values:
            digit = (value >> shift) & _DIGIT
            spare[positions[digit]] = value
            positions[digit] += 1
        values, spare = spare, values
        shift += _BITS
    return values
