"""The metrics of the boundary benchmark, and the table that computes them from the counts of its images.

The conventions are those of `segbench.protocols.boundaries.curve`, rules 1 to 5. In ``mean_image_f`` each image's F
counts in units of 2**-36, so that the mean does not depend on the order of the images.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from segbench.core.errors import ArgumentError
from segbench.core.integers import MEAN_UNITS
from segbench.core.metric import Metric
from segbench.core.series import FloatArray, Space
from segbench.core.table import CELLS_AT_ONCE, Table
from segbench.protocols.boundaries.counts import BoundaryCounts
from segbench.protocols.boundaries.curve import POOLED, SHARES, BoundaryCurve, boundary_curve, f_of, ratio
from segbench.protocols.common_thresholds import in_order

METRICS = (
    Metric(
        key="ods_f", title="ODS", better="higher", headline=True, compared=True,
        note="best F with one threshold for all images",
    ),
    Metric(key="ods_precision", title="P", chosen=True, priority=7, note="of the F before them"),
    Metric(key="ods_recall", title="R", chosen=True, priority=6, note="of the F before them"),
    Metric(key="ods_threshold", title="at", kind="threshold", chosen=True, note="of the F before them"),
    Metric(
        key="ois_f", title="OIS", better="higher", image_key="f", image_title="F", compared=True,
        note="each image at its own, counts pooled",
    ),
    Metric(key="ois_precision", title="P", image_key="precision", priority=3, note="of the F before them"),
    Metric(key="ois_recall", title="R", image_key="recall", priority=2, note="of the F before them"),
    Metric(key="", image_key="threshold", kind="threshold", chosen=True),
    Metric(
        key="mean_image_f", title="mean", better="higher", compared=True, priority=4, note="average of per-image best F"
    ),
    Metric(
        key="area_pr", title="AP", better="higher", image_key="area_pr", compared=True, note="Area_PR as BSDS measures it"
    ),
    Metric(
        key="area_pr_extended", title="AP ext*", better="higher", priority=1,
        note="of the curve extended to recall 1, not comparable with AP",
    ),
    Metric(key="r50", title="R50", better="higher", compared=True, chosen=True, priority=5),
)  # fmt: skip

_AREAS = ("area_pr", "area_pr_extended", "r50")
_IMAGES_AT_ONCE = 256


class BoundaryTable(Table):
    """Boundary counts of many images at common thresholds, those of several methods one after the other.

    Parameters
    ----------
    sets : sequence of mapping of str to BoundaryCounts
        Counts by image name, of each method; rows come set by set, in sorted order of the names.
    why_empty : str
        Why metrics are undefined where there is no image.
    blank : BoundaryCounts, optional
        The pooled counts where there is no image: without a pixel, but with thresholds.

    Raises
    ------
    ArgumentError
        If images were counted at different thresholds.

    Examples
    --------
    >>> summary = BoundaryTable([{"a": BoundaryCounts([0.5], [8], [10], [4], [5])}]).summary()
    >>> round(summary["ods_f"], 3), round(summary["ois_f"], 3)
    (0.8, 0.8)
    """

    metrics = METRICS

    def __init__(
        self,
        sets: Sequence[Mapping[str, BoundaryCounts]],
        *,
        why_empty: str = "no image was counted",
        blank: BoundaryCounts | None = None,
    ) -> None:
        self._sets = sets
        self._why_empty = why_empty
        self._blank = blank

    @property
    def images(self) -> int:
        """Number of images."""
        return sum(map(len, self._sets))

    def measure(self, weights: FloatArray) -> FloatArray:
        """Measure every metric for every row of weights, see `Table`; nan without a pixel to match."""
        if not self.images:
            return np.full((len(weights), len(self.metrics)), np.nan)
        pooled = np.empty((len(weights), len(POOLED)))
        step = max(CELLS_AT_ONCE // max(self._counts.shape[1], 1), 1)
        for start in range(0, len(weights), step):
            rows = slice(start, start + step)
            self._measure_pooled(weights[rows] @ self._counts, pooled[rows])
        return self._scored(pooled, weights @ self._best, weights.sum(axis=1))

    @cached_property
    def estimates(self) -> FloatArray:
        """Every metric of the benchmark itself; images may be unpacked as they are asked for, never all at once."""
        if not self.images:
            return np.full(len(self.metrics), np.nan)
        best = self._best.sum(axis=0)[np.newaxis]
        pooled = np.empty((1, len(POOLED)))
        self._measure_pooled(np.concatenate(self.pooled.rows).astype(np.float64)[np.newaxis], pooled)
        row: FloatArray = self._scored(pooled, best, np.array([self.images]))[0]
        return row

    def _measure_pooled(self, counts: FloatArray, values: FloatArray) -> None:
        from segbench.protocols.boundaries import metric_kernels

        counts = counts.reshape(-1, 4, self._thresholds.size)
        metric_kernels.measure_pooled(counts, self._thresholds, SHARES, values)

    def _scored(self, pooled: FloatArray, best: FloatArray, images: FloatArray) -> FloatArray:
        """Compute every metric from the pooled curve and sums over images: the formulas."""
        matched_gt, total_gt, matched_pred, total_pred, f, meant, threshold = best.T
        recall, precision = ratio(matched_gt, total_gt), ratio(matched_pred, total_pred)
        values = {
            **dict(zip(POOLED, pooled.T, strict=True)),
            "ois_f": f_of(recall, precision),
            "ois_precision": precision,
            "ois_recall": recall,
            "": np.where(images == 1, threshold, np.nan),
            "mean_image_f": ratio(f, MEAN_UNITS * meant),
        }
        if self._thresholds.size == 1:
            values |= dict.fromkeys(_AREAS, np.full(len(pooled), np.nan))
        scored = np.column_stack([values[metric.key] for metric in self.metrics])
        scored[meant == 0] = np.nan
        return scored

    def why_undefined(self, metric: Metric) -> str:
        """Say why an estimate is nan."""
        if not self.images:
            return self._why_empty
        if not self._best[:, 5].any():
            return "no boundary pixel in the ground truth or the prediction"
        return "one threshold makes no curve" if self._thresholds.size == 1 else "no threshold has precision .5"

    @property
    def pooled(self) -> BoundaryCounts:
        """The counts of all images added up."""
        if self._blank is not None and not self.images:
            return self._blank
        return BoundaryCounts.sum(images[name] for images in self._sets for name in sorted(images))

    @property
    def curve(self) -> BoundaryCurve:
        """Recall and precision of the pooled counts."""
        return boundary_curve(self.pooled)

    def heights(self, space: Space, at: FloatArray, weights: FloatArray) -> FloatArray:
        """Read precision of each row of weights off at some recalls, straight between thresholds; see `Table`."""
        if space == "roc":
            raise ArgumentError("boundary counts have no ROC curve, for they know no true negatives")
        heights = np.full((weights.shape[0], at.size), np.nan)
        for row, counts in enumerate(weights @ self._counts):
            matched_gt, total_gt, matched_pred, total_pred = np.split(counts, 4)
            reached, first = np.unique(ratio(matched_gt, total_gt), return_index=True)
            if reached.size > 1:
                precision = ratio(matched_pred, total_pred)[first]
                heights[row] = np.interp(at, reached, precision, left=np.nan, right=np.nan)
        return heights

    @cached_property
    def _thresholds(self) -> NDArray[np.float64]:
        return next(iter(self._sets[0].values())).thresholds

    @cached_property
    def _counts(self) -> FloatArray:
        """The four counts of each threshold, one after the other, shape (images, 4 K)."""
        return np.array([np.concatenate(counts.rows) for counts in in_order(*self._sets)], dtype=np.float64)

    @cached_property
    def _best(self) -> FloatArray:
        """Give the four counts at each image's first best threshold, F there in units, 1 if it has a pixel, threshold."""
        waiting = iter(in_order(*self._sets))
        parts = [np.empty((0, 7))]
        while batch := list(islice(waiting, _IMAGES_AT_ONCE)):
            parts.append(_best_of(batch))
        return np.concatenate(parts)


def _best_of(images: Sequence[BoundaryCounts]) -> FloatArray:
    """Find the first best threshold of each image, not interpolated; see `BoundaryTable._best`."""
    counts = np.array([image.rows for image in images])
    f = f_of(ratio(counts[:, 0], counts[:, 1]), ratio(counts[:, 2], counts[:, 3]))
    rows, best = np.arange(len(images)), f.argmax(axis=1)
    has_pixels = counts[:, (1, 3)].max(axis=(1, 2)) > 0
    thresholds = images[0].thresholds[best]
    units = np.rint(f[rows, best] * has_pixels * MEAN_UNITS)
    return np.column_stack([counts[rows, :, best], units, has_pixels, thresholds]).astype(np.float64)
