"""Counts of the pixel benchmark: how many positives and negatives have each score."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segbench.core.arrays import (
    LARGEST_TOTAL,
    FloatArray,
    IntArray,
    as_array,
    as_counts,
    as_floats,
    frozen,
    total_of,
    within_total,
)
from segbench.core.counts import Counts, noting_origin
from segbench.core.errors import ArgumentError
from segbench.core.levels import in_type_of
from segbench.core.messages import Message
from segbench.core.numbers import Brief
from segbench.core.operating_point import OperatingPoint
from segbench.core.settings import as_real, as_whole

_PARTS_AT_ONCE, _SCORES_AT_ONCE, _SUMS_AT_ONCE = 64, 2**20, 16
_SORTED_ABOVE = 2**18
_SCORES_PER_RANGE = 2**16


@dataclass(frozen=True, eq=False, repr=False)
class Thresholds(Brief):
    """Thresholds chosen on one set of images, to be applied to another; usable wherever an array is.

    Parameters
    ----------
    values : array of float64, shape (K,)
        In any order, repeats allowed; kept falling, each once.
    source : str
        Where they come from; counts taken at them keep it.

    Raises
    ------
    ArgumentError
        If a threshold is NaN.

    Examples
    --------
    >>> Thresholds([0.2, 0.7], "hull of the tuning set").values
    array([0.7, 0.2])
    """

    values: FloatArray
    source: str

    def __post_init__(self) -> None:
        values: FloatArray = np.unique(as_floats(self.values, "thresholds"))[::-1]
        if np.isnan(values).any():
            raise ArgumentError(Message("not-a-number", "{argument} hold NaN; expected numbers", argument="thresholds"))
        object.__setattr__(self, "values", frozen(values))

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of measuring that stand for them."""
        return {"thresholds": tuple(self.values.tolist()), "thresholds_source": self.source}

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:  # noqa: ANN401, FBT001 - NumPy's protocol
        return np.array(self.values, dtype=dtype, copy=copy)

    def __len__(self) -> int:
        return int(np.size(self.values))


@dataclass(frozen=True, eq=False, repr=False)
class ScoreCounts(Counts):
    """How many positive and negative pixels have each score, of an image or of many.

    Counts add with ``+``; the sum does not depend on order or grouping. They are exact, at 12 to 24 bytes per distinct
    score.

    Parameters
    ----------
    scores : array of float, shape (L,)
        Distinct scores, falling. All NaN for a curve given by its points, where scores are not known.
    positives, negatives : array of int, shape (L,)
        Pixels with that score, by ground truth.
    ignored : int
        Pixels left out (void, outside the field of view).
    threshold_source : str
        Where the thresholds come from when they were not the scores themselves, for instance a tuning set; a sum keeps
        what all its parts share.
    of_predictions : bool
        Whether `scores` are the values of prediction files or arrays, as `segbench.count` finds them; False for
        a curve given by its points and for counts at chosen thresholds. A sum needs it of all its parts.

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

    kind: ClassVar[str] = "scores"
    of_tiles: ClassVar[bool] = True

    scores: FloatArray
    positives: IntArray
    negatives: IntArray
    ignored: int = 0
    threshold_source: str = ""
    of_predictions: bool = False

    def __post_init__(self) -> None:
        scores = as_array(self.scores, "scores")
        if scores.dtype not in (np.float32, np.float64):
            scores = as_floats(scores, "scores")
        if scores.ndim != 1:
            raise ArgumentError(
                Message(
                    "wrong-shape",
                    "{argument} has shape ({shape}), expected one dimension",
                    argument="scores",
                    shape=scores.shape,
                )
            )
        if not np.all(scores[1:] < scores[:-1]) and not np.all(np.isnan(scores)):
            raise ArgumentError(Message("not-falling", "scores must be strictly decreasing"))
        object.__setattr__(self, "scores", frozen(scores))
        for name in ("positives", "negatives"):
            counts = as_counts(getattr(self, name), name)
            if counts.shape != scores.shape:
                raise ArgumentError(
                    Message(
                        "other-length",
                        "{argument} has {found} entries for {expected} scores",
                        argument=name,
                        found=counts.size,
                        expected=scores.size,
                    )
                )
            within_total(total_of(counts), name)
            object.__setattr__(self, name, counts)
        object.__setattr__(self, "ignored", as_whole(self.ignored, "ignored", most=LARGEST_TOTAL))

    @property
    def total_positives(self) -> int:
        """Positive pixels in all, P."""
        return total_of(self.positives)

    @property
    def total_negatives(self) -> int:
        """Negative pixels in all, N."""
        return total_of(self.negatives)

    @property
    def scores_known(self) -> bool:
        """False for a curve given by its points alone."""
        return not (self.scores.size and np.isnan(self.scores[0]))

    @property
    def two_valued(self) -> bool:
        """Whether the predictions hold at most two values, so that they are masks; False where that is not known."""
        return self.of_predictions and 0 < self.scores.size <= 2

    @property
    def ground_truth(self) -> str:
        """What the counts say about the ground truth."""
        return f"{self.total_positives} positives and {self.total_negatives} negatives"

    def __eq__(self, other: object) -> bool:
        """Return whether scores, counts and ignored pixels are the same."""
        if not isinstance(other, ScoreCounts):
            return NotImplemented
        return (
            np.array_equal(self.scores, other.scores, equal_nan=True)
            and np.array_equal(self.positives, other.positives)
            and np.array_equal(self.negatives, other.negatives)
            and self.ignored == other.ignored
        )

    __hash__ = None  # arrays have no hash

    @classmethod
    @noting_origin
    def sum(cls, counts: Iterable[ScoreCounts]) -> ScoreCounts:
        """Pool any number of counts; none at all gives empty counts."""
        pool = Pool()
        for part in counts:
            pool.add(part)
        return pool.total()

    @classmethod
    def from_points(
        cls, tp: ArrayLike, fp: ArrayLike, positives: int, negatives: int, *, thresholds: ArrayLike | None = None
    ) -> ScoreCounts:
        """Return the counts of a curve given by its points.

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
            raise ArgumentError(Message("other-length", "tp has {tp:many point}, fp has {fp}", tp=tp.size, fp=fp.size))
        if tp.size and (tp.max() > positives or fp.max() > negatives):
            raise ArgumentError(
                Message(
                    "beyond-totals",
                    "a point reaches {tp} true and {fp} false positives, "
                    "but there are {positives} positives and {negatives} negatives",
                    tp=int(tp.max()),
                    fp=int(fp.max()),
                    positives=positives,
                    negatives=negatives,
                )
            )
        gained_tp = np.diff(tp, prepend=0, append=positives)
        gained_fp = np.diff(fp, prepend=0, append=negatives)
        if min(gained_tp.min(), gained_fp.min()) < 0:
            raise ArgumentError(
                Message("falling-counts", "true and false positives must not decrease from one point to the next")
            )
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

        Returns
        -------
        ScoreCounts
            Its scores are the thresholds, falling, then minus infinity.

        Raises
        ------
        ArgumentError
            If a threshold is NaN, or the scores are not known.

        Examples
        --------
        >>> ScoreCounts([3, 2, 1], [1, 1, 1], [0, 2, 5]).at([2]).negatives
        array([2, 5])
        """
        source = source or getattr(thresholds, "source", "thresholds given")
        levels = np.unique(np.append(as_floats(thresholds, "thresholds"), -np.inf))[::-1]
        ends = self._ends(levels)
        positives, negatives = (
            np.diff(np.append(0, np.cumsum(counts, dtype=np.int64))[ends], prepend=0)
            for counts in (self.positives, self.negatives)
        )
        return ScoreCounts(levels, positives, negatives, self.ignored, threshold_source=source)

    def operating_point(self, threshold: float) -> OperatingPoint:
        """Compute the confusion counts at ``score >= threshold``, with precision, recall, F, IoU and others.

        Parameters
        ----------
        threshold : float
            Any number; infinite where nothing is predicted.

        Returns
        -------
        OperatingPoint

        Raises
        ------
        ArgumentError
            If `threshold` is not a number, or the scores are not known.

        Examples
        --------
        >>> point = ScoreCounts([0.9, 0.5, 0.1], [3, 1, 0], [0, 2, 7]).operating_point(0.5)
        >>> point.tp, point.fp, point.recall, round(point.iou, 3)
        (4, 2, 1.0, 0.667)
        """
        untyped: object = threshold  # callers may have no type checker
        if not (isinstance(untyped, (float, np.floating)) and np.isinf(untyped)):
            threshold = as_real(untyped, "threshold", "a number", least=-np.inf, most=np.inf)
        above = slice(int(self._ends(np.array([threshold]))[0]))
        tp, fp = (total_of(part[above]) for part in (self.positives, self.negatives))
        return OperatingPoint(float(threshold), tp, fp, self.total_positives, self.total_negatives)

    def _ends(self, thresholds: FloatArray) -> NDArray[np.intp]:
        """Count the scores that reach each threshold."""
        if np.isnan(thresholds).any():
            raise ArgumentError(Message("not-a-number", "{argument} hold NaN; expected numbers", argument="thresholds"))
        if not self.scores_known:
            raise ArgumentError(Message("thresholds-unknown", "curves given by points have no scores for thresholds"))
        return np.searchsorted(-self.scores, -in_type_of(self.scores.dtype, thresholds), "right")

    def part(self, start: int, stop: int) -> ScoreCounts:
        """Return the counts of the scores from one index to another; ignored pixels belong to the first score."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        sliced = {name: value[start:stop] for name, value in values.items() if isinstance(value, np.ndarray)}
        return ScoreCounts.unchecked(**{**values, **sliced, "ignored": self.ignored if start == 0 else 0})

    @property
    def parts(self) -> Mapping[str, ScoreCounts]:
        """Of many scores consecutive ranges, by the highest score of each."""
        size = self.scores.size if self.scores_known else 0
        starts = range(0, size, _SCORES_PER_RANGE) if size > _SCORES_PER_RANGE else ()
        return {str(float(self.scores[start])): self.part(start, start + _SCORES_PER_RANGE) for start in starts}

    @classmethod
    def of_parts(cls, parts: Mapping[str, ScoreCounts]) -> ScoreCounts:
        """Put consecutive ranges together, the highest scores first."""
        if not parts:
            return cls.sum(())
        ranges = list(parts.values())
        scores, positives, negatives = (
            np.concatenate([getattr(counts, name) for counts in ranges])
            for name in ("scores", "positives", "negatives")
        )
        ignored = sum(counts.ignored for counts in ranges)
        return cls(scores, positives, negatives, ignored, ranges[0].threshold_source, ranges[0].of_predictions)

    def between(self, lowest: float, below: float) -> ScoreCounts:
        """Return the counts of the scores from `lowest` up to, not including, `below`, without ignored pixels."""
        start, stop = np.searchsorted(-self.scores, (-below, -lowest), "right").tolist()
        return replace(self.part(0 if below == np.inf else start, stop), ignored=0)


class Pool:
    """A growing sum of counts: parts are merged many at a time, so that none is merged often."""

    def __init__(self) -> None:
        self._sums: list[ScoreCounts] = []
        self._waiting: list[ScoreCounts] = []
        self._scores_waiting = 0

    def add(self, counts: ScoreCounts) -> None:
        """Add the counts of an image."""
        self._waiting.append(counts)
        self._scores_waiting += counts.scores.size
        if len(self._waiting) == _PARTS_AT_ONCE or self._scores_waiting > _SCORES_AT_ONCE:
            self._sums.append(pooled(self._waiting))
            self._waiting, self._scores_waiting = [], 0
            if len(self._sums) == _SUMS_AT_ONCE:
                self._sums = [pooled(self._sums)]

    @property
    def scores_held(self) -> int:
        """Scores in memory: at least as many as the total has."""
        return sum(part.scores.size for part in self._sums) + self._scores_waiting

    def total(self) -> ScoreCounts:
        """Return the sum of all counts that were added."""
        self._sums, self._waiting, self._scores_waiting = [pooled([*self._sums, *self._waiting])], [], 0
        return self._sums[0]


def range_of_scores(counts: ScoreCounts) -> tuple[float, float]:
    """Return the lowest and the highest score; nan without any."""
    if not counts.scores.size:
        return math.nan, math.nan
    return float(counts.scores[-1]), float(counts.scores[0])


def pooled(parts: Sequence[ScoreCounts]) -> ScoreCounts:
    """Sum counts that all lie in memory, in one step."""
    nothing = np.empty(0, np.int64)
    present = [part for part in parts if part.scores.size] or [ScoreCounts(np.empty(0), nothing, nothing)]
    columns = [[getattr(part, name) for part in present] for name in ("scores", "positives", "negatives")]
    scores, positives, negatives = (column[0] if len(present) == 1 else np.concatenate(column) for column in columns)
    return _total(
        scores,
        positives,
        negatives,
        is_falling=len(present) == 1,
        ignored=sum(part.ignored for part in parts),
        sources={part.threshold_source for part in present},
        of_predictions=all(part.of_predictions for part in parts),
    )


def _total(
    scores: FloatArray,
    positives: IntArray,
    negatives: IntArray,
    *,
    is_falling: bool,
    ignored: int,
    sources: Collection[str],
    of_predictions: bool,
) -> ScoreCounts:
    """Sum the counts of images that lie one after another; of a single one scores fall already."""
    if np.isnan(scores).any():
        raise ArgumentError(Message("thresholds-unknown", "curves given by points without thresholds cannot be added"))
    if not is_falling:
        scores, positives, negatives = _merged(scores, positives, negatives)
    return ScoreCounts.unchecked(
        scores=scores,
        positives=positives.astype(np.int64, copy=False),
        negatives=negatives.astype(np.int64, copy=False),
        ignored=as_whole(ignored, "ignored", most=LARGEST_TOTAL),
        threshold_source=next(iter(sources)) if len(sources) == 1 else "",
        of_predictions=of_predictions,
    )


def _merged(scores: FloatArray, positives: IntArray, negatives: IntArray) -> tuple[FloatArray, IntArray, IntArray]:
    """Add the counts of equal scores up."""
    within_total(total_of(positives), "positives")
    within_total(total_of(negatives), "negatives")
    if scores.dtype == np.float32 and scores.size > _SORTED_ABOVE:
        from segbench.core.sorting import added_up

        return added_up(scores.astype(np.float32, copy=False), positives, negatives)
    order = np.argsort(-scores, kind="stable")
    scores = scores[order]
    last = np.flatnonzero(np.append(scores[1:] != scores[:-1], True))  # the last entry of each distinct score
    ordered = positives[order], negatives[order]
    positives, negatives = (np.diff(np.cumsum(part, dtype=np.int64)[last], prepend=0) for part in ordered)
    return scores[last], positives, negatives


@dataclass(frozen=True, eq=False)
class ScoreBatch:
    """The counts of several images, one after another: scores fall within each, and `ends` is where each ends."""

    scores: FloatArray
    positives: IntArray
    negatives: IntArray
    ends: NDArray[np.int64]
    ignored: int
    """Pixels left out, of all images."""
    sources: Sequence[str]
    """Where the thresholds of each image come from."""
    of_predictions: bool
    """Whether the scores of all images are values of predictions."""
    single: bool
    """Whether all scores were float32."""

    @classmethod
    def of(cls, images: Sequence[ScoreCounts]) -> ScoreBatch:
        """Concatenate the counts of some images."""
        if len(images) == 1:  # which may be very long
            scores, positives, negatives = images[0].scores, images[0].positives, images[0].negatives
        else:
            none: NDArray[np.int64] = np.empty(0, np.int64)  # so that any batch has the same types
            scores = np.concatenate([np.empty(0), *(image.scores for image in images)])
            positives = np.concatenate([none, *(image.positives for image in images)])
            negatives = np.concatenate([none, *(image.negatives for image in images)])
        return cls(
            scores,
            positives,
            negatives,
            np.cumsum([image.scores.size for image in images], dtype=np.int64),
            ignored=sum(image.ignored for image in images),
            sources=[image.threshold_source for image in images],
            of_predictions=all(image.of_predictions for image in images),
            single=all(image.scores.dtype == np.float32 for image in images if image.scores.size),
        )

    def total(self) -> ScoreCounts:
        """Sum the counts of all images."""
        sizes = np.diff(self.ends, prepend=0)
        return _total(
            self.scores.astype(np.float32, copy=False) if self.single and self.scores.size else self.scores,
            self.positives,
            self.negatives,
            is_falling=int(np.count_nonzero(sizes)) <= 1,
            ignored=self.ignored,
            sources={source for source, size in zip(self.sources, sizes.tolist(), strict=True) if size},
            of_predictions=self.of_predictions,
        )

    @property
    def slices(self) -> Iterator[slice]:
        """The range of the scores of each image."""
        return map(slice, [0, *self.ends[:-1].tolist()], self.ends.tolist())

    @property
    def highest(self) -> FloatArray:
        """The highest score of each image, 0 without pixels."""
        highest, has_pixels = np.zeros(self.ends.size), np.diff(self.ends, prepend=0) > 0
        highest[has_pixels] = self.scores[np.append(0, self.ends)[:-1][has_pixels]]
        return highest

    def totals(self, counts: IntArray) -> NDArray[np.int64]:
        """Add up counts of the scores for each image."""
        running = np.append(0, np.cumsum(counts, dtype=np.int64))
        totals: NDArray[np.int64] = np.diff(running[self.ends], prepend=0)
        return totals
