"""F-measures, and the operating points they choose.

Conventions
-----------
F is (1 + beta^2) TP / (beta^2 P + TP + FP), the weighted harmonic mean of precision and recall; above 1, beta favours
recall. The best F is over the points of the curve, one a distinct score; among equals the highest threshold wins.
Without positives F is undefined, and the point reported is the one at the highest score: such an image pools the false
positives that no threshold of its own can avoid. (BSDS's code counts such an image's F as 0 instead.)
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from fractions import Fraction

import numpy as np

from segbench.core.arguments import as_real, as_share
from segbench.core.counts import Pooled, as_pooled
from segbench.core.html import table_html
from segbench.core.numbers import number
from segbench.core.operating_point import f_of
from segbench.core.scores import ScoreCounts
from segbench.core.text_table import TextTable
from segbench.curves.points import Points, cumulate, inexact

_POINTS_AT_ONCE = 2**17
_CLOSE = 1 - 1e-14


@dataclass(frozen=True)
class BestF:
    """The point of a curve with the best F.

    Parameters
    ----------
    f, precision, recall : float
        In [0, 1]; nan without positives (precision: without predictions).
    threshold : float
        Highest threshold that attains it, ``score >= threshold``; nan where scores are not known.
    tp, fp : int
        True and false positives there.
    """

    f: float
    precision: float
    recall: float
    threshold: float
    tp: int
    fp: int

    def _repr_html_(self) -> str:
        """Give the table that notebooks show."""
        rows = [[name, number(value)] for name, value in asdict(self).items()]
        return table_html(TextTable(["metric", "value"], rows))


def best_f(counts: ScoreCounts | Pooled, *, beta: float = 1.0) -> BestF:
    """Best F over all thresholds.

    Parameters
    ----------
    counts : ScoreCounts or Result
        Pixels of an image or of many; of a result its pooled counts.
    beta : float
        Weight of recall against precision, from 1e-100 to 1e100.

    Returns
    -------
    BestF
        Of the highest threshold among equals, told apart in exact arithmetic.

    Raises
    ------
    ArgumentError
        If `beta` is not such a number.

    Examples
    --------
    >>> best_f(ScoreCounts([3, 2, 1], [2, 1, 1], [0, 0, 9]))
    BestF(f=0.8571428571428571, precision=1.0, recall=0.75, threshold=2.0, tp=3, fp=0)
    """
    beta = as_real(beta, "beta", "a number from 1e-100 to 1e100", least=1e-100, most=1e100)
    counts = as_pooled(counts, ScoreCounts)
    points = cumulate(counts)
    if counts.scores.size == 0:
        return BestF(math.nan, math.nan, math.nan, math.nan, 0, 0)
    k = best_point(points, beta=beta)
    tp, fp, positives = int(points[0][k]), int(points[1][k]), int(points[0][-1])
    return BestF(
        f=f_of(tp, fp, positives, beta=beta),
        precision=tp / (tp + fp) if tp + fp else math.nan,
        recall=tp / positives if positives else math.nan,
        threshold=float(counts.scores[k - 1]),
        tp=tp,
        fp=fp,
    )


def best_point(points: Points, *, beta: float = 1.0) -> int:
    """Number the point with the best F, at least 1; the first among equals."""
    tp, fp = points
    positives = int(tp[-1])
    if positives == 0:
        return 1
    offset = beta**2 * positives
    # Ranked by TP / (beta^2 P + TP + FP), to which F is proportional; near-ties of the floats are settled in integers.
    best, close = 0.0, []
    for start in range(1, tp.size, _POINTS_AT_ONCE):
        some = tp[start : start + _POINTS_AT_ONCE].astype(np.float64)
        ratio = some / (some + fp[start : start + _POINTS_AT_ONCE] + offset)
        best = max(best, float(ratio.max()))
        close.append((start, ratio))
        close = [(first, ratio) for first, ratio in close if ratio.max() >= best * _CLOSE]
    weight = Fraction(beta) ** 2
    chosen, hits, base = 0, 0, 1
    for start, ratio in close:
        for k in (np.flatnonzero(ratio >= best * _CLOSE) + start).tolist():
            t = int(tp[k])
            # Multiplied through by the denominator of beta^2, so that every number is an integer.
            ranked = weight.numerator * positives + weight.denominator * (t + int(fp[k]))
            if t * base > hits * ranked:
                chosen, hits, base = k, t, ranked
    return chosen


def fpr_at_tpr(counts: ScoreCounts | Pooled, *, tpr: float = 0.95) -> float:
    """False positive rate at the highest threshold whose true positive rate reaches `tpr`.

    Inside a bin of several scores it is interpolated, linear in true positives.

    Parameters
    ----------
    counts : ScoreCounts or Result
        Pixels of an image or of many; of a result its pooled counts.
    tpr : float
        Between 0 and 1, read as the decimal it is written as: 0.9 of 10 positives is 9.

    Returns
    -------
    float
        In [0, 1]; nan without positives or without negatives.

    Raises
    ------
    ArgumentError
        If `tpr` is outside [0, 1].

    Examples
    --------
    >>> fpr_at_tpr(ScoreCounts([3, 2, 1], [10, 9, 1], [0, 1, 3]))
    0.25
    """
    from segbench.curves import kernels

    counts = as_pooled(counts, ScoreCounts)
    tp, fp = cumulate(counts)
    needed, negatives = needed_for(as_share(tpr, "tpr"), int(tp[-1])), int(fp[-1])
    if not (negatives and tp[-1]):
        return math.nan
    return float(kernels.false_positives_at(tp, fp, inexact(counts), needed)) / negatives


def first_reaching(points: Points, share: Fraction) -> int:
    """Number the first point whose recall reaches `share`, by comparing integers."""
    return int(np.searchsorted(points[0], needed_for(share, int(points[0][-1]))))


def needed_for(share: Fraction, positives: int) -> int:
    """Give the fewest true positives that are a share of all positives."""
    return math.ceil(share * positives)
