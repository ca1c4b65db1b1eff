"""Metrics of pixels at thresholds chosen beforehand, beside those of the benchmark.

A pixel is predicted where its score reaches the threshold. ``f@0.5`` is of counts pooled over images;
``mean_image_f@0.5`` is the mean over the images that have an F, of which the sum is rounded once,
so that their order does not matter.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import BoolArray, FloatArray, IntArray
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
    """Give the metrics at fixed thresholds: ``f@0.5`` and others, then their means over images."""
    found = []
    for at in thresholds:
        for key, title in _TITLES.items():
            name, title_at = key_at(key, at), f"{title}@{shortest(at)}"
            ends = (-1.0, 1.0) if key == "mcc" else (0.0, 1.0)
            shown: dict[str, Any] = {"title": title_at, "better": "higher", "compared": key in _SHOWN}
            found.append(Metric(key=name, image_key=name, range=ends, **shown))
        found += [
            Metric(
                key=f"mean_image_{one.key}", title=f"mean {one.title}" if key in _SHOWN else "", better="higher",
                range=one.range, mean_over_images=True, priority=2, note="average over images",
            )
            for key, one in zip(_TITLES, found[-len(_TITLES) :], strict=True)
        ]  # fmt: skip
    return tuple(found)


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
        counted = [self._counted(counts) for counts in images]
        tp, fp = (np.array([pair[k] for pair in counted], np.int64).reshape(-1, self._at.size) for k in (0, 1))
        positives, negatives = (np.array([pair[k] for pair in counted], np.int64).reshape(-1, 1) for k in (2, 3))
        of_images = Confusion(*(part.astype(np.float64) for part in (tp, fp, positives, negatives)))
        own = {name: getattr(of_images, name) for name in _TITLES}
        return {"tp": tp, "fp": fp, "positives": positives, "negatives": negatives, **own}

    def _counted(self, counts: ScoreCounts) -> tuple[IntArray, IntArray, int, int]:
        """Count true and false positives at each threshold, and all positives and negatives."""
        at = in_type_of(counts.scores.dtype, self._at)
        reached = np.searchsorted(-counts.scores.astype(np.float64), -at, side="right")
        tp, fp = (np.append(0, np.cumsum(part))[reached] for part in (counts.positives, counts.negatives))
        return tp, fp, counts.total_positives, counts.total_negatives

    @cached_property
    def estimates(self) -> FloatArray:
        """Every metric of all images and of pixels without the name of one, shape (metrics,)."""
        sums = self.layout.named(self.layout.total()[np.newaxis])
        rest = () if self.image_set.rest is None else (self.image_set.rest,)
        unnamed = self.columns_of(rest)
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
        """Every mean over images, where there are positives; elsewhere what is found is false."""
        return dict.fromkeys(_TITLES, self.columns["positives"] > 0)

    def may_be_restricted(self, metric: Metric) -> bool:
        return metric.key.startswith(OVER_IMAGES)

    @property
    def image_weights(self) -> Mapping[str, NDArray[Any]]:
        """Pixels of each image that a metric is about; for means over images whether it is in them."""
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
        """How many images means over images leave out, and which thresholds are not among the scores."""
        means = [metric for metric in self.metrics if metric.key.startswith(OVER_IMAGES)]
        images = 0 if self.image_set.rest is not None else self.images
        lacking = {
            f"mean_image_{name}@{at}": np.isnan(self.columns[name][:images, column])
            for column, at in enumerate(self._keys)
            for name in _TITLES
        }
        alike = grouped((lacking[metric.key].tobytes(), metric) for metric in means)
        notes = (
            left_out_note(metrics, "without a value", int(np.sum(lacking[metrics[0].key])), images)
            for metrics in alike.values()
        )
        return (*self._outside, *itertools.chain.from_iterable(notes))

    @property
    def _outside(self) -> Iterable[Note]:
        """Name thresholds that no score reaches, or all do, and those of probabilities beside logits or levels."""
        scores = self.image_set.pool.counts.scores
        if not scores.size:
            return
        lowest, highest = self.image_set.pool.ends
        cuts = in_type_of(scores.dtype, self._at)
        for cut, at in zip(cuts.tolist(), self._at.tolist(), strict=True):  # notes name what was asked for
            if cut > highest:
                above = Message(
                    "above-all-scores",
                    "no score reaches {at:g}: the highest is {highest}",
                    at=at,
                    highest=number(highest),
                )
                yield Note(above)
            elif cut <= lowest:
                below = Message(
                    "below-all-scores",
                    "all scores reach {at:g}: the lowest is {lowest}",
                    at=at,
                    lowest=number(lowest),
                )
                yield Note(below)
            elif 0 < cut < 1 and are_beyond_shares(lowest, highest):
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
        if both and self.image_set.rest is None and metric.key.startswith(OVER_IMAGES):
            return Message("undefined-everywhere", "undefined in every {of}", of="image")
        if metric.key.startswith("mcc@") and both:
            return Message("predicted-alike", "all pixels are predicted alike")
        if metric.key.startswith("precision@") and (counts.total_positives or counts.total_negatives):
            return Message("none-predicted", "nothing is predicted positive")
        return NOTHING
