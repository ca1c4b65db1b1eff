"""Counts of contours: areas, overlaps, and how many elements of a contour lie at each distance from the other."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar, NamedTuple

import numpy as np

from segbench.core.arrays import FloatArray, IntArray, as_counts, frozen
from segbench.core.counts import Counts, noting_origin
from segbench.core.errors import ArgumentError
from segbench.core.messages import Message
from segbench.core.settings import as_whole, check_choice
from segbench.imaging.surfaces import SurfaceDistances, sizes_of_classes
from segbench.inputs.class_names import read_class_labels
from segbench.inputs.class_regions import counted_labels

MASKS, OBJECTS = "masks", "objects"
"""What `ContourCounts.classes` holds where there are no classes: one mask, or as many objects as an image has."""

NO_MATRIX: IntArray = np.zeros((0, 1), np.int64)
HALF = np.sqrt(0.5)
"""The length of an element of a contour that cuts off the corner of a pixel."""

_TABLES = {"areas": 3, "bands": 3, "davis": 4}
_LISTS = ("squared", "units", "halves")
_MOST_DIGITS = 1000
_DIFFERENT = Message(
    "inconsistent-counts", "the arrays of contour counts are of different masks; take counts from segbench.count"
)


@dataclass(frozen=True, eq=False)
class Distances:
    """Squared distances, rising, and the length of the contour at each: ``units + halves * HALF``."""

    squared: IntArray
    units: IntArray
    halves: IntArray
    are_lengths: bool = False
    """Whether percentiles are those of lengths; otherwise pixels or voxels count alike."""

    def __add__(self, other: Distances) -> Distances:
        """Return the distances of both."""
        squared, index = np.unique(np.concatenate([self.squared, other.squared]), return_inverse=True)
        lengths = np.zeros((2, squared.size), np.int64)
        for of_both, name in zip(lengths, ("units", "halves"), strict=True):
            np.add.at(of_both, index, np.concatenate([getattr(self, name), getattr(other, name)]))
        return Distances(squared, lengths[0], lengths[1], self.are_lengths)

    @cached_property
    def lengths(self) -> FloatArray:
        """The length at each distance."""
        return self.units + self.halves * HALF

    @cached_property
    def length(self) -> float:
        """The length of the contour, of sums of whole numbers."""
        return float(self.units.sum() + self.halves.sum() * HALF)

    @property
    def farthest(self) -> float:
        """The largest distance."""
        return float(np.sqrt(self.squared[-1]))

    @property
    def total(self) -> float:
        """The distances, weighted by lengths, added up."""
        return float(self.lengths @ np.sqrt(self.squared))

    def within(self, squares: IntArray) -> FloatArray:
        """Return the length whose squared distance is at most each of some squares."""
        near = np.searchsorted(self.squared, squares, side="right")
        units, halves = (np.concatenate([[0], np.cumsum(part)])[near] for part in (self.units, self.halves))
        return units + halves * HALF

    def percentile(self) -> float:
        """Return the 95th percentile.

        By lengths it is the smallest distance that 95 % of the length do not exceed. Otherwise pixels count alike, and
        it lies on a straight line between two of them, as `numpy.percentile` has it.
        """
        if self.are_lengths:
            # 20 (a + b HALF) >= 19 (A + B HALF) of whole numbers: exact where the two are equal.
            units, halves = (20 * np.cumsum(part) - 19 * part.sum() for part in (self.units, self.halves))
            reached = int(np.argmax(units + halves * HALF >= 0))
            return float(np.sqrt(self.squared[reached]))
        numbers = np.cumsum(self.units)
        below, remainder = divmod(95 * (int(numbers[-1]) - 1), 100)
        ranks = [below, below + (remainder > 0)]
        low, high = np.sqrt(self.squared[np.searchsorted(numbers, ranks, side="right")]).tolist()
        return float(low + (high - low) * remainder / 100)


class Mask(NamedTuple):
    """What one mask of an image is measured by, see `ContourCounts`."""

    areas: Sequence[int]
    bands: Sequence[int]
    davis: Sequence[int]
    distances: tuple[Distances, Distances] | tuple[SurfaceDistances, SurfaceDistances] | None
    """From ground truth to prediction, and back; None of images with different spacings together."""
    diagonal: float
    """The diagonal of the image, in pixels, or in mm if the unit is in mm."""
    unit: Fraction
    """How long distances of 1 are: in mm, or 1 where these are in pixels."""
    dimensions: int


@dataclass(frozen=True, eq=False, repr=False)
class ContourCounts(Counts):
    """What the contours of one image, or of many, are measured by: of a single mask, of classes, or of objects.

    Counts of the same classes add with ``+``. Metrics are means over images, so that sums give the distribution of
    distances alone.

    Parameters
    ----------
    classes : str
        ``"masks"`` for a single mask, ``"objects"`` for numbered objects, or the classes as in `LabelCounts`.
    surface : {"pixels", "lengths", "voxels", "areas"}
        What contours are made of, as in `Contours`; voxels and areas are of volumes.
    images : int
        How many images are added up.
    squared_diagonal : int
        Height squared plus width squared, and depth squared of volumes; of several images the largest.
    areas, bands : array of int, shape (K, 3)
        For each of K masks the pixels of the ground truth, of the prediction and of both: those of the masks, and of
        their bands (Boundary IoU; 0 in volumes).
    davis : array of int, shape (K, 4)
        Boundary pixels as DAVIS defines them: of the ground truth, of the prediction, and those of each that are near
        the other; 0 in volumes.
    sizes : array of int, shape (K, 2 S)
        How many entries of the lists below there are from ground truth to prediction, and back. Of images with S
        different spacings together, those of each spacing in turn.
    squared, units, halves : array of int
        The squared distances, rising, of each mask and direction in turn, and the length of the contour at each:
        ``units + halves * sqrt(1 / 2)``. Of pixels, voxels, and elements in classes, `units` is their number.
    matrix : array of int, shape (K, K + 1)
        Of classes the pixels by true and predicted label, as in `LabelCounts`; empty without classes.
    unit : str
        The unit of distances in mm, as a decimal; several between commas, of each spacing. Empty for pixels.
    steps, shapes : array of int, shape (S, axes)
        Of volumes, and with units: how many units neighbouring pixels or voxels are apart along each axis, and how many
        there are. Otherwise both are empty.
    elements : array of int
        The class of the elements of each entry of the lists, where these have areas, or lengths in mm; otherwise empty.

    Raises
    ------
    ArgumentError
        If arrays do not fit each other, or hold anything but counts.

    Examples
    --------
    >>> import numpy as np
    >>> from segbench import count
    >>> truth, predicted = np.zeros((2, 6, 6), bool)
    >>> truth[1:4, 1:4] = predicted[1:4, 2:5] = True
    >>> counts = count(truth, predicted, "contours")
    >>> counts.areas.tolist(), counts.metrics()["hd"], counts.metrics()["assd"]
    ([[9, 9, 6]], 1.0, 0.5)
    """

    kind: ClassVar[str] = "contours"

    classes: str
    surface: str
    images: int
    squared_diagonal: int
    areas: IntArray
    bands: IntArray
    davis: IntArray
    sizes: IntArray
    squared: IntArray
    units: IntArray
    halves: IntArray
    matrix: IntArray
    unit: str = ""
    steps: IntArray = ()  # type: ignore[assignment]  # becomes an array
    shapes: IntArray = ()  # type: ignore[assignment]  # becomes an array
    elements: IntArray = ()  # type: ignore[assignment]  # becomes an array

    def __post_init__(self) -> None:
        check_choice(self.surface, "surface", ("pixels", "lengths", "voxels", "areas"))
        for name in ("images", "squared_diagonal"):
            object.__setattr__(self, name, as_whole(getattr(self, name), name, most=2**62))
        spacings = self.unit.split(",") if self.unit else [""]
        is_spaced = bool(self.unit) or self.dimensions == 3
        columns = _TABLES | {"sizes": 2 * len(spacings), "steps": self.dimensions, "shapes": self.dimensions}
        for name in (*columns, *_LISTS, "elements"):
            values = as_counts(np.asarray(getattr(self, name)).reshape(-1), name).astype(np.int64, copy=False)
            if name in columns and values.size % columns[name]:
                raise ArgumentError(_DIFFERENT)
            object.__setattr__(self, name, frozen(values.reshape(-1, columns[name]) if name in columns else values))
        masks = {len(getattr(self, name)) for name in (*_TABLES, "sizes")}
        listed = {getattr(self, name).size for name in _LISTS}
        known = self.names
        in_classes = self.surface == "areas" or (self.surface == "lengths" and is_spaced)
        if (
            len(masks) > 1
            or listed != {int(self.sizes.sum())}
            or (known and masks != {len(known)})
            or {len(self.steps), len(self.shapes)} != {len(spacings) if is_spaced else 0}
            or self.elements.size != (self.squared.size if in_classes else 0)
            or not all(map(_is_decimal, filter(None, spacings)))
            or (self.steps == 0).any()
        ):
            raise ArgumentError(_DIFFERENT)
        size = 0 if self.classes in (MASKS, OBJECTS) else len(counted_labels(read_class_labels(self.classes)[0]))
        matrix = as_counts(np.asarray(self.matrix).reshape(-1), "matrix").astype(np.int64, copy=False)
        if matrix.size != size * (size + 1):
            raise ArgumentError(_DIFFERENT)
        object.__setattr__(self, "matrix", frozen(matrix.reshape(size, size + 1)))

    @property
    def dimensions(self) -> int:
        """How many axes images have."""
        return 3 if self.surface in ("voxels", "areas") else 2

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the masks; empty for objects, which images have different numbers of."""
        if self.classes in (MASKS, OBJECTS):
            return (MASKS,) if self.classes == MASKS else ()
        return read_class_labels(self.classes)[1]

    @property
    def settings(self) -> tuple[str, ...]:
        return self.classes, self.surface, "mm" if self.unit else ""

    @property
    def ground_truth(self) -> str:
        noun = "voxels" if self.dimensions == 3 else "pixels"
        return f"{', '.join(map(str, self.areas[:, 0].tolist()))} {noun}"

    def distances(self, mask: int = 0) -> tuple[Distances, Distances] | tuple[SurfaceDistances, SurfaceDistances]:
        """Return the distances of one of the masks: from its ground truth to its prediction, and back.

        Parameters
        ----------
        mask : int
            Which of the masks.

        Returns
        -------
        tuple of distances
            With ``squared``, the squared distances in squares of `unit` (or of pixels), rising; ``length`` and
            ``total`` of the contour, or the area of the surface; and ``farthest``, in that unit.

        Raises
        ------
        ArgumentError
            If counts of images with different spacings were added up.
        """
        if self.sizes.shape[1] > 2:
            raise ArgumentError(
                Message(
                    "several-spacings",
                    "distances are given image by image where spacings differ, and these counts are of {spacings} "
                    "spacings",
                    spacings=self.sizes.shape[1] // 2,
                )
            )
        first = int(self.sizes[:mask].sum())
        middle, last = (first + np.cumsum(self.sizes[mask])).tolist()
        to_prediction, to_truth = slice(first, middle), slice(middle, last)
        if self.elements.size:
            return self._surface_distances(to_prediction), self._surface_distances(to_truth)
        return self._lengths(to_prediction), self._lengths(to_truth)

    def _lengths(self, entries: slice) -> Distances:
        """Return the distances that these entries hold."""
        are_lengths = self.surface == "lengths"
        return Distances(self.squared[entries], self.units[entries], self.halves[entries], are_lengths)

    def _surface_distances(self, entries: slice) -> SurfaceDistances:
        """Return the distances of elements with areas or lengths that these entries hold."""
        areas = sizes_of_classes(self.surface, self.steps[0].tolist(), self._unit)  # type: ignore[arg-type]  # checked
        return SurfaceDistances(self.squared[entries], self.elements[entries], self.units[entries], areas)

    @property
    def _unit(self) -> Fraction:
        """How long distances of 1 are, the first of several."""
        return Fraction(self.unit.partition(",")[0] or 1)

    def one(self, mask: int) -> ContourCounts:
        """Return the counts of one of the masks alone; of an object that is in neither map those of empty masks."""
        columns = {**_TABLES, "sizes": self.sizes.shape[1]}
        lists = (*_LISTS, "elements") if self.elements.size else _LISTS
        if mask >= len(self.areas):
            empty: dict[str, Any] = {name: np.zeros((1, width), np.int64) for name, width in columns.items()}
            empty |= {name: np.zeros(0, np.int64) for name in lists}
            return replace(self, classes=MASKS, **empty, matrix=NO_MATRIX)
        first = int(self.sizes[:mask].sum())
        entries = slice(first, first + int(self.sizes[mask].sum()))
        of_mask = {name: getattr(self, name)[mask : mask + 1] for name in columns}
        of_mask |= {name: getattr(self, name)[entries] for name in lists}
        return replace(self, classes=MASKS, **of_mask, matrix=NO_MATRIX)

    def mask(self, mask: int) -> Mask:
        """Return what one of the masks is measured by."""
        areas, bands, davis = (table[mask].tolist() for table in (self.areas, self.bands, self.davis))
        distances = self.distances(mask) if self.sizes.shape[1] == 2 else None
        return Mask(areas, bands, davis, distances, self._diagonal, self._unit, self.dimensions)

    @property
    def _diagonal(self) -> float:
        """The diagonal of the image, in pixels or mm."""
        if not self.unit:
            return math.sqrt(self.squared_diagonal)
        sides = zip(self.shapes[0].tolist(), self.steps[0].tolist(), strict=True)
        return math.sqrt(sum((size * step * self._unit) ** 2 for size, step in sides))

    @classmethod
    @noting_origin
    def sum(cls, counts: Iterable[ContourCounts]) -> ContourCounts:
        total: ContourCounts | None = None
        remaining = iter(counts)
        # So many at a time, so that those of very many images are not held together.
        while batch := list(islice(remaining, 64)):
            total = _pooled(batch if total is None else [total, *batch])
        if total is None:
            raise ArgumentError(Message("nothing-counted", "there are no counts to add up; count an image first"))
        return total


def _is_decimal(text: str) -> bool:
    """Whether a text is a decimal above 0, as `ContourCounts.unit` has it."""
    whole, _, fraction = text.partition(".")
    digits = whole + fraction
    return len(text) < _MOST_DIGITS and digits.isascii() and digits.isdigit() and bool(digits.strip("0"))


Scale = tuple[str, tuple[int, ...]]
"""The unit of an image, and its steps."""


def _pooled(counts: Sequence[ContourCounts]) -> ContourCounts:
    """Add up counts: lists of the same spacing, mask and direction are joined."""
    first = counts[0]
    for other in counts:
        if other.settings != first.settings:
            raise ArgumentError(
                Message(
                    "other-counts",
                    "counts of the same classes and surface add up, but there are {first} and {other}",
                    first=str(first.settings),
                    other=str(other.settings),
                )
            )
    masks = max(len(of_image.areas) for of_image in counts)
    added: dict[str, Any] = {}
    for name, width in _TABLES.items():
        added[name] = np.zeros((masks, width), np.int64)
        for of_image in counts:
            added[name][: len(of_image.areas)] += getattr(of_image, name)
    shapes = _shapes_of_scales(counts)
    scales = sorted(shapes)
    numbers = {scale: number for number, scale in enumerate(scales)}
    lists = {name: np.concatenate([getattr(of_image, name) for of_image in counts]) for name in (*_LISTS, "elements")}
    lists_of = np.concatenate([_lists_of(of_image, numbers) for of_image in counts])
    elements = lists["elements"] if lists["elements"].size else np.zeros_like(lists_of)
    # Of all lists at once: distances that are equal in the same list come together.
    order = np.lexsort((elements, lists["squared"], lists_of))
    keys = np.array([lists_of[order], lists["squared"][order], elements[order]])
    starts = np.flatnonzero(np.r_[True, np.diff(keys).any(axis=0)][: order.size])
    added["sizes"] = np.bincount(keys[0, starts], minlength=2 * masks * len(scales)).reshape(masks, -1)
    added["squared"] = keys[1, starts]
    if lists["elements"].size:
        added["elements"] = keys[2, starts]
    for name in ("units", "halves"):
        added[name] = np.add.reduceat(lists[name][order], starts) if starts.size else lists[name]
    if first.steps.size:
        added["steps"], added["shapes"] = [steps for _, steps in scales], [shapes[scale] for scale in scales]
    return ContourCounts(
        first.classes,
        first.surface,
        images=sum(of_image.images for of_image in counts),
        squared_diagonal=max(of_image.squared_diagonal for of_image in counts),
        matrix=np.sum([of_image.matrix for of_image in counts], axis=0),
        unit=",".join(unit for unit, _ in scales) if first.unit else "",
        **added,
    )


def _scales_of(counts: ContourCounts) -> list[Scale]:
    """Return the unit and the steps of each spacing of counts; of square pixels one without steps."""
    if not counts.steps.size:
        return [("", ())]
    return list(zip(counts.unit.split(","), map(tuple, counts.steps.tolist()), strict=True))


def _shapes_of_scales(counts: Sequence[ContourCounts]) -> dict[Scale, list[int]]:
    """Return each spacing with the largest size along each axis."""
    shapes: dict[Scale, list[int]] = {}
    for of_image in counts:
        for scale, shape in zip(_scales_of(of_image), of_image.shapes.tolist() or [[]], strict=True):
            shapes[scale] = [max(sizes) for sizes in zip(shape, shapes.get(scale, shape), strict=True)]
    return shapes


def _lists_of(counts: ContourCounts, numbers: dict[Scale, int]) -> IntArray:
    """Return the list that each entry belongs to: by mask, by the number of its spacing, and by direction."""
    columns = [2 * numbers[scale] + direction for scale in _scales_of(counts) for direction in (0, 1)]
    lists = 2 * len(numbers) * np.arange(len(counts.sizes))[:, np.newaxis] + np.array(columns, np.int64)
    return np.repeat(lists.reshape(-1), counts.sizes.reshape(-1))
