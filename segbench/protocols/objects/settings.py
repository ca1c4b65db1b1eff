"""Settings of the objects protocol: what objects are, how they are written in files, and when one is found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, cast

from segbench.core import capabilities as can
from segbench.core.arguments import as_real, as_whole, check_choice, check_settings, listed, set_fields
from segbench.core.counts import Counts, counts_in
from segbench.core.errors import ArgumentError, DataError
from segbench.core.expected import Expected, ExpectedScores
from segbench.core.inputs import Facts
from segbench.core.messages import NOTHING, Message, Setting, together
from segbench.core.metric import Metric
from segbench.core.numbers import written
from segbench.core.options import option, option_like, read_numbers, read_whole
from segbench.core.protocol import Counted, Protocol
from segbench.core.sample import SIDES, Reading, Sample, Side
from segbench.inputs.class_label_maps import ClassLabelMaps
from segbench.inputs.class_names import MOST_CLASSES, read_classes, refuse_many, written_classes
from segbench.inputs.instance_maps import INSTANCE_MAPS
from segbench.inputs.label_rules import Positive, void_labels
from segbench.inputs.mask_settings import (
    AT,
    CONNECTIVITY,
    POSITIVE,
    VOID,
    CutMasks,
    ThresholdOfSet,
    expected_of_mask,
    settle_mask,
)
from segbench.inputs.object_kinds import COMPONENTS, INSTANCES, PANOPTIC, Kind
from segbench.loaders.reading import MASKS
from segbench.protocols.objects.numbering import on_background, parts_of, require_numbers
from segbench.protocols.one_class import OneClass, divided_by_class
from segbench.protocols.pixels.settings import Pixels
from segbench.protocols.states import State

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from segbench.core.arrays import FloatArray
    from segbench.core.pictures import Pictures
    from segbench.core.summary import Summary
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


@dataclass(frozen=True, kw_only=True)
class Objects(
    Protocol,
    CutMasks,
    can.Verb,
    can.Checked,
    can.Numbered,
    can.FromCounts,
    can.FromFiles,
    can.TwoPasses,
    can.Prepared,
    can.Divided,
    can.Pictured,
):
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
    void: Sequence[int] | None = option(
        "Leave out these ground-truth values, or classes of panoptic maps: 0,255, or none.",
        shown="class 0; none",
        **VOID,
    )
    at: Any = option(
        **{**AT, "help": "Cut soft predictions: scores above this, or above the threshold of the best F1: best."}
    )
    positive: Positive | None = option(**POSITIVE)
    connectivity: int = option(default=8, **CONNECTIVITY)
    min_true: int = option("Leave out true components of fewer pixels.", 0, shown="none", **_PIXELS)
    min_predicted: int = option("Remove predicted components of fewer pixels.", 0, shown="none", **_PIXELS)

    def __post_init__(self) -> None:
        check_settings(self)
        if self.kind is None:
            set_fields(self, kind=INSTANCES if self.divisor is None else PANOPTIC)
        set_fields(self, iou=tuple(map(float, self._thresholds)))
        for each in fields(self):
            kinds = _ONLY_OF.get(each.name, (self.kind,))
            if self.kind not in kinds and getattr(self, each.name) != each.default:
                raise ArgumentError(
                    Message(
                        "no-meaning",
                        "{given} is for {kinds}, and these are {objects}; give {kind}, or leave it out",
                        given=Setting(each.name, None),
                        kinds=" and ".join(map(str, kinds)),
                        objects=self.kind,
                        kind=Setting("kind", kinds[0]),
                    )
                )
        if self.kind == PANOPTIC:
            self._settle_classes()
        else:
            set_fields(self, void=void_labels(self.void or ()))
        if self.at is not None:
            set_fields(self, reads=MASKS)
        settle_mask(self, "best")
        if self.kind != COMPONENTS:
            set_fields(self, reads=replace(self.reads, numbered=SIDES))
        check_choice(self.connectivity, Setting("connectivity", None), (8, 4))
        for name in ("min_true", "min_predicted"):
            set_fields(self, **{name: as_whole(getattr(self, name), Setting(name, None), most=_MOST_PIXELS)})

    def _settle_classes(self) -> None:
        if self.divisor is None:
            from segbench.inputs.descriptions import PANOPTIC_MAPS

            set_fields(self, reads=PANOPTIC_MAPS)
        else:
            set_fields(self, divisor=as_whole(self.divisor, Setting("divisor", None), least=2, most=2**31))
        void = self.void
        if self.classes is not None or self.names is not None:
            rules = ClassLabelMaps(classes=self.classes, names=self.names, void=() if void is None else void)
            set_fields(self, classes=rules.classes, names=rules.names)
        labels: tuple[int, ...] = tuple(cast("Sequence[int]", self.classes or ()))
        set_fields(self, void=void_labels((0,) * (0 not in labels) if void is None else void))
        things = tuple(self._labels_of(self.things)) if isinstance(self.things, str) else self.things
        given = listed(things, "things", "(24, 26)", most=MOST_CLASSES + 1)
        refuse_many(given)
        things = tuple(as_whole(label, Setting("things", None)) for label in given)
        wrong = [label for label in things if (labels and label not in labels) or label == 0]
        if wrong:
            raise ArgumentError(
                Message(
                    "unfit-things",
                    "{given} holds {label}, expected some of the classes, without 0",
                    given=Setting("things", None),
                    label=wrong[0],
                )
            )
        set_fields(self, things=things)

    def _labels_of(self, text: str) -> Sequence[int]:
        """Read labels and names of classes between commas."""
        known = dict(zip(self.names or (), cast("Sequence[int]", self.classes or ()), strict=True))
        parts = [part.strip() for part in text.split(",") if part.strip()]
        return [label for part in parts for label in ([known[part]] if part in known else read_classes(part)[0])]

    @property
    def _thresholds(self) -> tuple[Fraction, ...]:
        """The thresholds of IoU, as the decimals that they are written as."""
        single = isinstance(self.iou, (int, float)) and not isinstance(self.iou, bool)
        values = (self.iou,) if single else listed(self.iou, Setting("iou", None), "(0.5, 0.75)")
        what = "IoU from 0.5, below which objects have several partners, to 1"
        read = [as_real(value, Setting("iou", None), what, least=0.5, most=1) for value in values]
        found = tuple(sorted({Fraction(str(value)) for value in read}))
        if not found or any(_DECIMALS % each.denominator for each in found):
            raise ArgumentError(
                Message(
                    "wrong-value",
                    "{given} is [{values}], expected {expected}, of at most six decimal places",
                    given=Setting("iou", None),
                    values=read,
                    expected=what,
                )
            )
        return found

    def signature_fields(self) -> dict[str, str]:
        found = {"kind": str(self.kind), "void": ",".join(map(str, self.void or ())) or "none"}
        if self.kind == COMPONENTS:
            found["positive"] = str(self.positive or "nonzero").replace(" ", "")
            found |= {name: str(getattr(self, name)) for name in ("connectivity", "min_true", "min_predicted")}
            return found | (
                {"at": self.at if self.at == "best" else written((self.at,))} if self.at is not None else {}
            )
        found["iou"] = written(cast("tuple[float, ...]", self.iou))
        if self.divisor is not None:
            found["divisor"] = str(self.divisor)
        if self.classes is not None:
            found["classes"] = written_classes(cast("Sequence[int]", self.classes), cast("Sequence[str]", self.names))
        return found | ({"things": ",".join(map(str, self.things))} if self.things else {})

    @property
    def class_rules(self) -> ClassLabelMaps:
        """How the classes of panoptic maps are numbered."""
        return ClassLabelMaps(classes=self.classes, names=self.names, void=self.void)

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
        return Pixels(positive=self.positive, void=tuple(map(float, self.void or ()))) if self.at == "best" else None

    def after(self, summary: Summary) -> Objects:
        """Cut scores at the threshold that this run found."""
        if why := summary.undefined.get("ods_threshold"):
            what = Message("undefined", "is undefined ({why})", why=why)
            raise DataError("the best threshold", what, Message("fix", "choose it: {at}", at=Setting("at", 0.5)))
        return replace(self, at=ThresholdOfSet(summary["ods_threshold"]))

    @property
    def why_not_arrays(self) -> Message:
        if self.at == "best":
            at = Setting("at", 0.5)
            return Message("no-arrays", "the best threshold is that of the whole set; give it: {at}", at=at)
        if self.kind == PANOPTIC and self.divisor is None:
            return Message(
                "no-arrays",
                "arrays have no JSON; give maps of class times divisor plus instance, and {divisor}",
                divisor=Setting("divisor", 1000),
            )
        return NOTHING

    def settle(
        self, facts: Mapping[str, Facts], *, excluded_by: Message = NOTHING, complete: bool = True, part: bool = False
    ) -> can.Settled:
        """Refuse thresholds of masks of 0 and 1, and such masks where objects have numbers."""
        if complete:
            self.require_numbers(facts)
        return super().settle(facts, complete=complete)

    def require_numbers(self, facts: Mapping[str, Facts]) -> None:
        if self.kind == INSTANCES:
            require_numbers(facts.values())

    def on_background(self, sample: Sample) -> Mapping[Side, can.OnBackground | None]:
        if self.kind != INSTANCES:
            return {}
        from segbench.inputs.mask_pairs import left_out
        from segbench.protocols.objects.counting import Overlaps
        from segbench.protocols.objects.inputs import maps_of

        truth, predicted = maps_of(sample, self)
        hidden = left_out(sample, sample.ground_truths[0], tuple(map(float, self.void or ())))
        if hidden is not None:
            truth, predicted = truth[~hidden], predicted[~hidden]
        return on_background(Overlaps.of(truth, predicted)) if truth.size else {}

    def prepare(self, say: Callable[[str], None]) -> None:
        import numpy as np

        from segbench.protocols.objects.counting import count_instances

        for dtype in (np.uint16, np.int32):
            count_instances(np.eye(3, dtype=dtype), np.eye(3, dtype=dtype))

    @property
    def expected(self) -> Expected:
        if self.kind != COMPONENTS:
            numbered = [Setting("positive", ">0")] if self.kind == INSTANCES else []
            masks = together(Setting("kind", COMPONENTS), Setting("at", 0.5), *numbered)
            cut = Message("fix", "cut them at a score, for the components of a mask: {masks}", masks=masks)
            return Expected(of_soft_maps=cut)
        by_set = self.at == "best"  # a threshold on the scale of the scores, whatever that is
        return expected_of_mask(self, None if self.at is None else ExpectedScores(pooled=by_set, any_range=by_set))

    def require_readable(self, sample: Sample) -> Facts:
        from segbench.inputs import mask_pairs
        from segbench.protocols.objects import inputs

        if self.at == "best":  # which a first pass over the set decides
            return ()
        inputs.maps_of(sample, self)
        return mask_pairs.highest_of(sample, self)

    def count(self, sample: Sample) -> Counted:
        from segbench.inputs import mask_pairs
        from segbench.protocols.objects import counting, inputs

        maps = inputs.maps_of(sample, self)
        if self.kind != PANOPTIC:
            if self.kind == INSTANCES:
                return Counted(counting.count_instances(*maps), (parts_of(*maps),))
            notes = mask_pairs.notes_on_masks(sample, self, above=True)
            return Counted(counting.count_components(*maps), mask_pairs.highest_of(sample, self), notes)
        found = counting.Overlaps.of(*maps)
        counts = counting.count_panoptic(found, *inputs.segments_in(sample, found, self))
        return Counted(counts, notes=inputs.notes_on_classes(sample, found, self))

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
        found = super().metrics()
        return (*found[:3], *(metric for metric in found if metric.kind == "total"))
