"""Metrics of pixels at thresholds chosen beforehand, beside those of the benchmark.

A pixel is predicted where its score reaches the threshold. ``f@0.5`` is of counts pooled over images, by the formulas
of `OperatingPoint`; ``mean_image_f@0.5`` is the mean over the images that have an F, of which the sum is rounded once,
so that their order does not matter.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from segbench.core.arguments import Quantize
from segbench.core.grouping import grouped
from segbench.core.integers import FloatArray
from segbench.core.levels import rounded
from segbench.core.metric import Metric, left_out_note
from segbench.core.scores import ScoreCounts
from segbench.core.table import Columns, column_sums
from segbench.protocols.pixels.metrics import METRICS, OVER_IMAGES, PixelTable

_TITLES = {
    "precision": "P", "recall": "R", "f": "F", "iou": "IoU", "specificity": "spec", "accuracy": "acc", "mcc": "MCC",
}  # fmt: skip
_SHOWN = ("f", "iou")


def metrics_at(thresholds: Sequence[float]) -> tuple[Metric, ...]:
    """Give the metrics at fixed thresholds: ``f@0.5`` and others, then their means over images."""
    found = []
    for at in thresholds:
        for key, title in _TITLES.items():
            name, title_at = f"{key}@{at:g}", f"{title}@{at:g}"
            pooled = Metric(
                key=name, title=title_at, better="higher", image_key=name, image_title=title_at,
                range=(-1.0, 1.0) if key == "mcc" else (0.0, 1.0), compared=key in _SHOWN,
            )  # fmt: skip
            found.append(pooled)
        found += [
            Metric(
                key=f"mean_image_{one.key}", title=f"mean {one.title}" if key in _SHOWN else "", better="higher",
                range=one.range, priority=2, note="average over images",
            )
            for key, one in zip(_TITLES, found[-len(_TITLES) :], strict=True)
        ]  # fmt: skip
    return tuple(found)


class FixedThresholdTable(PixelTable):
    """A `PixelTable` with further metrics at thresholds `at`."""

    def __init__(
        self,
        per_image: Mapping[str, ScoreCounts],
        of_set: ScoreCounts | None = None,
        *,
        at: Sequence[float],
        quantize: Quantize | None = None,
    ) -> None:
        super().__init__(per_image, of_set)
        self._at, self._cuts = tuple(at), rounded(at, quantize)
        self.metrics = (*METRICS, *metrics_at(at))

    @cached_property
    def _points(self) -> FloatArray:
        """Of each image TP and FP at each threshold, positives and negatives; then its metrics, and which it has."""
        rows = [self._point(image) for image in self.ordered]
        points = np.array(rows).reshape(-1, 2 * len(self._at) + 2)  # of no image, too
        values = self._pooled(points).reshape(len(points), len(self._at) * len(_TITLES))
        return np.hstack([points, np.nan_to_num(values), ~np.isnan(values)])

    def _point(self, counts: ScoreCounts) -> FloatArray:
        reached = np.searchsorted(-counts.scores.astype(np.float64), -self._cuts, side="right")
        parts = [np.append(0, np.cumsum(part))[reached] for part in (counts.positives, counts.negatives)]
        return np.concatenate([*parts, [counts.total_positives, counts.total_negatives]]).astype(np.float64)

    @cached_property
    def rows(self) -> Columns:
        """Those of `PixelTable`, and the points of the images."""
        return Columns(super().rows, self._points)

    def score(self, sums: FloatArray) -> FloatArray:
        """Compute every metric from sums of rows."""
        width = self._points.shape[1]
        return self._filled(super().score(sums[:, :-width]), sums[:, -width:])

    @cached_property
    def estimates(self) -> FloatArray:
        """Every metric of the benchmark itself."""
        points = column_sums(self._points)[0]
        if self.image_set.rest is not None:
            points[: 2 * len(self._at) + 2] += self._point(self.image_set.rest)
        row: FloatArray = self._filled(super().estimates[np.newaxis].copy(), points[np.newaxis])[0]
        if self.image_set.rest is not None:
            row[[metric.key.startswith(OVER_IMAGES) for metric in self.metrics]] = np.nan
        return row

    @property
    def shares(self) -> FloatArray:
        """Negatives of each image for specificity and all pixels for accuracy, otherwise those of `PixelTable`."""
        start = 2 * len(self._at)
        pixels = self._points[:, start : start + 2]
        keys = [metric.key for metric in self.metrics]
        return np.select(
            [["specificity@" in key for key in keys], ["accuracy@" in key for key in keys]],
            [self._weights(pixels[:, 1:]), self._weights(pixels.sum(axis=1, keepdims=True))],
            super().shares,
        )

    def measure_images(self) -> FloatArray:
        """Measure each image alone."""
        return self._filled(super().measure_images(), self._points)

    @property
    def left_out(self) -> tuple[str, ...]:
        """How many images means over images leave out, with those at fixed thresholds."""
        means = [metric for metric in metrics_at(self._at) if metric.key.startswith("mean_image_")]
        images = 0 if self.image_set.rest is not None else self.images
        defined = self._points[:images, self._points.shape[1] - len(means) :].astype(bool)
        alike = grouped((each.tobytes(), (metric, each)) for metric, each in zip(means, defined.T, strict=True))
        notes = (
            left_out_note([metric for metric, _ in some], "without a value", int(np.sum(~some[0][1])), images)
            for some in alike.values()
        )
        return (*super().left_out, *itertools.chain.from_iterable(notes))

    def _filled(self, scored: FloatArray, points: FloatArray) -> FloatArray:
        """Fill in the metrics at fixed thresholds."""
        thresholds, keys = len(self._at), len(_TITLES)
        width = 2 * thresholds + 2
        sums, images = points[:, width:].reshape(len(points), 2, thresholds, keys).swapaxes(0, 1)
        with np.errstate(invalid="ignore"):  # nan where no image has the metric
            means = sums / images
        values = np.concatenate([self._pooled(points[:, :width]), means], axis=2)
        scored[:, len(METRICS) :][:, : 2 * thresholds * keys] = values.reshape(len(scored), -1)
        return scored

    def _pooled(self, points: FloatArray) -> FloatArray:
        """Compute metrics from counts, shape (rows, thresholds, metrics)."""
        size = len(self._at)
        tp, fp = points[:, :size], points[:, size : 2 * size]
        positives, negatives = points[:, 2 * size, np.newaxis], points[:, 2 * size + 1, np.newaxis]
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
        return np.stack([values[key] for key in _TITLES], axis=2)

    def why_undefined(self, metric: Metric) -> str:
        """Say why an estimate is nan."""
        totals = self.totals
        both = bool(totals["positives"] and totals["negatives"])
        if both and self.image_set.rest is None and metric.key.startswith("mean_image_") and "@" in metric.key:
            return "undefined in every image"
        if metric.key.startswith("mcc@") and both:
            return "all pixels are predicted alike"
        if metric.key.startswith("precision@") and (totals["positives"] or totals["negatives"]):
            return "nothing is predicted positive"
        return super().why_undefined(metric)
