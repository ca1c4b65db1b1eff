"""The points of a curve, cumulative integers from (0, 0) to (P, N), one a distinct score: hull and best F.

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
from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import FloatArray
from segbench.core.counts import Pooled, as_pooled, of_counts
from segbench.core.operating_point import Confusion, OperatingPoint, f_of
from segbench.core.scores import ScoreBatch, ScoreCounts
from segbench.core.settings import as_real

Points = tuple[NDArray[Any], NDArray[Any]]

_CLOSE = 1 - 1e-14


def cumulate(counts: ScoreCounts) -> Points:
    """Return true and false positives at each threshold, ``score >= threshold``, from (0, 0) to (P, N)."""
    return running(counts.positives), running(counts.negatives)


def hull_vertices(points: Points) -> NDArray[np.int64]:
    """Number the hull's vertices among cumulative points, the first and the last included."""
    from segbench.curves import kernels

    tp, fp = points
    differs = (tp[1:] != tp[:-1]) | (fp[1:] != fp[:-1])
    distinct = np.flatnonzero(np.append(True, differs))
    vertices = np.empty(distinct.size, np.int64)
    distinct_points = (tp, fp) if differs.all() else (tp[distinct], fp[distinct])
    number = kernels.hull_vertices(*distinct_points, vertices)
    return distinct[vertices[:number]]


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
    best, best_tp, best_base = 0, 0, 1
    for k in np.flatnonzero(ratio >= ratio.max() * _CLOSE).tolist():
        t, f = int(tp[k]), int(fp[k])
        # Multiplied through by the denominator of beta^2, so that every number is an integer.
        base = weight.numerator * positives + weight.denominator * (t + f)
        if t * best_base > best_tp * base:
            best, best_tp, best_base = k, t, base
    return best


def running(counts: NDArray[Any]) -> NDArray[Any]:
    """Add counts up from 0, in 32 bits where these hold the total."""
    from segbench.curves import kernels

    cumulative = np.empty(counts.size + 1, counts.dtype)
    if kernels.running(counts, cumulative) > np.iinfo(counts.dtype).max:
        cumulative = np.empty(counts.size + 1, np.int64)
        kernels.running(counts, cumulative)
    cumulative.flags.writeable = False
    return cumulative


@dataclass(frozen=True, eq=False)
class BestFs(Confusion):
    """The points with the best F of many images, one entry per image; see `BestF`."""

    thresholds: FloatArray
    highest: FloatArray  # the highest score, 0 without pixels

    @classmethod
    def joined(cls, parts: Sequence[BestFs]) -> BestFs:
        """Concatenate the images of parts, of which there is at least one."""
        return cls(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)))


def best_fs(images: ScoreBatch) -> BestFs:
    """Find the best F of each image (beta 1), as `best_f` does; without pixels the threshold is nan, counts are 0."""
    from segbench.curves import kernels

    best = np.zeros((images.ends.size, 5), np.int64)
    kernels.best_points(images.positives, images.negatives, images.ends, best)
    numbers, tp, fp, positives, negatives = best.T
    thresholds, known = np.full(numbers.size, np.nan), numbers > 0
    starts = np.append(0, images.ends)[:-1]
    thresholds[known] = images.scores[(starts + numbers - 1)[known]]
    return BestFs(tp, fp, positives, negatives, thresholds, images.highest)


@dataclass(frozen=True, repr=False)
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


@of_counts
def best_f(counts: ScoreCounts | Pooled, *, beta: float = 1.0) -> BestF:
    """Find the best F over all thresholds.

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
    if counts.scores.size == 0:
        return BestF(math.nan, 0, 0, 0, 0, beta)
    tp, fp = cumulate(counts)
    best = best_point((tp, fp), beta=beta)
    return BestF(float(counts.scores[best - 1]), int(tp[best]), int(fp[best]), int(tp[-1]), int(fp[-1]), beta)
