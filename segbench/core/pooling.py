"""Pooling the counts of many images in bounded memory, in ranges of scores, each of which is exact."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np

from segbench.core.arrays import FloatArray, total_of, within_total
from segbench.core.scores import Pool, ScoreBatch, ScoreCounts, pooled

SCORES_AT_ONCE = 2**24
"""Distinct scores held in memory at a time while pooling: about 1 GB at most, with what sorting takes."""
_IMAGES_PER_BATCH, SCORES_PER_BATCH = 512, 2**20
"""Where a batch ends: after so many images, or with more scores."""

_SAMPLED = 2**13
Image = TypeVar("Image")


@runtime_checkable
class Ranged(Protocol):
    """Counts by image name of which a range of scores can be had without unpacking the rest."""

    def between(self, name: str, lowest: float, below: float) -> ScoreCounts:
        """Return an image's counts of the scores from `lowest` up to, not including, `below`."""


@runtime_checkable
class InBatches(Protocol):
    """Counts by image name that can be had many at a time."""

    def in_batches(self) -> Iterator[ScoreBatch]:
        """Yield the counts of all images in sorted order of names."""


class ScorePool:
    """Counts of many images, seen in batches, then pooled: at once, or range by range where that takes too much."""

    def __init__(self, per_image: Mapping[str, ScoreCounts], extra: Sequence[ScoreCounts] = ()) -> None:
        self._per_image, self._extra = per_image, extra
        self._pool: Pool | None = Pool()
        self._samples: list[tuple[FloatArray, int]] = []
        self.positives = self.negatives = self.ignored = self._seen = 0
        for counts in extra:
            self.add(ScoreBatch.of([counts]))

    def add(self, images: ScoreBatch) -> None:
        """Take note of images: their totals, and where scores do not fit in memory, how they are spread."""
        self.positives += total_of(images.positives)
        self.negatives += total_of(images.negatives)
        self.ignored += images.ignored
        self._seen += images.scores.size
        if self._pool is None:
            for of_image in images.slices:
                self._sample(images.scores[of_image], of_image.stop - of_image.start)
            return
        self._pool.add(images.total())
        if self._pool.scores_held > SCORES_AT_ONCE:
            scores = self._pool.total().scores
            # A pool that stays close to what may be held would be merged again for almost every image.
            if scores.size > SCORES_AT_ONCE // 2:
                self._sample(scores, self._seen)  # of all images up to here
                self._pool = None

    def _sample(self, scores: FloatArray, score_count: int) -> None:
        """Keep some of the scores that images hold, and how many these are in all images."""
        step = max(min(_SAMPLED, scores.size // 16), 1)
        self._samples.append((scores[::step].astype(np.float64), score_count))

    @property
    def in_ranges(self) -> bool:
        """Whether the pool holds more scores than are held in memory at a time."""
        return self._pool is None

    def ranges(self) -> Iterator[ScoreCounts]:
        """Yield the pooled counts in consecutive ranges of scores, highest first; ignored pixels go with the first."""
        if self._pool is not None:
            yield self._pool.total()
            return
        ignored = self.ignored
        for name in ("positives", "negatives"):
            within_total(getattr(self, name), name)
        ends = self._ends()
        for below, lowest in pairwise(ends):
            parts = [self._between(name, lowest, below) for name in self._per_image]
            yield replace(pooled([*parts, *(counts.between(lowest, below) for counts in self._extra)]), ignored=ignored)
            ignored = 0

    def _ends(self) -> list[float]:
        """Choose where ranges end so that each holds about as many scores of all images as fit."""
        scores = np.concatenate([sampled for sampled, _ in self._samples])
        scores_per_sample = np.concatenate(
            [np.full(sampled.size, size / max(sampled.size, 1)) for sampled, size in self._samples]
        )
        order = np.argsort(-scores, kind="stable")
        range_numbers = np.floor(np.cumsum(scores_per_sample[order]) / (SCORES_AT_ONCE * 3 / 4))
        starts = scores[order][np.flatnonzero(np.diff(range_numbers)) + 1]
        return [np.inf, *np.unique(starts)[::-1].tolist(), -np.inf]

    def _between(self, name: str, lowest: float, below: float) -> ScoreCounts:
        if isinstance(self._per_image, Ranged):
            return self._per_image.between(name, lowest, below)
        return self._per_image[name].between(lowest, below)


def batched(images: Iterable[Image], scores: Callable[[Image], int]) -> Iterator[list[Image]]:
    """Yield images in batches of limited numbers of scores, to keep few in memory; the last batch may be empty."""
    waiting: list[Image] = []
    scores_waiting = 0
    for image in images:
        waiting.append(image)
        scores_waiting += scores(image)
        if len(waiting) == _IMAGES_PER_BATCH or scores_waiting > SCORES_PER_BATCH:
            yield waiting
            waiting, scores_waiting = [], 0
    yield waiting


def number_of_scores(counts: ScoreCounts) -> int:
    """Count the distinct scores of an image."""
    return counts.scores.size


def in_batches(images: Mapping[str, ScoreCounts]) -> Iterator[ScoreBatch]:
    """Return the counts of images by name in sorted order of names, in one batch at least."""
    if isinstance(images, InBatches):
        return images.in_batches()
    return map(ScoreBatch.of, batched((images[name] for name in sorted(images)), number_of_scores))
