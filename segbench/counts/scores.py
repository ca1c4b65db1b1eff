"""Counts of the pixel benchmark: how many positives and negatives have each score."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segbench.arguments import as_whole
from segbench.arrays import as_array, as_floats
from segbench.counts.arrays import LARGEST_TOTAL, FloatArray, IntArray, as_counts, frozen, total_of, within_total
from segbench.counts.bins import bin_of
from segbench.counts.thresholds import Thresholds
from segbench.display import Displayed
from segbench.errors import ArgumentError

MAX_DISTINCT = 65_536
"""Distinct scores kept before counts fall back to bins: as many as 16 bits have."""

_POOLED_AT_ONCE = 64


@dataclass(frozen=True, eq=False)
class ScoreCounts(Displayed):
    """How many positive and negative pixels have each score, of an image or of many.

    Counts add with ``+``; the sum does not depend on order or grouping. While they hold at most `MAX_DISTINCT` distinct
    scores they are exact. A sum that would hold more, or any part of which is binned, is kept in the bins of
    `segbench.counts.bins`; every figure drawn from it then has certain bounds.

    Parameters
    ----------
    scores : array of float, shape (L,)
        Distinct scores, falling. Of a bin, the lowest score seen in it, so that ``score >= scores[k]`` gives exactly
        the counts up to and including ``k``. All NaN for a curve given by its points, where scores are not known.
    positives, negatives : array of int, shape (L,)
        Pixels with that score, by ground truth.
    ignored : int
        Pixels left out (void, outside the field of view).
    highest : array of float, shape (L,), optional
        Of bins, the highest score seen in each; None where counts are exact. A bin whose highest score is its lowest
        holds one score and is exact.
    exact : bool
        Never fall back to bins, however many distinct scores there are: 12 to 24 bytes a distinct score.
    threshold_source : str
        Where the thresholds come from when they were not the scores themselves, for instance a tuning set; a sum keeps
        what all its parts share.

    Raises
    ------
    ArgumentError
        If shapes differ, scores do not fall, a count is negative, or a total is above 2**56.

    Examples
    --------
    >>> counts = ScoreCounts([0.9, 0.1], [3, 1], [0, 6])
    >>> counts.total_positives, counts.total_negatives
    (4, 6)
    >>> (counts + counts).positives
    array([6, 2])
    """

    scores: FloatArray
    positives: IntArray
    negatives: IntArray
    ignored: int = 0
    highest: FloatArray | None = None
    exact: bool = False
    threshold_source: str = ""

    def __post_init__(self) -> None:
        scores = _as_scores(self.scores, "scores")
        if not np.all(np.isnan(scores)) and not np.all(scores[1:] < scores[:-1]):
            raise ArgumentError("scores must fall, each once")
        object.__setattr__(self, "scores", scores)
        for name in ("positives", "negatives"):
            counts = as_counts(getattr(self, name), name)
            if counts.shape != scores.shape:
                raise ArgumentError(f"{name} has {counts.size} entries for {scores.size} scores")
            within_total(total_of(counts), name)
            object.__setattr__(self, name, counts)
        if self.highest is not None:
            highest = _as_scores(self.highest, "highest")
            if highest.shape != scores.shape or not np.all(highest >= scores):
                raise ArgumentError("highest must hold a score at or above each of scores")
            object.__setattr__(self, "highest", highest)
        object.__setattr__(self, "ignored", as_whole(self.ignored, "ignored", most=LARGEST_TOTAL))
        if self.exact and self.binned:
            raise ArgumentError("counts in bins are not exact")

    @property
    def total_positives(self) -> int:
        """Positive pixels in all, P."""
        return total_of(self.positives)

    @property
    def total_negatives(self) -> int:
        """Negative pixels in all, N."""
        return total_of(self.negatives)

    @property
    def binned(self) -> bool:
        """Whether scores are kept in bins."""
        return self.highest is not None

    @property
    def scores_known(self) -> bool:
        """False for a curve given by its points alone."""
        return not (self.scores.size and np.isnan(self.scores[0]))

    def __add__(self, other: ScoreCounts) -> ScoreCounts:
        """Pool two images or sets of images."""
        return ScoreCounts.sum((self, other))

    def __eq__(self, other: object) -> bool:
        """Tell whether scores, counts, bins and ignored pixels are the same."""
        if not isinstance(other, ScoreCounts):
            return NotImplemented
        return (
            np.array_equal(self.scores, other.scores, equal_nan=True)
            and np.array_equal(self.positives, other.positives)
            and np.array_equal(self.negatives, other.negatives)
            and self.ignored == other.ignored
            and self.binned == other.binned
            and (self.highest is None or other.highest is None or np.array_equal(self.highest, other.highest))
        )

    __hash__ = None  # type: ignore[assignment]  # arrays have no hash

    @classmethod
    def sum(cls, counts: Iterable[ScoreCounts]) -> ScoreCounts:
        """Pool any number of counts; none at all gives empty counts."""
        waiting: list[ScoreCounts] = []
        for part in counts:
            waiting.append(part)
            if len(waiting) == _POOLED_AT_ONCE:
                waiting = [_pool(waiting)]
        return _pool(waiting)

    @classmethod
    def from_points(
        cls, tp: ArrayLike, fp: ArrayLike, positives: int, negatives: int, *, thresholds: ArrayLike | None = None
    ) -> ScoreCounts:
        """Counts of a curve given by its points.

        Parameters
        ----------
        tp, fp : array of int, shape (K,)
            True and false positives, neither falling. (0, 0) and (`positives`, `negatives`) are added where missing.
        positives, negatives : int
            Totals of the ground truth.
        thresholds : array of float, shape (K,), optional
            Scores at which the points were taken, falling. Without them counts cannot be added to others.

        Raises
        ------
        ArgumentError
            If points fall, or lie outside the totals: no ranking has such points.

        Examples
        --------
        >>> ScoreCounts.from_points([5, 10], [5, 30], 20, 2000).negatives
        array([   5,   25, 1970])
        """
        positives = as_whole(positives, "positives", most=LARGEST_TOTAL)
        negatives = as_whole(negatives, "negatives", most=LARGEST_TOTAL)
        tp, fp = as_counts(tp, "tp"), as_counts(fp, "fp")
        if tp.shape != fp.shape:
            raise ArgumentError(f"tp has {tp.size} points, fp has {fp.size}")
        if tp.size and (tp.max() > positives or fp.max() > negatives):
            raise ArgumentError(
                f"a point reaches {tp.max()} true and {fp.max()} false positives, "
                f"but there are {positives} positives and {negatives} negatives"
            )
        gained_tp = np.diff(tp, prepend=0, append=positives)
        gained_fp = np.diff(fp, prepend=0, append=negatives)
        if min(gained_tp.min(), gained_fp.min()) < 0:
            raise ArgumentError("true and false positives must not fall from one point to the next")
        if thresholds is None:
            scores = np.full(gained_tp.size, np.nan)
        else:
            scores = np.append(as_floats(thresholds, "thresholds"), -np.inf)
        moved = (gained_tp > 0) | (gained_fp > 0)
        return cls(scores[moved], gained_tp[moved], gained_fp[moved])

    def at(self, thresholds: ArrayLike | Thresholds, *, source: str = "") -> ScoreCounts:
        """Keep only the points of the curve at given thresholds, ``score >= threshold``.

        Parameters
        ----------
        thresholds : array of float, or Thresholds
            In any order, repeats allowed. Scores below the lowest are kept as one last level at minus infinity.
        source : str
            Where the thresholds come from, when they are no `Thresholds` and do not say so themselves; kept as
            `threshold_source`.

        Raises
        ------
        ArgumentError
            If a threshold is NaN, the scores are not known, or a threshold falls inside a bin.

        Examples
        --------
        >>> ScoreCounts([3, 2, 1], [1, 1, 1], [0, 2, 5]).at([2]).negatives
        array([2, 5])
        """
        source = source or getattr(thresholds, "source", "thresholds given")
        levels = np.unique(np.append(as_floats(thresholds, "thresholds"), -np.inf))[::-1]
        if np.isnan(levels).any() or not self.scores_known:
            raise ArgumentError("thresholds must be numbers, and the scores of the counts known")
        if self.highest is not None:
            inside = np.searchsorted(-self.highest, -levels, "right") != np.searchsorted(-self.scores, -levels, "right")
            if inside.any():
                raise ArgumentError(
                    f"threshold {levels[inside][0]} falls inside a bin of scores; count with exact=True, or take "
                    "thresholds from counts kept in bins too, tuning.in_bins()"
                )
        ends = np.searchsorted(-self.scores, -levels, "right")
        positives, negatives = (
            np.diff(np.append(0, np.cumsum(counts, dtype=np.int64))[ends], prepend=0)
            for counts in (self.positives, self.negatives)
        )
        return ScoreCounts(levels, positives, negatives, self.ignored, exact=self.exact, threshold_source=source)

    def in_bins(self) -> ScoreCounts:
        """Give the same counts kept in bins."""
        return _pool([self], in_bins=True)


def _as_scores(values: ArrayLike, name: str) -> FloatArray:
    scores = as_array(values, name)
    if scores.dtype not in (np.float32, np.float64):
        scores = as_floats(scores, name)
    if scores.ndim != 1:
        raise ArgumentError(f"{name} has shape {scores.shape}, expected one dimension")
    return frozen(scores)


def _pool(parts: list[ScoreCounts], *, in_bins: bool = False) -> ScoreCounts:
    ignored = sum(part.ignored for part in parts)
    exact = any(part.exact for part in parts)
    if exact and (in_bins or not all(part.exact for part in parts)):
        raise ArgumentError("counts kept exact on demand add only to others of their kind, and are not binned")
    present = [part for part in parts if part.scores.size]
    if not present:
        return ScoreCounts(np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64), ignored, exact=exact)
    if not all(part.scores_known for part in present):
        raise ArgumentError("curves given by points without thresholds cannot be added or binned")
    lowest = np.concatenate([part.scores for part in present])
    highest = np.concatenate([part.scores if part.highest is None else part.highest for part in present])
    in_bins = in_bins or any(part.binned for part in present)
    for name in ("positives", "negatives"):
        within_total(sum(total_of(getattr(part, name)) for part in present), name)
    keys: NDArray[Any] = bin_of(lowest) if in_bins else lowest
    order = np.argsort(-keys, kind="stable") if len(present) > 1 else slice(None)
    keys = keys[order]
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    if not (in_bins or exact) and starts.size > MAX_DISTINCT:
        return _pool(parts, in_bins=True)
    positives, negatives = (
        np.add.reduceat(np.concatenate([getattr(part, name) for part in present])[order], starts, dtype=np.int64)
        for name in ("positives", "negatives")
    )
    lowest = np.minimum.reduceat(lowest[order], starts)
    top = np.maximum.reduceat(highest[order], starts) if in_bins else None
    sources = {part.threshold_source for part in present}
    source = sources.pop() if len(sources) == 1 else ""
    return ScoreCounts(lowest, positives, negatives, ignored, top, exact, source)
