"""Compiled loops over volumes: where surfaces lie, and the exact squared distances between them, in linear time.

Volumes are arrays of shape (depth, height, width). Masks hold 0 and 1, marks what element of a surface lies at a place,
0 for none; both are of type uint8, and cut to the box that holds both masks. Distances are whole numbers: squares of
the common unit of the steps between voxels along the three axes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import IntArray
from segbench.core.compiling import compiled

ByteArray = NDArray[np.uint8]
Int32Array = NDArray[np.int32]
Squares = NDArray[Any]
"""Squared distances as int32, where these suffice, or int64."""

FARTHER = 2**62
"""More than any squared distance."""
_FAR = 2**30
"""More voxels than an axis has."""
_CHECKS = 8  # of neighbours per voxel of a layer, before the nearest are found for the whole layer


@compiled()
def boxes_of_masks(truth: Squares, predicted: Squares, boxes: IntArray, areas: IntArray) -> None:
    """Find the box of each mask on both sides, and count its voxels: of the ground truth, the prediction, and both.

    Both maps hold the number of a mask, from 1, or 0 for none. Boxes, shape (masks, 6), are the first and last index
    along each axis, the last excluded; that of a mask without voxels is empty, its first index the largest.
    """
    depth, height, width = truth.shape
    boxes[:, ::2], boxes[:, 1::2] = _FAR, 0
    areas[:] = 0
    for z in range(depth):
        for y in range(height):
            true_row, predicted_row = truth[z, y], predicted[z, y]
            for x in range(width):
                true_mask, predicted_mask = np.int64(true_row[x]), np.int64(predicted_row[x])
                if not true_mask | predicted_mask:
                    continue
                if true_mask:
                    areas[true_mask - 1, 0] += 1
                    areas[true_mask - 1, 2] += true_mask == predicted_mask
                    _widen(boxes[true_mask - 1], z, y, x)
                if predicted_mask:
                    areas[predicted_mask - 1, 1] += 1
                    if predicted_mask != true_mask:
                        _widen(boxes[predicted_mask - 1], z, y, x)


@compiled()
def _widen(box: IntArray, z: int, y: int, x: int) -> None:
    """Let a box hold a voxel, given those before it in the order of the array."""
    box[0], box[1] = min(box[0], z), z + 1
    box[2], box[3] = min(box[2], y), max(box[3], y + 1)
    box[4], box[5] = min(box[4], x), max(box[5], x + 1)


@compiled()
def mark_surface_voxels(mask: ByteArray, marks: ByteArray) -> None:
    """Mark the voxels of a mask with a neighbour of six that is background, as it is outside the box."""
    depth, height, width = mask.shape
    outside = np.zeros(width, np.uint8)
    for z in range(depth):
        for y in range(height):
            row = mask[z, y]
            above = mask[z - 1, y] if z else outside
            below = mask[z + 1, y] if z + 1 < depth else outside
            before = mask[z, y - 1] if y else outside
            behind = mask[z, y + 1] if y + 1 < height else outside
            marked = marks[z, y]
            for x in range(width):
                marked[x] = above[x] & below[x] & before[x] & behind[x]
            for x in range(1, width - 1):
                marked[x] &= row[x - 1] & row[x + 1]
            marked[0] = marked[width - 1] = 0
            for x in range(width):
                marked[x] = row[x] & (1 ^ marked[x])


@compiled()
def mark_corners(mask: ByteArray, class_of_code: ByteArray, marks: ByteArray) -> None:
    """Mark each corner of voxels, one more than voxels along each axis, by the class of the eight voxels around it."""
    depth, height, width = mask.shape
    outside = np.zeros(width, np.uint8)
    for z in range(depth + 1):
        for y in range(height + 1):
            above_before = mask[z - 1, y - 1] if z and y else outside
            above = mask[z - 1, y] if z and y < height else outside
            before = mask[z, y - 1] if z < depth and y else outside
            here = mask[z, y] if z < depth and y < height else outside
            marked, left = marks[z, y], np.uint8(0)
            for x in range(width):
                right = (above_before[x] << 6) | (above[x] << 4) | (before[x] << 2) | here[x]
                marked[x] = class_of_code[(left << 1) | right]
                left = np.uint8(right)
            marked[width] = class_of_code[left << 1]


@compiled()
def _find_cells(squares: IntArray, step: int, cells: Int32Array, starts: Int32Array) -> int:
    """Find which places of a line are nearest to some place, and where the cell of each begins; return their number.

    `squares` are squared distances across the line, `FARTHER` where there is nothing. Of two as near, the left one has
    the place.
    """
    number = 0
    for index in range(squares.size):
        square = squares[index]
        if square >= FARTHER:
            continue
        start = np.int64(0)
        while number:
            left = np.int64(cells[number - 1])
            to_left, to_index = np.int64(starts[number - 1]) - left, index - np.int64(starts[number - 1])
            if step * step * (to_index - to_left) * (to_index + to_left) + square >= squares[left]:
                # Up to this index, and not beyond, the left index is as near or nearer; a quotient of numbers above 0.
                over = step * step * (index - left) * (index + left) + square - squares[left]
                start = np.int64(np.uint64(over) // np.uint64(2 * step * step * (index - left))) + 1
                break
            number -= 1
        if start < squares.size:
            cells[number], starts[number] = index, start
            number += 1
    return number


@compiled()
def _measure_from_cells(
    squares: IntArray, step: int, cells: Int32Array, starts: Int32Array, distances: Squares
) -> None:
    """Compute the squared distance of each place of a line, given its cells."""
    end = np.int64(distances.size)
    for cell in range(cells.size - 1, -1, -1):
        nearest, square = np.int64(cells[cell]), squares[cells[cell]]
        for index in range(starts[cell], end):
            away = step * (index - nearest)
            distances[index] = square + away * away
        end = np.int64(starts[cell])


@compiled()
def measure_layers(marks: ByteArray, steps: IntArray, farthest: int, squares: Squares) -> None:
    """Compute the squared distance of each voxel to the nearest mark in its layer, `farthest` in layers without any.

    `squares` has shape (height, depth, width), so that what `measure_marks` needs together lies together.
    """
    depth, height, width = marks.shape
    near = np.empty((height, width), np.int32)
    cells, starts = np.empty(width, np.int32), np.empty(width, np.int32)
    across = np.empty(width, np.int64)
    for z in range(depth):
        layer = marks[z]
        for x in range(width):
            near[0, x] = 0 if layer[0, x] else _FAR
        for y in range(1, height):
            for x in range(width):
                near[y, x] = 0 if layer[y, x] else near[y - 1, x] + 1
        for y in range(height - 2, -1, -1):
            for x in range(width):
                near[y, x] = min(near[y, x], near[y + 1, x] + 1)
        if near[0].min() >= _FAR:
            squares[:, z] = farthest
            continue
        for y in range(height):
            for x in range(width):
                along = steps[1] * np.int64(near[y, x])
                across[x] = along * along if near[y, x] < _FAR else FARTHER
            cells_held = _find_cells(across, steps[2], cells, starts)
            _measure_from_cells(across, steps[2], cells[:cells_held], starts, squares[y, z])


@compiled()
def _measure_by_neighbours(
    marks: ByteArray, layer: Squares, steps: IntArray, distances: IntArray, classes: ByteArray
) -> int:
    """Compute the distances of marks (depth, width) from those in the layers above and below, as far as these can help.

    Returns how many marks there are, or -1 where that takes too long.
    """
    depth, width = marks.shape
    number, left = 0, _CHECKS * depth * width
    for z in range(depth):
        for x in range(width):
            if not marks[z, x]:
                continue
            best = np.int64(layer[z, x])
            away, square = 1, steps[0] * steps[0]
            while square < best and away < depth:
                if z >= away:
                    best = min(best, square + np.int64(layer[z - away, x]))
                if z + away < depth:
                    best = min(best, square + np.int64(layer[z + away, x]))
                away += 1
                square = steps[0] * steps[0] * away * away
            distances[number], classes[number] = best, marks[z, x]
            number += 1
            left -= away
        if left < 0:
            return -1
    return number


@compiled()
def _measure_by_columns(
    marks: ByteArray, layer: Squares, steps: IntArray, distances: IntArray, classes: ByteArray
) -> int:
    """Compute the same from cells along each column, in a time that is linear in the number of voxels."""
    depth, width = marks.shape
    cells, starts = np.empty(depth, np.int32), np.empty(depth, np.int32)
    column, nearest = np.empty(depth, np.int64), np.empty(depth, np.int64)
    number = 0
    for x in range(width):
        for z in range(depth):
            column[z] = layer[z, x]
        cells_held = _find_cells(column, steps[0], cells, starts)
        _measure_from_cells(column, steps[0], cells[:cells_held], starts, nearest)
        for z in range(depth):
            if marks[z, x]:
                distances[number], classes[number] = nearest[z], marks[z, x]
                number += 1
    return number


@compiled()
def measure_marks(
    marks: ByteArray, squares: Squares, steps: IntArray, distances: IntArray, classes: ByteArray
) -> tuple[int, int]:
    """Compute the squared distances of the marks of planes (depth, width), given `measure_layers`.

    Returns the first plane whose marks might not fit into `distances`, and how many there are.
    """
    depth, height, width = marks.shape
    total = 0
    for y in range(height):
        if total + depth * width > distances.size:
            return y, total
        plane = marks[:, y]
        number = _measure_by_neighbours(plane, squares[y], steps, distances[total:], classes[total:])
        if number < 0:
            number = _measure_by_columns(plane, squares[y], steps, distances[total:], classes[total:])
        total += number
    return height, total


@compiled()
def measure_few(
    first: IntArray, second: IntArray, steps: IntArray, first_squares: IntArray, second_squares: IntArray
) -> None:
    """Compute the squared distance of each place of either surface to the nearest of the other, pair by pair.

    Places are columns of indices of shape (3, places); squares hold more than any distance before.
    """
    depth, height, width = steps
    for i in range(first.shape[1]):
        z, y, x = first[0, i], first[1, i], first[2, i]
        nearest = first_squares[i]
        for j in range(second.shape[1]):
            down, along, across = depth * (second[0, j] - z), height * (second[1, j] - y), width * (second[2, j] - x)
            square = down * down + along * along + across * across
            nearest = min(nearest, square)
            second_squares[j] = min(second_squares[j], square)
        first_squares[i] = nearest
