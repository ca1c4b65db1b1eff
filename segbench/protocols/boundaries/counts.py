"""Counts of the boundary benchmark: four integers a threshold, as in the ``*_ev1.txt`` files of BSDS500."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from segbench.core.arrays import IntArray, within_total
from segbench.core.errors import ArgumentError
from segbench.core.messages import Message
from segbench.core.numbers import many
from segbench.protocols.common_thresholds import CountsAtThresholds


@dataclass(frozen=True, eq=False, repr=False)
class BoundaryCounts(CountsAtThresholds):
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
    crispness, maps : int
        The crispness of each map, added up in units of 2**-36, and the number of maps; 0 where it was not measured.

    Raises
    ------
    ArgumentError
        If lengths differ, thresholds do not rise, more is matched than there is, or a count is above 2**56.

    Examples
    --------
    >>> counts = BoundaryCounts([0.5], [8], [10], [4], [5])
    >>> (counts + counts).matched_gt
    array([16])
    """

    kind: ClassVar[str] = "boundaries"

    matched_gt: IntArray
    total_gt: IntArray
    matched_pred: IntArray
    total_pred: IntArray
    crispness: int = 0
    maps: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, counts in zip(self.arrays, self.rows, strict=True):
            within_total(int(counts.max(initial=0)), name)
        if np.any(self.matched_gt > self.total_gt) or np.any(self.matched_pred > self.total_pred):
            raise ArgumentError(Message("inconsistent-counts", "more pixels matched than counted"))

    @property
    def ground_truth(self) -> str:
        return f"{self.total_gt.max(initial=0)} ground-truth pixels at {many(self.thresholds.size, 'threshold')}"

    @property
    def has_pixels(self) -> bool:
        """Whether there is any pixel to match, in ground truth or prediction."""
        return bool(self.total_gt.any() or self.total_pred.any())
