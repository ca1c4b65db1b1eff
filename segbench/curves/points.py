"""The points of a curve: cumulative integers, one point a distinct score, from (0, 0) to (P, N)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.scores import ScoreCounts

Points = tuple[NDArray[Any], NDArray[Any]]

_FITS_INT32 = 2**31


def cumulate(counts: ScoreCounts) -> Points:
    """Give true and false positives at each threshold, ``score >= threshold``, from (0, 0) to (P, N)."""
    return _running(counts.positives), _running(counts.negatives)


def inexact(counts: ScoreCounts) -> NDArray[np.bool_]:
    """Mark the bins that hold more than one score."""
    if counts.highest is None:
        return np.zeros(counts.scores.size, dtype=bool)
    loose: NDArray[np.bool_] = counts.highest > counts.scores
    return loose


def hull_vertices(points: Points) -> NDArray[np.int64]:
    """Number the hull's vertices among cumulative points, the first and the last included."""
    from segbench.curves import kernels

    tp, fp = points
    vertices: NDArray[np.int64] = kernels.hull_vertices(tp, fp)
    return vertices


def hull_points(points: Points) -> Points:
    """Keep the hull's vertices of cumulative points."""
    vertices = hull_vertices(points)
    tp, fp = points[0][vertices], points[1][vertices]
    tp.flags.writeable = fp.flags.writeable = False
    return tp, fp


def _running(counts: NDArray[Any]) -> NDArray[Any]:
    small = counts.dtype == np.int32 and counts.sum(dtype=np.int64) < _FITS_INT32
    running = np.zeros(counts.size + 1, dtype=np.int32 if small else np.int64)
    np.cumsum(counts, dtype=running.dtype, out=running[1:])
    running.flags.writeable = False
    return running
