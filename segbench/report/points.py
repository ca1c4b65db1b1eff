"""Which points of a curve a plot needs: enough to look exact on paper, few enough for a vector file."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segbench.core.scores import ScoreCounts
from segbench.curves.bounds import best_case, score_bounds, worst_case
from segbench.curves.curve import Curve
from segbench.curves.points import inexact
from segbench.protocols.boundaries.curve import BoundaryCurve

FloatArray = NDArray[np.float64]

_CELLS = 2_000
_STEPS = 500
_ENVELOPE_STEPS = 2_000


@dataclass(frozen=True, eq=False)
class Envelope:
    """Where the exact curve of scores in bins lies for certain: `low` to `high` at each of `at`; empty where exact."""

    at: FloatArray
    low: FloatArray
    high: FloatArray


def pr_points(curve: Curve) -> tuple[FloatArray, FloatArray]:
    """Give recall and precision to draw: measured points, and the bent line between distant ones; of a mask its point.

    Between two points false positives grow linearly with true positives (Davis and Goadrich 2006, section 4), so that
    precision follows a hyperbola, never a straight line.
    """
    if not curve.positives:
        return np.empty(0), np.empty(0)
    if curve.mask is not None:
        # Where nothing is predicted there is no precision to draw.
        point = slice(curve.mask, curve.mask + 1) if curve.mask else slice(0)
        return curve.recall[point], curve.precision[point]
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
    """Give false and true positive rates to draw; straight lines between them are exact. Of a mask its point."""
    if not curve.positives or not curve.negatives:
        return np.empty(0), np.empty(0)
    if curve.mask is not None:
        point = slice(curve.mask, curve.mask + 1)
        return curve.fpr[point], curve.tpr[point]
    return _thinned(curve.fpr, curve.tpr)


def envelope(curve: Curve) -> Envelope:
    """Give what bins leave open: precision at each recall of a PR curve, or true at each false positive rate.

    Inside a bin of p positives and n negatives after T and F, the exact curve runs from (T, F) to (T + p, F + n) in an
    order that is not known: its precision at t true positives lies between t / (t + F + n) and t / (t + F).
    """
    nothing = Envelope(np.empty(0), np.empty(0), np.empty(0))
    if curve.highest is None or not curve.positives or not curve.negatives:
        return nothing
    counts = _binned(curve)
    loose = inexact(counts)
    if not np.any(loose & (counts.positives > 0) & (counts.negatives > 0)):
        return nothing
    (best_tp, best_fp), (worst_tp, worst_fp) = (
        [values.astype(np.float64) for values in case(counts, loose)] for case in (best_case, worst_case)
    )
    if curve.space == "pr":
        tp = _grid(curve.tp)[1:]
        fewest, most = _read(best_tp, best_fp, tp, upper=False), _read(worst_tp, worst_fp, tp, upper=True)
        return _few(tp / tp[-1], tp / (tp + most), tp / (tp + fewest))
    fp = _grid(curve.fp)
    low, high = _read(worst_fp, worst_tp, fp, upper=False), _read(best_fp, best_tp, fp, upper=True)
    return _few(fp / fp[-1], low / curve.positives, high / curve.positives)


def area_bounds(curve: Curve) -> tuple[float, float] | None:
    """Give the certain bounds of a curve's area; None where it is exact."""
    if curve.highest is None:
        return None
    return score_bounds(_binned(curve)).get("auc_pr" if curve.space == "pr" else "auc_roc")


def _binned(curve: Curve) -> ScoreCounts:
    return ScoreCounts(curve.scores, np.diff(curve.tp), np.diff(curve.fp), highest=curve.highest)


def _grid(counts: NDArray[np.int64]) -> FloatArray:
    """Give the counts at the edges of bins, and even steps between."""
    return np.union1d(np.linspace(0, counts[-1], _ENVELOPE_STEPS + 1), counts.astype(np.float64))


def _read(x: FloatArray, y: FloatArray, at: FloatArray, *, upper: bool) -> FloatArray:
    """Read a rising line off at given places; where it rises straight up, its upper or its lower end."""
    after = np.searchsorted(x, at, side="right" if upper else "left")
    before, after = np.maximum(after - 1, 0), np.minimum(after, x.size - 1)
    width = x[after] - x[before]
    share = np.divide(at - x[before], width, out=np.zeros(at.size), where=width > 0)
    read: FloatArray = y[before] + share * (y[after] - y[before])
    return read


def _thinned(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    kept = visible(x, y)
    return x[kept], y[kept]


def _few(at: FloatArray, low: FloatArray, high: FloatArray) -> Envelope:
    kept = visible(at, low, high)
    return Envelope(at[kept], low[kept], high[kept])


def visible(*coordinates: FloatArray) -> NDArray[np.bool_]:
    """Mark the points that fall into another cell of a fine grid than the point before, and the last."""
    cells = np.rint(np.stack(coordinates) * _CELLS)
    kept: NDArray[np.bool_] = np.append(True, np.any(np.diff(cells, axis=1) != 0, axis=0))
    kept[-1] = True
    return kept
