"""Compiled loops over many replicates of a benchmark; imported only where one is called."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from segbench.curves.kernels import hull_vertices, pr_area_exact, precision_steps, roc_area

FloatArray = NDArray[np.float64]
Counts = NDArray[Any]

_compiled = njit(cache=True, nogil=True, error_model="numpy")


@_compiled
def running(counts: FloatArray, into: Counts) -> None:
    """Cumulate whole numbers that came out of a float product."""
    into[0] = 0
    for k in range(counts.size):
        into[k + 1] = into[k] + np.int64(counts[k])


@_compiled
def pooled_pixel_figures(positives: FloatArray, negatives: FloatArray, scores: FloatArray, figures: FloatArray) -> None:
    """Fill in the figures of pooled curves, one row a replicate; a row stays as it is where it has no positives.

    Columns: auc_roc, auc_pr, auc_pr_achievable, average_precision, ods_f, ods_precision, ods_recall, ods_threshold,
    fpr_at_95_tpr.
    """
    tp, fp = np.zeros(scores.size + 1, np.int64), np.zeros(scores.size + 1, np.int64)
    for r in range(positives.shape[0]):
        running(positives[r], tp)
        running(negatives[r], fp)
        P, N = tp[-1], fp[-1]
        if P == 0:
            continue
        figures[r, 1] = pr_area_exact(tp, fp) / P
        vertices = hull_vertices(tp, fp)
        figures[r, 2] = pr_area_exact(tp[vertices], fp[vertices]) / P
        figures[r, 3] = precision_steps(tp, fp) / P
        best, at = 0.0, 0
        for k in range(1, tp.size):
            f = 2.0 * tp[k] / float(P + tp[k] + fp[k])
            if f > best:
                best, at = f, k
        figures[r, 4] = best
        figures[r, 5] = tp[at] / float(tp[at] + fp[at])
        figures[r, 6] = tp[at] / float(P)
        figures[r, 7] = scores[at - 1]
        if N > 0:
            figures[r, 0] = roc_area(tp, fp) / P / N
            needed = (95 * P + 99) // 100
            figures[r, 8] = fp[np.searchsorted(tp, needed)] / float(N)


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
