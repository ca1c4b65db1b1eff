"""Certain bounds of figures drawn from binned scores.

A bin of the histogram holds several scores, of which only the lowest and the highest are known. Whatever the order
inside it, the exact curve passes between two others: one on which the positives of every such bin come first, and one
on which its negatives do. Every figure of the exact curve lies between the same figure of these two. The figure itself
is that of the curve through the bins' edges, which are points of the exact curve.

A bin whose highest score is its lowest adds no uncertainty, nor does one without positives; one without negatives adds
some to average precision alone, which ties can raise.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.counts import ScoreCounts
from segbench.curves.areas import pr_area, roc_area
from segbench.curves.fmeasure import best_point, f_of, first_reaching
from segbench.curves.hull import hull_points
from segbench.curves.imagewise import BestFs
from segbench.curves.points import Points, cumulate

Interval = tuple[float, float]
FloatArray = NDArray[np.float64]

_MOST_POSITIVES = Fraction(95, 100)
_ROUNDING = 2.0**-46  # of float sums and logarithms; the bounds are moved outwards by it


def score_bounds(counts: ScoreCounts) -> dict[str, Interval]:
    """Bounds of the figures of one curve, where they are not exact.

    Parameters
    ----------
    counts : ScoreCounts
        Pixels of an image or of many.

    Returns
    -------
    dict of (low, high)
        For any of auc_roc, auc_pr, auc_pr_achievable, average_precision, f, fpr_at_95_tpr; empty for exact counts.

    Examples
    --------
    >>> bins = ScoreCounts([0.5, 0.1], [3, 1], [1, 3], highest=[0.9, 0.1])
    >>> low, high = score_bounds(bins)["auc_roc"]
    >>> round(low, 6), round(high, 6)
    (0.65625, 0.84375)
    """
    loose = inexact(counts)
    if not loose.any() or not counts.total_positives:
        return {}
    best, worst, edges = best_case(counts, loose), worst_case(counts, loose), cumulate(counts)
    pairs = {
        "auc_pr": (pr_area(worst), pr_area(best)),
        "auc_pr_achievable": (pr_area(hull_points(edges)), pr_area(hull_points(best))),
        "average_precision": (_lowest_average_precision(counts, loose), _average_precision(best)),
        "f": (_best_f(edges), _best_f(best)),
    }
    if counts.total_negatives:
        pairs["auc_roc"] = (roc_area(worst), roc_area(best))
        reached = (int(points[1][first_reaching(points, _MOST_POSITIVES)]) for points in (best, edges))
        low, high = (fp / counts.total_negatives for fp in reached)
        pairs["fpr_at_95_tpr"] = (low, high)
    return {key: outward(*pair) for key, pair in pairs.items() if pair[0] < pair[1]}


def image_bounds(images: Iterable[ScoreCounts], chosen: BestFs) -> dict[str, Interval]:
    """Bounds of the figures that take each image at its own best threshold: ois_f and mean_image_f.

    The pooled F is the mean of the images' F weighted by P + TP + FP; F and weight of each image lie in an interval.

    Parameters
    ----------
    images : iterable of ScoreCounts
        Images in the order of `chosen`.
    chosen : BestFs
        Their best points among bin edges.
    """
    low_f = np.where(chosen.positives > 0, chosen.f, 0.0)
    high_f = low_f.copy()
    low_weight = (chosen.positives + chosen.tp + chosen.fp).astype(np.float64)
    high_weight = low_weight.copy()
    for i, image in enumerate(images):
        if image.binned:
            high_f[i], low_weight[i], high_weight[i] = _best_f_range(image, low_f[i], low_weight[i])
    bounds: dict[str, Interval] = {}
    if not chosen.positives.any():
        return bounds
    defined = chosen.positives > 0
    means = float(low_f[defined].mean()), float(high_f[defined].mean())
    pooled = _lowest_mean(low_f, low_weight, high_weight), -_lowest_mean(-high_f, low_weight, high_weight)
    if means[0] < means[1]:
        bounds["mean_image_f"] = outward(*means)
    if np.any(low_f < high_f) or np.any(low_weight < high_weight):
        bounds["ois_f"] = outward(*pooled)
    return bounds


def inexact(counts: ScoreCounts) -> NDArray[np.bool_]:
    """Mark the bins that hold more than one score."""
    if counts.highest is None:
        return np.zeros(counts.scores.size, dtype=bool)
    loose: NDArray[np.bool_] = counts.highest > counts.scores
    return loose


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


def _best_f(points: Points) -> float:
    k = best_point(points)
    return f_of(int(points[0][k]), int(points[1][k]), int(points[0][-1]))


def _average_precision(points: Points) -> float:
    from segbench.curves import kernels

    return float(kernels.precision_steps(*points) / points[0][-1])


def _lowest_average_precision(counts: ScoreCounts, loose: NDArray[np.bool_]) -> float:
    from segbench.curves import kernels

    return float(kernels.lowest_precision_steps(*cumulate(counts), loose) / counts.total_positives)


def _best_f_range(image: ScoreCounts, f: float, weight: float) -> tuple[float, float, float]:
    """Give the highest F of an image, and the lowest and highest P + TP + FP where its best F can be."""
    tp, fp = (np.append(0, np.cumsum(part, dtype=np.int64)) for part in (image.positives, image.negatives))
    loose = inexact(image) & (image.negatives > 0)
    positives = int(tp[-1])
    if positives == 0:
        lowest = 1.0 if loose.size and loose[0] else weight
        return f, lowest, weight
    loose &= image.positives > 0
    corner = 2.0 * tp[1:] / (positives + tp[1:] + fp[:-1])
    edge = 2.0 * tp[1:] / (positives + tp[1:] + fp[1:])
    close = f * (1 - _ROUNDING)
    inside, at_edge = loose & (corner >= close), edge >= close
    low = np.concatenate([(tp[:-1] + fp[:-1])[inside], (tp[1:] + fp[1:])[at_edge]])
    high = np.concatenate([(tp[1:] + fp[1:])[inside], (tp[1:] + fp[1:])[at_edge]])
    top = float(corner[inside].max(initial=f))
    return top, positives + float(low.min()), positives + float(high.max())


def _lowest_mean(values: FloatArray, low_weight: FloatArray, high_weight: FloatArray) -> float:
    """Give the lowest weighted mean that weights in their intervals allow: heavy below the mean, light above it."""
    mean = math.inf
    while True:
        weight = np.where(values < mean, high_weight, low_weight)
        lower = float(values @ weight / weight.sum())
        if not lower < mean:
            return mean
        mean = lower
