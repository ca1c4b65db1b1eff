"""Counts of scored objects: what became of each detection at each IoU threshold, and how many objects there are."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from segbench.core.arrays import BoolArray, FloatArray, IntArray, added, as_counts, as_floats, frozen
from segbench.core.counts import Counts, noting_origin
from segbench.core.errors import ArgumentError
from segbench.core.joined import JoinedCounts
from segbench.core.messages import Message
from segbench.core.settings import as_whole

THRESHOLDS = 10
"""How many thresholds of IoU there are: .5, .55 to .95."""
RANGES = ("all", "small", "medium", "large")
"""The ranges of areas."""
_OF_DETECTIONS = ("ranks", "matched", "ignored", "hits")
_WHOLE_NUMBERS = ("labels", "objects", "detections", *_OF_DETECTIONS)
BITS = THRESHOLDS * len(RANGES)
"""Bits of `ScoredObjectCounts.matched` and `ignored`: all thresholds of the first range, rising, then of the next."""


@dataclass(frozen=True, eq=False, repr=False)
class ScoredObjectCounts(Counts):
    """Detections of one image, or of many, by class and falling score, and the number of true objects.

    Counts add with ``+``, and keep 40 bytes a detection; packed they take a few.

    Parameters
    ----------
    labels : array of int, shape (K,)
        The classes that have detections or objects, rising, by their ids.
    called : str
        Their names, as a list in JSON; empty where classes are called by their ids.
    objects : array of int, shape (K, 4)
        True objects of each class that are no crowds: all, small, medium and large ones.
    detections : array of int, shape (K,)
        How many detections each class has in the lists.
    scores : array of float64, shape (D,)
        The score of each detection, class by class, falling within each.
    ranks : array of int, shape (D,)
        Its place among the detections of its class in its image, from 0.
    matched, ignored : array of int, shape (D,)
        What became of it: bit ``10 a + t`` is set where it is matched to an object that counts, or neither right nor
        wrong, for the area range a and the threshold of IoU t (0 for .5, 9 for .95). With neither it is wrong.
    hits : array of int, shape (D,)
        What it hits, as FROC has it: 0 for nothing, n + 1 if it is the first to hit n objects.
    images : int
        How many images are added up.

    Raises
    ------
    ArgumentError
        If arrays do not fit each other.

    Examples
    --------
    >>> import numpy as np
    >>> from segbench import Objects, count
    >>> masks = np.zeros((2, 8, 8), bool)
    >>> masks[0, :4, :4] = masks[1, 4:, 4:] = True
    >>> truth = {"masks": masks, "labels": [1, 1]}
    >>> predicted = {"masks": masks[:1], "labels": [1], "scores": [0.9]}
    >>> counts = count(truth, predicted, Objects(kind="scored"))
    >>> counts.objects.tolist(), counts.scores.tolist(), round(counts.metrics()["coco_ap"], 4)
    ([[2, 2, 0, 0]], [0.9], 0.505)
    """

    kind: ClassVar[str] = "scored-objects"

    labels: IntArray
    called: str
    objects: IntArray
    detections: IntArray
    scores: FloatArray
    ranks: IntArray
    matched: IntArray
    ignored: IntArray
    hits: IntArray
    images: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "images", as_whole(self.images, "images", most=2**62))
        object.__setattr__(self, "scores", frozen(as_floats(self.scores, "scores")))
        arrays = {name: np.asarray(getattr(self, name)).reshape(-1) for name in _WHOLE_NUMBERS}
        if any(values.dtype != np.int64 or values.min(initial=0) < 0 for values in arrays.values()):
            arrays = {name: as_counts(values, name).astype(np.int64, copy=False) for name, values in arrays.items()}
        for name, values in arrays.items():
            object.__setattr__(self, name, frozen(values.reshape(-1, len(RANGES)) if name == "objects" else values))
        if not self.fit(JoinedCounts.of_each([self], type(self))):
            raise ArgumentError(
                Message(
                    "unfit-counts",
                    "the arrays of counts of scored objects do not fit each other; take counts from segbench.count",
                )
            )

    @classmethod
    def fit(cls, joined: JoinedCounts) -> bool:
        """Return whether the arrays of images are as they should be, and fit each other."""
        arrays, sizes = joined.arrays, joined.sizes
        scores, matched, ignored = arrays["scores"], arrays["matched"], arrays["ignored"]
        whole = all(arrays[name].dtype == np.int64 and arrays[name].min(initial=0) >= 0 for name in _WHOLE_NUMBERS)
        classes, detections = sizes["labels"], sizes["scores"]
        alike = [(sizes["detections"], classes), (sizes["objects"], classes * len(RANGES))]
        alike += [(sizes[name], detections) for name in _OF_DETECTIONS]
        if not (whole and scores.dtype == np.float64 and all(np.array_equal(*pair) for pair in alike)):
            return False
        ends_of_classes = arrays["detections"].cumsum()
        up_to_image = np.append(0, ends_of_classes)[classes.cumsum()]
        called = zip(joined.scalars["called"], classes.tolist(), strict=True)
        return (
            np.array_equal(up_to_image, detections.cumsum())
            and all(0 <= images <= 2**62 for images in joined.scalars["images"])
            and _runs(arrays["labels"][1:] > arrays["labels"][:-1], classes.cumsum())
            and _runs(scores[1:] <= scores[:-1], ends_of_classes)
            and bool(np.isfinite(scores).all())
            and int((matched | ignored).max(initial=0)) < 2**BITS
            and not (matched & ignored).any()
            and all(not names or len(json.loads(names)) == number for names, number in called)
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each class."""
        return tuple(json.loads(self.called)) if self.called else tuple(map(str, self.labels.tolist()))

    @property
    def ground_truth(self) -> str:
        numbers = zip(self.names, self.objects[:, 0].tolist(), strict=True)
        return ", ".join(f"{number} of {name}" for name, number in numbers if number) or "no object"

    def of_class(self, label: int) -> Self:
        """Return the counts of one class alone, which the image need not have."""
        row = int(np.searchsorted(self.labels, label))
        has_class = row < self.labels.size and self.labels[row] == label
        rows = slice(row, row + has_class)
        end = int(self.detections[: rows.stop].sum())
        kept = slice(end - int(self.detections[rows].sum()), end)
        lists = {name: getattr(self, name)[kept] for name in ("scores", *_OF_DETECTIONS)}
        classes = {name: getattr(self, name)[rows] for name in ("labels", "objects", "detections")}
        called = json.dumps(self.names[rows]) if self.called and has_class else ""
        return self.unchecked(called=called, images=self.images, **classes, **lists)

    @classmethod
    @noting_origin
    def sum(cls, counts: Iterable[Self]) -> Self:
        summands = list(counts)
        if not summands:
            raise ArgumentError(Message("no-counts", "there are no counts to add up; count an image first"))
        labels = np.unique(np.concatenate([summand.labels for summand in summands]))
        objects = np.zeros((labels.size, len(RANGES)), np.int64)
        for summand in summands:
            objects[np.searchsorted(labels, summand.labels)] += summand.objects
        of_detections = [np.repeat(summand.labels, summand.detections) for summand in summands]
        class_of = np.searchsorted(labels, np.concatenate(of_detections))
        lists = {
            name: np.concatenate([getattr(summand, name) for summand in summands])
            for name in ("scores", *_OF_DETECTIONS)
        }
        # Whatever the order of the images, equal detections come in the same order.
        order = np.lexsort((*(lists[name] for name in reversed(_OF_DETECTIONS)), -lists["scores"], class_of))
        return cls(
            labels=labels,
            called=_called(labels, summands),
            objects=objects,
            detections=np.bincount(class_of, minlength=labels.size),
            images=int(added([np.array([summand.images]) for summand in summands], "images")[0]),
            **{name: values[order] for name, values in lists.items()},
        )


def _runs(follows: BoolArray, ends: IntArray) -> bool:
    """Return whether each number but the first of each part follows the one before it as it should."""
    follows[ends[(ends > 0) & (ends <= follows.size)] - 1] = True
    return bool(follows.all())


def _called(labels: IntArray, summands: Iterable[ScoredObjectCounts]) -> str:
    """Return the names of the classes of summands as JSON, which call a class alike."""
    name_of: dict[int, str] = {}
    for summand in summands:
        for label, name in zip(summand.labels.tolist(), summand.names, strict=True):
            if name_of.setdefault(label, name) != name:
                raise ArgumentError(
                    Message(
                        "counted-otherwise",
                        "label {label} is called {names}; counts of the same classes add up",
                        label=label,
                        names=f"{name_of[label]} and {name}",
                    )
                )
    return names_as_json(labels.tolist(), [name_of[label] for label in labels.tolist()])


def names_as_json(labels: Iterable[int], names: Iterable[str]) -> str:
    """Return names of classes as counts have them: empty where all classes are called by their ids."""
    listed = list(names)
    return json.dumps(listed) if any(name != str(label) for label, name in zip(labels, listed, strict=True)) else ""
