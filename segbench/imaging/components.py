"""Connected components of masks and volumes, by how many neighbours of a pixel or voxel touch it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import BoolArray
from segbench.inputs.cut_masks import CONNECTIVITY_OF_VOLUMES

_STEPS: Mapping[int, int] = {4: 1, 8: 2, 6: 1, 18: 2, 26: 3}
"""Along how many axes a neighbour may be a step away."""


def structure_of(neighbours: int) -> BoolArray:
    """Return what touches the pixel or voxel in the middle of three along each axis."""
    from scipy.ndimage import generate_binary_structure

    structure: BoolArray = generate_binary_structure(
        2 if neighbours in CONNECTIVITY_OF_VOLUMES else 3, _STEPS[neighbours]
    )
    return structure


def number_components(mask: BoolArray, neighbours: int) -> NDArray[np.int32]:
    """Number the components of a mask from 1, in the order of their first pixels; 0 is background."""
    from scipy.ndimage import label

    numbers: NDArray[np.int32] = label(mask, structure_of(neighbours), output=np.int32)[0]
    return numbers


def count_components(mask: BoolArray, neighbours: int) -> int:
    """Count the components of a mask."""
    from scipy.ndimage import label

    return int(label(mask, structure_of(neighbours), output=np.int32)[1])


def box_of(mask: NDArray[Any]) -> tuple[slice, ...]:
    """Return the box of what is not 0; an empty box of an empty mask."""
    box = []
    for axis in range(mask.ndim):
        others = tuple(other for other in range(mask.ndim) if other != axis)
        occupied = np.flatnonzero(mask.any(axis=others))
        if not occupied.size:
            return (slice(0, 0),) * mask.ndim
        box.append(slice(int(occupied[0]), int(occupied[-1]) + 1))
    return tuple(box)
