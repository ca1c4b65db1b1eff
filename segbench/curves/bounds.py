"""Certain bounds of the metrics and of the curves of binned scores.

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

import numpy as np
from numpy.typing import NDArray

from segbench.core.integers import FloatArray
from segbench.core.scores import ScoreCounts
from segbench.core.series import Envelope, Space
from segbench.curves.areas import pr_area, roc_area
from segbench.curves.imagewise import BestFs
from segbench.curves.points import Points, best_point, cumulate, first_reaching, hull_points, inexact, running
from segbench.drawing.series import visible

Interval = tuple[float, float]

_MOST_POSITIVES = Fraction(95, 100)
_STEPS = 2_000
_ROUNDING = 2.0**-46  # of float sums and logarithms; the bounds are moved outwards by it


def score_bounds(counts: ScoreCounts) -> dict[str, Interval]:
    """Bounds of the metrics of one curve, where they are not exact."""
    from segbench.curves import kernels

    loose, positives = inexact(counts), counts.total_positives
    if not loose.any() or not positives:
        return {}
    best, worst, edges = *_extremes(counts, loose), cumulate(counts)
    highest_precision = kernels.precision_steps(*best, np.zeros(best[0].size - 1, np.bool_)) / positives
    pairs = {
        "auc_pr": (pr_area(worst), pr_area(best)),
        "auc_pr_achievable": (pr_area(hull_points(edges)), pr_area(hull_points(best))),
        "average_precision": (kernels.lowest_precision_steps(*edges, loose) / positives, highest_precision),
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
    """Where the exact point with the best F can be: at the first (tp, fp), or in the hull of the others."""

    positives: int
    tp: FloatArray
    fp: FloatArray
    least_tp: float  # the lowest whole number there
    lowest_scores: FloatArray  # of the bins that can hold the point
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


def outward(low: float, high: float) -> Interval:
    """Move bounds apart by what rounding may have done, within [0, 1]."""
    return max(low * (1 - _ROUNDING), 0.0), min(high * (1 + _ROUNDING), 1.0)


def _extremes(counts: ScoreCounts, loose: NDArray[np.bool_]) -> tuple[Points, Points]:
    """Give the points of two curves: the positives of every loose bin come first, or its negatives do."""
    mixed = loose & (counts.positives > 0) & (counts.negatives > 0)
    times = np.where(mixed, 2, 1)
    halves = (np.cumsum(times) - times)[mixed]
    parts = []
    for first, second in ((0, 1), (1, 0)):
        positives, negatives = (np.repeat(part, times) for part in (counts.positives, counts.negatives))
        positives[halves + second] = 0
        negatives[halves + first] = 0
        parts.append((running(positives), running(negatives)))
    return parts[0], parts[1]


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


def envelope(counts: ScoreCounts, space: Space) -> Envelope | None:
    """Give what bins leave open: precision at each recall of a PR curve, or true at each false positive rate.

    Inside a bin of p positives and n negatives after T and F, the exact curve runs from (T, F) to (T + p, F + n) in an
    order that is not known: its precision at t true positives lies between t / (t + F + n) and t / (t + F).
    """
    loose = inexact(counts)
    if not np.any(loose & (counts.positives > 0) & (counts.negatives > 0)):
        return None
    (best_tp, best_fp), (worst_tp, worst_fp) = (
        [values.astype(np.float64) for values in case] for case in _extremes(counts, loose)
    )
    edges = cumulate(counts)
    if space == "pr":
        tp = _grid(edges[0])[1:]
        fewest, most = _read(best_tp, best_fp, tp, upper=False), _read(worst_tp, worst_fp, tp, upper=True)
        return _few(tp / tp[-1], tp / (tp + most), tp / (tp + fewest))
    fp = _grid(edges[1])
    low, high = _read(worst_fp, worst_tp, fp, upper=False), _read(best_fp, best_tp, fp, upper=True)
    return _few(fp / fp[-1], low / counts.total_positives, high / counts.total_positives)


def _grid(counts: NDArray[np.int64]) -> FloatArray:
    """Give the counts at the edges of bins, and even steps between."""
    return np.union1d(np.linspace(0, counts[-1], _STEPS + 1), counts.astype(np.float64))


def _read(x: FloatArray, y: FloatArray, at: FloatArray, *, upper: bool) -> FloatArray:
    """Read a rising line off at given places; where it rises straight up, its upper or its lower end."""
    after = np.searchsorted(x, at, side="right" if upper else "left")
    before, after = np.maximum(after - 1, 0), np.minimum(after, x.size - 1)
    width = x[after] - x[before]
    share = np.divide(at - x[before], width, out=np.zeros(at.size), where=width > 0)
    read: FloatArray = y[before] + share * (y[after] - y[before])
    return read


def _few(at: FloatArray, low: FloatArray, high: FloatArray) -> Envelope:
    kept = visible(at, low, high)
    return Envelope(at[kept], low[kept], high[kept])
