"""The point of a curve with the best F, and all that its confusion counts say.

Conventions
-----------
1. A point is a threshold of the counts, ``score >= threshold``; nothing is interpolated. Among equals the highest
   threshold wins.
2. F is (1 + beta^2) TP / (beta^2 P + TP + FP), the weighted harmonic mean of precision and recall; above 1, beta
   favours recall. The best F is over the points of the curve, one a distinct score.
3. Without positives F is undefined, and the point reported is the one at the highest score: such an image pools the
   false positives that no threshold of its own can avoid. (BSDS's code counts such an image's F as 0 instead.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from segbench.core.arguments import as_real
from segbench.core.counts import Pooled, as_pooled
from segbench.core.operating_point import OperatingPoint, f_of
from segbench.core.scores import ScoreCounts
from segbench.curves.points import best_point, cumulate


@dataclass(frozen=True)
class BestF(OperatingPoint):
    """The point of a curve with the best F, of the highest threshold that attains it.

    Parameters
    ----------
    threshold : float
        Pixels with this score or a higher one are predicted; nan where scores are not known.
    tp, fp, positives, negatives : int
        As in `OperatingPoint`.
    beta : float
        The weight of recall against precision in `f`; `dice` weighs both alike.
    """

    beta: float = 1.0

    @property
    def f(self) -> float:
        """F; nan without positives."""
        f: float = f_of(self.tp, self.fp, self.positives, beta=self.beta) if self.positives else math.nan
        return f

    @property
    def dice(self) -> float:
        """The Dice coefficient; nan without positives."""
        return super().f


def best_f(counts: ScoreCounts | Pooled, *, beta: float = 1.0) -> BestF:
    """Best F over all thresholds.

    Parameters
    ----------
    counts : ScoreCounts, or Result for its pooled counts
    beta : float
        Weight of recall against precision, from 1e-100 to 1e100.

    Returns
    -------
    BestF
        Of the highest threshold among equals, compared in exact arithmetic. With `beta` 1 its IoU is the best, too.

    Raises
    ------
    ArgumentError
        If `beta` is not such a number.

    Examples
    --------
    >>> best = best_f(ScoreCounts([3, 2, 1], [2, 1, 1], [0, 0, 9]))
    >>> best.threshold, best.iou, round(best.f, 3)
    (2.0, 0.75, 0.857)
    """
    beta = as_real(beta, "beta", "a number from 1e-100 to 1e100", least=1e-100, most=1e100)
    counts = as_pooled(counts, ScoreCounts)
    points = tp, fp = cumulate(counts)
    if counts.scores.size == 0:
        return BestF(math.nan, 0, 0, 0, 0, beta)
    k = best_point(points, beta=beta)
    return BestF(float(counts.scores[k - 1]), int(tp[k]), int(fp[k]), int(tp[-1]), int(fp[-1]), beta)
