"""Masks to skeletons, by the method that is asked for; begin with `skeleton_of`.

The skeletons of Zhang and Lee are those of `skimage.morphology.skeletonize`, to the pixel, which passes over the whole
image until nothing changes: over a filled square of k by k pixels k times. Here only pixels beside deleted ones are
visited again, so that the time grows with the number of pixels, whatever the mask.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import BoolArray, IntArray
from segbench.core.compiling import compiled, index
from segbench.imaging.thinning import queue_all, queue_beside, thin, thin_by

ByteArray = NDArray[np.uint8]

# Neighbours clockwise from the top left: bit b of a pattern says that neighbour b is on, bit 8 the pixel itself.
_STEPS = ((-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1))
_BORDERS = (1, 5, 3, 7)  # of Lee's turns: the neighbour above, below, to the right, to the left is off

# By the pattern of neighbours the passes that delete a pixel: bit 0 the first, bit 1 the second. The table of
# scikit-image (BSD-3-Clause, the scikit-image team), which differs from the paper's in corners and diagonals.
_ZHANG = (
    "0001001300311013000000002020303300000000300000000000000020003022"
    "0000000000000000000000000000000020000000200020003000000030003020"
    "0031001300000001000000000000000131000000000000002000000000000000"
    "2313001300000001000000000000000023010001000000003301000022002000"
)


def _lee_tables() -> tuple[ByteArray, ByteArray]:
    """Return by pattern the borders that a pixel may be deleted from, a bit each, and whether its deletion is simple.

    It is simple where its neighbours are connected. A candidate is no end of a line, and its deletion leaves the Euler
    characteristic as it is, which in a plane means that its neighbours are one component and do not enclose it.
    """
    deletable, simple = np.zeros(512, np.uint8), np.zeros(256, np.uint8)
    for pattern in range(256):
        is_on = [bool(pattern >> b & 1) for b in range(8)]
        components = sum(not is_on[b] and (is_on[(b + 1) % 8] or is_on[(b + 2) % 8]) for b in (1, 3, 5, 7))
        simple[pattern] = components <= 1
        if components == 1 and sum(is_on) > 1:
            deletable[256 + pattern] = sum(1 << turn for turn, border in enumerate(_BORDERS) if not is_on[border])
    return deletable, simple


_ZHANG_DELETABLE = np.array([0] * 256 + [int(passes) for passes in _ZHANG], np.uint8)
_LEE_DELETABLE, _LEE_SIMPLE = _lee_tables()


def skeleton_of(mask: BoolArray, method: str) -> BoolArray:
    """Return the skeleton of a mask."""
    if method == "thin":
        return thin(mask)
    if method == "zhang":
        return thin_by(_ZHANG_DELETABLE, _STEPS, mask)
    if method == "lee":
        bits = np.ascontiguousarray(mask).view(np.uint8)
        return lee_skeleton(bits, _LEE_DELETABLE, _LEE_SIMPLE, np.array(_STEPS)).view(np.bool_)
    from skimage.morphology import medial_axis

    mask = np.require(mask, requirements="W")  # scikit-image refuses arrays that are read-only, as files are read
    # It breaks ties in an order drawn at random.
    return np.asarray(medial_axis(mask, rng=0))  # type: ignore[no-untyped-call]  # scikit-image is untyped


@compiled()
def lee_skeleton(  # noqa: C901 - one loop over turns, whose parts share all arrays
    mask: ByteArray, deletable: ByteArray, simple: ByteArray, steps: IntArray
) -> ByteArray:
    """Thin a mask by Lee's method, from the four borders in turn, until nothing changes.

    Turns of kind b delete from border b, see `segbench.imaging.thinning`. Candidates of a border are collected first,
    then deleted one after the other in the order of rows, if they are still `simple`. The pattern of a pixel has a bit
    for each of its neighbours, at the `steps`, and bit 8 for itself. After the first four turns only pixels beside one
    that was deleted in the last four are visited: no others can have become candidates.
    """
    height, width = mask.shape
    stride = width + 2
    offsets = steps[:, 0] * stride + steps[:, 1]
    pattern = np.zeros((height + 2) * stride, np.uint16)
    pixels = np.empty(np.count_nonzero(mask), np.uint32)  # of the padded image, in the order of rows
    n_pixels = 0
    for y in range(height):
        for x in range(width):
            if mask[y, x]:
                pixels[n_pixels] = (y + 1) * stride + x + 1
                n_pixels += 1
    for pixel in pixels:
        pattern[pixel] |= 256
        for b in range(8):
            pattern[index(pixel + offsets[b])] |= 1 << ((b + 4) & 7)
    queued = np.zeros(pattern.size, np.bool_)
    queue, deleted = np.empty_like(pixels), np.empty_like(pixels)
    starts = np.zeros(4, np.int64)  # where in `deleted` each of the last four turns began
    n_deleted = turn = 0
    while turn < 4 or starts[turn & 3] < n_deleted:
        border = np.uint8(1 << (turn & 3))
        if turn < 4:
            size = queue_all(pixels, pattern, deletable, border, queue)
        else:
            lately = deleted[starts[turn & 3] : n_deleted]
            size = queue_beside(lately, offsets, pattern, deletable, border, queued, queue)
            queue[:size].sort()
        starts[turn & 3] = n_deleted
        for n in range(size):
            pixel = queue[n]
            queued[pixel] = False
            if simple[pattern[pixel] & 255]:
                pattern[pixel] &= 255
                for b in range(8):
                    pattern[index(pixel + offsets[b])] &= 511 - (1 << ((b + 4) & 7))
                deleted[n_deleted] = pixel
                n_deleted += 1
        turn += 1
    skeleton = np.zeros((height, width), np.uint8)
    for pixel in pixels:
        skeleton[pixel // stride - 1, pixel % stride - 1] = pattern[pixel] >> 8
    return skeleton
