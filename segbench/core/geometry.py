"""Where the voxels of a volume lie, as its header says: the spacing along each axis, and the position of each voxel.

Axes are those of arrays, (z, y, x); texts name spacings in the order of headers, width x height x depth. Positions are
RAS, as NIfTI has them: x rises to the right, y to the front and z to the top of a patient.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import permutations, product
from typing import TYPE_CHECKING

from segbench.core.messages import NOTHING, Message

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Affine = tuple[tuple[float, ...], ...]
"""Rows x, y and z of a matrix that takes (z, y, x, 1), an index of an array, to a position."""

CORNERS_APART = 0.05
"""How far the corner voxels of a pair may lie apart, as a share of the smallest spacing."""
MOST_DIFFERENCE, MOST_RELATIVE_DIFFERENCE = 1e-3, 1e-2
"""By how much a spacing may differ from the distance of neighbours by the affine: absolutely, and as a share of it,
which is less for spacings below .1."""
MOST_COSINE = 1e-3
"""The cosine of two axes above which they are not perpendicular."""


@dataclass(frozen=True)
class Geometry:
    """Spacing and position of the voxels of a file.

    Parameters
    ----------
    spacing : tuple of float
        Distances of neighbours along each axis, in the order of the axes of the array.
    affine : tuple of tuple of float, optional
        Where voxels lie, see `Affine`; None where the file does not say.
    fault : Message
        Why no spacing can be relied on; empty if it can.
    """

    spacing: tuple[float, ...]
    affine: Affine | None = None
    fault: Message = NOTHING

    def checked(self) -> Geometry:
        """Return the geometry with its fault, if it has one."""
        return replace(self, fault=_spacing_fault(self.spacing, self.affine))

    @property
    def written_spacing(self) -> str:
        """The spacing as it is typed: width x height x depth."""
        return written_spacing(self.spacing)

    def corners(self, shape: Sequence[int]) -> NDArray[np.float64]:
        """Return the positions of the corner voxels of an array, the first and the last index along each axis."""
        import numpy as np

        ends = [(0, extent - 1) for extent in shape]
        indices = np.array([(*corner, 1) for corner in product(*ends)], np.float64)
        positions: NDArray[np.float64] = indices @ np.array(self.affine, np.float64).T
        return positions


def written_spacing(spacing: Sequence[float], digits: int = 10) -> str:
    """Write a spacing, given in the order of an array's axes, as headers have it: width x height x depth."""
    return "x".join(f"{extent:.{digits}g}" for extent in reversed(spacing))


def shortest_decimal(stored: float) -> float:
    """Return the number with the fewest digits that is stored as this float32: .7 for .699999988."""
    import numpy as np

    return float(str(np.float32(stored)))


def corners_apart(geometry: Geometry, other: Geometry, shape: Sequence[int]) -> float:
    """Return how far the farthest corner voxel of one array lies from its counterpart in another."""
    import numpy as np

    apart = geometry.corners(shape) - other.corners(shape)
    return float(np.sqrt((apart**2).sum(axis=1)).max())


def orientation_of(affine: Affine) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return which axis of an array lies closest to z, y and x of a patient, and whether it rises (1) or falls (-1)."""
    import numpy as np

    columns = np.array(affine, np.float64)[:, :3]
    directions = columns / np.sqrt((columns**2).sum(axis=0))  # rows are x, y and z

    def closeness(order: tuple[int, ...]) -> float:
        return sum(abs(float(directions[row, axis])) for row, axis in zip((2, 1, 0), order, strict=True))

    order = max(permutations(range(3)), key=closeness)
    steps = tuple(1 if directions[row, axis] >= 0 else -1 for row, axis in zip((2, 1, 0), order, strict=True))
    return order, steps


def order_of_axes(shape: Sequence[int], expected: Sequence[int]) -> tuple[int, ...]:
    """Return the first other order of axes in which an array has the shape expected; empty if there is none."""
    orders = permutations(range(len(shape)))
    return next((axes for axes in orders if tuple(shape[axis] for axis in axes) == tuple(expected)), ())


def transposition(order: Sequence[int]) -> str:
    """Write the code that puts the axes of an array into an order."""
    return f"{'volume' if len(order) == 3 else 'image'}.transpose({', '.join(map(str, order))})"


def how_to_fit(shape: Sequence[int], expected: Sequence[int], otherwise: Message) -> Message:
    """Say how an array is brought to the shape of the ground truth: by the order of its axes, or as is said."""
    order = order_of_axes(shape, expected)
    if not order:
        return otherwise
    return Message("permuted-axes", "its axes are permuted: {code} puts them right", code=transposition(order))


def _spacing_fault(spacing: Sequence[float], affine: Affine | None) -> Message:
    """Say why a spacing cannot be relied on; nothing if it can."""
    if not all(math.isfinite(extent) and extent > 0 for extent in spacing):
        return Message(
            "wrong-spacing",
            "has a spacing of {spacing}, expected finite numbers above 0",
            spacing=written_spacing(spacing),
        )
    if affine is None:
        return NOTHING
    import numpy as np

    columns = np.array(affine, np.float64)[:, :-1]
    if not np.isfinite(np.array(affine)).all():
        return Message("wrong-affine", "has an affine with numbers that are not finite")
    lengths = np.sqrt((columns**2).sum(axis=0))
    tolerances = [min(MOST_DIFFERENCE, MOST_RELATIVE_DIFFERENCE * extent) for extent in spacing]
    if any(abs(lengths - spacing) > tolerances):
        return Message(
            "spacing-differs",
            "has a spacing of {spacing}, but neighbouring voxels are {lengths} apart by its affine",
            spacing=written_spacing(spacing),
            lengths=written_spacing(lengths.tolist(), digits=6),
        )
    directions = columns / lengths
    cosines = np.abs(directions.T @ directions - np.eye(len(spacing)))  # less those of axes with themselves
    if cosines.max() > MOST_COSINE:
        return Message(
            "sheared",
            "has axes that are not perpendicular: the largest cosine of two of them is {cosine:.3g}, expected at most "
            "{most:g}, so the spacing of {spacing} does not tell distances",
            cosine=float(cosines.max()),
            most=MOST_COSINE,
            spacing=written_spacing(spacing),
        )
    return NOTHING
