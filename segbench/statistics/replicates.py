"""Which images count how often, replicate by replicate; bounded in memory, the same for the same seed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from segbench.core.arguments import as_real, as_whole
from segbench.core.arrays import FloatArray
from segbench.core.interface import named
from segbench.core.table import CELLS_AT_ONCE, Table

MOST_REPLICATES = 10_000_000
"""Every metric of every replicate is kept, 8 bytes each."""

_HIGHEST_LEVEL = 1 - 1e-9  # quantiles closer to the ends than that are the ends


def as_level(level: float, name: str = "level") -> float:
    """Read a confidence level."""
    expected = "a number between 0 and 1, for instance 0.95"
    return as_real(level, name, expected, least=0, most=_HIGHEST_LEVEL, open_ends=True)


def as_draws(replicates: int, seed: int) -> tuple[int, int]:
    """Read how many replicates are drawn, and the seed."""
    return as_whole(replicates, named("replicates"), least=1, most=MOST_REPLICATES), as_whole(seed, named("seed"))


def draw(table: Table, *, replicates: int, seed: int) -> FloatArray:
    """Measure resamples of the images: one row of metrics per resample."""
    return np.concatenate([table.measure(weights) for weights in weights_of_draws(table.images, replicates, seed)])


def weights_of_draws(images: int, replicates: int, seed: int) -> Iterator[FloatArray]:
    """Draw images with replacement: how often each comes in each replicate, some rows at a time."""
    random = np.random.default_rng(seed)
    step = max(CELLS_AT_ONCE // images, 1)
    for start in range(0, replicates, step):
        rows = min(step, replicates - start)
        drawn = random.integers(0, images, size=(rows, images))
        drawn += np.arange(0, rows * images, images)[:, np.newaxis]
        counts = np.bincount(drawn.ravel(), minlength=rows * images)
        yield counts.reshape(rows, images).astype(np.float64)
