"""The metrics of contours, and the tables that average them over images, classes, and objects of sequences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Self

import numpy as np

from segbench.core.arrays import BoolArray, FloatArray, IntArray, mean_of_defined
from segbench.core.grouping import grouped
from segbench.core.messages import Message, Note, Setting, part_of
from segbench.core.metric import PIXELS, VOXELS, Metric, key_of_images, left_out_note, shares, zero_note
from segbench.core.table import CountsTable, Sums
from segbench.inputs.class_names import background_note, in_means, read_class_labels
from segbench.inputs.class_regions import ClassLabel, counted_labels
from segbench.inputs.label_rules import listed
from segbench.inputs.numbered_objects import sequence_of
from segbench.inputs.renumbering import notes_on_predictions
from segbench.loaders.pairing import natural
from segbench.protocols.contours.counts import MASKS, ContourCounts
from segbench.protocols.contours.measures import (
    BOUNDARY_IOU,
    BUFFER,
    DAVIS,
    DISTANCES,
    Conventions,
    Tolerances,
    buffer_keys,
    decay_of,
    farthest_of,
    nsd_key,
    recall_of,
    tolerances_of,
)

_NO_END = (0.0, math.inf)
_NAMES = {
    "dice": "Dice",
    "hd": "HD",
    "hd95": "HD95",
    "assd": "ASSD",
    "masd": "MASD",
    "boundary_iou": "Boundary IoU",
    "j_and_f": "J&F",
    "j": "J",
    "f_davis": "F",
}
_NOTES = {
    "hd95": "95th percentile of the distances",
    "assd": "mean distance of both directions together",
    "masd": "mean of the mean distances of both directions",
    "boundary_iou": "IoU of the pixels near the contours",
    "buffer_precision": "share of the predicted contours within this distance of true ones",
    "buffer_recall": "share of the true contours within this distance of predicted ones",
    "buffer_quality": "right predicted contours, over all predicted ones and the true ones that are missed",
}
TOTALS = (
    Metric(key="one_empty", title="one empty", image_key="one_empty", kind="total", priority=3,
           note="masks that are empty on one side"),
    Metric(key="both_empty", title="both empty", image_key="both_empty", kind="total", priority=4),
)  # fmt: skip
_ADD_UP = ("dice", "boundary_iou")
SEQUENCES = shares(
    Metric(
        key="j_and_f", title="J&F", better="higher", image_key="j_and_f", headline=True, compared=True,
        note="mean of J and F",
    ),
    Metric(
        key="j", title="mean", better="higher", image_key="j", image_title="J", compared=True,
        group="J", note="IoU",
    ),
    Metric(key="j_recall", title="recall", better="higher", compared=True, group="J", note="share of frames above .5"),
    Metric(key="j_decay", title="decay", better="lower", range=(-1.0, 1.0), compared=True, group="J"),
    Metric(
        key="f_davis", title="mean", better="higher", image_key="f_davis", image_title="F", compared=True,
        group="F", note="F of boundary pixels",
    ),
    Metric(key="f_recall", title="recall", better="higher", compared=True, group="F"),
    Metric(key="f_decay", title="decay", better="lower", range=(-1.0, 1.0), compared=True, group="F"),
)  # fmt: skip
SEQUENCES = tuple(replace(metric, mean_over_images=True) for metric in SEQUENCES)  # whose rows are objects


def metrics_of(conventions: Conventions, *, classes: bool) -> tuple[Metric, ...]:
    """Return the metrics of masks, or of classes: then those that average over classes of an image first, too."""
    metrics = (_metric(key, conventions) for key in keys_of(conventions, classes=classes))
    of_masks = shares(*(replace(metric, adds_up=metric.key in _ADD_UP) for metric in metrics))
    if not classes:
        return tuple(replace(metric, mean_over_images=True) for metric in of_masks)
    means = (
        replace(
            metric, key=key_of_images(metric.key), title="", image_key="", headline=False, mean_over_images=True
        )
        for metric in of_masks
    )  # fmt: skip
    return (*of_masks, *means)


def keys_of(conventions: Conventions, *, classes: bool) -> tuple[str, ...]:
    """Return the keys of the metrics of a mask; those of DAVIS are not averaged over classes, nor of volumes."""
    buffers = [key for tolerance in conventions.nsd for key in buffer_keys(tolerance)]
    flat = (BOUNDARY_IOU, *(() if classes else DAVIS), *buffers) if conventions.is_flat else ()
    return "dice", *DISTANCES, *map(nsd_key, conventions.nsd), *flat


def _metric(key: str, conventions: Conventions) -> Metric:
    title, unit = _NAMES.get(key, ""), conventions.unit
    pixels = PIXELS if conventions.is_flat else VOXELS
    if key.startswith(BUFFER):
        return Metric(key=key, better="higher", image_key=key, note=_NOTES[key.partition("@")[0]])
    if not title:
        title = f"NSD@{key.removeprefix('nsd@')} {unit}".rstrip()
        note = "share of the contours within this distance of each other"
        return Metric(key=key, title=title, better="higher", image_key=key, compared=True, note=note)
    if key in DISTANCES:
        return Metric(
            key=key, title=title, measured_in=unit or pixels, better="lower", range=_NO_END, image_key=key,
            headline=key == "hd95", compared=True, priority={"hd": 1, "masd": 2}.get(key, 0), note=_NOTES.get(key, ""),
        )  # fmt: skip
    if key in DAVIS:  # which papers report of sequences
        return Metric(key=key, better="higher", image_key=key, image_title=title)
    return Metric(key=key, title=title, better="higher", image_key=key, compared=True, note=_NOTES.get(key, ""))


class ContourTable(CountsTable[ContourCounts]):
    """Metrics of each mask of each image; classes absent from both sides of an image are undefined there."""

    counts = ContourCounts
    means = ("masks", "images")

    def __init__(
        self,
        classes: str,
        conventions: Conventions,
        metrics: Sequence[Metric],
        per_image: Mapping[str, ContourCounts],
        *,
        background: Sequence[int] = (),
        remapped: bool = False,
    ) -> None:
        super().__init__(per_image)
        self._remapped = remapped
        self.metrics = tuple(metric for metric in metrics if metric.kind == "score")
        names: tuple[str, ...]
        self._labels: tuple[ClassLabel, ...]
        self._labels, names = ((0,), ("",)) if classes == MASKS else read_class_labels(classes)
        meant = in_means(self._labels, background)
        self._places = np.flatnonzero(meant).tolist()
        self._background = background_note(names, meant)
        self.class_names = () if classes == MASKS else tuple(names[number] for number in self._places)
        self.conventions = conventions

    @cached_property
    def _keys(self) -> tuple[str, ...]:
        return keys_of(self.conventions, classes=bool(self.class_names))

    @cached_property
    def _values(self) -> FloatArray:
        """Metrics of each mask in the means, shape (images, masks, keys); nan where undefined."""
        values = np.empty((self.images, len(self._places), len(self._keys)))
        for of_image, counts in zip(values, self.ordered, strict=True):
            for row, number in zip(of_image, self._places, strict=True):
                metrics = self.conventions.measure(counts.mask(number))
                row[:] = [metrics[key] for key in self._keys]
        return values

    def restricted_to_common(self, other: Self) -> Self:
        left_out = np.isnan(other._values) & ~np.isnan(self._values) & self._sides[..., :1]
        return self._with(_values=np.where(left_out, np.nan, self._values)) if left_out.any() else self

    def may_be_restricted(self, metric: Metric) -> bool:
        return True

    @property
    def image_weights(self) -> Mapping[str, BoolArray]:
        """Whether an image is in a mean: it has a mask for which the metric is defined."""
        defined = dict(zip(self._keys, np.any(~np.isnan(self._values), axis=1).T, strict=True))
        return {**defined, **{key_of_images(key): is_defined for key, is_defined in defined.items()}}

    @property
    def values_in_means(self) -> Mapping[str, IntArray]:
        """How many masks of each image have a value."""
        numbers = dict(zip(self._keys, np.count_nonzero(~np.isnan(self._values), axis=1).T, strict=True))
        return {**numbers, **{key_of_images(key): number for key, number in numbers.items()}}

    @property
    def value_noun(self) -> str:  # type: ignore[override]  # of classes, an image has several
        """What has a value."""
        return "mask" if self.class_names else self.noun

    def lacks(self, metric: Metric) -> str:
        """Say what a method without a distance does: its mask is empty."""
        del metric
        return "finds nothing"

    @cached_property
    def columns(self) -> Mapping[str, FloatArray]:
        """Values of each mask, shape (images, masks, keys); of classes the means of each image, too, (images, keys)."""
        return {"masks": self._values, "images": mean_of_defined(self._values)}

    def formulas(self, of: Sums) -> Mapping[str, FloatArray]:
        over_classes = dict(zip(self._keys, mean_of_defined(of["masks"]).T, strict=True))
        over_images = zip(self._keys, of["images"].T, strict=True)
        return {**over_classes, **{key_of_images(key): mean for key, mean in over_images}}

    @cached_property
    def _sides(self) -> BoolArray:
        """Whether each of these masks has pixels in ground truth and prediction, shape (images, masks, 2)."""
        sides = [counts.areas[self._places, :2] > 0 for counts in self.ordered]
        return np.array(sides, np.bool_).reshape(-1, len(self._places), 2)

    @property
    def totals(self) -> Mapping[str, int]:
        """How many masks are empty on one side, and on both."""
        sides = self._sides
        one_empty = np.count_nonzero(sides[..., 0] != sides[..., 1])
        return {"one_empty": int(one_empty), "both_empty": int(np.count_nonzero(~sides.any(axis=2)))}

    @property
    def images_of_classes(self) -> Mapping[str, BoolArray]:
        is_true, is_known = self._sides[..., 0], np.any(self._sides, axis=(0, 2))
        of_classes = zip(self.class_names, is_true.T, is_known, strict=bool(self.class_names))  # one mask has no name
        return {name: images for name, images, occurs in of_classes if occurs}

    def why_undefined(self, metric: Metric) -> Message:
        if not self.images:
            return Message("no-images", "no image was counted")
        every = " in every image" if self.images > 1 else ""
        key = metric.key.removesuffix("_images")
        if key in (BOUNDARY_IOU, *DAVIS) and any(counts.dimensions == 3 for counts in self.ordered):
            return Message("flat-metric", "it is defined in two dimensions, and these are volumes")
        if key.startswith((*DISTANCES, *BUFFER)) and self._sides.any():
            return Message("one-mask-empty", "one mask is empty{every}", every=every)
        return Message("both-masks-empty", "both masks are empty{every}", every=every)

    @property
    def notes(self) -> tuple[Note, ...]:
        """Say which classes and masks are in no mean, and what is odd in predicted labels."""
        if not (self.class_names and self.images):
            return self._left_out
        matrix = np.sum([counts.matrix for counts in self.ordered], axis=0)
        labels = counted_labels(self._labels)
        on_predictions = notes_on_predictions(matrix, labels, self.images, remapped=self._remapped)
        return *self._background, *self._left_out, *on_predictions

    @property
    def _left_out(self) -> tuple[Note, ...]:
        """Say how many masks are in no mean, since one side or both are empty, and how many count as 0."""
        pairs = self._sides[..., 0].size
        one_empty, both_empty = self.totals["one_empty"], self.totals["both_empty"]
        noun = "mask pair" if self.class_names else "image"
        shown = [metric for metric in self.metrics if metric.title]
        starts = tuple(_NAMES[key] for key in DISTANCES)
        distances = [metric for metric in shown if metric.name.startswith(starts)]
        others = [metric for metric in shown if metric not in distances]
        false_alarms = int(np.count_nonzero(~self._sides[..., 0] & self._sides[..., 1]))
        as_0 = zero_note(others, false_alarms, pairs, noun)
        if self.conventions.has_value_of_empty:
            return as_0
        no_distance = left_out_note(
            distances, "one mask or both empty", one_empty + both_empty if one_empty else 0, pairs, noun
        )
        no_overlap = left_out_note(others if one_empty else shown, "both masks empty", both_empty, pairs, noun)
        return *no_distance, *no_overlap, *as_0

    @cached_property
    def tolerances(self) -> Tolerances:
        """NSD at rising tolerances, and the distribution of distances."""
        # Images may be unpacked as they are needed, never all at once.
        farthest = farthest_of(self.ordered, self._places)
        return tolerances_of(self.ordered, self.conventions, self._places, farthest)


class SequenceTable(CountsTable[ContourCounts]):
    """Objects of sequences: each row is an object, whose frames are averaged.

    The folder of a frame is its sequence. Objects are those that the ground truth of the first frame numbers.
    """

    metrics = SEQUENCES
    noun = "object"
    counts = ContourCounts
    means = ("j", "f")

    def __init__(self, per_image: Mapping[str, ContourCounts], *, all_frames: bool) -> None:
        super().__init__(per_image)
        self._all_frames = all_frames

    @cached_property
    def _objects(self) -> dict[str, FloatArray]:
        """J and F of the frames of each object that count, shape (2, frames)."""
        return {
            name: np.array([_j_and_f(self.per_image[frame], mask) for frame in frames]).T
            for name, (frames, mask) in objects_of(self.per_image, all_frames=self._all_frames).items()
        }

    @property
    def images(self) -> int:
        """Number of objects."""
        return len(self._objects)

    @cached_property
    def names(self) -> list[str]:
        """The objects, as sequence and number."""
        return list(self._objects)

    @property
    def image_of_rows(self) -> list[str]:
        """A frame of each object."""
        frames = objects_of(self.per_image, all_frames=self._all_frames)
        return [frames[name][0][0] for name in self.names]

    @cached_property
    def columns(self) -> Mapping[str, FloatArray]:
        """Mean, recall and decay over the frames of each object, of J and of F, shape (objects, 3)."""
        objects = [[_over_frames(j), _over_frames(f)] for j, f in map(np.ndarray.tolist, self._objects.values())]
        values = np.array(objects, np.float64).reshape(-1, 2, 3)
        return {"j": values[:, 0], "f": values[:, 1]}

    def formulas(self, of: Sums) -> Mapping[str, FloatArray]:
        j, f = of["j"].T, of["f"].T
        return {
            "j_and_f": (j[0] + f[0]) / 2,
            **dict(zip(("j", "j_recall", "j_decay"), j, strict=True)),
            **dict(zip(("f_davis", "f_recall", "f_decay"), f, strict=True)),
        }

    @property
    def totals(self) -> Mapping[str, int]:
        """How many objects, in how many sequences."""
        return {"objects": self.images, "sequences": len({name.rpartition("/")[0] for name in self.names})}

    @property
    def notes(self) -> tuple[Note, ...]:
        """Say which sequences are in no mean, and which objects the ground truth never holds."""
        folders = {sequence_of(name) for name in self.per_image}
        without = len(folders) - self.totals["sequences"]
        why = "no object in the first frame, or no frame between the first and the last"
        number = part_of(without, len(folders), "sequence")
        left_out = Note(Message("left-out", "left out of all metrics, {why}: {number}", why=why, number=number))
        return *([left_out] if without else []), *self._notes_on_gaps

    @property
    def _notes_on_gaps(self) -> tuple[Note, ...]:
        """Say which numbers no object has, as where grey levels of a palette stand for its indices."""
        true_objects = {
            (sequence_of(name), int(mask) + 1)
            for name, counts in self.per_image.items()
            for mask in np.flatnonzero(counts.areas[:, 0])
        }
        drawn = {f"{sequence}/{number}".lstrip("/") for sequence, number in true_objects}
        missing = sum(name not in drawn for name in self.names)
        if not missing:
            return ()
        numbers = sorted({number for _, number in true_objects})
        fix = Message(
            "fix",
            "number objects from 1 without gaps on both sides, by the indices of the palette if these are grey levels",
        )
        if len(numbers) == 1:
            positive = Setting("positive", numbers[0])
            fix = Message("fix", "of a single object give {positive}", positive=positive)
        message = Message(
            "missing-objects",
            "{number} never occur in the ground truth, which holds the numbers {numbers}; where nothing is predicted, "
            "J and F of such objects are 1; {fix}",
            number=part_of(missing, self.images, "object"),
            numbers=listed(numbers),
            fix=fix,
        )
        return (Note(message),)

    def why_undefined(self, metric: Metric) -> Message:
        of_one = any(counts.classes == MASKS for counts in self.per_image.values())
        fix = Message("fix", "if the object has the value 255, give {positive}", positive=Setting("positive", 255))
        if of_one:
            fix = Message("fix", "check what {positive} names", positive=Setting("positive", None))
        return Message("no-frames", "no sequence has an object and a frame between its first and last; {fix}", fix=fix)


SEQUENCE_TOTALS = (
    Metric(key="objects", title="objects", image_key="", kind="total"),
    Metric(key="sequences", title="sequences", kind="total"),
)


def objects_in(counts: ContourCounts) -> int:
    """Return the highest number of an object in the ground truth."""
    drawn = np.flatnonzero(counts.areas[:, 0])
    return int(drawn[-1]) + 1 if drawn.size else 0


def objects_of(per_image: Mapping[str, ContourCounts], *, all_frames: bool) -> dict[str, tuple[Sequence[str], int]]:
    """Return the objects that the first frame of each sequence numbers: frames that count, and the index of the mask.

    All frames but the first and the last count, of a single image that one; objects without any are left out.
    """
    objects: dict[str, tuple[Sequence[str], int]] = {}
    for sequence, names in grouped((sequence_of(name), name) for name in sorted(per_image, key=natural)).items():
        frames = names if all_frames or len(per_image) == 1 else names[1:-1]
        for mask in range(objects_in(per_image[names[0]]) if frames else 0):
            objects[f"{sequence}/{mask + 1}".lstrip("/")] = frames, mask
    return objects


def _j_and_f(counts: ContourCounts, mask: int) -> tuple[float, float]:
    """Return J and F of an object, which may be in neither map of a frame."""
    if mask >= len(counts.areas):
        return 1.0, 1.0
    metrics = Conventions(nsd=()).measure(counts.mask(mask))
    return metrics["j"], metrics["f_davis"]


def _over_frames(values: Sequence[float]) -> tuple[float, float, float]:
    """Return mean, recall and decay."""
    return math.fsum(values) / len(values), recall_of(values), decay_of(values)
