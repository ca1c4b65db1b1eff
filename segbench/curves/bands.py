"""Pointwise bootstrap bands around pooled curves of pixels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from segbench.counts import ScoreCounts
from segbench.curves.replicates import weights_of_draws
from segbench.curves.tables import pixel_table
from segbench.errors import ArgumentError

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Band:
    """Where a curve lies in the middle share of the replicates, point by point.

    Parameters
    ----------
    space : {"roc", "pr"}
    at : array of float64, shape (K,)
        Recall of a PR band, false positive rate of a ROC band.
    low, high : array of float64, shape (K,)
        Precision, or true positive rate; nan where undefined.
    level : float
        Share of the replicates between the two, at each point by itself, not over the whole curve.
    replicates, seed : int
        What it takes to draw the same band again.
    """

    space: Literal["roc", "pr"]
    at: FloatArray
    low: FloatArray
    high: FloatArray
    level: float
    replicates: int
    seed: int


def curve_band(
    per_image: Mapping[str, ScoreCounts],
    *,
    space: Literal["roc", "pr"] = "pr",
    points: int = 101,
    level: float = 0.95,
    replicates: int = 2000,
    seed: int = 0,
) -> Band:
    """Bootstrap band of the pooled curve over images: quantiles of precision at each recall, or of TPR at each FPR.

    There is none, only nan, over a single image, and where a class is missing.

    Parameters
    ----------
    per_image : mapping of str to ScoreCounts
        Counts by the image's name, at least one.
    space : {"roc", "pr"}
        Which curve.
    points : int
        Evenly spaced from 0 to 1, at least 2.
    level, replicates, seed
        See `bootstrap`; the same seed draws the same images.

    Returns
    -------
    Band
        Read off the interpolated curve of each replicate.

    Raises
    ------
    ArgumentError
        For another space, fewer than 2 points, a level outside (0, 1), no replicates or no images.

    Examples
    --------
    >>> images = {str(k): ScoreCounts([2, 1], [8, 2], [k % 4, 10]) for k in range(20)}
    >>> band = curve_band(images, points=3, replicates=200)
    >>> bool(band.low[1] < band.high[1])
    True
    """
    if space not in ("roc", "pr"):
        raise ArgumentError(f"space is {space!r}; expected 'roc' or 'pr'")
    if points < 2 or replicates < 1 or not 0 < level < 1 or not per_image:
        raise ArgumentError(
            f"{points} points, {replicates} replicates, level {level}, {len(per_image)} images; "
            "expected at least 2, at least 1, between 0 and 1, at least 1"
        )
    from segbench.curves import table_kernels

    kernel = table_kernels.precision_at if space == "pr" else table_kernels.tpr_at
    table = pixel_table(per_image)
    at = np.linspace(0, 1, points)
    parts: list[FloatArray] = []
    for weights in weights_of_draws(table.images, replicates, seed):
        heights = np.full((weights.shape[0], points), np.nan)

        def read_off(rows: slice, positives: FloatArray, negatives: FloatArray, into: FloatArray = heights) -> None:
            kernel(positives, negatives, at, into[rows])

        table.pooled(weights, read_off)
        parts.append(heights)
    drawn = np.concatenate(parts)
    drawn = drawn[~np.isnan(drawn).any(axis=1)]
    ends = np.full((2, points), np.nan)
    if drawn.size and table.images > 1:
        ends = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return Band(space, at, ends[0], ends[1], level, replicates, seed)
