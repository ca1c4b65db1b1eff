"""The confusion matrix of an image, or of many; what follows from it for each class."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar, NamedTuple

import numpy as np

from segbench.core.arrays import IntArray, as_counts, frozen, total_of, within_total
from segbench.core.errors import ArgumentError
from segbench.core.messages import Message
from segbench.inputs.class_names import read_class_labels
from segbench.inputs.class_regions import has_regions, membership, names_of_labels
from segbench.protocols.common_thresholds import AddedByField


class ClassPixels(NamedTuple):
    """Pixels of each class, or region, shape (K,)."""

    tp: IntArray
    truth: IntArray
    predicted: IntArray


@dataclass(frozen=True, eq=False, repr=False)
class LabelCounts(AddedByField):
    """Pixels by true and predicted label; counts of the same classes add with ``+``.

    Parameters
    ----------
    classes : str
        The classes as the command line takes them: ``"0-18"``, ``"road=0,car=13"``, ``"WT=1+2+3,TC=1+3,ET=3"``.
    matrix : array of int, shape (L, L + 1)
        Ground truth in rows, predictions in columns; the last column holds predictions outside the classes. Rows are
        the classes, or where some are regions of several labels, 0 and all labels of classes, rising (`label_names`).
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
    volumes: int = field(default=0, compare=False)  # arrays of images and of volumes count alike

    def __post_init__(self) -> None:
        size = len(self.label_names)
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
        """The names of the classes."""
        return names_of(self.classes)

    @property
    def label_names(self) -> tuple[str, ...]:
        """What the rows are called: the classes, or with regions the labels that are counted."""
        return _label_names_of(self.classes)

    @property
    def by_class(self) -> ClassPixels:
        """The pixels of each class."""
        within = self.matrix[:, :-1]
        truth, predicted = self.matrix.sum(axis=1), within.sum(axis=0)
        members = _members_of_regions(self.classes)
        if members is None:
            return ClassPixels(np.diagonal(self.matrix), truth, predicted)
        return ClassPixels(((members @ within) * members).sum(axis=1), members @ truth, members @ predicted)

    @property
    def outside(self) -> int:
        """Pixels that are predicted outside the classes."""
        return int(self.matrix[:, -1].sum())

    @property
    def pixels(self) -> int:
        """Pixels that count."""
        return int(self.matrix.sum())

    @property
    def ground_truth(self) -> str:
        pixels_of_classes = zip(self.label_names, self.matrix.sum(axis=1).tolist(), strict=True)
        return ", ".join(f"{pixels} of {name}" for name, pixels in pixels_of_classes)


@dataclass(frozen=True, eq=False, repr=False)
class SummarizedCounts(AddedByField):
    """Pixels of each class against all others, as the summaries of nnU-Net have them; they add with ``+``.

    Parameters
    ----------
    classes : str
        The K classes as the command line takes them.
    tp, fp, fn : array of int, shape (K,)
        True and false positives and false negatives of each class.
    pixels : int
        Pixels that count.
    volumes : int
        How many of the images are volumes.

    Raises
    ------
    ArgumentError
        If there is not one number for each class, or some are no counts, or more than there are pixels.
    """

    kind: ClassVar[str] = "summarized labels"
    same: ClassVar[tuple[str, ...]] = ("classes",)
    ignored: ClassVar[int] = 0
    outside: ClassVar[int] = 0

    classes: str
    tp: IntArray
    fp: IntArray
    fn: IntArray
    pixels: int
    volumes: int = field(default=0, compare=False)  # arrays of images and of volumes count alike

    def __post_init__(self) -> None:
        super().__post_init__()
        classes = len(self.names)
        if any(counts.shape != (classes,) for counts in self.rows):
            raise ArgumentError(
                Message("other-size", "expected one number of TP, FP and FN for each of {classes}", classes=classes)
            )
        if (self.tp + self.fp + self.fn).max(initial=0) > self.pixels:
            raise ArgumentError(Message("contradiction", "a class has more pixels than the image"))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the classes."""
        return names_of(self.classes)

    @property
    def by_class(self) -> ClassPixels:
        """The pixels of each class."""
        return ClassPixels(self.tp, self.tp + self.fn, self.tp + self.fp)

    @property
    def ground_truth(self) -> str:
        pixels_of_classes = zip(self.names, self.by_class.truth.tolist(), strict=True)
        return ", ".join(f"{pixels} of {name}" for name, pixels in pixels_of_classes)


@lru_cache(maxsize=256)
def names_of(classes: str) -> tuple[str, ...]:
    """Return the names of classes that are written as text."""
    return read_class_labels(classes)[1]


@lru_cache(maxsize=256)
def _label_names_of(classes: str) -> tuple[str, ...]:
    """Return the names of the labels that are counted of classes that are written as text."""
    return names_of_labels(*read_class_labels(classes))


@lru_cache(maxsize=256)
def _members_of_regions(classes: str) -> IntArray | None:
    """Return which of the labels that are counted belong to each class; None without regions."""
    labels, _ = read_class_labels(classes)
    return membership(labels).astype(np.int64) if has_regions(labels) else None
