"""Shapes of masks: whether lines are thin, and lines made thick."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def block_share(mask: NDArray[np.bool_]) -> float:
    """Give the share of true pixels in blocks of 2 x 2 true pixels: near 0 for thin lines, near 1 for areas."""
    count = int(np.count_nonzero(mask))
    if not count or min(mask.shape) < 2:
        return 0.0
    pairs = mask[1:] & mask[:-1]
    corners = pairs[:, 1:] & pairs[:, :-1]
    inside = np.zeros_like(mask)
    for down in (0, 1):
        for right in (0, 1):
            inside[down : down + corners.shape[0], right : right + corners.shape[1]] |= corners
    return int(np.count_nonzero(inside)) / count


def grown(mask: NDArray[np.bool_], reach: int) -> NDArray[np.bool_]:
    """Let true pixels grow by so many pixels to all eight sides."""
    wide = mask.copy()
    for _ in range(reach):
        for axis in (0, 1):
            across = np.moveaxis(wide, axis, 0)
            before = across.copy()
            across[1:] |= before[:-1]
            across[:-1] |= before[1:]
    return wide
