"""The metrics of the region benchmark: their table and their curves.

Conventions
-----------
1. Covering is pooled: covered area over all area, of all images and annotators. Rand index (PRI), variation of
   information (VOI) and adapted Rand error (ARE) are means over images.
2. ODS is the best value over thresholds common to all images; of equals the lowest threshold. Each metric has its own
   threshold. VOI and ARE are best where they are lowest.
3. OIS takes each image at its own best threshold, of equals the first. `covering_best` takes each ground-truth region
   at the threshold that suits it best.
4. `voi_split` and `voi_merge` are the two parts of `voi_ods`, at its threshold; `are_precision` and `are_recall` are
   the means beside `are_ods`, which is not computed from these two.
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
from dataclasses import dataclass, fields
from functools import cached_property
from typing import ClassVar

import numpy as np

from segbench.core.arrays import MEAN_UNITS, FloatArray, IntArray
from segbench.core.counts import Pooled, as_pooled
from segbench.core.metric import Metric, shares
from segbench.core.numbers import number
from segbench.core.table import CountsTable
from segbench.curves.curve import Drawn
from segbench.loaders.bsds_text import rows_of, text_of
from segbench.protocols.common_thresholds import in_order
from segbench.protocols.regions.counts import COVERED_UNITS, RegionCounts

_COVER = "each ground-truth region covered by its best overlap"
_VOI = "variation of information in bits"
_BITS = (0.0, math.inf)
_ARE = "adapted Rand error"

METRICS = shares(
    Metric(
        key="covering_ods", title="ODS", better="higher", image_key="covering", headline=True, compared=True,
        group="cover", note=_COVER,
    ),
    Metric(
        key="covering_ods_threshold", title="at", image_key="threshold", kind="threshold", spread="jumps", group="cover"
    ),
    Metric(key="covering_ois", title="OIS", better="higher", compared=True, group="cover", note=_COVER),
    Metric(
        key="covering_best", title="best", better="higher", image_key="covering_best", image_title="covering best",
        compared=True, priority=6, group="cover", note="each region at its own threshold",
    ),
    Metric(key="covering_of_prediction", image_key="covering_of_prediction", spread="erratic"),
    Metric(key="pri_ods", title="ODS", better="higher", image_key="pri", image_title="PRI", compared=True, group="PRI"),
    Metric(key="pri_ods_threshold", kind="threshold", spread="erratic"),
    Metric(key="pri_ois", title="OIS", better="higher", priority=5, group="PRI"),
    Metric(
        key="voi_ods", title="ODS", better="lower", range=_BITS, image_key="voi", image_title="VOI", compared=True,
        group="VOI", note=_VOI,
    ),
    Metric(key="voi_ods_threshold", kind="threshold", spread="jumps"),
    Metric(key="voi_ois", title="OIS", better="lower", range=_BITS, priority=4, group="VOI", note=_VOI),
    Metric(
        key="voi_split", title="split", better="lower", range=_BITS, spread="jumps", priority=2, group="VOI",
        note="part at its ODS, too many regions",
    ),
    Metric(
        key="voi_merge", title="merge", better="lower", range=_BITS, spread="jumps", priority=1, group="VOI",
        note="part at its ODS, too few regions",
    ),
    Metric(
        key="are_ods", title="ODS", better="lower", image_key="are", image_title="ARE", compared=True, group="ARE",
        note=_ARE,
    ),
    Metric(key="are_ods_threshold", kind="threshold", spread="jumps"),
    Metric(key="are_ois", title="OIS", better="lower", priority=3, group="ARE", note=_ARE),
    Metric(key="are_precision", spread="jumps"),
    Metric(key="are_recall", spread="jumps"),
)  # fmt: skip


class RegionTable(CountsTable[RegionCounts]):
    """Region counts of many images in sorted order of their names."""

    metrics = METRICS
    counts = RegionCounts

    @cached_property
    def rows(self) -> FloatArray:
        """The sums of each threshold, what `_best` gives, and 1 for the image."""
        if not self.images:
            return np.empty((0, 8))
        sums = np.array([np.concatenate(image.rows) for image in self._images], dtype=np.float64)
        return np.column_stack([sums, self._best, np.ones(len(sums))])

    def score(self, sums: FloatArray) -> FloatArray:
        if not self.images:
            return np.full((len(sums), len(self.metrics)), np.nan)
        pooled = np.moveaxis(sums[:, :-8].reshape(-1, len(RegionCounts.arrays), self._thresholds.size), 1, 0)
        covered, covered_pred, rand_index, split, merge, f, precision, recall = pooled
        area, size, covered_best, covered_ois, rand_ois, voi_ois, f_ois, images = sums[:, -8:].T
        pixels, means = area * COVERED_UNITS, images * MEAN_UNITS
        rows = np.arange(len(sums))
        by_covering, by_rand, by_voi, by_f = (
            (rows, np.argmax(each, axis=1)) for each in (covered, rand_index, -(split + merge), f)
        )
        with np.errstate(invalid="ignore"):  # 0 / 0 where no image is drawn: nan, as promised
            values = {
                "covering_ods": covered[by_covering] / pixels,
                "covering_ods_threshold": self._thresholds[by_covering[1]],
                "covering_ois": covered_ois / pixels,
                "covering_best": covered_best / pixels,
                "covering_of_prediction": covered_pred[by_covering] / (size * COVERED_UNITS),
                "pri_ods": rand_index[by_rand] / means,
                "pri_ods_threshold": self._thresholds[by_rand[1]],
                "pri_ois": rand_ois / means,
                "voi_ods": (split + merge)[by_voi] / means,
                "voi_ods_threshold": self._thresholds[by_voi[1]],
                "voi_ois": voi_ois / means,
                "voi_split": split[by_voi] / means,
                "voi_merge": merge[by_voi] / means,
                "are_ods": 1 - f[by_f] / means,
                "are_ods_threshold": self._thresholds[by_f[1]],
                "are_ois": 1 - f_ois / means,
                "are_precision": precision[by_f] / means,
                "are_recall": recall[by_f] / means,
            }
        scored = np.column_stack([values[metric.key] for metric in self.metrics])
        scored[images == 0] = np.nan
        return scored

    @property
    def shares(self) -> FloatArray:
        """Area of the ground truth of each image for covering; the others are means over images; see `Table`."""
        return np.where([metric.key.startswith("covering") for metric in self.metrics], self._best[:, :1], 1.0)

    @property
    def curve(self) -> RegionCurve:
        """The metrics at each threshold."""
        return region_curve(self.pooled)

    @cached_property
    def _images(self) -> list[RegionCounts]:
        return list(in_order(self.per_image))

    @property
    def _thresholds(self) -> FloatArray:
        return self._images[0].thresholds

    @cached_property
    def _best(self) -> FloatArray:
        """Area of ground truth and image, area covered at best, and the image's best covered area, PRI, VOI and F."""
        rows = []
        for image in self._images:
            of_image = image.area, image.pixels, image.covered_best, image.covered.max(), image.rand_index.max()
            rows.append((*of_image, (image.voi_split + image.voi_merge).min(), image.adapted_rand.max()))
        return np.array(rows, dtype=np.float64)


@dataclass(frozen=True, eq=False, repr=False)
class RegionCurve(Drawn):
    """The region metrics at rising thresholds.

    Parameters
    ----------
    thresholds, covering, covering_of_prediction, rand_index, voi, voi_split, voi_merge : array of float64, shape (K,)
        All but the entropies (bits) in [0, 1]; nan where a published curve does not give it.
    adapted_rand_error, rand_precision, rand_recall : array of float64, shape (K,)
        In [0, 1], or nan.
    """

    measure: ClassVar[str] = "covering"

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

    @property
    def columns(self) -> Mapping[str, FloatArray]:
        """Thresholds and every metric at each."""
        metrics = {field.name: getattr(self, field.name) for field in fields(self)[1:]}
        return {"threshold": self.thresholds, **metrics}

    @property
    def caption(self) -> str:
        """The best covering."""
        return f"covering ODS {number(max(self.against_threshold()[1].tolist(), default=math.nan))}"

    @property
    def levels(self) -> Mapping[str, FloatArray]:
        """The metrics that plots and pages show, by name."""
        return {"covering": self.covering, "PRI": self.rand_index, "VOI": self.voi}


def region_curve(counts: RegionCounts | Pooled) -> RegionCurve:
    """Give the region metrics at each threshold.

    Parameters
    ----------
    counts : RegionCounts, or Result for its pooled counts
        Of one image, or of many added up.

    Returns
    -------
    RegionCurve
        At the thresholds of the counts.

    Raises
    ------
    ArgumentError
        For counts of another kind.

    Examples
    --------
    >>> curve = region_curve(RegionCounts([0.5], 1, 4, 4, 4 * 2**20, [2**21], [2**22], *([[2**35]] * 6)))
    >>> curve.covering, curve.voi
    (array([0.5]), array([1.]))
    """
    pooled = as_pooled(counts, RegionCounts)
    both = pooled.voi_split + pooled.voi_merge
    sums = (pooled.rand_index, both, pooled.voi_split, pooled.voi_merge, pooled.adapted_rand, *pooled.rows[-2:])
    rand_index, voi, split, merge, f, *parts = (each / (MEAN_UNITS * pooled.images) for each in sums)
    covering = pooled.covered / (COVERED_UNITS * pooled.area)
    of_prediction = pooled.covered_pred / (COVERED_UNITS * pooled.pixels)
    return RegionCurve(pooled.thresholds, covering, of_prediction, rand_index, voi, split, merge, 1 - f, *parts)


def official_files(per_image: Mapping[str, RegionCounts]) -> dict[str, str]:
    """Write counts of images by a method as ``collect_eval_reg`` of BSDS500 does, from areas and means in six digits.

    Areas lose digits from a million on, and metrics can differ from those of the table by 1e-5.
    """
    images = [per_image[name] for name in sorted(per_image)]
    thresholds = _rounded(images[0].thresholds)
    covered, covered_pred = (
        _rounded(np.array([getattr(image, name) for image in images]) / COVERED_UNITS)
        for name in ("covered", "covered_pred")
    )
    area, pixels = (_rounded(np.array([[getattr(image, name)] for image in images])) for name in ("area", "pixels"))
    best = _rounded(np.array([image.covered_best for image in images]) / COVERED_UNITS)
    pri = _rounded(np.array([image.rand_index for image in images]) / MEAN_UNITS)
    voi = _rounded(np.array([image.voi_split + image.voi_merge for image in images]) / MEAN_UNITS)

    own = np.argmax(covered / area, axis=1)
    rows = np.arange(len(images))
    pooled = covered.sum(axis=0) / area.sum()
    by_covering, by_pri, by_voi = int(pooled.argmax()), int(pri.mean(axis=0).argmax()), int(voi.mean(axis=0).argmin())
    best_coverings = [pooled[by_covering], covered[rows, own].sum() / area.sum(), best.sum() / area.sum()]
    of_pri = [thresholds[by_pri], pri.mean(axis=0)[by_pri], pri.max(axis=1).mean()]
    of_voi = [thresholds[by_voi], voi.mean(axis=0)[by_voi], voi.min(axis=1).mean()]
    every = [(covered / area)[rows, own], (covered_pred / pixels)[rows, own]]
    return {
        "eval_cover.txt": text_of([[thresholds[by_covering], *best_coverings]]),
        "eval_cover_img.txt": text_of([k, *row] for k, row in enumerate(rows_of(thresholds[own], *every), start=1)),
        "eval_cover_th.txt": text_of(rows_of(thresholds, pooled)),
        "eval_RI_VOI.txt": text_of([[*of_pri, *of_voi]]),
        "eval_RI_VOI_thr.txt": text_of(rows_of(thresholds, pri.mean(axis=0), voi.mean(axis=0))),
    }


def _rounded(values: FloatArray | IntArray) -> FloatArray:
    """Round as ``%10g`` does."""
    return np.array([float(f"{value:.6g}") for value in values.ravel().tolist()]).reshape(values.shape)
