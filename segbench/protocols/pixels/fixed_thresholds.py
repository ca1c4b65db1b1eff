"""Metrics of pixels at thresholds chosen beforehand, beside those of the benchmark.

A pixel is predicted positive where its score reaches the threshold. ``f@0.5`` is computed from counts pooled over
images; ``mean_image_f@0.5`` is the mean over the images that have an F, whose sum is rounded once, so that their order
does not matter.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import BoolArray, FloatArray
from segbench.core.grouping import grouped
from segbench.core.levels import are_beyond_shares, in_type_of, rounded
from segbench.core.messages import NOTHING, Message, Note
from segbench.core.metric import Metric, key_at, left_out_note
from segbench.core.numbers import number, shortest
from segbench.core.operating_point import Confusion
from segbench.core.scores import ScoreCounts
from segbench.core.settings import Quantize
from segbench.core.table import Sums
from segbench.protocols.pixels.image_set import Block, ImageSet
from segbench.protocols.pixels.metrics import OVER_IMAGES

_TITLES = {
    "precision": "P", "recall": "R", "f": "F", "iou": "IoU", "specificity": "spec", "accuracy": "acc", "mcc": "MCC",
}  # fmt: skip
_SHOWN = ("f", "iou")
_COUNTED = ("tp", "fp", "positives", "negatives")


def metrics_at(thresholds: Sequence[float]) -> tuple[Metric, ...]:
    """Return the metrics at fixed thresholds: at each ``f@0.5`` and others, then their means over images."""
    metrics: list[Metric] = []
    for threshold in thresholds:
        pooled, means = [], []
        for name, title in _TITLES.items():
            key, title_at = key_at(name, threshold), f"{title}@{shortest(threshold)}"
            limits = (-1.0, 1.0) if name == "mcc" else (0.0, 1.0)
            pooled.append(
                Metric(key=key, image_key=key, title=title_at, better="higher", range=limits, compared=name in _SHOWN)
            )
            means.append(
                Metric(
                    key=f"mean_image_{key}", title=f"mean {title_at}" if name in _SHOWN else "", better="higher",
                    range=limits, mean_over_images=True, priority=2, note="average over images",
                )
            )  # fmt: skip
        metrics += [*pooled, *means]
    return tuple(metrics)


class FixedThresholds(Block):
    """Metrics at some thresholds, rounded as scores are."""

    name = "at fixed thresholds"
    means = tuple(_TITLES)

    def __init__(self, images: ImageSet, at: Sequence[float], quantize: Quantize | None) -> None:
        super().__init__(images)
        self._at = rounded(at, quantize)
        self._keys = [*map(shortest, at)]
        self.metrics = metrics_at(at)

    def columns_of(self, images: Iterable[ScoreCounts]) -> Mapping[str, NDArray[Any]]:
        """Return counts at each threshold, shape (images, thresholds), and each metric of single images."""
        true, false, positives, negatives = [], [], [], []
        for counts in images:
            thresholds = in_type_of(counts.scores.dtype, self._at)
            reached = np.searchsorted(-counts.scores.astype(np.float64), -thresholds, side="right")
            true.append(np.append(0, np.cumsum(counts.positives))[reached])
            false.append(np.append(0, np.cumsum(counts.negatives))[reached])
            positives.append(counts.total_positives)
            negatives.append(counts.total_negatives)
        pooled = {
            "tp": np.array(true, np.int64).reshape(-1, self._at.size),  # of no image, too
            "fp": np.array(false, np.int64).reshape(-1, self._at.size),
            "positives": np.array(positives, np.int64).reshape(-1, 1),
            "negatives": np.array(negatives, np.int64).reshape(-1, 1),
        }
        of_images = Confusion(*(column.astype(np.float64) for column in pooled.values()))
        return pooled | {name: getattr(of_images, name) for name in _TITLES}

    @cached_property
    def estimates(self) -> FloatArray:
        """Every metric of all images and of pixels without the name of one, shape (metrics,)."""
        sums = self.layout.named(self.layout.total()[np.newaxis])
        unnamed = self.columns_of(() if self.image_set.unnamed is None else (self.image_set.unnamed,))
        pooled = {name: sums[name] + unnamed[name].sum(axis=0) for name in _COUNTED}
        row: FloatArray = self.scored(replace(sums, values={**sums.values, **pooled}))[0]
        return row

    def formulas(self, of: Sums) -> Mapping[str, FloatArray]:
        pooled = Confusion(*(of[name] for name in _COUNTED))
        values = {}
        for column, at in enumerate(self._keys):
            for name in _TITLES:
                values[f"{name}@{at}"] = getattr(pooled, name)[:, column]
                values[f"mean_image_{name}@{at}"] = of[name][:, column]
        return values

    @property
    def left_out_if_lacking(self) -> Mapping[str, BoolArray]:
        """Every mean over images, where there are positives; elsewhere all that is predicted is false."""
        return dict.fromkeys(_TITLES, self.columns["positives"] > 0)

    def may_be_restricted(self, metric: Metric) -> bool:
        return metric.key.startswith(OVER_IMAGES)

    @property
    def image_weights(self) -> Mapping[str, NDArray[Any]]:
        """Pixels of each image that a metric is computed from; for means over images whether it is in them."""
        positives, negatives = self.columns["positives"][:, 0], self.columns["negatives"][:, 0]
        pixels = {"specificity": negatives, "accuracy": positives + negatives}
        weights = {}
        for column, at in enumerate(self._keys):
            for name in _TITLES:
                weights[f"{name}@{at}"] = pixels.get(name, positives)
                weights[f"mean_image_{name}@{at}"] = ~np.isnan(self.columns[name][:, column])
        return weights

    @property
    def left_out(self) -> Sequence[Note]:
        """Notes on how many images means over images leave out, and on thresholds outside the range of scores."""
        means = [metric for metric in self.metrics if metric.key.startswith(OVER_IMAGES)]
        images = 0 if self.image_set.unnamed is not None else self.images
        lacking = {
            f"mean_image_{name}@{at}": np.isnan(self.columns[name][:images, column])
            for column, at in enumerate(self._keys)
            for name in _TITLES
        }
        lacking_alike = grouped((lacking[metric.key].tobytes(), metric) for metric in means)
        notes = (
            left_out_note(metrics, "without a value", int(np.sum(lacking[metrics[0].key])), images)
            for metrics in lacking_alike.values()
        )
        return (*self._outside, *itertools.chain.from_iterable(notes))

    @property
    def _outside(self) -> Iterable[Note]:
        """Notes on thresholds that no score reaches, or all do, and on those from 0 to 1 beside other scores."""
        scores = self.image_set.pool.counts.scores
        if not scores.size:
            return
        lowest, highest = self.image_set.pool.ends
        thresholds = in_type_of(scores.dtype, self._at)
        for threshold, at in zip(thresholds.tolist(), self._at.tolist(), strict=True):  # notes name what was asked for
            if threshold > highest:
                above = Message(
                    "above-all-scores",
                    "no score reaches {at:g}: the highest is {highest}",
                    at=at,
                    highest=number(highest),
                )
                yield Note(above)
            elif threshold <= lowest:
                below = Message(
                    "below-all-scores",
                    "all scores reach {at:g}: the lowest is {lowest}",
                    at=at,
                    lowest=number(lowest),
                )
                yield Note(below)
            elif 0 < threshold < 1 and are_beyond_shares(lowest, highest):
                of_shares = Message(
                    "other-scale",
                    "{at:g} is a threshold for scores from 0 to 1, and these range from {lowest} to {highest}",
                    at=at,
                    lowest=number(lowest),
                    highest=number(highest),
                )
                yield Note(of_shares)

    def why_undefined(self, metric: Metric) -> Message:
        counts = self.image_set.pool.counts
        both = bool(counts.total_positives and counts.total_negatives)
        if both and self.image_set.unnamed is None and metric.key.startswith(OVER_IMAGES):
            return Message("undefined-everywhere", "undefined in every {of}", of="image")
        if metric.key.startswith("mcc@") and both:
            return Message("predicted-alike", "all pixels are predicted alike")
        if metric.key.startswith("precision@") and (counts.total_positives or counts.total_negatives):
            return Message("none-predicted", "nothing is predicted positive")
        return NOTHING
