"""Whether one curve is nowhere below another; decided in exact arithmetic.

Both curves are read as false positives at t true positives, straight between points. One dominates the other when it
never has more; over the same P and N that is dominance in ROC space and in PR space at once.

References
----------
Davis and Goadrich, ICML 2006, theorem 3.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.counts import Pooled, as_pooled
from segbench.core.errors import ArgumentError
from segbench.core.messages import Message
from segbench.core.scores import ScoreCounts
from segbench.curves.points import Points, cumulate


@dataclass(frozen=True)
class Dominance:
    """Whether curve a is nowhere below curve b, in ROC space and in PR space.

    Parameters
    ----------
    holds : bool
        True where a has at most b's false positives at every recall.
    witness_recall : float
        A recall at which a has more; nan where `holds`.
    """

    holds: bool
    witness_recall: float


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
            Message(
                "other-ground-truth",
                "a has {positives} positives and {negatives} negatives, b has {other_positives} and {other_negatives}; "
                "curves are compared over the same ground truth",
                positives=totals[0][0],
                negatives=totals[0][1],
                other_positives=totals[1][0],
                other_negatives=totals[1][1],
            )
        )
    if min(totals[0]) == 0:
        raise ArgumentError(
            Message(
                "one-class",
                "{positives} positives and {negatives} negatives; both are needed",
                positives=totals[0][0],
                negatives=totals[0][1],
            )
        )
    witness = _witness(*(cumulate(counts) for counts in (counts_a, counts_b)))
    return Dominance(witness is None, math.nan if witness is None else float(witness / totals[0][0]))


def _witness(curve_a: Points, curve_b: Points) -> Fraction | None:
    """Return the number of true positives where a's excess of false positives over b is largest, or None."""
    # On a stretch between breaks both curves are straight. The excess at its ends is held as whole numbers over one
    # positive base, so that its sign is exact at any counts.
    curves = curve_a, curve_b
    breaks = np.unique(np.concatenate([tp for tp, _ in curves]).astype(np.int64))
    (starts_a, ends_a, width_a), (starts_b, ends_b, width_b) = (_at_ends(tp, fp, breaks) for tp, fp in curves)
    at_starts, at_ends = starts_a * width_b - starts_b * width_a, ends_a * width_b - ends_b * width_a
    excess = np.maximum(at_starts, at_ends) / (width_a * width_b)
    worst = int(excess.argmax())
    if excess[worst] <= 0:
        return None
    start, end = int(breaks[worst]), int(breaks[worst + 1])
    at_start, at_end = int(at_starts[worst]), int(at_ends[worst])
    if at_end >= at_start:
        return Fraction(end)
    # Just after a jump the excess is greatest, but at the jump itself both curves hold a range of false positives.
    with_excess = min(Fraction(1), Fraction(at_start, at_start - at_end))  # the share of the stretch
    return start + with_excess * (end - start) / 2


def _at_ends(tp: NDArray[Any], fp: NDArray[Any], breaks: NDArray[np.int64]) -> tuple[NDArray[Any], ...]:
    """Return false positives just after the start and before the end of each stretch, as integers over a width."""
    after = np.searchsorted(tp, breaks[1:], "left")  # the first point at or beyond the end
    left, low = tp[after - 1].astype(object), fp[after - 1].astype(object)
    width, gained = tp[after].astype(object) - left, fp[after].astype(object) - low
    edges = breaks.astype(object)
    return low * width + gained * (edges[:-1] - left), low * width + gained * (edges[1:] - left), width
