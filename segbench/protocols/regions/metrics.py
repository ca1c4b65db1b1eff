"""The metrics of the region benchmark: their table and their curves.

Begin with `METRICS` and `RegionTable.formulas`.

Conventions
-----------
1. Covering is pooled: covered area over all area, of all images and annotators. Rand index (PRI), variation of
   information (VOI) and adapted Rand error (ARE) are means over images.
2. ODS is the best value over thresholds common to all images; ties go to the lowest threshold. Each metric has its own
   threshold. VOI and ARE are best where they are lowest.
3. OIS takes each image at its own best threshold, of ties the first. `covering_best` takes each ground-truth region
   at its best threshold.
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
from segbench.core.table import CountsTable, Sums
from segbench.curves.curve import Drawn
from segbench.loaders.bsds_text import rows_of, text_of
from segbench.protocols.common_thresholds import in_order
from segbench.protocols.regions.counts import COVERED_UNITS, RegionCounts

_COVER = "how well the best region covers each true one (ODS: one threshold for all images, OIS: each image's own)"
_VOI = "variation of information in bits"
_BITS = (0.0, math.inf)
_ARE = "adapted Rand error"

METRICS = shares(
    Metric(
        key="covering_ods", title="ODS", better="higher", image_key="covering", headline=True, compared=True,
        group="cover", note=_COVER,
    ),
    Metric(
        key="covering_ods_threshold", title="at", image_key="threshold", kind="threshold", spread="jumps",
        group="cover", note="threshold of its ODS",
    ),
    Metric(key="covering_ois", title="OIS", better="higher", compared=True, group="cover", note=_COVER),
    Metric(
        key="covering_best", title="best", better="higher", image_key="covering_best", image_title="covering best",
        compared=True, priority=6, group="cover", note="each region at its own threshold",
    ),
    Metric(key="covering_of_prediction", image_key="covering_of_prediction", spread="erratic"),
    Metric(
        key="pri_ods", title="ODS", better="higher", image_key="pri", image_title="PRI", compared=True, adds_up=False,
        group="PRI", note="probabilistic Rand index",
    ),
    Metric(key="pri_ods_threshold", kind="threshold", spread="erratic"),
    Metric(key="pri_ois", title="OIS", better="higher", mean_over_images=True, priority=5, group="PRI"),
    Metric(
        key="voi_ods", title="ODS", better="lower", range=_BITS, image_key="voi", image_title="VOI", compared=True,
        adds_up=False, group="VOI", note=_VOI,
    ),
    Metric(key="voi_ods_threshold", kind="threshold", spread="jumps"),
    Metric(
        key="voi_ois", title="OIS", better="lower", range=_BITS, mean_over_images=True, priority=4, group="VOI",
        note=_VOI,
    ),
    Metric(
        key="voi_split", title="split", better="lower", range=_BITS, spread="jumps", priority=2, group="VOI",
        note="part at its ODS, too many regions",
    ),
    Metric(
        key="voi_merge", title="merge", better="lower", range=_BITS, spread="jumps", priority=1, group="VOI",
        note="part at its ODS, too few regions",
    ),
    Metric(
        key="are_ods", title="ODS", better="lower", image_key="are", image_title="ARE", compared=True, adds_up=False,
        group="ARE", note=_ARE,
    ),
    Metric(key="are_ods_threshold", kind="threshold", spread="jumps"),
    Metric(
        key="are_ois", title="OIS", better="lower", mean_over_images=True, priority=3, group="ARE", note=_ARE
    ),
    Metric(key="are_precision", spread="jumps"),
    Metric(key="are_recall", spread="jumps"),
)  # fmt: skip


_OF_IMAGE = ("area", "pixels", "covered_best")
_BEST = ("best_covered", "best_rand_index", "best_voi", "best_adapted_rand")
"""Columns of the best values of an image over its thresholds."""


class RegionTable(CountsTable[RegionCounts]):
    """Region counts of many images in sorted order of their names."""

    metrics = METRICS
    counts = RegionCounts

    @cached_property
    def columns(self) -> Mapping[str, IntArray]:
        """The counts of each image by threshold, its areas, and its best values; see `RegionCounts`."""
        images = self._images
        by_threshold = {name: np.array([getattr(image, name) for image in images]) for name in RegionCounts.arrays}
        of_image = {name: np.array([getattr(image, name) for image in images]) for name in _OF_IMAGE}
        best = [
            (
                image.covered.max(),
                image.rand_index.max(),
                (image.voi_split + image.voi_merge).min(),
                image.adapted_rand.max(),
            )
            for image in images
        ]
        best_columns = np.array(best, np.int64).reshape(-1, len(_BEST)).T
        return by_threshold | of_image | dict(zip(_BEST, best_columns, strict=True))

    def formulas(self, of: Sums) -> Mapping[str, FloatArray]:
        area, pixels = of["area"] * COVERED_UNITS, of["pixels"] * COVERED_UNITS
        images = np.where(of.images > 0, of.images, np.nan) * MEAN_UNITS
        voi = of["voi_split"] + of["voi_merge"]
        rows = np.arange(len(of))
        by_covering, by_rand, by_voi, by_f = (
            (rows, np.argmax(values, axis=1)) for values in (of["covered"], of["rand_index"], -voi, of["adapted_rand"])
        )
        thresholds = {
            "covering_ods_threshold": by_covering,
            "pri_ods_threshold": by_rand,
            "voi_ods_threshold": by_voi,
            "are_ods_threshold": by_f,
        }
        return {
            "covering_ods": of["covered"][by_covering] / area,
            "covering_ois": of["best_covered"] / area,
            "covering_best": of["covered_best"] / area,
            "covering_of_prediction": of["covered_pred"][by_covering] / pixels,
            "pri_ods": of["rand_index"][by_rand] / images,
            "pri_ois": of["best_rand_index"] / images,
            "voi_ods": voi[by_voi] / images,
            "voi_ois": of["best_voi"] / images,
            "voi_split": of["voi_split"][by_voi] / images,
            "voi_merge": of["voi_merge"][by_voi] / images,
            "are_ods": 1 - of["adapted_rand"][by_f] / images,
            "are_ois": 1 - of["best_adapted_rand"] / images,
            "are_precision": of["rand_precision"][by_f] / images,
            "are_recall": of["rand_recall"][by_f] / images,
            **{key: np.where(of.images > 0, self._thresholds[best], np.nan) for key, (_, best) in thresholds.items()},
        }

    @property
    def image_weights(self) -> Mapping[str, IntArray]:
        """Area of the ground truth of each image for covering; the others are means over images."""
        return {metric.key: self.columns["area"] for metric in METRICS if metric.key.startswith("covering")}

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
    """Return the region metrics at each threshold.

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
    unit = MEAN_UNITS * pooled.images
    return RegionCurve(
        thresholds=pooled.thresholds,
        covering=pooled.covered / (COVERED_UNITS * pooled.area),
        covering_of_prediction=pooled.covered_pred / (COVERED_UNITS * pooled.pixels),
        rand_index=pooled.rand_index / unit,
        voi=(pooled.voi_split + pooled.voi_merge) / unit,
        voi_split=pooled.voi_split / unit,
        voi_merge=pooled.voi_merge / unit,
        adapted_rand_error=1 - pooled.adapted_rand / unit,
        rand_precision=pooled.rand_precision / unit,
        rand_recall=pooled.rand_recall / unit,
    )


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

    best_of_image = np.argmax(covered / area, axis=1)
    rows = np.arange(len(images))
    covering = covered.sum(axis=0) / area.sum()
    by_covering, by_pri, by_voi = int(covering.argmax()), int(pri.mean(axis=0).argmax()), int(voi.mean(axis=0).argmin())
    covering_ois, covering_best = covered[rows, best_of_image].sum() / area.sum(), best.sum() / area.sum()
    of_pri = [thresholds[by_pri], pri.mean(axis=0)[by_pri], pri.max(axis=1).mean()]
    of_voi = [thresholds[by_voi], voi.mean(axis=0)[by_voi], voi.min(axis=1).mean()]
    of_images = rows_of(
        thresholds[best_of_image],
        (covered / area)[rows, best_of_image],
        (covered_pred / pixels)[rows, best_of_image],
    )
    return {
        "eval_cover.txt": text_of([[thresholds[by_covering], covering[by_covering], covering_ois, covering_best]]),
        "eval_cover_img.txt": text_of([image, *values] for image, values in enumerate(of_images, start=1)),
        "eval_cover_th.txt": text_of(rows_of(thresholds, covering)),
        "eval_RI_VOI.txt": text_of([[*of_pri, *of_voi]]),
        "eval_RI_VOI_thr.txt": text_of(rows_of(thresholds, pri.mean(axis=0), voi.mean(axis=0))),
    }


def _rounded(values: FloatArray | IntArray) -> FloatArray:
    """Round as ``%10g`` does."""
    return np.array([float(f"{value:.6g}") for value in values.ravel().tolist()]).reshape(values.shape)
