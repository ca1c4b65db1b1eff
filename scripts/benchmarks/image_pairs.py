"""Pairs of masks and soft maps to count, made from seeds."""

from __future__ import annotations

from pathlib import Path

import imageio.v3 as iio
import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, zoom


def write_curves(folder: Path, count: int, shape: tuple[int, int], *, smoothing: float = 4, start: int = 0) -> None:
    """Write masks of thin curves and soft maps that resemble them, numbered from `start`."""
    for number in range(start, start + count):
        rng = np.random.default_rng(number)
        field = gaussian_filter(rng.normal(size=shape), smoothing)
        mask = np.abs(field / field.std()) < 0.05
        soft = np.clip(255 * gaussian_filter(mask.astype(float), 1) * 2 + rng.gamma(1, 12, shape), 0, 255)
        _write(folder, number, mask, soft)


def write_blobs(folder: Path, count: int, shape: tuple[int, int]) -> None:
    """Write masks of blobs and soft predictions with an edge detector's look: mostly dark, smooth, noisy."""
    for number in range(count):
        rng = np.random.default_rng(number)
        coarse = gaussian_filter(rng.normal(size=(shape[0] // 8 + 1, shape[1] // 8 + 1)), 2)
        field = zoom(coarse, 8, order=1)[: shape[0], : shape[1]]
        mask = field > field.std()
        soft = np.clip(255 * np.exp(-((field / field.std() - 1) ** 2) * 4) + rng.normal(0, 6, shape) - 8, 0, 255)
        _write(folder, number, mask, soft)


def _write(folder: Path, number: int, mask: NDArray[np.bool_], soft: NDArray[np.float64]) -> None:
    for kind, array in (("gt", mask * 255), ("pred", soft)):
        (folder / kind).mkdir(parents=True, exist_ok=True)
        iio.imwrite(folder / kind / f"{number:06}.png", array.astype(np.uint8))
