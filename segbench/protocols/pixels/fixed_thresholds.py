"""Metrics of pixels at thresholds chosen beforehand, beside those of the benchmark.

A pixel is predicted where its score reaches the threshold. ``f@0.5`` is of counts pooled over images;
``mean_image_f@0.5`` is the mean over the images that have an F, of which the sum is rounded once,
so that their order does not matter.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from segbench.core.arguments import Quantize
from segbench.core.arrays import FloatArray
from segbench.core.grouping import grouped
from segbench.core.levels import are_beyond_shares, in_type_of, rounded
from segbench.core.metric import Metric, left_out_note
from segbench.core.numbers import number
from segbench.core.operating_point import Confusion
from segbench.core.scores import ScoreCounts
from segbench.core.table import column_sums, only_where
from segbench.protocols.pixels.image_set import Block, ByScore, ImageSet
from segbench.protocols.pixels.metrics import OVER_IMAGES

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
            ends = (-1.0, 1.0) if key == "mcc" else (0.0, 1.0)
            shown: dict[str, Any] = {"title": title_at, "better": "higher", "compared": key in _SHOWN}
            found.append(Metric(key=name, image_key=name, range=ends, **shown))
        found += [
            Metric(
                key=f"mean_image_{one.key}", title=f"mean {one.title}" if key in _SHOWN else "", better="higher",
                range=one.range, priority=2, note="average over images",
            )
            for key, one in zip(_TITLES, found[-len(_TITLES) :], strict=True)
        ]  # fmt: skip
    return tuple(found)


@dataclass(frozen=True, eq=False)
class _Points(Confusion):
    """Named columns of the rows: counts at each threshold, then the metrics of images, and which of these they have."""

    values: FloatArray
    defined: FloatArray

    @classmethod
    def of(cls, rows: FloatArray, thresholds: int) -> _Points:
        """Name the columns of some rows."""
        return cls(*np.split(rows, np.cumsum([thresholds, thresholds, 1, 1, thresholds * len(_TITLES)]), axis=1))


class FixedThresholds(Block):
    """Metrics at some thresholds, rounded as scores are."""

    def __init__(self, images: ImageSet, at: Sequence[float], quantize: Quantize | None) -> None:
        super().__init__(images)
        self._at = rounded(at, quantize)
        self.metrics = metrics_at(at)

    def rows_of(self, images: Iterable[ScoreCounts]) -> FloatArray:
        """Give the fields of `_Points`, one row per image."""
        counted = np.array([self._counted(one) for one in images]).reshape(-1, 2 * self._at.size + 2)  # of none, too
        values = self._pooled(_Points.of(counted, self._at.size)).reshape(len(counted), self._at.size * len(_TITLES))
        return np.hstack([counted, np.nan_to_num(values), ~np.isnan(values)])

    def _counted(self, counts: ScoreCounts) -> FloatArray:
        at = in_type_of(counts.scores.dtype, self._at)
        reached = np.searchsorted(-counts.scores.astype(np.float64), -at, side="right")
        parts = [np.append(0, np.cumsum(part))[reached] for part in (counts.positives, counts.negatives)]
        return np.concatenate([*parts, [counts.total_positives, counts.total_negatives]]).astype(np.float64)

    @property
    def estimates(self) -> FloatArray:
        rest = () if self.images.rest is None else (self.images.rest,)
        return self.score(column_sums(self.rows) + self.rows_of(rest).sum(axis=0), None)[0]

    def score(self, sums: FloatArray, curves: ByScore | None) -> FloatArray:
        points = _Points.of(sums, self._at.size)
        with np.errstate(invalid="ignore"):  # nan where no image has the metric
            means = (points.values / points.defined).reshape(len(sums), self._at.size, len(_TITLES))
        return np.concatenate([self._pooled(points), means], axis=2).reshape(len(sums), len(self.metrics))

    def beside(self, other: Self) -> Self:
        values = self._at.size * len(_TITLES)
        nothing = _Points.of(self.rows, self._at.size).positives == 0  # where what is found is false
        held = np.tile(np.where(nothing, 1, other.rows[:, -values:]), 2)
        rows = only_where(held, self.rows, slice(-2 * values, None))
        if rows is self.rows:
            return self
        found = copy(self)
        found.rows = rows
        return found

    def leaves_out(self, metric: Metric) -> bool:
        return metric.key.startswith(OVER_IMAGES)

    @property
    def shares(self) -> FloatArray:
        """Pixels of each image that a metric is about; for means over images whether it is in them."""
        points = _Points.of(self.rows, self._at.size)
        about = {"specificity": points.negatives, "accuracy": points.positives + points.negatives}
        pixels = np.stack([about.get(name, points.positives)[:, 0] for name in _TITLES], axis=1)
        held = points.defined.reshape(len(pixels), self._at.size, len(_TITLES))
        pooled = np.broadcast_to(pixels[:, np.newaxis], held.shape)
        return np.concatenate([pooled, held], axis=2).reshape(len(pixels), len(self.metrics))

    @property
    def left_out(self) -> Sequence[str]:
        """How many images means over images leave out, and which thresholds are not among the scores."""
        means = [metric for metric in self.metrics if metric.key.startswith(OVER_IMAGES)]
        images = 0 if self.images.rest is not None else len(self.images)
        defined = _Points.of(self.rows[:images], self._at.size).defined.astype(bool)
        alike = grouped((each.tobytes(), (metric, each)) for metric, each in zip(means, defined.T, strict=True))
        notes = (
            left_out_note([metric for metric, _ in some], "without a value", int(np.sum(~some[0][1])), images)
            for some in alike.values()
        )
        return (*self._outside, *itertools.chain.from_iterable(notes))

    @property
    def _outside(self) -> Iterable[str]:
        """Name thresholds that no score reaches, or all do, and those of probabilities beside logits or levels."""
        scores = self.images.pool.counts.scores
        for at in in_type_of(scores.dtype, self._at) if scores.size else ():
            if at > scores[0]:
                yield f"no score reaches {at:g}: the highest is {number(float(scores[0]))}"
            elif at <= scores[-1]:
                yield f"all scores reach {at:g}: the lowest is {number(float(scores[-1]))}"
            elif 0 < at < 1 and are_beyond_shares(float(scores[-1]), float(scores[0])):
                low, high = (number(float(score)) for score in (scores[-1], scores[0]))
                yield f"{at:g} is a threshold for scores from 0 to 1, and these range from {low} to {high}"

    def _pooled(self, points: _Points) -> FloatArray:
        """Compute metrics from counts, shape (rows, thresholds, metrics)."""
        return np.stack([getattr(points, key) for key in _TITLES], axis=2)

    def why_undefined(self, metric: Metric) -> str:
        counts = self.images.pool.counts
        both = bool(counts.total_positives and counts.total_negatives)
        if both and self.images.rest is None and metric.key.startswith(OVER_IMAGES):
            return "undefined in every image"
        if metric.key.startswith("mcc@") and both:
            return "all pixels are predicted alike"
        if metric.key.startswith("precision@") and (counts.total_positives or counts.total_negatives):
            return "nothing is predicted positive"
        return ""
