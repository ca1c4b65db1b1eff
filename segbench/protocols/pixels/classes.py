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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, cast

from segbench.core import protocol as can
from segbench.core.counts import Counts, counts_in
from segbench.core.metric import CLASSES_PRESENT, Metric
from segbench.core.protocol import Counted, Protocol, inputs_of, take_settings
from segbench.core.sample import Reading, Sample
from segbench.core.settings import Quantize, check_settings, option_like, set_fields
from segbench.inputs.class_names import written_classes
from segbench.inputs.scored_classes import ScoredClasses
from segbench.protocols.pixels.settings import Pixels

if TYPE_CHECKING:
    from segbench.protocols.pixels.class_metrics import ClassCounts, ClassTable


@dataclass(frozen=True, kw_only=True)
class Classes(Protocol, can.FromCounts, can.MeasuredBySet, can.Divided):
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
    reads: ClassVar[Reading] = ScoredClasses.reads
    counts = counts_in("segbench.protocols.pixels.class_metrics", "ClassCounts")
    title: ClassVar[str] = "Each pixel is scored separately, one class at a time, against the label map."

    labels: Sequence[int] = option_like(ScoredClasses, "labels")
    names: Sequence[str] | None = None
    void: Sequence[int] = option_like(ScoredClasses, "void")
    invert: bool = option_like(ScoredClasses, "invert")
    quantize: Quantize | None = option_like(ScoredClasses, "quantize")
    at: tuple[float, ...] = option_like(Pixels, "at")
    calibration: bool = option_like(Pixels, "calibration")

    def __post_init__(self) -> None:
        check_settings(self)
        set_fields(self, at=self._of_each_class.at)
        take_settings(self)

    @cached_property
    def inputs(self) -> ScoredClasses:
        classes: ScoredClasses = inputs_of(ScoredClasses, self)
        return classes

    @cached_property
    def _of_each_class(self) -> Pixels:
        """The protocol that measures each class."""
        return Pixels(invert=self.invert, quantize=self.quantize, at=self.at, calibration=self.calibration)

    def signature_fields(self) -> dict[str, str]:
        of_class = self._of_each_class.signature_fields()
        del of_class["positive"], of_class["void"]
        classes = written_classes(self.labels, self.inputs.class_names)
        return {"classes": classes, "void": ",".join(map(str, self.void)) or "none"} | of_class

    def metrics(self) -> tuple[Metric, ...]:
        from segbench.protocols.pixels.class_metrics import TOTALS, metrics_of

        return (CLASSES_PRESENT, *metrics_of(self._of_each_class.metrics()), *TOTALS)

    def table(self, per_image: Mapping[str, ClassCounts], *, of_set: Counts | None = None) -> ClassTable:
        from segbench.protocols.pixels.class_metrics import ClassTable

        return ClassTable(per_image, cast("ClassCounts | None", of_set), class_protocol=self._of_each_class)

    @classmethod
    def measuring(cls, counts: Counts) -> Classes:
        """Return the protocol for counts: their classes decide what is measured."""
        names = cast("ClassCounts", counts).names
        return cls(labels=range(len(names)), names=[f"class {name}" for name in names], void=())

    @property
    def axes(self) -> tuple[str, ...]:
        return ("class",)

    def divided(self, axis: str, per_image: Mapping[str, Any]) -> can.Division:
        """Return the counts of each class against all others, as those of `Pixels`; pooled, they are added up."""
        from segbench.protocols.pixels.class_metrics import of_class

        parts = {
            name: can.Part(self._of_class(label), {"class": name}, of_class(per_image, name))
            for label, name in zip(self.labels, self.inputs.class_names, strict=True)
        }
        return can.Division(parts, partial(self._added_up, per_image))

    def _added_up(self, per_image: Mapping[str, Any]) -> can.Part:
        """Return all classes added up: every pixel is a case of each class."""
        from segbench.protocols.pixels.class_metrics import micro_of

        names = {"class": "micro", "positive": written_classes(self.labels, self.inputs.class_names)}
        return can.Part(self._of_class(None), names, micro_of(per_image))

    def _of_class(self, label: int | None) -> Pixels:
        """Return the protocol that measures the counts of one class, or of all added up."""
        positive = None if label is None else str(label)
        return replace(self._of_each_class, positive=positive, void=tuple(map(float, self.void)))

    def count(self, sample: Sample) -> Counted:
        """Count one image, class by class."""
        from segbench.protocols.pixels.class_metrics import ClassCounts
        from segbench.protocols.pixels.counting import count_pixels

        image = self.inputs.interpret(sample)
        counts = tuple(map(count_pixels, image.of_each_class()))
        doubts = [doubt for of_class in counts for doubt in self._of_each_class.doubts(of_class)]
        return Counted(ClassCounts(self.inputs.class_names, counts), image.facts, (*image.notes, *doubts[:1]))
