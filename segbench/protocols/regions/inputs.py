"""What the region benchmark takes is checked here, once: label maps, contour maps, and that sizes agree."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segbench.core.arrays import as_array, split_mask
from segbench.core.errors import ArgumentError, DataError
from segbench.protocols.boundaries.inputs import (
    as_scores,
    as_thresholds,
    check_unit_range,
    of_one_size,
    parts_of,
)

MOST_PIXELS = 2**30
MOST_POINTS = 2**31 - 2**20  # of a ucm2: they are numbered in 32 bits, with a border


def as_labels(label_map: ArrayLike, name: str) -> NDArray[Any]:
    """Read a label map: whole numbers from 0, each a region, connected or not."""
    labels = as_array(label_map, name)
    if labels.ndim != 2:
        raise ArgumentError(f"{name} has shape {labels.shape}, expected (height, width)")
    if labels.dtype.kind not in "bui":
        raise DataError(name, f"labels are of type {labels.dtype}, expected whole numbers", "write them as integers")
    if not labels.size:
        raise DataError(name, "has no pixel")
    if labels.size > MOST_PIXELS:
        raise ArgumentError(f"{name} has {labels.size} pixels, expected at most {MOST_PIXELS}")
    if labels.dtype.kind == "i" and labels.min() < 0:
        raise DataError(
            name, f"holds the label {labels.min()}, expected 0 or more", "give every region a number from 0"
        )
    return labels


def as_label_maps(label_maps: ArrayLike | Iterable[ArrayLike], name: str) -> list[NDArray[Any]]:
    """Read one label map, or several of one size."""
    return of_one_size(label_maps, name, as_labels)


def without_masks(
    label_maps: ArrayLike | Iterable[ArrayLike], name: str
) -> tuple[list[Any], list[NDArray[np.bool_] | None]]:
    """Take the masks off one label map, or off several: the maps, and where each is masked."""
    split = [split_mask(part, f"{name} {k}") for k, part in enumerate(parts_of(label_maps))]
    return [plain for plain, _ in split], [hidden for _, hidden in split]


def is_ucm2(prediction: object, shape: tuple[int, ...]) -> TypeGuard[NDArray[Any]]:
    """Say whether a prediction is a contour map of double size of an image of that shape."""
    height, width = shape
    return isinstance(prediction, np.ndarray) and prediction.shape == (2 * height + 1, 2 * width + 1)


def ucm2_levels(ucm2: NDArray[Any], thresholds: int | ArrayLike) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Find for each point of a contour map the first threshold that it does not exceed."""
    scores = as_scores(ucm2, "ucm2")
    if scores.size > MOST_POINTS:
        raise ArgumentError(f"ucm2 has {scores.size} points, expected at most {MOST_POINTS}")
    cuts = as_thresholds(thresholds)
    if isinstance(thresholds, (int, np.integer)):
        check_unit_range(scores, "ucm2")
    levels = np.searchsorted(cuts, scores).astype(np.int32)
    above = int(np.count_nonzero(levels[1::2, 1::2]))
    if above:
        raise DataError(
            "ucm2",
            f"{above} pixels lie above the threshold {cuts[0]:g}, but contours run between pixels, at even places",
            "write the map at twice the resolution with 0 at odd places",
        )
    return levels, cuts
