"""Slices of volumes for pictures: which ones are shown, and how a slice becomes a picture with square pixels.

Begin with `slices_of_errors`, which takes the states of a volume and returns planes; `Plane.cut` gives the picture of
any array on the same grid. With an affine, planes are those of a patient as radiologists see them: the front or the
head above, the right of the patient on the left; sagittal planes look to the left. Otherwise the axes (z, y, x) are
taken as axial, coronal and sagittal, as they are stored. Nothing is interpolated: pixels are repeated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import BoolArray, IntArray
from segbench.core.geometry import Affine, orientation_of
from segbench.core.pictures import ByteArray, Pictures
from segbench.imaging.components import box_of
from segbench.protocols.states import State, seen_in

AXIAL, CORONAL, SAGITTAL = range(3)
NAMES = ("axial", "coronal", "sagittal")
WRONG = (State.FALSE, State.MISSED)

_ROWS_AND_COLUMNS = ((1, 2), (0, 2), (0, 1))  # axes of a patient, (z, y, x), down and across in each plane
_LONGEST = 4096  # sides of pictures, in pixels: more would only repeat voxels of absurd spacings
_MOST_MEASURED = 2**24  # voxels, or blocks of voxels, that distances are measured between


class Plane(NamedTuple):
    """A slice of a volume: along which axis of its array it is cut and where, and how it is turned and stretched."""

    name: str
    axis: int
    at: int
    shape: tuple[int, ...]
    """The shape of the volume."""
    axes: tuple[int, int]
    """The axes of the array that go down and across."""
    falling: tuple[bool, bool]
    """Whether each of them is turned round."""
    spacing: tuple[float, float]

    @property
    def number(self) -> int:
        """How many slices there are along the axis."""
        return self.shape[self.axis]

    @property
    def title(self) -> str:
        """The slice in words; it counts from 0, as arrays do."""
        return f"{self.name} slice {self.at} of 0 to {self.number - 1}"

    def cut(self, volume: NDArray[Any]) -> NDArray[Any]:
        """Cut a volume: an array (height, width) whose pixels are square, as large as the finer of both spacings."""
        picture = np.take(volume, self.at, axis=self.axis)
        if self.axes[0] > self.axes[1]:
            picture = picture.T
        picture = picture[tuple(slice(None, None, -1 if falls else 1) for falls in self.falling)]
        lengths = [extent * step for extent, step in zip(picture.shape, self.spacing, strict=True)]
        side = max(min(self.spacing), max(lengths) / _LONGEST)
        rows, columns = (
            _repeated(extent, max(1, round(length / side)))
            for extent, length in zip(picture.shape, lengths, strict=True)
        )
        return np.ascontiguousarray(picture[np.ix_(rows, columns)])


def _repeated(extent: int, wanted: int) -> IntArray:
    """Return which of `extent` pixels lies at the middle of each of `wanted` ones."""
    indices: IntArray = (2 * np.arange(wanted) + 1) * extent // (2 * wanted)
    return indices


def plane_at(
    shape: Sequence[int],
    at: Sequence[int],
    kind: int,
    spacing: Sequence[float] | None = None,
    affine: Affine | None = None,
) -> Plane:
    """Return the axial, coronal or sagittal plane (`kind`) through the voxel `at`, an index of an array."""
    order, steps = ((0, 1, 2), (-1, -1, -1)) if affine is None else orientation_of(affine)
    sizes = (1.0, 1.0, 1.0) if spacing is None else spacing
    down, across = _ROWS_AND_COLUMNS[kind]
    axis, axes = order[kind], (order[down], order[across])
    return Plane(
        NAMES[kind],
        axis,
        int(at[axis]),
        tuple(shape),
        axes,
        (steps[down] == 1, steps[across] == 1),
        (sizes[axes[0]], sizes[axes[1]]),
    )


def axial_plane_of_most_errors(
    states: NDArray[np.uint8], spacing: Sequence[float] | None = None, affine: Affine | None = None
) -> Plane:
    """Return the axial plane with most wrong voxels, the first of equals; without any the middle of what is seen."""
    middle = plane_at(states.shape, [extent // 2 for extent in states.shape], AXIAL, spacing, affine)
    across = tuple(axis for axis in range(3) if axis != middle.axis)
    wrong = np.isin(states, WRONG).sum(axis=across)
    if wrong.any():
        return middle._replace(at=int(wrong.argmax()))
    # Not the plane with most to see: of contours that is where a surface lies in the plane.
    seen = np.flatnonzero(seen_in(states).any(axis=across))
    return middle._replace(at=int(seen[seen.size // 2])) if seen.size else middle


def slices_of_errors(
    states: NDArray[np.uint8], spacing: Sequence[float] | None = None, affine: Affine | None = None
) -> tuple[Plane, Plane, Plane, Plane]:
    """Choose the slices that show the errors of a volume.

    Parameters
    ----------
    states : array of uint8, shape (depth, height, width)
        The `State` of each voxel.
    spacing : sequence of float, optional
        How far voxels are apart along the axes of the array; by default 1.
    affine : tuple of tuple of float, optional
        Where voxels lie, see `segbench.core.geometry`.

    Returns
    -------
    tuple of Plane
        The axial, coronal and sagittal plane through the largest error (`largest_error`), and the axial plane with most
        wrong voxels. Without errors, the planes through the middle of what there is to see.

    Examples
    --------
    >>> states = np.zeros((4, 6, 8), np.uint8)
    >>> states[1, 2, 3], states[2, 4:, 6] = State.FALSE, State.TRUE
    >>> [plane.title for plane in slices_of_errors(states, (2.5, 1, 1))][:2]
    ['axial slice 1 of 0 to 3', 'coronal slice 2 of 0 to 5']
    >>> slices_of_errors(states, (2.5, 1, 1))[1].cut(states).shape
    (10, 8)
    """
    voxel = largest_error(states, spacing)
    if voxel is None:
        seen = box_of(seen_in(states))
        whole = zip(seen, states.shape, strict=True)
        voxel = tuple((part.start + part.stop) // 2 if part.stop else extent // 2 for part, extent in whole)
    axial, coronal, sagittal = (plane_at(states.shape, voxel, kind, spacing, affine) for kind in range(3))
    return axial, coronal, sagittal, axial_plane_of_most_errors(states, spacing, affine)


def largest_error(states: NDArray[np.uint8], spacing: Sequence[float] | None = None) -> tuple[int, ...] | None:
    """Return the voxel with the largest error, in the unit of the spacing; None where no voxel is wrong.

    It is the false voxel that lies farthest from any that was found or missed, or the missed one that lies farthest
    from any that was found or is false: of masks, the voxel at their Hausdorff distance. Where there are no such
    voxels, as of label maps, it is the wrong voxel that lies deepest among wrong ones.
    """
    seen = seen_in(states)
    box = tuple(slice(max(0, part.start - 1), part.stop + 1) for part in box_of(seen))
    inside, sizes = states[box], np.ones(3) if spacing is None else np.array(spacing, np.float64)
    farthest, largest = -1.0, None
    for state in WRONG:
        wrong = inside == state
        if not wrong.any():
            continue
        others = seen[box] & ~wrong
        distance, voxel = _farthest(wrong, others if others.any() else ~wrong, sizes)
        if distance > farthest:
            farthest, largest = distance, tuple(part.start + index for part, index in zip(box, voxel, strict=True))
    return largest


def _farthest(wrong: BoolArray, others: BoolArray, sizes: NDArray[np.float64]) -> tuple[float, tuple[int, ...]]:
    """Return how far the voxel farthest from others lies from them, and this voxel; of large volumes by blocks."""
    from scipy.ndimage import distance_transform_edt

    side = 1
    while wrong.size / side**3 > _MOST_MEASURED:
        side += 1
    if not others.any():
        return np.inf, tuple(np.argwhere(wrong)[0].tolist())
    distances = distance_transform_edt(~_any_of_blocks(others, side), sampling=side * sizes)
    distances[~_any_of_blocks(wrong, side)] = -1
    block = np.unravel_index(int(distances.argmax()), distances.shape)
    first = [side * int(index) for index in block]
    in_block = np.argwhere(wrong[tuple(slice(start, start + side) for start in first)])[0]
    return float(distances[block]), tuple(int(start + index) for start, index in zip(first, in_block, strict=True))


def _any_of_blocks(mask: BoolArray, side: int) -> BoolArray:
    """Mark cubes of voxels in which any is marked."""
    for axis in range(mask.ndim) if side > 1 else ():
        mask = np.logical_or.reduceat(mask, np.arange(0, mask.shape[axis], side), axis=axis)
    return mask


def cut_pictures(pictures: Pictures, plane: Plane) -> Pictures:
    """Return the pictures of a slice of a volume."""

    def cut(volume: ByteArray | None) -> ByteArray | None:
        return None if volume is None else plane.cut(volume)

    return replace(
        pictures,
        truth=plane.cut(pictures.truth),
        truth_ranks=plane.cut(pictures.truth_ranks),
        reached=cut(pictures.reached),
        soft=cut(pictures.soft),
        classes=cut(pictures.classes),
        states=[plane.cut(states) for states in pictures.states],
        outlines=[plane.cut(edges) for edges in pictures.outlines],
    )
