"""Region counts of many images laid out as a matrix, see `segbench.curves.tables`.

Of all images with weight 1 the figures are those of the benchmark itself, so its rules stand here only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segbench.counts import RegionCounts
from segbench.counts.regions import COVERED_UNITS, MEAN_UNITS, SUMS
from segbench.curves.same_images import at_common_thresholds
from segbench.curves.tables import Table

FloatArray = NDArray[np.float64]

REGION_FIGURES = (
    "covering_ods",
    "covering_ods_threshold",
    "covering_ois",
    "covering_best",
    "pri_ods",
    "pri_ois",
    "voi_ods",
    "voi_ois",
    "covering_of_prediction",
    "pri_ods_threshold",
    "voi_ods_threshold",
    "voi_split",
    "voi_merge",
    "are_ods",
    "are_ods_threshold",
    "are_ois",
    "are_precision",
    "are_recall",
)

_CELLS_AT_ONCE = 2**21


@dataclass(frozen=True, eq=False)
class RegionTable(Table):
    """Region counts of many images at common thresholds, in the units of `RegionCounts`, as floats.

    Parameters
    ----------
    thresholds : array of float64, shape (K,)
        Rising.
    sums : array of float64, shape (images, 8 K)
        The sums of each threshold, in the order of `RegionCounts`.
    best : array of float64, shape (images, 7)
        Area of the ground truth and of the image, covered area with each region at its best, and each image's best
        covered area, Rand index, VOI and F.
    """

    thresholds: FloatArray
    sums: FloatArray
    best: FloatArray

    @property
    def images(self) -> int:
        """Number of images."""
        return int(self.best.shape[0])

    @property
    def figures(self) -> tuple[str, ...]:
        """Names of the figures."""
        return REGION_FIGURES

    def measure(self, weights: FloatArray) -> FloatArray:
        """Give every figure for every row of weights, see `segbench.curves.Table`; nan for weights that are all 0."""
        step = max(_CELLS_AT_ONCE // self.sums.shape[1], 1)
        parts = [self._measure(weights[start : start + step]) for start in range(0, weights.shape[0], step)]
        return np.concatenate(parts) if parts else np.empty((0, len(REGION_FIGURES)))

    def _measure(self, weights: FloatArray) -> FloatArray:
        pooled = np.moveaxis((weights @ self.sums).reshape(-1, len(SUMS), self.thresholds.size), 1, 0)
        covered, covered_pred, rand_index, split, merge, f, precision, recall = pooled
        area, size, covered_best, covered_ois, rand_ois, voi_ois, f_ois = (weights @ self.best).T
        images = weights.sum(axis=1)
        pixels, means = area * COVERED_UNITS, images * MEAN_UNITS
        rows = np.arange(weights.shape[0])
        by_covering, by_rand, by_voi, by_f = (
            (rows, np.argmax(sums, axis=1)) for sums in (covered, rand_index, -(split + merge), f)
        )
        with np.errstate(invalid="ignore"):  # 0 / 0 where no image is drawn: nan, as promised
            columns = [
                covered[by_covering] / pixels,
                self.thresholds[by_covering[1]],
                covered_ois / pixels,
                covered_best / pixels,
                rand_index[by_rand] / means,
                rand_ois / means,
                (split + merge)[by_voi] / means,
                voi_ois / means,
                covered_pred[by_covering] / (size * COVERED_UNITS),
                self.thresholds[by_rand[1]],
                self.thresholds[by_voi[1]],
                split[by_voi] / means,
                merge[by_voi] / means,
                1 - f[by_f] / means,
                self.thresholds[by_f[1]],
                1 - f_ois / means,
                precision[by_f] / means,
                recall[by_f] / means,
            ]
        figures = np.column_stack(columns)
        figures[images == 0] = np.nan
        return figures


def region_table(*sets: Mapping[str, RegionCounts]) -> RegionTable:
    """Lay out the region counts of many images.

    Parameters
    ----------
    *sets : mapping of str to RegionCounts
        Counts by the image's name, at least one; rows come set by set, in sorted order of the names.

    Raises
    ------
    ArgumentError
        If images were counted at different thresholds.

    Examples
    --------
    >>> region_table({"a": RegionCounts([0.5], 1, 4, 4, 4 * 2**20, [2**21], [2**22], *([[2**35]] * 6))}).best[:, 0]
    array([4.])
    """
    images = at_common_thresholds(*sets)
    thresholds = images[0].thresholds
    sums = np.array([[getattr(image, name) for name in SUMS] for image in images], dtype=np.float64)
    best = [
        (
            image.area,
            image.pixels,
            image.covered_best,
            image.covered.max(),
            image.rand_index.max(),
            (image.voi_split + image.voi_merge).min(),
            image.adapted_rand.max(),
        )
        for image in images
    ]
    return RegionTable(thresholds, sums.reshape(len(images), -1), np.array(best, dtype=np.float64))
