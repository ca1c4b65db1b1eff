"""Compiled: the numbers of many packed score counts at once; imported only where it is called."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import LARGEST_TOTAL, FloatArray
from segbench.core.compiling import compiled

_compiled = compiled(error_model="numpy")


@_compiled
def _number(block: NDArray[np.uint8], start: int, step: int, width: int) -> np.int64:
    number = np.int64(0)
    for byte in range(width):
        number |= np.int64(block[start + byte * step]) << np.int64(8 * byte)
    return number


@_compiled
def unpack(
    block: NDArray[np.uint8],
    starts: NDArray[np.int64],
    layouts: FloatArray,
    scores: FloatArray,
    of_classes: NDArray[np.int64],
) -> bool:
    """Unpack images, each with a row as `segbench.aggregator.codec.Layout`; False where one is not valid."""
    offset = 0
    for i in range(starts.size):
        size, of_score = int(layouts[i, 0]), int(layouts[i, 1])
        at, before = starts[i], np.inf
        for k in range(size):
            score = _number(block, at + k, size, of_score) / layouts[i, 4]
            if layouts[i, 5]:
                score = np.float64(np.float32(score))
            if not score < before:
                return False
            scores[offset + k] = before = score
        at += size * of_score
        for c in range(2):
            width = int(layouts[i, 2 + c])
            total = 0.0
            for k in range(size):
                number = _number(block, at + k, size, width)
                if number < 0:
                    return False
                of_classes[c, offset + k] = number
                total += number
            if total > LARGEST_TOTAL:
                return False
            at += size * width
        offset += size
    return True
