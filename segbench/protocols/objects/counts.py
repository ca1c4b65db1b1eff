"""Counts of objects: how many there are, and the intersections and unions of those that match."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from segbench.core.arrays import FloatArray, IntArray, as_counts, as_floats, frozen
from segbench.core.counts import Counts, noting_origin
from segbench.core.errors import ArgumentError
from segbench.core.grouping import grouped
from segbench.core.messages import Message
from segbench.core.settings import as_whole
from segbench.inputs.class_names import read_classes, written_classes
from segbench.inputs.cut_masks import CONNECTIVITIES_OF_VOLUMES
from segbench.inputs.object_kinds import COMPONENTS, INSTANCES, PANOPTIC

_OF_CLASSES = ("objects", "sizes")
_TABLES = {"objects": 3, "sizes": 2, "lesions": 3}
_SUMS = ("false_lesions", "targets", "false_pixels", "pixels")
_LISTS = ("things", "objects", "sizes", "shared", "whole", "aji", "lesions", "hits")


@dataclass(frozen=True, eq=False, repr=False)
class ObjectCounts(Counts):
    """Objects of one image, or of many: how many there are of each class, and the pairs that match.

    Counts of the same kind add with ``+``. A pair is two whole numbers, so that thresholds of IoU are exact.

    Parameters
    ----------
    classes : str
        ``"instances"`` or ``"components"``, which are of one class, or the K classes of panoptic maps that the image
        has, as in `LabelCounts`; ``"none"`` for none.
    things : array of int, shape (K,)
        1 where a class has things, 0 where it is stuff.
    objects : array of int, shape (K, 3)
        True and predicted objects, and those of the latter that are neither found nor false (void, crowds).
    sizes : array of int, shape (K, 2)
        How many pairs each class has in the lists; of components their numbers, true ones first.
    shared, whole : array of int
        Pairs: intersection and union of matched objects, class by class. Of components the intersection with the
        other side and the adjusted union, and of predicted ones their area.
    aji : array of int, shape (4,)
        Intersection and union of AJI, then of AJI+; of instances alone.
    images : int
        How many images are added up.
    connectivity : int
        Of components of volumes how many neighbours of a voxel touch it; 0 of all others.
    unit : str
        What distances of lesions are in: ``"mm"``, or empty for voxels.
    lesions : array of int, shape (L, 3)
        Of each true lesion of volumes, as BraTS joins them: how many of its voxels are predicted, all of them, and the
        voxels of all predicted components that touch it.
    distances : array of float64, shape (L,)
        HD95 of each of these lesions.
    false_lesions : int
        Predicted components that touch no lesion.
    targets, false_pixels, pixels : int
        Of components of images: true ones with a predicted one of their own less than 3 pixels away, by their
        centroids; pixels of the predicted ones that are not taken; all pixels that count.
    scored : bool
        Whether predicted components have scores.
    scores : array of float64, shape (P,)
        The highest score of each predicted component, falling.
    hits : array of int, shape (P,)
        What it hits, as FROC has it: 0 for nothing, n + 1 if it is the first to hit n true components.

    Raises
    ------
    ArgumentError
        If arrays do not fit each other, or hold anything but counts.

    Examples
    --------
    >>> import numpy as np
    >>> from segbench import count
    >>> truth = np.array([[1, 1, 0, 2], [1, 1, 0, 2]])
    >>> counts = count(truth, np.array([[5, 5, 5, 0], [5, 5, 5, 0]]), "objects")
    >>> counts.objects.tolist(), counts.shared.tolist(), counts.whole.tolist()
    ([[2, 1, 0]], [4], [6])
    >>> counts.metrics()["f1@0.5"], round(counts.metrics()["pq"], 4)
    (0.6666666666666666, 0.4444)
    """

    kind: ClassVar[str] = "objects"

    classes: str
    things: IntArray
    objects: IntArray
    sizes: IntArray
    shared: IntArray
    whole: IntArray
    aji: IntArray = field(default_factory=lambda: np.zeros(4, np.int64))
    images: int = 1
    connectivity: int = 0
    unit: str = ""
    lesions: IntArray = field(default_factory=lambda: np.zeros((0, 3), np.int64))
    distances: FloatArray = field(default_factory=lambda: np.zeros(0))
    false_lesions: int = 0
    targets: int = 0
    false_pixels: int = 0
    pixels: int = 0
    scored: bool = False
    scores: FloatArray = field(default_factory=lambda: np.zeros(0))
    hits: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))

    def __post_init__(self) -> None:
        for name in ("images", *_SUMS):
            object.__setattr__(self, name, as_whole(getattr(self, name), name, most=2**62))
        for name in ("distances", "scores"):
            object.__setattr__(self, name, frozen(as_floats(getattr(self, name), name)))
        for name in _LISTS:
            values = as_counts(np.asarray(getattr(self, name)).reshape(-1), name).astype(np.int64, copy=False)
            object.__setattr__(self, name, frozen(values.reshape(-1, _TABLES[name]) if name in _TABLES else values))
        classes_fit = len(self.things) == len(self.objects) == len(self.sizes) == len(self.labels)
        pairs_fit = self.shared.size == self.whole.size == self.sizes.sum()
        is_distance = np.isfinite(self.distances) & (self.distances >= 0)
        lesions_fit = len(self.lesions) == self.distances.size and bool(is_distance.all() and self.lesions[:, 1].all())
        lesions_fit &= self.connectivity in (0, *CONNECTIVITIES_OF_VOLUMES)
        targets_fit = self.targets <= self.objects[:, :2].sum(axis=0).min() and self.false_pixels <= self.pixels
        if not (classes_fit and pairs_fit and lesions_fit and targets_fit and self._hits_fit and self.aji.size == 4):
            raise ArgumentError(
                Message(
                    "unfit-counts", "the arrays of object counts do not fit each other; take counts from segbench.count"
                )
            )

    @property
    def _hits_fit(self) -> bool:
        """Whether each predicted component has a score, falling, and what it hits, if any has."""
        scored_components = int(self.objects[:, 1].sum()) if self.scored else 0
        falls = np.isfinite(self.scores).all() and (self.scores[1:] <= self.scores[:-1]).all()
        return self.scores.size == self.hits.size == scored_components and bool(falls)

    @classmethod
    def made(cls, classes: str, shared: ArrayLike, whole: ArrayLike, *, images: int = 1, **others: ArrayLike) -> Self:
        """Make counts of anything that can be turned into arrays."""
        arrays: dict[str, Any] = {name: np.array(values, np.int64) for name, values in others.items()}
        return cls(classes=classes, shared=np.asarray(shared), whole=np.asarray(whole), images=images, **arrays)

    @property
    def of(self) -> str:
        """What was counted: ``"instances"``, ``"components"`` or ``"panoptic"``."""
        return self.classes if self.classes in (INSTANCES, COMPONENTS) else PANOPTIC

    @property
    def labels(self) -> tuple[int, ...]:
        """The label of each class; 0 for objects of one class."""
        if self.of != PANOPTIC:
            return (0,)
        return () if self.classes == "none" else read_classes(self.classes)[0]

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each class."""
        if self.of != PANOPTIC:
            return ("",)
        return () if self.classes == "none" else read_classes(self.classes)[1]

    @property
    def settings(self) -> tuple[str, ...]:
        volumes = (str(self.connectivity), self.unit) if self.connectivity else ()
        return (self.of, *volumes, "with scores") if self.scored else (self.of, *volumes)

    @property
    def ground_truth(self) -> str:
        true_objects = zip(self.names, self.objects[:, 0].tolist(), strict=True)
        return ", ".join(f"{number} {name or self.of}" for name, number in true_objects if number) or "no object"

    def pairs(self, place: int = 0, side: int = 0) -> tuple[IntArray, IntArray]:
        """Return intersections and unions of a class by its place; of components, `side` 1 is predicted."""
        end = int(np.cumsum(self.sizes)[2 * place + side])
        pairs = slice(end - int(self.sizes[place, side]), end)
        return self.shared[pairs], self.whole[pairs]

    def one(self, label: int) -> ObjectCounts:
        """Return the counts of one class alone, which the image need not have."""
        if label not in self.labels:
            return self.made("none", [], [], images=self.images, things=[], objects=[], sizes=[])
        row = self.labels.index(label)
        shared, whole = self.pairs(row)
        arrays = {name: getattr(self, name)[row : row + 1] for name in ("things", *_OF_CLASSES)}
        return replace(self, classes=written_classes([label], [self.names[row]]), shared=shared, whole=whole, **arrays)

    @classmethod
    @noting_origin
    def sum(cls, counts: Iterable[Self]) -> Self:
        summands = list(counts)
        if not summands:
            raise ArgumentError(Message("no-counts", "there are no counts to add up; count an image first"))
        kinds = sorted({summand.of for summand in summands})
        if len(kinds) > 1:
            raise ArgumentError(
                Message(
                    "counted-otherwise",
                    "counts of one kind of objects add up, but there are {kinds}",
                    kinds=" and ".join(kinds),
                )
            )
        if len({summand.settings for summand in summands}) > 1:
            raise ArgumentError(
                Message(
                    "counted-otherwise",
                    "counts of components add up if connectivity and unit are the same, and all or none have scores, "
                    "and these differ; count all with the same settings",
                )
            )
        by_label = grouped((label, (summand, row)) for summand in summands for row, label in enumerate(summand.labels))
        labels = sorted(by_label)
        names: list[str] = []
        things, objects, sizes, pairs = [], [], [], [np.zeros((2, 0), np.int64)]
        for label in labels:
            names_of_label = sorted({summand.names[row] for summand, row in by_label[label]})
            if len(names_of_label) > 1:
                raise ArgumentError(
                    Message(
                        "counted-otherwise",
                        "label {label} is called {names}; counts of the same classes add up",
                        label=label,
                        names=" and ".join(names_of_label),
                    )
                )
            names += names_of_label
            first, first_row = by_label[label][0]
            things.append(first.things[first_row])
            objects.append(np.sum([summand.objects[row] for summand, row in by_label[label]], axis=0))
            sizes.append(np.sum([summand.sizes[row] for summand, row in by_label[label]], axis=0))
            for side in (0, 1):
                pairs += [np.stack(summand.pairs(row, side)) for summand, row in by_label[label]]
        shared, whole = np.hstack(pairs)
        total = cls.made(
            kinds[0] if kinds != [PANOPTIC] else written_classes(labels, names) or "none",
            shared,
            whole,
            things=things,
            objects=objects,
            sizes=sizes,
            aji=np.sum([summand.aji for summand in summands], axis=0),
            images=sum(summand.images for summand in summands),
        )
        scores = np.concatenate([summand.scores for summand in summands])
        hits = np.concatenate([summand.hits for summand in summands])
        by_score = np.lexsort((hits, -scores))
        return replace(
            total,
            scored=summands[0].scored,
            scores=scores[by_score],
            hits=hits[by_score],
            lesions=np.concatenate([summand.lesions for summand in summands]),
            distances=np.concatenate([summand.distances for summand in summands]),
            connectivity=summands[0].connectivity,
            unit=summands[0].unit,
            **{name: sum(getattr(summand, name) for summand in summands) for name in _SUMS},
        )

    def with_lesions(
        self, lesions: IntArray, distances: FloatArray, false_lesions: int, *, connectivity: int, unit: str
    ) -> Self:
        """Return these counts with those of lesions."""
        return replace(
            self,
            lesions=lesions,
            distances=distances,
            false_lesions=false_lesions,
            connectivity=connectivity,
            unit=unit,
        )


def count_reaching(shared: IntArray, whole: IntArray, thresholds: Sequence[Fraction]) -> list[int]:
    """Count the pairs with an intersection over union of at least each threshold, an exact fraction."""
    return [int(np.count_nonzero(shared * iou.denominator >= whole * iou.numerator)) for iou in thresholds]


def sum_of_iou(shared: IntArray, whole: IntArray) -> float:
    """Add up intersections over unions, rounded once, so that their order does not matter."""
    return math.fsum((shared / whole).tolist())
