"""Volumes to skeletons and to topology: Lee's skeleton in one orientation, Betti numbers and Euler's characteristic.

Lee's skeleton depends on the order of axes and on their directions. A volume with an affine is therefore turned to one
orientation first: axes (z, y, x) that rise to the top, the front and the right of a patient, RAS read from the last
axis. Others are taken as they are stored.
"""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import BoolArray, IntArray
from segbench.core.compiling import compiled
from segbench.core.geometry import Affine, orientation_of
from segbench.imaging.components import box_of, count_components
from segbench.inputs.cut_masks import CONNECTIVITY_OF_VOLUMES

ByteArray = NDArray[np.uint8]


def skeleton_of_volume(mask: BoolArray, affine: Affine | None) -> BoolArray:
    """Return Lee's skeleton of a volume, in the orientation of RAS if there is an affine."""
    from skimage.morphology import skeletonize

    skeleton = np.zeros_like(mask)
    box = box_of(mask)
    if not mask[box].size:
        return skeleton
    order, steps = (range(3), (1, 1, 1)) if affine is None else orientation_of(affine)
    turned = np.transpose(mask[box], tuple(order))[tuple(slice(None, None, step) for step in steps)]
    lines = skeletonize(np.ascontiguousarray(turned), method="lee")  # type: ignore[no-untyped-call]  # scikit-image
    upright = lines.astype(np.bool_)[tuple(slice(None, None, step) for step in steps)]
    skeleton[box] = np.transpose(upright, np.argsort(order))
    return skeleton


def betti_numbers_of_volume(mask: BoolArray, neighbours: int) -> tuple[int, int, int]:
    """Count components, tunnels and cavities of a volume; outside it is background.

    Voxels of the foreground touch 26 or 6 others, those of the background 6 or 26.
    """
    box = box_of(mask)
    inside = np.pad(mask[box], 1)
    if inside.size == 8:
        return 0, 0, 0
    (of_background,) = {*CONNECTIVITY_OF_VOLUMES.values()} - {neighbours}
    components = count_components(inside, neighbours)
    cavities = count_components(~inside, of_background) - 1
    tunnels = components + cavities - euler_characteristic(inside.view(np.uint8), _parts_of_codes(neighbours))
    return components, tunnels, cavities


@cache
def _parts_of_codes(neighbours: int) -> NDArray[np.int8]:
    """Return by code of 2x2x2 voxels what these add to Euler's characteristic: points - edges + faces - cubes.

    Where voxels touch at corners they are closed cubes, and a point, edge or face belongs to them if one of the voxels
    around it does. Where they touch at faces they are points, and an edge, face or cube needs all of its voxels. Either
    way each part is counted where it is the one at the middle of the eight voxels, or that begins at their first one.
    """
    parts = np.zeros(256, np.int8)
    extents = [*product((0, 1), repeat=3)]  # along which axes a part extends
    for code in range(256):
        is_on = np.array([code >> bit & 1 for bit in range(8)], bool).reshape(2, 2, 2)
        for extent in extents:
            sign = (-1) ** sum(extent)
            if neighbours == CONNECTIVITY_OF_VOLUMES[8]:
                around = is_on[tuple(slice(1, 2) if along else slice(None) for along in extent)]
                parts[code] += sign * bool(around.any())
            else:
                spanned = is_on[tuple(slice(None) if along else slice(0, 1) for along in extent)]
                parts[code] += sign * bool(spanned.all())
    return parts


@compiled()
def euler_characteristic(padded: ByteArray, parts: NDArray[np.int8]) -> int:
    """Add up the parts of all 2x2x2 voxels of a volume that has background all around."""
    depth, height, width = padded.shape
    total = 0
    for z in range(depth - 1):
        for y in range(height - 1):
            above_before, above = padded[z, y], padded[z, y + 1]
            before, here = padded[z + 1, y], padded[z + 1, y + 1]
            left = np.uint8(0)
            for x in range(width):
                right = above_before[x] | (above[x] << 2) | (before[x] << 4) | (here[x] << 6)
                total += parts[left | (right << 1)]
                left = np.uint8(right)
    return total


def topology_of_volume(mask: BoolArray, neighbours: int) -> IntArray:
    """Return components, tunnels, cavities and Euler's characteristic of a volume."""
    components, tunnels, cavities = betti_numbers_of_volume(mask, neighbours)
    return np.array([components, tunnels, cavities, components - tunnels + cavities])
