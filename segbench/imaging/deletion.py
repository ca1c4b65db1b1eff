"""What thinning queues: pixels whose pattern of neighbours lets them be deleted; folded into the loops that do so.

Bit b of ``deletable[pattern]`` says that a pixel with this pattern may be deleted in turns of kind b.
"""

from __future__ import annotations

import numpy as np

from segbench.core.arrays import Array
from segbench.core.compiling import helper, index


@helper
def queue_all(pixels: Array, pattern: Array, deletable: Array, bit: np.uint8, queue: Array) -> int:
    """Queue every pixel that may be deleted; return how many."""
    size = 0
    for pixel in pixels:
        if deletable[pattern[pixel]] & bit:
            queue[size] = pixel
            size += 1
    return size


@helper
def queue_beside(  # noqa: PLR0917  arrays one by one, as kernels take them
    deleted: Array,
    offsets: Array,
    pattern: Array,
    deletable: Array,
    bit: np.uint8,
    queued: Array,
    queue: Array,
) -> int:
    """Queue every pixel beside one of the `deleted` that may be deleted, and mark it as `queued`; return how many."""
    size = 0
    for n in range(deleted.size):
        for b in range(8):
            pixel = index(deleted[n] + offsets[b])
            if deletable[pattern[pixel]] & bit and not queued[pixel]:
                queued[pixel] = True
                queue[size] = pixel
                size += 1
    return size
