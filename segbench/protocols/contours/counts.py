"""Counts of contours: areas, overlaps, and how many elements of a contour lie at each distance from the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, ClassVar

import numpy as np

from segbench.core.arrays import IntArray, as_counts, frozen
from segbench.core.counts import Counts, noting_origin
from segbench.core.errors import ArgumentError
from segbench.core.messages import Message
from segbench.core.settings import as_whole, check_choice
from segbench.inputs.class_names import read_classes
from segbench.protocols.contours.distances import Distances
from segbench.protocols.contours.measures import Mask

MASKS, OBJECTS = "masks", "objects"
"""What `ContourCounts.classes` holds where there are no classes: one mask, or as many objects as an image has."""

NO_MATRIX: IntArray = np.zeros((0, 1), np.int64)

_TABLES = {"areas": 3, "bands": 3, "davis": 4, "sizes": 2}
_LISTS = ("squared", "units", "halves")
_DIFFERENT = Message(
    "inconsistent-counts", "the arrays of contour counts are of different masks; take counts from segbench.count"
)


@dataclass(frozen=True, eq=False, repr=False)
class ContourCounts(Counts):
    """What the contours of one image, or of many, are measured by: of a single mask, of classes, or of objects.

    Counts of the same classes add with ``+``. Metrics are means over images, so that sums give the distribution of
    distances alone.

    Parameters
    ----------
    classes : str
        ``"masks"`` for a single mask, ``"objects"`` for numbered objects, or the classes as in `LabelCounts`.
    surface : {"pixels", "lengths"}
        What contours are made of, as in `Contours`.
    images : int
        How many images are added up.
    squared_diagonal : int
        Height squared plus width squared; of several images the largest.
    areas, bands : array of int, shape (K, 3)
        For each of K masks the pixels of the ground truth, of the prediction and of both: those of the masks, and of
        their bands (Boundary IoU).
    davis : array of int, shape (K, 4)
        Boundary pixels as DAVIS defines them: of the ground truth, of the prediction, and those of each that are near
        the other.
    sizes : array of int, shape (K, 2)
        How many different distances there are from ground truth to prediction, and back.
    squared, units, halves : array of int
        The squared distances, rising, of each mask and direction in turn, and the length of the contour at each:
        ``units + halves * sqrt(1 / 2)``. Of pixels, `units` is their number.
    matrix : array of int, shape (K, K + 1)
        Of K classes the pixels by true and predicted class, as in `LabelCounts`; empty without classes.

    Raises
    ------
    ArgumentError
        If arrays do not fit each other, or hold anything but counts.

    Examples
    --------
    >>> import numpy as np
    >>> from segbench import count
    >>> truth, predicted = np.zeros((2, 6, 6), bool)
    >>> truth[1:4, 1:4] = predicted[1:4, 2:5] = True
    >>> counts = count(truth, predicted, "contours")
    >>> counts.areas.tolist(), counts.metrics()["hd"], counts.metrics()["assd"]
    ([[9, 9, 6]], 1.0, 0.5)
    """

    kind: ClassVar[str] = "contours"

    classes: str
    surface: str
    images: int
    squared_diagonal: int
    areas: IntArray
    bands: IntArray
    davis: IntArray
    sizes: IntArray
    squared: IntArray
    units: IntArray
    halves: IntArray
    matrix: IntArray

    def __post_init__(self) -> None:
        for name in ("images", "squared_diagonal"):
            object.__setattr__(self, name, as_whole(getattr(self, name), name, most=2**62))
        for name in (*_TABLES, *_LISTS):
            values = as_counts(np.asarray(getattr(self, name)).reshape(-1), name).astype(np.int64, copy=False)
            object.__setattr__(self, name, frozen(values.reshape(-1, _TABLES[name]) if name in _TABLES else values))
        masks = {len(getattr(self, name)) for name in _TABLES}
        listed = {getattr(self, name).size for name in _LISTS}
        known = self.names
        if len(masks) > 1 or listed != {int(self.sizes.sum())} or (known and masks != {len(known)}):
            raise ArgumentError(_DIFFERENT)
        size = 0 if self.classes in (MASKS, OBJECTS) else len(known)
        matrix = as_counts(np.asarray(self.matrix).reshape(-1), "matrix").astype(np.int64, copy=False)
        if matrix.size != size * (size + 1):
            raise ArgumentError(_DIFFERENT)
        object.__setattr__(self, "matrix", frozen(matrix.reshape(size, size + 1)))
        check_choice(self.surface, "surface", ("pixels", "lengths"))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the masks; empty for objects, which images have different numbers of."""
        return (MASKS,) if self.classes == MASKS else () if self.classes == OBJECTS else read_classes(self.classes)[1]

    @property
    def settings(self) -> tuple[str, str]:
        return self.classes, self.surface

    @property
    def ground_truth(self) -> str:
        return f"{', '.join(map(str, self.areas[:, 0].tolist()))} pixels"

    def distances(self, place: int = 0) -> tuple[Distances, Distances]:
        """Give the distances of one of the masks: from its ground truth to its prediction, and back."""
        first = int(self.sizes[:place].sum())
        middle, last = (first + np.cumsum(self.sizes[place])).tolist()
        return tuple(  # type: ignore[return-value]  # of two
            Distances(self.squared[some], self.units[some], self.halves[some])
            for some in (slice(first, middle), slice(middle, last))
        )

    def one(self, place: int) -> ContourCounts:
        """Return the counts of one of the masks alone; of an object that is in neither map those of empty masks."""
        if place >= len(self.areas):
            empty: dict[str, Any] = {name: np.zeros((1, width), np.int64) for name, width in _TABLES.items()}
            empty |= {name: np.zeros(0, np.int64) for name in _LISTS}
            return replace(self, classes=MASKS, **empty, matrix=NO_MATRIX)
        first = int(self.sizes[:place].sum())
        some = slice(first, first + int(self.sizes[place].sum()))
        tables = {name: getattr(self, name)[place : place + 1] for name in _TABLES}
        lists = {name: getattr(self, name)[some] for name in _LISTS}
        return replace(self, classes=MASKS, **tables, **lists, matrix=NO_MATRIX)

    def mask(self, place: int) -> Mask:
        """Give what one of the masks is measured by."""
        areas, bands, davis = (table[place].tolist() for table in (self.areas, self.bands, self.davis))
        there, back = self.distances(place)
        return Mask(areas, bands, davis, there, back, self.surface == "lengths", self.squared_diagonal)

    @classmethod
    @noting_origin
    def sum(cls, counts: Iterable[ContourCounts]) -> ContourCounts:
        total: ContourCounts | None = None
        rest = iter(counts)
        for some in iter(lambda: list(islice(rest, 64)), []):  # so that those of very many images are not held together
            total = _pooled(some if total is None else [total, *some])
        if total is None:
            raise ArgumentError(Message("nothing-counted", "there are no counts to add up; count an image first"))
        return total


def _pooled(counts: Sequence[ContourCounts]) -> ContourCounts:
    first = counts[0]
    for one in counts:
        if one.settings != first.settings:
            raise ArgumentError(
                Message(
                    "other-counts",
                    "counts of the same classes and surface add up, but there are {first} and {other}",
                    first=str(first.settings),
                    other=str(one.settings),
                )
            )
    masks = max(len(one.areas) for one in counts)
    parts: dict[str, Any] = {}
    for name, width in _TABLES.items():
        parts[name] = np.zeros((masks, width), np.int64)
        for one in counts:
            parts[name][: len(one.areas)] += getattr(one, name)
    lists = {name: np.concatenate([getattr(one, name) for one in counts]) for name in _LISTS}
    lists_of = np.concatenate([np.repeat(np.arange(one.sizes.size), one.sizes.reshape(-1)) for one in counts])
    # Of all lists at once: distances that are equal in the same list come together.
    order = np.lexsort((lists["squared"], lists_of))
    found, squared = lists_of[order], lists["squared"][order]
    starts = np.flatnonzero(np.r_[True, (np.diff(found) != 0) | (np.diff(squared) != 0)][: found.size])
    parts["sizes"] = np.bincount(found[starts], minlength=2 * masks)
    parts["squared"] = squared[starts]
    for name in ("units", "halves"):
        parts[name] = np.add.reduceat(lists[name][order], starts) if starts.size else lists[name]
    return ContourCounts(
        *first.settings,
        images=sum(one.images for one in counts),
        squared_diagonal=max(one.squared_diagonal for one in counts),
        matrix=np.sum([one.matrix for one in counts], axis=0),
        **parts,
    )
