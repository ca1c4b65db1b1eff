"""How many pixels the values of two maps share: which objects lie on each other."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from segbench.core.arrays import Array, BoolArray, IntArray


class Overlaps(NamedTuple):
    """How many pixels objects of two maps share: entries of a sparse table, sorted by row and column."""

    true: IntArray  # the distinct values of the ground truth, rising, and their areas
    true_areas: IntArray
    predicted: IntArray
    predicted_areas: IntArray
    rows: IntArray  # places in `true`
    columns: IntArray
    pixels: IntArray

    @classmethod
    def of(cls, truth: Array, predicted: Array) -> Overlaps:
        """Count the pixels of every pair of values of two maps of integers."""
        from segbench.inputs import kernels

        maps = (truth, predicted)
        dtype = next(kind for kind in (np.uint16, np.int32, np.int64) if all(_fits(stored, kind) for stored in maps))
        cells = kernels.intersections(*(np.ascontiguousarray(stored, dtype).reshape(-1) for stored in maps))
        rows, columns, pixels = cells[np.lexsort((cells[:, 1], cells[:, 0]))].T
        (true, rows), (predicted_numbers, columns) = (np.unique(part, return_inverse=True) for part in (rows, columns))
        areas = added_up(rows, pixels, true.size), added_up(columns, pixels, predicted_numbers.size)
        return cls(true, areas[0], predicted_numbers, areas[1], rows, columns, pixels)

    def some(self, kept: BoolArray) -> tuple[IntArray, IntArray, IntArray]:
        """Return rows, columns and pixels of some cells."""
        return self.rows[kept], self.columns[kept], self.pixels[kept]


def added_up(indices: IntArray, pixels: IntArray, number: int) -> IntArray:
    """Add up pixels at each of a number of places."""
    return np.bincount(indices, pixels, number).astype(np.int64)  # floats hold whole numbers up to 2^53


def _fits(values: Array, kind: type[np.integer[Any]]) -> bool:
    return np.can_cast(values.dtype, kind) or (kind is not np.uint16 and values.max(initial=0) <= np.iinfo(kind).max)
