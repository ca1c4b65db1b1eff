"""Whole images for the tables: those that ship, and BSDS500's where the machine has them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import bsds500
import imageio.v3 as iio
import numpy as np
from numpy.typing import NDArray

SHIPPED = Path(__file__).resolve().parents[3] / "datasets" / "demo"


@dataclass(frozen=True, eq=False)
class EdgeImage:
    """An 8-bit soft edge map and its annotators' boundaries."""

    name: str
    scores: NDArray[np.uint8]
    ground_truths: list[NDArray[np.bool_]]


@dataclass(frozen=True, eq=False)
class MaskImage:
    """An 8-bit soft map and a mask of 0 and 255."""

    name: str
    scores: NDArray[np.uint8]
    ground_truth: NDArray[np.uint8]


def shipped_edges(method: str = "half_discs", *, most: int | None = None) -> list[EdgeImage]:
    """Read the edge maps of a method that ship."""
    return [
        EdgeImage(
            path.stem,
            iio.imread(path),
            [iio.imread(drawn) > 0 for drawn in sorted((SHIPPED / "edges/ground_truth").glob(f"{path.stem}.*.png"))],
        )
        for path in sorted((SHIPPED / "edges/predictions" / method).iterdir())[:most]
    ]


def shipped_masks(method: str = "soft_otsu", *, most: int | None = None) -> list[MaskImage]:
    """Read the soft maps of a method that ship."""
    return [
        MaskImage(path.stem, iio.imread(path), iio.imread(SHIPPED / "objects/ground_truth" / path.name))
        for path in sorted((SHIPPED / "objects/predictions" / method).iterdir())[:most]
    ]


def bsds_edges(folder: Path, most: int) -> list[EdgeImage]:
    """Read soft edge maps (HED's) of the first images."""
    return [
        EdgeImage(path.stem, iio.imread(path), bsds500.boundaries(folder, path.stem))
        for path in sorted((folder / "hed").glob("*.png"))[:most]
    ]
