"""Metrics of pixels at thresholds chosen beforehand, beside those of the benchmark.

A pixel is predicted where its score reaches the threshold. Counts are pooled over images; `OperatingPoint` has the same
formulas for one point.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from segbench.core.metric import Metric
from segbench.core.scores import ScoreCounts
from segbench.core.series import FloatArray
from segbench.protocols.pixels.metrics import METRICS, PixelTable, joined

_TITLES = {
    "precision": "P", "recall": "R", "f": "F", "iou": "IoU", "specificity": "spec", "accuracy": "acc", "mcc": "MCC",
}  # fmt: skip


def metrics_at(thresholds: Sequence[float]) -> tuple[Metric, ...]:
    """Give the metrics at fixed thresholds: ``f@0.5``."""
    return tuple(
        Metric(
            key=f"{key}@{threshold:g}",
            title=f"{title}@{threshold:g}",
            better="higher",
            image_key=f"{key}@{threshold:g}",
            image_title=f"{title}@{threshold:g}",
            range=(-1.0, 1.0) if key == "mcc" else (0.0, 1.0),
            compared=key in ("f", "iou"),
        )
        for threshold in thresholds
        for key, title in _TITLES.items()
    )


class FixedThresholdTable(PixelTable):
    """A `PixelTable` with further metrics at thresholds `at`, of counts of exact scores."""

    def __init__(
        self,
        sets: Sequence[Mapping[str, ScoreCounts]],
        rest: ScoreCounts | None = None,
        of_set: ScoreCounts | None = None,
        *,
        at: Sequence[float],
    ) -> None:
        super().__init__(sets, rest, of_set)
        self._at = tuple(at)
        self.metrics = (*METRICS, *metrics_at(at))

    def _alone(self, image: Mapping[str, ScoreCounts], of_set: ScoreCounts) -> PixelTable:
        return FixedThresholdTable([image], of_set=of_set, at=self._at)

    @cached_property
    def _points(self) -> FloatArray:
        """TP at each threshold, FP at each, positives and negatives of each image."""
        return np.array([self._point(image) for image in self.ordered])

    def _point(self, counts: ScoreCounts) -> FloatArray:
        reached = np.searchsorted(-counts.scores.astype(np.float64), -np.asarray(self._at), side="right")
        parts = [np.append(0, np.cumsum(part))[reached] for part in (counts.positives, counts.negatives)]
        return np.concatenate([*parts, [counts.total_positives, counts.total_negatives]]).astype(np.float64)

    @cached_property
    def rows(self) -> Any:  # noqa: ANN401  dense or sparse
        """Those of `PixelTable`, and the points of the images."""
        return joined([super().rows, self._points])

    def score(self, sums: FloatArray) -> FloatArray:
        """Compute every metric from sums of rows."""
        width = self._points.shape[1]
        return self._filled(super().score(sums[:, :-width]), sums[:, -width:])

    @cached_property
    def estimates(self) -> FloatArray:
        """Every metric of the benchmark itself."""
        points = self._points[: len(self.sets[0])].sum(axis=0)
        if self._rest is not None:
            points = points + self._point(self._rest)
        row: FloatArray = self._filled(super().estimates[np.newaxis].copy(), points[np.newaxis])[0]
        return row

    def measure_images(self) -> tuple[FloatArray, FloatArray]:
        """Measure each image alone."""
        lowest, highest = super().measure_images()
        return self._filled(lowest, self._points), self._filled(highest, self._points)

    def _filled(self, scored: FloatArray, points: FloatArray) -> FloatArray:
        """Fill in the metrics at fixed thresholds."""
        size = len(self._at)
        tp, fp = points[:, :size], points[:, size : 2 * size]
        positives, negatives = points[:, 2 * size : -1], points[:, -1:]
        predicted, rejected = tp + fp, negatives - fp
        with np.errstate(invalid="ignore", divide="ignore"):  # nan where a metric is undefined
            variances = np.sqrt(predicted * positives) * np.sqrt((positives + negatives - predicted) * negatives)
            values = {
                "precision": tp / predicted,
                "recall": tp / positives,
                "f": np.where(positives > 0, 2 * tp / (positives + predicted), np.nan),
                "iou": np.where(positives > 0, tp / (positives + fp), np.nan),
                "specificity": rejected / negatives,
                "accuracy": (tp + rejected) / (positives + negatives),
                "mcc": (tp * rejected - fp * (positives - tp)) / variances,
            }
        scored[:, len(METRICS) :] = np.stack([values[key] for key in _TITLES], axis=2).reshape(len(scored), -1)
        return scored

    def why_undefined(self, metric: Metric) -> str:
        """Say why an estimate is nan."""
        if metric.key.startswith("mcc@") and self.totals["positives"] and self.totals["negatives"]:
            return "all pixels are predicted alike"
        return super().why_undefined(metric)
