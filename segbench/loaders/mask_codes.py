"""Masks as annotations write them, compressed runs or polygons, to lengths of runs; and these to label maps.

Conventions
-----------
1. Runs are those of COCO's uncompressed RLE: the image is scanned column by column, the first run is background.
2. Polygons become masks as in pycocotools: edges are drawn on a grid five times as fine, and a column of pixels begins
   where they cross its middle. What leaves the image is cut off. Several polygons of an object are joined.
3. Nothing is allocated by numbers that a file states: lengths of runs are added up before anything is drawn.

References
----------
Lin et al.: Microsoft COCO: Common objects in context. ECCV 2014 (pycocotools 2.0.11, `maskApi.c`: ``rleFrString``,
``rleFrPoly``; BSD-2-Clause, see LICENSES).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import FloatArray, IntArray
from segbench.core.compiling import int64, kernel

_FINER = 5.0
LARGEST_COORDINATE = 2.0**24
_MOST_STEPS = 2**28
_MOST_BITS = 40


def runs_of_texts(texts: Sequence[bytes]) -> tuple[IntArray, IntArray]:
    """Return the runs of masks in COCO's compressed RLE, and where those of each end.

    Each number has digits of five bits, the low ones first, of which the sixth bit says whether more follow; from the
    fourth number on it is the difference to the last but one. A mask whose text is damaged has a run of -1.
    """
    characters = np.frombuffer(b"".join(texts), np.uint8)
    ends_of_texts = np.cumsum([len(text) for text in texts], dtype=np.int64)
    runs, ends = np.empty(characters.size + len(texts), np.int64), np.empty(len(texts), np.int64)
    number = _read_texts(characters, ends_of_texts, runs, ends)
    return runs[:number].copy(), ends


@kernel
def _read_texts(
    characters: NDArray[np.uint8], ends_of_texts: IntArray, runs: NDArray[np.int64], ends: NDArray[np.int64]
) -> int:
    """Fill in the runs of each text and where they end; return their number."""
    number = position = 0
    for text in range(ends_of_texts.size):
        first = number
        value, shift, damaged = int64(0), int64(0), False
        while position < ends_of_texts[text]:
            digit = int64(characters[position]) - 48
            position += 1
            if digit < 0 or digit > 63 or shift > _MOST_BITS:
                damaged = True
                break
            value |= (digit & 31) << shift
            shift += 5
            if digit & 32:
                continue
            if digit & 16:
                value -= int64(1) << shift
            if number - first > 2:
                value += runs[number - 2]
            if value < 0 or value > int64(1) << _MOST_BITS:
                damaged = True
                break
            runs[number] = value
            number += 1
            value, shift = int64(0), int64(0)
        if damaged or shift:
            number = first + 1
            runs[first] = -1
        position = ends_of_texts[text]
        ends[text] = number
    return number


@kernel
def runs_of_polygons(
    coordinates: FloatArray, ends_of_polygons: IntArray, ends_of_objects: IntArray, height: int, width: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the runs of objects, each of what lies in any of its polygons, and where those of each end.

    Coordinates are x0, y0, x1, .. of all polygons, finite and at most `LARGEST_COORDINATE`. An object with edges too
    long to be drawn has a run of -1.
    """
    runs, ends = np.empty(16 * ends_of_polygons.size + 16, np.int64), np.empty(ends_of_objects.size, np.int64)
    number = polygon = 0
    for k in range(ends_of_objects.size):
        joined = np.full(1, int64(height) * width, np.int64)
        while polygon < ends_of_objects[k]:
            first = ends_of_polygons[polygon - 1] if polygon else 0
            changes = _changes_of(coordinates[first : ends_of_polygons[polygon]], height, width)
            if changes.size == 0:
                joined = np.full(1, -1, np.int64)
            elif joined[0] >= 0:
                drawn = _runs_between(np.sort(changes))
                joined = drawn if joined.size == 1 else joined_runs(joined, drawn)
            polygon += 1
        if number + joined.size > runs.size:
            runs = np.concatenate((runs, np.empty(runs.size + joined.size, np.int64)))
        runs[number : number + joined.size] = joined
        number += joined.size
        ends[k] = number
    return runs[:number].copy(), ends


@kernel
def _changes_of(polygon: FloatArray, height: int, width: int) -> NDArray[np.int64]:
    """Return where columns of pixels begin and end to lie in a polygon; nothing of one too long to be drawn."""
    number = polygon.size // 2
    corners = np.empty((number + 1, 2), np.int64)
    for k in range(number + 1):
        for axis in range(2):
            corners[k, axis] = int64(_FINER * polygon[2 * (k % number) + axis] + 0.5)
    steps, columns = int64(0), int64(1)
    for k in range(number):
        across = abs(corners[k + 1, 0] - corners[k, 0])
        steps += max(across, abs(corners[k + 1, 1] - corners[k, 1])) + 1
        columns += min(across // 5 + 2, int64(width))
    if steps > _MOST_STEPS:
        return np.empty(0, np.int64)
    changes = np.empty(columns, np.int64)
    return changes[: _cross_columns(corners, height, width, changes)]


@kernel
def _cross_columns(corners: NDArray[np.int64], height: int, width: int, starts: NDArray[np.int64]) -> int:
    """Fill in where edges cross the middle of a column of pixels, and the end of the image; return how many."""
    number = 0
    last_x = last_y = int64(0)
    first = True
    for edge in range(corners.shape[0] - 1):
        x_start, y_start = corners[edge, 0], corners[edge, 1]
        x_end, y_end = corners[edge + 1, 0], corners[edge + 1, 1]
        x_steps, y_steps = abs(x_end - x_start), abs(y_end - y_start)
        flat = x_steps >= y_steps
        flipped = (flat and x_start > x_end) or (not flat and y_start > y_end)
        if flipped:
            x_start, y_start, x_end, y_end = x_end, y_end, x_start, y_start
        steps = x_steps if flat else y_steps
        slope = 0.0
        if steps:
            slope = (y_end - y_start) / x_steps if flat else (x_end - x_start) / y_steps
        for step in range(steps + 1):
            along = steps - step if flipped else step
            if flat:
                x, y = along + x_start, int64(y_start + slope * along + 0.5)
            else:
                x, y = int64(x_start + slope * along + 0.5), along + y_start
            if not first and x != last_x:
                column = (min(x, last_x) + 0.5) / _FINER - 0.5
                if np.floor(column) == column and 0 <= column <= width - 1:
                    row = (min(y, last_y) + 0.5) / _FINER - 0.5
                    row = np.ceil(min(max(row, 0.0), float(height)))
                    starts[number] = int64(column) * height + int64(row)
                    number += 1
            first, last_x, last_y = False, x, y
    starts[number] = int64(height) * width
    return number + 1


@kernel
def _runs_between(changes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the runs between places where a mask begins or ends; of two at one place neither does."""
    runs = np.empty(changes.size, np.int64)
    runs[0] = changes[0]
    number, k = 1, 1
    while k < changes.size:
        length = changes[k] - changes[k - 1]
        k += 1
        if length > 0:
            runs[number] = length
            number += 1
        elif k < changes.size:
            runs[number - 1] += changes[k] - changes[k - 1]
            k += 1
    return runs[:number]


@kernel
def joined_runs(runs: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the runs of what lies in either of two masks of one image."""
    joined = np.zeros(runs.size + others.size + 1, np.int64)
    number, inside = 0, False
    k = n = 0
    k_left, n_left = runs[0], others[0]
    while True:
        while k_left == 0 and k + 1 < runs.size:
            k += 1
            k_left = runs[k]
        while n_left == 0 and n + 1 < others.size:
            n += 1
            n_left = others[n]
        length = min(k_left, n_left)
        if length == 0:
            return joined[: number + 1]
        covered = k % 2 == 1 or n % 2 == 1
        if covered != inside:
            number += 1
            inside = covered
        joined[number] += length
        k_left -= length
        n_left -= length


@kernel
def covered_pixels(runs: IntArray, ends: IntArray, pixels: int) -> NDArray[np.int64]:
    """Return how many pixels each mask covers; -1 where its runs do not add up to those of the image."""
    covered = np.zeros(ends.size, np.int64)
    first = int64(0)
    for mask in range(ends.size):
        total = int64(0)
        for k in range(first, ends[mask]):
            if runs[k] < 0 or runs[k] > pixels - total:
                total = int64(-1)
                break
            total += runs[k]
            covered[mask] += runs[k] * ((k - first) % 2)
        if total != pixels:
            covered[mask] = -1
        first = ends[mask]
    return covered
