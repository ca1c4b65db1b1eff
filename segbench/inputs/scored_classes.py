"""Label maps and the scores of several classes: a soft map of each, in a stack or in files of their own.

Conventions
-----------
1. Of each class the positives are the pixels with its label, the negatives all others that are not void.
2. Void pixels, and those outside the field of view, are left out for all classes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, replace
from functools import cached_property
from shlex import quote
from typing import TYPE_CHECKING, ClassVar

from segbench.core.messages import NOTHING, Either, Message, Note, Setting, protocol_with
from segbench.core.protocol import Facts, InputSettings, Interpreted
from segbench.core.sample import Reading, Sample
from segbench.core.settings import Quantize, as_whole, check_settings, listed, option, option_like, set_fields
from segbench.inputs.class_names import (
    classes_of,
    refuse_regions,
    refuse_unfit,
    void_beside,
    void_without,
    written_classes,
)
from segbench.inputs.class_regions import MOST_CLASSES
from segbench.inputs.label_rules import equals_any, only_truth, require_two_classes, void_labels, where_not_void
from segbench.inputs.scored_masks import ScoredMasks, ScoredPixels
from segbench.inputs.stacks import ClassMapsError, class_axis, is_one_map, refuse_other_softmax
from segbench.loaders.reading import CLASS_MAPS

if TYPE_CHECKING:
    from segbench.core.arrays import Array, BoolArray
    from segbench.inputs.label_summaries import ClassesSummary
    from segbench.loaders.listing import SampleFiles

_LISTED_ONE_BY_ONE = 8
_VOID = (255,)
_FOLDERS = Message("text", "one folder per class, {setting}", setting=Setting("pred_pattern", "class_#/*"))
_FORMS = Message(
    "text",
    "a stack of all classes (NPY, NPZ), or {folders}, or name one file per class in a column of the list",
    folders=_FOLDERS,
)
"""How the maps of several classes can be given."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassScores(Interpreted):
    """The label map of an image, and the scores of each class."""

    truth: Array
    """Whole labels."""
    valid: BoolArray | None
    """Where pixels count; None for everywhere."""
    maps: Sequence[Array]
    """The soft map of each class, as stored."""
    file: str
    """What errors call the scores."""
    settings: ScoredClasses

    def of_each_class(self) -> Iterator[ScoredPixels]:
        """Interpret each class against all others, one after another, so that only one is held at a time."""
        masks, names = self.settings.of_one, self.settings.class_names
        for soft, label, name in zip(self.maps, self.settings.labels, names, strict=True):
            file = f"{self.file} (class {name})"
            scores, bits = masks.scores(file, soft, self.valid, [self.valid])
            labelled = [(self.truth == label, self.valid)]
            yield ScoredPixels(labelled=labelled, scores=scores, file=file, bits=bits)


@dataclass(frozen=True, kw_only=True)
class ScoredClasses(InputSettings):
    """Label maps, and a soft map for each class; `segbench.Classes` describes the settings."""

    reads: ClassVar[Reading] = CLASS_MAPS

    labels: Sequence[int] = option(
        "Score each class against all other labels: 0-18, road=0,car=13, or a file with a label and a name per line.",
        MISSING,
        flag="--classes",
        metavar="CLASSES",
        read=classes_of,
        also=("names",),
    )
    names: Sequence[str] | None = None
    void: Sequence[int] = option_like(ScoredMasks, "void", default=_VOID, shown="255")
    invert: bool = option_like(ScoredMasks, "invert")
    quantize: Quantize | None = option_like(ScoredMasks, "quantize")
    at: tuple[float, ...] = ()
    """Thresholds at which a protocol measures, which scores should fit."""

    def __post_init__(self) -> None:
        """Check and normalise the settings."""
        check_settings(self)
        values = listed(self.labels, "labels", "range(6) for the labels 0 to 5", most=MOST_CLASSES + 1)
        refuse_regions(values)
        labels = tuple(as_whole(label, Setting("labels", None), least=None) for label in values)
        names = tuple(map(str, labels if self.names is None else self.names))
        void = void_labels(self.void)
        if void == _VOID:
            void = void_beside(self.labels, void)
        set_fields(self, labels=labels, names=names, void=void, reads=replace(CLASS_MAPS, labels=labels))
        refuse_unfit(labels, names, self.void)
        set_fields(self, quantize=self.of_one.quantize)

    @cached_property
    def of_one(self) -> ScoredMasks:
        """How the scores of a class are read; its labels are those of the label map."""
        return ScoredMasks(invert=self.invert, quantize=self.quantize, at=self.at)

    @property
    def class_names(self) -> tuple[str, ...]:
        """The names, given or made of the labels."""
        return tuple(self.names or ())

    @property
    def titles(self) -> tuple[str, ...]:
        """Each class with its label, as messages call it."""
        pairs = zip(self.class_names, self.labels, strict=True)
        return tuple(f"label {label}" if name == str(label) else f"{name} (label {label})" for name, label in pairs)

    def place_of(self, tag: str) -> int | None:
        """Find the class that a folder is called after, by its name or by the label its name ends in."""
        name = unicodedata.normalize("NFC", tag)
        if name in self.class_names:
            return self.class_names.index(name)
        number = re.fullmatch(r"\D*([0-9]{1,9})", tag)
        label = int(number[1]) if number else None
        return self.labels.index(label) if label in self.labels else None

    def interpret(self, sample: Sample) -> ClassScores:
        """Find the label map and the soft map of each class; what a soft map holds is read class by class."""
        truth, maps = self._maps(sample)
        valid = where_not_void(truth, self.void, sample.field)
        counted_labels = truth.reshape(-1) if valid is None else truth[valid]
        return ClassScores(
            facts=self._labels_held(truth, counted_labels),
            notes=self._notes(counted_labels),
            truth=truth,
            valid=valid,
            maps=maps,
            file=sample.predicted_file,
            settings=self,
        )

    def summarize(
        self, sample: Sample, files: SampleFiles, interpret: Callable[[Sample], ClassScores]
    ) -> ClassesSummary:
        """Summarize the scores of each class; what a run refuses of soft maps is read class by class."""
        del interpret
        import numpy as np

        from segbench.inputs.label_summaries import ClassesSummary
        from segbench.inputs.predicted_labels import labels_seen
        from segbench.inputs.summaries import Inspected, coloured_files, few_distinct, score_summary
        from segbench.loaders.source import shown

        image = self.interpret(sample)
        truth, maps, void = image.truth, image.maps, tuple(map(float, self.void))
        counted = np.ones(truth.shape, np.bool_) if image.valid is None else image.valid
        known = tuple(map(float, self.labels))
        names = list(map(shown, (files.prediction, *files.scales)))
        if len(names) < len(maps):
            names = [f"{names[0]} (class {name})" for name in self.class_names]
        single = len(sample.predictions) == 1 and sample.predictions[0].ndim == truth.ndim
        return ClassesSummary(
            image=sample.name,
            inputs=Inspected.of(sample),
            may_hold_labels=single,
            labels=labels_seen(sample, void) if single else None,
            prediction=sample.prediction_file,
            coloured=coloured_files(sample, files),
            classes=tuple(
                score_summary((sample.name, name), soft, equals_any(truth, (label,)), counted, inverted=self.invert)
                for name, soft, label in zip(names, maps, known, strict=True)
            ),
            facts=image.facts,
            truth_file=shown(files.ground_truths[0]),
            foreign=few_distinct(truth[counted & ~equals_any(truth, known)]),
            zeros=int(np.count_nonzero(truth == 0)) if 0 in void else 0,
            pixels=truth.size,
        )

    def _labels_held(self, truth: Array, among: Array) -> Facts:
        """Return two labels `among` the pixels that count; where there are fewer, also those of void."""
        labels = {float(label) for label in (among.min(), among.max())} if among.size else set()
        if len(labels) < 2:
            labels |= {float(label) for label in self.void if (truth == label).any()}
        return tuple(sorted(labels))

    def _notes(self, among: Array) -> tuple[Note, ...]:
        """Say which labels are negatives of every class."""
        import numpy as np

        values = np.flatnonzero(np.bincount(among)) if among.dtype == np.uint8 else np.unique(among)
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

    def _maps(self, sample: Sample) -> tuple[Array, list[Array]]:
        """Return the label map of an image, and the soft map of each class."""
        from segbench.inputs.label_maps import whole_labels

        truth = whole_labels(sample.truth_file, "the ground truth", only_truth(sample, "label map"))
        file = sample.predicted_file
        first = sample.predictions[0]
        single = first.ndim == truth.ndim or is_one_map(first.shape, truth.shape)
        if len(self.labels) > 1 and len(sample.predictions) == 1 and single:
            problem = Message(
                "one-map",
                "is one map, or a label map, expected one soft map per class: {expected}",
                expected=len(self.labels),
            )
            classes = Setting("classes", written_classes(self.labels, self.class_names))
            fix = Message(
                "fix",
                "evaluate label maps with {labels}; or save the scores of each class, before argmax: {forms}",
                labels=protocol_with("Labels", "segbench labels GT PRED ", classes),
                forms=_FORMS,
            )
            raise ClassMapsError(file, problem, fix)
        return truth, self._one_a_class(file, sample.predictions, truth)

    def _one_a_class(self, file: str, predictions: tuple[Array, ...], truth: Array) -> list[Array]:
        """Return the soft map of each class, from files of one each or from a stack."""
        classes = len(self.labels)
        if len(predictions) > 1 or predictions[0].ndim == truth.ndim:
            if len(predictions) != classes:
                problem = Message(
                    "other-number-of-maps",
                    "{maps} soft maps, expected one per class: {expected}",
                    maps=len(predictions),
                    expected=classes,
                )
                raise ClassMapsError(file, problem, Message("fix", "save {forms}", forms=_FORMS))
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

    def settle(
        self, facts: Mapping[str, Facts], *, excluded_by: Message = NOTHING, complete: bool = True, part: bool = False
    ) -> frozenset[Facts]:
        """Decide nothing; a whole set of which one class alone counts is refused."""
        del excluded_by
        if complete and not part:
            self.require_both_sides(facts)
        return frozenset()

    def require_both_sides(self, facts: Mapping[str, Facts], where: str = "the whole set") -> None:
        """Refuse label maps of one class alone, beside void: it has no negatives, and the others have no positives."""
        if len({label for of_image in facts.values() for label in of_image}.difference(self.void)) == 1:
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
