"""Which of two curves is above the other, everywhere or over which recalls; decided in exact arithmetic.

Both curves are read as false positives at t true positives, straight between points. One dominates the other when it
never has more; over the same P and N that is dominance in ROC space and in PR space at once, as a whole and over every
range of recall.

References
----------
Davis and Goadrich, ICML 2006, theorem 3.2; Sun, Zheng and Huang, "ROC and PR", 2013, section 3.3.1.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segbench.core.counts import Pooled, as_pooled
from segbench.core.errors import ArgumentError
from segbench.core.scores import ScoreCounts
from segbench.curves.points import cumulate

Leader = Literal["a", "b", "equal"]


@dataclass(frozen=True)
class RecallRange:
    """A range of recall over which one curve is above the other.

    Parameters
    ----------
    low, high : float
        Ends of the range.
    leader : {"a", "b", "equal"}
        The curve with fewer false positives, and so with higher precision and lower false positive rate.
    """

    low: float
    high: float
    leader: Leader


@dataclass(frozen=True)
class Dominance:
    """Whether curve a is nowhere below curve b, in ROC space and in PR space.

    Parameters
    ----------
    holds : bool
        True where a has at most b's false positives at every recall.
    witness_recall : float
        A recall at which a has more; nan where `holds`.
    crossings : tuple of float
        Recalls at which the lead passes from one curve to the other.
    ranges : tuple of RecallRange
        Who leads where, from recall 0 to 1.
    """

    holds: bool
    witness_recall: float
    crossings: tuple[float, ...]
    ranges: tuple[RecallRange, ...]


def dominates(counts_a: ScoreCounts | Pooled, counts_b: ScoreCounts | Pooled) -> Dominance:
    """Decide whether curve a is nowhere below curve b.

    Parameters
    ----------
    counts_a, counts_b : ScoreCounts or Result
        Two methods on the same ground truth: the same number of positives, the same number of negatives.

    Returns
    -------
    Dominance
        True for two equal curves, either way round.

    Raises
    ------
    ArgumentError
        If totals differ, or there are no positives or no negatives.

    Examples
    --------
    >>> a, b = ScoreCounts([2, 1], [3, 1], [0, 9]), ScoreCounts([2, 1], [3, 1], [2, 7])
    >>> dominates(a, b).holds, dominates(b, a).holds, dominates(b, a).witness_recall
    (True, False, 0.75)
    """
    counts_a, counts_b = as_pooled(counts_a, ScoreCounts, "counts_a"), as_pooled(counts_b, ScoreCounts, "counts_b")
    totals = [(counts.total_positives, counts.total_negatives) for counts in (counts_a, counts_b)]
    if totals[0] != totals[1]:
        raise ArgumentError(
            f"a has {totals[0][0]} positives and {totals[0][1]} negatives, b has {totals[1][0]} and {totals[1][1]}; "
            "curves are compared over the same ground truth"
        )
    if min(totals[0]) == 0:
        raise ArgumentError(f"{totals[0][0]} positives and {totals[0][1]} negatives; both are needed")
    pieces = _pieces(counts_a, counts_b)
    total = totals[0][0]
    ranges = _ranges(pieces, total)
    witness = _witness(pieces)
    leads = [part for part in ranges if part.leader != "equal"]
    return Dominance(
        holds=witness is None,
        witness_recall=math.nan if witness is None else float(witness / total),
        crossings=tuple(later.low for earlier, later in itertools.pairwise(leads) if earlier.leader != later.leader),
        ranges=ranges,
    )


class _Piece(NamedTuple):
    """A stretch of true positives on which both curves are straight, and a's excess of false positives at its ends.

    The excess comes as two whole numbers over one positive base, so that its sign is exact at any counts.
    """

    start: int | Fraction
    end: int | Fraction
    at_start: int
    at_end: int
    base: int

    @property
    def leader(self) -> Leader:
        excess = self.at_start + self.at_end
        return "equal" if excess == 0 else "a" if excess < 0 else "b"

    @property
    def most(self) -> float:
        return max(self.at_start, self.at_end) / self.base


def _pieces(counts_a: ScoreCounts, counts_b: ScoreCounts) -> list[_Piece]:
    curves = [cumulate(counts) for counts in (counts_a, counts_b)]
    breaks = np.unique(np.concatenate([tp for tp, _ in curves]).astype(np.int64))
    (starts_a, ends_a, width_a), (starts_b, ends_b, width_b) = (_at_ends(tp, fp, breaks) for tp, fp in curves)
    at_starts, at_ends = starts_a * width_b - starts_b * width_a, ends_a * width_b - ends_b * width_a
    bounds = breaks.tolist()
    pieces: list[_Piece] = []
    for stretch in zip(bounds, bounds[1:], at_starts, at_ends, width_a * width_b, strict=False):
        start, end, at_start, at_end, base = stretch
        if at_start * at_end < 0:
            middle = start + Fraction((end - start) * at_start, at_start - at_end)
            pieces += [_Piece(start, middle, at_start, 0, base), _Piece(middle, end, 0, at_end, base)]
        else:
            pieces.append(_Piece(*stretch))
    return pieces


def _at_ends(tp: NDArray[Any], fp: NDArray[Any], breaks: NDArray[np.int64]) -> tuple[NDArray[Any], ...]:
    """Give false positives just after the start and just before the end of each stretch between breaks.

    Both are Python integers over the third: the width of the curve's own segment there.
    """
    after = np.searchsorted(tp, breaks[1:], "left")  # the first point at or beyond the end
    left, low = tp[after - 1].astype(object), fp[after - 1].astype(object)
    width, gained = tp[after].astype(object) - left, fp[after].astype(object) - low
    edges = breaks.astype(object)
    return low * width + gained * (edges[:-1] - left), low * width + gained * (edges[1:] - left), width


def _ranges(pieces: list[_Piece], total: int) -> tuple[RecallRange, ...]:
    ranges: list[RecallRange] = []
    for leader, run in itertools.groupby(pieces, key=lambda piece: piece.leader):
        stretch = list(run)
        ranges.append(RecallRange(float(stretch[0].start / total), float(stretch[-1].end / total), leader))
    return tuple(ranges)


def _witness(pieces: list[_Piece]) -> int | Fraction | None:
    """Give the true positives at which a has most false positives more than b, if it has any."""
    worst = max(pieces, key=lambda piece: piece.most)
    if worst.most <= 0:
        return None
    # Just after a jump the excess is greatest, but at the jump itself both curves hold a range of false positives.
    return worst.end if worst.at_end >= worst.at_start else Fraction(worst.start + worst.end) / 2
