"""Pixels near another class: bands along the borders between classes, of any number of classes in one pass.

A pixel is near if a disk around it holds a pixel of another class. In each row of the disk, that depends on how far the
next pixel of another class is to either side, which is counted once for all pixels.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import Array, BoolArray, IntArray
from segbench.core.compiling import compiled

OF_NO_CLASS = -1
"""The value of pixels that may be of any class, so that nothing is near them, nor because of them."""
_NEVER = 2**30
_BYTES = 4


def numbered_from_zero(labels: Array) -> NDArray[np.int32]:
    """Return a copy of labels as numbers from 0: as they are, where they fit."""
    if labels.dtype.kind in "bu" and labels.dtype.itemsize < _BYTES:
        return labels.astype(np.int32)
    return np.unique(labels, return_inverse=True)[1].reshape(labels.shape).astype(np.int32)


def half_widths(radius: Fraction) -> IntArray:
    """Return how far a disk reaches to either side in each of its rows, the middle one at the middle."""
    square, rows = math.floor(radius**2), math.floor(radius)
    return np.array([math.isqrt(square - row**2) for row in range(-rows, rows + 1)], np.int64)


def near_another_class(classes: NDArray[np.int32], radius: Fraction) -> BoolArray:
    """Mark the pixels of an image at most so far, in pixels between their centres, from a pixel of another class."""
    widths = half_widths(radius)
    near = np.zeros(classes.shape, np.bool_)
    mark_near(np.ascontiguousarray(classes), widths, near)
    turned = near[:, ::-1].copy()
    mark_near(np.ascontiguousarray(classes[:, ::-1]), widths, turned)
    return turned[:, ::-1]


@compiled()
def mark_near(classes: NDArray[np.int32], widths: IntArray, near: BoolArray) -> None:
    """Mark pixels with another class in the right half of the disk around them, the middle column included."""
    height, width = classes.shape
    # Of each pixel the first class at it or to its right, how far away that is, and the first of another class.
    first = np.full((height, width + 1), OF_NO_CLASS, np.int32)
    to_first = np.full((height, width + 1), _NEVER, np.int32)
    to_second = np.full((height, width + 1), _NEVER, np.int32)
    for r in range(height):
        for c in range(width - 1, -1, -1):
            value = classes[r, c]
            if value < 0 or value == first[r, c + 1]:
                first[r, c] = first[r, c + 1]
                to_first[r, c] = 0 if value >= 0 else min(to_first[r, c + 1] + 1, _NEVER)
                to_second[r, c] = min(to_second[r, c + 1] + 1, _NEVER)
            else:
                first[r, c], to_first[r, c] = value, 0
                to_second[r, c] = min(to_first[r, c + 1] + 1, _NEVER)
    rows = widths.size // 2
    for r in range(height):
        for k in range(max(r - rows, 0), min(r + rows, height - 1) + 1):
            reach = widths[k - r + rows]
            for c in range(width):
                apart = to_second[k, c] if first[k, c] == classes[r, c] else to_first[k, c]
                near[r, c] |= (apart <= reach) & (classes[r, c] >= 0)
