"""The pooled curve of a pixel benchmark: areas over every distinct score, and the points, all or a choice of them.

A pool of more scores than are held in memory is seen range by range. Sums are carried from one range to the next and
added in the same order as in one piece, so areas are the same to the last bit. Of the points those are kept that other
metrics and plots need.

Conventions for two-valued predictions, which are hard masks and evaluated at the mask itself
---------------------------------------------------------------------------------------------
1. The values of prediction files or arrays decide, over the whole set and among the pixels that count
   (`ScoreCounts.two_valued`): an image with an empty mask is a mask among masks and a soft map among soft maps. Counts
   of curves given by their points, or taken at chosen thresholds, are never two-valued.
2. Pixels with the larger of the two values are predicted positive. Where the whole set holds a single value, all pixels
   are if it is above 0, and none otherwise.
3. Precision, recall, F and IoU are those of the mask. Metrics that need a ranking of pixels or a choice of thresholds
   (areas, OIS, the false positive rate at a recall) are undefined.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from segbench.core.arrays import Array, BoolArray, FloatArray, IntArray
from segbench.core.messages import Message, Note
from segbench.core.pooling import SCORES_AT_ONCE, SCORES_PER_BATCH, ScorePool, in_batches
from segbench.core.scores import ScoreBatch, ScoreCounts, range_of_scores
from segbench.curves.curve import EMPTY_MASK_THRESHOLD, Curve, pr_curve
from segbench.curves.points import BestFs, best_fs, hull_vertices

AREAS = ("auc_roc", "auc_pr", "auc_pr_achievable", "average_precision")
"""The areas, in the order of their columns."""
TWO_VALUED = Message("two-valued", "two-valued predictions")
AT_THE_MASK = Note(
    Message(
        "at-the-mask",
        "two-valued predictions: ODS, P, R, IoU and mean are those at the mask, not at the best threshold",
    )
)
_CUTS = 2**13
REDUCED_ABOVE = 2**16
"""Distinct scores up to which curves are drawn at all of them."""
RESAMPLED_ABOVE = 2**13
"""Distinct scores up to which images are resampled at all of them."""
_NEAR_BEST, _NEAR_95 = 0.99, (0.93, 0.97)


@dataclass(frozen=True, eq=False)
class PooledPixels:
    """The pooled counts of many images."""

    counts: ScoreCounts  # where they do not fit in memory, at the points that `reduced` keeps
    scores: int  # distinct scores of the pool
    areas: Mapping[str, float]  # over every distinct score, where `counts` is a choice of them; else empty
    ends: tuple[float, float]  # the lowest and the highest score; nan without any
    best: BestFs | None  # of each image, in sorted order of names; None where it is not known
    sources: frozenset[str]  # where the images' thresholds come from


def pool_pixels(per_image: Mapping[str, ScoreCounts], extra: Sequence[ScoreCounts] = ()) -> PooledPixels:
    """Pool the counts of images, and `extra` counts that belong to no image, which have no best F.

    The counts of images are unpacked some at a time, so that few are held.
    """
    if len(per_image) == 1 and not extra:
        (alone,) = per_image.values()
        if alone.scores.size <= SCORES_AT_ONCE:
            return PooledPixels(
                counts=alone,
                scores=alone.scores.size,
                areas={},
                ends=range_of_scores(alone),
                best=best_fs(ScoreBatch.of([alone])),
                sources=frozenset({alone.threshold_source}),
            )
    pooling = ScorePool(per_image, extra)
    best = []
    sources = {counts.threshold_source for counts in extra}
    for images in in_batches(per_image):
        pooling.add(images)
        sources.update(images.sources)
        best.append(best_fs(images))
    best_of_images, all_sources = BestFs.joined(best), frozenset(sources)
    if not pooling.in_ranges:
        (pool,) = pooling.ranges()
        return PooledPixels(
            counts=pool,
            scores=pool.scores.size,
            areas={},
            ends=range_of_scores(pool),
            best=best_of_images,
            sources=all_sources,
        )
    swept = _swept(pooling.ranges(), pooling.positives, pooling.negatives)
    return PooledPixels(*swept, best_of_images, all_sources)


def reduced(counts: ScoreCounts) -> ScoreCounts:
    """Keep some of the points of a curve, for plots; counts of few scores are given as they are.

    Kept are 2 x 8192 points between which equal shares of the positives and of the negatives lie, that before each
    score with more than such a share, the vertices of the ROC hull, and the first point of 95 % recall. Each is a point
    of the whole curve, at its own threshold, so the best F, the hull and the false positive rate at 95 % recall stay
    exact. `threshold_source` says that points were chosen.
    """
    if counts.scores.size <= REDUCED_ABOVE or not counts.scores_known:
        return counts
    kept = _KeptPoints(counts.total_positives, counts.total_negatives)
    kept.add(counts)
    return kept.counts()


def reduced_for_resamples(counts: ScoreCounts, cuts: int) -> ScoreCounts:
    """Keep the points of a curve at which resamples are measured; counts of few scores are given as they are.

    Kept are 2 x `cuts` points between which equal shares of the positives and of the negatives lie, that before each
    score with more than such a share, half as many as one of these where F is close to its best, around 95 % recall,
    and where few pixels are predicted (equal steps of their logarithm: precision jumps there) each, and the best F
    itself. They are chosen among those of `reduced`, so that the choice does not depend on whether counts come from a
    results file that keeps just these.
    """
    if counts.scores.size <= RESAMPLED_ABOVE or not counts.scores_known:
        return counts
    from segbench.curves import kernels

    counts = reduced(counts)
    tp, fp = (np.cumsum(part, dtype=np.int64) for part in (counts.positives, counts.negatives))
    positives, negatives = max(int(tp[-1]), 1), max(int(fp[-1]), 1)
    recall, f = tp / positives, 2 * tp / (positives + tp + fp)
    roc_length = recall + fp / negatives
    with_good_f = roc_length[f >= _NEAR_BEST * f.max()]
    near_best, near_95 = (
        np.clip((part - low) / max(high - low, np.finfo(float).tiny), 0, 1)
        for part, (low, high) in ((roc_length, with_good_f[[0, -1]]), (recall, _NEAR_95))
    )
    near_0 = np.log1p(tp + fp) / np.log1p(positives + negatives)
    position = cuts * roc_length + cuts / 2 * (near_best + near_95 + near_0)
    kept = np.diff(np.floor(position), prepend=0) > 0  # where it passes a whole number
    kept[:-1] |= np.diff(cuts * roc_length) >= 1
    first_needed = int(np.searchsorted(tp, kernels.needed_for_fpr(int(tp[-1]))))
    kept[[int(f.argmax()), first_needed, -1]] = True
    return replace(
        counts,
        scores=counts.scores[kept],
        positives=np.diff(tp[kept], prepend=0),
        negatives=np.diff(fp[kept], prepend=0),
    )


def _swept(
    ranges: Iterable[ScoreCounts], positives: int, negatives: int
) -> tuple[ScoreCounts, int, dict[str, float], tuple[float, float]]:
    """Return the points kept, the number and the range of scores, and three areas of counts that come in ranges."""
    from segbench.curves import kernels

    kept = _KeptPoints(positives, negatives)
    roc = pr = steps = 0.0, 0.0
    for counts in ranges:
        for start in range(0, max(counts.scores.size, 1), SCORES_PER_BATCH):  # which keeps what is made of them small
            batch = counts.part(start, start + SCORES_PER_BATCH)
            tp, fp = kept.add(batch)
            roc = kernels.roc_area_rounded(tp, fp, *roc)
            pr = kernels.pr_area_exact(tp, fp, *pr)
            steps = kernels.precision_steps(tp, fp, *steps)
    if not positives:
        return kept.counts(), kept.seen, {}, kept.ends
    areas = {
        "auc_roc": kernels.area_share(roc[0] / positives, negatives) if negatives else math.nan,
        "auc_pr": kernels.area_share(pr[0], positives),
        "average_precision": kernels.area_share(steps[0], positives),
    }
    return kept.counts(), kept.seen, areas, kept.ends


class _KeptPoints:
    """The points of a curve that `reduced` keeps, found range by range."""

    def __init__(self, positives: int, negatives: int) -> None:
        self._totals = positives, negatives
        from segbench.curves import kernels

        self._needed = kernels.needed_for_fpr(positives)
        self._last_point = (0, 0)
        self.seen = self._ignored = 0
        self.ends = math.nan, math.nan  # the lowest and the highest score
        self._source = ""
        none, zero = np.empty(0, np.int64), np.zeros(1, np.int64)
        self._hull: tuple[FloatArray, IntArray, IntArray] = (np.array([np.inf]), zero, zero)
        self._cuts: list[tuple[FloatArray, IntArray, IntArray]] = [(np.empty(0), none, none)]

    def add(self, counts: ScoreCounts) -> tuple[IntArray, IntArray]:
        """Add the next scores; return their cumulative points, which start at the last point before them."""
        tp, fp = (
            np.cumsum(np.append(start, part), dtype=np.int64)
            for start, part in zip(self._last_point, (counts.positives, counts.negatives), strict=True)
        )
        shares = sum((part / total for part, total in zip((tp, fp), self._totals, strict=True) if total), np.zeros(1))
        first_needed = (tp[:-1] < self._needed) & (tp[1:] >= self._needed)
        cut = (np.diff(np.floor(shares * _CUTS)) > 0) | first_needed
        cut[:-1] |= np.diff(shares * _CUTS)[1:] >= 1
        cuts = np.flatnonzero(cut)
        self._cuts.append((counts.scores[cuts], tp[cuts + 1], fp[cuts + 1]))
        parts = zip(self._hull, (counts.scores, tp[1:], fp[1:]), strict=True)
        scores, hull_tp, hull_fp = (np.concatenate(pair) for pair in parts)
        vertices = hull_vertices((hull_tp, hull_fp))
        self._hull = scores[vertices], hull_tp[vertices], hull_fp[vertices]
        self._last_point = int(tp[-1]), int(fp[-1])
        if counts.scores.size:
            lowest, highest = range_of_scores(counts)
            self.ends = lowest, self.ends[1] if self.seen else highest
        self.seen += counts.scores.size
        self._ignored += counts.ignored
        self._source = counts.threshold_source
        return tp, fp

    def counts(self) -> ScoreCounts:
        """Return the kept points as counts."""
        hull = [part[1:] for part in self._hull]
        scores, tp, fp = (
            np.concatenate([*parts, end]) for parts, end in zip(zip(*self._cuts, strict=True), hull, strict=True)
        )
        scores, indices = np.unique(scores, return_index=True)
        order = indices[::-1]
        source = f"{scores.size} of {self.seen} scores"
        return ScoreCounts(
            scores[::-1],
            np.diff(tp[order], prepend=0),
            np.diff(fp[order], prepend=0),
            self._ignored,
            threshold_source=f"{source}, {self._source}" if self._source else source,
        )


def mask_threshold(pooled: ScoreCounts) -> float | None:
    """Return the threshold at which two-valued predictions are their masks; None for others."""
    if not pooled.two_valued:
        return None
    highest = float(pooled.scores[0])
    return highest if pooled.scores.size == 2 or highest > 0 else EMPTY_MASK_THRESHOLD


def pixel_curve(pooled: ScoreCounts) -> Curve:
    """Return the precision-recall curve of a whole set; for two-valued predictions, the point of the mask."""
    threshold = mask_threshold(pooled)
    curve = pr_curve(pooled)
    if threshold is None:
        return curve
    return replace(curve, mask=int(np.count_nonzero(pooled.scores >= threshold)))


def mask_points(images: ScoreBatch, threshold: float) -> BestFs:
    """Return the point of each image at the mask, in place of its best F."""
    predicted = images.scores >= threshold
    return BestFs(
        images.totals(images.positives * predicted),
        images.totals(images.negatives * predicted),
        images.totals(images.positives),
        images.totals(images.negatives),
        np.full(images.ends.size, threshold),
        images.highest,
    )


def measured_curves(
    positives: Array, negatives: Array, several: BoolArray | None = None
) -> tuple[IntArray, FloatArray]:
    """Find the best F and the areas of curves, one per row, see `segbench.curves.kernels.pooled_curves`."""
    from segbench.curves import kernels

    best = np.zeros((positives.shape[0], 5), np.int64)
    areas = np.full((positives.shape[0], len(AREAS) + 1), np.nan)
    marks = np.empty(0, np.bool_) if several is None else several
    kernels.pooled_curves(positives, negatives, marks, best, areas)
    return best, areas
