"""Figures of the region benchmark, by the rules of BSDS500.

Conventions
-----------
1. Covering is pooled: covered area over all area, of all images and annotators. Rand index (PRI), variation of
   information (VOI) and adapted Rand error (ARE) are means over images.
2. ODS is the best of a figure over thresholds common to all images; of equals the lowest threshold. Each figure has its
   own threshold. VOI and ARE are best where they are lowest.
3. OIS takes each image at its own best threshold, of equals the first. `covering_best` takes each ground-truth region
   at the threshold that suits it best.
4. `voi_split` and `voi_merge` are the two parts of `voi_ods`, at its threshold; `are_precision` and `are_recall` are
   the means beside `are_ods`, whose F is not the F of these two.
5. `covering_of_prediction`, at the threshold of `covering_ods`, is covering the other way round: predicted regions by
   their best overlap with a region of any annotator. It is the last column of ``eval_cover_img.txt``.

References
----------
Arbelaez, Maire, Fowlkes, Malik: Contour Detection and Hierarchical Image Segmentation. PAMI 2011
(``collect_eval_reg``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from segbench.counts import RegionCounts
from segbench.counts.regions import COVERED_UNITS, MEAN_UNITS
from segbench.curves.region_table import REGION_FIGURES, region_table
from segbench.curves.summary import Summary
from segbench.display import Displayed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RegionCurve(Displayed):
    """The region figures at rising thresholds.

    Parameters
    ----------
    thresholds, covering, covering_of_prediction, rand_index, voi, voi_split, voi_merge : array of float64, shape (K,)
        All but the entropies (bits) in [0, 1]; nan where the curve is known from print, which does not give it.
    adapted_rand_error, rand_precision, rand_recall : array of float64, shape (K,)
        In [0, 1], or nan.
    """

    thresholds: FloatArray
    covering: FloatArray
    covering_of_prediction: FloatArray
    rand_index: FloatArray
    voi: FloatArray
    voi_split: FloatArray
    voi_merge: FloatArray
    adapted_rand_error: FloatArray
    rand_precision: FloatArray
    rand_recall: FloatArray

    def plot(self, *, ax: Axes | None = None, label: str | None = None) -> Axes:
        """Draw covering against threshold."""
        from segbench.report.threshold_plots import plot_region_curve

        return plot_region_curve(self, ax=ax, label=label)


def region_curve(counts: RegionCounts) -> RegionCurve:
    """Give the region figures at each threshold, of one image or of many pooled.

    Examples
    --------
    >>> curve = region_curve(RegionCounts([0.5], 1, 4, 4, 4 * 2**20, [2**21], [2**22], *([[2**35]] * 6)))
    >>> curve.covering, curve.voi
    (array([0.5]), array([1.]))
    """

    def mean(sums: NDArray[np.int64]) -> FloatArray:
        return sums / (MEAN_UNITS * counts.images)

    return RegionCurve(
        counts.thresholds,
        counts.covered / (COVERED_UNITS * counts.area),
        counts.covered_pred / (COVERED_UNITS * counts.pixels),
        mean(counts.rand_index),
        mean(counts.voi_split + counts.voi_merge),
        mean(counts.voi_split),
        mean(counts.voi_merge),
        1 - mean(counts.adapted_rand),
        mean(counts.rand_precision),
        mean(counts.rand_recall),
    )


def region_summary(per_image: Mapping[str, RegionCounts]) -> Summary:
    """All figures of the region benchmark.

    Parameters
    ----------
    per_image : mapping of str to RegionCounts
        Counts by the image's name, at the same thresholds; of none, every figure is undefined.

    Returns
    -------
    Summary
        ``covering_ods covering_ods_threshold covering_ois covering_best pri_ods pri_ois voi_ods voi_ois``, then
        ``covering_of_prediction pri_ods_threshold voi_ods_threshold voi_split voi_merge are_ods are_ods_threshold
        are_ois are_precision are_recall``.

    Raises
    ------
    ArgumentError
        If thresholds differ.

    Examples
    --------
    >>> one = RegionCounts([0.5], 1, 4, 4, 3 * 2**20, [2**21], [2**22], *([[2**35]] * 6))
    >>> region_summary({"a": one})["covering_best"]
    0.75
    """
    if not per_image:
        return Summary(
            dict.fromkeys(REGION_FIGURES, math.nan), undefined=dict.fromkeys(REGION_FIGURES, "no image was counted")
        )
    table = region_table(per_image)
    (figures,) = table.measure(np.ones((1, table.images)))
    return Summary(dict(zip(table.figures, figures.tolist(), strict=True)))


def region_image_figures(counts: RegionCounts) -> Summary:
    """Figures of one image: a row of the table of images.

    Returns
    -------
    Summary
        ``covering`` and its ``threshold``, the first of the best, ``covering_best``, ``covering_of_prediction`` at that
        threshold, and the image's best ``pri``, ``voi`` and ``are``.

    Examples
    --------
    >>> one = RegionCounts([1, 2], 1, 4, 4, 2**22, [2**21] * 2, [2**22] * 2, *([[2**35] * 2] * 6))
    >>> region_image_figures(one)["threshold"]
    1.0
    """
    figures = region_summary({"": counts})
    curve = region_curve(counts)
    best = int(np.argmax(counts.covered))
    return Summary(
        {
            "covering": figures["covering_ois"],
            "threshold": float(counts.thresholds[best]),
            "covering_best": figures["covering_best"],
            "covering_of_prediction": float(curve.covering_of_prediction[best]),
            "pri": figures["pri_ois"],
            "voi": figures["voi_ois"],
            "are": figures["are_ois"],
        }
    )
