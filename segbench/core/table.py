"""Counts of many images, ready to be weighted: the one place where counts become metrics.

A row of weights says how often each image counts. Ones give the benchmark itself, draws with replacement a bootstrap
resample, a zero leaves an image out, and a row with a single one measures that image alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from segbench.core.errors import ArgumentError
from segbench.core.metric import Metric
from segbench.core.series import FloatArray, Series, Space
from segbench.core.summary import Summary

if TYPE_CHECKING:
    from segbench.core.counts import Counts

Interval = tuple[float, float]

CELLS_AT_ONCE = 2**21
"""Entries of a matrix of weights or of pooled counts that are held at a time."""


class Table(ABC):
    """Images of one method, or of several one after the other, with the formula of every metric.

    A protocol's table derives from this class and gives `metrics`, `images` and `measure`; the rest has defaults.
    """

    metrics: tuple[Metric, ...]
    """The metrics, in the order of the columns of `measure`; no totals."""

    @property
    @abstractmethod
    def images(self) -> int:
        """Number of images."""

    @abstractmethod
    def measure(self, weights: FloatArray) -> FloatArray:
        """Measure every metric for every row of weights.

        Parameters
        ----------
        weights : array of float64, shape (R, images)
            Whole numbers: how often each image counts.

        Returns
        -------
        array of float64, shape (R, metrics)
            nan where a metric is undefined.
        """

    @cached_property
    def estimates(self) -> FloatArray:
        """Every metric of the benchmark itself: `measure` with weights of one."""
        row: FloatArray = self.measure(np.ones((1, self.images)))[0]
        return row

    @property
    def totals(self) -> Mapping[str, int]:
        """Totals over all images, by the keys of the metrics of that kind."""
        return {}

    @property
    def bounds(self) -> Mapping[str, Interval]:
        """Certain bounds of the estimates that are not exact, by key."""
        return {}

    def why_undefined(self, metric: Metric) -> str:
        """Say why an estimate is nan."""
        del metric
        return "undefined for these images"

    @property
    def notes(self) -> tuple[str, ...]:
        """What has to be said beside the estimates."""
        return ()

    @property
    def threshold_source(self) -> str:
        """Where thresholds come from when they are not the scores themselves."""
        return ""

    def summary(self) -> Summary:
        """Give the estimates with bounds, reasons and notes."""
        return self._summary({metric.key: metric for metric in self.metrics if metric.key}, dict(self.totals))

    def image_summary(self) -> Summary:
        """Give the metrics of the single image that the table holds, by their names for images."""
        return self._summary(
            {metric.image_key: metric for metric in self.metrics if metric.image_key}, self.image_totals
        )

    @property
    def image_totals(self) -> Mapping[str, int]:
        """Totals of the single image that the table holds, by their names for images."""
        return self.totals

    def _summary(self, named: Mapping[str, Metric], totals: Mapping[str, int]) -> Summary:
        values = {metric: float(value) for metric, value in zip(self.metrics, self.estimates, strict=True)}
        undefined = {key: self.why_undefined(metric) for key, metric in named.items() if np.isnan(values[metric])}
        bounds = {
            key: self.bounds[metric.key]
            for key, metric in named.items()
            if metric.key in self.bounds and key not in undefined
        }
        return Summary(
            {**{key: values[metric] for key, metric in named.items()}, **totals},
            bounds,
            undefined,
            tuple(key for key, metric in named.items() if metric.optimistic),
            self.threshold_source,
            self.notes,
        )

    def measure_images(self) -> tuple[FloatArray, FloatArray]:
        """Measure each image alone: the lowest and the highest value of each metric, equal where the image is exact."""
        values = np.concatenate([self.measure(weights) for weights in single_images(self.images)])
        return values, values

    @property
    def pooled(self) -> Counts:
        """The counts of all images added up."""
        raise ArgumentError("this table has no pooled counts")

    @property
    def reduced(self) -> Counts:
        """The pooled counts at the points that plots draw: all, or a choice of very many."""
        return self.pooled

    @property
    def chosen_points(self) -> str:
        """How many of the thresholds `reduced` has, in words; empty where it has all."""
        return ""

    @property
    def worth_keeping(self) -> bool:
        """Whether pooling takes so long that a results file keeps the summary and `reduced`."""
        return False

    @property
    def curve(self) -> Series | None:
        """The curve of the pooled counts, as far as the protocol has one; None if it has none."""
        return None

    @property
    def drawn(self) -> Series | None:
        """The curve as plots draw it: all its points, or a choice of very many."""
        return self.curve

    def heights(self, space: Space, at: FloatArray, weights: FloatArray) -> FloatArray:
        """Read the curve of each row of weights off at some places: precision at recalls, or TPR at FPRs.

        Raises
        ------
        ArgumentError
            If the protocol has no such curve.
        """
        del at, weights
        raise ArgumentError(f"this protocol has no {'ROC' if space == 'roc' else 'precision-recall'} curve")


def single_images(images: int, *, others: float = 0.0, itself: float = 1.0) -> Iterator[FloatArray]:
    """Give weights that single out each image in turn, some rows at a time."""
    step = max(CELLS_AT_ONCE // max(images, 1), 1)
    for start in range(0, images, step):
        rows = np.arange(start, min(start + step, images))
        weights = np.full((rows.size, images), others)
        weights[np.arange(rows.size), rows] = itself
        yield weights
