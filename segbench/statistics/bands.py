"""Pointwise bootstrap bands around pooled curves, from the resamples of `segbench.statistics.measured`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from segbench.core.arrays import FloatArray
from segbench.core.errors import ArgumentError
from segbench.core.messages import Message
from segbench.core.numbers import Brief
from segbench.core.settings import as_whole
from segbench.core.table import Table, Tabled
from segbench.statistics.measured import as_draws, as_level, sums_of_draws
from segbench.statistics.tables import table_of

_MOST_POINTS = 100_000


@dataclass(frozen=True, eq=False, repr=False)
class Band(Brief):
    """Pointwise bootstrap band of a curve.

    Parameters
    ----------
    space : {"roc", "pr"}
        Which curve.
    at : array of float64, shape (K,)
        Recall of a PR band, false positive rate of a ROC band, rising from 0 to 1.
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
    per_image: Mapping[str, Any] | Table | Tabled,
    *,
    space: Literal["roc", "pr"] = "pr",
    points: int = 101,
    level: float = 0.95,
    replicates: int = 2000,
    seed: int = 0,
) -> Band:
    """Bootstrap band of the pooled curve over images: quantiles of precision at each recall, or of TPR at each FPR.

    There is none, only nan, over a single image, where a class is missing, and of two-valued predictions.

    Parameters
    ----------
    per_image : mapping of str to ScoreCounts or BoundaryCounts, Result or Table
        Counts by the image's name, at least one.
    space : {"roc", "pr"}
        Which curve; of boundary counts only "pr".
    points : int
        Evenly spaced from 0 to 1, from 2 to 100 000.
    level, replicates, seed
        See `intervals`; the same seed draws the same images.

    Returns
    -------
    Band
        Read off the interpolated curve of each replicate: of pixels as Davis and Goadrich interpolate it, of boundaries
        straight between thresholds, from the highest to where recall no longer rises. At recalls that not every
        replicate reaches, nan.

    Raises
    ------
    ArgumentError
        For another space, counts of several kinds or an unknown one, fewer than 2 points, a level outside (0, 1), no
        replicates or no images.

    Examples
    --------
    >>> from segbench.core.scores import ScoreCounts
    >>> images = {str(k): ScoreCounts([2, 1], [8, 2], [k % 4, 10]) for k in range(20)}
    >>> band = curve_band(images, points=3, replicates=200)
    >>> bool(band.low[1] < band.high[1])
    True
    """
    if space not in ("roc", "pr"):
        problem = Message(
            "wrong-value",
            "{argument} is {value}; expected {expected}",
            argument="space",
            value=repr(space),
            expected="'roc' or 'pr'",
        )
        raise ArgumentError(problem)
    points = as_whole(points, "points", least=2, most=_MOST_POINTS)
    level, (replicates, seed) = as_level(level), as_draws(replicates, seed)
    table = table_of(per_image)
    at = np.linspace(0, 1, points)
    drawn = np.concatenate(
        [table.heights(space, at, table.layout.named(sums)) for sums in sums_of_draws(table, replicates, seed)]
    )
    drawn = drawn[~np.isnan(drawn).all(axis=1)]
    ends = np.full((2, points), np.nan)
    if drawn.size and table.images > 1:
        ends = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return Band(space, at, ends[0], ends[1], level, replicates, seed)
