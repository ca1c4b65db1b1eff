"""Counts that add up field by field where they were counted alike, such as those at several thresholds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from inspect import get_annotations
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from segbench.core.arguments import as_whole, set_fields
from segbench.core.arrays import FloatArray, IntArray, added, as_counts, as_floats, frozen
from segbench.core.counts import Counts, noting_origin
from segbench.core.errors import ArgumentError

_LARGEST = 2**63 - 1


@dataclass(frozen=True, eq=False, repr=False)
class AddedByField(Counts):
    """Counts of which the fields named in `same` are equal, and all others add up: whole numbers, and rows of them."""

    same: ClassVar[tuple[str, ...]] = ()
    arrays: ClassVar[tuple[str, ...]]
    """The fields that are rows of whole numbers."""

    def __init_subclass__(cls) -> None:
        cls.arrays = tuple(name for name, kind in get_annotations(cls).items() if kind == "IntArray")

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if each.type == "int":
                set_fields(self, **{each.name: as_whole(value, each.name, most=_LARGEST)})
            elif each.name in self.arrays:
                counts = as_counts(value, each.name).astype(np.int64, copy=False)
                set_fields(self, **{each.name: frozen(counts)})

    @property
    def rows(self) -> tuple[IntArray, ...]:
        """The arrays of counts."""
        return tuple(getattr(self, name) for name in self.arrays)

    @property
    def settings(self) -> tuple[object, ...]:
        """What has to be equal for counts to add up."""
        return tuple(np.asarray(getattr(self, name)).tolist() for name in self.same)

    @classmethod
    @noting_origin
    def sum(cls, counts: Iterable[Self]) -> Self:
        """Pool any number of counts, at least one."""
        waiting = iter(counts)
        first = next(waiting, None)
        if first is None:
            raise ArgumentError("there are no counts to add up; count an image first")
        totals: dict[str, Any] = {
            each.name: getattr(first, each.name) for each in fields(cls) if each.name not in cls.same
        }
        for part in waiting:
            for name in cls.same:
                one, other = getattr(first, name), getattr(part, name)
                if not np.array_equal(one, other):
                    what = f"counts with {name} {one!s:.60} and {other!s:.60} cannot be added"
                    raise ArgumentError(f"{what}; count both with the same {name}")
            for name, total in totals.items():
                value = getattr(part, name)
                totals[name] = added(total, value, name) if isinstance(total, np.ndarray) else total + value
        return replace(first, **totals)


@dataclass(frozen=True, eq=False, repr=False)
class CountsAtThresholds(AddedByField):
    """Counts of an image, or of many, at rising thresholds: each array has one count per threshold."""

    same: ClassVar[tuple[str, ...]] = ("thresholds",)

    thresholds: FloatArray

    def __post_init__(self) -> None:
        thresholds = as_floats(self.thresholds, "thresholds")
        set_fields(self, thresholds=frozen(thresholds))
        if np.any(np.diff(thresholds) <= 0):
            raise ArgumentError("thresholds must be strictly increasing")
        super().__post_init__()
        for name, counts in zip(self.arrays, self.rows, strict=True):
            if counts.shape != thresholds.shape:
                raise ArgumentError(f"{name} has {counts.size} entries for {thresholds.size} thresholds")


AtThresholds = TypeVar("AtThresholds", bound=CountsAtThresholds)


def in_order(per_image: Mapping[str, AtThresholds]) -> Iterator[AtThresholds]:
    """Give the counts of all images in sorted order of their names, if their thresholds are the same."""
    first = ""
    for name in sorted(per_image):
        counts = per_image[name]
        if not first:
            first, thresholds = name, counts.thresholds
        if not np.array_equal(counts.thresholds, thresholds):
            what = f"{first} was counted at {thresholds.size} thresholds, {name} at {counts.thresholds.size} others"
            raise ArgumentError(f"{what}; count all images at the same thresholds")
        yield counts


def precision_at(at: FloatArray, recalls: FloatArray, precisions: FloatArray) -> FloatArray:
    """Read curves, one per row, off at some recalls, straight between thresholds; nan outside those measured."""
    heights = np.full((len(recalls), at.size), np.nan)
    for row, recall, precision in zip(heights, recalls, precisions, strict=True):
        reached, first = np.unique(recall, return_index=True)
        if reached.size > 1:
            row[:] = np.interp(at, reached, precision[first], left=np.nan, right=np.nan)
    return heights
