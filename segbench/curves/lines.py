"""The lines that plots draw of a pixel curve, and the area that bins of scores leave open around them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.scores import ScoreCounts
from segbench.core.series import Envelope, FloatArray, Line, Space
from segbench.curves.bounds import best_case, worst_case
from segbench.curves.points import cumulate, inexact
from segbench.drawing.series import thinned, visible

_STEPS = 500
_ENVELOPE_STEPS = 2_000


def pr_line(tp: NDArray[Any], fp: NDArray[Any], precision: FloatArray) -> Line:
    """Give recall and precision to draw: measured points, and the bent line between distant ones.

    Between two points false positives grow linearly with true positives (Davis and Goadrich 2006, section 4), so that
    precision follows a hyperbola, never a straight line.
    """
    tp, fp = tp.astype(np.float64), fp.astype(np.float64)
    rising = np.append(True, np.diff(tp) > 0)
    between = np.linspace(0, tp[-1], _STEPS + 1)[1:-1]
    # Along a jump of false positives at one recall, the line to the next recall starts at the jump's upper end.
    last_of_recall = np.append(np.flatnonzero(rising)[1:] - 1, tp.size - 1)
    segment = np.searchsorted(tp[last_of_recall], between, side="left")
    start, end = last_of_recall[np.maximum(segment - 1, 0)], np.flatnonzero(rising)[segment]
    share = (between - tp[start]) / np.where(tp[end] > tp[start], tp[end] - tp[start], 1)
    fp_between = fp[start] + share * (fp[end] - fp[start])
    all_tp, all_fp = np.append(tp, between), np.append(fp, fp_between)
    precision = np.append(precision, between / (between + fp_between))
    order = np.lexsort((all_fp, all_tp))
    return thinned(all_tp[order] / tp[-1], precision[order])


def envelope(counts: ScoreCounts, space: Space) -> Envelope | None:
    """Give what bins leave open: precision at each recall of a PR curve, or true at each false positive rate.

    Inside a bin of p positives and n negatives after T and F, the exact curve runs from (T, F) to (T + p, F + n) in an
    order that is not known: its precision at t true positives lies between t / (t + F + n) and t / (t + F).
    """
    loose = inexact(counts)
    if not np.any(loose & (counts.positives > 0) & (counts.negatives > 0)):
        return None
    (best_tp, best_fp), (worst_tp, worst_fp) = (
        [values.astype(np.float64) for values in case(counts, loose)] for case in (best_case, worst_case)
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
    return np.union1d(np.linspace(0, counts[-1], _ENVELOPE_STEPS + 1), counts.astype(np.float64))


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
