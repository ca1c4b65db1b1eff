"""The confusion matrix of an image, or of many."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from segbench.core.arrays import IntArray, as_counts, frozen, total_of, within_total
from segbench.core.errors import ArgumentError
from segbench.core.messages import Message
from segbench.inputs.class_names import read_classes
from segbench.protocols.common_thresholds import AddedByField


@dataclass(frozen=True, eq=False, repr=False)
class LabelCounts(AddedByField):
    """Pixels by true and predicted class; counts of the same classes add with ``+``.

    Parameters
    ----------
    classes : str
        The K classes as the command line takes them: ``"0-18"``, ``"road=0,car=13"``.
    matrix : array of int, shape (K, K + 1)
        Ground truth in rows, predictions in columns; the last column holds predictions outside the classes.
    ignored : int
        Pixels left out: void, or outside the field of view.
    volumes : int
        How many of the images are volumes, of which tables show means over cases.

    Raises
    ------
    ArgumentError
        If the matrix does not fit the classes, or holds anything but counts.

    Examples
    --------
    >>> counts = LabelCounts("cat=1,dog=2", [[3, 1, 0], [0, 2, 1]])
    >>> counts.names, counts.pixels
    (('cat', 'dog'), 7)
    >>> (counts + counts).matrix
    array([[6, 2, 0],
           [0, 4, 2]])
    """

    kind: ClassVar[str] = "labels"
    of_tiles: ClassVar[bool] = True
    same: ClassVar[tuple[str, ...]] = ("classes",)

    classes: str
    matrix: IntArray
    ignored: int = 0
    volumes: int = 0

    def __post_init__(self) -> None:
        size = len(self.names)
        matrix = np.asarray(self.matrix)
        if matrix.size != size * (size + 1):
            raise ArgumentError(
                Message(
                    "other-size",
                    "matrix has shape ({shape}), expected ({expected}): a row for each of {classes} classes, and a "
                    "further column for predictions outside the classes",
                    shape=matrix.shape,
                    expected=(size, size + 1),
                    classes=size,
                )
            )
        counts = as_counts(matrix.reshape(-1), "matrix").astype(np.int64, copy=False)
        within_total(total_of(counts), "pixels")
        object.__setattr__(self, "matrix", frozen(counts.reshape(size, size + 1)))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the classes, in the order of the rows."""
        return names_of(self.classes)

    @property
    def pixels(self) -> int:
        """Pixels that count."""
        return int(self.matrix.sum())

    @property
    def ground_truth(self) -> str:
        pixels_of_classes = zip(self.names, self.matrix.sum(axis=1).tolist(), strict=True)
        return ", ".join(f"{pixels} of {name}" for name, pixels in pixels_of_classes)


@lru_cache(maxsize=256)
def names_of(classes: str) -> tuple[str, ...]:
    """Return the names of classes that are written as text."""
    return read_classes(classes)[1]
