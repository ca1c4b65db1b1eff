"""Masks of one image to contour counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import IntArray, keep_freed_memory
from segbench.protocols.contours.counts import ContourCounts

_KINDS = np.array([[0, 0, 1, 0], [0, 1, 0, 2]])
"""Units and halves of the length of an element of each kind, see `kernels.corners`: a diagonal is two halves."""


def count_masks(
    truth: NDArray[Any], predicted: NDArray[Any], number: int, *, classes: str, surface: str
) -> ContourCounts:
    """Count an image of `number` masks: maps of their places from 0, anything above for none."""
    from segbench.protocols.contours import kernels

    keep_freed_memory()  # whose pages take as long as the distances
    height, width = truth.shape
    reaches = _reaches(height, width)
    tables = np.zeros((number, 12), np.int64)
    lists: list[IntArray] = []
    for place, table in enumerate(tables):
        masks = [(part == place).view(np.uint8) for part in (truth, predicted)]
        top, bottom, left, right, *table[:3] = kernels.extent(*masks)
        if top >= bottom:
            continue
        box = slice(max(top - 1, 0), bottom + 1), slice(max(left - 1, 0), right + 1)
        masks = [np.ascontiguousarray(mask[box]) for mask in masks]
        bands = (kernels.band(mask, reaches[0], mask.copy()) for mask in masks)
        table[3:6] = kernels.common(*bands)
        table[6:10] = _davis(masks, reaches[1])
        if table[0] and table[1]:
            both = _distances(masks, surface)
            table[10:] = [each.shape[1] for each in both]
            lists += both
    squared, units, halves = np.concatenate(lists, axis=1) if lists else np.zeros((3, 0), np.int64)
    return ContourCounts(
        classes=classes,
        surface=surface,
        images=1,
        squared_diagonal=height**2 + width**2,
        areas=tables[:, :3],
        bands=tables[:, 3:6],
        davis=tables[:, 6:10],
        sizes=tables[:, 10:],
        squared=squared,
        units=units,
        halves=halves,
    )


def _reaches(height: int, width: int) -> tuple[int, int]:
    """Give how wide the band of Boundary IoU is, and how far boundary pixels of DAVIS may be apart."""
    diagonal = math.sqrt(height**2 + width**2)
    return max(1, round(0.02 * diagonal)), math.ceil(0.008 * diagonal)


def _davis(masks: Sequence[NDArray[np.uint8]], reach: int) -> tuple[int, int, int, int]:
    """Count boundary pixels of both masks, and those near the other."""
    from segbench.protocols.contours import kernels

    marks = [kernels.davis_boundary(mask, np.empty_like(mask)) for mask in masks]
    found = [kernels.squared_distances(one, other, reach**2 + 1) for one, other in (marks, marks[::-1])]
    near = [int(np.count_nonzero(each <= reach**2)) for each in found]
    return found[0].size, found[1].size, near[0], near[1]


def _distances(masks: Sequence[NDArray[np.uint8]], surface: str) -> list[IntArray]:
    """Give squared distances, units and halves in rows: from the first mask to the second, and back."""
    from segbench.protocols.contours import kernels

    mark, more = (kernels.inner_boundary, 0) if surface == "pixels" else (kernels.corners, 1)
    marks = [mark(mask, np.empty([size + more for size in mask.shape], np.uint8)) for mask in masks]
    coded = surface == "lengths"
    found = [kernels.squared_distances(one, other, coded=coded) for one, other in (marks, marks[::-1])]
    return [_lengths(each) if coded else _counted(each, 3) for each in found]


def _counted(values: IntArray, rows: int) -> IntArray:
    """Give the distinct values, rising, and how often each occurs, in the first of so many rows, the others 0.

    The values are used up.
    """
    from segbench.protocols.contours import kernels

    found = np.zeros((rows, values.size), np.int64)
    return found[:, : kernels.count_values(values, np.empty_like(values), found)]


def _lengths(codes: IntArray) -> IntArray:
    """Add up the lengths of elements by squared distance, from distances with kinds of elements."""
    codes, numbers = _counted(codes, 2)
    starts = np.flatnonzero(np.diff(codes // 4, prepend=-1))
    lengths = [np.add.reduceat(numbers * of_kind[codes % 4], starts) for of_kind in _KINDS]
    return np.array([codes[starts] // 4, *lengths])
