"""Distances between the surfaces of masks, of voxels or of elements with areas, exact for any spacing.

Surfaces are marked with the class of the element at each place, `marks_of`; `distances_between` counts the elements of
each class at each squared distance from another surface; and `SurfaceDistances` reads off these counts.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import FloatArray, IntArray
from segbench.imaging.neighbour_normals import NEIGHBOUR_CODE_TO_NORMALS
from segbench.inputs.spacing import SMALLEST_TOO_LARGE, squared_diagonal

ByteArray = NDArray[np.uint8]
Elements = Literal["voxels", "areas", "pixels", "lengths"]
"""What a surface is made of: voxels of a mask beside background, or elements at corners of voxels, with their areas; of
images pixels, or elements with lengths."""

_PACKED = 2**57  # times the number of classes, squares below this number are whole numbers of 64 bits
_CLASSES = 2**5  # more than there are of elements
_AT_ONCE = 2**18  # marks whose distances are counted together, at least
_JOINED = 16  # so many histograms become one
_ROUNDING = 1e-12

_NORMAL_STEPS = 8  # components of normals are whole numbers of eighths
_CODES_OF_LENGTHS = ((0b0001, 0b0010, 0b0100, 0b1000, 0b0111, 0b1011, 0b1101, 0b1110), (0b0011, 0b1100),
                     (0b0101, 0b1010), (0b0110, 0b1001))  # fmt: skip
"""The codes of 2x2 pixels by class, from 1: one diagonal, a horizontal line, a vertical one, two diagonals."""

Triangles = tuple[tuple[tuple[int, int, int], int], ...]
"""The distinct absolute normals of an element, in eighths, and how many of its triangles have each."""


@cache
def _triangles_of_classes() -> tuple[Triangles, ...]:
    """Return the triangles of each class of elements, from 1, in the order of the lowest code of each."""
    return tuple(dict.fromkeys(filter(None, map(_triangles, NEIGHBOUR_CODE_TO_NORMALS))))


def _triangles(normals: Sequence[Sequence[float]]) -> Triangles:
    """Count the triangles of a neighbourhood by their absolute normals."""
    whole = ((int(_NORMAL_STEPS * abs(z)), int(_NORMAL_STEPS * abs(y)), int(_NORMAL_STEPS * abs(x)))
             for z, y, x in normals)  # fmt: skip
    return tuple(sorted(Counter(normal for normal in whole if any(normal)).items()))


@cache
def class_of_codes(dimensions: int) -> ByteArray:
    """Return the class of each code of 2x2x2 voxels or 2x2 pixels; 0 where all are alike."""
    if dimensions == 2:
        classes = np.zeros(16, np.uint8)
        for number, codes in enumerate(_CODES_OF_LENGTHS, 1):
            classes[list(codes)] = number
        return classes
    numbers = {triangles: number for number, triangles in enumerate(_triangles_of_classes(), 1)}
    return np.array([numbers.get(_triangles(normals), 0) for normals in NEIGHBOUR_CODE_TO_NORMALS], np.uint8)


def sizes_of_classes(surface: Elements, steps: Sequence[int], unit: Fraction) -> FloatArray:
    """Return the area of the elements of each class, or their length in two dimensions; that of class 0 is 0.

    Voxels and pixels count alike, whatever their size.
    """
    sizes = [float(step * unit) for step in steps]
    if surface in ("voxels", "pixels"):
        return np.array([0.0, 1.0])
    if surface == "lengths":
        vertical, horizontal = sizes
        diagonal = 0.5 * math.hypot(vertical, horizontal)
        return np.array([0.0, diagonal, horizontal, vertical, 2 * diagonal])
    depth, height, width = sizes
    faces = height * width, depth * width, depth * height
    areas = [0.0]
    for triangles in _triangles_of_classes():
        parts = (
            number * math.hypot(*(part / _NORMAL_STEPS * face for part, face in zip(normal, faces, strict=True)))
            for normal, number in triangles
        )
        areas.append(math.fsum(parts))
    return np.array(areas)


def marks_of(mask: ByteArray, surface: Elements) -> ByteArray:
    """Mark the surface of a mask, cut to the box of both masks, by the class of its elements; an image is one layer."""
    from segbench.imaging import surface_kernels as kernels

    if surface == "voxels":
        marks = np.empty_like(mask)
        kernels.mark_surface_voxels(mask, marks)
        return marks
    if surface == "areas":
        marks = np.empty([size + 1 for size in mask.shape], np.uint8)
        kernels.mark_corners(mask, class_of_codes(3), marks)
        return marks
    padded = np.pad(mask, 1)
    if surface == "pixels":
        inside = padded[:-2, 1:-1] & padded[2:, 1:-1] & padded[1:-1, :-2] & padded[1:-1, 2:]
        return (mask & ~inside)[np.newaxis]
    codes = padded[:-1, :-1] << 3 | padded[:-1, 1:] << 2 | padded[1:, :-1] << 1 | padded[1:, 1:]
    return class_of_codes(2)[codes][np.newaxis]


class Histogram(NamedTuple):
    """How many elements of a surface there are at each squared distance, rising, of each class, rising."""

    squared: IntArray
    elements: IntArray
    numbers: IntArray


def distances_between(first: ByteArray, second: ByteArray, steps: Sequence[int]) -> tuple[Histogram, Histogram]:
    """Count the elements of the first of two surfaces by their squared distance to the second, and the other way.

    Parameters
    ----------
    first, second : array of uint8, shape (depth, height, width)
        Marks of both surfaces, see `marks_of`; neither is empty.
    steps : sequence of int
        How far voxels are apart along each axis. The squared diagonal is below `SMALLEST_TOO_LARGE`.
    """
    along = np.array(steps, np.int64)
    dtype = np.int32 if squared_diagonal(first.shape, steps) < np.iinfo(np.int32).max else np.int64
    depth, height, width = first.shape
    squares = np.empty((height, depth, width), dtype)
    return (
        _histogram(first, second, along, squares),
        _histogram(second, first, along, squares),
    )


class Places(NamedTuple):
    """Where the elements of a surface lie, an array of shape (3, elements), and their classes."""

    indices: IntArray
    classes: ByteArray

    @classmethod
    def of(cls, marks: ByteArray, start: Sequence[int]) -> Places:
        """Return the places of marks whose box starts at an index of the volume."""
        indices = np.array(np.nonzero(marks))
        return cls(indices + np.reshape(start, (3, 1)), marks[tuple(indices)])


def distances_between_few(first: Places, second: Places, steps: Sequence[int]) -> tuple[Histogram, Histogram]:
    """Count the same as `distances_between` pair by pair, which is faster where one surface has few elements."""
    from segbench.imaging import surface_kernels as kernels

    squares = [np.full(side.classes.size, kernels.FARTHER) for side in (first, second)]
    kernels.measure_few(first.indices, second.indices, np.array(steps, np.int64), *squares)
    return _count(squares[0], first.classes), _count(squares[1], second.classes)


def _histogram(marks: ByteArray, others: ByteArray, steps: IntArray, squares: NDArray[np.signedinteger]) -> Histogram:
    """Count marks by their squared distances to the others; `squares` is room for those of all voxels."""
    from segbench.imaging import surface_kernels as kernels

    depth, height, width = marks.shape
    farthest = np.iinfo(np.int32).max if squares.dtype == np.int32 else kernels.FARTHER
    kernels.measure_layers(others, steps, farthest, squares)
    # Distances are counted some planes at a time: those of all marks would take as much memory as all voxels.
    distances = np.empty(max(depth * width, min(marks.size, _AT_ONCE)), np.int64)
    classes = np.empty(distances.size, np.uint8)
    counted: list[Histogram] = []
    plane = 0
    while plane < height:
        planes, number = kernels.measure_marks(marks[:, plane:], squares[plane:], steps, distances, classes)
        plane += planes
        if number:
            counted.append(_count(distances[:number], classes[:number]))
        if len(counted) == _JOINED:
            counted = [_joined(counted)]
    return counted[0] if len(counted) == 1 else _joined(counted)


def _count(squared: IntArray, classes: ByteArray) -> Histogram:
    """Count equal pairs of a squared distance and a class."""
    if squared.max() < _PACKED:
        pairs, numbers = np.unique(squared * _CLASSES + classes, return_counts=True)
        return Histogram(pairs // _CLASSES, pairs % _CLASSES, numbers.astype(np.int64))
    ones = np.ones(squared.size, np.int64)
    return _joined([Histogram(squared, classes.astype(np.int64), ones)])


def _joined(histograms: Sequence[Histogram]) -> Histogram:
    """Add up histograms, the distances of which need not rise."""
    squared, elements, numbers = (np.concatenate(parts) for parts in zip(*histograms, strict=True))
    order = np.lexsort((elements, squared))
    squared, elements, numbers = squared[order], elements[order], numbers[order]
    is_first = np.r_[True, (np.diff(squared) != 0) | (np.diff(elements) != 0)]
    starts = np.flatnonzero(is_first)
    return Histogram(squared[starts], elements[starts], np.add.reduceat(numbers, starts))


@dataclass(frozen=True, eq=False)
class SurfaceDistances:
    """Squared distances of the elements of a surface, rising, with the class of elements and their number at each.

    Numbers of classes are added up first, as whole numbers, and multiplied with sizes in the order of the classes, so
    that sums are the same in any order.
    """

    squared: IntArray
    elements: IntArray
    numbers: IntArray
    sizes: FloatArray
    """The area or length of the elements of each class."""

    def __add__(self, other: SurfaceDistances) -> SurfaceDistances:
        """Return the distances of both."""
        both = _joined([Histogram(part.squared, part.elements, part.numbers) for part in (self, other)])
        return SurfaceDistances(*both, self.sizes)

    @property
    def _classes(self) -> list[int]:
        """The classes of elements that occur."""
        occurring: list[int] = np.flatnonzero(np.bincount(self.elements)).tolist()
        return occurring

    @cached_property
    def length(self) -> float:
        """The area of the surface, or the length of a contour."""
        area = 0.0  # in the order of `within`, so that all of it is the same to the last bit
        for kind in self._classes:
            area += float(self.sizes[kind] * self._numbers_of(kind).sum())
        return area

    def _numbers_of(self, kind: int) -> IntArray:
        """Return how many elements of a class there are at each distance."""
        return np.where(self.elements == kind, self.numbers, 0)

    @property
    def farthest(self) -> float:
        """The largest distance, in the unit of the squares."""
        return float(np.sqrt(self.squared[-1]))

    @property
    def total(self) -> float:
        """The distances, weighted by areas, added up."""
        return float((self.sizes[self.elements] * self.numbers) @ np.sqrt(self.squared))

    def within(self, squares: IntArray) -> FloatArray:
        """Return the area whose squared distance is at most each of some squares."""
        near = np.searchsorted(self.squared, squares, side="right")
        areas = np.zeros(near.shape)
        for kind in self._classes:
            areas += self.sizes[kind] * np.concatenate([[0], np.cumsum(self._numbers_of(kind))])[near]
        return areas

    def percentile(self) -> float:
        """Return the smallest distance that 95 % of the area do not exceed."""
        # 20 times the area up to each distance minus 19 times all of it, of whole numbers of elements.
        excess = np.zeros(self.squared.size)
        for kind in self._classes:
            numbers = self._numbers_of(kind)
            excess += self.sizes[kind] * (20 * np.cumsum(numbers) - 19 * numbers.sum())
        reached = int(np.argmax(excess >= -_ROUNDING * 20 * self.length))
        return float(np.sqrt(self.squared[reached]))


@lru_cache(maxsize=2**12)
def largest_square(tolerance: Fraction, unit: Fraction) -> int:
    """Return the largest squared distance, in squares of a unit, that is within a tolerance: exactly, as fractions."""
    return min(math.floor((tolerance / unit) ** 2), SMALLEST_TOO_LARGE)


def voxels_of_box(box: Sequence[int]) -> tuple[slice, ...]:
    """Return the slices of a box, given the first and last index along each axis."""
    return tuple(slice(first, last) for first, last in zip(box[::2], box[1::2], strict=True))
