"""Counts of many images, laid out field by field, so that all are read at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import IntArray

_SCALARS = ("int", "bool", "str", "float")


@dataclass(frozen=True, eq=False)
class JoinedCounts:
    """The fields of counts of one type, those of one image after those of the other."""

    arrays: Mapping[str, NDArray[Any]]
    sizes: Mapping[str, IntArray]
    """How many numbers each image has in each array."""
    scalars: Mapping[str, Sequence[Any]]
    """What each image has in the other fields."""

    @classmethod
    def of(cls, counts: Mapping[str, Any], kind: type[Any]) -> Self:
        """Join the counts of images in sorted order of names; packed ones are unpacked many at a time."""
        if isinstance(counts, CanBeJoined):
            joined: Self = counts.joined()
            return joined
        return cls.of_each([counts[name] for name in sorted(counts)], kind)

    @classmethod
    def of_each(cls, counts: Sequence[Any], kind: type[Any]) -> Self:
        """Join the counts of images in their order."""
        arrays, sizes, scalars = {}, {}, {}
        for field in fields(kind):
            values = [getattr(image, field.name) for image in counts]
            if field.type in _SCALARS:
                scalars[field.name] = values
            else:
                none = np.zeros(0, np.float64 if field.type == "FloatArray" else np.int64)
                arrays[field.name] = np.concatenate([none, *(value.reshape(-1) for value in values)])
                sizes[field.name] = np.array([value.size for value in values], np.int64)
        return cls(arrays, sizes, scalars)


@runtime_checkable
class CanBeJoined(Protocol):
    """Counts by image name that can be had joined."""

    def joined(self) -> Any:  # noqa: ANN401  `JoinedCounts`
        """Return the counts of all images in sorted order of names."""


def ranges(starts: IntArray, sizes: IntArray) -> IntArray:
    """Return whole numbers from each start on, so many of each."""
    ends = np.cumsum(sizes)
    return np.arange(ends[-1] if ends.size else 0) + np.repeat(starts - ends + sizes, sizes)
