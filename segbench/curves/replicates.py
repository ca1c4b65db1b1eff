"""Which images count how often, replicate by replicate; bounded in memory, the same for the same seed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from segbench.arguments import as_real, as_whole
from segbench.curves.tables import Table

FloatArray = NDArray[np.float64]

MOST_REPLICATES = 10_000_000
"""Of a bootstrap or a permutation test: every figure of every replicate is kept, 8 bytes each."""

_WEIGHTS_AT_ONCE = 2**21
_HIGHEST_LEVEL = 1 - 1e-9  # quantiles closer to the ends than that are the ends


def as_level(level: float, name: str = "level") -> float:
    """Read a confidence level.

    Raises
    ------
    ArgumentError
        If it is not between 0 and 1.
    """
    expected = "a number between 0 and 1, for instance 0.95"
    return as_real(level, name, expected, least=0, most=_HIGHEST_LEVEL, open_ends=True)


def as_draws(replicates: int, seed: int) -> tuple[int, int]:
    """Read how many replicates are drawn, and the seed.

    Raises
    ------
    ArgumentError
        If there is no replicate or too many, or the seed is negative.
    """
    return as_whole(replicates, "replicates", least=1, most=MOST_REPLICATES), as_whole(seed, "seed")


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
    """Measure the benchmark without each of its images in turn: one row of metrics per image."""
    return _image_by_image(table, others=1.0, itself=0.0)


def one_by_one(table: Table) -> FloatArray:
    """Measure each image as a benchmark of its own: one row of metrics per image."""
    return _image_by_image(table, others=0.0, itself=1.0)


def _image_by_image(table: Table, *, others: float, itself: float) -> FloatArray:
    step = max(_WEIGHTS_AT_ONCE // max(table.images, 1), 1)
    parts: list[FloatArray] = []
    for start in range(0, table.images, step):
        rows = np.arange(start, min(start + step, table.images))
        weights = np.full((rows.size, table.images), others)
        weights[np.arange(rows.size), rows] = itself
        parts.append(table.measure(weights))
    return np.concatenate(parts)
