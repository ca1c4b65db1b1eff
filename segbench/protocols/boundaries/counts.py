"""Counts of the boundary benchmark: four integers a threshold, as in the ``*_ev1.txt`` files of BSDS500."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from segbench.core.arrays import as_floats
from segbench.core.counts import Counts
from segbench.core.errors import ArgumentError
from segbench.core.integers import FloatArray, IntArray, added, as_counts, frozen, within_total


@dataclass(frozen=True, eq=False)
class BoundaryCounts(Counts):
    """Matched and total boundary pixels of an image, or of many, threshold by threshold.

    Counts of the same thresholds add with ``+``; the sum does not depend on the order.

    Parameters
    ----------
    thresholds : array of float64, shape (K,)
        Rising scores; a prediction pixel is on where ``score >= threshold``.
    matched_gt, total_gt : array of int64, shape (K,)
        Ground-truth pixels that found a partner, and all of them, added up over annotators: recall.
    matched_pred, total_pred : array of int64, shape (K,)
        Prediction pixels that found a partner with any annotator, and all of them, each counted once: precision.

    Raises
    ------
    ArgumentError
        If lengths differ, thresholds do not rise, more is matched than there is, or a count is above 2**56.

    Examples
    --------
    >>> one = BoundaryCounts([0.5], [8], [10], [4], [5])
    >>> (one + one).matched_gt
    array([16])
    """

    kind: ClassVar[str] = "boundaries"

    thresholds: FloatArray
    matched_gt: IntArray
    total_gt: IntArray
    matched_pred: IntArray
    total_pred: IntArray

    def __post_init__(self) -> None:
        thresholds = as_floats(self.thresholds, "thresholds")
        object.__setattr__(self, "thresholds", frozen(thresholds))
        for name in ("matched_gt", "total_gt", "matched_pred", "total_pred"):
            counts = as_counts(getattr(self, name), name).astype(np.int64, copy=False)
            if counts.shape != thresholds.shape:
                raise ArgumentError(f"{name} has {counts.size} entries for {thresholds.size} thresholds")
            within_total(int(counts.max(initial=0)), name)
            object.__setattr__(self, name, counts)
        if np.any(np.diff(thresholds) <= 0):
            raise ArgumentError("thresholds must rise, each once")
        if np.any(self.matched_gt > self.total_gt) or np.any(self.matched_pred > self.total_pred):
            raise ArgumentError("more pixels matched than there are")

    @property
    def ground_truth(self) -> str:
        """What the counts tell of the ground truth, in words."""
        return f"{self.total_gt.max(initial=0)} ground-truth pixels at {self.thresholds.size} thresholds"

    @property
    def settings(self) -> tuple[object, ...]:
        """What has to be equal for counts to add up."""
        return tuple(self.thresholds.tolist())

    def __eq__(self, other: object) -> bool:
        """Tell whether every threshold and every count is the same."""
        if not isinstance(other, BoundaryCounts):
            return NotImplemented
        return all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("thresholds", "matched_gt", "total_gt", "matched_pred", "total_pred")
        )

    __hash__ = None  # type: ignore[assignment]  # arrays have no hash

    @classmethod
    def sum(cls, counts: Iterable[BoundaryCounts]) -> BoundaryCounts:
        """Pool any number of counts, at least one."""
        waiting = iter(counts)
        first = next(waiting, None)
        if first is None:
            raise ArgumentError("no images")
        totals = np.stack(first.rows)
        for part in waiting:
            if not np.array_equal(first.thresholds, part.thresholds):
                raise ArgumentError(
                    f"counts at {first.thresholds.size} thresholds and at {part.thresholds.size} others cannot be "
                    "added; count both at the same thresholds"
                )
            totals = added(totals, np.stack(part.rows), "boundary pixels")
        return cls(first.thresholds, *totals)

    @property
    def rows(self) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Matched and total ground truth, matched and total prediction."""
        return self.matched_gt, self.total_gt, self.matched_pred, self.total_pred

    @property
    def has_pixels(self) -> bool:
        """Whether there is any pixel to match, in ground truth or prediction."""
        return bool(self.total_gt.any() or self.total_pred.any())
