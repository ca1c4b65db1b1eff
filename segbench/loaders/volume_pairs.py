"""A ground truth and a prediction on one grid of voxels: pairs that are not are refused, and nothing is resampled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from segbench.core.errors import DataError
from segbench.core.geometry import CORNERS_APART, Affine, Geometry, corners_apart, order_of_axes, transposition
from segbench.core.messages import Message, Note, Setting
from segbench.core.sample import Maps, Reading
from segbench.loaders.decoded import Header, Role
from segbench.loaders.source import Source, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TURNED, _NOTICED, _EQUAL = 0.01, 1e-3, 1e-6
"""By how much directions, or spacings, differ noticeably; and by how much they may differ and be equal."""
_GIVEN_SPACING = Setting("spacing", None)
_ARRAYS_ALONE = Setting("geometry", "shape", of="Repairs")


class GridSettings(Protocol):
    """The settings of a run that matter for grids, those of `segbench.Repairs`."""

    @property
    def geometry(self) -> str:
        """Whether positions by headers are compared, or shapes alone."""

    @property
    def resize(self) -> object:
        """How predictions are resized."""

    @property
    def crop(self) -> bool:
        """Whether predictions are cropped."""

    @property
    def nodata(self) -> object:
        """What is done to pixels without data."""


class GridError(DataError):
    """Volumes of a pair that are not on one grid."""


@dataclass(frozen=True, eq=False)
class Grid:
    """The grid that a file is on: its shape, without an axis of classes, and its geometry."""

    file: str
    shape: tuple[int, ...]
    volume: bool
    geometry: Geometry | None

    @classmethod
    def of(cls, file: str, maps: Maps, axes: int) -> Grid:
        """Return the grid of maps, of which a stack has one axis more than these, the first or the last."""
        shape = maps.maps[0].shape
        if len(shape) > axes:  # which axis that is, only the protocol can tell
            shape = ()
        return cls(file, shape, maps.volume, maps.geometry)


@dataclass(frozen=True, eq=False)
class OneGrid:
    """What the grids of an image have in common."""

    spacing: tuple[float, ...] | None
    volume: bool
    notes: tuple[Note, ...]
    affine: Affine | None


ON_PIXELS = OneGrid(None, volume=False, affine=None, notes=())
"""The grid of images of which no file tells a geometry."""


def one_grid(
    truths: Sequence[tuple[str, Maps]], prediction: tuple[str, Maps], reads: Reading, repairs: GridSettings
) -> OneGrid:
    """Refuse what is not on the grid of the first ground truth, and return what is known of that."""
    sides = [*truths, prediction]
    volume = any(maps.volume for _, maps in sides)
    axes = 3 if volume else 2
    return compare([Grid.of(file, maps, axes) for file, maps in sides if maps.maps], reads, repairs)


def compare(grids: Sequence[Grid], reads: Reading, repairs: GridSettings) -> OneGrid:
    """Refuse grids that are not that of the first, and return what they have in common."""
    volume = any(grid.volume for grid in grids)
    if volume:
        _refuse_settings(grids, reads, repairs)
        for other in grids[1:]:
            require_shape(other, grids[0])
    _refuse_faults(grids, reads, repairs)
    notes: list[Note] = []
    for other in grids[1:]:
        if other.shape in ((), grids[0].shape):
            notes += _require_position(other, grids[0], arrays_alone=repairs.geometry == "shape")
    known = [grid.geometry for grid in grids if grid.geometry and not grid.geometry.fault]
    affine = next((geometry.affine for geometry in known if geometry.affine), None)
    return OneGrid(known[0].spacing if known else None, volume, tuple(notes), affine)


def grid_error_of(
    headers: Sequence[tuple[Source, Role, Header]], reads: Reading, repairs: GridSettings
) -> GridError | None:
    """Return why the files of an image are not on one grid, as far as their headers tell; None of images."""
    known = [
        Grid(shown(path), header.volume or header.shape or (), header.volume is not None, header.geometry)
        for path, role, header in headers
        if (header.volume or header.shape) and not header.odd and role != "field"
    ]
    if not any(grid.volume or grid.geometry for grid in known) or known[0].file != shown(headers[0][0]):
        return None
    try:
        compare(known, reads, repairs)
    except GridError as error:
        return error
    return None


def _refuse_settings(grids: Sequence[Grid], reads: Reading, repairs: GridSettings) -> None:
    """Refuse volumes of a protocol that counts none, and repairs that are for images."""
    first = next(grid for grid in grids if grid.volume)
    if reads.without_volumes:
        raise refused_volume(first, reads)
    needless = [name for name in ("resize", "crop", "nodata") if getattr(repairs, name)]
    if needless:
        setting = Setting("resize_predictions" if needless[0] == "resize" else needless[0], None)
        problem = Message("volume", "is a volume, which nothing is done to: no resizing, cropping or values of no data")
        raise GridError(first.file, problem, Message("fix", "leave out {given}", given=setting))


def refused_volume(grid: Grid, reads: Reading) -> GridError:
    """Say that a protocol counts no volumes."""
    problem = Message(
        "volume",
        "is a volume of {shape: x } voxels (depth x height x width), and {reason}",
        shape=grid.shape,
        reason=reads.without_volumes,
    )
    return GridError(grid.file, problem, "save each slice as an image of its own")


def refuse_field(file: str) -> None:
    """Refuse a field of view of volumes."""
    problem = Message("volume", "is a field of view, which is for images of two dimensions, and these are volumes")
    raise DataError(file, problem, "give the voxels to leave out a label that is void in the ground truth")


def require_shape(grid: Grid, truth: Grid) -> None:
    """Refuse a file of another shape than the ground truth; one that is equal after permuting axes says so."""
    if grid.shape in ((), truth.shape):
        return
    shapes = {"shape": grid.shape, "expected": truth.shape, "other": truth.file}
    if len(grid.shape) != len(truth.shape):
        problem = Message(
            "other-dimensions", "has the shape {shape: x }, expected {expected: x } as in {other}", **shapes
        )
        raise GridError(grid.file, problem, "compare volumes with volumes, and images with images")
    order = order_of_axes(grid.shape, truth.shape)
    if order:
        problem = Message(
            "permuted-axes",
            "is {shape: x } (depth x height x width), expected {expected: x } as in {other}: its axes are permuted",
            **shapes,
        )
        hint = Message(
            "fix",
            "save it with the axes of the ground truth: {code} of an array (z, y, x), and its affine alike",
            code=transposition(order),
        )
        raise GridError(grid.file, problem, hint)
    problem = Message(
        "other-shape", "is {shape: x } (depth x height x width), expected {expected: x } as in {other}", **shapes
    )
    raise GridError(grid.file, problem, "resample it to the grid of the ground truth, labels by nearest neighbour")


def _require_position(grid: Grid, truth: Grid, *, arrays_alone: bool) -> list[Note]:
    """Refuse a file whose corner voxels lie elsewhere than those of the ground truth, or note it."""
    apart = distance_of_grids(grid.geometry, truth.geometry, truth.shape)
    if apart is None:
        return []
    distance, difference = apart
    if arrays_alone:
        message = Message(
            "geometry-ignored", "{side} lies elsewhere than the ground truth by its header; arrays are compared alone"
        )
        return [Note(message, "prediction", detail=Message("apart", "up to {apart:.4g} apart", apart=distance))]
    problem = Message(
        "other-geometry",
        "lies elsewhere than {other}: corner voxels are up to {apart:.4g} apart, and {difference}",
        other=truth.file,
        apart=distance,
        difference=difference,
    )
    hint = Message(
        "fix",
        "resample it to the grid of the ground truth, labels by nearest neighbour; if the arrays belong together and "
        "only the headers differ, {shape}",
        shape=_ARRAYS_ALONE,
    )
    raise GridError(grid.file, problem, hint)


def distance_of_grids(
    geometry: Geometry | None, truth: Geometry | None, shape: Sequence[int]
) -> tuple[float, Message] | None:
    """Return how far corner voxels are apart and what differs; None if both lie together, or one does not tell."""
    if geometry is None or truth is None or geometry.affine is None or truth.affine is None:
        return None
    spacing = [extent for extent in (*geometry.spacing, *truth.spacing) if extent > 0]
    distance = corners_apart(geometry, truth, shape)
    if distance <= CORNERS_APART * min(spacing, default=1.0) or math.isnan(distance):
        return None
    return distance, _difference(geometry, truth, distance)


def _difference(geometry: Geometry, truth: Geometry, distance: float) -> Message:
    """Say what differs of two geometries: the spacing, directions or the origin.

    Differences that are too small to be noticed by themselves are named where the origin explains less than half of it.
    """
    import numpy as np

    ours, theirs = np.array(geometry.affine), np.array(truth.affine)
    shift = ours[:, -1] - theirs[:, -1]
    explained = float(np.sqrt((shift**2).sum())) >= distance / 2
    if not np.allclose(geometry.spacing, truth.spacing, rtol=_NOTICED if explained else _EQUAL, atol=0):
        return Message(
            "other-spacing",
            "the spacing is {spacing}, not {expected}",
            spacing=geometry.written_spacing,
            expected=truth.written_spacing,
        )
    directions = [_unit_columns(affine[:, :-1]) for affine in (ours, theirs)]
    turned = np.abs(directions[0] - directions[1]).max(axis=0) > (_TURNED if explained else _EQUAL)
    if turned.any():
        names = [name for name, differs in zip("zyx"[-turned.size :], turned.tolist(), strict=True) if differs]
        mirrored = np.allclose(directions[0], np.where(turned, -1, 1) * directions[1], atol=_TURNED)
        verb = "is" if len(names) == 1 else "are"
        how = f"{verb} {'mirrored' if mirrored else 'turned'}"
        noun = "axis" if len(names) == 1 else "axes"
        return Message("turned-axes", "{noun} {axes: and } {how}", noun=noun, axes=names[::-1], how=how)
    steps = [float(f"{step:.4g}") for step in shift.tolist()]
    return Message("shifted", "it is shifted by {shift: x } (right, front, top)", shift=steps)


def _unit_columns(columns: NDArray[Any]) -> NDArray[Any]:
    """Return columns of length 1."""
    return columns / (columns**2).sum(axis=0) ** 0.5


def _refuse_faults(grids: Sequence[Grid], reads: Reading, repairs: GridSettings) -> None:
    """Refuse a spacing that cannot be relied on, unless it is given, or nothing is measured in it and arrays count."""
    if reads.spacing == "given" or (reads.spacing == "unused" and repairs.geometry == "shape"):
        return
    for grid in grids:
        if grid.geometry and grid.geometry.fault:
            raise GridError(grid.file, grid.geometry.fault, hint_on_fault(reads))


def hint_on_fault(reads: Reading) -> Message:
    """Say what to do about a spacing that cannot be relied on."""
    if reads.spacing == "header":
        return Message("fix", "correct the header, or name the spacing: {spacing}", spacing=_GIVEN_SPACING)
    return Message("fix", "correct the header, or compare arrays alone: {shape}", shape=_ARRAYS_ALONE)
