"""The points of a curve, cumulative integers from (0, 0) to (P, N), one a distinct score; and how one is chosen."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.scores import ScoreCounts

Points = tuple[NDArray[Any], NDArray[Any]]

_FITS_INT32 = 2**31
_CLOSE = 1 - 1e-14


def cumulate(counts: ScoreCounts) -> Points:
    """Give true and false positives at each threshold, ``score >= threshold``, from (0, 0) to (P, N)."""
    return running(counts.positives), running(counts.negatives)


def hull_vertices(points: Points) -> NDArray[np.int64]:
    """Number the hull's vertices among cumulative points, the first and the last included."""
    from segbench.curves import kernels

    tp, fp = points
    fresh = (tp[1:] != tp[:-1]) | (fp[1:] != fp[:-1])
    distinct = np.flatnonzero(np.append(True, fresh))
    chain = np.empty(distinct.size, np.int64)
    some = (tp, fp) if fresh.all() else (tp[distinct], fp[distinct])
    return distinct[chain[: kernels.hull_vertices(*some, chain)]]


def hull_points(points: Points) -> Points:
    """Keep the hull's vertices of cumulative points."""
    vertices = hull_vertices(points)
    tp, fp = points[0][vertices], points[1][vertices]
    tp.flags.writeable = fp.flags.writeable = False
    return tp, fp


def best_point(points: Points, *, beta: float = 1.0) -> int:
    """Number the point with the best F, at least 1; the first among equals."""
    tp, fp = points
    positives = int(tp[-1])
    if positives == 0:
        return 1
    # Ranked by TP / (beta^2 P + TP + FP), to which F is proportional; near-ties of the floats are settled in integers.
    ratio = fp.astype(np.float64)
    ratio += tp
    ratio += beta**2 * positives
    np.divide(tp, ratio, out=ratio)
    weight = Fraction(beta) ** 2
    chosen, hits, base = 0, 0, 1
    for k in np.flatnonzero(ratio >= ratio.max() * _CLOSE).tolist():
        t, f = int(tp[k]), int(fp[k])
        # Multiplied through by the denominator of beta^2, so that every number is an integer.
        ranked = weight.numerator * positives + weight.denominator * (t + f)
        if t * base > hits * ranked:
            chosen, hits, base = k, t, ranked
    return chosen


def first_reaching(points: Points, share: Fraction) -> int:
    """Number the first point with recall of at least `share`, by comparing integers."""
    return int(np.searchsorted(points[0], math.ceil(share * int(points[0][-1]))))


def needed_for_fpr(positives: int) -> int:
    """Give the fewest true positives of 95 %, at which the false positive rate is measured; compiled, too."""
    return (95 * positives + 99) // 100


def running(counts: NDArray[Any]) -> NDArray[Any]:
    """Add counts up from 0, in 32 bits where these hold the total."""
    small = counts.dtype == np.int32 and counts.sum(dtype=np.int64) < _FITS_INT32
    running = np.zeros(counts.size + 1, dtype=np.int32 if small else np.int64)
    np.cumsum(counts, dtype=running.dtype, out=running[1:])
    running.flags.writeable = False
    return running
