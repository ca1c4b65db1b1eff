"""Settings of the labels protocol: which labels are classes, and how label maps become confusion matrices."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, cast

from segbench.core import capabilities as can
from segbench.core.arguments import as_whole, check_settings, listed, set_fields
from segbench.core.counts import Counts, counts_in
from segbench.core.errors import ArgumentError, DataError
from segbench.core.inputs import Facts
from segbench.core.messages import NOTHING, Either, Message, Setting, joined
from segbench.core.metric import Metric, image_headline
from segbench.core.notes import Note
from segbench.core.options import option
from segbench.core.protocol import Counted, Protocol
from segbench.core.sample import SIDES, Reading, Sample, Side
from segbench.inputs import label_rules as rules
from segbench.inputs.class_names import (
    MOST_CLASSES,
    classes_of,
    labels_text,
    read_background,
    read_classes,
    refuse_many,
    refuse_unfit,
    written_classes,
)
from segbench.inputs.label_values import as_map_text, places_of
from segbench.loaders.reading import COLOUR_MAPS, LABEL_MAPS
from segbench.protocols.one_class import OneClass, divided_by_class
from segbench.protocols.states import OF_MASKS, State, states_of_labels

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from segbench.core.arrays import BoolArray, FloatArray, IntArray
    from segbench.core.pictures import Pictures
    from segbench.inputs.label_maps import LabelMaps, Masks
    from segbench.inputs.numberings import Renumbered, StoredLabels
    from segbench.protocols.labels.counts import LabelCounts
    from segbench.protocols.labels.metrics import LabelTable

_MASKS = "masks"
_MASK_CLASSES = "negative=0,positive=1"
_OUTSIDE = Message("labels-outside", "labels outside the classes count as wrong")
_VOID = (255,)
_MAP: Mapping[str, Any] = {"default": "", "metavar": "VALUE=LABEL,..", "read": str, "rare": True}
_MANY = 64
"""Of as many pixels one that is predicted outside the classes is reason enough to compare the values as stored."""
_NOT_POOLED = "pooled over classes, precision, recall and Dice are all the pixel accuracy of the label maps"
_MOST_DRAWN = 254  # beside these, 8 bits hold what is outside the classes and what is left out


@dataclass(frozen=True, kw_only=True)
class Labels(
    Protocol, can.Verb, can.Confusing, can.FromCounts, can.SettledBySet, can.OnDevice, can.Divided, can.Pictured
):
    """Settings of the labels protocol.

    Parameters
    ----------
    classes : int, sequence of int or str, optional
        The labels of the classes: ``19`` for 0 to 18, ``range(1, 21)``, or a text as the command line takes it:
        ``"0-18"``, ``"road=0,car=13"``, a file with a label and a name a line. None: ground truth and predictions are
        masks.
    names : sequence of str, optional
        What the classes are called; by default by their labels.
    void : sequence of int, optional
        Ground-truth labels of pixels that are left out and counted as ignored; one, or several. By default 255 with
        classes, unless it is one of them, and none with masks.
    background : int, sequence of int or str
        Labels of classes that are counted as all others are, and left out of means over classes: ``0`` where these are
        to be means over organs alone.
    positive : str, float or sequence of float, optional
        Of masks: which ground-truth values are positive, as in `segbench.Pixels`. None: the set must hold exactly two
        values, and the larger is positive. A bound at half of a scale (``">=128"``) also cuts predictions of more than
        two values, unless `predicted_positive` says otherwise; beside other bounds these are refused.
    predicted_positive : str, float or sequence of float, optional
        Of masks: which values of the predictions are positive, as stored: ``">=128"`` for 8-bit probabilities,
        ``">=0.5"`` for floats. None: 0 is negative and the only other value positive. Arrays of type bool are taken as
        they are.
    gt_map, pred_map : str or mapping of int to int
        Labels that values as stored represent: ``"7=0,8=1"``, ``"1-150=0-149,0=255"``, ``"*=255"`` for all others.
    palette : str, path or mapping of (r, g, b) to label, optional
        The label of each colour of images with three channels: a file with ``r,g,b,label,name`` per line,
        or such rows between semicolons. Without `classes`, its labels but void ones are the classes.

    Raises
    ------
    ArgumentError
        If a label or a name comes twice, a label is a class and void, a name cannot be one, `background` is no class,
        or `positive` or a remapping is not a rule.

    Examples
    --------
    >>> Labels(classes=19).signature_fields()
    {'classes': '0-18', 'void': '255'}
    >>> Labels(classes=5, background=0).signature_fields()
    {'classes': '0-4', 'void': '255', 'background': '0'}
    >>> Labels().signature_fields()
    {'classes': 'masks', 'void': 'none', 'positive': 'larger'}
    """

    name: ClassVar[str] = "labels"
    reads: ClassVar[Reading] = LABEL_MAPS
    counts = counts_in("segbench.protocols.labels.counts", "LabelCounts")
    title: ClassVar[str] = (
        "Each pixel has one predicted label, which gives a confusion matrix per image, mIoU, Dice and accuracies."
    )
    examples: ClassVar[tuple[str, ...]] = (
        "GT PRED --classes 0-18",
        "GT PRED --classes classes.txt -o results.segbench",
    )

    classes: int | Sequence[int] | str | None = option(
        "Name the classes: 0-18, road=0,car=13, or a file with a label and a name per line.",
        metavar="CLASSES",
        read=classes_of,
        also=("names",),
        panel="Ground truth",
        shown="two-valued masks",
    )
    names: Sequence[str] | None = None
    void: Sequence[int] | None = rules.void_option(
        "Leave out pixels with these ground-truth labels: 255, or 0,255, or none.",
        shown="255; none for masks",
        metavar="LABELS",
    )
    background: int | Sequence[int] | str = option(
        "Leave these classes out of means over classes: 0.",
        (),
        metavar="LABELS",
        read=str,
        measuring="apart",
        none="none leaves out no class",
        panel="Ground truth",
        shown="all classes are in them",
    )
    positive: rules.Positive | None = rules.rule_option(
        "Name the ground-truth values of masks that are positive: 255, '>=128' or 1,3.", shown="the larger of two"
    )
    predicted_positive: rules.Positive | None = rules.rule_option(
        "Name the values of predicted masks that are positive, as stored: '>=128', '>=0.5'.",
        shown="all but 0",
        of_predictions=True,
        rare=True,
    )
    gt_map: str | Mapping[int, int] = option(
        "Replace ground-truth labels: 7=0,8=1, ranges 1-150=0-149, all others '*=255'.", panel="Ground truth", **_MAP
    )
    pred_map: str | Mapping[int, int] = option("Replace predicted labels in the same way.", of_predictions=True, **_MAP)
    palette: str | Mapping[tuple[int, int, int], int] = option(
        "Read colour-coded label maps with a file of lines r,g,b,label,name, which also names the classes.",
        "",
        metavar="FILE",
        read=str,
        panel="Ground truth",
    )

    def __post_init__(self) -> None:
        check_settings(self)
        if self.palette != "":
            self._settle_palette()
        for name in ("gt_map", "pred_map"):
            set_fields(self, **{name: as_map_text(getattr(self, name), name)})
        for name in ("positive", "predicted_positive"):
            set_fields(self, **{name: rules.optional_rule(getattr(self, name), name)})
        if self.classes is not None:
            self._settle_classes(self.classes)
        elif self.names is not None:
            raise ArgumentError(
                Message(
                    "no-classes", "names are those of classes; list them, too: {classes}", classes=Setting("classes")
                )
            )
        elif self.background != ():
            raise ArgumentError(
                Message(
                    "no-classes",
                    "{given} is one of the classes; list them, too: {classes}",
                    given=Setting("background", None),
                    classes=Setting("classes", None),
                )
            )
        else:
            numbered = rules.numbered_by(self.positive, self.predicted_positive)
            void = rules.void_labels(() if self.void is None else self.void)
            set_fields(self, void=void, reads=replace(self.reads, numbered=numbered))

    def _settle_palette(self) -> None:
        from segbench.inputs.palette import as_palette, labels_in

        set_fields(self, palette=as_palette(self.palette), reads=COLOUR_MAPS)
        if self.classes is None:
            void = _VOID if self.void is None else rules.void_labels(self.void)
            named = {label: name for label, name in labels_in(str(self.palette)).items() if label not in void}
            set_fields(self, classes=tuple(named), names=self.names or tuple(named.values()))

    def _settle_classes(self, classes: int | Sequence[int] | str) -> None:
        for name in ("positive", "predicted_positive"):
            if getattr(self, name) is not None:
                raise ArgumentError(
                    Message(
                        "no-meaning",
                        "{given} has a meaning for masks only; leave it out, or {classes}",
                        given=Setting(name),
                        classes=Setting("classes"),
                    )
                )
        names: Sequence[str] | None = self.names
        if isinstance(classes, str):
            labels, read = classes_of(classes)
            names = read if names is None else names
        elif isinstance(classes, Integral):
            labels = tuple(range(min(as_whole(classes, "classes", least=1), MOST_CLASSES + 1)))
        else:
            given = listed(classes, "classes", "(0, 1)", most=MOST_CLASSES + 1)
            labels = tuple(as_whole(label, "classes") for label in given)
        refuse_many(labels)
        names = tuple(map(str, labels if names is None else names))
        void = rules.void_labels([label for label in _VOID if label not in labels] if self.void is None else self.void)
        refuse_unfit(labels, names, void)
        background = read_background(self.background, labels, names)
        set_fields(self, classes=labels, names=names, void=void, background=background)
        set_fields(self, reads=replace(self.reads, numbered=SIDES))

    @property
    def states_called(self) -> Mapping[int, str]:  # type: ignore[override]  # label maps have no false and missed pixels
        """What the pictures of label maps, or of masks, distinguish."""
        return OF_MASKS if self.masks else {State.FALSE: "wrong", State.IGNORED: "left out"}

    def measuring_settings(self) -> frozenset[str]:
        """Return all; masks have no background."""
        return super().measuring_settings() - (frozenset(("background",)) if self.masks else frozenset())

    @property
    def masks(self) -> bool:
        """Whether ground truth and predictions are masks."""
        return self.classes is None

    @cached_property
    def classes_text(self) -> str:
        """The classes as counts hold them."""
        return _MASK_CLASSES if self.masks else written_classes(self._labels, self._names)

    def signature_fields(self) -> dict[str, str]:
        fields = {
            "classes": _MASKS if self.masks else self.classes_text,
            "void": ",".join(map(str, self.void or ())) or "none",
        }
        if background := cast("tuple[int, ...]", self.background):
            fields["background"] = labels_text(background)
        if self.masks:
            fields["positive"] = str(self.positive or "larger")
            if self.predicted_positive is not None:
                fields["predicted_positive"] = str(self.predicted_positive)
        palette = hashlib.sha256(str(self.palette).encode()).hexdigest()[:8] if self.palette else ""
        maps = {"gt_map": str(self.gt_map), "pred_map": str(self.pred_map), "palette": palette}
        return fields | {name: text for name, text in maps.items() if text}

    @classmethod
    def measuring(cls, counts: Counts) -> Labels:
        """Make the protocol for counts: their classes decide what is measured."""
        classes = cast("LabelCounts", counts).classes
        if classes == _MASK_CLASSES:
            return cls()
        labels, names = read_classes(classes)
        return cls(classes=labels, names=names, void=())

    def metrics(self) -> tuple[Metric, ...]:
        from segbench.protocols.labels.metrics import TOTALS, metrics_of

        return (*metrics_of(len(self._labels), masks=self.masks), *TOTALS)

    def table(self, per_image: Mapping[str, LabelCounts]) -> LabelTable:
        from segbench.protocols.labels.metrics import LabelTable

        return LabelTable(per_image, self)

    def settle(
        self, facts: Mapping[str, Facts], *, excluded_by: Message = NOTHING, complete: bool = True, part: bool = False
    ) -> can.Settled:
        """Decide which value of masks is positive: images that hold it alone are counted the other way round."""
        if complete and not part:
            self.require_both_sides(facts, left_out_by=excluded_by)
        if self.positive is not None or not self.masks:
            return {}
        turned = rules.settled_positive(facts, excluded_by=excluded_by, complete=complete, part=part)
        return dict.fromkeys(turned, _swapped)

    def settle_alone(self, facts: Facts, file: str) -> Facts:
        """Take the larger value beside 0 of masks as positive, unless a rule says which is."""
        if self.masks and self.positive is None:
            return rules.positive_alone(facts, file)
        return super().settle_alone(facts, file)

    @property
    def axes(self) -> tuple[str, ...]:
        """Return the classes of label maps; masks have none."""
        return () if self.masks else ("class",)

    def divided(self, axis: str, per_image: Mapping[str, Any]) -> can.Division:
        """Take out each class against all others."""
        classes = zip(self._labels, self._names, strict=True)
        return divided_by_class(classes, per_image, self.of_class, self._one_against_others, why_not_pooled=_NOT_POOLED)

    def of_class(self, label: int) -> ClassAgainstOthers:
        """Return the protocol that measures one class against all others."""
        return ClassAgainstOthers(of=self, label=label, class_name=self._names[self._labels.index(label)])

    def _one_against_others(self, counts: LabelCounts, label: int, name: str) -> LabelCounts:
        """Return the counts of one class against all others; predictions outside the classes are another."""
        import numpy as np

        from segbench.protocols.labels.counts import LabelCounts

        place, matrix = self._labels.index(label), counts.matrix
        found, truth, predicted = matrix[place, place], matrix[place].sum(), matrix[:, place].sum()
        others = matrix.sum() - truth - (predicted - found)
        two = np.array([[others, predicted - found, 0], [truth - found, found, 0]])
        return LabelCounts(_against_others(name), two, counts.ignored)

    def count(self, sample: Sample) -> Counted:
        from segbench.inputs.label_maps import Masks
        from segbench.protocols.labels.counting import count_maps
        from segbench.protocols.labels.counts import LabelCounts

        found = self._masks(sample) if self.masks else Masks(self.maps_of(sample), sample.field)
        void = () if self.masks else self.void or ()  # void values of masks are not valid
        try:
            matrix, ignored = count_maps(
                found.maps, labels=self._labels, names=self._names, void=void, valid=found.valid, protocol="Labels"
            )
        except DataError as error:
            renumbered = None if self.masks else self._renumbered_in(found.maps, sample.field)
            if renumbered is None:
                raise
            raise DataError(error.path, joined([error.what, renumbered.what]), renumbered.fix) from None
        facts = found.facts if self.masks else self.classes_held(sample, matrix.sum(axis=1))
        notes = found.notes if self.masks else self.notes_on_numbers(found.maps, sample.field, matrix, ignored)
        if not any(note.doubt for note in notes):  # wrong maps explain labels outside the classes
            notes += doubts_on_labels(matrix)
        return Counted(LabelCounts(self.classes_text, matrix, ignored), facts, notes)

    def notes_on_numbers(
        self, maps: LabelMaps, valid: BoolArray | None, matrix: IntArray, ignored: int
    ) -> tuple[Note, ...]:
        """Say which numbers of labels the remappings do not expect, given what was counted under these."""
        from segbench.inputs.numberings import maps_to_try

        few_agree = 2 * int(matrix.trace()) < int(matrix.sum()) + ignored
        many_outside = bool(self.gt_map and self.pred_map) and _MANY * int(matrix[:, -1].sum()) > int(matrix.sum())
        joined = tuple(self._notes_on_joined(maps))
        instances = maps.may_hold_instances
        odd = few_agree or many_outside or joined or instances
        others_known = instances or len(maps_to_try(self._labels, (str(self.gt_map), str(self.pred_map)))) > 1
        renumbered = self._renumbered_in(maps, valid) if odd and others_known else None
        if renumbered is None:
            return joined
        message = Message("other-numbers", "{what}: {fix}", what=renumbered.what, fix=renumbered.fix)
        return (Note(message, doubt=True),)

    def stored(self, sample: Sample) -> StoredLabels:
        """Count the pairs of values of an image as they are stored."""
        from segbench.inputs.numberings import StoredLabels

        return StoredLabels.of(self.maps_of(sample), sample.field)

    def _renumbered_in(self, maps: LabelMaps, valid: BoolArray | None) -> Renumbered | None:
        """Find the remappings that the values of an image need as they are stored."""
        from segbench.inputs.numberings import StoredLabels

        return self.renumbered(StoredLabels.of(maps, valid))

    def renumbered(self, stored: StoredLabels) -> Renumbered | None:
        """Find the maps under which stored values have the numbers of the classes; None if those given are right."""
        from segbench.inputs.numberings import find_numberings

        return find_numberings(stored, self._labels, self.void or (), str(self.gt_map), str(self.pred_map))

    def renumbered_pairs(self, truth: IntArray, predicted: IntArray, pixels: IntArray) -> Renumbered | None:
        """Find the same for pairs of values that are listed, each with its pixels."""
        from segbench.inputs.numberings import StoredLabels

        return self.renumbered(StoredLabels.of_pairs(truth, predicted, pixels))

    def classes_held(self, sample: Sample, pixels: IntArray) -> Facts:
        """Give two classes in an image by the pixels of each; where it has fewer, also what is left out as void."""
        found = [label for label, number in zip(self._labels, pixels, strict=True) if number][:2]
        if len(found) < 2:
            truth = self.maps_of(sample).truth.remapped().labels
            found += [label for label in self.void or () if (truth == label).any()]
        return tuple(map(float, found))

    def predicted_outside(self, sample: Sample) -> dict[int, IntArray]:
        import numpy as np

        truth, predicted = (each.labels for each in self.maps_of(sample).remapped())
        wrong = np.isin(truth, self._labels) & ~np.isin(predicted, self._labels)
        wrong &= True if sample.field is None else sample.field
        labels, codes = np.unique(predicted[wrong], return_inverse=True)
        codes += places_of(truth[wrong], self._labels) * labels.size
        counts = np.bincount(codes, minlength=len(self._labels) * labels.size).reshape(-1, max(labels.size, 1))
        return dict(zip(map(int, labels), counts.T, strict=False))

    def left_out(self, sample: Sample) -> can.LeftOut:
        """Compare predictions with the ground truth where that is void or outside the field of view."""
        import numpy as np

        stored = self.maps_of(sample)
        truth, predicted = (each.labels for each in stored.remapped())
        valid = rules.where_not_void(truth, self.void or (), sample.field)
        if valid is None:
            return can.LeftOut()
        zeros = (stored.truth.labels == 0) & np.isin(truth, self.void or ())
        classes = np.count_nonzero(np.isin(predicted[zeros], self._labels))
        labels = tuple(label for label in self.void or () if (predicted == label).any())
        same = bool((truth == predicted)[~valid].all())
        return can.LeftOut(same, int(np.count_nonzero(zeros)), int(classes), labels)

    def joined(self, sample: Sample) -> dict[str, list[int]]:
        """Give the values in an image that keep a number which a remapping gives others, where that is a class."""
        return self._joined(self.maps_of(sample)) if self.gt_map or self.pred_map else {}

    def _joined(self, maps: LabelMaps) -> dict[str, list[int]]:
        from segbench.core.arrays import distinct

        found = {}
        for name, each in zip(("gt_map", "pred_map"), maps, strict=True):
            if unclear := each.mapping.ambiguous.intersection(self._labels):
                found[name] = sorted(unclear.intersection(map(int, distinct(each.labels).tolist())))
        return found

    def _notes_on_joined(self, maps: LabelMaps) -> Iterator[Note]:
        """Say which values a remapping leaves as they are, so that they count as the classes of others."""
        for name, values in self._joined(maps).items():
            if values:
                message = Message(
                    "values-joined",
                    "values that {given} does not name count as the classes of others",
                    given=Setting(name, str(getattr(self, name))),
                )
                side: Side = "ground truth" if name == "gt_map" else "prediction"
                yield Note(message, side, detail=rules.listed(values))

    def require_both_sides(
        self, facts: Mapping[str, Facts], where: str = "the whole set", *, left_out_by: Message = NOTHING
    ) -> None:
        """Refuse masks without a positive, or negative, pixel by the rule, and label maps of one class beside void."""
        if not self.masks:
            rules.require_two_classes(facts, self._labels, where, _count_void)
        elif self.positive is not None:
            rules.LabelRule.parse(self.positive).require_both_sides(facts, left_out_by=left_out_by, where=where)

    def states(self, sample: Sample, threshold: float, counts: LabelCounts | None = None) -> NDArray[np.uint8]:
        """Mark wrong pixels; of masks true, false and missed ones."""
        return self._states_of_masks(sample, counts) if self.masks else self._states(sample, self.maps_of(sample))

    def _states_of_masks(self, sample: Sample, counts: LabelCounts | None) -> NDArray[np.uint8]:
        (truth, predicted), valid, *_ = self._masks(sample)
        all_positive = self.positive is None and counts is not None and not counts.matrix[0].any()
        return states_of_labels(truth.labels | all_positive, predicted.labels, valid)

    def _states(self, sample: Sample, maps: LabelMaps) -> NDArray[np.uint8]:
        import numpy as np

        truth, predicted = (each.labels for each in maps.remapped())
        states: NDArray[np.uint8] = np.where(truth == predicted, State.NOTHING, State.FALSE).astype(np.uint8)
        valid = rules.where_not_void(truth, self.void or (), sample.field)
        if valid is not None:
            states[~valid] = State.IGNORED
        return states

    def pictures(self, sample: Sample, counts: LabelCounts, thresholds: FloatArray) -> Pictures:
        """Draw an image for the report page: both label maps in colours of classes; masks in black and white."""
        import numpy as np

        from segbench.core.pictures import Pictures

        rank = image_headline(self.metrics())
        metrics = {rank.name_for_images: np.array([self.table({"": counts}).summary()[rank.key]])}
        if self.masks:
            states = self._states_of_masks(sample, counts)
            truth, predicted = (np.isin(states, [State.TRUE, one]) for one in (State.MISSED, State.FALSE))
            white = np.uint8(255)
            drawn, ranks = truth * white, truth.astype(np.int64)
            return Pictures(drawn, ranks, states=[states], soft=predicted * white, metrics=metrics)
        labels = self._labels
        if len(labels) > _MOST_DRAWN:
            what = Message(
                "too-many-classes",
                "{classes} classes, expected at most {most} for the pictures of a report",
                classes=len(labels),
                most=_MOST_DRAWN,
            )
            overlay = Either("export_overlays", "segbench overlay")
            hint = Message("fix", "{overlay} draws right and wrong pixels of any number", overlay=overlay)
            raise DataError(sample.name, what, hint)
        maps = self.maps_of(sample).remapped()
        states = self._states(sample, maps)
        drawn, classes = (places_of(each.labels, labels).astype(np.uint8) for each in maps)
        drawn[states == State.IGNORED] = len(labels) + 1
        ranks = (states == State.FALSE).astype(np.int64)
        return Pictures(drawn, ranks, states=[states], classes=classes, metrics=metrics)

    @property
    def _labels(self) -> tuple[int, ...]:
        """The labels of the classes, of masks those they are counted as."""
        return (0, 1) if self.masks else cast("tuple[int, ...]", self.classes)

    @property
    def _names(self) -> tuple[str, ...]:
        """The names of the classes; none of masks."""
        return tuple(self.names or ())

    def maps_of(self, sample: Sample) -> LabelMaps:
        """Return the label maps of an image."""
        from segbench.inputs.label_maps import label_maps

        texts = {name: str(getattr(self, name)) for name in ("palette", "gt_map", "pred_map")}
        return label_maps(sample, labels=self._labels, protocol="Labels", **texts)

    def _masks(self, sample: Sample) -> Masks:
        from segbench.inputs.label_maps import masks_in
        from segbench.inputs.stacks import is_one_map

        maps = self.maps_of(sample).remapped()
        shapes = tuple(sample.predictions[0].shape), sample.ground_truths[0].shape
        if self.predicted_positive is not None and len(shapes[0]) > len(shapes[1]) and not is_one_map(*shapes):
            rule = Setting("predicted_positive")
            what = Message(
                "stack-and-rule", "is a stack of two maps, of which the higher one counts, beside {rule}", rule=rule
            )
            fix = Message("fix", "leave out {given}, or save one map", given=rule)
            raise DataError(sample.predicted_file, what, fix)
        settings: dict[str, Any] = {"positive": self.positive, "predicted_positive": self.predicted_positive}
        wrong = next((hole.pixels for hole in sample.nodata if hole), None)
        return masks_in(maps, sample.field, void=self.void or (), wrong=wrong, **settings)


@dataclass(frozen=True, kw_only=True)
class ClassAgainstOthers(OneClass, Labels):
    """The labels protocol for one class against all others: a part of a result of many classes."""

    of: Labels
    label: int
    class_name: str

    @cached_property
    def classes_text(self) -> str:
        """The two classes: all others, and this one."""
        return _against_others(self.class_name)

    def metrics(self) -> tuple[Metric, ...]:
        """Return the metrics of the positive class."""
        from segbench.protocols.labels.metrics import POSITIVE, TOTALS

        return (*POSITIVE, *TOTALS[2:])


def _against_others(name: str) -> str:
    return f"not {name}=0,{name}=1" if not name.isdecimal() else f"other labels=0,label {name}=1"


def doubts_on_labels(matrix: IntArray) -> tuple[Note, ...]:
    """Doubt predicted labels that are not classes, given the confusion matrix of an image."""
    outside = int(matrix[:, -1].sum())
    detail = Message("pixels", "{pixels:many pixel}", pixels=outside)
    return (Note(_OUTSIDE, "prediction", doubt=True, detail=detail),) if outside else ()


def _count_void(void: int, missing: int) -> Message:
    """Say how to count a label that is void as a class that no pixel has."""
    gt_map, pred_map = (Setting(name, f"{void}={missing}") for name in ("gt_map", "pred_map"))
    return Message(
        "fix",
        "for masks leave out {given}; or count it: {gt_map}, and {pred_map} if predictions hold it, too",
        given=Setting("classes"),
        gt_map=gt_map,
        pred_map=pred_map,
    )


def _swapped(counts: LabelCounts) -> LabelCounts:
    """Count as positive what was counted as negative: an image that turned out to hold the positive value alone."""
    return replace(counts, matrix=counts.matrix[::-1])
