"""Settings of the objects protocol: what objects are, how they are written in files, and when one is found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, cast

from segbench.core import protocol as can
from segbench.core.counts import Counts, counts_in
from segbench.core.errors import ArgumentError, DataError
from segbench.core.messages import Message, Setting
from segbench.core.metric import Metric
from segbench.core.numbers import written
from segbench.core.protocol import Counted, Protocol, inputs_of, take_settings
from segbench.core.sample import Reading, Sample
from segbench.core.settings import (
    as_real,
    as_whole,
    check_choice,
    check_settings,
    listed,
    option,
    option_like,
    read_numbers,
    read_whole,
    set_fields,
)
from segbench.inputs.class_names import written_classes
from segbench.inputs.cut_masks import CONNECTIVITY, CutMasks, ThresholdOfSet
from segbench.inputs.instance_maps import INSTANCE_MAPS
from segbench.inputs.label_rules import Positive
from segbench.inputs.numbered_objects import NO_LABEL_MAP, NumberedObjects
from segbench.inputs.object_kinds import COMPONENTS, INSTANCES, PANOPTIC, Kind
from segbench.inputs.panoptic_maps import PanopticMaps
from segbench.loaders.reading import MASKS
from segbench.protocols.one_class import OneClass, divided_by_class
from segbench.protocols.registry import protocols
from segbench.protocols.states import State

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from segbench.core.arrays import Array, FloatArray
    from segbench.core.metric import Summary
    from segbench.core.pictures import Pictures
    from segbench.core.table import Table
    from segbench.protocols.objects.counts import ObjectCounts

_MOST_PIXELS = 2**30
_PIXELS: Mapping[str, Any] = {"metavar": "N", "read": read_whole, "example": "10", "rare": True}
_NOT_POOLED = "panoptic quality is defined by class, and averaged; f1@0.5 and its like pool the segments of all classes"
_DECIMALS = 10**6
_ONLY_OF: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("divisor", "classes", "names", "things"), (PANOPTIC,)),
    **dict.fromkeys(("at", "positive", "connectivity", "min_true", "min_predicted"), (COMPONENTS,)),
    "iou": (INSTANCES, PANOPTIC),
}


def _name_instances(_values: Sequence[float]) -> Message:
    """Say how label maps are counted, where masks are expected."""
    return Message("fix", "for numbers of objects give {kind}", kind=Setting("kind", INSTANCES))


@dataclass(frozen=True, kw_only=True)
class Objects(Protocol, can.Verb, can.FromCounts, can.TwoPasses, can.Divided, can.Pictured):
    """Settings of the objects protocol.

    Parameters
    ----------
    kind : {"instances", "panoptic", "components"}, optional
        What objects are: the values of label maps, segments with classes, or the connected components of masks. By
        default panoptic with a `divisor`, instances without.
    iou : float or sequence of float
        Thresholds of IoU of F1, precision, recall and AP, from .5 to 1, with at most six decimal places; not of
        components.
    divisor : int, optional
        Panoptic maps hold ``class * divisor + instance`` with a divisor of at least 2, and below it classes alone:
        stuff, or crowds of things. None: a JSON of COCO's format lies beside each folder, or each image has a file of
        classes and one of instances.
    classes : int, sequence of int or str, optional
        The classes of panoptic maps without a JSON, as in `Labels`. None: all values but those of `void`.
    names : sequence of str, optional
        What these are called; by default by their labels.
    things : str or sequence of int
        Which of the classes are things: ``"24-28,31"``, labels or names.
    void : sequence of int, optional
        Of instances and masks: ground-truth values of pixels that are left out on both sides. Of panoptic maps with a
        divisor, or two files: classes that are void; by default 0, unless it is one of the classes.
    at : float or "best", optional
        Predicted masks are the scores above this, or above the threshold of the best F1 of all pixels of the set. None:
        predictions are masks.
    positive : str, float or sequence of float, optional
        Of masks: which ground-truth values belong to the mask, as in `Pixels`. None: 0 does not, the only other does.
    connectivity : {8, 4}
        Whether pixels of components touch at corners, too.
    min_true, min_predicted : int
        Predicted components of fewer pixels are removed; then true ones become void, with what is predicted there.

    Raises
    ------
    ArgumentError
        If a setting is out of range, or has no meaning for this kind.

    Examples
    --------
    >>> Objects(divisor=1000).kind
    'panoptic'
    >>> Objects(iou=0.5).signature_fields()
    {'kind': 'instances', 'void': 'none', 'iou': '0.5'}
    """

    name: ClassVar[str] = "objects"
    reads: ClassVar[Reading] = INSTANCE_MAPS
    counts = counts_in("segbench.protocols.objects.counts", "ObjectCounts")
    title: ClassVar[str] = (
        "Objects are matched one to one by their IoU: panoptic quality, F1 and AP of instances, components of masks."
    )
    examples: ClassVar[tuple[str, ...]] = (
        "GT PRED --iou 0.5,0.75",
        "GT PRED --kind panoptic -o results.segbench",
        "GT PRED --kind components --at 0.5",
    )
    states_called: ClassVar[Mapping[int, str]] = {
        State.TRUE: "matched, as predicted",
        State.PARTNER: "matched, as in the ground truth",
        State.FALSE: "false",
        State.MISSED: "missed",
        State.IGNORED: "left out",
    }
    kind: Kind | None = option(
        "Take as objects: values of label maps, segments of classes, or components of masks.", shown="instances"
    )
    iou: float | Sequence[float] = option(
        "Match instances at these IoU: 0.5,0.75.",
        (0.5, 0.75, 0.9),
        metavar="LIST",
        read=read_numbers,
        example="0.5,0.75",
        shown="0.5,0.75,0.9",
        measuring="union",
    )
    divisor: int | None = option_like(PanopticMaps, "divisor")
    classes: int | Sequence[int] | str | None = option_like(PanopticMaps, "classes")
    names: Sequence[str] | None = None
    things: str | Sequence[int] = option_like(PanopticMaps, "things")
    void: Sequence[int] | None = option_like(
        CutMasks,
        "void",
        default=None,
        help="Leave out these ground-truth values, or classes of panoptic maps: 0,255, or none.",
        shown="class 0; none",
    )
    at: Any = option_like(
        CutMasks, "at", help="Cut soft predictions: scores above this, or above the threshold of the best F1: best."
    )
    positive: Positive | None = option_like(CutMasks, "positive")
    connectivity: int = option(default=8, **CONNECTIVITY)
    min_true: int = option("Leave out true components of fewer pixels.", 0, shown="none", **_PIXELS)
    min_predicted: int = option("Remove predicted components of fewer pixels.", 0, shown="none", **_PIXELS)

    def __post_init__(self) -> None:
        check_settings(self)
        if self.kind is None:
            set_fields(self, kind=INSTANCES if self.divisor is None else PANOPTIC)
        set_fields(self, iou=tuple(map(float, self._thresholds)))
        for setting in fields(self):
            kinds = _ONLY_OF.get(setting.name, (self.kind,))
            if self.kind not in kinds and getattr(self, setting.name) != setting.default:
                raise ArgumentError(
                    Message(
                        "no-meaning",
                        "{given} is for {kinds}, and these are {objects}; give {kind}, or leave it out",
                        given=Setting(setting.name, None),
                        kinds=" and ".join(map(str, kinds)),
                        objects=self.kind,
                        kind=Setting("kind", kinds[0]),
                    )
                )
        take_settings(self)
        check_choice(self.connectivity, Setting("connectivity", None), (8, 4))
        for name in ("min_true", "min_predicted"):
            set_fields(self, **{name: as_whole(getattr(self, name), Setting(name, None), most=_MOST_PIXELS)})

    @cached_property
    def inputs(self) -> PanopticMaps | NumberedObjects | CutMasks:
        """What objects are in files."""
        inputs: PanopticMaps | NumberedObjects | CutMasks
        if self.kind == PANOPTIC:
            inputs = inputs_of(PanopticMaps, self)
        elif self.kind == INSTANCES:
            inputs = inputs_of(NumberedObjects, self, void=self.void or ())
        else:
            inputs = inputs_of(
                CutMasks,
                self,
                void=self.void or (),
                reads=INSTANCE_MAPS if self.at is None else MASKS,
                no_volumes=NO_LABEL_MAP,
                of_labels=_name_instances,
                above=True,
                may_be_best=True,
            )
        return inputs

    @property
    def _thresholds(self) -> tuple[Fraction, ...]:
        """The thresholds of IoU, as the decimals that they are written as."""
        single = isinstance(self.iou, (int, float)) and not isinstance(self.iou, bool)
        values = (self.iou,) if single else listed(self.iou, Setting("iou", None), "(0.5, 0.75)")
        expected = "IoU from 0.5, below which objects have several partners, to 1"
        numbers = [as_real(value, Setting("iou", None), expected, least=0.5, most=1) for value in values]
        thresholds = tuple(sorted({Fraction(str(number)) for number in numbers}))
        if not thresholds or any(_DECIMALS % threshold.denominator for threshold in thresholds):
            raise ArgumentError(
                Message(
                    "wrong-value",
                    "{given} is [{values}], expected {expected}, of at most six decimal places",
                    given=Setting("iou", None),
                    values=numbers,
                    expected=expected,
                )
            )
        return thresholds

    def signature_fields(self) -> dict[str, str]:
        signature = {"kind": str(self.kind), "void": ",".join(map(str, self.void or ())) or "none"}
        if self.kind == COMPONENTS:
            signature["positive"] = str(self.positive or "nonzero").replace(" ", "")
            signature |= {name: str(getattr(self, name)) for name in ("connectivity", "min_true", "min_predicted")}
            if self.at is not None:
                signature["at"] = self.at if self.at == "best" else written((self.at,))
            return signature
        signature["iou"] = written(cast("tuple[float, ...]", self.iou))
        if self.divisor is not None:
            signature["divisor"] = str(self.divisor)
        if self.classes is not None:
            names = cast("Sequence[str]", self.names)
            signature["classes"] = written_classes(cast("Sequence[int]", self.classes), names)
        if self.things:
            signature["things"] = ",".join(map(str, self.things))
        return signature

    def measuring_settings(self) -> frozenset[str]:
        """Return `iou`; components have thresholds of their own."""
        return frozenset() if self.kind == COMPONENTS else super().measuring_settings()

    @classmethod
    def measuring(cls, counts: Counts) -> Objects:
        return cls(kind=cast("Kind", cast("ObjectCounts", counts).of))

    def metrics(self) -> tuple[Metric, ...]:
        from segbench.protocols.objects.metrics import metrics_of

        return metrics_of(str(self.kind), self._thresholds)

    def table(self, per_image: Mapping[str, ObjectCounts]) -> Table:
        from segbench.protocols.objects.metrics import TABLES

        return TABLES[str(self.kind)](self._thresholds, self.metrics(), per_image)

    @property
    def axes(self) -> tuple[str, ...]:
        """Return the classes of panoptic maps; instances and components have none."""
        return ("class",) if self.kind == PANOPTIC else ()

    def divided(self, axis: str, per_image: Mapping[str, Any]) -> can.Division:
        """Take out each class."""
        classes: dict[int, str] = {}
        unpacked = dict(per_image)
        for counts in unpacked.values():
            classes |= zip(counts.labels, counts.names, strict=True)
        return divided_by_class(
            sorted(classes.items()),
            unpacked,
            self.of_class,
            lambda counts, label, _: counts.one(label),
            why_not_pooled=_NOT_POOLED,
        )

    def of_class(self, label: int) -> _ClassOfSegments:
        """Return the protocol that measures one class."""
        settings = {setting.name: getattr(self, setting.name) for setting in fields(self)}
        return _ClassOfSegments(**settings, of=self, label=label)

    @property
    def first(self) -> Protocol | None:
        """The run that finds the threshold of the best F1."""
        if self.at != "best":
            return None
        pixels: Any = protocols()["pixels"]
        best_of_pixels: Protocol = pixels(positive=self.positive, void=tuple(map(float, self.void or ())))
        return best_of_pixels

    def after(self, summary: Summary) -> Objects:
        """Cut scores at the threshold that this run found."""
        why = summary.undefined.get("ods_threshold")
        if why:
            problem = Message("undefined", "is undefined ({why})", why=why)
            raise DataError("the best threshold", problem, Message("fix", "choose it: {at}", at=Setting("at", 0.5)))
        return replace(self, at=ThresholdOfSet(summary["ods_threshold"]))

    def prepare(self, say: Callable[[str], None]) -> None:
        import numpy as np

        from segbench.protocols.objects.counting import count_instances

        for dtype in (np.uint16, np.int32):
            count_instances(np.eye(3, dtype=dtype), np.eye(3, dtype=dtype))

    def count(self, sample: Sample) -> Counted:
        from segbench.protocols.objects import counting

        image: Any = self.inputs.interpret(sample)
        if self.kind == PANOPTIC:
            segments = image.true_segments, image.predicted_segments
            counts = counting.count_panoptic(image.overlaps, *segments, image.classes)
        elif self.kind == INSTANCES:
            counts = counting.count_instances(image.truth, image.predicted)
        else:
            counts = counting.count_components(*self.numbers_in(image))
        return Counted(counts, image.facts, image.notes)

    def numbers_in(self, image: Any) -> tuple[Array, Array]:
        """Return the maps of both sides as numbers of objects, of masks those of their components."""
        if self.kind != COMPONENTS:
            return image.truth, image.predicted
        from segbench.protocols.objects.counting import components_of

        (predicted,) = image.predicted
        sizes = {"min_true": self.min_true, "min_predicted": self.min_predicted}
        return components_of(image.truth, predicted, connectivity=self.connectivity, **sizes)

    def states(self, sample: Sample, threshold: float, counts: Any = None) -> NDArray[np.uint8]:
        """Outline what is found at the lowest threshold of IoU, at .5 of components, and what is missed or false."""
        from segbench.protocols.objects.pictures import object_states

        return object_states(sample, self)[1]

    def pictures(self, sample: Sample, counts: Any, thresholds: FloatArray) -> Pictures:
        """Draw an image for the report page: its objects, and outlines of what became of them."""
        from segbench.protocols.objects.pictures import object_pictures

        return object_pictures(sample, self, self.table({sample.name: counts}).image_summary())


@dataclass(frozen=True, kw_only=True)
class _ClassOfSegments(OneClass, Objects):
    """A single class of panoptic maps."""

    of: Objects
    label: int

    def metrics(self) -> tuple[Metric, ...]:
        """Return its quality, and every total."""
        metrics = super().metrics()
        return (*metrics[:3], *(metric for metric in metrics if metric.kind == "total"))
