"""Writing the few kinds of file that the data sets are made of, the same bytes every time."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image


def write_mask(path: Path, mask: NDArray[np.generic]) -> None:
    """Write a mask as an 8-bit PNG of 0 and 255."""
    write_levels(path, np.where(mask, 255, 0))


def write_scores(path: Path, scores: NDArray[np.float64], step: int = 1) -> None:
    """Write scores in [0, 1] as an 8-bit PNG whose levels are multiples of `step`, rounded down."""
    levels = np.rint(np.clip(scores, 0.0, 1.0) * 255).astype(np.int64)
    write_levels(path, levels // step * step)


def write_levels(path: Path, levels: NDArray[np.generic]) -> None:
    """Write grey levels of 0 to 255 as an 8-bit PNG."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(levels.astype(np.uint8)).save(path, optimize=True)


def write_picture(path: Path, picture: NDArray[np.uint8]) -> None:
    """Write a photograph as a JPEG without colour subsampling."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(picture).save(path, quality=92, subsampling=0)


def write_array(path: Path, values: NDArray[np.generic]) -> None:
    """Write an array as an `.npy` file, with the values exactly as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, values, allow_pickle=False)
