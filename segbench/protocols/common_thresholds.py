"""Counts that add up only at common thresholds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol, TypeVar

import numpy as np

from segbench.core.errors import ArgumentError
from segbench.core.integers import FloatArray


class AtThresholds(Protocol):
    """Counts of an image at several thresholds."""

    @property
    def thresholds(self) -> FloatArray:
        """The thresholds, rising."""


Measured = TypeVar("Measured", bound=AtThresholds)


def in_order(*sets: Mapping[str, Measured]) -> Iterator[Measured]:
    """Give the counts of all images, of each set in sorted order of their names, if their thresholds are the same."""
    first = ""
    for per_image in sets:
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
