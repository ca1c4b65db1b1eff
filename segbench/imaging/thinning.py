"""Thinning to convergence, at one threshold or at all thresholds of a soft map.

The pixels are those of MATLAB's ``bwmorph(.., 'thin', inf)`` and of `skimage.morphology.thin`: two sub-iterations in
turn, each deleting at once all pixels with eight neighbours that fit its conditions, until neither deletes anything.
Pixels outside the image count as off.

Only pixels that are on are visited, and after the first pass only those beside a deleted one. Each pixel keeps the
pattern of its eight neighbours and of itself in one number, so a visit is one look-up. From threshold to threshold the
patterns are not rebuilt: pixels that appear are added, and each threshold starts from the patterns before thinning.

References
----------
Guo, Hall: Parallel thinning with two-subiteration algorithms. Communications of the ACM 32 (3), 1989.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segbench.core.arrays import Array, BoolArray
from segbench.core.compiling import helper, index, kernel, uint64
from segbench.imaging.bits import ONE, unpack
from segbench.inputs.lines import as_mask

# Neighbours counterclockwise from the right; bit b of a pattern says that neighbour b is on, bit 8 the pixel itself.
_STEPS = ((0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1), (1, 0), (1, 1))


def _deletable() -> NDArray[np.uint8]:
    """List for each pattern the sub-iterations that delete its pixel: bit 0 the first, bit 1 the second."""
    table = np.zeros(512, np.uint8)
    for pattern in range(256):
        is_on = [bool(pattern >> b & 1) for b in range(8)]
        crossings = sum(not is_on[b] and (is_on[b + 1] or is_on[(b + 2) % 8]) for b in (0, 2, 4, 6))
        pairs = (
            sum(is_on[b] or is_on[(b + 1) % 8] for b in (0, 2, 4, 6)),
            sum(is_on[b] or is_on[b + 1] for b in (1, 3, 5)) + (is_on[7] or is_on[0]),
        )
        if crossings == 1 and 2 <= min(pairs) <= 3:
            first = not ((is_on[1] or is_on[2] or not is_on[7]) and is_on[0])
            second = not ((is_on[5] or is_on[6] or not is_on[3]) and is_on[4])
            table[256 + pattern] = first + 2 * second
    return table


_DELETABLE = _deletable()


def thin(mask: ArrayLike) -> BoolArray:
    """Thin a mask until nothing changes.

    Parameters
    ----------
    mask : array, shape (H, W)
        Pixels other than 0 are on.

    Returns
    -------
    array of bool, shape (H, W)
        The pixels that are left; exactly those that `skimage.morphology.thin` leaves.

    Raises
    ------
    ArgumentError
        If the mask is not two-dimensional.

    Examples
    --------
    >>> thin([[1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]]).astype(int)
    array([[0, 0, 0, 0],
           [0, 1, 1, 0],
           [0, 0, 0, 0]])
    """
    return thin_by(_DELETABLE, _STEPS, as_mask(mask, "mask"))


def thin_by(deletable: NDArray[np.uint8], steps: Sequence[tuple[int, int]], mask: BoolArray) -> BoolArray:
    """Thin a mask by another table of deletable patterns, whose bits are the neighbours at these `steps`.

    Neighbours follow each other around the pixel, so that the fourth after a neighbour is opposite to it.
    """
    height, width = mask.shape
    packed = thin_down(mask.astype(np.int32), 1, deletable, np.array(steps))
    return unpack(packed.reshape(height, (width + 63) // 64), width)


def thin_levels(levels: NDArray[np.int32], count: int) -> NDArray[np.uint64]:
    """Thin the map of every threshold."""
    height, width = levels.shape
    return thin_down(levels, count, _DELETABLE, np.array(_STEPS)).reshape(count, height, (width + 63) // 64)


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


@kernel
def thin_down(  # noqa: C901, PLR0912 - all thresholds are one call from Python
    levels: Array, count: int, table: Array, steps: Array
) -> Array:
    """Do the work of `thin_levels`, each mask as one row, from the table of deletable patterns and the steps."""
    height, width = levels.shape
    stride = width + 2
    offsets = steps[:, 0] * stride + steps[:, 1]
    words = (width + 63) // 64
    thinned = np.zeros((count, height * words), np.uint64)
    starts = np.zeros(count + 2, np.int64)
    for y in range(height):
        for x in range(width):
            starts[count - levels[y, x] + 1] += 1
    for rank in range(count + 1):
        starts[rank + 1] += starts[rank]
    total = starts[count]
    pixels = np.empty(total, np.uint32)  # of the padded image, highest level first
    bits = np.empty(total, np.uint32)  # where they are in a packed mask
    filled = starts[:-1].copy()
    for y in range(height):
        for x in range(width):
            rank = count - levels[y, x]
            if rank < count:
                pixels[filled[rank]] = (y + 1) * stride + x + 1
                bits[filled[rank]] = y * words * 64 + x
                filled[rank] += 1

    initial = np.zeros((height + 2) * stride, np.uint16)  # patterns before thinning
    pattern = np.zeros(initial.size, np.uint16)
    queued = np.zeros(initial.size, np.bool_)
    deleted = np.empty(total, np.uint32)
    queue = np.empty(total, np.uint32)
    for rank in range(count):
        level = count - 1 - rank
        if rank > 0 and starts[rank + 1] == starts[rank]:
            for w in range(thinned.shape[1]):
                thinned[level, w] = thinned[level + 1, w]
            continue
        for n in range(starts[rank], starts[rank + 1]):
            initial[pixels[n]] |= 256
            for b in range(8):
                initial[index(pixels[n] + offsets[b])] |= 1 << ((b + 4) & 7)
        _thin_once(pixels[: starts[rank + 1]], initial, pattern, queued, queue, deleted, table, offsets)
        for n in range(starts[rank + 1]):
            if pattern[pixels[n]] & 256:
                thinned[level, bits[n] >> 6] |= ONE << uint64(bits[n] & 63)
    return thinned


@helper
def _thin_once(  # noqa: PLR0917 - arrays one by one, as in `scan`
    pixels: Array,
    initial: Array,
    pattern: Array,
    queued: Array,
    queue: Array,
    deleted: Array,
    table: Array,
    offsets: Array,
) -> None:
    """Thin the pixels that are on; `pattern` is written."""
    for p in pixels:
        pattern[p] = initial[p]
    deleted_count = 0
    before_last = last = 0  # where in `deleted` the two last sub-iterations began
    sub_iteration = 0
    while True:
        bit = np.uint8(1 << (sub_iteration & 1))
        if sub_iteration < 2:
            size = queue_all(pixels, pattern, table, bit, queue)
        else:
            size = queue_beside(deleted[before_last:deleted_count], offsets, pattern, table, bit, queued, queue)
        for n in range(size):
            p = queue[n]
            queued[p] = False
            pattern[p] &= 255
            deleted[deleted_count + n] = p
            for b in range(8):
                pattern[index(p + offsets[b])] &= 511 - (1 << ((b + 4) & 7))
        before_last, last, deleted_count = last, deleted_count, deleted_count + size
        sub_iteration += 1
        if sub_iteration >= 2 and before_last == deleted_count:
            return
