"""Label maps of classes: which labels are classes or void, in which numbers or colours they are stored."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import TYPE_CHECKING, cast

from segbench.core.errors import ArgumentError, DataError
from segbench.core.messages import NOTHING, Message, Note, Setting, joined
from segbench.core.protocol import Facts
from segbench.core.sample import SIDES, Sample, Side
from segbench.core.settings import as_whole, listed, option, set_fields
from segbench.inputs import label_rules as rules
from segbench.inputs.class_names import ClassLabels, classes_of, refuse_many, refuse_unfit, void_beside
from segbench.inputs.class_regions import (
    MOST_CLASSES,
    ClassLabel,
    as_class_label,
    counted_labels,
    has_regions,
    names_of_labels,
)
from segbench.inputs.label_inputs import LabelInputs
from segbench.loaders.reading import COLOUR_MAPS, LABEL_MAPS

if TYPE_CHECKING:
    from segbench.core.arrays import BoolArray, IntArray
    from segbench.inputs.confusion import ClassesOfPixels
    from segbench.inputs.label_maps import LabelMaps
    from segbench.inputs.numberings import Renumbered, StoredLabels

VOID = (255,)
"""What is void beside classes if nobody says so, unless it is one of them."""
_OUTSIDE = Message("labels-outside", "labels outside the classes count as wrong")
_MANY = 64
"""Of as many pixels one that is predicted outside the classes is reason enough to compare the values as stored."""


@dataclass(frozen=True, kw_only=True)
class ClassLabelMaps(LabelInputs):
    """A label map of classes on both sides, or the scores of all classes as the prediction.

    Parameters
    ----------
    classes : int, sequence or str, optional
        The labels of the classes: a number of them from 0, labels, regions of several labels, or a text, see
        `segbench.Labels`. None: those of the palette.
    names : sequence of str, optional
        What the classes are called; by default by their labels.
    void : sequence of int, optional
        Ground-truth labels of pixels that are left out; by default 255, unless it is one of the classes.
    palette : str, path or mapping of (r, g, b) to label, optional
        The label of each colour. Without `classes`, its labels but void ones are the classes.

    Raises
    ------
    ArgumentError
        If a label or a name comes twice, a label is a class and void, a name cannot be one, or a remapping is none.
    """

    classes: int | Sequence[ClassLabel | Sequence[int]] | str | None = option(
        "Name the classes: 0-18, road=0,car=13, regions WT=1+2+3,ET=3, a file with a label and a name per line, or "
        "nnU-Net's dataset.json.",
        metavar="CLASSES",
        read=classes_of,
        also=("names",),
        panel="Ground truth",
    )
    names: Sequence[str] | None = None
    void: Sequence[int] | None = rules.void_option(
        "Leave out pixels with these ground-truth labels: 255, or 0,255, or none.", shown="255", metavar="LABELS"
    )
    palette: str | Mapping[tuple[int, int, int], int] = option(
        "Read colour-coded label maps with a file of lines r,g,b,label,name, which also names the classes.",
        "",
        metavar="FILE",
        read=str,
        panel="Ground truth",
    )

    def __post_init__(self) -> None:
        if self.palette != "":
            self._settle_palette()
        super().__post_init__()
        if self.classes is None and self.names is not None:
            raise ArgumentError(
                Message(
                    "no-classes", "names are those of classes; list them, too: {classes}", classes=Setting("classes")
                )
            )
        self._settle_classes(() if self.classes is None else self.classes)
        set_fields(self, reads=replace(COLOUR_MAPS if self.palette else LABEL_MAPS, numbered=SIDES))

    def _settle_palette(self) -> None:
        """Read the palette, and the classes that it names."""
        from segbench.inputs.palette import as_palette, labels_in

        set_fields(self, palette=as_palette(self.palette))
        if self.classes is None:
            void = VOID if self.void is None else rules.void_labels(self.void)
            name_of_label = {label: name for label, name in labels_in(str(self.palette)).items() if label not in void}
            set_fields(self, classes=tuple(name_of_label), names=self.names or tuple(name_of_label.values()))

    def _settle_classes(self, classes: int | Sequence[ClassLabel | Sequence[int]] | str) -> None:
        """Read the labels and names of the classes, and which labels are void."""
        labels: tuple[ClassLabel, ...]
        names: Sequence[str] | None = self.names
        otherwise = void_beside(classes, VOID)
        if isinstance(classes, str):
            labels, written_names = classes_of(classes)
            otherwise = void_beside(labels, VOID)
            names = written_names if names is None else names
        elif isinstance(classes, Integral):
            labels = tuple(range(min(as_whole(classes, "classes", least=1), MOST_CLASSES + 1)))
        else:
            values = listed(classes, "classes", "(0, 1)", most=MOST_CLASSES + 1)
            labels = classes if isinstance(classes, ClassLabels) else tuple(map(as_class_label, values))
        refuse_many(labels)
        names = tuple(map(str, labels if names is None else names))
        otherwise = tuple(label for label in otherwise if label not in counted_labels(labels))
        void = rules.void_labels(otherwise if self.void is None else self.void)
        refuse_unfit(labels, names, void)
        set_fields(self, classes=labels, names=names, void=void)

    @cached_property
    def labels(self) -> tuple[int, ...]:
        """The labels that are counted: of the classes, or of all regions, and 0, which is outside these."""
        return counted_labels(self._classes)

    @cached_property
    def class_names(self) -> tuple[str, ...]:
        """What these are called."""
        return names_of_labels(*self.named_classes)

    @property
    def named_classes(self) -> tuple[tuple[ClassLabel, ...], tuple[str, ...]]:
        """Labels and names of the classes, some of which may be regions."""
        return self._classes, cast("tuple[str, ...]", self.names)

    @property
    def regions(self) -> bool:
        """Whether some classes are regions of several labels."""
        return has_regions(self._classes)

    @property
    def _classes(self) -> tuple[ClassLabel, ...]:
        return cast("tuple[ClassLabel, ...]", self.classes)

    @property
    def masks(self) -> bool:
        """Return False: no class is positive."""
        return False

    @property
    def signed_maps(self) -> dict[str, str]:
        """What replaces values, as fields of signatures have it, with a short hash of the palette."""
        if not self.palette:
            return super().signed_maps
        return super().signed_maps | {"palette": hashlib.sha256(str(self.palette).encode()).hexdigest()[:8]}

    @property
    def _palette(self) -> str:
        return str(self.palette)

    def interpret(self, sample: Sample) -> ClassesOfPixels:
        """Return the label maps of an image, as they are stored, and the classes of its pixels.

        True labels that are neither a class nor void are refused; where labels have other numbers than the classes, the
        error says which.
        """
        from segbench.inputs.confusion import ClassesOfPixels, count_maps

        maps, void, protocol = self.maps_of(sample), self.void or (), self.asked_by
        valid = self.counted_pixels(maps, sample)
        try:
            matrix, ignored = count_maps(
                maps, labels=self.labels, named=self.named_classes, void=void, valid=valid, protocol=protocol
            )
        except DataError as error:
            renumbered = None if error.kind == "intensities" else self._renumbered_in(maps, valid)
            if renumbered is None:
                raise
            raise DataError(error.path, joined([error.what, renumbered.what]), renumbered.fix) from None
        notes = self._notes_on_numbers(maps, valid, matrix, ignored)
        if not any(note.doubt for note in notes):  # wrong maps explain labels outside the classes
            notes += _doubts_on_labels(matrix)
        facts = self._classes_held(maps, matrix.sum(axis=1))
        return ClassesOfPixels(facts=facts, notes=notes, maps=maps, valid=valid, matrix=matrix, ignored=ignored)

    def counted_pixels(self, maps: LabelMaps, sample: Sample) -> BoolArray | None:
        """Mark where pixels count that are not void; None for everywhere."""
        if not (self.void_band or self.only_band):
            return sample.field
        truth = maps.truth.remapped().labels
        return self.counted_in(truth, rules.equals_any(truth, tuple(map(float, self.void or ()))), sample)

    def _classes_held(self, maps: LabelMaps, pixels: IntArray) -> Facts:
        """Return two classes in an image by the pixels of each; where it has fewer, also what is left out as void."""
        labels_present = [label for label, number in zip(self.labels, pixels, strict=True) if number][:2]
        if len(labels_present) < 2:
            truth = maps.truth.remapped().labels
            labels_present += [label for label in self.void or () if (truth == label).any()]
        return tuple(map(float, labels_present))

    def settle(
        self, facts: Mapping[str, Facts], *, excluded_by: Message = NOTHING, complete: bool = True, part: bool = False
    ) -> frozenset[Facts]:
        """Refuse sets with one class beside void."""
        if complete and not part:
            self.require_both_sides(facts)
        return frozenset()

    def require_both_sides(self, facts: Mapping[str, Facts], where: str = "the whole set") -> None:
        """Refuse label maps of one class beside void."""
        rules.require_two_classes(facts, self.labels, where, _count_void)

    def _notes_on_numbers(
        self, maps: LabelMaps, valid: BoolArray | None, matrix: IntArray, ignored: int
    ) -> tuple[Note, ...]:
        """Say which numbers of labels the remappings do not expect, given what was counted under these."""
        from segbench.inputs.numberings import maps_to_try

        few_agree = 2 * int(matrix.trace()) < int(matrix.sum()) + ignored
        many_outside = bool(self.gt_map and self.pred_map) and _MANY * int(matrix[:, -1].sum()) > int(matrix.sum())
        joined = tuple(self._notes_on_joined(maps))
        instances = maps.may_hold_instances
        odd = few_agree or many_outside or joined or instances
        others_known = instances or len(maps_to_try(self.labels, (str(self.gt_map), str(self.pred_map)))) > 1
        renumbered = self._renumbered_in(maps, valid) if odd and others_known else None
        if renumbered is None:
            return joined
        message = Message("other-numbers", "{what}: {fix}", what=renumbered.what, fix=renumbered.fix)
        return (Note(message, doubt=True),)

    def _notes_on_joined(self, maps: LabelMaps) -> Iterator[Note]:
        """Say which values a remapping leaves as they are, so that they count as the classes of others."""
        for name, values in self.joined_in(maps).items():
            if values:
                message = Message(
                    "values-joined",
                    "values that {given} does not name count as the classes of others",
                    given=Setting(name, str(getattr(self, name))),
                )
                side: Side = "ground truth" if name == "gt_map" else "prediction"
                yield Note(message, side, detail=rules.listed(values))

    def stored(self, sample: Sample) -> StoredLabels:
        """Count the pairs of values of an image as they are stored."""
        from segbench.inputs.numberings import StoredLabels

        return StoredLabels.of(self.maps_of(sample), sample.field)

    def renumbered(self, stored: StoredLabels) -> Renumbered | None:
        """Find the maps under which stored values have the numbers of the classes; None if those given are right."""
        from segbench.inputs.numberings import find_numberings

        return find_numberings(stored, self.labels, self.void or (), str(self.gt_map), str(self.pred_map))

    def _renumbered_in(self, maps: LabelMaps, valid: BoolArray | None) -> Renumbered | None:
        """Find the same for the label maps of an image."""
        from segbench.inputs.numberings import StoredLabels

        return self.renumbered(StoredLabels.of(maps, valid))


def _doubts_on_labels(matrix: IntArray) -> tuple[Note, ...]:
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
