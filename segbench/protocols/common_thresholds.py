"""Counts that add up field by field where they were counted alike, such as those at several thresholds.

Begin with `AddedByField`, from which the counts of most protocols derive.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from inspect import get_annotations
from itertools import islice
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from segbench.core.arrays import FloatArray, IntArray, added, as_counts, as_floats, frozen
from segbench.core.counts import Counts, noting_origin
from segbench.core.errors import ArgumentError
from segbench.core.messages import Message
from segbench.core.settings import as_whole, set_fields

_LARGEST = 2**63 - 1
_AT_ONCE = 64


@dataclass(frozen=True, eq=False, repr=False)
class AddedByField(Counts):
    """Counts of which the fields named in `same` are equal, and all others add up: whole numbers, and rows of them."""

    same: ClassVar[tuple[str, ...]] = ()
    arrays: ClassVar[tuple[str, ...]]
    """The fields that are rows of whole numbers."""

    def __init_subclass__(cls) -> None:
        cls.arrays = tuple(name for name, kind in get_annotations(cls).items() if kind == "IntArray")

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type == "int":
                set_fields(self, **{field.name: as_whole(value, field.name, most=_LARGEST)})
            elif field.name in self.arrays:
                counts = as_counts(value, field.name).astype(np.int64, copy=False)
                set_fields(self, **{field.name: frozen(counts)})

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
        total: Self | None = None
        remaining = iter(counts)
        while batch := list(islice(remaining, _AT_ONCE)):  # the counts of many images need not fit in memory
            total = cls._added(batch if total is None else [total, *batch])
        if total is None:
            raise ArgumentError(Message("no-counts", "there are no counts to add up; count an image first"))
        return total

    @classmethod
    def _added(cls, counts: Sequence[Self]) -> Self:
        """Add up counts that are all in memory."""
        first = counts[0]
        for other in counts[1:]:
            first._refuse_different(other)  # noqa: SLF001  its own
        totals: dict[str, Any] = {}
        for name in (field.name for field in fields(cls) if field.name not in cls.same):
            summands = [getattr(part, name) for part in counts]
            totals[name] = added(summands, name) if isinstance(summands[0], np.ndarray) else sum(summands)
        return replace(first, **totals)

    def _refuse_different(self, other: Self) -> None:
        """Refuse counts that do not add up, as they were counted with other settings."""
        for name in self.same:
            ours, theirs = getattr(self, name), getattr(other, name)
            if ours is not theirs and not (ours == theirs if isinstance(ours, str) else np.array_equal(ours, theirs)):
                raise ArgumentError(
                    Message(
                        "counted-otherwise",
                        "counts with {name} {ours} and {theirs} cannot be added; count both with the same {name}",
                        name=name,
                        ours=f"{ours!s:.60}",
                        theirs=f"{theirs!s:.60}",
                    )
                )


@dataclass(frozen=True, eq=False, repr=False)
class CountsAtThresholds(AddedByField):
    """Counts of an image, or of many, at rising thresholds: each array has one count per threshold."""

    same: ClassVar[tuple[str, ...]] = ("thresholds",)

    thresholds: FloatArray

    def __post_init__(self) -> None:
        thresholds = as_floats(self.thresholds, "thresholds")
        set_fields(self, thresholds=frozen(thresholds))
        if np.any(np.diff(thresholds) <= 0):
            raise ArgumentError(Message("not-rising", "thresholds must be strictly increasing"))
        super().__post_init__()
        for name, counts in zip(self.arrays, self.rows, strict=True):
            if counts.shape != thresholds.shape:
                raise ArgumentError(
                    Message(
                        "other-size",
                        "{name} has {entries} entries for {thresholds} thresholds",
                        name=name,
                        entries=counts.size,
                        thresholds=thresholds.size,
                    )
                )


AtThresholds = TypeVar("AtThresholds", bound=CountsAtThresholds)


def in_order(per_image: Mapping[str, AtThresholds]) -> Iterator[AtThresholds]:
    """Yield the counts of all images in sorted order of their names; different thresholds are an `ArgumentError`."""
    first = ""
    for name in sorted(per_image):
        counts = per_image[name]
        if not first:
            first, thresholds = name, counts.thresholds
        if not np.array_equal(counts.thresholds, thresholds):
            raise ArgumentError(
                Message(
                    "counted-otherwise",
                    "{first} was counted at {thresholds} thresholds, {image} at {others} others; count all images at "
                    "the same thresholds",
                    first=first,
                    thresholds=thresholds.size,
                    image=name,
                    others=counts.thresholds.size,
                )
            )
        yield counts


def precision_at(at: FloatArray, recalls: FloatArray, precisions: FloatArray) -> FloatArray:
    """Interpolate the precision of curves, one per row, at the recalls `at`; nan outside the recalls of a curve.

    Thresholds rise along a row. Where recall folds back at low ones, as that of thick boundaries does, a curve passes a
    recall twice: the precision is that of the highest threshold that reaches it, never a mixture of both.
    """
    interpolated = np.full((len(recalls), at.size), np.nan)
    highest = np.maximum.accumulate(recalls[:, ::-1], axis=1)[:, ::-1]
    for row, recall, precision, rises in zip(interpolated, recalls, precisions, recalls >= highest, strict=True):
        distinct, first = np.unique(recall[rises], return_index=True)
        if distinct.size > 1:
            row[:] = np.interp(at, distinct, precision[rises][first], left=np.nan, right=np.nan)
    return interpolated
