"""Counts of several images one after another, through which one compiled loop goes, and images batch by batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import FloatArray, IntArray
from segbench.core.scores import ScoreCounts

IMAGES_PER_BATCH, SCORES_PER_BATCH = 512, 2**20
"""Where a batch ends: after so many images, or with more scores."""


@dataclass(frozen=True, eq=False)
class Several:
    """Scores, falling within each image, with their counts, and where each image ends."""

    scores: FloatArray
    positives: IntArray
    negatives: IntArray
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, images: Sequence[ScoreCounts]) -> Several:
        """Put the counts of some images one after another."""
        ends = np.cumsum([image.scores.size for image in images], dtype=np.int64)
        if len(images) == 1:  # which may be very long
            return cls(images[0].scores, images[0].positives, images[0].negatives, ends)
        none: NDArray[np.int64] = np.empty(0, np.int64)  # so that any batch has the same types
        return cls(
            np.concatenate([np.empty(0), *(image.scores for image in images)]),
            np.concatenate([none, *(image.positives for image in images)]),
            np.concatenate([none, *(image.negatives for image in images)]),
            ends,
        )

    @property
    def places(self) -> Iterator[slice]:
        """Where the scores of each image are."""
        return map(slice, [0, *self.ends[:-1].tolist()], self.ends.tolist())

    def totals(self, counts: IntArray) -> NDArray[np.int64]:
        """Add some counts of the scores up for each image."""
        running = np.append(0, np.cumsum(counts, dtype=np.int64))
        totals: NDArray[np.int64] = np.diff(running[self.ends], prepend=0)
        return totals


@runtime_checkable
class InBatches(Protocol):
    """Counts by image name that can be had many at a time."""

    def in_batches(self) -> Iterator[Several]:
        """Give the counts of all images in sorted order of names."""


def batched(images: Iterable[ScoreCounts]) -> Iterator[list[ScoreCounts]]:
    """Give images in batches, so that few are held at a time; the last one may be empty."""
    waiting: list[ScoreCounts] = []
    scores_waiting = 0
    for image in images:
        waiting.append(image)
        scores_waiting += image.scores.size
        if len(waiting) == IMAGES_PER_BATCH or scores_waiting > SCORES_PER_BATCH:
            yield waiting
            waiting, scores_waiting = [], 0
    yield waiting


def in_batches(images: Mapping[str, ScoreCounts]) -> Iterator[Several]:
    """Give the counts of images by name in sorted order of names, in one batch at least."""
    if isinstance(images, InBatches):
        return images.in_batches()
    return map(Several.of, batched(images[name] for name in sorted(images)))
