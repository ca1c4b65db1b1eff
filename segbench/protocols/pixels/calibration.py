"""Calibration of pixel scores: how far they are from the share of positives among the pixels with these scores.

`Calibration` is the block of columns that the setting adds to the table of pixels.

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

import math
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np

from segbench.core.arrays import FloatArray
from segbench.core.levels import ROUNDING
from segbench.core.messages import NOTHING, Message
from segbench.core.metric import Metric, shares
from segbench.core.scores import ScoreCounts, range_of_scores
from segbench.core.table import Sums
from segbench.curves.pooled import TWO_VALUED
from segbench.protocols.pixels.image_set import Block, ByScore, ImageSet

BINS = 15
KEPT = {"gaps": np.zeros(BINS), "pixels": np.zeros(BINS), "squares": np.zeros(1), "ace": np.zeros(1)}
"""What results files keep of calibration, sums of the columns and ACE; here the values of no pixels."""

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
    bins = np.searchsorted(np.arange(1, BINS) / BINS, scores, side="right")
    positives, negatives = counts.positives.astype(np.float64), counts.negatives.astype(np.float64)

    def binned(pixels: FloatArray) -> FloatArray:
        return np.bincount(bins, pixels, BINS).astype(np.float64, copy=False)

    return Reliability(
        binned(positives + negatives),
        binned((positives + negatives) * scores),
        binned(positives),
        float((positives * (1 - scores) ** 2 + negatives * scores**2).sum()),
    )


def why_uncalibrated(counts: ScoreCounts, ends: tuple[float, float] | None = None) -> Message:
    """Say why scores are not probabilities; empty where they may be, and without scores.

    `ends` are the lowest and the highest score, needed where the counts are at a choice of the scores.
    """
    lowest, highest = ends or range_of_scores(counts)
    if not counts.scores_known or lowest == -math.inf:
        return Message("scores-unknown", "scores are known at some thresholds only")
    if counts.scores.size and not -ROUNDING <= lowest <= highest <= 1 + ROUNDING:
        return Message(
            "no-probabilities",
            "scores from {lowest:.7g} to {highest:.7g}, expected probabilities from 0 to 1",
            lowest=lowest,
            highest=highest,
        )
    return NOTHING


def are_masks(counts: ScoreCounts) -> bool:
    """Return whether predictions are masks of 0 and 1; two other values may be probabilities."""
    return counts.two_valued and bool(np.isin(counts.scores, (0, 1)).all())


def adaptive_error(scores: FloatArray, positives: FloatArray, negatives: FloatArray) -> FloatArray:
    """Compute ACE of counts at falling scores, one per row."""
    pixels = positives + negatives
    total = pixels.sum(axis=1, keepdims=True)
    below = total - np.cumsum(pixels, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):  # nan without pixels
        bins = np.nan_to_num(BINS * below // total).clip(max=BINS - 1).astype(np.int64)  # scores without a pixel
        bins_of_rows = bins + BINS * np.arange(len(pixels))[:, np.newaxis]
        gaps_of_scores = positives - pixels * scores.clip(0, 1)
        gaps = np.bincount(bins_of_rows.reshape(-1), gaps_of_scores.reshape(-1), BINS * len(pixels))
        error: FloatArray = np.abs(gaps.reshape(-1, BINS)).sum(axis=1) / total[:, 0]
    return error


class Calibration(Block):
    """The metrics of calibration; `of_set` decides whether predictions are masks, by default the images do."""

    name = "calibration"
    metrics = METRICS

    def __init__(self, images: ImageSet, of_set: ScoreCounts | None = None) -> None:
        super().__init__(images)
        self._of_set = of_set

    def columns_of(self, images: Iterable[ScoreCounts]) -> Mapping[str, FloatArray]:
        """Return gap and pixels of each bin of equal width, shape (images, 15), and squared differences (images,)."""
        of_images = [*map(reliability, images)]
        gaps = [bins.positives - bins.scores for bins in of_images]
        return {
            "gaps": np.array(gaps).reshape(-1, BINS),  # of no image, too
            "pixels": np.array([bins.pixels for bins in of_images]).reshape(-1, BINS),
            "squares": np.array([bins.squares for bins in of_images]),
        }

    def formulas(self, of: Sums) -> Mapping[str, FloatArray]:
        return self._measured(of, adaptive_error(*of["by_score"]))

    def measure_images(self) -> FloatArray:
        """Measure each image alone, at all of its own scores, shape (images, metrics)."""
        alone = (ByScore.of(self.image_set[name]) for name in self.image_set.names)
        errors = np.array([adaptive_error(*by_score)[0] for by_score in alone], float)
        return self.laid_out(self._measured(Sums(self.columns, np.ones(self.images)), errors))

    @cached_property
    def of_all(self) -> Mapping[str, FloatArray]:
        """What all metrics are computed from, including pixels without the name of an image; see `KEPT`."""
        if self.image_set.kept is not None:
            return {name: self.image_set.kept.numbers[name] for name in KEPT}
        pool, unnamed = self.image_set.pool, self.image_set.unnamed
        if pool.areas:  # the pool is a choice of very many scores
            of_unnamed = self.columns_of(() if unnamed is None else (unnamed,))
            columns = {name: np.concatenate([column, of_unnamed[name]]) for name, column in self.columns.items()}
        else:
            columns = dict(self.columns_of([pool.counts]))
        sums = {name: np.atleast_1d(column.sum(axis=0)) for name, column in columns.items()}
        return {**sums, "ace": adaptive_error(*ByScore.of(pool.counts))}

    @cached_property
    def estimates(self) -> FloatArray:
        """Every metric of all images and of pixels without the name of one, shape (metrics,)."""
        gaps, pixels, squares, ace = (self.of_all[name] for name in KEPT)
        sums = Sums({"gaps": gaps[np.newaxis], "pixels": pixels[np.newaxis], "squares": squares}, np.ones(1))
        row: FloatArray = self.laid_out(self._measured(sums, ace))[0]
        return row

    @property
    def image_weights(self) -> Mapping[str, FloatArray]:
        """Pixels of each image, since all pixels count alike."""
        return dict.fromkeys((metric.key for metric in METRICS), self.columns["pixels"].sum(axis=1))

    @property
    def _hard(self) -> bool:
        """Whether predictions are masks."""
        return are_masks(self._of_set or self.image_set.pool.counts)

    def _measured(self, of: Sums, adaptive: FloatArray) -> dict[str, FloatArray]:
        """Compute every metric from sums and ACE."""
        gaps, pixels, squares = np.abs(of["gaps"]), of["pixels"], of["squares"]
        with np.errstate(invalid="ignore", divide="ignore"):  # nan without pixels
            total = pixels.sum(axis=1)
            largest = np.divide(gaps, pixels, out=np.zeros_like(gaps), where=pixels != 0).max(axis=1)
            values = {
                "brier": squares / total,
                "ece": gaps.sum(axis=1) / total,
                "mce": np.where(total > 0, largest, np.nan),
                "ace": adaptive,
            }
        undefined = np.isnan(squares) | self._hard
        return {key: np.where(undefined, np.nan, value) for key, value in values.items()}

    def why_undefined(self, metric: Metric) -> Message:
        del metric
        pool = self.image_set.pool
        if self._hard:
            return TWO_VALUED
        return why_uncalibrated(pool.counts, pool.ends) or Message("no-pixels", "no pixels")
