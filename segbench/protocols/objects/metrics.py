"""The metrics of objects, and the tables that compute them: of instances, of panoptic maps, of components."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from segbench.core.arrays import FloatArray, IntArray
from segbench.core.metric import Metric, left_out_note, shares
from segbench.core.table import CountsTable, column_sums, only_where
from segbench.protocols.objects.choices import COMPONENTS, INSTANCES, MEAN_OVER, OF_COMPONENTS, PANOPTIC, percent
from segbench.protocols.objects.counts import ObjectCounts, reaching, sum_of

_OF_MATCHES = ("f1", "precision", "recall", "threat_score")
_DEFINED = 7  # the column of the rows that says whether an image has AJI, or the F1 of lesions
_TITLES = {"f1": "F1", "threat_score": "AP"}
_AP = "TP / (TP + FP + FN), which StarDist and Cellpose call average precision"


def _score(key: str, title: str, note: str = "", **others: Any) -> Metric:
    """Describe a metric that each image has, too."""
    return Metric(key=key, title=title, better="higher", image_key=key, note=note, **others)


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
    *(_score(f"component_f1_{t}", f"F1@.{t}", priority=1) for t in (25, 50, 75)),
    _score("component_siou", "sIoU", "mean over true components", compared=True),
    _score("component_ppv", "PPV", "mean over predicted components", compared=True),
    _score("lesion_f1", "lesion F1", "found if one pixel is predicted, false if none is true", compared=True),
    Metric(key="lesion_f1_images", better="higher"),
)


def metrics_of(kind: str, iou: Sequence[Fraction]) -> tuple[Metric, ...]:
    """Give the metrics of objects of a kind, some of them at these thresholds of IoU, and their totals."""
    if kind == COMPONENTS:
        return (*shares(*_COMPONENTS), *TOTALS)
    pooled = _of_thresholds(iou)
    untitled = [replace(one, title="", headline=False, note="") for one in pooled]
    if kind == PANOPTIC:
        return (*shares(*_PANOPTIC, *(replace(one, compared=False) for one in untitled)), *TOTALS)
    means = [replace(one, key=f"{one.key}_images", image_key="") for one in untitled]
    others = (
        _score("matched_iou", "matched IoU", "mean IoU of the objects matched at .5", priority=3),
        _score("aji", "AJI", "mean over images", compared=True),
        _score("aji_plus", "AJI+", "mean over images", priority=3),
    )
    return (*shares(*pooled, *others, *_QUALITY, *means), *TOTALS)


def _of_thresholds(iou: Sequence[Fraction]) -> list[Metric]:
    """Give the metrics of all objects together at each threshold, and their means."""
    names = [(percent(each), f"{float(each):g}".lstrip("0")) for each in iou]
    return [
        _score(
            f"{kind}_{key}",
            f"{_TITLES[kind]}@{at}" if kind in _TITLES else "",
            _AP if kind == "threat_score" else "",
            headline=(kind, key) == ("f1", names[0][0]),
            compared=kind in _TITLES,
            priority=0 if kind == "f1" else 1,
        )
        for key, at in (*names, ("mean", ".5:.95"))
        for kind in _OF_MATCHES
    ]


def _defined(metric: Metric) -> int | None:
    """Give the column of the rows that says which images a mean over images takes; None for other metrics."""
    if not metric.key.endswith("_images"):
        return _DEFINED if metric.key.startswith("aji") else None
    kinds = [place for place, kind in enumerate(_OF_MATCHES) if metric.key.startswith(f"{kind}_")]
    return kinds[0] - len(_OF_MATCHES) if kinds else _DEFINED


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
        self._shown = [self._at.index(each) for each in iou]
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
    def estimates(self) -> FloatArray:
        """Every metric of the benchmark itself, with each sum rounded once."""
        return self.score(column_sums(self.rows))[0]

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
    def shares(self) -> FloatArray:
        """True objects of each image; for means over images whether it has a value; see `Table`."""
        columns = map(_defined, self.metrics)
        return np.column_stack([self.numbers[:, 0] if at is None else self.rows[:, at] for at in columns])

    def why_undefined(self, metric: Metric) -> str:
        true, predicted = self.totals.values()
        for applies, reason in (
            (not self.images, "no image was counted"),
            (not true and not predicted, "there is no object in either map"),
            (metric.key.startswith(("precision", "component_ppv")), "there is no predicted object"),
            (metric.key.endswith("_things"), "no class here has things"),
            (metric.key.endswith("_stuff"), "no class is stuff here"),
            (metric.key == "matched_iou", "no object is matched"),
        ):
            if applies:
                return reason
        return "there is no object in the ground truth"

    def _columns(self, values: FloatArray) -> FloatArray:
        """Give metrics of shape (R, kinds, thresholds) in the order of the columns: by threshold, then the mean."""
        shown = values[:, :, self._shown].transpose(0, 2, 1).reshape(len(values), len(self._shown) * len(_OF_MATCHES))
        return np.hstack([shown, values[:, :, self._mean].mean(axis=2)])


class InstanceTable(ObjectTable):
    """Instance label maps: objects of one class."""

    @cached_property
    def rows(self) -> FloatArray:
        """Numbers of objects; TP and sum of IoU by threshold, and of PQ; AJI; then the image's own metrics."""
        found = []
        for one, (true, predicted) in zip(self.ordered, self.numbers.tolist(), strict=True):
            pairs = shared, whole = one.pairs()
            above = 2 * shared > whole
            sums = sum_of(*pairs), np.count_nonzero(above), sum_of(shared[above], whole[above])
            aji = [part / total if total else 0.0 for part, total in one.aji.reshape(2, 2).tolist()]
            found.append([true, predicted, *sums, *aji, one.aji[1] > 0, *reaching(*pairs, self._at)])
        rows = np.array(found, np.float64).reshape(-1, 8 + len(self._at))
        of_images = _of_matches(rows[:, :1], rows[:, 1:2], rows[:, 8:])
        defined = ~np.isnan(of_images[:, :, 0])
        own = np.nan_to_num(of_images).reshape(len(rows), len(_OF_MATCHES) * len(self._at))
        return np.hstack([rows, own, defined.astype(np.float64)])

    def score(self, sums: FloatArray) -> FloatArray:
        width, kinds = len(self._at), len(_OF_MATCHES)
        first, matches, own, defined = np.split(sums, np.cumsum([8, width, kinds * width]), axis=1)
        true, predicted, iou, above, iou_above, *aji, defined_aji = first.T[:, :, np.newaxis]
        with np.errstate(invalid="ignore", divide="ignore"):  # 0 / 0 is undefined
            pooled = _of_matches(true, predicted, matches)
            means = own.reshape(-1, kinds, width) / defined[:, :, np.newaxis]
            columns = [self._columns(pooled), iou / matches[:, self._mean[:1]], *(part / defined_aji for part in aji)]
            sq, rq = np.where(above, iou_above / above, 0), 2 * above / (true + predicted)
            pq = 2 * iou_above / (true + predicted)
        sq = np.where(true + predicted, sq, np.nan)
        return np.hstack([*columns, pq, sq, rq, self._columns(means)])

    def beside(self, other: Self) -> Self:
        held = (self.numbers == 0).any(axis=1) | (other.numbers[:, 1] > 0)
        kinds, place, width = len(_OF_MATCHES), _OF_MATCHES.index("precision"), len(self._at)
        first = _DEFINED + 1 + (1 + place) * width
        rows = only_where(held[:, np.newaxis], self.rows, [*range(first, first + width), place - kinds])
        return self if rows is self.rows else self._with(rows=rows)

    @property
    def notes(self) -> tuple[str, ...]:
        """Say how many images are in no mean over images."""
        empty = int(np.count_nonzero(~self.numbers.any(axis=1)))
        means = [metric for metric in self.metrics if metric.key.startswith("aji")]
        return left_out_note(means, "no object in either map", empty, self.images)


def _of_matches(true: FloatArray, predicted: FloatArray, matches: FloatArray) -> FloatArray:
    """Compute F1, precision, recall and the threat score at each threshold, shape (R, 4, thresholds)."""
    with np.errstate(invalid="ignore"):  # 0 / 0 is undefined
        both = true + predicted
        return np.stack([2 * matches / both, matches / predicted, matches / true, matches / (both - matches)], axis=1)


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
    def rows(self) -> FloatArray:
        """By class: TP, objects on both sides together, and the sum of IoU; then all objects, and TP by threshold."""
        places = {label: place for place, label in enumerate(self._classes)}
        rows = np.zeros((self.images, len(places), 3))
        for row, one in zip(rows, self.ordered, strict=True):
            for place, label in enumerate(one.labels):
                true, predicted, ignored = one.objects[place].tolist()
                row[places[label]] = one.sizes[place, 0], true + predicted - ignored, sum_of(*one.pairs(place))
        found = [reaching(one.shared, one.whole, self._at) for one in self.ordered]
        matches = np.array(found, np.float64).reshape(self.images, len(self._at))
        return np.hstack([rows.reshape(self.images, 3 * len(places)), self.numbers, matches])

    def score(self, sums: FloatArray) -> FloatArray:
        classes = len(self._classes)
        of_classes, numbers, matches = np.split(sums, [3 * classes, 3 * classes + 2], axis=1)
        found, both, iou = np.moveaxis(of_classes.reshape(len(sums), classes, 3), 2, 0)
        things = np.array([thing for _, thing in self._classes.values()], bool)
        with np.errstate(invalid="ignore"):  # 0 / 0 is undefined: classes that no image has
            by_class = 2 * iou / both, np.where(found > 0, iou / found, 0), 2 * found / both
            columns = [
                np.where(both[:, some] > 0, values[:, some], 0).sum(axis=1) / np.count_nonzero(both[:, some], axis=1)
                for some in (slice(None), things, ~things)
                for values in by_class
            ]
        of_all = self._columns(_of_matches(numbers[:, :1], numbers[:, 1:], matches))
        return np.column_stack([*columns, of_all])[:, : len(self.metrics)]

    @property
    def shares(self) -> FloatArray:
        """True objects of each image, of things and of stuff for their metrics; see `Table`."""
        things = np.array([one.objects[:, 0] @ one.things for one in self.ordered], np.float64).reshape(-1, 1)
        every = self.numbers[:, :1]
        weights = {"things": things, "stuff": every - things}
        return np.hstack([weights.get(metric.key.rpartition("_")[2], every) for metric in self.metrics])

    @property
    def images_of_classes(self) -> Mapping[str, int]:
        held = dict.fromkeys((name for name, _ in self._classes.values()), 0)
        for one in self.ordered:
            for name, number in zip(one.names, one.objects[:, 0].tolist(), strict=True):
                held[name] += number > 0
        return held


class ComponentTable(ObjectTable):
    """Connected components of masks."""

    drawn_from = Fraction(1, 4)

    def _sides(self, pooled: ObjectCounts) -> Sequence[tuple[IntArray, IntArray]]:
        """Give both sides, which are measured by themselves."""
        return [pooled.pairs(0, side) for side in (0, 1)]

    @cached_property
    def rows(self) -> FloatArray:
        """Components on both sides; found and true-free ones; sums of sIoU and PPV; TP and FP by threshold; F1."""
        found = []
        for one, (true, predicted) in zip(self.ordered, self.numbers.tolist(), strict=True):
            pairs = one.pairs(0, 0), one.pairs(0, 1)
            hits, rest = np.count_nonzero(pairs[0][0]), predicted - np.count_nonzero(pairs[1][0])
            lesions = 2 * hits / (hits + true + rest) if true + rest else 0.0
            sums = (sum_of(*side) for side in pairs)
            false = [predicted - reached for reached in reaching(*pairs[1], OF_COMPONENTS)]
            own = (lesions, true + rest > 0)
            found.append([true, predicted, hits, rest, *sums, *own, *reaching(*pairs[0], OF_COMPONENTS), *false])
        return np.array(found, np.float64).reshape(-1, 8 + 2 * len(OF_COMPONENTS))

    def score(self, sums: FloatArray) -> FloatArray:
        first, hits, false = np.split(sums, [8, 8 + len(OF_COMPONENTS)], axis=1)
        true, predicted, touched, rest, siou, ppv, lesions, defined = first.T[:, :, np.newaxis]
        with np.errstate(invalid="ignore"):  # 0 / 0 is undefined
            f1 = 2 * hits / (hits + true + false)
            of_all = siou / true, ppv / predicted, 2 * touched / (touched + true + rest), lesions / defined
        chosen = [OF_COMPONENTS.index(Fraction(k, 4)) for k in (1, 2, 3)]
        return np.hstack([f1.mean(axis=1, keepdims=True), f1[:, chosen], *of_all])


TABLES: Mapping[str, type[ObjectTable]] = {
    INSTANCES: InstanceTable,
    PANOPTIC: PanopticTable,
    COMPONENTS: ComponentTable,
}
