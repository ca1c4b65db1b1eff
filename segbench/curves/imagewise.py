"""The best F of each of many images, in one pass over all of their histograms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segbench.core.scores import ScoreCounts

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_POINTS_AT_ONCE = 2**17


@dataclass(frozen=True, eq=False)
class BestFs:
    """The points with the best F of many images, one entry an image; see `BestF`."""

    tp: IntArray
    fp: IntArray
    positives: IntArray
    negatives: IntArray
    thresholds: FloatArray

    @classmethod
    def joined(cls, parts: Sequence[BestFs]) -> BestFs:
        """Put the images of several one after another."""
        if len(parts) == 1:
            return parts[0]
        none = np.empty(0, np.int64)
        parts = [cls(none, none, none, none, np.empty(0)), *parts]
        return cls(
            np.concatenate([part.tp for part in parts]),
            np.concatenate([part.fp for part in parts]),
            np.concatenate([part.positives for part in parts]),
            np.concatenate([part.negatives for part in parts]),
            np.concatenate([part.thresholds for part in parts]),
        )

    @property
    def f(self) -> FloatArray:
        """F of each image; nan without positives."""
        predicted = self.positives + self.tp + self.fp
        f = np.full(self.tp.size, np.nan)
        np.divide(2.0 * self.tp, predicted, out=f, where=self.positives > 0)
        return f


def best_fs(images: Iterable[ScoreCounts]) -> BestFs:
    """Best F of each image (beta 1), many images in one pass; the same points as `best_f` chooses.

    An image without pixels has threshold nan and counts 0.
    """
    return BestFs.joined([_best_of_batch(batch) for batch in _batches(images)])


def _batches(images: Iterable[ScoreCounts]) -> Iterator[list[ScoreCounts]]:
    batch: list[ScoreCounts] = []
    size = 0
    for image in images:
        if batch and size + image.scores.size > _POINTS_AT_ONCE:
            yield batch
            batch, size = [], 0
        batch.append(image)
        size += image.scores.size
    if batch:
        yield batch


def _best_of_batch(images: list[ScoreCounts]) -> BestFs:
    held = np.array([image.scores.size for image in images])
    empty = held == 0
    # An image without pixels stands in with one level of nothing, so that every image has a row.
    sizes = np.maximum(held, 1)
    starts = np.cumsum(sizes) - sizes
    blank = np.zeros(1, np.int64)
    tp, fp = (
        _running_within([getattr(image, name) if image.scores.size else blank for image in images], starts, sizes)
        for name in ("positives", "negatives")
    )
    positives, negatives = (points[starts + sizes - 1] for points in (tp, fp))
    base = np.repeat(positives, sizes) + tp + fp
    f = np.divide(2.0 * tp, base, out=np.zeros(base.size), where=base > 0)
    hits = np.flatnonzero(f == np.repeat(np.maximum.reduceat(f, starts), sizes))
    chosen = hits[np.searchsorted(hits, starts)]
    thresholds = np.concatenate([image.scores if image.scores.size else [np.nan] for image in images])[chosen]
    thresholds = thresholds.astype(np.float64, copy=False)
    thresholds[empty] = np.nan
    return BestFs(tp[chosen], fp[chosen], positives, negatives, thresholds)


def _running_within(counts: list[NDArray[np.int64]], starts: IntArray, sizes: IntArray) -> IntArray:
    flat = np.concatenate(counts)
    running = np.cumsum(flat, dtype=np.int64)
    return running - np.repeat(running[starts] - flat[starts], sizes)
