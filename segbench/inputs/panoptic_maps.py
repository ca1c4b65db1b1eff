"""Panoptic maps, whose values are segments with classes; light to import, as settings are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, cast

from segbench.core.errors import ArgumentError
from segbench.core.messages import Message, Setting
from segbench.core.protocol import InputSettings
from segbench.core.sample import SIDES, Reading, Sample
from segbench.core.settings import as_whole, listed, option, option_like, read_whole, set_fields
from segbench.inputs.class_label_maps import ClassLabelMaps
from segbench.inputs.class_names import read_classes, refuse_many
from segbench.inputs.class_regions import MOST_CLASSES
from segbench.inputs.instance_maps import INSTANCE_MAPS
from segbench.inputs.label_rules import void_labels
from segbench.inputs.numbered_objects import NO_LABEL_MAP, components_of_soft_maps

if TYPE_CHECKING:
    from segbench.inputs.segments import PanopticPair

_NO_VOLUMES = "panoptic maps are matched in images of two dimensions"


@dataclass(frozen=True, kw_only=True)
class PanopticMaps(InputSettings):
    """Maps of segments: class * divisor + instance, ids that a JSON describes, or two files, classes and instances."""

    divisor: int | None = option(
        "Read panoptic maps of class * N + instance.",
        metavar="N",
        read=read_whole,
        example="1000",
        panel="Ground truth",
        shown="JSON",
    )
    classes: int | Sequence[int] | str | None = option_like(
        ClassLabelMaps,
        "classes",
        help="Name the classes of panoptic maps without a JSON: 7-33, or road=7,car=26, or a file.",
        shown="those found",
    )
    names: Sequence[str] | None = None
    things: str | Sequence[int] = option(
        "Say which classes are things: 24-28,31 or person,car.",
        (),
        metavar="CLASSES",
        read=str,
        panel="Ground truth",
        shown="none",
        rare=True,
    )
    void: Sequence[int] | None = None
    """Classes that are void; None for 0, unless that is a class."""
    reads: ClassVar[Reading] = INSTANCE_MAPS

    def __post_init__(self) -> None:
        reads = INSTANCE_MAPS
        if self.divisor is None:
            from segbench.inputs.descriptions import PANOPTIC_MAPS

            reads = PANOPTIC_MAPS
        else:
            set_fields(self, divisor=as_whole(self.divisor, Setting("divisor", None), least=2, most=2**31))
        set_fields(self, reads=replace(reads, instances="", numbered=SIDES, without_volumes=_NO_VOLUMES))
        void = self.void
        if self.classes is not None or self.names is not None:
            rules = ClassLabelMaps(classes=self.classes, names=self.names, void=() if void is None else void)
            set_fields(self, classes=rules.classes, names=rules.names)
        if void is None:
            void = () if 0 in self._labels else (0,)
        set_fields(self, void=void_labels(void))
        set_fields(self, things=self._read_things())

    @property
    def _labels(self) -> tuple[int, ...]:
        """The labels of the classes that are named."""
        return tuple(cast("Sequence[int]", self.classes or ()))

    def _read_things(self) -> tuple[int, ...]:
        """Read the labels of the classes that are things."""
        things = tuple(self._labels_of(self.things)) if isinstance(self.things, str) else self.things
        values = listed(things, "things", "(24, 26)", most=MOST_CLASSES + 1)
        refuse_many(values)
        labels = tuple(as_whole(label, Setting("things", None)) for label in values)
        wrong = [label for label in labels if (self._labels and label not in self._labels) or label == 0]
        if wrong:
            raise ArgumentError(
                Message(
                    "unfit-things",
                    "{given} holds {label}, expected some of the classes, without 0",
                    given=Setting("things", None),
                    label=wrong[0],
                )
            )
        return labels

    def _labels_of(self, text: str) -> Sequence[int]:
        """Read labels and names of classes between commas."""
        known = dict(zip(self.names or (), self._labels, strict=True))
        parts = [part.strip() for part in text.split(",") if part.strip()]
        return [label for part in parts for label in ([known[part]] if part in known else read_classes(part)[0])]

    def interpret(self, sample: Sample) -> PanopticPair:
        """Return the maps of both sides and what their values are."""
        from segbench.inputs import segments
        from segbench.inputs.overlaps import Overlaps

        truth, predicted = segments.numbers_of_segments(sample, self.divisor, NO_LABEL_MAP)
        overlaps = Overlaps.of(truth, predicted)
        true_segments, predicted_segments, classes = segments.segments_in(sample, overlaps, self)
        return segments.PanopticPair(
            truth=truth,
            predicted=predicted,
            overlaps=overlaps,
            true_segments=true_segments,
            predicted_segments=predicted_segments,
            classes=classes,
            notes=segments.notes_on_classes(sample, overlaps, self),
        )

    @property
    def why_not_arrays(self) -> Message | str:
        """Why images cannot come as arrays: a JSON is a file."""
        if self.divisor is not None:
            return ""
        return Message(
            "no-arrays",
            "arrays have no JSON; give maps of class times divisor plus instance, and {divisor}",
            divisor=Setting("divisor", 1000),
        )

    @property
    def instead_of_soft_maps(self) -> Message:
        """How to count soft maps: their components."""
        return components_of_soft_maps()
