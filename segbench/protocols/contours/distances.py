"""Distances from one contour to another as squares and lengths, and what is read off them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from segbench.core.arrays import FloatArray, IntArray

HALF = np.sqrt(0.5)
"""The length of an element of a contour that cuts off the corner of a pixel."""

_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Distances:
    """Squared distances, rising, and the length of the contour at each: ``units + halves * HALF``."""

    squared: IntArray
    units: IntArray
    halves: IntArray

    def __add__(self, other: Distances) -> Distances:
        """Give the distances of both."""
        squared, places = np.unique(np.concatenate([self.squared, other.squared]), return_inverse=True)
        lengths = np.zeros((2, squared.size), np.int64)
        for of_both, name in zip(lengths, ("units", "halves"), strict=True):
            np.add.at(of_both, places, np.concatenate([getattr(self, name), getattr(other, name)]))
        return Distances(squared, *lengths)

    @cached_property
    def lengths(self) -> FloatArray:
        """The length at each distance."""
        return self.units + self.halves * HALF

    @cached_property
    def length(self) -> float:
        """The length of the contour, of sums of whole numbers."""
        return float(self.units.sum() + self.halves.sum() * HALF)

    @property
    def farthest(self) -> float:
        """The largest distance."""
        return float(np.sqrt(self.squared[-1]))

    @property
    def total(self) -> float:
        """The distances, weighted by lengths, added up."""
        return float(self.lengths @ np.sqrt(self.squared))

    def within(self, tolerances: FloatArray) -> FloatArray:
        """Give the length within each tolerance; a distance that exceeds it by rounding alone is within it."""
        near = np.searchsorted(self.squared, tolerances * tolerances * (1 + _ROUNDING), side="right")
        units, halves = (np.concatenate([[0], np.cumsum(part)])[near] for part in (self.units, self.halves))
        return units + halves * HALF

    def percentile(self, *, lengths: bool) -> float:
        """Give the 95th percentile.

        By lengths it is the smallest distance that 95 % of the length do not exceed. Otherwise pixels count alike, and
        it lies on a straight line between two of them, as `numpy.percentile` has it.
        """
        if lengths:
            # 20 (a + b HALF) >= 19 (A + B HALF) of whole numbers: exact where the two are equal.
            units, halves = (20 * np.cumsum(part) - 19 * part.sum() for part in (self.units, self.halves))
            place = int(np.argmax(units + halves * HALF >= 0))
            return float(np.sqrt(self.squared[place]))
        numbers = np.cumsum(self.units)
        below, rest = divmod(95 * (int(numbers[-1]) - 1), 100)
        low, high = np.sqrt(self.squared[np.searchsorted(numbers, [below, below + (rest > 0)], side="right")]).tolist()
        return float(low + (high - low) * rest / 100)
