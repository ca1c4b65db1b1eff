"""How far figures would move with another set of images: bootstrap intervals.

The unit that is drawn is the image, never the pixel: pixels of one image are alike, and an error computed over pixels
is tens of times too small. A replicate draws as many images as there are, with replacement, and adds their counts up.

References
----------
Efron and Tibshirani, "An introduction to the bootstrap", 1993, chapters 13 (percentile) and 14 (BCa).

Differences from ``scipy.stats.bootstrap``: replicates in which a figure is undefined (no positives drawn) are left out
and counted; where all replicates lie on one side of the estimate, BCa's bias is that of half a replicate on the other
side, where SciPy gives nan.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from segbench.counts import ScoreCounts
from segbench.curves.tables import Table, pixel_table
from segbench.errors import ArgumentError

FloatArray = NDArray[np.float64]
IntervalMethod = Literal["bca", "percentile"]

FEW_IMAGES = 10
"""Below this many images, intervals say that they are not to be relied on."""

_WEIGHTS_AT_ONCE = 2**21


@dataclass(frozen=True, eq=False)
class Intervals(Mapping[str, tuple[float, float]]):
    """Intervals of figures over images, by the figure's name, and how they were made.

    Parameters
    ----------
    intervals : mapping of str to (low, high)
        nan where there is none.
    estimates : mapping of str to float
        The figures themselves.
    draws : mapping of str to array of float64, shape (replicates,)
        Every figure in every replicate; nan where undefined.
    method : {"bca", "percentile"}
    level : float
        Share of repetitions in which such an interval would hold the figure of the population.
    replicates, seed, images : int
        What it takes to draw the same intervals again.
    notes : tuple of str
        What to say beside the intervals.
    undefined : mapping of str to str
        Why an interval is nan.
    """

    intervals: Mapping[str, tuple[float, float]]
    estimates: Mapping[str, float]
    draws: Mapping[str, FloatArray] = field(repr=False)
    method: IntervalMethod
    level: float
    replicates: int
    seed: int
    images: int
    notes: tuple[str, ...] = ()
    undefined: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, key: str) -> tuple[float, float]:
        """Give the interval of the figure of that name."""
        return self.intervals[key]

    def __iter__(self) -> Iterator[str]:
        """Go through the names of the figures."""
        return iter(self.intervals)

    def __len__(self) -> int:
        """Count the figures."""
        return len(self.intervals)

    @property
    def signature(self) -> str:
        """Method, level, replicates and seed in one word.

        Examples
        --------
        >>> bootstrap({"a": ScoreCounts([1], [1], [1]), "b": ScoreCounts([1], [1], [2])}, replicates=100).signature
        'intervals:bca-95-100-0'
        """
        return f"intervals:{self.method}-{100 * self.level:g}-{self.replicates}-{self.seed}"


def bootstrap(
    per_image: Mapping[str, Any] | Table,
    *,
    method: IntervalMethod = "bca",
    level: float = 0.95,
    replicates: int = 2000,
    seed: int = 0,
) -> Intervals:
    """Bootstrap intervals over images of every figure of a benchmark.

    Parameters
    ----------
    per_image : mapping of str to ScoreCounts or BoundaryCounts, or a Table
        Counts by the image's name.
    method : {"bca", "percentile"}
        Bias-corrected and accelerated, or plain quantiles of the replicates.
    level : float
        Between 0 and 1.
    replicates : int
        At least 1.
    seed : int
        Same seed, same draws; two methods drawn with one seed over the same images have the same images in every draw.

    Returns
    -------
    Intervals
        Of all figures of the summary but totals. With one image there are none; with fewer than 10, a note says so.

    Raises
    ------
    ArgumentError
        For another method, a level outside (0, 1), or no replicates.

    Examples
    --------
    >>> images = {str(k): ScoreCounts([2, 1], [8, 2 + k % 3], [k % 4, 10]) for k in range(20)}
    >>> low, high = bootstrap(images, seed=1)["ods_f"]
    >>> 0.7 < low < high < 0.9
    True
    """
    if method not in get_args(IntervalMethod):
        raise ArgumentError(f"method is {method!r}; expected 'bca' or 'percentile'")
    if not 0 < level < 1:
        raise ArgumentError(f"level is {level!r}; expected between 0 and 1, for instance 0.95")
    if replicates < 1:
        raise ArgumentError(f"replicates is {replicates}; expected at least 1")
    table = table_of(per_image)
    estimates = table.measure(np.ones((1, table.images)))[0]
    draws = draw(table, replicates=replicates, seed=seed)
    left_out = leave_one_out(table) if method == "bca" and table.images > 1 else np.empty((0, len(table.figures)))
    intervals: dict[str, tuple[float, float]] = {}
    undefined: dict[str, str] = {}
    notes = list(_notes(table.images))
    for k, name in enumerate(table.figures):
        intervals[name] = math.nan, math.nan
        drawn = draws[:, k][~np.isnan(draws[:, k])]
        if math.isnan(estimates[k]):
            undefined[name] = "the figure is not defined"
        elif table.images == 1:
            undefined[name] = "one image: nothing to draw from"
        else:
            intervals[name] = interval(drawn, float(estimates[k]), left_out[:, k], method=method, level=level)
            if drawn.size < replicates:
                notes.append(f"{name}: not defined in {replicates - drawn.size} of {replicates} replicates, left out")
    return Intervals(
        intervals,
        dict(zip(table.figures, estimates.tolist(), strict=True)),
        dict(zip(table.figures, draws.T, strict=True)),
        method,
        level,
        replicates,
        seed,
        table.images,
        tuple(notes),
        undefined,
    )


def table_of(per_image: Mapping[str, Any] | Table) -> Table:
    """Lay out counts of any kind that can be resampled.

    Raises
    ------
    ArgumentError
        If there are no images, or counts of several kinds or an unknown one.
    """
    if not isinstance(per_image, Mapping):
        return per_image
    kinds = {type(counts) for counts in per_image.values()}
    if kinds == {ScoreCounts}:
        return pixel_table(per_image)
    names = ", ".join(sorted(kind.__name__ for kind in kinds)) or "no images"
    raise ArgumentError(f"found {names}; expected the counts of at least one image, all of one kind: ScoreCounts")


def draw(table: Table, *, replicates: int, seed: int) -> FloatArray:
    """Measure bootstrap replicates: rows of figures, one a replicate."""
    return np.concatenate([table.measure(weights) for weights in weights_of_draws(table.images, replicates, seed)])


def weights_of_draws(images: int, replicates: int, seed: int) -> Iterator[FloatArray]:
    """Draw images with replacement: how often each comes in each replicate, some rows at a time."""
    random = np.random.default_rng(seed)
    step = max(_WEIGHTS_AT_ONCE // images, 1)
    for start in range(0, replicates, step):
        rows = min(step, replicates - start)
        drawn = random.integers(0, images, size=(rows, images))
        drawn += np.arange(0, rows * images, images)[:, np.newaxis]
        counts = np.bincount(drawn.ravel(), minlength=rows * images)
        yield counts.reshape(rows, images).astype(np.float64)


def leave_one_out(table: Table) -> FloatArray:
    """Measure the benchmark without each of its images in turn: rows of figures, one an image."""
    return _image_by_image(table, others=1.0, itself=0.0)


def one_by_one(table: Table) -> FloatArray:
    """Measure each image as a benchmark of its own: rows of figures, one an image."""
    return _image_by_image(table, others=0.0, itself=1.0)


def interval(
    drawn: FloatArray, estimate: float, left_out: FloatArray, *, method: IntervalMethod, level: float
) -> tuple[float, float]:
    """Interval of one figure from its replicates.

    Parameters
    ----------
    drawn : array of float64
        Replicates that are defined.
    estimate : float
        The figure of all images.
    left_out : array of float64, shape (images,)
        The figure without each image, for "bca".
    method, level
        See `bootstrap`.

    Returns
    -------
    tuple of float
        (nan, nan) without replicates.
    """
    if drawn.size == 0:
        return math.nan, math.nan
    shares = (1 - level) / 2, (1 + level) / 2
    if method == "bca":
        normal = NormalDist()
        below = (np.mean(drawn < estimate) + np.mean(drawn <= estimate)) / 2
        bias = normal.inv_cdf(float(np.clip(below, 0.5 / drawn.size, 1 - 0.5 / drawn.size)))
        acceleration = _acceleration(left_out[~np.isnan(left_out)])
        shifted = [bias + normal.inv_cdf(share) for share in shares]
        low, high = (normal.cdf(bias + z / (1 - acceleration * z)) for z in shifted)
        shares = low, high
    low, high = np.quantile(drawn, shares).tolist()
    return low, high


def _image_by_image(table: Table, *, others: float, itself: float) -> FloatArray:
    step = max(_WEIGHTS_AT_ONCE // max(table.images, 1), 1)
    parts: list[FloatArray] = []
    for start in range(0, table.images, step):
        rows = np.arange(start, min(start + step, table.images))
        weights = np.full((rows.size, table.images), others)
        weights[np.arange(rows.size), rows] = itself
        parts.append(table.measure(weights))
    return np.concatenate(parts)


def _acceleration(left_out: FloatArray) -> float:
    if left_out.size < 2:
        return 0.0
    off = left_out.mean() - left_out
    spread = float(np.sum(off**2))
    return float(np.sum(off**3)) / (6 * spread**1.5) if spread > 0 else 0.0


def _notes(images: int) -> Iterator[str]:
    if images < FEW_IMAGES:
        yield f"{images} image{'s' * (images > 1)}: intervals over fewer than {FEW_IMAGES} are not to be relied on"
