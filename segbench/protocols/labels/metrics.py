"""The metrics of the labels benchmark, and the table that computes them from confusion matrices.

Begin with `CLASSES` and `POSITIVE`, the metrics, and `LabelTable`.

Conventions
-----------
1. ``miou`` (D, over the data set) is the mean IoU of the pooled matrix over the classes with a non-empty union. A class
   absent from both sides is in no mean; a class that is only predicted has an IoU of 0.
2. ``miou_images`` (I) is the mean over images of an image's mean IoU; ``miou_classes`` (C) the mean over classes of the
   mean over images of a class. Both count a class in an image only if it is in the ground truth of the image, so false
   positives in other images affect D alone.
3. ``miou_images_5`` and ``miou_classes_5`` are the same means over the worst 5 % of images (of a class: of the images
   that contain it), rounded down, at least one.
4. Accuracies are shares of the pixels of the ground truth, predictions outside the classes included.
   ``mean_accuracy`` is over the classes in the ground truth. ``fw_iou`` weights IoU by the pixels of the ground truth.
5. With two classes the second is the positive one; ``iou_images`` and ``dice_images`` are means over the images that
   contain it.
6. Background is in no mean over classes: ``miou``, ``miou_images`` and ``miou_classes``, their worst 5 %,
   ``mean_accuracy``, ``mean_dice``, ``fw_iou``, ``mean_dice_cases`` and ``mean_iou_cases``. Its pixels count:
   predictions of a class there are false positives.
7. ``dice_cases`` and ``iou_cases`` are means over the images (cases) in which either side holds the class, so that an
   image where it is only predicted counts 0. ``both_empty=1`` counts images that neither side holds as 1.
8. Regions of several labels may overlap, so that accuracies over all pixels, ``kappa`` and ``fw_iou`` have no meaning
   for them; all other metrics are of each region against the pixels outside it.
9. Masks have the metrics of referring segmentation, in which each image is an expression (a sample). ``p@T`` is the
   share of the samples with a target, that is a positive pixel, whose IoU is T or more; ``t_acc`` that of those in
   which anything is predicted, and ``n_acc`` the share of the samples without target in which nothing is. ``giou`` is
   the mean IoU over all samples, where one without target is 1 if nothing is predicted, and 0 otherwise. Samples that
   are void everywhere are in none of them.
10. Sums of values of images are rounded once, so that the order of images does not matter, and means over a single
   image are equal to the metrics of that image.

References
----------
Wang, Berman, Rannen-Triki, Torr, Tuia, Tuytelaars, Van Gool, Yu, Blaschko: Revisiting Evaluation Metrics for Semantic
Segmentation: Optimization and Evaluation of Fine-grained Intersection over Union. NeurIPS 2023 (D, I, C, worst images).
Liu, Ding, Jiang: GRES: Generalized Referring Expression Segmentation. CVPR 2023 (giou, n_acc, t_acc).
Cohen: A coefficient of agreement for nominal scales. Educational and Psychological Measurement 1960 (kappa).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import BoolArray, FloatArray, IntArray, mean_of_defined
from segbench.core.errors import ArgumentError
from segbench.core.messages import Message, Note, part_of
from segbench.core.metric import CLASSES_PRESENT, Metric, held_note, key_at, keys_and_names, left_out_note, shares
from segbench.core.names import first_names
from segbench.core.operating_point import Confusion, f_of, iou_of, share
from segbench.core.table import CountsTable, Sums
from segbench.inputs.class_names import background_note, in_means, read_class_labels
from segbench.inputs.class_regions import counted_labels, has_regions
from segbench.inputs.renumbering import notes_on_predictions
from segbench.protocols.labels.counts import LabelCounts, names_of

WORST = 0.05
"""The share of images in ``miou_images_5`` and ``miou_classes_5``."""

_AGREEMENT = (-1.0, 1.0)
_SHOWN = 8

CLASSES = shares(
    Metric(
        key="miou", title="mIoU", better="higher", image_key="miou", headline=True, compared=True,
        note="mean IoU over classes, counts pooled over the data set (D)",
    ),
    Metric(
        key="miou_images", title="mIoU I", better="higher", image_key="miou_of_truth", image_title="mIoU of GT classes",
        compared=True, mean_over_images=True, note="mean over images of the image's mean IoU",
    ),
    Metric(
        key="miou_classes", title="mIoU C", better="higher", compared=True,
        note="mean over classes of the mean over images",
    ),
    Metric(
        key="miou_images_5", title="I 5 %", better="higher", spread="erratic", priority=4,
        note="mIoU I of the worst 5 % of images, at least one",
    ),
    Metric(
        key="miou_classes_5", title="C 5 %", better="higher", spread="erratic", priority=3,
        note="mIoU C of the worst 5 % of the images of a class",
    ),
    Metric(key="pixel_accuracy", title="acc", better="higher", image_key="pixel_accuracy", compared=True, priority=7,
        note="share of the pixels labelled right",
    ),
    Metric(
        key="mean_accuracy", title="mAcc", better="higher", image_key="mean_accuracy", priority=6,
        note="mean over classes of the accuracy of a class (recall)",
    ),
    Metric(key="mean_dice", title="mDice", better="higher", image_key="mean_dice", compared=True, priority=5),
    Metric(
        key="fw_iou", title="fwIoU", better="higher", image_key="fw_iou", priority=2,
        note="IoU weighted by the pixels of a class",
    ),
    Metric(
        key="kappa", title="kappa", better="higher", range=_AGREEMENT, image_key="kappa", priority=1,
        note="Cohen's kappa",
    ),
    Metric(
        key="mean_dice_cases", better="higher",
        note="mean over classes of the mean over the cases where either side holds the class",
    ),
    Metric(
        key="mean_iou_cases", better="higher",
        note="mean over classes of the mean over the cases where either side holds the class",
    ),
)  # fmt: skip
POSITIVE = shares(
    Metric(
        key="iou", title="IoU", better="higher", image_key="iou", headline=True, compared=True,
        note="of the positive class, counts pooled over images",
    ),
    Metric(key="dice", title="Dice", better="higher", image_key="dice", compared=True),
    Metric(
        key="iou_images", title="IoU", better="higher", compared=True, mean_over_images=True, group="I",
        note="mean over the images that hold the class",
    ),
    Metric(
        key="dice_images", title="Dice", better="higher", compared=True, mean_over_images=True, group="I",
        note="mean over the images that hold the class",
    ),
    Metric(key="precision", title="P", better="higher", image_key="precision", priority=7),
    Metric(key="recall", title="R", better="higher", image_key="recall", priority=6),
    Metric(
        key="specificity", title="spec", better="higher", image_key="specificity", priority=4, note="specificity",
    ),
    Metric(
        key="ber", title="BER", better="lower", image_key="ber", priority=5,
        note="balanced error rate, the mean of 1 - R and 1 - spec",
    ),
    Metric(
        key="mcc", title="MCC", better="higher", range=_AGREEMENT, image_key="mcc", priority=3,
        note="Matthews correlation coefficient",
    ),
    Metric(
        key="dice_cases", better="higher", mean_over_images=True,
        note="mean over the cases where either side holds the class",
    ),
    Metric(
        key="iou_cases", better="higher", mean_over_images=True,
        note="mean over the cases where either side holds the class",
    ),
)  # fmt: skip
REFERRING_AT = ("0.5", "0.6", "0.7", "0.8", "0.9")
"""The IoUs at which papers on referring segmentation report precision, as decimals."""
REFERRING = shares(
    *(
        Metric(
            key=key_at("p", float(iou)), better="higher", mean_over_images=True,
            note="share of the images with positive pixels that have at least this IoU",
        )
        for iou in REFERRING_AT
    ),
    Metric(
        key="giou", better="higher", mean_over_images=True,
        note="mean IoU over images; 1 where nothing is positive and nothing predicted",
    ),
    Metric(
        key="n_acc", better="higher", mean_over_images=True,
        note="share of the images without positive pixels in which nothing is predicted",
    ),
    Metric(
        key="t_acc", better="higher", mean_over_images=True,
        note="share of the images with positive pixels in which anything is predicted",
    ),
)  # fmt: skip
TOTALS = (
    CLASSES_PRESENT,
    Metric(key="classes", kind="total"),
    *(Metric(key=key, image_key=key, kind="total") for key in ("pixels", "ignored", "outside")),
)


_MEANS = frozenset(metric.key for metric in CLASSES) - {"pixel_accuracy", "kappa"}
_MEANS_OVER_CASES = ("mean_dice_cases", "mean_iou_cases")
_REFERRING_KEYS = tuple(metric.key for metric in REFERRING)
_CASES_OF_CLASS = ("dice_cases", "iou_cases")
_OF_DISJOINT_CLASSES = ("pixel_accuracy", "fw_iou", "kappa")
_SHOWN_FOR_VOLUMES = {"mean_dice_cases": "mDice cases", "dice_cases": "Dice cases"}


def metrics_of(classes: int, *, masks: bool, overlapping: bool = False) -> tuple[Metric, ...]:
    """Return the metrics for a number of classes; for masks those of the positive class come first and rank methods."""
    if overlapping:
        return tuple(metric for metric in CLASSES if metric.key not in _OF_DISJOINT_CLASSES)
    if masks:
        of_classes = (replace(metric, headline=False, title="", compared=False) for metric in CLASSES)
        return (*POSITIVE, *REFERRING, *of_classes)
    if classes == 2:
        return (*CLASSES, *(replace(metric, headline=False, compared=False) for metric in POSITIVE))
    return CLASSES


def without_matrix(*, overlapping: bool) -> tuple[Metric, ...]:
    """Return the metrics that follow from TP, FP, FN and TN of each class of a foreground; none is positive."""
    left_out = _OF_DISJOINT_CLASSES if overlapping else ("pixel_accuracy", "kappa")
    return tuple(metric for metric in CLASSES if metric.key not in left_out)


def shown_for_volumes(metrics: Iterable[Metric]) -> tuple[Metric, ...]:
    """Return metrics with the columns that tables of volumes have, too: means over cases."""
    return tuple(
        replace(metric, title=_SHOWN_FOR_VOLUMES[metric.key], compared=True)
        if metric.key in _SHOWN_FOR_VOLUMES
        else metric
        for metric in metrics
    )


@dataclass(frozen=True, eq=False)
class _ByClass:
    """True positives, and pixels of each class in the ground truth and in the prediction, shape (rows, K)."""

    tp: FloatArray
    truth: FloatArray
    predicted: FloatArray

    @property
    def iou(self) -> FloatArray:
        """IoU of each class, 0 where it is only predicted."""
        return iou_of(self.tp, self.predicted - self.tp, self.truth)

    @property
    def dice(self) -> FloatArray:
        """Dice of each class, 0 where it is only predicted."""
        return f_of(self.tp, self.predicted - self.tp, self.truth)

    @property
    def on_either_side(self) -> BoolArray:
        """Where the ground truth or the prediction holds each class."""
        return np.asarray((self.truth > 0) | (self.predicted > 0))

    @property
    def last(self) -> _ByClass:
        """The last class alone, shape (rows,)."""
        return _ByClass(self.tp[:, -1], self.truth[:, -1], self.predicted[:, -1])


class _Counted(NamedTuple):
    """The counts of all images."""

    by_class: _ByClass  # of each image
    pixels: IntArray  # of each image
    ignored: IntArray  # of each image
    outside: IntArray  # predictions outside the classes, of each image
    pooled: IntArray | None  # the confusion matrix of all images; None of none


class LabelTable(CountsTable[LabelCounts]):
    """Confusion matrices of the images of one method, which must have been counted by these classes."""

    counts = LabelCounts
    means = ("mean_iou", "iou", "dice", "dice_cases", "iou_cases", "referring")

    def __init__(self, per_image: Mapping[str, LabelCounts], settings: Any) -> None:
        super().__init__(per_image, settings)
        self.counts = settings.counts
        self.classes: str = settings.classes_text
        self._labels, _ = read_class_labels(self.classes)
        self._in_means = in_means(self._labels, settings.background)  # (K,): False for background
        self.metrics = tuple(metric for metric in settings.metrics_of(per_image) if metric.kind == "score")

    @property
    def class_names(self) -> tuple[str, ...]:
        """The names of the classes."""
        return names_of(self.classes)

    @cached_property
    def _counted(self) -> _Counted:
        """The counts of all images as arrays."""
        tp, truth, predicted = np.zeros((3, self.images, len(self.class_names)))
        pixels, ignored, outside = np.zeros((3, self.images), np.int64)
        pooled: IntArray | None = None
        for image, (name, counts) in enumerate(zip(self.names, self.ordered, strict=True)):
            if counts.classes != self.classes:
                raise ArgumentError(
                    Message(
                        "counted-otherwise",
                        "{image} was counted by the classes {classes}, expected {expected}; count all images by the "
                        "same classes",
                        image=name,
                        classes=counts.classes,
                        expected=self.classes,
                    )
                )
            tp[image], truth[image], predicted[image] = counts.by_class
            pixels[image], ignored[image], outside[image] = counts.pixels, counts.ignored, counts.outside
            if isinstance(counts, LabelCounts):
                pooled = counts.matrix.copy() if pooled is None else np.add(pooled, counts.matrix, out=pooled)
        return _Counted(_ByClass(tp, truth, predicted), pixels, ignored, outside, pooled)

    @cached_property
    def columns(self) -> Mapping[str, NDArray[Any]]:
        """Pixels by class; IoU and Dice of each image by class, for the classes in its ground truth."""
        counts = self._counted.by_class
        present = counts.truth > 0
        iou = np.where(present, counts.iou, 0)
        number = present[:, self._in_means].sum(axis=1)
        mean_iou = np.full(self.images, np.nan)
        np.divide(iou[:, self._in_means].sum(axis=1), number, out=mean_iou, where=number > 0)
        both_empty = np.nan if self.settings.both_empty is None else self.settings.both_empty
        return {
            "tp": counts.tp.astype(np.int64),
            "truth": counts.truth.astype(np.int64),
            "predicted": counts.predicted.astype(np.int64),
            "pixels": self._counted.pixels,
            "has_classes": number > 0,
            "mean_iou": mean_iou,
            "iou": np.where(present, iou, np.nan),
            "dice": np.where(counts.last.truth > 0, counts.last.dice, np.nan),
            "dice_cases": np.where(counts.on_either_side, counts.dice, both_empty),
            "iou_cases": np.where(counts.on_either_side, counts.iou, both_empty),
            "referring": _referring(counts.last, self._counted.pixels),
        }

    @cached_property
    def estimates(self) -> FloatArray:
        sums = self.layout.named(self.layout.total()[np.newaxis])
        worst_mean_iou = np.array([_mean_of_worst(self.columns["mean_iou"])])
        worst_iou = np.array([[_mean_of_worst(of_class) for of_class in self.columns["iou"].T]])
        with np.errstate(invalid="ignore", divide="ignore"):  # nan where a metric is undefined
            row: FloatArray = self.laid_out(self._formulas(sums, worst_mean_iou, worst_iou))[0]
        return row

    def formulas(self, of: Sums) -> Mapping[str, FloatArray]:
        # A sum of several images does not show which are the worst; a single image is its own worst.
        several = of["has_classes"] != 1
        worst_mean_iou = np.where(several, np.nan, of["mean_iou"])
        worst_iou = np.where(several[:, np.newaxis], np.nan, of["iou"])
        return self._formulas(of, worst_mean_iou, worst_iou)

    def _formulas(self, of: Sums, worst_mean_iou: FloatArray, worst_iou: FloatArray) -> Mapping[str, FloatArray]:
        """Compute every metric; mIoU and IoU by class of the worst images have the shapes (R,) and (R, K)."""
        by_class = _ByClass(of["tp"], of["truth"], of["predicted"])
        over_classes = {
            "miou": by_class.iou,
            "miou_classes": of["iou"],
            "miou_classes_5": worst_iou,
            "mean_accuracy": share(by_class.tp, by_class.truth),
            "mean_dice": by_class.dice,
            "mean_dice_cases": of["dice_cases"],
            "mean_iou_cases": of["iou_cases"],
        }
        return {
            **{name: mean_of_defined(values[:, self._in_means]) for name, values in over_classes.items()},
            **_pooled(by_class, of["pixels"], self._in_means),
            "miou_images": of["mean_iou"],
            "miou_images_5": worst_mean_iou,
            **_positive(by_class, of["pixels"]),
            "iou_images": of["iou"][:, -1],
            "dice_images": of["dice"],
            **{key: of[key][:, -1] for key in _CASES_OF_CLASS},
            **dict(zip(_REFERRING_KEYS, of["referring"].T, strict=True)),
        }

    @property
    def image_weights(self) -> Mapping[str, NDArray[Any]]:
        """Pixels of each image, or of the positive class; for means over images whether the image counts."""
        pixels, positives = self.columns["pixels"], self.columns["truth"][:, -1]
        counts = self.columns["has_classes"]
        defined = ~np.isnan(self.columns["dice_cases"])
        return {
            **dict.fromkeys((metric.key for metric in CLASSES), pixels),
            **dict.fromkeys(("iou", "dice", "precision", "recall", "mcc"), positives),
            "specificity": pixels - positives,
            "ber": pixels,
            **dict.fromkeys(("miou_images", "miou_classes", "miou_images_5", "miou_classes_5"), counts),
            **dict.fromkeys(("iou_images", "dice_images"), positives > 0),
            **dict.fromkeys(_MEANS_OVER_CASES, defined[:, self._in_means].any(axis=1)),
            **dict.fromkeys(_CASES_OF_CLASS, defined[:, -1]),
            **dict(zip(_REFERRING_KEYS, ~np.isnan(self.columns["referring"]).T, strict=True)),
        }

    @cached_property
    def may_be_missed(self) -> BoolArray:
        """Means over classes where one is present; kappa never, as it is undefined where all pixels are right."""
        any_class = bool(self._counted.by_class.truth[:, self._in_means].any())
        exceptions = {**dict.fromkeys(_MEANS, any_class), "kappa": False}
        by_weights = super().may_be_missed.tolist()
        metrics = zip(self.metrics, by_weights, strict=True)
        return np.array([exceptions.get(metric.key, by_weight) for metric, by_weight in metrics])

    @property
    def images_of_classes(self) -> Mapping[str, BoolArray]:
        counts = self._counted.by_class
        present = counts.truth > 0
        on_either_side = counts.on_either_side.any(axis=0) & self._in_means
        of_classes = zip(self.class_names, present.T, on_either_side.tolist(), strict=True)
        return {name: images for name, images, is_shown in of_classes if is_shown}

    @property
    def totals(self) -> Mapping[str, int]:
        """Classes of means in the ground truth and in all, pixels counted and left out, predictions outside."""
        truth = self._counted.by_class.truth.sum(axis=0)
        known = {
            "classes_present": int(np.count_nonzero(truth[self._in_means])),
            "classes": int(np.count_nonzero(self._in_means)),
            "pixels": int(self._counted.pixels.sum()),
        }
        if self._counted.pooled is None and self.images:  # of what others counted
            return known
        return {
            **known,
            "ignored": int(self._counted.ignored.sum()),
            "outside": int(self._counted.outside.sum()),
        }

    def why_undefined(self, metric: Metric) -> Message:
        if metric.key in _CASES_OF_CLASS and self._counted.pixels.any():
            return Message("on-no-side", "no case holds the class on either side")
        if metric.key == "n_acc" and self._counted.pixels.any():
            return Message("all-positive", "each image has positive pixels")
        return self._why_undefined(metric)

    def _why_undefined(self, metric: Metric) -> Message:
        """Say why a metric that is no mean over cases of one class is nan."""
        present = self._counted.by_class.truth.sum(axis=0) > 0
        if not self._counted.pixels.any():
            return Message("no-pixels", "no pixels")
        if not present[self._in_means].any() and metric.key in _MEANS:
            return Message("background-alone", "the ground truth holds the background alone")
        if metric.key == "kappa":
            return Message("one-class", "ground truth and prediction hold one class")
        if metric.key == "precision":
            return Message("none-predicted", "nothing is predicted positive")
        if metric.key == "mcc" and present.all():
            return Message("predicted-alike", "all pixels are predicted alike")
        no_positives = Message("no-positives", "no positive pixels")
        return Message("no-negatives", "no negative pixels") if present[1] else no_positives

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes on classes and images that are in no mean, and on classes that are only predicted."""
        counts = self._counted.by_class
        present, predicted = (counts.truth > 0).any(axis=0), (counts.predicted > 0).any(axis=0)
        absent = self._named(self._in_means & ~present & ~predicted)
        only_predicted = self._named(self._in_means & ~present & predicted)
        without_classes = int(np.count_nonzero(~self.columns["has_classes"]))
        metrics = {metric.key: metric for metric in self.metrics}
        titled = {metric.key: metric for metric in self.metrics if metric.title}
        regions = has_regions(self._labels)
        notes: list[Note] = [*background_note(self.class_names, self._in_means)]
        if 0 < without_classes < self.images and "miou" in metrics:
            left_out = Message(
                "left-out",
                "left out of means over images, {why}: {number}",
                why="void everywhere" if self._in_means.all() and not regions else "no class but the background",
                number=part_of(without_classes, self.images),
            )
            notes.append(Note(left_out))
        if absent and "miou" in titled:
            lacking = Message(
                "absent-classes",
                "left out of means, absent from both sides: {classes}",
                classes=first_names(absent, _SHOWN),
            )
            notes.append(Note(lacking))
        if only_predicted and (regions or len(self.class_names) > 2):
            as_0 = Message(
                "false-classes",
                "IoU 0 in mIoU, predicted but absent from the ground truth: {classes}",
                classes=first_names(only_predicted, _SHOWN),
            )
            notes.append(Note(as_0))
        over_positives = [titled[key] for key in ("iou_images", "dice_images") if key in titled]
        if over_positives:
            without_positives = int(np.count_nonzero(counts.last.truth == 0))
            notes += left_out_note(over_positives, "without positive pixels", without_positives, self.images)
        if "miou_classes" in titled:
            images_with = dict(zip(self.class_names, np.count_nonzero(counts.truth, axis=0).tolist(), strict=True))
            averaged = {name: images_with[name] for name in self._named(self._in_means)}
            notes += held_note(titled["miou_classes"], averaged, self.images)
        notes += self._notes_on_cases(titled)
        if REFERRING[0] in self.metrics:
            notes += _notes_on_ties(counts.last)
        return (*notes, *self._notes_on_predictions())

    def _notes_on_predictions(self) -> tuple[Note, ...]:
        """Doubt predictions that number the classes otherwise, by the confusion matrix of all images."""
        if self._counted.pooled is None:
            return ()
        remapped = bool(self.settings.gt_map or self.settings.pred_map)
        labels = counted_labels(self._labels)
        return notes_on_predictions(self._counted.pooled, labels, self.images, remapped=remapped)

    def _notes_on_cases(self, shown: Mapping[str, Metric]) -> Iterator[Note]:
        """Say which cases that neither side holds means over cases leave out, or count as 1."""
        on_neither_side = ~self._counted.by_class.on_either_side
        for key, classes in (("mean_dice_cases", self._in_means), ("dice_cases", slice(-1, None))):
            empty = on_neither_side[:, classes]
            if key not in shown or not empty.any():
                continue
            metrics = keys_and_names([shown[key]])
            of = "case-class pair" if empty.shape[1] > 1 else "case"
            number = part_of(int(np.count_nonzero(empty)), empty.size, of)
            if self.settings.both_empty is None:
                message = Message("left-out", "left out of {metrics}, on neither side: {number}", number=number)
            else:
                message = Message("counted-as-1", "counted as 1 in {metrics}, on neither side: {number}", number=number)
            yield Note(message, metrics=metrics)

    def _named(self, classes: BoolArray) -> list[str]:
        """List the names of the marked classes."""
        return list(compress(self.class_names, classes.tolist()))


def _mean_of_worst(values: FloatArray) -> float:
    """Return the mean of the lowest values that are defined; nan of none."""
    defined = values[~np.isnan(values)]
    lowest = np.sort(defined)[: max(int(WORST * defined.size + 1e-9), 1)]
    return math.fsum(lowest.tolist()) / lowest.size if lowest.size else math.nan


def _pooled(sums: _ByClass, pixels: FloatArray, in_means: BoolArray) -> dict[str, FloatArray]:
    """Compute metrics over the pixels of all classes; those `in_means` are weighted in `fw_iou`."""
    correct = sums.tp.sum(axis=1)
    truth, iou = sums.truth[:, in_means], sums.iou[:, in_means]
    # Products of pixels rather than shares: for most data sets they are exact.
    chance = (sums.truth * sums.predicted).sum(axis=1)
    return {
        "pixel_accuracy": correct / pixels,
        "fw_iou": np.nan_to_num(truth * iou).sum(axis=1) / truth.sum(axis=1),
        "kappa": (pixels * correct - chance) / (pixels * pixels - chance),
    }


def _positive(sums: _ByClass, pixels: FloatArray) -> dict[str, FloatArray]:
    """Compute the metrics of the last class against all other pixels."""
    positive = sums.last
    negatives = pixels - positive.truth
    confusion = Confusion(positive.tp, positive.predicted - positive.tp, positive.truth, negatives)
    return {
        "iou": positive.iou,
        "dice": positive.dice,
        "precision": confusion.precision,
        "recall": confusion.recall,
        "specificity": confusion.specificity,
        "ber": 1 - (confusion.recall + confusion.specificity) / 2,
        "mcc": confusion.mcc,
    }


def _notes_on_ties(positive: _ByClass) -> Iterator[Note]:
    """Say how many images have exactly the IoU of ``p@T``, which code that asks for more than T does not count."""
    union = positive.truth + positive.predicted - positive.tp
    for metric, iou in zip(REFERRING, map(Fraction, REFERRING_AT), strict=False):
        ties = positive.tp * iou.denominator == union * iou.numerator
        number = int(np.count_nonzero(ties & (positive.truth > 0)))
        if number:
            message = Message(
                "exactly-at-threshold",
                "{count:many image} {count:verb have} exactly the IoU of {metrics} and {count:verb count}; some code "
                "asks for more",
                count=number,
            )
            yield Note(message, metrics=keys_and_names([metric]))


def _referring(positive: _ByClass, pixels: IntArray) -> FloatArray:
    """Return what each image has of each metric in `REFERRING`, nan where it is in no mean."""
    tp, union = (values.astype(np.int64) for values in (positive.tp, positive.truth + positive.predicted - positive.tp))
    has_target, is_predicted = positive.truth > 0, positive.predicted > 0
    at_least = [tp * iou.denominator >= union * iou.numerator for iou in map(Fraction, REFERRING_AT)]
    iou = np.where(has_target, positive.iou, ~is_predicted)
    of_targets = [np.where(has_target, values, np.nan) for values in (*at_least, is_predicted)]
    *precision, t_acc = of_targets
    n_acc = np.where(has_target | (pixels == 0), np.nan, ~is_predicted)
    return np.stack([*precision, np.where(pixels > 0, iou, np.nan), n_acc, t_acc], axis=1)
