"""Which thresholds a score reaches."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.protocols.boundaries.bits import ONE, popcount
from segbench.protocols.boundaries.jit import kernel, uint64


@kernel
def levels_of(scores: NDArray[Any], thresholds: NDArray[Any]) -> NDArray[Any]:
    """Count the thresholds at or below each score."""
    levels = np.zeros(scores.shape, np.int32)
    for y in range(scores.shape[0]):
        for x in range(scores.shape[1]):
            score = scores[y, x]
            if score < thresholds[0]:
                continue
            low, high = 1, thresholds.size
            while low < high:
                middle = (low + high) >> 1
                if thresholds[middle] <= score:
                    low = middle + 1
                else:
                    high = middle
            levels[y, x] = low
    return levels


@kernel
def pack_levels(levels: NDArray[Any], count: int) -> NDArray[Any]:
    """Pack the map of every threshold, as it is."""
    maps = np.zeros((count, levels.shape[0], (levels.shape[1] + 63) >> 6), np.uint64)
    for y in range(levels.shape[0]):
        for x in range(levels.shape[1]):
            if levels[y, x] > 0:
                maps[levels[y, x] - 1, y, x >> 6] |= ONE << uint64(x & 63)
    for k in range(count - 2, -1, -1):
        for y in range(maps.shape[1]):
            for w in range(maps.shape[2]):
                maps[k, y, w] |= maps[k + 1, y, w]
    return maps


@kernel
def count_bits(maps: NDArray[Any]) -> NDArray[Any]:
    """Count the pixels of every map of a packed stack; int64, one a map."""
    counts = np.zeros(maps.shape[0], np.int64)
    for k in range(maps.shape[0]):
        for y in range(maps.shape[1]):
            for w in range(maps.shape[2]):
                counts[k] += popcount(maps[k, y, w])
    return counts
