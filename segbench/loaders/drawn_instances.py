"""Instances to maps, and maps to instances.

Conventions
-----------
1. A map has one value for each pixel. Where instances of different values overlap, the map is refused unless an order
   says which lies on top; instances of one class do not differ in a map of classes.
2. A soft map has the highest score of the instances in each pixel, and 0 where there are none; it needs no order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import Array, FloatArray, IntArray
from segbench.core.compiling import int64, kernel
from segbench.core.errors import DataError
from segbench.core.instances import Instances, encode_masks
from segbench.core.messages import Message, Note
from segbench.core.sample import Maps, OnTop
from segbench.loaders.mask_codes import covered_pixels
from segbench.loaders.source import shown

if TYPE_CHECKING:
    from segbench.loaders.instance_sources import Size

_MOST_OBJECTS = 2**20


def instances_of_masks(
    masks: Sequence[Array],
    classes: IntArray,
    scores: FloatArray | None = None,
    names: Mapping[int, str] = MappingProxyType({}),
) -> Maps:
    """Return masks of one size as instances; whatever is not 0 belongs to them."""
    size = (masks[0].shape[0], masks[0].shape[1]) if len(masks) else (0, 0)
    instances = _instances(size, encode_masks(masks), classes, scores)
    return as_maps(replace(instances, names=names))


def as_maps(instances: Instances, notes: tuple[Note, ...] = ()) -> Maps:
    """Return instances with a blank map of their size; none of no size where there are no instances either."""
    blank = (np.broadcast_to(np.uint8(0), instances.size),) if instances.size != (0, 0) else ()
    return Maps(blank, notes, about=instances)


def _instances(size: Size, masks: tuple[IntArray, IntArray], classes: IntArray, scores: FloatArray | None) -> Instances:
    """Return instances of which files state no area, box or crowd."""
    runs, ends = masks
    return Instances(
        size=size,
        runs=runs,
        ends=ends,
        classes=classes,
        scores=scores,
        crowds=np.zeros(ends.size, np.bool_),
        areas=np.full(ends.size, np.nan),
        boxes=np.full((ends.size, 4), np.nan),
    )


def instances_of_map(numbers: Array, divisor: int | None, path: object) -> Maps:
    """Return the values of a label map as instances of one class, 1, or of ``class * divisor + instance``.

    With a divisor, values below it are crowds of the class that they name.
    """
    values, indices = np.unique(numbers, return_inverse=True)
    if values.dtype.kind == "f" or values[0] < 0 or values.size > _MOST_OBJECTS:
        template = "holds {values:many value}, expected whole numbers of objects"
        problem = Message("wrong-numbers", template, values=values.size)
        raise DataError(shown(path), problem, "number the objects of the image from 1")
    flat = np.ascontiguousarray(indices.reshape(numbers.shape).T).reshape(-1)
    runs, ends = _runs_of_values(flat, values.size)
    lengths = np.diff(ends, prepend=0)
    object_numbers = values.astype(np.int64)
    kept = object_numbers > 0
    classes = np.ones(values.size, np.int64) if divisor is None else object_numbers // divisor
    crowds = np.zeros(values.size, np.bool_)
    if divisor is not None:
        crowds = object_numbers < divisor
        classes = np.where(crowds, object_numbers, classes)
    masks = (runs[np.repeat(kept, lengths)], np.cumsum(lengths[kept]))
    size = (numbers.shape[0], numbers.shape[1])
    return as_maps(replace(_instances(size, masks, classes[kept], None), crowds=crowds[kept]))


@kernel
def _runs_of_values(flat: NDArray[np.int64], number: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the runs of each of the values 0, 1, .. of a map, and where those of each end."""
    changes = np.zeros(number, np.int64)
    previous = int64(-1)
    for position in range(flat.size):
        if flat[position] != previous:
            changes[flat[position]] += 2
            previous = flat[position]
    ends = np.cumsum(changes)
    positions = ends - changes
    edges = np.empty(ends[-1] if number else 0, np.int64)
    previous = int64(-1)
    for position in range(flat.size):
        value = flat[position]
        if value != previous:
            if previous >= 0:
                edges[positions[previous]] = position
                positions[previous] += 1
            edges[positions[value]] = position
            positions[value] += 1
            previous = value
    if previous >= 0:
        edges[positions[previous]] = flat.size
    runs, run_ends = np.empty(edges.size + number, np.int64), np.empty(number, np.int64)
    filled = begin = int64(0)
    for value in range(number):
        last = int64(0)
        for k in range(begin, ends[value]):
            runs[filled] = edges[k] - last
            last = edges[k]
            filled += 1
        if last < flat.size:
            runs[filled] = flat.size - last
            filled += 1
        begin = ends[value]
        run_ends[value] = filled
    return runs[:filled].copy(), run_ends


def together(parts: Sequence[Maps], path: object) -> Maps:
    """Return the instances of several files of an image."""
    first, *others = (part.about for part in parts)
    other_size = next((other.size for other in others if other.size != first.size), None)
    if other_size is not None:
        sizes = {"size": other_size, "expected": first.size}
        problem = Message("other-size", "has a file of {size: x } pixels beside one of {expected: x }", **sizes)
        raise DataError(shown(path), problem, "save objects in the size of the image")
    sides = [first, *others]
    columns = ("runs", "classes", "crowds", "areas", "boxes", *(("scores",) if first.scores is not None else ()))
    whole: dict[str, Any] = {name: np.concatenate([getattr(side, name) for side in sides]) for name in columns}
    starts = np.cumsum([0, *(side.runs.size for side in sides[:-1])])
    ends = np.concatenate([side.ends + start for side, start in zip(sides, starts, strict=True)])
    notes = tuple(dict.fromkeys(note for part in parts for note in part.notes))
    return as_maps(replace(first, ends=ends, **whole), notes)


def drawn(instances: Instances, values: IntArray, on_top: OnTop | None) -> tuple[NDArray[np.int32], int]:
    """Return a map with the value of an instance in its pixels, 0 elsewhere, and how many have several instances.

    `on_top` says which of several; then none are left to decide on.
    """
    height, width = instances.size
    order = np.arange(len(instances))
    if on_top in ("largest", "smallest"):
        covered = covered_pixels(instances.runs, instances.ends, height * width)
        order = np.argsort(covered if on_top == "largest" else -covered, kind="stable")
    elif on_top == "first":
        order = order[::-1].copy()
    elif on_top == "score" and instances.scores is not None:
        order = np.argsort(instances.scores, kind="stable")
    painted = np.zeros(height * width, np.int32)
    overlapping = _paint(instances.runs, instances.ends, order, values.astype(np.int32), painted)
    ordered = on_top is not None and not (on_top == "score" and instances.scores is None)
    return np.ascontiguousarray(painted.reshape(width, height).T), 0 if ordered else overlapping


@kernel
def _paint(
    runs: IntArray, ends: IntArray, order: IntArray, values: NDArray[np.int32], painted: NDArray[np.int32]
) -> int:
    """Paint masks one over the other; return how many pixels had another value before, and not 0."""
    overlapping = 0
    for mask in order:
        position = int64(0)
        first = ends[mask - 1] if mask else 0
        for k in range(first, ends[mask]):
            if (k - first) % 2:
                for pixel in range(position, position + runs[k]):
                    overlapping += painted[pixel] != 0 and painted[pixel] != values[mask]
                    painted[pixel] = values[mask]
            position += runs[k]
    return overlapping


def highest_scores(instances: Instances) -> FloatArray:
    """Return a soft map: the highest score of the instances in each pixel, 0 where there are none."""
    height, width = instances.size
    painted = np.zeros(height * width)
    scores = instances.scores if instances.scores is not None else np.ones(len(instances))
    order = np.argsort(scores, kind="stable")
    _paint_scores(instances.runs, instances.ends, order, scores, painted)
    return np.ascontiguousarray(painted.reshape(width, height).T)


@kernel
def _paint_scores(
    runs: IntArray, ends: IntArray, order: IntArray, scores: NDArray[np.float64], painted: NDArray[np.float64]
) -> None:
    """Paint scores one over the other."""
    for mask in order:
        position = int64(0)
        first = ends[mask - 1] if mask else 0
        for k in range(first, ends[mask]):
            if (k - first) % 2:
                painted[position : position + runs[k]] = scores[mask]
            position += runs[k]
