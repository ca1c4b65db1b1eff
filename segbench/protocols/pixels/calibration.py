"""Calibration of pixel scores: how far they are from the share of positives among the pixels that have them.

Conventions
-----------
1. Scores are probabilities of the positive class, between 0 and 1; what rounding puts outside, by at most 1e-6, is
   taken as 0 or 1. Of others, and of masks of 0 and 1, the metrics are undefined.
2. ``brier`` is the mean of (label - score)**2.
3. ``ece`` and ``mce`` are over 15 bins of equal width: the gap between mean score and share of positives, averaged over
   pixels, and the largest. Bins are closed on the left, the last one on both sides. Their edges are k / 15, and 15
   divides 255 and 65535, so every edge is a level of 8 and of 16 bits, and levels are compared without rounding.
4. ``ace`` is the gap averaged over pixels in 15 bins of as equal numbers of pixels as equal scores allow, which stay
   together: a score belongs to the bin into which the first of its pixels falls, from the lowest score up.

Differences from other code
---------------------------
1. scikit-learn (``calibration_curve``) and the code of Guo et al. close bins on the right, torchmetrics on the left.
2. Nixon et al. average over bins of exactly equal numbers of pixels, parting equal scores by their order.

References
----------
Brier: Verification of forecasts expressed in terms of probability. Monthly Weather Review 1950.
Guo, Pleiss, Sun, Weinberger: On Calibration of Modern Neural Networks. ICML 2017 (ECE, MCE).
Nixon, Dusenberry, Zhang, Jerfel, Tran: Measuring Calibration in Deep Learning. CVPR Workshops 2019 (ACE).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from segbench.core.arguments import Quantize
from segbench.core.integers import FloatArray
from segbench.core.levels import ROUNDING
from segbench.core.metric import Metric, shares
from segbench.core.scores import ScoreCounts
from segbench.core.table import Columns
from segbench.curves.masks import TWO_VALUED
from segbench.protocols.pixels.fixed_thresholds import FixedThresholdTable

BINS = 15

METRICS = shares(
    Metric(
        key="brier", title="Brier", better="lower", image_key="brier", compared=True,
        note="mean squared difference of label and score",
    ),
    Metric(
        key="ece", title="ECE", better="lower", image_key="ece", compared=True, spread="biased",
        note=f"mean and largest gap between score and share of positives in {BINS} bins",
    ),
    Metric(
        key="mce", title="MCE", better="lower", image_key="mce", spread="biased", priority=5,
        note=f"mean and largest gap between score and share of positives in {BINS} bins",
    ),
    Metric(
        key="ace", title="ACE", better="lower", image_key="ace", spread="biased", priority=4,
        note="as ECE, with bins of equal numbers of pixels",
    ),
)  # fmt: skip


class Reliability(NamedTuple):
    """Bins of equal width: pixels, the sum of their scores, and positives; and the sum of squared differences."""

    pixels: FloatArray
    scores: FloatArray
    positives: FloatArray
    squares: float


def reliability(counts: ScoreCounts) -> Reliability:
    """Sort pixels into bins by their score; NaN where `why_uncalibrated` has a reason."""
    if why_uncalibrated(counts):
        undefined = np.full(BINS, np.nan)
        return Reliability(undefined, undefined, undefined, np.nan)
    scores = counts.scores.astype(np.float64).clip(0, 1)
    places = np.searchsorted(np.arange(1, BINS) / BINS, scores, side="right")
    positives, negatives = (part.astype(np.float64) for part in (counts.positives, counts.negatives))

    def binned(pixels: FloatArray) -> FloatArray:
        return np.bincount(places, pixels, BINS).astype(np.float64, copy=False)

    return Reliability(
        binned(positives + negatives),
        binned((positives + negatives) * scores),
        binned(positives),
        float((positives * (1 - scores) ** 2 + negatives * scores**2).sum()),
    )


def why_uncalibrated(counts: ScoreCounts) -> str:
    """Say why scores are not probabilities; empty where they may be, as where there are none."""
    if not counts.scores_known or (counts.scores.size and np.isneginf(counts.scores[-1])):
        return "scores are known at some thresholds only"
    if counts.scores.size and not -ROUNDING <= counts.scores[-1] <= counts.scores[0] <= 1 + ROUNDING:
        return f"scores from {counts.scores[-1]:.7g} to {counts.scores[0]:.7g}, expected probabilities from 0 to 1"
    return ""


def are_masks(counts: ScoreCounts) -> bool:
    """Whether predictions are masks of 0 and 1; two other values may be probabilities."""
    return counts.two_valued and bool(np.isin(counts.scores, (0, 1)).all())


def adaptive_error(scores: FloatArray, positives: FloatArray, negatives: FloatArray) -> FloatArray:
    """Compute ACE of counts at falling scores, one per row."""
    pixels = positives + negatives
    total = pixels.sum(axis=1, keepdims=True)
    below = total - np.cumsum(pixels, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):  # nan without pixels
        bins = np.nan_to_num(BINS * below // total).clip(max=BINS - 1).astype(np.int64)  # scores without a pixel
        places = bins + BINS * np.arange(len(pixels))[:, np.newaxis]
        gaps = np.bincount(places.reshape(-1), (positives - pixels * scores.clip(0, 1)).reshape(-1), BINS * len(pixels))
        error: FloatArray = np.abs(gaps.reshape(-1, BINS)).sum(axis=1) / total[:, 0]
    return error


class CalibrationTable(FixedThresholdTable):
    """A table of pixels with the metrics of calibration behind all others."""

    def __init__(
        self,
        per_image: Mapping[str, ScoreCounts],
        of_set: ScoreCounts | None = None,
        *,
        at: Sequence[float],
        quantize: Quantize | None = None,
    ) -> None:
        super().__init__(per_image, of_set, at=at, quantize=quantize)
        self.metrics = (*self.metrics, *METRICS)

    @cached_property
    def _bins(self) -> FloatArray:
        """Gap and pixels of each bin of equal width, and squared differences, of each image."""
        rows = [_row(image) for image in self.ordered]
        return np.array(rows).reshape(-1, 2 * BINS + 1)  # of no image, too

    @cached_property
    def rows(self) -> Columns:
        """Those of the table without calibration, and the bins of the images."""
        return Columns(super().rows, self._bins)

    def score(self, sums: FloatArray) -> FloatArray:
        """Compute every metric from sums of rows."""
        width = self._bins.shape[1]
        scores = self._layout.scores
        positives, negatives = sums[:, : scores.size], sums[:, scores.size : 2 * scores.size]
        adaptive = adaptive_error(scores, positives, negatives)
        return self._calibrated(super().score(sums[:, :-width]), sums[:, -width:], adaptive)

    @cached_property
    def estimates(self) -> FloatArray:
        """Every metric of the benchmark itself."""
        pool = self._pool
        if pool.areas:  # the pool is a choice of very many scores
            rest = () if self.image_set.rest is None else (_row(self.image_set.rest),)
            sums = np.vstack([self._bins, *rest]).sum(axis=0)
        else:
            sums = _row(pool.counts)
        adaptive = np.array([pool.areas["ace"]]) if "ace" in pool.areas else _adaptive([pool.counts])
        row: FloatArray = self._calibrated(super().estimates[np.newaxis].copy(), sums[np.newaxis], adaptive)[0]
        return row

    def measure_images(self) -> FloatArray:
        """Measure each image alone."""
        return self._calibrated(super().measure_images(), self._bins, _adaptive([*self.ordered]))

    @property
    def shares(self) -> FloatArray:
        """Those of the table without calibration; calibration is of all pixels alike."""
        parts = super().shares
        parts[:, -len(METRICS) :] = self._bins[:, BINS : 2 * BINS].sum(axis=1, keepdims=True)
        return parts

    @property
    def _hard(self) -> bool:
        """Whether predictions are masks."""
        return are_masks(self._of_set or self._pool.counts)

    def _calibrated(self, scored: FloatArray, sums: FloatArray, adaptive: FloatArray) -> FloatArray:
        """Fill in the metrics of calibration."""
        gaps, pixels, squares = np.abs(sums[:, :BINS]), sums[:, BINS : 2 * BINS], sums[:, -1]
        with np.errstate(invalid="ignore", divide="ignore"):  # nan without pixels
            total = pixels.sum(axis=1)
            largest = np.divide(gaps, pixels, out=np.zeros_like(gaps), where=pixels != 0).max(axis=1)
            values = [squares / total, gaps.sum(axis=1) / total, np.where(total > 0, largest, np.nan), adaptive]
        scored[:, -len(METRICS) :] = np.nan if self._hard else np.where(np.isnan(squares), np.nan, values).T
        return scored

    def why_undefined(self, metric: Metric) -> str:
        """Say why an estimate is nan."""
        if metric not in METRICS:
            return super().why_undefined(metric)
        if self._hard:
            return TWO_VALUED
        return why_uncalibrated(self._pool.counts) or "no pixels"


def _row(counts: ScoreCounts) -> FloatArray:
    bins = reliability(counts)
    return np.concatenate([bins.positives - bins.scores, bins.pixels, [bins.squares]])


def _adaptive(images: Sequence[ScoreCounts]) -> FloatArray:
    """Compute ACE of each of some counts."""
    errors = np.empty(len(images))
    for place, one in enumerate(images):
        positives, negatives = (part[np.newaxis].astype(np.float64) for part in (one.positives, one.negatives))
        errors[place] = adaptive_error(one.scores.astype(np.float64), positives, negatives)[0]
    return errors
