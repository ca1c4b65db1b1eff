"""Counts of several classes of many images laid out as matrices, see `segbench.curves.tables`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segbench.counts import ClassCounts
from segbench.curves.classes import MACRO_FIGURES, names_in, of_class
from segbench.curves.tables import PIXEL_FIGURES, PixelTable, pixel_table

FloatArray = NDArray[np.float64]

CLASS_FIGURES = (*(f"macro_{name}" for name in MACRO_FIGURES), *(f"micro_{name}" for name in PIXEL_FIGURES))
_MEANT = [PIXEL_FIGURES.index(name) for name in MACRO_FIGURES]


@dataclass(frozen=True, eq=False)
class ClassTable:
    """A table of each class, and one of all classes added up, over the same images.

    A weighting that leaves no image of a class gives means over the other classes, as the benchmark of just those
    images would.
    """

    classes: tuple[PixelTable, ...]
    micro: PixelTable

    @property
    def images(self) -> int:
        """Number of images."""
        return self.micro.images

    @property
    def figures(self) -> tuple[str, ...]:
        """Names of the figures."""
        return CLASS_FIGURES

    def measure(self, weights: FloatArray) -> FloatArray:
        """Give every figure for every row of weights, see `Table`."""
        total, defined = np.zeros((2, weights.shape[0], len(_MEANT)))
        for table in self.classes:
            figures = table.measure(weights)[:, _MEANT]
            known = ~np.isnan(figures)
            total += np.where(known, figures, 0)
            defined += known
        means = np.full_like(total, np.nan)
        np.divide(total, defined, out=means, where=defined > 0)
        return np.hstack([means, self.micro.measure(weights)])


def class_table(*sets: Mapping[str, ClassCounts]) -> ClassTable:
    """Lay out the counts of several classes of many images, at least one; rows as in `pixel_table`."""
    classes = tuple(pixel_table(*(of_class(per_image, name) for per_image in sets)) for name in names_in(sets[0]))
    micro = ({image: counts.micro for image, counts in per_image.items()} for per_image in sets)
    return ClassTable(classes, pixel_table(*micro))
