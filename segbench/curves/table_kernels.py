"""Compiled loops over many replicates of a benchmark; imported only where one is called."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.compiling import compiled
from segbench.curves.kernels import (
    area_share,
    false_positives_at,
    hull_vertices,
    pr_area_exact,
    precision_steps,
    roc_area,
)

FloatArray = NDArray[np.float64]
Counts = NDArray[Any]

_compiled = compiled(error_model="numpy")

_CLOSE = 1 - 1e-12


@_compiled
def running(counts: FloatArray, into: Counts) -> None:
    """Cumulate whole numbers that came out of a float product."""
    into[0] = 0
    for k in range(counts.size):
        into[k + 1] = into[k] + np.int64(counts[k])


@_compiled
def pooled_pixel_figures(
    positives: FloatArray, negatives: FloatArray, scores: FloatArray, loose: NDArray[np.bool_], figures: FloatArray
) -> None:
    """Fill in the metrics of pooled curves, one row per replicate; a row without positives is left as it is.

    Columns: auc_roc, auc_pr, auc_pr_achievable, average_precision, ods_f, ods_precision, ods_recall, ods_threshold,
    iou, fpr_at_95_tpr.
    """
    tp, fp = np.zeros(scores.size + 1, np.int64), np.zeros(scores.size + 1, np.int64)
    for r in range(positives.shape[0]):
        running(positives[r], tp)
        running(negatives[r], fp)
        P, N = tp[-1], fp[-1]
        if P == 0:
            continue
        figures[r, 1] = area_share(pr_area_exact(tp, fp), P)
        vertices = hull_vertices(tp, fp)
        figures[r, 2] = area_share(pr_area_exact(tp[vertices], fp[vertices]), P)
        figures[r, 3] = area_share(precision_steps(tp, fp, loose), P)
        best, at = 0.0, 0
        for k in range(1, tp.size):
            f = 2.0 * tp[k] / float(P + tp[k] + fp[k])
            if f > best:
                best, at = f, k
        figures[r, 4] = best
        figures[r, 5] = tp[at] / float(tp[at] + fp[at])
        figures[r, 6] = tp[at] / float(P)
        figures[r, 7] = scores[at - 1]
        figures[r, 8] = tp[at] / float(P + fp[at])
        if N > 0:
            figures[r, 0] = area_share(roc_area(tp, fp) / P, N)
            needed = (95 * P + 99) // 100
            figures[r, 9] = false_positives_at(tp, fp, loose, needed) / float(N)


@_compiled
def precision_at(positives: FloatArray, negatives: FloatArray, recalls: FloatArray, precision: FloatArray) -> None:
    """Fill in precision at given recalls, read off the interpolated curve, one row a replicate."""
    tp, fp = np.zeros(positives.shape[1] + 1, np.int64), np.zeros(positives.shape[1] + 1, np.int64)
    for r in range(positives.shape[0]):
        running(positives[r], tp)
        running(negatives[r], fp)
        if tp[-1] == 0:
            continue
        first = 1
        while tp[first] + fp[first] == 0:
            first += 1
        for i in range(recalls.size):
            t = recalls[i] * tp[-1]
            k = max(np.searchsorted(tp, t), first)
            share = (t - tp[k - 1]) / float(tp[k] - tp[k - 1]) if tp[k] > tp[k - 1] else 0.0
            false = fp[k - 1] + share * (fp[k] - fp[k - 1])
            if t + false > 0:
                precision[r, i] = t / (t + false)
            else:
                precision[r, i] = tp[k] / float(tp[k] + fp[k])


@_compiled
def tpr_at(positives: FloatArray, negatives: FloatArray, fprs: FloatArray, tpr: FloatArray) -> None:
    """Fill in true positive rates at given false positive rates, one row a replicate."""
    tp, fp = np.zeros(positives.shape[1] + 1, np.int64), np.zeros(positives.shape[1] + 1, np.int64)
    for r in range(positives.shape[0]):
        running(positives[r], tp)
        running(negatives[r], fp)
        if tp[-1] == 0 or fp[-1] == 0:
            continue
        for i in range(fprs.size):
            f = fprs[i] * fp[-1]
            k = np.searchsorted(fp, f, "right")
            share = 0.0
            if k < fp.size:
                share = (f - fp[k - 1]) / float(fp[k] - fp[k - 1]) * (tp[k] - tp[k - 1])
            tpr[r, i] = (tp[k - 1] + share) / float(tp[-1])


@_compiled
def interpolated(x: float, xs: FloatArray, ys: FloatArray, size: int) -> float:
    """Read off straight lines between points with rising xs, of which x is within the range."""
    j = np.searchsorted(xs[:size], x, "right") - 1
    if j == size - 1 or xs[j] == x:
        return float(ys[j])
    return float((ys[j + 1] - ys[j]) / (xs[j + 1] - xs[j]) * (x - xs[j]) + ys[j])


@_compiled
def distinct(keys: FloatArray, values: FloatArray, xs: FloatArray, ys: FloatArray) -> int:
    """Sort by key, keep the first value of equal keys, and give how many are left."""
    size = 0
    for k in np.argsort(keys, kind="mergesort"):
        if size == 0 or keys[k] != xs[size - 1]:
            xs[size], ys[size] = keys[k], values[k]
            size += 1
    return size


@_compiled
def boundary_area(recall: FloatArray, precision: FloatArray, xs: FloatArray, ys: FloatArray) -> float:
    """Sum precision at recalls 0, .01, .. 1 over 100, 0 outside the recalls there are."""
    size = distinct(recall, precision, xs, ys)
    area = 0.0
    if size > 1:
        for place in range(101):
            if xs[0] <= place / 100 <= xs[size - 1]:
                area += interpolated(place / 100, xs, ys, size)
    return area / 100


@_compiled
def boundary_f(recall: float, precision: float) -> float:
    """F, 0 where both are 0."""
    return 2 * (recall * precision / (recall + precision)) if recall + precision > 0 else 0.0


@_compiled
def boundary_ods(recall: FloatArray, precision: FloatArray, shares: FloatArray) -> tuple[float, int, float]:
    """Give the first best F between neighbouring thresholds, the upper of the two, and the share of the way to it."""
    highest = 0.0
    for k in range(recall.size):
        highest = max(highest, boundary_f(recall[k], precision[k]))
    best, at, share = -1.0, 0, 0.0
    if recall.size == 1:
        return highest, 0, 1.0
    for k in range(1, recall.size):
        # No point between two others has more recall or precision than both: most pairs cannot hold the best.
        if boundary_f(max(recall[k - 1], recall[k]), max(precision[k - 1], precision[k])) < highest * _CLOSE:
            continue
        for s in shares:
            f = boundary_f(recall[k] * s + recall[k - 1] * (1 - s), precision[k] * s + precision[k - 1] * (1 - s))
            if f > best:
                best, at, share = f, k, s
    return best, at, share


@_compiled
def pooled_boundary_figures(
    counts: FloatArray, thresholds: FloatArray, shares: FloatArray, figures: FloatArray
) -> None:
    """Fill in the figures of pooled boundary curves, one row a replicate.

    Counts hold matched_gt, total_gt, matched_pred and total_pred, shape (replicates, 4, K). Columns: ods_f,
    ods_precision, ods_recall, ods_threshold, area_pr, area_pr_extended, r50.
    """
    size = thresholds.size
    recall, precision = np.zeros(size + 2), np.zeros(size + 2)
    recall[-1] = precision[-2] = 1.0
    xs, ys = np.empty(size + 2), np.empty(size + 2)
    for row in range(counts.shape[0]):
        for k in range(size):
            matched_gt, total_gt, matched_pred, total_pred = counts[row, :, k]
            recall[k] = matched_gt / total_gt if total_gt > 0 else 0.0
            precision[k] = matched_pred / total_pred if total_pred > 0 else 0.0
        r, p = recall[:size], precision[:size]
        best, at, share = boundary_ods(r, p, shares)
        figures[row, 0] = best
        before = max(at - 1, 0)
        figures[row, 1] = p[at] * share + p[before] * (1 - share)
        figures[row, 2] = r[at] * share + r[before] * (1 - share)
        figures[row, 3] = thresholds[at] * share + thresholds[before] * (1 - share)
        figures[row, 4] = boundary_area(r, p, xs, ys)
        figures[row, 5] = boundary_area(recall, precision, xs, ys)
        found = distinct(p, r, xs, ys)
        wanted = max(xs[0], 0.5)
        figures[row, 6] = interpolated(wanted, xs, ys, found) if wanted <= xs[found - 1] else np.nan
