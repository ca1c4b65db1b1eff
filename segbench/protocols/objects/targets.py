"""Small targets: true components that a predicted one is near, by their centroids, and predicted pixels near none.

A pair may match if its centroids are less than 3 pixels apart. Pairs are taken by rising distance, of equal ones in the
order of the true and then of the predicted components, and each component once.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from segbench.core.arrays import Array, FloatArray, IntArray

_FARTHEST = 3
_ROUNDING = 1e-6
"""Distances that differ by less are equal; those this close to the farthest are compared as fractions."""


class Targets(NamedTuple):
    """What became of the components of an image."""

    matched: int
    """True components with a predicted one of their own."""
    false_pixels: int
    """Pixels of the predicted components that are no true component's."""


class _Centroids(NamedTuple):
    """The pixels of each component, and the sums of their rows and columns."""

    areas: IntArray
    sums: IntArray  # (N, 2)

    @classmethod
    def of(cls, numbers: Array) -> _Centroids:
        """Add up the rows and columns of the pixels of each number above 0."""
        pixels = np.flatnonzero(numbers)
        component = numbers.reshape(-1)[pixels]
        areas = np.bincount(component, minlength=1)
        present = np.flatnonzero(areas)
        # Floats hold whole numbers up to 2^53.
        sums = [np.bincount(component, axis, 1)[present] for axis in np.divmod(pixels, numbers.shape[1])]
        return cls(areas[present], np.stack(sums, axis=1).astype(np.int64))

    @property
    def points(self) -> FloatArray:
        """Row and column of each centroid."""
        rows_and_columns: FloatArray = self.sums / self.areas[:, np.newaxis]
        return rows_and_columns

    def square_to(self, other: _Centroids, own_index: int, other_index: int) -> Fraction:
        """Return the squared distance of two centroids, exactly."""
        own_area, other_area = int(self.areas[own_index]), int(other.areas[other_index])
        steps = zip(self.sums[own_index].tolist(), other.sums[other_index].tolist(), strict=True)
        return sum((Fraction(own, own_area) - Fraction(others, other_area)) ** 2 for own, others in steps) + Fraction()


def count_targets(true: Array, predicted: Array) -> Targets:
    """Count an image by its numbered components."""
    true_centroids, predicted_centroids = _Centroids.of(true), _Centroids.of(predicted)
    all_predicted = int(predicted_centroids.areas.sum())
    if not (true_centroids.areas.size and predicted_centroids.areas.size):
        return Targets(0, all_predicted)
    rows, columns = _by_distance(true_centroids, predicted_centroids)
    is_found, is_taken = (
        np.zeros(true_centroids.areas.size, np.bool_),
        np.zeros(predicted_centroids.areas.size, np.bool_),
    )
    for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
        if not (is_found[row] or is_taken[column]):
            is_found[row] = is_taken[column] = True
    return Targets(int(is_found.sum()), all_predicted - int(predicted_centroids.areas[is_taken].sum()))


def _by_distance(true: _Centroids, predicted: _Centroids) -> tuple[IntArray, IntArray]:
    """Return the pairs of true and predicted components that may match, the nearest first."""
    from scipy.spatial import cKDTree

    trees = cKDTree(true.points), cKDTree(predicted.points)
    near = trees[0].sparse_distance_matrix(trees[1], _FARTHEST + _ROUNDING, output_type="ndarray")
    rows, columns, distances = near["i"], near["j"], near["v"]
    may_match = distances < _FARTHEST - _ROUNDING
    for pair in np.flatnonzero(~may_match).tolist():
        may_match[pair] = true.square_to(predicted, rows[pair], columns[pair]) < _FARTHEST**2
    rows, columns, distances = rows[may_match], columns[may_match], distances[may_match]
    order = np.lexsort((columns, rows, np.rint(distances / _ROUNDING)))
    return rows[order], columns[order]
