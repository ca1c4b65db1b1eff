"""Blocks of columns: metrics behind a setting, which any table of pixels holds beside its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from segbench.core.arrays import FloatArray
from segbench.core.metric import Metric
from segbench.core.scores import ScoreCounts
from segbench.protocols.pixels.image_set import ImageSet


class ByScore(NamedTuple):
    """Positives and negatives at falling scores, one row per sum of images."""

    scores: FloatArray
    positives: FloatArray
    negatives: FloatArray

    @classmethod
    def of(cls, counts: ScoreCounts) -> ByScore:
        """Give the only row of some counts."""
        parts = counts.scores, counts.positives[np.newaxis], counts.negatives[np.newaxis]
        return cls(*(part.astype(np.float64) for part in parts))


class Block(ABC):
    """Metrics of some images with the rows that they are computed from; a table adds both to its own."""

    metrics: tuple[Metric, ...]

    def __init__(self, images: ImageSet) -> None:
        self.images = images

    @abstractmethod
    def rows_of(self, images: Iterable[ScoreCounts]) -> FloatArray:
        """Give what adds up over images, one row per image."""

    @cached_property
    def rows(self) -> FloatArray:
        """The rows of the images, in sorted order of names."""
        return self.rows_of(self.images[name] for name in sorted(self.images))

    @abstractmethod
    def score(self, sums: FloatArray, curves: ByScore) -> FloatArray:
        """Compute every metric from sums of rows, and from the counts of the same images by score."""

    @property
    @abstractmethod
    def estimates(self) -> FloatArray:
        """Every metric of all images and of pixels without the name of one, shape (metrics,)."""

    @abstractmethod
    def measure_images(self) -> FloatArray:
        """Measure each image alone, shape (images, metrics)."""

    @property
    @abstractmethod
    def shares(self) -> FloatArray:
        """How much each image weighs in each metric, see `segbench.core.table.Table`."""

    @property
    def left_out(self) -> Sequence[str]:
        """How many images means over images leave out."""
        return ()

    @abstractmethod
    def why_undefined(self, metric: Metric) -> str:
        """Say why an estimate is nan; empty for the reason that the table has for its own metrics."""
