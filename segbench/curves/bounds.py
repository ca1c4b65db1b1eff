"""Certain bounds of the metrics of binned scores.

Of the scores in a bin, only the lowest and the highest are known. Whatever their order, the exact curve passes between
two others: one on which the positives of every such bin come first, and one on which its negatives do. Every area of
the exact curve lies between the same area of these two. The curve through the edges of bins consists of points of the
exact curve.

The point with the best F is bounded together with its precision, recall and threshold. F rises with TP / (P + FP), so
inside a bin all points at least as good as the best edge lie in a triangle: between the corner where the bin's
positives come first and the line on which F equals that of the best edge. A bin with a corner below that line is out.

A bin that holds one score adds no uncertainty. A bin without positives, or without negatives, adds some to average
precision alone, which ties can raise.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.scores import ScoreCounts
from segbench.curves.areas import pr_area, roc_area
from segbench.curves.fmeasure import best_point, first_reaching
from segbench.curves.imagewise import BestFs
from segbench.curves.points import Points, cumulate, hull_points, inexact

Interval = tuple[float, float]
FloatArray = NDArray[np.float64]

_MOST_POSITIVES = Fraction(95, 100)
_ROUNDING = 2.0**-46  # of float sums and logarithms; the bounds are moved outwards by it


def score_bounds(counts: ScoreCounts) -> dict[str, Interval]:
    """Bounds of the metrics of one curve, where they are not exact."""
    loose = inexact(counts)
    if not loose.any() or not counts.total_positives:
        return {}
    best, worst, edges = best_case(counts, loose), worst_case(counts, loose), cumulate(counts)
    pairs = {
        "auc_pr": (pr_area(worst), pr_area(best)),
        "auc_pr_achievable": (pr_area(hull_points(edges)), pr_area(hull_points(best))),
        "average_precision": (_lowest_average_precision(counts, loose), _average_precision(best)),
    }
    if counts.total_negatives:
        pairs["auc_roc"] = (roc_area(worst), roc_area(best))
        reached = (int(points[1][first_reaching(points, _MOST_POSITIVES)]) for points in (best, edges))
        low, high = (fp / counts.total_negatives for fp in reached)
        pairs["fpr_at_95_tpr"] = (low, high)
    k = best_point(edges)
    region = _best_region(counts, int(edges[0][k]), int(edges[1][k]))
    pairs |= region.rates()
    bounds = {key: outward(*pair) for key, pair in pairs.items() if pair[0] < pair[1]}
    edge = float(counts.scores[k - 1])
    low, high = min([edge, *region.lowest_scores.tolist()]), max([edge, *region.highest_scores.tolist()])
    return bounds | ({"threshold": (low, high)} if low < high else {})


def image_bounds(images: Iterable[ScoreCounts], chosen: BestFs) -> dict[str, Interval]:
    """Bounds of the metrics that take each image at its own best threshold: ``ois_*`` and mean_image_f."""
    if not chosen.positives.any():
        return {}
    points = zip(chosen.tp.tolist(), chosen.fp.tolist(), strict=True)
    regions = [_best_region(image, *point) for image, point in zip(images, points, strict=True)]
    sizes = np.array([region.tp.size for region in regions])
    if not np.any(sizes > 1):
        return {}
    starts = np.cumsum(sizes) - sizes
    tp, fp = (np.concatenate([getattr(region, name) for region in regions]) for name in ("tp", "fp"))
    positives = chosen.positives.sum()
    least = np.array([region.least_tp for region in regions]).sum()
    defined = chosen.positives > 0
    top = np.maximum.reduceat(2 * tp / np.maximum(np.repeat(chosen.positives, sizes) + tp + fp, 1), starts)
    pairs = {
        "ois_f": _range_of_ratio(2 * tp, tp + fp, starts, positives),
        "ois_precision": _range_of_ratio(tp, tp + fp, starts, 0),
        "ois_recall": (least / positives, np.maximum.reduceat(tp, starts).sum() / positives),
        "mean_image_f": (chosen.f[defined].mean(), top[defined].mean()),
    }
    return {key: outward(float(low), float(high)) for key, (low, high) in pairs.items() if low < high}


@dataclass(frozen=True, eq=False)
class _BestRegion:
    """Where the exact point with the best F can be: at the first (tp, fp), or in the hull of the others.

    `least_tp` is the lowest whole number of true positives there. Scores are those of the bins that can hold the point.
    """

    positives: int
    tp: FloatArray
    fp: FloatArray
    least_tp: float
    lowest_scores: FloatArray
    highest_scores: FloatArray

    def rates(self) -> dict[str, Interval]:
        """Give the range of each rate at the best F."""
        f = 2 * self.tp / (self.positives + self.tp + self.fp)
        precision = self.tp / (self.tp + self.fp)
        low, high = float(f[0]), float(f.max())
        return {
            "f": (low, high),
            "precision": (float(precision.min()), float(precision.max())),
            "recall": (self.least_tp / self.positives, float(self.tp.max()) / self.positives),
            "dice": (low, high),
            "iou": (low / (2 - low), high / (2 - high)),
        }


def _best_region(counts: ScoreCounts, best_tp: int, best_fp: int) -> _BestRegion:
    """Find where the exact best F can be, given the best point among the edges of bins."""
    known = np.array([best_tp], np.float64), np.array([best_fp], np.float64)
    none = np.empty(0)
    loose = inexact(counts)
    if not counts.total_positives:
        # The point is the one of the highest score, which takes at least one pixel.
        fp = np.append(known[1], np.minimum(known[1], 1.0)) if loose.any() and loose[0] else known[1]
        return _BestRegion(0, np.zeros(fp.size), fp, 0.0, none, none)
    mixed = np.flatnonzero(loose & (counts.positives > 0) & (counts.negatives > 0))
    positives = counts.total_positives
    if not mixed.size:
        return _BestRegion(positives, *known, best_tp, none, none)
    tp, fp = (values.astype(np.float64) for values in cumulate(counts))
    ratio = best_tp / (positives + best_fp)
    mixed = mixed[tp[mixed + 1] >= ratio * (1 - _ROUNDING) * (positives + fp[mixed])]
    most_tp, least_fp = tp[mixed + 1], fp[mixed]
    least_tp = np.maximum(ratio * (positives + least_fp) * (1 - _ROUNDING), tp[mixed])
    most_fp = np.minimum((most_tp / ratio - positives) * (1 + _ROUNDING), fp[mixed + 1])
    return _BestRegion(
        positives,
        np.concatenate([known[0], most_tp, least_tp, most_tp]),
        np.concatenate([known[1], least_fp, least_fp, np.maximum(most_fp, least_fp)]),
        float(np.ceil(least_tp).min(initial=best_tp)),
        counts.scores[mixed].astype(np.float64),
        np.asarray(counts.highest, np.float64)[mixed],
    )


def best_case(counts: ScoreCounts, loose: NDArray[np.bool_]) -> Points:
    """Points of the curve on which the positives of every loose bin come before its negatives."""
    return _split(counts, loose, negatives_first=False)


def worst_case(counts: ScoreCounts, loose: NDArray[np.bool_]) -> Points:
    """Points of the curve on which the negatives of every loose bin come before its positives."""
    return _split(counts, loose, negatives_first=True)


def outward(low: float, high: float) -> Interval:
    """Move bounds apart by what rounding may have done, within [0, 1]."""
    return max(low * (1 - _ROUNDING), 0.0), min(high * (1 + _ROUNDING), 1.0)


def _split(counts: ScoreCounts, loose: NDArray[np.bool_], *, negatives_first: bool) -> Points:
    mixed = loose & (counts.positives > 0) & (counts.negatives > 0)
    times = np.where(mixed, 2, 1)
    first = np.cumsum(times) - times
    positives, negatives = (np.repeat(part, times) for part in (counts.positives, counts.negatives))
    halves = first[mixed]
    positives[halves + (not negatives_first)] = 0
    negatives[halves + negatives_first] = 0
    return _running(positives), _running(negatives)


def _running(counts: NDArray[Any]) -> NDArray[np.int64]:
    running = np.append(0, np.cumsum(counts, dtype=np.int64))
    running.flags.writeable = False
    return running


def _average_precision(points: Points) -> float:
    from segbench.curves import kernels

    return float(kernels.precision_steps(*points, np.zeros(points[0].size - 1, np.bool_)) / points[0][-1])


def _lowest_average_precision(counts: ScoreCounts, loose: NDArray[np.bool_]) -> float:
    from segbench.curves import kernels

    return float(kernels.lowest_precision_steps(*cumulate(counts), loose) / counts.total_positives)


def _range_of_ratio(top: FloatArray, bottom: FloatArray, starts: NDArray[np.int64], base: float) -> Interval:
    """Give the range of sum(top) / (base + sum(bottom)), where each group gives one of its corners, or one between."""
    return _lowest_ratio(top, bottom, starts, base), -_lowest_ratio(-top, bottom, starts, base)


def _lowest_ratio(top: FloatArray, bottom: FloatArray, starts: NDArray[np.int64], base: float) -> float:
    """Minimize a ratio of sums by Dinkelbach's iteration."""
    groups = np.repeat(np.arange(starts.size), np.diff(starts, append=top.size))
    taken, lowest = starts, math.inf
    while True:
        ratio = float(top[taken].sum() / (base + bottom[taken].sum()))
        if not ratio < lowest:
            return lowest
        lowest = ratio
        taken = np.lexsort((top - ratio * bottom, groups))[starts]
