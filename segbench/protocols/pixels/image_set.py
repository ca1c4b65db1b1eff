"""The images of one method, with what is measured of them once; and blocks of columns that tables of them hold."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import BoolArray, FloatArray, IntArray
from segbench.core.messages import NOTHING, Message, Note
from segbench.core.metric import Metric
from segbench.core.operating_point import Confusion
from segbench.core.pooling import Ranged, in_batches
from segbench.core.scores import ScoreBatch, ScoreCounts
from segbench.core.table import CachedPool, Table
from segbench.curves.points import BestFs, best_fs
from segbench.curves.pooled import (
    AREAS,
    RESAMPLED_ABOVE,
    PooledPixels,
    measured_curves,
    pool_pixels,
    reduced,
    reduced_for_resamples,
)

_CUTS, _CUTS_OF_FEW_IMAGES, _CUTS_OF_FEW_PIXELS = (2**9, 2**13), 2**17, 2**24
_SCORES_HELD, _DENSE_CELLS = 2**25, 2**24
_FITS_INT32 = 2**31


@dataclass(frozen=True, eq=False)
class AtOds(Confusion):
    """The point that ODS reports and the areas, one entry per row of weights; areas are nan for masks."""

    threshold: FloatArray
    areas: Mapping[str, FloatArray]
    fp_at_95: FloatArray  # false positives at a recall of 95 %

    @property
    def numbers(self) -> dict[str, FloatArray]:
        """The only entry as plain numbers by name, for results files."""
        point = self.tp, self.fp, self.positives, self.negatives, self.threshold, self.fp_at_95
        return {"ods": np.concatenate(point), "areas": np.concatenate([self.areas[name] for name in AREAS])}

    @classmethod
    def from_numbers(cls, numbers: Mapping[str, FloatArray]) -> AtOds:
        """Build what gave these `numbers`."""
        tp, fp, positives, negatives, threshold, fp_at_95 = numbers["ods"][:, np.newaxis]
        areas = dict(zip(AREAS, numbers["areas"][:, np.newaxis], strict=True))
        return cls(tp, fp, positives, negatives, threshold, areas, fp_at_95)


class ImageSet(Mapping[str, ScoreCounts]):
    """Counts by image name, with their pool and what resamples need of each image.

    `rest` are pixels of no image; `kept` what a results file keeps of very many scores, see `PixelTable.keepable`.
    """

    def __init__(
        self,
        counts: Mapping[str, ScoreCounts],
        rest: ScoreCounts | None = None,
        kept: CachedPool | None = None,
    ) -> None:
        self._counts, self.rest, self.kept = counts, rest, kept

    def __getitem__(self, name: str) -> ScoreCounts:
        """Give the counts of an image."""
        return self._counts[name]

    def __iter__(self) -> Iterator[str]:
        """Give the names of the images."""
        return iter(self._counts)

    def __len__(self) -> int:
        """Count the images."""
        return len(self._counts)

    def in_batches(self) -> Iterator[ScoreBatch]:
        """Give the counts of all images in sorted order of names."""
        return in_batches(self._counts)

    def between(self, name: str, lowest: float, below: float) -> ScoreCounts:
        """Give an image's counts of the scores from `lowest` up to, not including, `below`."""
        if isinstance(self._counts, Ranged):
            return self._counts.between(name, lowest, below)
        return self[name].between(lowest, below)

    @cached_property
    def pool(self) -> PooledPixels:
        """The images pooled; where a results file keeps the pool, without the best F of each image."""
        if self.kept is None:
            return pool_pixels(self, () if self.rest is None else (self.rest,))
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
    def alone(self) -> AtOds:
        """Each image by itself, at all of its own scores, in sorted order of names."""
        best, areas = np.empty((len(self), 5), np.int64), np.empty((len(self), len(AREAS) + 1))
        images = ((some, place) for some in self.in_batches() for place in some.slices)
        for k, (some, place) in enumerate(images):
            found = measured_curves(some.positives[np.newaxis, place], some.negatives[np.newaxis, place])
            best[k], areas[k] = (part[0] for part in found)
        return at_ods(self.best.thresholds, best, areas)

    @cached_property
    def for_resamples(self) -> ScoreCounts:
        """The pooled counts at the points where images are left out and resampled.

        Curves of few positives or negatives are less smooth: between two of c points, F moves by about 1 / sqrt(c P).
        Of few images, each moves a curve by more.
        """
        rarer = max(min(self.points.total_positives, self.points.total_negatives), 1)
        cuts = max(_CUTS_OF_FEW_IMAGES // max(len(self), 1), _CUTS_OF_FEW_PIXELS // rarer)
        return reduced_for_resamples(self.points, min(max(cuts, _CUTS[0]), _CUTS[1]))

    def several_at(self, scores: FloatArray) -> BoolArray:
        """Mark the thresholds that several of `points` are counted at, each at the highest that it reaches."""
        reached = np.searchsorted(-self.points.scores.astype(np.float64), -scores, side="right")
        return np.diff(reached, prepend=0) > 1

    def counted_at(self, scores: FloatArray) -> tuple[Any, Any]:
        """Give positives and negatives of each image at falling thresholds, see `for_resamples`, one row per image."""
        if (self.pool.scores > RESAMPLED_ABOVE or self.pool.best is None) and self._counted[1] is not None:
            return tuple(self._counted[1])  # where images are unpacked for their best F, not unpacked again
        return count_images(self.in_batches(), len(self), scores)

    @cached_property
    def _counted(self) -> tuple[BestFs, NDArray[np.unsignedinteger] | None]:
        """Find the best F of each image, and count it at the thresholds of resamples if that fits in memory."""
        from segbench.curves import kernels

        at = self.for_resamples.scores.astype(np.float64)
        held = np.zeros((2, len(self), at.size), np.int32) if len(self) * at.size <= _SCORES_HELD else None
        best = []
        for rows, some in _with_rows(self.in_batches()):
            best.append(found := best_fs(some))
            if held is not None and max(found.positives.max(initial=0), found.negatives.max(initial=0)) < _FITS_INT32:
                parts = some.positives, some.negatives
                kernels.count_at(some.scores, parts, some.ends, at, held[:, rows])
            else:
                held = None
        return BestFs.joined(best), None if held is None else held.astype(np.min_scalar_type(held.max(initial=0)))


def at_ods(thresholds: FloatArray, best: IntArray, areas: FloatArray) -> AtOds:
    """Name the columns of `measured_curves`."""
    tp, fp, total, negative = best[:, 1:].T.astype(np.float64)
    return AtOds(tp, fp, total, negative, thresholds, dict(zip(AREAS, areas.T, strict=False)), areas[:, -1])


def count_images(batches: Iterable[ScoreBatch], number: int, scores: FloatArray) -> tuple[Any, Any]:
    """Count positives and negatives of images at falling scores, one row per image; sparse if there are very many."""
    if number * scores.size <= _DENSE_CELLS:
        positives, negatives = _dense(batches, number, scores)
        return positives, negatives
    from scipy.sparse import csr_array, vstack

    blocks = (map(csr_array, _dense([some], some.ends.size, scores)) for some in batches)
    return tuple(vstack(part, format="csr") for part in zip(*blocks, strict=True))


def _dense(batches: Iterable[ScoreBatch], number: int, scores: FloatArray) -> IntArray:
    from segbench.curves import kernels

    counted = np.zeros((2, number, scores.size), np.int64)
    for rows, some in _with_rows(batches):
        parts = some.positives, some.negatives
        kernels.count_at(some.scores, parts, some.ends, scores, counted[:, rows])
    return counted


def _with_rows(batches: Iterable[ScoreBatch]) -> Iterator[tuple[slice, ScoreBatch]]:
    """Say which rows of all images a batch has."""
    place = 0
    for some in batches:
        yield slice(place, place := place + some.ends.size), some


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
        """Return the columns of some images."""

    @cached_property
    def columns(self) -> Mapping[str, NDArray[Any]]:
        """The columns of the images, in sorted order of names."""
        return self.columns_of(self.image_set[name] for name in sorted(self.image_set))

    @property
    def left_out(self) -> Sequence[Note]:
        """How many images means over images leave out."""
        return ()

    def why_undefined(self, metric: Metric) -> Message:
        """Say why an estimate is nan; empty for the reason that the table has for its own metrics."""
        del metric
        return NOTHING
