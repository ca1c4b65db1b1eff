"""Best F and areas of many pooled curves at once, as resamples need them."""

from __future__ import annotations

import numpy as np

from segbench.core.arrays import Array, BoolArray, FloatArray, IntArray

AREAS = ("auc_roc", "auc_pr", "auc_pr_achievable", "average_precision")
"""The areas, in the order of their columns."""


def measured_curves(
    positives: Array, negatives: Array, several: BoolArray | None = None
) -> tuple[IntArray, FloatArray]:
    """Find the best F and the areas of curves, one per row, see `segbench.curves.metric_kernels.pooled_curves`."""
    from segbench.curves import metric_kernels

    best = np.zeros((positives.shape[0], 5), np.int64)
    areas = np.full((positives.shape[0], len(AREAS) + 1), np.nan)
    marks = np.empty(0, np.bool_) if several is None else several
    metric_kernels.pooled_curves(positives, negatives, marks, best, areas)
    return best, areas
