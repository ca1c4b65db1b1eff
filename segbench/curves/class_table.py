"""Counts of several classes of many images laid out as matrices, see `segbench.curves.tables`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segbench.counts import ClassCounts
from segbench.curves.classes import MACRO_FIGURES, micro_of, names_in, of_class
from segbench.curves.tables import PIXEL_FIGURES, PixelTable, Table, pixel_table

FloatArray = NDArray[np.float64]

CLASS_FIGURES = (*(f"macro_{name}" for name in MACRO_FIGURES), *(f"micro_{name}" for name in PIXEL_FIGURES))
_MEANT = [PIXEL_FIGURES.index(name) for name in MACRO_FIGURES]


@dataclass(frozen=True, eq=False)
class ClassTable(Table):
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

    @property
    def whole(self) -> bool:
        """Whether the tables hold all there is of each image."""
        return all(table.whole for table in (*self.classes, self.micro))

    @property
    def estimates(self) -> FloatArray:
        """Every figure of the benchmark itself."""
        return np.append(_means(table.estimates[np.newaxis] for table in self.classes)[0], self.micro.estimates)

    def measure(self, weights: FloatArray) -> FloatArray:
        """Give every figure for every row of weights, see `Table`."""
        return np.hstack([_means(table.measure(weights) for table in self.classes), self.micro.measure(weights)])


def _means(classes: Iterable[FloatArray]) -> FloatArray:
    """Give the means over classes of figures, shape (rows, figures); nan where no class defines one."""
    total: FloatArray | float = 0.0
    defined: FloatArray | float = 0.0
    for figures in classes:
        meant = figures[:, _MEANT]
        total, defined = total + np.nan_to_num(meant), defined + ~np.isnan(meant)
    means = np.full(np.shape(total), np.nan)
    np.divide(total, defined, out=means, where=np.asarray(defined) > 0)
    return means


def class_table(*sets: Mapping[str, ClassCounts]) -> ClassTable:
    """Lay out the counts of several classes of many images, at least one; rows as in `pixel_table`."""
    classes = tuple(pixel_table(*(of_class(per_image, name) for per_image in sets)) for name in names_in(sets[0]))
    return ClassTable(classes, pixel_table(*map(micro_of, sets)))
