"""The pixel protocol for many classes: each class against all others, from one label map and a soft map per class.

Conventions
-----------
1. Of each class the positives are the pixels with its label, the negatives all others that are not void; pixels of
   labels that are not classes are negatives in every class, and a note says so.
2. Void pixels, and those outside the field of view, are ignored for all classes.
3. Each class is counted as `segbench.Pixels` counts its map: its notes on scores apply here.

References
----------
Everingham et al.: The PASCAL Visual Object Classes Challenge. IJCV 2010 (each class against all
others, and the mean).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, replace
from functools import partial
from shlex import quote
from typing import TYPE_CHECKING, Any, ClassVar, cast

from segbench.core import capabilities as can
from segbench.core.arguments import Quantize, as_whole, check_settings, listed, set_fields
from segbench.core.counts import Counts, counts_in
from segbench.core.expected import Expected
from segbench.core.inputs import Facts
from segbench.core.messages import NOTHING, Either, Message, Setting
from segbench.core.metric import CLASSES_PRESENT, Metric
from segbench.core.notes import Note
from segbench.core.options import option, option_like
from segbench.core.protocol import Counted, Protocol
from segbench.core.sample import Reading, Sample
from segbench.inputs.annotators import only_truth
from segbench.inputs.class_names import (
    MOST_CLASSES,
    classes_of,
    refuse_unfit,
    void_without,
    written_classes,
)
from segbench.inputs.label_rules import require_two_classes, void_labels, where_not_void
from segbench.inputs.stacks import ClassMapsError, class_axis, is_one_map, refuse_other_softmax
from segbench.loaders.reading import CLASS_MAPS
from segbench.protocols.pixels.settings import Pixels

if TYPE_CHECKING:
    from segbench.core.arrays import Array, BoolArray
    from segbench.core.scores import ScoreCounts
    from segbench.protocols.pixels.class_metrics import ClassCounts, ClassTable

_LISTED_ONE_BY_ONE = 8
_FOLDERS = Message("text", "one folder per class, {setting}", setting=Setting("pred_pattern", "class_#/*"))
_FORMS = Message(
    "text",
    "a stack of all classes (NPY, NPZ), or {folders}, or name one file per class in a column of the list",
    folders=_FOLDERS,
)
"""How the maps of several classes can be given."""


@dataclass(frozen=True, kw_only=True)
class Classes(Protocol, can.FromCounts, can.MeasuredBySet, can.Divided, can.ByClass, can.SettledBySet, can.TwoSided):
    """Settings of the pixel protocol for many classes.

    Parameters
    ----------
    labels : sequence of int
        The label of each class in the ground truth, in the order of the maps in a stack.
    names : sequence of str, optional
        What the classes are called, and their folders; by default by their labels.
    void : sequence of int
        Labels of pixels that are left out and counted as ignored; one, or several.
    invert, quantize, at, calibration
        As in `segbench.Pixels`, of each class.

    Raises
    ------
    ArgumentError
        If a label or a name comes twice, a label is a class and void, or a name cannot be one.

    Examples
    --------
    >>> Classes(labels=range(3), names=["road", "person", "car"]).signature_fields()["classes"]
    'road=0,person=1,car=2'
    >>> Classes(labels=range(19)).signature_fields()["classes"]
    '0-18'
    """

    name: ClassVar[str] = "classes"
    reads: ClassVar[Reading] = CLASS_MAPS
    counts = counts_in("segbench.protocols.pixels.class_metrics", "ClassCounts")
    title: ClassVar[str] = "Each pixel is scored separately, one class at a time, against the label map."

    labels: Sequence[int] = option(
        "Score each class against all other labels: 0-18, road=0,car=13, or a file with a label and a name per line.",
        MISSING,
        flag="--classes",
        metavar="CLASSES",
        read=classes_of,
        also=("names",),
    )
    names: Sequence[str] | None = None
    void: Sequence[int] = option_like(Pixels, "void", default=(255,), shown="255")
    invert: bool = option_like(Pixels, "invert")
    quantize: Quantize | None = option_like(Pixels, "quantize")
    at: tuple[float, ...] = option_like(Pixels, "at")
    calibration: bool = option_like(Pixels, "calibration")

    def __post_init__(self) -> None:
        check_settings(self)
        given = listed(self.labels, "labels", "range(6) for the labels 0 to 5", most=MOST_CLASSES + 1)
        labels = tuple(as_whole(label, Setting("labels", None), least=None) for label in given)
        names = tuple(map(str, labels if self.names is None else self.names))
        set_fields(self, labels=labels, names=names, void=void_labels(self.void))
        refuse_unfit(labels, names, self.void)
        set_fields(self, at=self._one.at, quantize=self._one.quantize)

    @property
    def _one(self) -> Pixels:
        """How each class is measured."""
        return Pixels(invert=self.invert, quantize=self.quantize, at=self.at, calibration=self.calibration)

    @property
    def class_names(self) -> tuple[str, ...]:
        """The names, given or made of the labels."""
        return tuple(self.names or ())

    @property
    def titles(self) -> tuple[str, ...]:
        named = zip(self.class_names, self.labels, strict=True)
        return tuple(f"label {label}" if name == str(label) else f"{name} (label {label})" for name, label in named)

    def signature_fields(self) -> dict[str, str]:
        of_each = self._one.signature_fields()
        del of_each["positive"], of_each["void"]
        classes = written_classes(self.labels, self.class_names)
        return {"classes": classes, "void": ",".join(map(str, self.void)) or "none"} | of_each

    def place_of(self, tag: str) -> int | None:
        """Find the class that a folder is called after, by its name or by the label its name ends in."""
        name = unicodedata.normalize("NFC", tag)
        if name in self.class_names:
            return self.class_names.index(name)
        number = re.fullmatch(r"\D*([0-9]{1,9})", tag)
        label = int(number[1]) if number else None
        return self.labels.index(label) if label in self.labels else None

    def metrics(self) -> tuple[Metric, ...]:
        from segbench.protocols.pixels.class_metrics import TOTALS, metrics_of

        return (CLASSES_PRESENT, *metrics_of(self._one.metrics()), *TOTALS)

    def table(self, per_image: Mapping[str, ClassCounts], *, of_set: Counts | None = None) -> ClassTable:
        from segbench.protocols.pixels.class_metrics import ClassTable

        return ClassTable(per_image, cast("ClassCounts | None", of_set), one=self._one)

    @classmethod
    def measuring(cls, counts: Counts) -> Classes:
        """Make the protocol for counts: their classes decide what is measured."""
        names = cast("ClassCounts", counts).names
        return cls(labels=range(len(names)), names=[f"class {name}" for name in names], void=())

    @property
    def axes(self) -> tuple[str, ...]:
        return ("class",)

    def divided(self, axis: str, per_image: Mapping[str, Any]) -> can.Division:
        """Take out each class against all others, as the pixel protocol counts it; pooled, all of them added up."""
        from segbench.protocols.pixels.class_metrics import of_class

        parts = {
            name: can.Part(self._of_class(label), {"class": name}, of_class(per_image, name))
            for label, name in zip(self.labels, self.class_names, strict=True)
        }
        return can.Division(parts, partial(self._added_up, per_image))

    def _added_up(self, per_image: Mapping[str, Any]) -> can.Part:
        """Return all classes added up: every pixel is a case of each class."""
        from segbench.protocols.pixels.class_metrics import micro_of

        named = {"class": "micro", "positive": written_classes(self.labels, self.class_names)}
        return can.Part(self._of_class(None), named, micro_of(per_image))

    def _of_class(self, label: int | None) -> Pixels:
        """Return the protocol that measures the counts of one class, or of all added up."""
        return replace(self._one, positive=None if label is None else str(label), void=tuple(map(float, self.void)))

    @property
    def expected_of_one(self) -> Expected:
        """What the soft map of a class may hold under these settings."""
        return replace(self._one.expected, void=tuple(map(float, self.void)))

    def count(self, sample: Sample) -> Counted:
        """Count one image, class by class."""
        from segbench.protocols.pixels.class_metrics import ClassCounts

        truth, maps = self.maps(sample)
        valid = where_not_void(truth, self.void, sample.field)
        counts = tuple(
            self._count(replace(sample, ground_truths=(truth,), predictions=(soft,), field=valid), label, name)
            for soft, label, name in zip(maps, self.labels, self.class_names, strict=True)
        )
        doubts = [doubt for of_class in counts for doubt in self._one.doubts(of_class)][:1]
        notes = (*self._notes(truth, valid), *doubts)
        return Counted(ClassCounts(self.class_names, counts), self.labels_held(truth, valid), notes)

    def labels_held(self, truth: Array, valid: BoolArray | None) -> Facts:
        """Give two labels where pixels count; where there are fewer, also those of void."""
        among = truth.reshape(-1) if valid is None else truth[valid]
        found = {float(label) for label in (among.min(), among.max())} if among.size else set()
        if len(found) < 2:
            found |= {float(label) for label in self.void if (truth == label).any()}
        return tuple(sorted(found))

    def require_both_sides(self, facts: Mapping[str, Facts], where: str = "the whole set") -> None:
        """Refuse label maps of one class alone, beside void: it has no negatives, and the others have no positives."""
        if len({label for held in facts.values() for label in held}.difference(self.void)) == 1:
            require_two_classes(facts, self.labels, where, self._count_void)

    def _count_void(self, void: int, missing: int) -> Message:
        """Say how to count a label that is void as a class that no pixel has."""
        labels = [void if label == missing else label for label in self.labels]
        names = [str(void) if name == str(missing) else name for name in self.class_names]
        return Message(
            "fix",
            "count it: {classes} and {void}",
            classes=Either(f"labels={labels}", f"--classes {quote(written_classes(labels, names))}"),
            void=void_without(self.void, labels),
        )

    def settle(
        self, facts: Mapping[str, Facts], *, excluded_by: Message = NOTHING, complete: bool = True, part: bool = False
    ) -> can.Settled:
        """Decide nothing; a whole set of which one class alone counts is refused."""
        if complete and not part:
            self.require_both_sides(facts)
        return {}

    def maps(self, sample: Sample) -> tuple[Array, list[Array]]:
        from segbench.inputs.label_maps import whole_labels

        truth = whole_labels(sample.truth_file, "the ground truth", only_truth(sample, "label map"))
        file = sample.predicted_file
        one = sample.predictions[0]
        single = one.ndim == truth.ndim or is_one_map(one.shape, truth.shape)
        if len(self.labels) > 1 and len(sample.predictions) == 1 and single:
            what = Message(
                "one-map",
                "is one map, or a label map, expected one soft map per class: {expected}",
                expected=len(self.labels),
            )
            fix = Message("fix", "save the scores of each class, before argmax: {forms}", forms=_FORMS)
            raise ClassMapsError(file, what, fix)
        return truth, self._one_a_class(file, sample.predictions, truth)

    def _one_a_class(self, file: str, predictions: tuple[Array, ...], truth: Array) -> list[Array]:
        """Give the soft map of each class, from files of one each or from a stack."""
        classes = len(self.labels)
        if len(predictions) > 1 or predictions[0].ndim == truth.ndim:
            if len(predictions) != classes:
                what = Message(
                    "other-number-of-maps",
                    "{maps} soft maps, expected one per class: {expected}",
                    maps=len(predictions),
                    expected=classes,
                )
                raise ClassMapsError(file, what, Message("fix", "save {forms}", forms=_FORMS))
            return list(predictions)
        (stack,) = predictions
        fix = Message(
            "fix",
            "save one map for each class listed, as a stack or in {folders}; nothing is resized",
            folders=_FOLDERS,
        )
        axis = class_axis(file, stack.shape, truth, self.labels, argument="labels", hint=fix)
        refuse_other_softmax(file, stack, axis)
        return [stack[k] if axis == 0 else stack[..., k] for k in range(classes)]

    def _count(self, sample: Sample, label: int, name: str) -> ScoreCounts:
        pixels = replace(self._one, positive=str(label))
        of_class = replace(sample, prediction_file=f"{sample.predicted_file} (class {name})")
        return pixels.count(of_class).counts

    def _notes(self, truth: Array, valid: BoolArray | None) -> tuple[Note, ...]:
        """Say which labels are negatives of every class."""
        import numpy as np

        among = truth.reshape(-1) if valid is None else truth[valid]
        values = np.flatnonzero(np.bincount(among)) if truth.dtype == np.uint8 else np.unique(among)
        foreign = [value for value in values.tolist() if value not in self.labels]
        if len(foreign) > _LISTED_ONE_BY_ONE:
            message = Message(
                "labels-not-classes",
                "more than {labels} labels are not classes, so negative in every class",
                labels=_LISTED_ONE_BY_ONE,
            )
            return (Note(message, "ground truth"),)
        return tuple(
            Note(
                Message("label-not-class", "label {label} is not a class, so negative in every class", label=value),
                "ground truth",
            )
            for value in foreign
        )
