"""The images of one method, with what is measured of them once; and blocks of columns that tables of them hold.

`ImageSet` pools the images for the table in `segbench.protocols.pixels.metrics`, where to begin reading; settings such
as `at` add a `Block` to it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import BoolArray, FloatArray, IntArray
from segbench.core.messages import NOTHING, Message, Note
from segbench.core.metric import Metric
from segbench.core.pooling import Ranged, in_batches
from segbench.core.scores import ScoreBatch, ScoreCounts
from segbench.core.table import CachedPool, Table
from segbench.curves.points import BestFs, best_fs
from segbench.curves.pooled import (
    AREAS,
    RESAMPLED_ABOVE,
    PooledPixels,
    pool_pixels,
    reduced,
    reduced_for_resamples,
)

_FEWEST_CUTS, _MOST_CUTS = 2**9, 2**13
_CUTS_OF_FEW_IMAGES, _CUTS_OF_FEW_PIXELS = 2**17, 2**24
_MOST_CELLS_IN_MEMORY, _MOST_DENSE_CELLS = 2**25, 2**24
_FITS_INT32 = 2**31


class ImageSet(Mapping[str, ScoreCounts]):
    """Counts by image name, with their pool and what resamples need of each image.

    `unnamed` are pixels added without the name of an image; `kept` is what a results file keeps of very many scores,
    see `PixelTable.keepable`.
    """

    def __init__(
        self,
        counts: Mapping[str, ScoreCounts],
        unnamed: ScoreCounts | None = None,
        kept: CachedPool | None = None,
    ) -> None:
        self._counts, self.unnamed, self.kept = counts, unnamed, kept

    def __getitem__(self, name: str) -> ScoreCounts:
        """Return the counts of an image."""
        return self._counts[name]

    def __iter__(self) -> Iterator[str]:
        """Return an iterator over the names of the images."""
        return iter(self.names)

    @cached_property
    def names(self) -> list[str]:
        """The names of the images, sorted."""
        return sorted(self._counts)

    def __len__(self) -> int:
        """Return the number of images."""
        return len(self.names)

    def in_batches(self) -> Iterator[ScoreBatch]:
        """Yield the counts of all images in sorted order of names."""
        return in_batches(self._counts)

    def between(self, name: str, lowest: float, below: float) -> ScoreCounts:
        """Return an image's counts of the scores from `lowest` up to, not including, `below`."""
        if isinstance(self._counts, Ranged):
            return self._counts.between(name, lowest, below)
        return self[name].between(lowest, below)

    @cached_property
    def pool(self) -> PooledPixels:
        """The images pooled; where a results file keeps the pool, without the best F of each image."""
        if self.kept is None:
            return pool_pixels(self, () if self.unnamed is None else (self.unnamed,))
        counts, numbers = cast("ScoreCounts", self.kept.counts), self.kept.numbers
        areas = dict(zip(AREAS, numbers["areas"].tolist(), strict=True))
        lowest, highest = numbers["range of scores"].tolist()
        return PooledPixels(counts, counts.scores.size, areas, (lowest, highest), None, frozenset())

    @cached_property
    def points(self) -> ScoreCounts:
        """The pooled counts at the points that plots draw."""
        return reduced(self.pool.counts)

    @property
    def best(self) -> BestFs:
        """The best F of each image, in sorted order of names."""
        return self._counted[0] if self.pool.best is None else self.pool.best

    @cached_property
    def for_resamples(self) -> ScoreCounts:
        """The pooled counts at the points that are used when images are left out or resampled.

        Curves of few positives or negatives are less smooth: between two of c points, F changes by about 1 / sqrt(c P).
        Each of few images changes a curve by more.
        """
        rarer = max(min(self.points.total_positives, self.points.total_negatives), 1)
        cuts = max(_CUTS_OF_FEW_IMAGES // max(len(self), 1), _CUTS_OF_FEW_PIXELS // rarer)
        return reduced_for_resamples(self.points, min(max(cuts, _FEWEST_CUTS), _MOST_CUTS))

    def several_at(self, scores: FloatArray) -> BoolArray:
        """Mark thresholds at which several of `points` are counted; a point counts at the highest that it reaches."""
        reached = np.searchsorted(-self.points.scores.astype(np.float64), -scores, side="right")
        return np.diff(reached, prepend=0) > 1

    def counted_at(self, scores: FloatArray) -> tuple[Any, Any]:
        """Return positives and negatives at falling thresholds, see `for_resamples`, one row per image."""
        if self.pool.scores > RESAMPLED_ABOVE or self.pool.best is None:
            _, counted = self._counted  # the images are unpacked for their best F, so they are not unpacked again
            if counted is not None:
                return tuple(counted)
        return count_images(self.in_batches(), len(self), scores)

    @cached_property
    def _counted(self) -> tuple[BestFs, IntArray | None]:
        """Find the best F of each image, and count it at the thresholds of resamples if that fits in memory."""
        from segbench.curves import kernels

        thresholds = self.for_resamples.scores.astype(np.float64)
        counted: IntArray | None = None
        if len(self) * thresholds.size <= _MOST_CELLS_IN_MEMORY:
            counted = np.zeros((2, len(self), thresholds.size), np.int32)
        bests = []
        for rows, batch in with_rows(self.in_batches()):
            best = best_fs(batch)
            bests.append(best)
            if max(best.positives.max(initial=0), best.negatives.max(initial=0)) >= _FITS_INT32:
                counted = None
            if counted is not None:
                parts = batch.positives, batch.negatives
                kernels.count_at(batch.scores, parts, batch.ends, thresholds, counted[:, rows])
        if counted is not None:
            counted = counted.astype(np.min_scalar_type(counted.max(initial=0)))
        return BestFs.joined(bests), counted


def count_images(batches: Iterable[ScoreBatch], number: int, scores: FloatArray) -> tuple[Any, Any]:
    """Count positives and negatives of images at falling scores, one row per image; sparse if there are very many."""
    if number * scores.size <= _MOST_DENSE_CELLS:
        positives, negatives = _dense(batches, number, scores)
        return positives, negatives
    from scipy.sparse import csr_array, vstack

    blocks = (map(csr_array, _dense([batch], batch.ends.size, scores)) for batch in batches)
    return tuple(vstack(part, format="csr") for part in zip(*blocks, strict=True))


def _dense(batches: Iterable[ScoreBatch], number: int, scores: FloatArray) -> IntArray:
    from segbench.curves import kernels

    counted = np.zeros((2, number, scores.size), np.int64)
    for rows, batch in with_rows(batches):
        parts = batch.positives, batch.negatives
        kernels.count_at(batch.scores, parts, batch.ends, scores, counted[:, rows])
    return counted


def with_rows(batches: Iterable[ScoreBatch]) -> Iterator[tuple[slice, ScoreBatch]]:
    """Yield each batch with the rows that its images have among all."""
    start = 0
    for batch in batches:
        end = start + batch.ends.size
        yield slice(start, end), batch
        start = end


class ByScore(NamedTuple):
    """Positives and negatives at falling scores, one row per sum of images."""

    scores: FloatArray
    positives: FloatArray
    negatives: FloatArray

    @classmethod
    def of(cls, counts: ScoreCounts) -> ByScore:
        """Return counts as the only row."""
        parts = counts.scores, counts.positives[np.newaxis], counts.negatives[np.newaxis]
        return cls(*(part.astype(np.float64) for part in parts))


class Block(Table):
    """Metrics of some images with the columns that they are computed from; a table adds both to its own.

    Beside its own columns, `formulas` finds the counts of the same images by score as ``of["by_score"]``, a `ByScore`.
    """

    name: ClassVar[str]
    """What its columns are called among those of the table."""

    def __init__(self, images: ImageSet) -> None:
        self.image_set = images

    @property
    def images(self) -> int:
        """Number of images."""
        return len(self.image_set)

    @abstractmethod
    def columns_of(self, images: Iterable[ScoreCounts]) -> Mapping[str, NDArray[Any]]:
        """Return the columns of these images."""

    @cached_property
    def columns(self) -> Mapping[str, NDArray[Any]]:
        """The columns of the images, in sorted order of names."""
        return self.columns_of(self.image_set[name] for name in self.image_set.names)

    @property
    def left_out(self) -> Sequence[Note]:
        """How many images means over images leave out."""
        return ()

    def why_undefined(self, metric: Metric) -> Message:
        """Say why an estimate is nan; empty for the reason that the table has for its own metrics."""
        del metric
        return NOTHING
