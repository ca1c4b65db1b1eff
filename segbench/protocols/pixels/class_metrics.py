"""Counts of several classes, and their metrics: means over classes (macro), and of all added up (micro).

Begin with `segbench.protocols.pixels.classes`, the settings, and `ClassTable`.

Conventions
-----------
1. ``macro_x`` is the mean over classes of the metric ``x`` of the pixel protocol, measured for each class alone, over
   the classes where it is defined; a note of the summary names the other classes, and why. In a resample without any
   image of a class it is the mean over the other classes, as in a benchmark of just those images.
2. ``micro_x`` is the metric ``x`` of the sum of the classes' counts: every pixel is as many cases as there are classes,
   and one threshold holds for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from segbench.core.arrays import BoolArray, FloatArray
from segbench.core.counts import Counts, noting_origin
from segbench.core.errors import ArgumentError
from segbench.core.grouping import grouped
from segbench.core.messages import Message, Note, joined
from segbench.core.metric import Metric, held_note
from segbench.core.part_means import PartMeans
from segbench.core.scores import ScoreCounts
from segbench.core.table import CountsTable, Reducing, Sums
from segbench.curves.curve import Curve
from segbench.curves.pooled import TWO_VALUED
from segbench.protocols.pixels.metrics import METRICS, PixelTable
from segbench.protocols.pixels.settings import Pixels


@dataclass(frozen=True, eq=False, repr=False)
class ClassCounts(Counts):
    """The pixel counts of each class of an image, or of many; counts of the same classes add with ``+``.

    Parameters
    ----------
    names : tuple of str, length K
        The classes, each once.
    counts : tuple of ScoreCounts, length K
        Of each class: its own pixels are positives, those of all others negatives, scores those of its own map.

    Raises
    ------
    ArgumentError
        If there is no class, a name comes twice, or classes do not count the same pixels.

    Examples
    --------
    >>> counts = ClassCounts(("cat", "dog"), (ScoreCounts([2, 1], [3, 1], [0, 2]), ScoreCounts([5], [2], [4])))
    >>> counts["dog"].total_positives, counts.pixels, counts.micro.total_positives
    (2, 6, 6)
    >>> (counts + counts)["cat"].positives
    array([6, 2])
    """

    kind: ClassVar[str] = "classes"
    of_tiles: ClassVar[bool] = True

    names: tuple[str, ...]
    counts: tuple[ScoreCounts, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "counts", tuple(self.counts))
        if not self.names or len(self.names) != len(self.counts):
            names, classes = len(self.names), len(self.counts)
            raise ArgumentError(
                Message(
                    "other-length", "{names} names for the counts of {classes} classes", names=names, classes=classes
                )
            )
        doubled = sorted({name for name in self.names if self.names.count(name) > 1})
        if doubled:
            raise ArgumentError(Message("same-names", "several classes are called {names}", names=doubled))
        covered = {(counts.total_positives + counts.total_negatives, counts.ignored) for counts in self.counts}
        if len(covered) > 1:
            raise ArgumentError(
                Message(
                    "inconsistent-counts",
                    "classes count different pixels: (counted, ignored) are {pixels}",
                    pixels=[str(of_class) for of_class in sorted(covered)],
                )
            )

    def __getitem__(self, name: str) -> ScoreCounts:
        """Return the counts of one class."""
        if name not in self.names:
            raise ArgumentError(
                Message("unknown-class", "no class {name!r}; the classes are {classes}", name=name, classes=self.names)
            )
        return self.counts[self.names.index(name)]

    @property
    def pixels(self) -> int:
        """Pixels that count, in all; each is a case of every class."""
        return self.counts[0].total_positives + self.counts[0].total_negatives

    @property
    def ignored(self) -> int:
        """Pixels left out (void, outside the field of view)."""
        return self.counts[0].ignored

    @property
    def micro(self) -> ScoreCounts:
        """The sum over classes: every pixel is K cases, one per class."""
        return ScoreCounts.sum(self.counts)

    @property
    def ground_truth(self) -> str:
        positives = ", ".join(f"{counts.total_positives} of {name}" for name, counts in self.parts.items())
        return f"{positives} among {self.pixels} pixels"

    @property
    def settings(self) -> tuple[object, ...]:
        return self.names

    @property
    def parts(self) -> Mapping[str, ScoreCounts]:
        """The counts of each class by its name."""
        return dict(zip(self.names, self.counts, strict=True))

    @classmethod
    def of_parts(cls, parts: Mapping[str, ScoreCounts]) -> ClassCounts:
        """Put the classes together."""
        return cls(tuple(parts), tuple(parts.values()))

    @classmethod
    @noting_origin
    def sum(cls, counts: Iterable[ClassCounts]) -> ClassCounts:
        of_images = list(counts)
        names = list(dict.fromkeys(of_image.names for of_image in of_images))
        if len(names) != 1:
            classes = "; ".join(map(", ".join, names)) or "no counts"
            raise ArgumentError(
                Message("other-counts", "counts of the same classes add up, but found {classes}", classes=classes)
            )
        of_classes = zip(*(of_image.counts for of_image in of_images), strict=True)
        return cls(names[0], tuple(ScoreCounts.sum(of_class) for of_class in of_classes))


_MACRO: Mapping[str, Mapping[str, object]] = {
    "ods_f": {"title": "ODS"},
    "iou": {"title": "IoU"},
    "ois_f": {"title": "OIS", "priority": 5},
    "auc_pr": {"title": "AUC-PR"},
    "average_precision": {"title": "AP", "compared": True, "priority": 0},
    "auc_roc": {"title": "AUC-ROC", "priority": 4},
    "fpr_at_95_tpr": {"title": "FPR95"},
}
_MICRO: Mapping[str, Mapping[str, object]] = {
    "ods_f": {"title": "ODS"},
    "auc_pr": {"title": "AUC-PR", "priority": 6},
    "average_precision": {"title": "AP", "priority": 3},
    "auc_roc": {"title": "AUC-ROC", "priority": 1, "compared": False},
}
_NOTES = {
    "macro": "mean over the classes in the ground truth, each at its own best threshold",
    "micro": "all classes pooled, every pixel counted once per class",
}


def metrics_of(of_class: Iterable[Metric]) -> tuple[Metric, ...]:
    """Return the metrics of one class as means over classes, then as those of all classes added up."""
    metrics = [metric for metric in of_class if metric.kind != "total"]
    macro = (replace(_prefixed(metric, "macro", _MACRO), headline=metric.headline) for metric in metrics)
    micro = (_prefixed(metric, "micro", _MICRO) for metric in metrics)
    return (*(metric for metric in macro if metric.better), *micro)


def _prefixed(metric: Metric, prefix: str, shown: Mapping[str, Mapping[str, object]]) -> Metric:
    """Return a metric of the pixel benchmark as a mean over classes, or of all classes added up."""
    by_setting = metric not in METRICS and metric.compared and prefix == "macro"
    note = _NOTES[prefix] if metric.key in ("ods_f", "auc_pr") else ""
    image_title = f"{prefix} {metric.name_for_images}" if metric.image_key else ""
    changes = {
        "title": metric.title if by_setting else "",
        "group": prefix,
        "note": note,
        "headline": False,
        "mean_over_images": metric.mean_over_images and prefix == "micro",
        "compared": by_setting or metric.key in ("ods_f", "auc_pr"),
        "image_title": image_title,
    }
    return metric.prefixed(prefix, **{**changes, **shown.get(metric.key, {})})


TOTALS = (
    Metric(key="classes", kind="total"),
    *(Metric(key=key, image_key=key, kind="total") for key in ("pixels", "ignored")),
    *(Metric(key=key, image_key=key, kind="total") for key in ("micro_positives", "micro_negatives")),
)


class ClassTable(CountsTable[ClassCounts], Reducing):
    """Means over the tables of classes, and a table of all classes added up; `class_protocol` measures a class."""

    counts = ClassCounts

    def __init__(
        self,
        per_image: Mapping[str, ClassCounts],
        of_set: ClassCounts | None = None,
        *,
        class_protocol: Pixels | None = None,
    ) -> None:
        super().__init__(per_image)
        self._class_protocol = class_protocol or Pixels()
        self._of_set = of_set
        self.metrics = metrics_of(self._micro.metrics)

    @cached_property
    def columns(self) -> Mapping[str, Any]:
        """Means over the tables of classes, and the table of all classes added up."""
        per_image, of_set = self.per_image, self._of_set
        names = next(iter(per_image.values())).names if per_image else ()
        in_set = {} if of_set is None else of_set.parts
        measure = self._class_protocol.table
        tables = {name: measure(of_class(per_image, name), of_set=in_set.get(name)) for name in names}
        micro = measure(micro_of(per_image), of_set=None if of_set is None else of_set.micro)
        averaged = [column for column, metric in enumerate(micro.metrics) if metric.better]
        macro = PartMeans(tables, metrics_of(micro.metrics)[: len(averaged)], averaged, parts="classes")
        return {"macro": macro, "micro": micro}

    @property
    def _macro(self) -> PartMeans:
        means: PartMeans = self.columns["macro"]
        return means

    @property
    def _micro(self) -> PixelTable:
        table: PixelTable = self.columns["micro"]
        return table

    @property
    def _classes(self) -> Mapping[str, Any]:
        """The table of each class."""
        return self._macro.tables

    @property
    def _averaged(self) -> Mapping[int, Metric]:
        """The metrics of a class that are averaged over classes, by their columns."""
        return {column: self._micro.metrics[column] for column in self._macro.metric_columns.tolist()}

    @cached_property
    def estimates(self) -> FloatArray:
        return np.concatenate([self._macro.estimates, self._micro.estimates])

    def formulas(self, of: Sums) -> Mapping[str, FloatArray]:
        return self.by_label(np.hstack([table.scored(of[name]) for name, table in self.columns.items()]))

    def without_each(self) -> FloatArray:
        return np.hstack([table.without_each() for table in self.columns.values()])

    def measure_images(self) -> FloatArray:
        return np.hstack([table.measure_images() for table in self.columns.values()])

    def may_be_restricted(self, metric: Metric) -> bool:
        return True

    @property
    def image_weights(self) -> Mapping[str, FloatArray]:
        return self.by_label(np.hstack([table.weights_by_metric for table in self.columns.values()]))

    @property
    def images_of_classes(self) -> Mapping[str, BoolArray]:
        with_positives = {name: table.has_positives for name, table in self._classes.items()}
        return {name: images for name, images in with_positives.items() if images.any()}

    @property
    def totals(self) -> Mapping[str, int]:
        """Numbers of classes and pixels."""
        cases = self._micro.totals
        classes = len(self._classes)
        return {
            "classes_present": classes - len(self._absent),
            "classes": classes,
            "pixels": (cases["positives"] + cases["negatives"]) // max(classes, 1),
            "ignored": cases["ignored"] // max(classes, 1),
            "micro_positives": cases["positives"],
            "micro_negatives": cases["negatives"],
        }

    def why_undefined(self, metric: Metric) -> Message:
        prefix, _, key = metric.key.partition("_")
        of_class = next(metric for metric in self._micro.metrics if metric.key == key)
        if prefix == "micro":
            return self._micro.why_undefined(of_class)
        reasons = list(dict.fromkeys(table.why_undefined(of_class) for table in self._classes.values()))
        if reasons == [TWO_VALUED]:
            return TWO_VALUED
        if not reasons:
            return Message("no-pixels", "no pixels")
        return joined(reasons, " or ") + " of any class"

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes on classes that are in no mean, or not in all, and why; and notes of classes, with their names."""
        absent = self._absent
        notes: list[Note] = []
        if absent:
            over_present = Message(
                "absent-classes",
                "macro metrics are means over {count} of {total} classes; absent from the ground truth: {classes}",
                count=len(self._classes) - len(absent),
                total=len(self._classes),
                classes=absent,
            )
            notes.append(Note(over_present))
        present = [(name, table) for name, table in self._classes.items() if name not in absent]
        keys_lacking_classes = grouped(
            ((reason, tuple(names)), f"macro_{metric.key}")
            for column, metric in self._averaged.items()
            for reason, names in grouped(
                (table.why_undefined(metric), name) for name, table in present if np.isnan(table.estimates[column])
            ).items()
        )
        for (reason, names), keys in keys_lacking_classes.items():
            undefined = Message(
                "undefined-parts", "{metrics} without {without} ({reason})", without=names, reason=reason
            )
            notes.append(Note(undefined, metrics=tuple(zip(keys, keys, strict=True))))
        classes_with_note = grouped(
            (note, name) for name, table in self._classes.items() for note in table.notes if note not in table.left_out
        )
        notes += [note.said_of(", ".join(classes)) for note, classes in classes_with_note.items()]
        mean = next(metric for metric in self.metrics if metric.key == "macro_mean_image_f")
        images_with = {name: int(np.count_nonzero(table.has_positives)) for name, table in self._classes.items()}
        notes += held_note(mean, images_with, self.images)
        return (*notes, *(_of_micro(note) for note in self._micro.notes))

    @property
    def reduced(self) -> ClassCounts:
        """The pooled counts of each class, at all its scores."""
        return self.pooled

    @property
    def chosen_points(self) -> str:
        """How many of the scores of all classes added up plots show, in words; empty if all."""
        return self._micro.chosen_points

    @property
    def curve(self) -> Curve:
        """The pooled curve of all classes added up."""
        return self._micro.curve

    @property
    def drawn(self) -> Curve:
        return self._micro.drawn

    @cached_property
    def _absent(self) -> list[str]:
        return [name for name, table in self._classes.items() if not table.totals["positives"]]


def _of_micro(note: Note) -> Note:
    """Return a note of the table of all classes added up, with the keys that its metrics have here."""
    metrics = tuple((f"micro_{key}", name) for key, name in note.metrics)
    return replace(note.said_of("micro"), metrics=metrics)


def micro_of(per_image: Mapping[str, Any]) -> Mapping[str, ScoreCounts]:
    """Return the counts of all classes added up, by image; packed counts have them."""
    micro: Mapping[str, ScoreCounts] | None = getattr(per_image, "micro", None)
    return {name: counts.micro for name, counts in per_image.items()} if micro is None else micro


def of_class(per_image: Mapping[str, Any], name: str) -> Mapping[str, ScoreCounts]:
    """Return the counts of one class by image; of packed counts without unpacking the other classes."""
    packed: Callable[[str], Mapping[str, ScoreCounts]] | None = getattr(per_image, "of_class", None)
    if packed:
        return packed(name)
    return {image: counts[name] for image, counts in per_image.items()}
