"""The metrics of scored objects, average precision and recall, and the table that computes them.

Conventions
-----------
1. ``coco_ap`` of a class, range and threshold: precision made falling, read at the recalls 0, .01 to 1, 0 where a
   recall is not reached; thresholds, recalls and divisions are floats, as pycocotools has them. Means are over the
   thresholds and then over the classes with objects in the range.
2. Detections of equal score enter together, as one point of the curve.
3. ``ap_exact`` is the area under the curve of Davis and Goadrich at every score, without interpolated recalls and
   without making precision fall; recalls that are not reached add nothing. ``ap_achievable`` is that of its hull.
4. ``coco_ar_N`` is the recall with at most N detections of each class in each image, the mean over thresholds.
5. In a resample without any object of a class, means are over the other classes.
"""

from __future__ import annotations

import json
import os
import weakref
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import eye_array

from segbench.core.arrays import BoolArray, FloatArray, IntArray
from segbench.core.errors import LISTED
from segbench.core.joined import JoinedCounts
from segbench.core.messages import Message, Note
from segbench.core.metric import Metric, shares
from segbench.core.names import first_names
from segbench.core.numbers import of_all
from segbench.core.scores import ScoreCounts
from segbench.core.series import Series, Space
from segbench.core.table import CountsTable, Sums
from segbench.protocols.objects import scored_kernels as kernels
from segbench.protocols.objects.froc import METRICS as FROC_METRICS
from segbench.protocols.objects.froc import Froc
from segbench.protocols.objects.metrics import TOTALS
from segbench.protocols.objects.scored_counts import RANGES, THRESHOLDS, ScoredObjectCounts

RECALLS = np.linspace(0.0, 1.0, 101)
"""Where precision is read, as pycocotools has these recalls."""
_RANKED_BY, _CONDITION = "coco_ap_50", "at IoU .5"  # of curves
_LIMITS = (1, 10)
_CPUS = min(8, os.cpu_count() or 1)
_WORTH_THREADS = 2**20
"""From so many detections of all rows together, several threads measure rows: the kernels let each other run."""


def limits_of(max_dets: int) -> tuple[int, ...]:
    """Return how many detections of an image count for average recall."""
    return (*(limit for limit in _LIMITS if limit < max_dets), max_dets)


def metrics_of(max_dets: int) -> tuple[Metric, ...]:
    """Return the metrics of scored objects, with those limits of detections."""
    scores = (
        _score("coco_ap", "AP", "mean over IoU .5 to .95 and classes, as COCO has it", headline=True, compared=True),
        _score("coco_ap_50", "AP50", compared=True),
        _score("coco_ap_75", "AP75", compared=True),
        *(_score(f"coco_ap_{area}", f"AP {area}", priority=2, images=False) for area in RANGES[1:]),
        _score("ap_exact", "AP exact", "area under the curve of Davis and Goadrich", compared=True, priority=1),
        _score("ap_exact_50", "", images=False),
        _score("ap_exact_75", "", images=False),
        _score(
            "ap_achievable", "hull*", "of the hull of each curve, optimistic: tuned on the test images",
            priority=4, images=False, optimistic=True,
        ),
        *(_score(f"coco_ar_{limit}", f"AR@{limit}", priority=3, images=False) for limit in limits_of(max_dets)),
        *(_score(f"coco_ar_{area}", f"AR {area}", priority=5, images=False) for area in RANGES[1:]),
    )  # fmt: skip
    return (*shares(*scores), *FROC_METRICS)


def _measured_keys(max_dets: int) -> tuple[str, ...]:
    """Return the metrics in the order in which kernels have the values of a class."""
    average_precision = ("coco_ap", "coco_ap_50", "coco_ap_75", *(f"coco_ap_{area}" for area in RANGES[1:]))
    recall_of_ranges = tuple(f"coco_ar_{area}" for area in RANGES[1:])
    areas = ("ap_exact", "ap_exact_50", "ap_exact_75", "ap_achievable")
    return (*average_precision, *recall_of_ranges, *areas, *(f"coco_ar_{limit}" for limit in limits_of(max_dets)))


def _score(key: str, title: str, note: str = "", *, images: bool = True, **others: Any) -> Metric:
    """Describe a metric, of which single images have some."""
    return Metric(key=key, title=title, better="higher", image_key=key if images else "", note=note, **others)


class DetectionSet(NamedTuple):
    """All detections and objects of a method, over its images in sorted order of names."""

    names: tuple[str, ...]
    labels: IntArray
    class_names: tuple[str, ...]
    detections: kernels.Detections
    scores: FloatArray
    hits: IntArray
    objects: IntArray  # (entries, ranges): what images have of classes
    object_images: IntArray
    object_classes: IntArray
    summed_images: IntArray  # by image, more than 1 where counts of several were added up

    @classmethod
    def of(cls, per_image: Mapping[str, ScoredObjectCounts]) -> DetectionSet:
        """Lay out the counts of images, one after the other; of packed counts this is kept as long as they are."""
        known = _LAID_OUT.get(id(per_image))
        if known is not None and known[0]() is per_image:
            return known[1]
        laid_out = cls._made_of(per_image)
        key = id(per_image)
        with suppress(TypeError):  # of a dict, which may change, there is no such reference
            _LAID_OUT[key] = weakref.ref(per_image, lambda _: _LAID_OUT.pop(key, None)), laid_out
        return laid_out

    @classmethod
    def _made_of(cls, per_image: Mapping[str, ScoredObjectCounts]) -> DetectionSet:
        """Lay out the counts of images, one after the other."""
        joined = JoinedCounts.of(per_image, ScoredObjectCounts)
        arrays, sizes = joined.arrays, joined.sizes
        images = np.arange(len(per_image))
        name_of = dict(zip(arrays["labels"].tolist(), _names_of(joined), strict=True))
        labels = np.array(sorted(name_of), np.int64)
        object_classes = np.searchsorted(labels, arrays["labels"])
        class_of = np.repeat(object_classes, arrays["detections"])
        image_of = np.repeat(images, sizes["scores"])
        order = np.lexsort((-arrays["scores"], class_of))
        scores, hits, *lists = (arrays[name][order] for name in ("scores", "hits", "ranks", "matched", "ignored"))
        return cls(
            tuple(sorted(per_image)),
            labels,
            tuple(name_of[label] for label in labels.tolist()),
            _grouped(class_of[order], image_of[order], scores, lists, labels.size),
            scores,
            hits,
            arrays["objects"].reshape(-1, len(RANGES)),
            np.repeat(images, sizes["labels"]),
            object_classes,
            np.array(joined.scalars["images"], np.int64),
        )

    def of_class(self, label: int) -> DetectionSet:
        """Return what is of one class."""
        row = int(np.searchsorted(self.labels, label))
        begin, end = self.detections.starts[row : row + 2].tolist()
        lists = [part[begin:end] for part in self.detections[1:]]
        entries = self.object_classes == row
        return self._replace(
            labels=self.labels[row : row + 1],
            class_names=self.class_names[row : row + 1],
            detections=kernels.Detections(np.array([0, end - begin]), *lists),
            scores=self.scores[begin:end],
            hits=self.hits[begin:end],
            objects=self.objects[entries],
            object_images=self.object_images[entries],
            object_classes=np.zeros(np.count_nonzero(entries), np.int64),
        )

    def by_image(self) -> kernels.ByImage:
        """Return the detections and objects of each image."""
        images = np.arange(len(self.names) + 1)
        of_image = np.argsort(self.detections.images, kind="stable")
        starts = np.searchsorted(self.detections.images[of_image], images)
        object_starts = np.searchsorted(self.object_images, images)
        return kernels.ByImage(starts, of_image, object_starts, self.object_classes, self.objects)

    def objects_of_classes(self) -> IntArray:
        """Add up the objects of each class, shape (classes, ranges)."""
        totals = np.zeros((self.labels.size, len(RANGES)), np.int64)
        np.add.at(totals, self.object_classes, self.objects)
        return totals


def _names_of(joined: JoinedCounts) -> Iterator[str]:
    """Return the names of the classes of each image."""
    ends = joined.sizes["labels"].cumsum().tolist()
    for called, begin, end in zip(joined.scalars["called"], [0, *ends], ends, strict=False):
        labels = joined.arrays["labels"][begin:end]
        yield from json.loads(called) if called else map(str, labels.tolist())


def _grouped(
    class_of: IntArray, image_of: IntArray, scores: FloatArray, lists: Sequence[IntArray], classes: int
) -> kernels.Detections:
    """Return sorted detections with the numbers of their groups of equal scores."""
    starts = np.searchsorted(class_of, np.arange(classes + 1))
    groups = np.zeros(scores.size, np.int64)
    kernels.number_groups(scores, starts, groups)
    return kernels.Detections(starts, image_of, groups, *lists)


class CountsOfClass(Mapping[str, ScoredObjectCounts]):
    """The counts of one class by image, taken out when they are asked for."""

    def __init__(self, whole: DetectionsOfImages, label: int) -> None:
        self._whole, self._label = whole, label

    def __getitem__(self, name: str) -> ScoredObjectCounts:
        return self._whole.per_image[name].of_class(self._label)

    def __iter__(self) -> Iterator[str]:
        return iter(self._whole.per_image)

    def __len__(self) -> int:
        return len(self._whole.per_image)

    @property
    def detection_set(self) -> DetectionSet:
        """All detections of the class."""
        return self._whole.detection_set.of_class(self._label)


class DetectionsOfImages:
    """Counts by image, laid out once for all classes."""

    def __init__(self, per_image: Mapping[str, ScoredObjectCounts]) -> None:
        self.per_image = per_image

    @cached_property
    def detection_set(self) -> DetectionSet:
        """All detections."""
        return DetectionSet.of(self.per_image)


_LAID_OUT: dict[int, tuple[weakref.ref[Any], DetectionSet]] = {}


class PrecisionRecall(Series):
    """Precision and recall of a class at each score, at IoU .5."""

    measure: ClassVar[str] = "f"
    steps: ClassVar[bool] = True
    ranked_by, condition = _RANKED_BY, _CONDITION

    def __init__(self, scores: FloatArray, tp: IntArray, fp: IntArray, objects: int, area: float) -> None:
        self._scores, self._tp, self._fp, self._objects, self._area = scores, tp, fp, objects, area

    @property
    def columns(self) -> Mapping[str, NDArray[Any]]:
        """Scores, falling, and what is matched with at least each."""
        tp, fp = self._tp, self._fp
        with np.errstate(invalid="ignore", divide="ignore"):  # ignored detections alone, or no objects
            return {
                "threshold": self._scores,
                "tp": tp,
                "fp": fp,
                "recall": tp / self._objects,
                "precision": tp / (tp + fp),
                "f": 2 * tp / (self._objects + tp + fp),
            }

    @property
    def caption(self) -> str:
        return f"AP exact at IoU .5 {self._area:.4f}".replace(" 0.", " .")

    @property
    def spaces(self) -> tuple[Space, ...]:
        return ("pr",)


class MeanPrecision(Series):
    """Precision at each recall, made falling, at IoU .5: the mean over classes."""

    measure: ClassVar[str] = "precision"
    ranked_by, condition = _RANKED_BY, _CONDITION

    def __init__(self, precision: FloatArray) -> None:
        self._precision = precision

    @property
    def columns(self) -> Mapping[str, NDArray[Any]]:
        """Recalls, and precision at each; there is no score that all classes share."""
        return {"threshold": np.full(RECALLS.size, np.nan), "recall": RECALLS, "precision": self._precision}

    @property
    def caption(self) -> str:
        return f"AP50 {self._precision.mean():.4f}".replace(" 0.", " .")

    @property
    def spaces(self) -> tuple[Space, ...]:
        return ("pr",)


class ScoredObjectTable(CountsTable[ScoredObjectCounts]):
    """Scored objects of one method; `max_dets` detections of each class and image were counted."""

    counts = ScoredObjectCounts
    enough_of_class = 15

    def __init__(self, per_image: Mapping[str, Any], max_dets: int, *, interpolate: bool = False) -> None:
        super().__init__(per_image)
        self.metrics = metrics_of(max_dets)
        self._interpolate = interpolate
        self._keys = _measured_keys(max_dets)
        self._limits = np.array(limits_of(max_dets), np.int64)

    @cached_property
    def detection_set(self) -> DetectionSet:
        """All detections and objects."""
        if isinstance(self.per_image, CountsOfClass):
            return self.per_image.detection_set
        return DetectionSet.of(self.per_image)

    @property
    def _settings(self) -> kernels.CurveSettings:
        return kernels.CurveSettings(THRESHOLDS, len(RANGES), self._limits, RECALLS)

    @cached_property
    def columns(self) -> Mapping[str, Any]:
        """A column for each image, which says how often it is in a sum: areas are not computed from sums."""
        return {"image": eye_array(self.images, format="csr")} if self.images else {}

    @cached_property
    def _by_image(self) -> kernels.ByImage:
        """The detections and objects of each image."""
        return self.detection_set.by_image()

    @cached_property
    def _points(self) -> kernels.CurvePoints:
        """The points of the curves of all images."""
        return kernels.points_of_all(
            self.detection_set.detections, self.detection_set.objects_of_classes(), self._settings
        )

    @cached_property
    def by_class(self) -> FloatArray:
        """Every metric of each class, as kernels have them, shape (classes, metrics); nan where it has no objects."""
        detections = self.detection_set.detections
        weights, every = np.ones(max(self.images, 1)), np.arange(detections.images.size)
        objects = self.detection_set.objects_of_classes()
        values = [
            kernels.measure_class(
                kernels.ChosenDetections(every, begin, end, weights),
                detections,
                of_class,
                self._settings,
            )
            for begin, end, of_class in zip(detections.starts, detections.starts[1:], objects, strict=False)
        ]
        return np.array(values, np.float64).reshape(-1, len(self._keys))

    def formulas(self, of: Sums) -> Mapping[str, FloatArray]:
        weights = np.ascontiguousarray(of["image"], np.float64)
        means = np.full((len(weights), len(self._keys)), np.nan)
        method = kernels.MeasuredMethod(
            self.detection_set.detections, self._by_image, self._points, self.by_class, self._settings
        )

        def measure(rows: slice) -> None:
            kernels.measure_rows(weights[rows], method, means[rows])

        threads = min(len(weights), _CPUS)
        if threads < 2 or len(weights) * self.detection_set.scores.size < _WORTH_THREADS:
            measure(slice(None))
        else:
            with ThreadPoolExecutor(threads) as pool:
                ends = np.linspace(0, len(weights), threads + 1).astype(int).tolist()
                list(pool.map(measure, map(slice, ends, ends[1:])))
        return {**dict(zip(self._keys, means.T, strict=True)), **self.froc.metrics_of(weights)}

    @cached_property
    def froc(self) -> Froc:
        """Detections as FROC takes them."""
        whole = self.detection_set
        return Froc(
            summed_images=whole.summed_images,
            starts=whole.detections.starts,
            images=whole.detections.images,
            groups=whole.detections.groups,
            hits=whole.hits,
            objects=np.ascontiguousarray(whole.objects[:, 0]),
            object_images=whole.object_images,
            object_classes=whole.object_classes,
            interpolates=self._interpolate,
        )

    @cached_property
    def _objects_of_images(self) -> IntArray:
        """Objects of each image, shape (images, ranges)."""
        objects = np.zeros((self.images, len(RANGES)), np.int64)
        np.add.at(objects, self.detection_set.object_images, self.detection_set.objects)
        return objects

    @property
    def image_weights(self) -> Mapping[str, FloatArray]:
        """Which share of the objects of each class an image has, added up over classes."""
        objects = self.detection_set
        totals = np.maximum(objects.objects_of_classes(), 1)[objects.object_classes]
        weights = np.zeros((self.images, len(RANGES)))
        np.add.at(weights, objects.object_images, objects.objects / totals)
        area_of = {metric.label: _area_of(metric.key) for metric in self.metrics}
        return {label: weights[:, area] for label, area in area_of.items()}

    @property
    def images_of_classes(self) -> Mapping[str, BoolArray]:
        """Which images hold objects of each class."""
        in_images = np.zeros((self.detection_set.labels.size, self.images), np.bool_)
        has_objects = self.detection_set.objects[:, 0] > 0
        in_images[self.detection_set.object_classes[has_objects], self.detection_set.object_images[has_objects]] = True
        return {name: row for name, row in zip(self.detection_set.class_names, in_images, strict=True) if row.any()}

    @property
    def totals(self) -> Mapping[str, int]:
        """True objects, without crowds, and detections."""
        numbers = (int(self._objects_of_images[:, 0].sum()), self.detection_set.scores.size)
        return dict(zip((metric.key for metric in TOTALS), numbers, strict=True))

    @property
    def notes(self) -> tuple[Note, ...]:
        """Which detections no metric counts, as the ground truth has no object of their classes."""
        has_objects = self.detection_set.objects_of_classes()[:, 0] > 0
        detections = np.diff(self.detection_set.detections.starts)
        foreign = ~has_objects & (detections > 0)
        if not has_objects.any() or not foreign.any():
            return ()
        message = Message(
            "foreign-detections",
            "in no metric: {detections}, of classes without an object in the ground truth: {classes}",
            detections=of_all(int(detections[foreign].sum()), int(detections.sum()), "detection"),
            classes=first_names([self.detection_set.class_names[row] for row in np.flatnonzero(foreign)], LISTED),
        )
        return (Note(message),)

    def why_undefined(self, metric: Metric) -> Message:
        if not self.images:
            return Message("no-images", "no image was counted")
        area = RANGES[_area_of(metric.key)]
        if area != RANGES[0] and self._objects_of_images[:, 0].any():
            return Message("no-objects-of-area", "there is no {area} object in the ground truth", area=area)
        return Message("no-true-objects", "there is no object in the ground truth")

    @property
    def curve(self) -> Series | None:
        """The precision-recall curve at IoU .5: of one class at each score, of several their mean."""
        detection_set = self.detection_set
        if detection_set.labels.size != 1:
            precision = self._precision(RECALLS, np.ones((1, self.images)))[0]
            return None if np.isnan(precision).any() else MeanPrecision(precision)
        objects = int(detection_set.objects_of_classes()[0, 0])
        if not objects:
            return None
        matched, ignored = detection_set.detections.matched & 1, detection_set.detections.ignored & 1
        tp, fp = np.cumsum(matched), np.cumsum(1 - matched - ignored)
        last = np.append(np.diff(detection_set.scores) != 0, detection_set.scores[:1] == detection_set.scores[:1])
        exact = float(self.by_class[0, self._keys.index("ap_exact_50")])
        return PrecisionRecall(detection_set.scores[last], tp[last], fp[last], objects, exact)

    @property
    def confidences(self) -> ScoreCounts:
        """True and false detections of all classes at IoU .5 by their score, without those that are neither."""
        detections = self.detection_set.detections
        counts = detections.ignored & 1 == 0
        is_true = detections.matched[counts] & 1 == 1
        scores, score_of = np.unique(-self.detection_set.scores[counts], return_inverse=True)
        positives, negatives = (np.bincount(score_of[is_true == sign], minlength=scores.size) for sign in (True, False))
        return ScoreCounts(-scores, positives, negatives)

    @property
    def thresholds(self) -> tuple[FloatArray, float]:
        """All scores, rising, and that of the best F1 over all classes; nan without detections."""
        counts = self.confidences
        if not counts.scores.size:
            return np.zeros(0), np.nan
        tp, fp = np.cumsum(counts.positives), np.cumsum(counts.negatives)
        best = np.argmax(2 * tp / (self._objects_of_images[:, 0].sum() + tp + fp))
        return counts.scores[::-1], float(counts.scores[best])

    def heights(self, space: Space, at: FloatArray, of: Sums) -> FloatArray:
        """Read precision off at recalls, the mean over classes, see `Table`."""
        if space != "pr":
            return super().heights(space, at, of)
        return self._precision(at, np.ascontiguousarray(of["image"], np.float64))

    def _precision(self, at: FloatArray, weights: FloatArray) -> FloatArray:
        """Return precision at recalls for each row of weights of images, at IoU .5."""
        detection_set = self.detection_set
        objects = np.zeros((len(weights), detection_set.labels.size))
        of_entries = weights[:, detection_set.object_images] * detection_set.objects[:, 0]
        np.add.at(objects.T, detection_set.object_classes, of_entries.T)
        heights = np.full((len(weights), at.size), np.nan)
        kernels.read_precision(weights, detection_set.detections, objects, at, heights)
        return heights


def _area_of(key: str) -> int:
    """Return the number of the range of areas of a metric."""
    return next((area for area, name in enumerate(RANGES) if key.endswith(f"_{name}")), 0)
