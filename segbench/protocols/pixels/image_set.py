"""The images of one method, with what is measured of them once: tables of one method and of several share it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.pooling import Ranged
from segbench.core.scores import ScoreCounts
from segbench.core.series import FloatArray
from segbench.core.summary import Summary
from segbench.curves.imagewise import BestFs
from segbench.curves.points import inexact
from segbench.curves.pooled import PooledPixels, pool_pixels, reduced, reduced_for_resamples

AREAS = ("auc_roc", "auc_pr", "auc_pr_achievable", "average_precision")

_CUTS, _CUTS_OF_SEVERAL = 2**9, 2**7
_FEW_SCORES, _SCORES_HELD = 2**10, 2**25


@dataclass(frozen=True, eq=False)
class AtOds:
    """The point that ODS reports and the areas, one entry per row of weights; areas are nan for masks.

    `tp` and `fp` are true and false positives at `threshold`, `fp_at_95` false positives at a recall of 95 %.
    """

    tp: FloatArray
    fp: FloatArray
    threshold: FloatArray
    positives: FloatArray
    negatives: FloatArray
    areas: Mapping[str, FloatArray]
    fp_at_95: FloatArray


class ImageSet(Mapping[str, ScoreCounts]):
    """Counts by image name, with their pool and what resamples need of each image.

    Parameters
    ----------
    counts : mapping of str to ScoreCounts
        Counts by image name; they may be unpacked on access.
    rest : ScoreCounts, optional
        Pixels of no image in particular.
    kept : Summary and ScoreCounts, optional
        The summary of these images and `reduced` of their pool as a results file keeps them, so that nothing is pooled.
    """

    def __init__(
        self,
        counts: Mapping[str, ScoreCounts],
        rest: ScoreCounts | None = None,
        kept: tuple[Summary, ScoreCounts] | None = None,
    ) -> None:
        self._counts, self._rest, self._kept = counts, rest, kept
        self.compared_with: Sequence[ImageSet] = ()
        """All sets of a comparison, this one included: what they need of an image is held in memory, if it fits."""
        self._exact: dict[str, ScoreCounts] = {}
        self._reduced: dict[str, ScoreCounts] = {}
        self._room = 0

    def __getitem__(self, name: str) -> ScoreCounts:
        """Give the counts of an image; in a comparison those of few scores are unpacked once."""
        if name in self._exact:
            return self._exact[name]
        counts = self._counts[name]
        if counts.scores.size <= _FEW_SCORES and self._hold(counts):
            self._exact[name] = counts
        return counts

    def __iter__(self) -> Iterator[str]:
        """Give the names of the images."""
        return iter(self._counts)

    def __len__(self) -> int:
        """Count the images."""
        return len(self._counts)

    def between(self, name: str, lowest: float, below: float) -> ScoreCounts:
        """Give an image's counts of the scores from `lowest` up to, not including, `below`."""
        if isinstance(self._counts, Ranged):
            return self._counts.between(name, lowest, below)
        return self[name].between(lowest, below)

    @cached_property
    def pool(self) -> PooledPixels:
        """The images pooled; where a results file keeps the pool, without the best F of each image."""
        if self._kept is None:
            return pool_pixels(self, () if self._rest is None else (self._rest,))
        summary, counts = self._kept
        areas = {key: summary[key] for key in (*AREAS, "ace") if key in summary and key != "auc_pr_achievable"}
        return PooledPixels(counts, counts.scores.size, areas, None, frozenset({summary.threshold_source}))

    @cached_property
    def points(self) -> ScoreCounts:
        """The pooled counts at the points that plots draw."""
        return reduced(self.pool.counts)

    @property
    def best(self) -> BestFs:
        """The best F of each image, in sorted order of names."""
        return self._alone[0] if self.pool.best is None else self.pool.best

    @property
    def alone(self) -> AtOds:
        """Each image by itself, at all of its own scores, in sorted order of names; not for counts in bins."""
        return self._alone[1]

    def for_resamples(self, sets: int) -> ScoreCounts:
        """Give the pooled counts at the points that resamples of a table of one or several sets are measured at.

        A comparison measures pairs some ten times as often as a single method, at fewer points.
        """
        return reduced_for_resamples(self.points, _CUTS if sets == 1 else _CUTS_OF_SEVERAL)

    def resampled(self, name: str) -> ScoreCounts:
        """Give an image's counts, at least at every point that `for_resamples` of the sets compared gives."""
        return self._reduced.get(name) or self[name]

    @cached_property
    def _alone(self) -> tuple[BestFs, AtOds]:
        """Measure each image in one pass, and hold what resamples need of it."""
        names = sorted(self)
        best, areas = np.empty((len(names), 5), np.int64), np.empty((len(names), len(AREAS) + 1))
        thresholds = np.empty(len(names))
        for k, name in enumerate(names):
            counts = self[name]
            row = slice(k, k + 1)
            best[row], areas[row] = measured_curves(
                inexact(counts), counts.positives[np.newaxis], counts.negatives[np.newaxis]
            )
            if not best[k, 0] and counts.scores.size:  # without positives the highest score counts
                best[k, :3] = 1, 0, counts.negatives[0]
            thresholds[k] = counts.scores[best[k, 0] - 1] if best[k, 0] else np.nan
            if name not in self._exact and self._hold(small := _at(counts, self._thresholds)):
                self._reduced[name] = small
        tp, fp, positives, negatives = best[:, 1:].T
        return BestFs(tp, fp, positives, negatives, thresholds), at_ods(thresholds, best, areas)

    @cached_property
    def _thresholds(self) -> FloatArray:
        """Every threshold at which resamples of the sets compared are measured, falling."""
        kept = [one.for_resamples(sets).scores for one in self.compared_with for sets in (1, 2)]
        return np.unique(np.concatenate([np.empty(0), *kept]))[::-1]

    def _hold(self, counts: ScoreCounts) -> bool:
        """Return whether counts are to be held in memory."""
        self._room += counts.scores.size
        return self._room * len(self.compared_with) <= _SCORES_HELD and bool(self.compared_with)


def measured_curves(
    loose: NDArray[np.bool_], positives: NDArray[Any], negatives: NDArray[Any]
) -> tuple[NDArray[np.int64], FloatArray]:
    """Find the best F and the areas of curves, one per row, see `metric_kernels.pooled_curves`."""
    from segbench.protocols.pixels import metric_kernels

    best = np.zeros((positives.shape[0], 5), np.int64)
    areas = np.full((positives.shape[0], len(AREAS) + 1), np.nan)
    metric_kernels.pooled_curves(positives, negatives, loose, best, areas)
    return best, areas


def at_ods(thresholds: FloatArray, best: NDArray[np.int64], areas: FloatArray) -> AtOds:
    """Name the columns of `measured_curves`."""
    tp, fp, total, negative = best[:, 1:].T.astype(np.float64)
    return AtOds(tp, fp, thresholds, total, negative, dict(zip(AREAS, areas.T, strict=False)), areas[:, -1])


def _at(counts: ScoreCounts, thresholds: FloatArray) -> ScoreCounts:
    """Keep only the points of an image's curve at falling thresholds, the last of which no score is below."""
    if counts.scores.size <= thresholds.size:
        return counts
    from segbench.protocols.pixels import metric_kernels

    positives, negatives = np.zeros((2, thresholds.size), np.int64)
    metric_kernels.count_at(counts.scores, (counts.positives, counts.negatives), thresholds, positives, negatives)
    some = positives + negatives > 0
    return ScoreCounts.of_valid(
        scores=thresholds[some], positives=positives[some], negatives=negatives[some], ignored=counts.ignored
    )
