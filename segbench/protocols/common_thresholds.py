"""Counts at several thresholds, which add up only where the thresholds are the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Self, TypeVar

import numpy as np

from segbench.core.arrays import FloatArray, IntArray, added, as_counts, as_floats, frozen
from segbench.core.counts import Counts
from segbench.core.errors import ArgumentError


@dataclass(frozen=True, eq=False, repr=False)
class CountsAtThresholds(Counts):
    """Counts of an image, or of many, at rising thresholds: totals first, then arrays of one count per threshold."""

    totals: ClassVar[tuple[str, ...]] = ()
    per_threshold: ClassVar[tuple[str, ...]]

    thresholds: FloatArray

    def __post_init__(self) -> None:
        thresholds = as_floats(self.thresholds, "thresholds")
        object.__setattr__(self, "thresholds", frozen(thresholds))
        for name in self.per_threshold:
            counts = as_counts(getattr(self, name), name).astype(np.int64, copy=False)
            if counts.shape != thresholds.shape:
                raise ArgumentError(f"{name} has {counts.size} entries for {thresholds.size} thresholds")
            object.__setattr__(self, name, frozen(counts))
        if np.any(np.diff(thresholds) <= 0):
            raise ArgumentError("thresholds must be strictly increasing")

    @property
    def rows(self) -> tuple[IntArray, ...]:
        """The arrays of counts."""
        return tuple(getattr(self, name) for name in self.per_threshold)

    @property
    def settings(self) -> tuple[object, ...]:
        """What has to be equal for counts to add up."""
        return tuple(self.thresholds.tolist())

    @classmethod
    def sum(cls, counts: Iterable[Self]) -> Self:
        """Pool any number of counts, at least one."""
        waiting = iter(counts)
        first = next(waiting, None)
        if first is None:
            raise ArgumentError("no images")
        totals, rows = [getattr(first, name) for name in cls.totals], first.rows
        for part in waiting:
            if not np.array_equal(first.thresholds, part.thresholds):
                raise ArgumentError(
                    f"counts at {first.thresholds.size} thresholds and at {part.thresholds.size} others cannot be "
                    "added; count both at the same thresholds"
                )
            totals = [total + getattr(part, name) for total, name in zip(totals, cls.totals, strict=True)]
            rows = tuple(map(added, rows, part.rows, cls.per_threshold))
        return cls(first.thresholds, *totals, *rows)


AtThresholds = TypeVar("AtThresholds", bound=CountsAtThresholds)


def in_order(per_image: Mapping[str, AtThresholds]) -> Iterator[AtThresholds]:
    """Give the counts of all images in sorted order of their names, if their thresholds are the same."""
    first = ""
    for name in sorted(per_image):
        counts = per_image[name]
        if not first:
            first, thresholds = name, counts.thresholds
        if not np.array_equal(counts.thresholds, thresholds):
            raise ArgumentError(
                f"{first} was counted at {thresholds.size} thresholds, {name} at "
                f"{counts.thresholds.size} others; count all images at the same thresholds"
            )
        yield counts
