"""The metrics of objects, and the tables that compute them: of instances, of panoptic maps, of components."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import eye_array

from segbench.core.arrays import BoolArray, FloatArray, IntArray
from segbench.core.messages import Message, Note
from segbench.core.metric import Metric, key_at, key_of_images, left_out_note, shares
from segbench.core.numbers import shortest
from segbench.core.table import CountsTable, Sums, columns_of
from segbench.inputs.object_kinds import COMPONENTS, INSTANCES, MEAN_OVER, OF_COMPONENTS, PANOPTIC
from segbench.protocols.objects.counts import ObjectCounts, count_reaching, sum_of_iou
from segbench.protocols.objects.froc import METRICS as FROC_METRICS
from segbench.protocols.objects.froc import Froc
from segbench.protocols.objects.lesion_scores import FARTHEST, lesion_scores

_OF_MATCHES = ("f1", "precision", "recall", "threat_score")
_TITLES = {"f1": "F1", "threat_score": "TS"}
_SHOWN_OF_COMPONENTS = (0.25, 0.5, 0.75)
_TS = "TP / (TP + FP + FN), which StarDist and Cellpose call average precision"


def _score(key: str, title: str, note: str = "", **others: Any) -> Metric:
    """Describe a metric that each image has, too."""
    return Metric(key=key, title=title, better="higher", image_key=key, note=note, **others)


def _title(threshold: float) -> str:
    """Write a threshold for titles of columns: .5."""
    return shortest(threshold).lstrip("0")


_QUALITY = (
    _score("pq", "PQ", "panoptic quality, SQ times RQ", compared=True),
    _score("sq", "SQ", "mean IoU of matched objects", priority=2),
    _score("rq", "RQ", "F1 of objects with IoU > .5", priority=2),
)
TOTALS = (
    Metric(key="true_objects", title="objects", image_key="true_objects", kind="total", priority=5),
    Metric(key="predicted_objects", title="predicted", image_key="predicted_objects", kind="total", priority=5),
)
_PANOPTIC = (
    *(replace(metric, headline=metric.key == "pq") for metric in _QUALITY),
    *(
        _score(f"{metric.key}_{group}", metric.title, group=group, priority=1 if metric.key == "pq" else 4)
        for group in ("things", "stuff")
        for metric in _QUALITY
    ),
)
_COMPONENTS = (
    _score("component_f1", "F1", "mean over thresholds of sIoU from .25 to .75", headline=True, compared=True),
    *(_score(key_at("component_f1", at), f"F1@{_title(at)}", priority=1) for at in _SHOWN_OF_COMPONENTS),
    _score("component_siou", "sIoU", "mean over true components", compared=True),
    _score("component_ppv", "PPV", "mean over predicted components", compared=True),
    _score("lesion_f1", "lesion F1", "found if one pixel is predicted, false if none is true", compared=True),
    Metric(key="lesion_f1_images", better="higher", mean_over_images=True),
)
_TARGETS = (
    _score("pd", "", "share of the true components with a predicted centroid less than 3 pixels away"),
    Metric(
        key="fa", better="lower", image_key="fa", note="pixels of predicted components without one, over all pixels"
    ),
)


def metrics_of_volumes(unit: str, *, scored: bool = False) -> tuple[Metric, ...]:
    """Return the metrics of components of volumes, those of BraTS first, and their totals; distances are in a unit.

    With scores there is FROC.
    """
    lesions = (
        _score(
            "lesion_dice", "Dice", "mean over lesions and false ones, then over cases, as BraTS has it",
            headline=True, compared=True, mean_over_images=True, group="lesions",
        ),
        Metric(
            key="lesion_hd95", title="HD95", measured_in=unit, better="lower", range=(0.0, math.inf),
            image_key="lesion_hd95", compared=True, mean_over_images=True, group="lesions",
            note=f"{FARTHEST:g} for missed and false lesions",
        ),
    )  # fmt: skip
    components = [replace(metric, headline=False) for metric in _COMPONENTS]
    froc = FROC_METRICS if scored else ()
    return (*shares(lesions[0]), lesions[1], *shares(*components), *froc, *TOTALS)


def metrics_of(kind: str, iou: Sequence[Fraction], *, scored: bool = False) -> tuple[Metric, ...]:
    """Return the metrics of objects of a kind, some of them at these thresholds of IoU, and their totals.

    Components with scores have FROC.
    """
    if kind == COMPONENTS:
        return (*shares(*_COMPONENTS, *_TARGETS), *(FROC_METRICS if scored else ()), *TOTALS)
    pooled = _metrics_at_thresholds(iou)
    untitled = [replace(metric, title="", headline=False, note="") for metric in pooled]
    if kind == PANOPTIC:
        return (*shares(*_PANOPTIC, *(replace(metric, compared=False) for metric in untitled)), *TOTALS)
    means = [replace(metric, key=key_of_images(metric.key), image_key="", mean_over_images=True) for metric in untitled]
    others = (
        _score("matched_iou", "matched IoU", "mean IoU of the objects matched at .5", priority=3),
        _score("aji", "AJI", "aggregated Jaccard index, mean over images", compared=True, mean_over_images=True),
        _score("aji_plus", "AJI+", "AJI with objects matched one to one", mean_over_images=True, priority=3),
    )
    return (*shares(*pooled, *others, *_QUALITY, *means), *TOTALS)


def _metrics_at_thresholds(iou: Sequence[Fraction]) -> list[Metric]:
    """Return the metrics of all objects together at each threshold, and their means."""
    headline = key_at("f1", float(iou[0]))
    metrics = []
    for threshold in (*map(float, iou), None):  # None: the mean over thresholds
        for name in _OF_MATCHES:
            key = f"{name}_mean" if threshold is None else key_at(name, threshold)
            at = ".5:.95" if threshold is None else _title(threshold)
            metrics.append(
                _score(
                    key,
                    f"{_TITLES[name]}@{at}" if name in _TITLES else "",
                    _TS if name == "threat_score" else "",
                    headline=key == headline,
                    compared=name in _TITLES,
                    priority=0 if name == "f1" else 1,
                )
            )
    return metrics


class ByThreshold(NamedTuple):
    """F1 and the threat score of all objects together at rising thresholds of IoU."""

    at: FloatArray
    f1: FloatArray
    ts: FloatArray


class ObjectTable(CountsTable[ObjectCounts]):
    """What the tables of all kinds share."""

    counts = ObjectCounts
    drawn_from: ClassVar[Fraction] = Fraction(1, 2)
    """The lowest of the thresholds that `by_threshold` has, over a range of 1/2."""

    def __init__(
        self, iou: Sequence[Fraction], metrics: Sequence[Metric], per_image: Mapping[str, Any], settings: Any = None
    ) -> None:
        super().__init__(per_image, settings)
        self.metrics = tuple(metric for metric in metrics if metric.kind == "score")
        self._thresholds = tuple(dict.fromkeys((*iou, *MEAN_OVER)))
        self._column_at = {float(threshold): self._thresholds.index(threshold) for threshold in iou}
        self._mean_columns = [self._thresholds.index(threshold) for threshold in MEAN_OVER]

    @cached_property
    def by_threshold(self) -> ByThreshold:
        """F1 and the threat score against the threshold of IoU, or sIoU of components."""
        thresholds = [self.drawn_from + Fraction(k, 200) for k in range(101)]
        true_pairs, predicted_pairs = self._pairs_of_sides(self.pooled)
        true_hits = np.array(count_reaching(*true_pairs, thresholds))
        predicted_hits = np.array(count_reaching(*predicted_pairs, thresholds))
        others = self.numbers.sum() - predicted_hits
        with np.errstate(invalid="ignore"):  # 0 / 0 without objects
            f1, ts = 2 * true_hits / (true_hits + others), true_hits / others
        return ByThreshold(np.array(thresholds, np.float64), f1, ts)

    def _pairs_of_sides(self, pooled: ObjectCounts) -> Sequence[tuple[IntArray, IntArray]]:
        """Return the pairs by which objects of the ground truth are found, and predicted ones right."""
        return [(pooled.shared, pooled.whole)] * 2

    @cached_property
    def numbers(self) -> IntArray:
        """True and predicted objects of each image, without those ignored."""
        objects = np.array([counts.objects.sum(axis=0) for counts in self.ordered], np.int64)
        true, predicted, ignored = objects.reshape(-1, 3).T
        return np.stack([true, predicted - ignored], axis=1)

    @property
    def totals(self) -> Mapping[str, int]:
        """How many objects there are on either side."""
        return dict(zip((metric.key for metric in TOTALS), self.numbers.sum(axis=0).tolist(), strict=True))

    @property
    def image_weights(self) -> Mapping[str, NDArray[Any]]:
        """True objects of each image."""
        return dict.fromkeys((metric.key for metric in self.metrics), self.numbers[:, 0])

    def why_undefined(self, metric: Metric) -> Message:
        true, predicted = self.totals.values()
        for applies, reason in (
            (not self.images, Message("no-images", "no image was counted")),
            (not true and not predicted, Message("no-objects", "there is no object in either map")),
            (
                metric.key.startswith(("precision", "component_ppv")),
                Message("none-predicted", "there is no predicted object"),
            ),
            (metric.key.endswith("_things"), Message("no-things", "no class here has things")),
            (metric.key.endswith("_stuff"), Message("no-stuff", "no class is stuff here")),
            (metric.key == "matched_iou", Message("none-matched", "no object is matched")),
        ):
            if applies:
                return reason
        return Message("no-true-objects", "there is no object in the ground truth")

    def _by_key(self, values: Mapping[str, FloatArray], *, images: bool = False) -> dict[str, FloatArray]:
        """Name metrics of shape (R, thresholds) by their keys: at each threshold shown, and their mean."""
        by_key = {}
        for name, by_threshold in values.items():
            for threshold, column in self._column_at.items():
                by_key[key_at(name, threshold)] = by_threshold[:, column]
            # One after the other: NumPy would round the mean of a single row differently from that of many.
            total = np.zeros(len(by_threshold))
            for column in self._mean_columns:
                total += by_threshold[:, column]
            by_key[f"{name}_mean"] = total / len(self._mean_columns)
        return {key_of_images(key): value for key, value in by_key.items()} if images else by_key


class InstanceTable(ObjectTable):
    """Instance label maps: objects of one class."""

    means = (*_OF_MATCHES, "aji", "aji_plus")

    @cached_property
    def columns(self) -> Mapping[str, NDArray[Any]]:
        """Objects and pairs of each image, those of IoU above .5, sums of IoU, TP by threshold, and its own metrics."""
        images = []
        for counts, (true, predicted) in zip(self.ordered, self.numbers.tolist(), strict=True):
            shared, whole = counts.pairs()
            above = 2 * shared > whole
            aji_shared, aji_union, plus_shared, plus_union = counts.aji.tolist()
            aji = aji_plus = np.nan
            if aji_union > 0:
                aji = aji_shared / aji_union
                aji_plus = plus_shared / plus_union if plus_union else 0.0
            images.append(
                {
                    "true": true,
                    "predicted": predicted,
                    "iou": sum_of_iou(shared, whole),
                    "above": np.count_nonzero(above),
                    "iou_above": sum_of_iou(shared[above], whole[above]),
                    "aji": aji,
                    "aji_plus": aji_plus,
                    "matches": count_reaching(shared, whole, self._thresholds),
                }
            )
        if not images:
            return {}
        columns = columns_of(images)
        with np.errstate(invalid="ignore"):  # 0 / 0 is undefined
            image_metrics = _metrics_of_matches(columns["true"], columns["predicted"], columns["matches"])
        return {**columns, **image_metrics}

    def formulas(self, of: Sums) -> Mapping[str, FloatArray]:
        both = of["true"] + of["predicted"]
        return {
            **self._by_key(_metrics_of_matches(of["true"], of["predicted"], of["matches"])),
            "matched_iou": of["iou"] / of["matches"][:, self._mean_columns[0]],
            "aji": of["aji"],
            "aji_plus": of["aji_plus"],
            "pq": 2 * of["iou_above"] / both,
            "sq": np.where(both, np.where(of["above"], of["iou_above"] / of["above"], 0), np.nan),
            "rq": 2 * of["above"] / both,
            **self._by_key({name: of[name] for name in _OF_MATCHES}, images=True),
        }

    @property
    def image_weights(self) -> Mapping[str, NDArray[Any]]:
        """True objects of each image; for means over images whether it has a value."""
        has_aji = ~np.isnan(self.columns["aji"])
        has_value = {name: ~np.isnan(self.columns[name]) for name in _OF_MATCHES}
        return {**super().image_weights, "aji": has_aji, "aji_plus": has_aji, **self._by_key(has_value, images=True)}

    @property
    def left_out_if_lacking(self) -> Mapping[str, BoolArray]:
        """Precision of images, where there are objects to find."""
        return {"precision": self.numbers[:, :1] > 0}

    def lacks(self, metric: Metric) -> str:
        """Say what a method without a precision does: it predicts no object."""
        del metric
        return "finds nothing"

    @property
    def notes(self) -> tuple[Note, ...]:
        """Say how many images are in no mean over images."""
        empty = int(np.count_nonzero(~self.numbers.any(axis=1)))
        means = [metric for metric in self.metrics if metric.key.startswith("aji")]
        return left_out_note(means, "no object in either map", empty, self.images)


def _metrics_of_matches(true: NDArray[Any], predicted: NDArray[Any], matches: NDArray[Any]) -> dict[str, FloatArray]:
    """Compute F1, precision, recall and the threat score of numbers of objects, (R,), and TP, (R, thresholds)."""
    true, predicted = true[:, np.newaxis], predicted[:, np.newaxis]
    both = true + predicted
    return {
        "f1": 2 * matches / both,
        "precision": matches / predicted,
        "recall": matches / true,
        "threat_score": matches / (both - matches),
    }


class PanopticTable(ObjectTable):
    """Panoptic maps: the quality of each class, means over classes, and all objects at thresholds of IoU.

    Of a class alone it has the first metrics, as it is given them.
    """

    @cached_property
    def _classes(self) -> dict[int, tuple[str, bool]]:
        """The name of each class that an image has, and whether it has things, by its label, rising."""
        classes: dict[int, tuple[str, bool]] = {}
        for counts in self.ordered:
            for label, name, is_thing in zip(counts.labels, counts.names, counts.things.tolist(), strict=True):
                classes.setdefault(label, (name, bool(is_thing)))
        return dict(sorted(classes.items()))

    @cached_property
    def columns(self) -> Mapping[str, NDArray[Any]]:
        """By class TP, objects on both sides together, and the sum of IoU; then all objects, and TP by threshold."""
        column_of = {label: column for column, label in enumerate(self._classes)}
        matches, objects = np.zeros((2, self.images, len(column_of)), np.int64)
        iou = np.zeros((self.images, len(column_of)))
        for image, counts in enumerate(self.ordered):
            for row, label in enumerate(counts.labels):
                true, predicted, ignored = counts.objects[row].tolist()
                column = column_of[label]
                matches[image, column] = counts.sizes[row, 0]
                objects[image, column] = true + predicted - ignored
                iou[image, column] = sum_of_iou(*counts.pairs(row))
        matches_at = [count_reaching(counts.shared, counts.whole, self._thresholds) for counts in self.ordered]
        return {
            "class_matches": matches,
            "class_objects": objects,
            "class_iou": iou,
            "true": self.numbers[:, 0],
            "predicted": self.numbers[:, 1],
            "matches": np.array(matches_at, np.int64).reshape(self.images, len(self._thresholds)),
        }

    def formulas(self, of: Sums) -> Mapping[str, FloatArray]:
        matches, objects, iou = of["class_matches"], of["class_objects"], of["class_iou"]
        things = np.array([is_thing for _, is_thing in self._classes.values()], bool)
        by_class = {"pq": 2 * iou / objects, "sq": np.where(matches > 0, iou / matches, 0), "rq": 2 * matches / objects}
        values = self._by_key(_metrics_of_matches(of["true"], of["predicted"], of["matches"]))
        for suffix, classes in (("", slice(None)), ("_things", things), ("_stuff", ~things)):
            present = objects[:, classes] > 0
            for key, quality in by_class.items():
                values[f"{key}{suffix}"] = np.where(present, quality[:, classes], 0).sum(axis=1) / present.sum(axis=1)
        return values

    @property
    def image_weights(self) -> Mapping[str, NDArray[Any]]:
        """True objects of each image, of things and of stuff for their metrics."""
        things = np.array([counts.objects[:, 0] @ counts.things for counts in self.ordered], np.int64)
        stuff = self.numbers[:, 0] - things
        weights = dict(super().image_weights)
        for key in ("pq", "sq", "rq"):
            weights |= {f"{key}_things": things, f"{key}_stuff": stuff}
        return weights

    @property
    def images_of_classes(self) -> Mapping[str, BoolArray]:
        in_image = {name: np.zeros(self.images, np.bool_) for name, _ in self._classes.values()}
        for image, counts in enumerate(self.ordered):
            for name, true_objects in zip(counts.names, counts.objects[:, 0].tolist(), strict=True):
                in_image[name][image] = true_objects > 0
        return in_image


class ComponentTable(ObjectTable):
    """Connected components of masks."""

    drawn_from = Fraction(1, 4)
    means: tuple[str, ...] = ("lesion_f1",)

    def _pairs_of_sides(self, pooled: ObjectCounts) -> Sequence[tuple[IntArray, IntArray]]:
        """Return both sides, which are measured by themselves."""
        return [pooled.pairs(0, side) for side in (0, 1)]

    @cached_property
    def columns(self) -> Mapping[str, NDArray[Any]]:
        """Components on both sides, those found and those without a true pixel, sums of sIoU and PPV, TP and FP."""
        images = []
        for counts, (true, predicted) in zip(self.ordered, self.numbers.tolist(), strict=True):
            siou, ppv = counts.pairs(0, 0), counts.pairs(0, 1)  # numerators and denominators
            touched = np.count_nonzero(siou[0])
            untouching = predicted - np.count_nonzero(ppv[0])
            images.append(
                {
                    "true": true,
                    "predicted": predicted,
                    "touched": touched,
                    "untouching": untouching,
                    "siou": sum_of_iou(*siou),
                    "ppv": sum_of_iou(*ppv),
                    "lesion_f1": 2 * touched / (touched + true + untouching) if true + untouching else np.nan,
                    "tp": count_reaching(*siou, OF_COMPONENTS),
                    "fp": [predicted - reaching for reaching in count_reaching(*ppv, OF_COMPONENTS)],
                    "targets": counts.targets,
                    "false_pixels": counts.false_pixels,
                    "pixels": counts.pixels,
                }
            )
        columns = columns_of(images)
        if images and self.froc is not None:  # which is not computed from sums
            columns["image"] = eye_array(self.images, format="csr")
        return columns

    @cached_property
    def froc(self) -> Froc | None:
        """Predicted components as FROC takes them; None of masks, which have no scores."""
        if self.settings.at is None:
            return None
        ordered = list(self.ordered)
        image_of = np.repeat(np.arange(self.images), [counts.scores.size for counts in ordered])
        scores = np.concatenate([np.zeros(0), *(counts.scores for counts in ordered)])
        hits = np.concatenate([np.zeros(0, np.int64), *(counts.hits for counts in ordered)])
        order = np.argsort(-scores, kind="stable")
        return Froc(
            summed_images=np.array([counts.images for counts in ordered], np.int64),
            starts=np.array([0, scores.size]),
            images=image_of[order],
            groups=np.unique(-scores[order], return_inverse=True)[1],
            hits=hits[order],
            objects=np.ascontiguousarray(self.numbers[:, 0]),
            object_images=np.arange(self.images),
            object_classes=np.zeros(self.images, np.int64),
            interpolates=self.settings.interpolate,
        )

    def formulas(self, of: Sums) -> Mapping[str, FloatArray]:
        true, touched = of["true"], of["touched"]
        froc = {} if self.froc is None else self.froc.metrics_of(np.ascontiguousarray(of["image"], np.float64))
        f1 = 2 * of["tp"] / (of["tp"] + true[:, np.newaxis] + of["fp"])
        return {
            "component_f1": f1.mean(axis=1),
            **{key_at("component_f1", at): f1[:, OF_COMPONENTS.index(Fraction(at))] for at in _SHOWN_OF_COMPONENTS},
            "component_siou": of["siou"] / true,
            "component_ppv": of["ppv"] / of["predicted"],
            "lesion_f1": 2 * touched / (touched + true + of["untouching"]),
            "lesion_f1_images": of["lesion_f1"],
            "pd": of["targets"] / true,
            "fa": of["false_pixels"] / of["pixels"],
            **froc,
        }

    @property
    def image_weights(self) -> Mapping[str, NDArray[Any]]:
        """True components of each image; for the mean over images whether it has a value."""
        columns = self.columns
        return {**super().image_weights, "lesion_f1_images": ~np.isnan(columns["lesion_f1"]), "fa": columns["pixels"]}


class VolumeComponentTable(ComponentTable):
    """Connected components of volumes, and lesions as BraTS has them."""

    means = (*ComponentTable.means, "lesion_dice", "lesion_hd95")

    @cached_property
    def columns(self) -> Mapping[str, NDArray[Any]]:
        """Those of components, and both lesion-wise metrics of each image."""
        scores = [
            lesion_scores(counts.lesions, counts.distances, counts.false_lesions)
            for counts in self.ordered
        ]  # fmt: skip
        dice, hd95 = np.array(scores, np.float64).reshape(-1, 2).T
        return {**super().columns, "lesion_dice": dice, "lesion_hd95": hd95}

    def formulas(self, of: Sums) -> Mapping[str, FloatArray]:
        return {**super().formulas(of), "lesion_dice": of["lesion_dice"], "lesion_hd95": of["lesion_hd95"]}

    @property
    def image_weights(self) -> Mapping[str, NDArray[Any]]:
        """Those of components; all images are in the means of lesions."""
        return {**super().image_weights, **dict.fromkeys(("lesion_dice", "lesion_hd95"), np.ones(self.images, bool))}


TABLES: Mapping[str, type[ObjectTable]] = {
    INSTANCES: InstanceTable,
    PANOPTIC: PanopticTable,
    COMPONENTS: ComponentTable,
}
