"""Masks to skeletons, by the method that is asked for.

The skeletons of Zhang and Lee are those of `skimage.morphology.skeletonize`, to the pixel, which passes over the whole
image until nothing changes: over a filled square of k by k pixels k times. Here only pixels beside deleted ones are
visited again, so that the time grows with the number of pixels, whatever the mask.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import BoolArray
from segbench.protocols.centerlines.choices import Skeleton

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


def _lee_tables() -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return by pattern the borders that a pixel may be deleted from, a bit each, and whether its deletion is simple.

    It is simple where its neighbours are connected. A candidate is no end of a line, and its deletion leaves the Euler
    characteristic as it is, which in a plane means that its neighbours are one component and do not enclose it.
    """
    deletable, simple = np.zeros(512, np.uint8), np.zeros(256, np.uint8)
    for pattern in range(256):
        on = [bool(pattern >> b & 1) for b in range(8)]
        components = sum(not on[b] and (on[(b + 1) % 8] or on[(b + 2) % 8]) for b in (1, 3, 5, 7))
        simple[pattern] = components <= 1
        if components == 1 and sum(on) > 1:
            deletable[256 + pattern] = sum(1 << turn for turn, border in enumerate(_BORDERS) if not on[border])
    return deletable, simple


_ZHANG_DELETABLE = np.array([0] * 256 + [int(passes) for passes in _ZHANG], np.uint8)
_LEE_DELETABLE, _LEE_SIMPLE = _lee_tables()


def skeleton_of(mask: BoolArray, method: Skeleton) -> BoolArray:
    """Return the skeleton of a mask."""
    from segbench.imaging.thinning import thin, thin_by

    if method == "thin":
        return thin(mask)
    if method == "zhang":
        return thin_by(_ZHANG_DELETABLE, _STEPS, mask)
    if method == "lee":
        from segbench.protocols.centerlines.kernels import lee_skeleton

        bits = np.ascontiguousarray(mask).view(np.uint8)
        return lee_skeleton(bits, _LEE_DELETABLE, _LEE_SIMPLE, np.array(_STEPS)).view(np.bool_)
    from skimage.morphology import medial_axis

    mask = np.require(mask, requirements="W")  # scikit-image refuses arrays that are read-only, as files are read
    # It breaks ties in an order drawn at random.
    return np.asarray(medial_axis(mask, rng=0))  # type: ignore[no-untyped-call]  # scikit-image is untyped
