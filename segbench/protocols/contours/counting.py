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
        bands = (kernels.band(mask, reaches[0]) for mask in masks)
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

    marks = [kernels.davis_boundary(mask) for mask in masks]
    places = [kernels.places_of(each) for each in marks]
    if not all(each.size for each in places):
        return places[0].size, places[1].size, 0, 0
    near = [kernels.count_near(places[k], kernels.along_columns(marks[1 - k]), reach) for k in (0, 1)]
    return places[0].size, places[1].size, near[0], near[1]


def _distances(masks: Sequence[NDArray[np.uint8]], surface: str) -> list[IntArray]:
    """Give squared distances, units and halves in rows: from the first mask to the second, and back."""
    from segbench.protocols.contours import kernels

    mark = kernels.inner_boundary if surface == "pixels" else kernels.corners
    marks = [mark(mask) for mask in masks]
    found = []
    for one, other in (marks, marks[::-1]):
        places = kernels.places_of(one)
        squared = kernels.squared_distances(places, kernels.along_columns(other))
        found.append(_pixels(squared) if surface == "pixels" else _lengths(squared, one.reshape(-1)[places]))
    return found


def _pixels(squared: IntArray) -> IntArray:
    """Count pixels by squared distance."""
    distances, numbers = _counted(squared)
    return np.array([distances, numbers, np.zeros_like(numbers)])


def _lengths(squared: IntArray, kinds: NDArray[np.uint8]) -> IntArray:
    """Add up the lengths of elements by squared distance."""
    codes, numbers = _counted(4 * squared + kinds)
    rows, places = np.unique(codes // 4, return_inverse=True)
    lengths = [np.bincount(places, numbers * of_kind[codes % 4]).astype(np.int64) for of_kind in _KINDS]  # exact
    return np.vstack([rows, *lengths])


def _counted(values: IntArray) -> tuple[IntArray, IntArray]:
    """Give the distinct values, rising, and how often each occurs; in linear time where they are many and small."""
    if values.max() >= 16 * values.size:
        return np.unique(values, return_counts=True)
    numbers = np.bincount(values)
    held = np.flatnonzero(numbers)
    return held, numbers[held]
