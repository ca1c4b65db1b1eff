"""The metrics of objects, and the tables that compute them: of instances, of panoptic maps, of components."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import BoolArray, FloatArray, IntArray
from segbench.core.messages import Message, Note
from segbench.core.metric import Metric, key_at, key_of_images, left_out_note, shares
from segbench.core.numbers import shortest
from segbench.core.table import CountsTable, Sums, columns_of
from segbench.inputs.object_kinds import COMPONENTS, INSTANCES, MEAN_OVER, OF_COMPONENTS, PANOPTIC
from segbench.protocols.objects.counts import ObjectCounts, reaching, sum_of

_OF_MATCHES = ("f1", "precision", "recall", "threat_score")
_TITLES = {"f1": "F1", "threat_score": "AP"}
_AP = "TP / (TP + FP + FN), which StarDist and Cellpose call average precision"


def _score(key: str, title: str, note: str = "", **others: Any) -> Metric:
    """Describe a metric that each image has, too."""
    return Metric(key=key, title=title, better="higher", image_key=key, note=note, **others)


def _title(threshold: float) -> str:
    """Write a threshold for titles of columns: .5."""
    return shortest(threshold).lstrip("0")


_QUALITY = (
    _score("pq", "PQ", compared=True),
    _score("sq", "SQ", "mean IoU of matched objects", priority=2),
    _score("rq", "RQ", "F1 of objects with IoU > .5", priority=2),
)
TOTALS = (
    Metric(key="true_objects", title="objects", image_key="true_objects", kind="total", priority=5),
    Metric(key="predicted_objects", title="predicted", image_key="predicted_objects", kind="total", priority=5),
)
_PANOPTIC = (
    *(replace(one, headline=one.key == "pq") for one in _QUALITY),
    *(
        _score(f"{one.key}_{kind}", one.title, group=kind, priority=1 if one.key == "pq" else 4)
        for kind in ("things", "stuff")
        for one in _QUALITY
    ),
)
_COMPONENTS = (
    _score("component_f1", "F1", "mean over thresholds of sIoU from .25 to .75", headline=True, compared=True),
    *(_score(key_at("component_f1", t), f"F1@{_title(t)}", priority=1) for t in (0.25, 0.5, 0.75)),
    _score("component_siou", "sIoU", "mean over true components", compared=True),
    _score("component_ppv", "PPV", "mean over predicted components", compared=True),
    _score("lesion_f1", "lesion F1", "found if one pixel is predicted, false if none is true", compared=True),
    Metric(key="lesion_f1_images", better="higher", mean_over_images=True),
)


def metrics_of(kind: str, iou: Sequence[Fraction]) -> tuple[Metric, ...]:
    """Give the metrics of objects of a kind, some of them at these thresholds of IoU, and their totals."""
    if kind == COMPONENTS:
        return (*shares(*_COMPONENTS), *TOTALS)
    pooled = _of_thresholds(iou)
    untitled = [replace(one, title="", headline=False, note="") for one in pooled]
    if kind == PANOPTIC:
        return (*shares(*_PANOPTIC, *(replace(one, compared=False) for one in untitled)), *TOTALS)
    means = [replace(one, key=key_of_images(one.key), image_key="", mean_over_images=True) for one in untitled]
    others = (
        _score("matched_iou", "matched IoU", "mean IoU of the objects matched at .5", priority=3),
        _score("aji", "AJI", "mean over images", compared=True, mean_over_images=True),
        _score("aji_plus", "AJI+", "mean over images", mean_over_images=True, priority=3),
    )
    return (*shares(*pooled, *others, *_QUALITY, *means), *TOTALS)


def _of_thresholds(iou: Sequence[Fraction]) -> list[Metric]:
    """Give the metrics of all objects together at each threshold, and their means."""
    columns: list[tuple[Callable[[str], str], str]] = [
        (partial(key_at, threshold=float(threshold)), _title(float(threshold))) for threshold in iou
    ]
    return [
        _score(
            key(kind),
            f"{_TITLES[kind]}@{at}" if kind in _TITLES else "",
            _AP if kind == "threat_score" else "",
            headline=key(kind) == key_at("f1", float(iou[0])),
            compared=kind in _TITLES,
            priority=0 if kind == "f1" else 1,
        )
        for key, at in (*columns, ("{}_mean".format, ".5:.95"))
        for kind in _OF_MATCHES
    ]


class ByThreshold(NamedTuple):
    """F1 and the threat score (AP) of all objects together at rising thresholds of IoU."""

    at: FloatArray
    f1: FloatArray
    ap: FloatArray


class ObjectTable(CountsTable[ObjectCounts]):
    """What the tables of all kinds share."""

    counts = ObjectCounts
    drawn_from: ClassVar[Fraction] = Fraction(1, 2)
    """The lowest of the thresholds that `by_threshold` has, over a range of 1/2."""

    def __init__(self, iou: Sequence[Fraction], metrics: Sequence[Metric], per_image: Mapping[str, Any]) -> None:
        super().__init__(per_image)
        self.metrics = tuple(metric for metric in metrics if metric.kind == "score")
        self._at = tuple(dict.fromkeys((*iou, *MEAN_OVER)))
        self._shown = {float(threshold): self._at.index(threshold) for threshold in iou}
        self._mean = [self._at.index(each) for each in MEAN_OVER]

    @cached_property
    def by_threshold(self) -> ByThreshold:
        """F1 and AP against the threshold of IoU, or sIoU of components."""
        at = [self.drawn_from + Fraction(k, 200) for k in range(101)]
        hits, reached = (np.array(reaching(*pairs, at)) for pairs in self._sides(self.pooled))
        others = self.numbers.sum() - reached
        with np.errstate(invalid="ignore"):  # 0 / 0 without objects
            return ByThreshold(np.array(at, np.float64), 2 * hits / (hits + others), hits / others)

    def _sides(self, pooled: ObjectCounts) -> Sequence[tuple[IntArray, IntArray]]:
        """Give the pairs by which objects of the ground truth are found, and predicted ones right."""
        return [(pooled.shared, pooled.whole)] * 2

    @cached_property
    def numbers(self) -> IntArray:
        """True and predicted objects of each image, without those ignored."""
        found = [one.objects.sum(axis=0) for one in self.ordered]
        table = np.array(found, np.int64).reshape(-1, 3)
        return np.stack([table[:, 0], table[:, 1] - table[:, 2]], axis=1)

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
        for kind, by_threshold in values.items():
            for at, column in self._shown.items():
                by_key[key_at(kind, at)] = by_threshold[:, column]
            # One after the other: NumPy would round the mean of a single row differently from that of many.
            total = np.zeros(len(by_threshold))
            for column in self._mean:
                total += by_threshold[:, column]
            by_key[f"{kind}_mean"] = total / len(self._mean)
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
            shares = [part / total if total else 0.0 for part, total in counts.aji.reshape(2, 2).tolist()]
            aji, aji_plus = shares if counts.aji[1] > 0 else (np.nan, np.nan)
            images.append(
                {
                    "true": true,
                    "predicted": predicted,
                    "iou": sum_of(shared, whole),
                    "above": np.count_nonzero(above),
                    "iou_above": sum_of(shared[above], whole[above]),
                    "aji": aji,
                    "aji_plus": aji_plus,
                    "matches": reaching(shared, whole, self._at),
                }
            )
        if not images:
            return {}
        columns = columns_of(images)
        with np.errstate(invalid="ignore"):  # 0 / 0 is undefined
            of_images = _of_matches(columns["true"], columns["predicted"], columns["matches"])
        return {**columns, **of_images}

    def formulas(self, of: Sums) -> Mapping[str, FloatArray]:
        both = of["true"] + of["predicted"]
        return {
            **self._by_key(_of_matches(of["true"], of["predicted"], of["matches"])),
            "matched_iou": of["iou"] / of["matches"][:, self._mean[0]],
            "aji": of["aji"],
            "aji_plus": of["aji_plus"],
            "pq": 2 * of["iou_above"] / both,
            "sq": np.where(both, np.where(of["above"], of["iou_above"] / of["above"], 0), np.nan),
            "rq": 2 * of["above"] / both,
            **self._by_key({kind: of[kind] for kind in _OF_MATCHES}, images=True),
        }

    @property
    def image_weights(self) -> Mapping[str, NDArray[Any]]:
        """True objects of each image; for means over images whether it has a value."""
        has_aji = ~np.isnan(self.columns["aji"])
        of_images = {kind: ~np.isnan(self.columns[kind]) for kind in _OF_MATCHES}
        return {**super().image_weights, "aji": has_aji, "aji_plus": has_aji, **self._by_key(of_images, images=True)}

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


def _of_matches(true: NDArray[Any], predicted: NDArray[Any], matches: NDArray[Any]) -> dict[str, FloatArray]:
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
        found: dict[int, tuple[str, bool]] = {}
        for one in self.ordered:
            for label, name, thing in zip(one.labels, one.names, one.things.tolist(), strict=True):
                found.setdefault(label, (name, bool(thing)))
        return dict(sorted(found.items()))

    @cached_property
    def columns(self) -> Mapping[str, NDArray[Any]]:
        """By class TP, objects on both sides together, and the sum of IoU; then all objects, and TP by threshold."""
        places = {label: place for place, label in enumerate(self._classes)}
        matches, objects = np.zeros((2, self.images, len(places)), np.int64)
        iou = np.zeros((self.images, len(places)))
        for image, counts in enumerate(self.ordered):
            for place, label in enumerate(counts.labels):
                true, predicted, ignored = counts.objects[place].tolist()
                matches[image, places[label]] = counts.sizes[place, 0]
                objects[image, places[label]] = true + predicted - ignored
                iou[image, places[label]] = sum_of(*counts.pairs(place))
        reached = [reaching(counts.shared, counts.whole, self._at) for counts in self.ordered]
        return {
            "class_matches": matches,
            "class_objects": objects,
            "class_iou": iou,
            "true": self.numbers[:, 0],
            "predicted": self.numbers[:, 1],
            "matches": np.array(reached, np.int64).reshape(self.images, len(self._at)),
        }

    def formulas(self, of: Sums) -> Mapping[str, FloatArray]:
        matches, objects, iou = of["class_matches"], of["class_objects"], of["class_iou"]
        things = np.array([thing for _, thing in self._classes.values()], bool)
        by_class = {"pq": 2 * iou / objects, "sq": np.where(matches > 0, iou / matches, 0), "rq": 2 * matches / objects}
        values = self._by_key(_of_matches(of["true"], of["predicted"], of["matches"]))
        for suffix, some in (("", slice(None)), ("_things", things), ("_stuff", ~things)):
            present = objects[:, some] > 0
            for key, quality in by_class.items():
                values[f"{key}{suffix}"] = np.where(present, quality[:, some], 0).sum(axis=1) / present.sum(axis=1)
        return values

    @property
    def image_weights(self) -> Mapping[str, NDArray[Any]]:
        """True objects of each image, of things and of stuff for their metrics."""
        things = np.array([counts.objects[:, 0] @ counts.things for counts in self.ordered], np.int64)
        of_kinds = {"things": things, "stuff": self.numbers[:, 0] - things}
        of_some = {f"{key}_{kind}": held for key in ("pq", "sq", "rq") for kind, held in of_kinds.items()}
        return {**super().image_weights, **of_some}

    @property
    def images_of_classes(self) -> Mapping[str, BoolArray]:
        held = {name: np.zeros(self.images, np.bool_) for name, _ in self._classes.values()}
        for image, counts in enumerate(self.ordered):
            for name, number in zip(counts.names, counts.objects[:, 0].tolist(), strict=True):
                held[name][image] = number > 0
        return held


class ComponentTable(ObjectTable):
    """Connected components of masks."""

    drawn_from = Fraction(1, 4)
    means = ("lesion_f1",)

    def _sides(self, pooled: ObjectCounts) -> Sequence[tuple[IntArray, IntArray]]:
        """Give both sides, which are measured by themselves."""
        return [pooled.pairs(0, side) for side in (0, 1)]

    @cached_property
    def columns(self) -> Mapping[str, NDArray[Any]]:
        """Components on both sides, those found and those without a true pixel, sums of sIoU and PPV, TP and FP."""
        images = []
        for counts, (true, predicted) in zip(self.ordered, self.numbers.tolist(), strict=True):
            of_true, of_predicted = counts.pairs(0, 0), counts.pairs(0, 1)
            touched = np.count_nonzero(of_true[0])
            false = predicted - np.count_nonzero(of_predicted[0])
            images.append(
                {
                    "true": true,
                    "predicted": predicted,
                    "touched": touched,
                    "untouching": false,
                    "siou": sum_of(*of_true),
                    "ppv": sum_of(*of_predicted),
                    "lesion_f1": 2 * touched / (touched + true + false) if true + false else np.nan,
                    "tp": reaching(*of_true, OF_COMPONENTS),
                    "fp": [predicted - reached for reached in reaching(*of_predicted, OF_COMPONENTS)],
                }
            )
        return columns_of(images)

    def formulas(self, of: Sums) -> Mapping[str, FloatArray]:
        true, touched = of["true"], of["touched"]
        f1 = 2 * of["tp"] / (of["tp"] + true[:, np.newaxis] + of["fp"])
        return {
            "component_f1": f1.mean(axis=1),
            **{key_at("component_f1", t): f1[:, OF_COMPONENTS.index(Fraction(t))] for t in (0.25, 0.5, 0.75)},
            "component_siou": of["siou"] / true,
            "component_ppv": of["ppv"] / of["predicted"],
            "lesion_f1": 2 * touched / (touched + true + of["untouching"]),
            "lesion_f1_images": of["lesion_f1"],
        }

    @property
    def image_weights(self) -> Mapping[str, NDArray[Any]]:
        """True components of each image; for the mean over images whether it has a value."""
        return {**super().image_weights, "lesion_f1_images": ~np.isnan(self.columns["lesion_f1"])}


TABLES: Mapping[str, type[ObjectTable]] = {
    INSTANCES: InstanceTable,
    PANOPTIC: PanopticTable,
    COMPONENTS: ComponentTable,
}
