"""Which points of a curve a plot needs: enough to look exact on paper, few enough for a vector file."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from segbench.curves import Curve
from segbench.curves.boundary import BoundaryCurve

FloatArray = NDArray[np.float64]

_CELLS = 2_000
_STEPS = 500


def pr_points(curve: Curve) -> tuple[FloatArray, FloatArray]:
    """Give recall and precision to draw: measured points, and the bent line between distant ones.

    Between two points false positives grow linearly with true positives (Davis and Goadrich 2006, section 4), so that
    precision follows a hyperbola, never a straight line.
    """
    if not curve.positives:
        return np.empty(0), np.empty(0)
    tp, fp = curve.tp.astype(np.float64), curve.fp.astype(np.float64)
    rising = np.append(True, np.diff(tp) > 0)
    between = np.linspace(0, tp[-1], _STEPS + 1)[1:-1]
    # Along a jump of false positives at one recall, the line to the next recall starts at the jump's upper end.
    last_of_recall = np.append(np.flatnonzero(rising)[1:] - 1, tp.size - 1)
    segment = np.searchsorted(tp[last_of_recall], between, side="left")
    start, end = last_of_recall[np.maximum(segment - 1, 0)], np.flatnonzero(rising)[segment]
    share = (between - tp[start]) / np.where(tp[end] > tp[start], tp[end] - tp[start], 1)
    fp_between = fp[start] + share * (fp[end] - fp[start])
    all_tp, all_fp = np.append(tp, between), np.append(fp, fp_between)
    precision = np.append(curve.precision, between / (between + fp_between))
    order = np.lexsort((all_fp, all_tp))
    return _thinned(all_tp[order] / tp[-1], precision[order])


def boundary_points(curve: BoundaryCurve) -> tuple[FloatArray, FloatArray]:
    """Give recall and precision to draw: one point a threshold; recalls below .01 are left out, as is usual."""
    drawn = curve.recall >= 0.01
    return curve.recall[drawn], curve.precision[drawn]


def roc_points(curve: Curve) -> tuple[FloatArray, FloatArray]:
    """Give false and true positive rates to draw; straight lines between them are exact."""
    if not curve.positives or not curve.negatives:
        return np.empty(0), np.empty(0)
    return _thinned(curve.fpr, curve.tpr)


def _thinned(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Drop points that fall into the same cell of a fine grid as the point before, the last excepted."""
    cells = np.rint(np.stack([x, y]) * _CELLS)
    kept = np.append(True, np.any(np.diff(cells, axis=1) != 0, axis=0))
    kept[-1] = True
    return x[kept], y[kept]
