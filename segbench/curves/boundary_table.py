"""Boundary counts of many images laid out as a matrix, see `segbench.curves.tables`.

The figures are those of `segbench.curves.boundary`, by the same rules; they are written a second time, compiled, so
that ten thousand replicates take a fraction of a second.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segbench.counts import BoundaryCounts
from segbench.curves.boundary import boundary_curve, ratio
from segbench.curves.boundary_summary import best_of_image, has_pixels
from segbench.curves.same_images import at_common_thresholds
from segbench.curves.tables import Table

FloatArray = NDArray[np.float64]

BOUNDARY_FIGURES = (
    "ods_f",
    "ods_precision",
    "ods_recall",
    "ods_threshold",
    "area_pr",
    "area_pr_extended",
    "r50",
    "ois_f",
    "ois_precision",
    "ois_recall",
    "mean_image_f",
)

_POOLED = 7  # of them are figures of the pooled curve
_PLACES = np.linspace(0, 1, 100)
_CELLS_AT_ONCE = 2**21


@dataclass(frozen=True, eq=False)
class BoundaryTable(Table):
    """Boundary counts of many images at common thresholds.

    Parameters
    ----------
    thresholds : array of float64, shape (K,)
        Rising.
    counts : array of float64, shape (images, 4 K)
        matched_gt, total_gt, matched_pred and total_pred of each threshold, one after the other.
    best : array of float64, shape (images, 6)
        The same four at each image's first best threshold, its F there, and 1 where that counts for the mean.
    """

    thresholds: FloatArray
    counts: FloatArray
    best: FloatArray

    @property
    def images(self) -> int:
        """Number of images."""
        return int(self.counts.shape[0])

    @property
    def figures(self) -> tuple[str, ...]:
        """Names of the figures."""
        return BOUNDARY_FIGURES

    def measure(self, weights: FloatArray) -> FloatArray:
        """Give every figure for every row of weights, see `segbench.curves.Table`; nan without a pixel to match."""
        from segbench.curves import table_kernels

        figures = np.full((weights.shape[0], len(BOUNDARY_FIGURES)), np.nan)
        step = max(_CELLS_AT_ONCE // max(self.counts.shape[1], 1), 1)
        for start in range(0, weights.shape[0], step):
            rows = slice(start, start + step)
            counts = (weights[rows] @ self.counts).reshape(-1, 4, self.thresholds.size)
            table_kernels.pooled_boundary_figures(counts, self.thresholds, _PLACES, figures[rows, :_POOLED])
        matched_gt, total_gt, matched_pred, total_pred, f, meant = (weights @ self.best).T
        recall, precision = ratio(matched_gt, total_gt), ratio(matched_pred, total_pred)
        figures[:, _POOLED:] = np.column_stack(
            [2 * ratio(recall * precision, recall + precision), precision, recall, ratio(f, meant)]
        )
        if self.thresholds.size == 1:
            figures[:, [BOUNDARY_FIGURES.index(key) for key in ("area_pr", "area_pr_extended", "r50")]] = np.nan
        figures[meant == 0] = np.nan
        return figures


def boundary_table(*sets: Mapping[str, BoundaryCounts]) -> BoundaryTable:
    """Lay out the boundary counts of many images.

    Parameters
    ----------
    *sets : mapping of str to BoundaryCounts
        Counts by the image's name, at least one; rows come set by set, in sorted order of the names.

    Raises
    ------
    ArgumentError
        If images were counted at different thresholds.

    Examples
    --------
    >>> boundary_table({"a": BoundaryCounts([0.5], [8], [10], [4], [5])}).counts
    array([[ 8., 10.,  4.,  5.]])
    """
    images = at_common_thresholds(*sets)
    thresholds = images[0].thresholds
    parts = np.array(
        [[image.matched_gt, image.total_gt, image.matched_pred, image.total_pred] for image in images], dtype=np.float64
    )
    at = [best_of_image(image) for image in images]
    f = [float(boundary_curve(image).f[k]) for image, k in zip(images, at, strict=True)]
    best = np.column_stack([parts[np.arange(len(images)), :, at], f, [has_pixels(image) for image in images]])
    return BoundaryTable(thresholds, parts.reshape(len(images), -1), best)
