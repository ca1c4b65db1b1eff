"""Masks of one image to contour counts."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import IntArray, keep_freed_memory
from segbench.protocols.contours.counts import ContourCounts
from segbench.protocols.contours.places import Places

_KINDS = np.array([[0, 0, 1, 0], [0, 1, 0, 2]])
"""Units and halves of the length of an element of each kind, see `kernels.corners`: a diagonal is two halves."""


def count_masks(places: Places, *, classes: str, surface: str) -> ContourCounts:
    """Count the masks of an image."""
    from segbench.protocols.contours import kernels

    keep_freed_memory()  # whose pages take as long as the distances
    truth, predicted, number, matrix = places
    height, width = truth.shape
    diagonal = math.sqrt(height**2 + width**2)
    reach = max(1, round(0.02 * diagonal))  # of Boundary IoU, halves to even
    tables = np.zeros((number, 12), np.int64)
    lists: list[IntArray] = []
    for place, table in enumerate(tables):
        masks = [(part == place).view(np.uint8) for part in (truth, predicted)]
        top, bottom, left, right, *table[:3] = kernels.extent(*masks)
        if top >= bottom:
            continue
        box = slice(max(top - 1, 0), bottom + 1), slice(max(left - 1, 0), right + 1)
        masks = [np.ascontiguousarray(mask[box]) for mask in masks]
        bands = [kernels.band(mask, reach, mask.copy()).view(np.bool_) for mask in masks]
        table[3:6] = [np.count_nonzero(each) for each in (*bands, bands[0] & bands[1])]
        table[6:10] = _davis(masks, math.ceil(0.008 * diagonal))
        if table[0] and table[1]:
            both = _distances(masks, surface)
            table[10:] = [each.shape[1] for each in both]
            lists += both
    parts = np.split(tables, [3, 6, 10], axis=1)  # areas, bands, davis, sizes
    lengths = np.concatenate(lists, axis=1) if lists else np.zeros((3, 0), np.int64)
    arrays = (*parts, *lengths, matrix)
    return ContourCounts(classes, surface, 1, height**2 + width**2, *arrays)


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
    marks = [mark(np.pad(mask, 1), np.empty([size + more for size in mask.shape], np.uint8)) for mask in masks]
    coded = surface == "lengths"
    found = [kernels.squared_distances(one, other, coded=coded) for one, other in (marks, marks[::-1])]
    return [_lengths(each) if coded else _pixels(each) for each in found]


def _pixels(squared: IntArray) -> IntArray:
    """Count pixels by squared distance."""
    distances, numbers = _counted(squared)
    return np.array([distances, numbers, np.zeros_like(numbers)])


def _lengths(codes: IntArray) -> IntArray:
    """Add up the lengths of elements by squared distance, from distances with kinds of elements."""
    codes, numbers = _counted(codes)
    starts = np.flatnonzero(np.diff(codes // 4, prepend=-1))
    lengths = [np.add.reduceat(numbers * of_kind[codes % 4], starts) for of_kind in _KINDS]
    return np.array([codes[starts] // 4, *lengths])


def _counted(values: IntArray) -> tuple[IntArray, IntArray]:
    """Give the distinct values, rising, and how often each occurs; the array is used up."""
    from segbench.protocols.contours import kernels

    ordered = kernels.in_order(values, np.empty_like(values))
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    return ordered[starts], np.diff(starts, append=ordered.size)
