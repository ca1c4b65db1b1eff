"""Settings of the objects protocol: what objects are, how they are written in files, and when one is found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from segbench.core import protocol as can
from segbench.core.counts import Counts, counts_in
from segbench.core.errors import ArgumentError, DataError
from segbench.core.messages import Message, Setting
from segbench.core.metric import VOXELS, Metric
from segbench.core.numbers import written
from segbench.core.protocol import Counted, Protocol, inputs_of, take_settings
from segbench.core.sample import Reading, Sample, refuse_other_dimensions
from segbench.core.settings import (
    as_real,
    as_whole,
    check_choice,
    check_settings,
    listed,
    option,
    option_like,
    read_number,
    read_numbers,
    read_whole,
    set_fields,
)
from segbench.inputs.class_names import written_classes
from segbench.inputs.cut_masks import (
    CONNECTIVITIES_OF_VOLUMES,
    CONNECTIVITY,
    CONNECTIVITY_OF_VOLUMES,
    CutMasks,
    ThresholdOfSet,
)
from segbench.inputs.instance_maps import INSTANCE_MAPS
from segbench.inputs.label_rules import Positive
from segbench.inputs.numbered_objects import NO_LABEL_MAP, NumberedObjects
from segbench.inputs.object_kinds import COMPONENTS, INSTANCES, PANOPTIC, SCORED, Kind
from segbench.inputs.panoptic_maps import PanopticMaps
from segbench.inputs.spacing import (
    HEADER,
    as_lookup,
    is_of_volumes,
    read_spacing,
    reading_for,
    sizes_of,
    spacing_text,
    typed_spacing,
    why_not_without_name,
)
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
    from segbench.inputs.spacing import Lookup, Sizes, Spacing
    from segbench.protocols.objects.counts import ObjectCounts

_MOST_PIXELS = 2**30
_MOST_DILATIONS = 100
_PIXELS: Mapping[str, Any] = {"metavar": "N", "read": read_whole, "example": "10", "rare": True}
_NOT_POOLED = "panoptic quality is defined by class, and averaged; f1@0.5 and its like pool the segments of all classes"
_DECIMALS = 10**6
_ONLY_OF: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("divisor", "classes", "names", "things"), (PANOPTIC,)),
    **dict.fromkeys(("at", "positive", "predicted_positive", "connectivity"), (COMPONENTS,)),
    **dict.fromkeys(("min_true", "min_predicted", "dilate", "hit_iou", "interpolate"), (COMPONENTS,)),
    **dict.fromkeys(("min_size", "spacing"), (COMPONENTS, INSTANCES)),
    "iou": (INSTANCES, PANOPTIC),
}


def _name_instances(_values: Sequence[float]) -> Message:
    """Say how label maps are counted, where masks are expected."""
    return Message("fix", "for numbers of objects give {kind}", kind=Setting("kind", INSTANCES))


def as_hit_iou(iou: float | None) -> float | None:
    """Check from which IoU FROC counts hits; None for one common pixel."""
    if iou is None:
        return None
    return as_real(iou, Setting("hit_iou", None), "an IoU above 0, to 1", least=1e-9, most=1)


@dataclass(frozen=True, kw_only=True)
class Objects(Protocol, can.Verb, can.FromCounts, can.TwoPasses, can.Divided, can.Pictured):
    """Settings of the objects protocol.

    Parameters
    ----------
    kind : {"instances", "panoptic", "components", "scored"}, optional
        What objects are: the values of label maps, segments with classes, or the connected components of masks; or
        instances with scores, which are `ScoredObjects` with settings of their own. By default panoptic with a
        `divisor`, instances without.
    iou : float or sequence of float
        Thresholds of IoU of F1, precision, recall and the threat score, from .5 to 1, with at most six decimal places;
        not of components.
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
    predicted_positive : str, float or sequence of float, optional
        Of masks: which values of predictions belong to the mask; ``"same"`` for those of `positive`, where predictions
        hold the labels of the ground truth. None: 0 does not, the only other does.
    connectivity : {8, 4, 26, 18, 6}
        Whether pixels of components touch at corners, too. Of volumes how many neighbours of a voxel touch it: 26 in
        place of 8, and 6 in place of 4.
    min_true, min_predicted : int
        Predicted components of fewer pixels are removed; then true ones become void, with what is predicted there.
    min_size : float
        Objects of at most this size are left out, predicted ones first, then true ones with what is predicted there: in
        pixels or voxels, with a `spacing` in mm² or mm³. Of lesions, true ones alone, see `dilate`.
    dilate : int
        Components of volumes: true ones that touch after so many dilations are one lesion of ``lesion_dice`` and
        ``lesion_hd95``, which take all predicted components that touch its dilation. Lesions of at most `min_size` are
        left out.
    hit_iou : float, optional
        FROC, of components with `at`: the least IoU at which a predicted component hits a true one. None: one common
        pixel.
    interpolate : bool
        FROC: read sensitivity between points of the curve, as LUNA16, CAMELYON16 and MONAI do.
    spacing : float, sequence of float, mapping, path, or "header", optional
        How far apart pixels or voxels are, as in `Contours`: of `min_size` and ``lesion_hd95``.

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
    takes_volumes: ClassVar[bool] = True
    counts = counts_in("segbench.protocols.objects.counts", "ObjectCounts")
    title: ClassVar[str] = (
        "Objects are matched one to one by their IoU: panoptic quality, F1 and TS of instances, components of masks."
    )
    examples: ClassVar[tuple[str, ...]] = (
        "GT PRED --iou 0.5,0.75",
        "GT PRED --kind panoptic -o results.segbench",
        "GT PRED --kind components --at 0.5",
    )
    draws_lines: ClassVar[bool] = True
    _usual_kind: ClassVar[bool] = False
    """Whether no kind was given, so that files may choose it."""
    states_called: ClassVar[Mapping[int, str]] = {
        State.TRUE: "matched, as predicted",
        State.PARTNER: "matched, as in the ground truth",
        State.FALSE: "false",
        State.MISSED: "missed",
        State.IGNORED: "left out",
    }
    kind: Kind | None = option(
        "Take as objects: values of label maps, segments of classes, components of masks, or instances with scores.",
        shown="instances",
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
    predicted_positive: Positive | None = option_like(CutMasks, "predicted_positive")
    connectivity: int = option(default=8, **CONNECTIVITY)
    min_true: int = option("Leave out true components of fewer pixels.", 0, shown="none", **_PIXELS)
    min_predicted: int = option("Remove predicted components of fewer pixels.", 0, shown="none", **_PIXELS)
    min_size: float = option(
        "Leave out objects of at most this size, in pixels or voxels, with a spacing in mm² or mm³.",
        0.0,
        metavar="SIZE",
        read=read_number,
        example="50",
        shown="none",
        rare=True,
    )
    dilate: int = option(
        "Join lesions of volumes that touch after so many dilations, as BraTS does.",
        0,
        metavar="N",
        read=read_whole,
        example="3",
        shown="none",
        rare=True,
    )
    hit_iou: float | None = option(
        "Count hits of FROC from this IoU.",
        metavar="IOU",
        read=read_number,
        example="0.1",
        shown="one common pixel",
        rare=True,
    )
    interpolate: bool = option(
        "Read FROC between points of the curve, as LUNA16 does.", False, measuring="apart", rare=True
    )
    spacing: float | Sequence[Any] | Mapping[str, Any] | str | PathLike[str] | None = option(
        "Set the size of pixels in mm: of all images, of each (CSV), or as headers have it.",
        metavar="MM|WxHxD|header|FILE.csv",
        read=typed_spacing,
        example="0.78x0.78x3",
        shown="pixels, of volumes header",
        rare=True,
    )

    @classmethod
    def class_for(cls, settings: Mapping[str, Any]) -> type[Protocol]:
        """Return scored objects, which are a protocol of their own: of that kind, or where only classes are given."""
        of_classes = settings.get("classes") is not None and settings.keys() <= {"classes", "names"}
        if cls is Objects and (settings.get("kind") == SCORED or of_classes):
            scored: type[Protocol] = import_module("segbench.protocols.objects.scored").ScoredObjects
            return scored
        return cls

    def __post_init__(self) -> None:
        check_settings(self)
        if self.kind is None:
            set_fields(self, _usual_kind=self.divisor is None)
            set_fields(self, kind=INSTANCES if self.divisor is None else PANOPTIC)
        set_fields(self, iou=tuple(map(float, self._thresholds)), hit_iou=as_hit_iou(self.hit_iou))
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
        if self.at is None and (self.hit_iou is not None or self.interpolate):
            name = "hit_iou" if self.hit_iou is not None else "interpolate"
            raise ArgumentError(
                Message(
                    "no-effect",
                    "{given} is for FROC, which needs scores; give {at}, or leave it out",
                    given=Setting(name, getattr(self, name)),
                    at=Setting("at", 0.5),
                )
            )
        self._settle_sizes()
        take_settings(self)
        set_fields(self, reads=reading_for(self.reads, self._spacing))

    def _settle_sizes(self) -> None:
        """Read what touches, which objects are left out as they are too small, and in which unit."""
        check_choice(self.connectivity, Setting("connectivity", None), (8, 4, *CONNECTIVITIES_OF_VOLUMES))
        for name in ("min_true", "min_predicted"):
            set_fields(self, **{name: as_whole(getattr(self, name), Setting(name, None), most=_MOST_PIXELS)})
        set_fields(self, dilate=as_whole(self.dilate, Setting("dilate", None), most=_MOST_DILATIONS))
        expected = "a size of at least 0"
        set_fields(self, min_size=as_real(self.min_size, Setting("min_size", None), expected, least=0, most=1e18))
        set_fields(self, spacing=None if self.spacing is None else read_spacing(self.spacing))
        if self.dilate:
            set_fields(self, connectivity=CONNECTIVITY_OF_VOLUMES.get(self.connectivity, self.connectivity))
        for name in ("min_true", "min_predicted"):
            if self.min_size and getattr(self, name):
                raise ArgumentError(
                    Message(
                        "exclusive-settings",
                        "{setting} and {other} exclude each other: leave one out",
                        setting=Setting("min_size", None),
                        other=Setting(name, None),
                    )
                )
        if self.kind == INSTANCES and not self.min_size and self.spacing is not None:
            raise ArgumentError(
                Message(
                    "no-effect",
                    "{given} has no effect on instances without {size}; leave it out",
                    given=Setting("spacing", None),
                    size=Setting("min_size", None),
                )
            )

    @property
    def of_volumes(self) -> bool:
        """Whether voxels of components touch, and not pixels; instances are counted alike."""
        return self.connectivity in CONNECTIVITIES_OF_VOLUMES

    @property
    def why_not_alone(self) -> Message | str:
        """Why an image cannot be counted by itself: its inputs say so, or sizes are found by its name."""
        return super().why_not_alone or why_not_without_name(self._spacing)

    @property
    def expects_volumes(self) -> bool:
        """Whether voxels are measured, or have sizes along three axes."""
        return self.of_volumes or is_of_volumes(self._spacing)

    def for_volumes(self, *, with_header: bool = False) -> Self:
        """Return the protocol that measures volumes; `with_header` says that files have spacings in their headers."""
        if self.kind == PANOPTIC:
            raise ArgumentError(
                Message(
                    "no-volumes",
                    "panoptic maps are matched in images of two dimensions, and these are volumes; give {instances} or "
                    "{components}",
                    instances=Setting("kind", INSTANCES),
                    components=Setting("kind", COMPONENTS),
                )
            )
        measures_sizes = self.kind == COMPONENTS or self.min_size > 0
        spacing = HEADER if with_header and self.spacing is None and measures_sizes else self.spacing
        if self.kind == INSTANCES:
            return replace(self, spacing=spacing)
        connectivity = CONNECTIVITY_OF_VOLUMES.get(self.connectivity, self.connectivity)
        return replace(self, connectivity=connectivity, spacing=spacing)

    def for_instances(self, scored: Callable[[], bool]) -> Protocol:
        """Return scored objects if no kind was given, and nothing is set that these lack."""
        if not self._usual_kind or not scored():
            return self
        if self != Objects():
            raise ArgumentError(
                Message(
                    "no-label-maps",
                    "predictions are instances with scores; give {scored}, or {numbered}, which draws them as a map",
                    scored=Setting("kind", SCORED),
                    numbered=Setting("kind", INSTANCES),
                )
            )
        return Objects(kind=SCORED)

    @property
    def _spacing(self) -> Spacing:
        """The spacing, which is 1 where none is given."""
        return 1.0 if self.spacing is None else cast("Spacing", self.spacing)

    @property
    def distance_unit(self) -> str:
        if not self.of_volumes:
            return ""
        return VOXELS if self._spacing == 1 else "mm"

    @cached_property
    def inputs(self) -> PanopticMaps | NumberedObjects | CutMasks:
        """What objects are in files."""
        inputs: PanopticMaps | NumberedObjects | CutMasks
        if self.kind == PANOPTIC:
            inputs = inputs_of(PanopticMaps, self)
        elif self.kind == INSTANCES:
            inputs = inputs_of(NumberedObjects, self, void=self.void or (), reads=INSTANCE_MAPS)
        else:
            inputs = inputs_of(
                CutMasks,
                self,
                void=self.void or (),
                reads=replace(INSTANCE_MAPS, instances="classes") if self.at is None else MASKS,
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
            if self.predicted_positive is not None:
                signature["predicted_positive"] = str(self.predicted_positive).replace(" ", "")
            if self.at is not None:
                signature["at"] = self.at if self.at == "best" else written((self.at,))
            if self.hit_iou is not None:
                signature["hit_iou"] = str(self.hit_iou)
            if self.of_volumes:
                signature["dilate"] = str(self.dilate)
            return signature | self._sizes_signed
        signature["iou"] = written(cast("tuple[float, ...]", self.iou))
        if self.divisor is not None:
            signature["divisor"] = str(self.divisor)
        if self.classes is not None:
            names = cast("Sequence[str]", self.names)
            signature["classes"] = written_classes(cast("Sequence[int]", self.classes), names)
        if self.things:
            signature["things"] = ",".join(map(str, self.things))
        return signature | self._sizes_signed

    @property
    def _sizes_signed(self) -> dict[str, str]:
        """The smallest size and the spacing, where they matter."""
        signed = {"min_size": written((self.min_size,))} if self.min_size else {}
        if self.min_size or self.of_volumes:
            signed["spacing"] = spacing_text(self._spacing)
        return signed

    def measuring_settings(self) -> frozenset[str]:
        """Return `iou`, or of components with scores `interpolate`."""
        if self.kind != COMPONENTS:
            return frozenset({"iou"})
        return frozenset() if self.at is None else frozenset({"interpolate"})

    @classmethod
    def measuring(cls, counts: Counts) -> Objects:
        objects = cast("ObjectCounts", counts)
        if objects.of != COMPONENTS:
            return cls(kind=cast("Kind", objects.of))
        spacing = HEADER if objects.unit else None
        connectivity = objects.connectivity or 8
        at = 0.5 if objects.scored else None  # at any score, they have the same metrics
        return cls(kind=cast("Kind", COMPONENTS), connectivity=connectivity, spacing=spacing, at=at)

    def metrics(self) -> tuple[Metric, ...]:
        from segbench.protocols.objects.metrics import metrics_of, metrics_of_volumes

        if self.of_volumes:
            return metrics_of_volumes(self.distance_unit, scored=self.at is not None)
        return metrics_of(str(self.kind), self._thresholds, scored=self.at is not None)

    def table(self, per_image: Mapping[str, ObjectCounts]) -> Table:
        from segbench.protocols.objects.metrics import TABLES, VolumeComponentTable

        table = VolumeComponentTable if self.of_volumes else TABLES[str(self.kind)]
        return table(self._thresholds, self.metrics(), per_image, self)

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
            return Counted(counts, image.facts, image.notes)
        self._refuse_dimensions(sample)
        maps = self._maps_of(image)
        scores = None if self.at is None else image.scores
        if image.truth.ndim == 3:
            from segbench.imaging.components import box_of

            box = box_of((maps[0] != 0) | (maps[1] != 0))  # outside of which there is nothing to count
            maps, scores = (maps[0][box], maps[1][box]), None if scores is None else scores[box]
        numbers = self._numbers_of(maps, sample)
        if self.kind == INSTANCES:
            counts = counting.count_instances(*numbers)
        else:
            void_pixels = 0 if image.ignored is None else int(image.ignored.sum())
            pixels = image.truth.size - void_pixels
            counts = counting.count_components(*numbers, pixels, scores, self.hit_iou)
            if image.truth.ndim == 3:
                counts = self._with_lesions(counts, maps, sample)
        return Counted(counts, image.facts, image.notes)

    def _refuse_dimensions(self, sample: Sample) -> None:
        """Refuse an image of other dimensions than components are for; instances are counted alike in both."""
        if self.kind == COMPONENTS:
            given = Setting("dilate", self.dilate) if self.dilate else Setting("connectivity", self.connectivity)
            refuse_other_dimensions(sample, given if self.of_volumes else None)

    def numbers_in(self, image: Any, sample: Sample) -> tuple[Array, Array]:
        """Return the maps of both sides as numbers of objects, of masks those of their components."""
        maps = self._maps_of(image)
        return maps if self.kind == PANOPTIC else self._numbers_of(maps, sample)

    def _maps_of(self, image: Any) -> tuple[Array, Array]:
        """Return the maps of both sides: numbers, or masks."""
        if self.kind != COMPONENTS:
            return image.truth, image.predicted
        (predicted,) = image.predicted
        return image.truth, predicted

    def _numbers_of(self, maps: tuple[Array, Array], sample: Sample) -> tuple[Array, Array]:
        """Return the numbers of the objects of both sides that are large enough, of masks those of their components."""
        from segbench.protocols.objects.counting import components_of, leave_out_small
        from segbench.protocols.objects.lesions import largest_of_size

        truth, predicted = maps
        if self.kind == INSTANCES and not self.min_size:
            return maps
        least_true, least_predicted = self.min_true, self.min_predicted
        if self.min_size:
            least_true = least_predicted = 1 + largest_of_size(self.min_size, self._sizes_of(sample, truth.ndim))
        if self.kind == INSTANCES:
            numbers = truth.copy(), predicted.copy()
            leave_out_small(*numbers, min_true=least_true, min_predicted=least_predicted)
            return numbers
        return components_of(
            truth, predicted, connectivity=self.connectivity, min_true=least_true, min_predicted=least_predicted
        )

    def _with_lesions(self, counts: ObjectCounts, maps: tuple[Array, Array], sample: Sample) -> ObjectCounts:
        """Add the lesions of a volume to the counts of its components."""
        from segbench.protocols.objects.lesions import count_lesions, largest_of_size

        sizes = self._sizes_of(sample, 3)
        lesions = count_lesions(
            *maps,
            sizes,
            connectivity=self.connectivity,
            dilate=self.dilate,
            largest_left_out=largest_of_size(self.min_size, sizes),
        )
        return counts.with_lesions(*lesions, connectivity=self.connectivity, unit="" if self._spacing == 1 else "mm")

    def refuse_unfit(self, sample: Sample) -> None:
        self._refuse_dimensions(sample)
        self._sizes_of(sample, 3 if sample.volume else 2)

    def _sizes_of(self, sample: Sample, dimensions: int) -> Sizes:
        """Return how far apart pixels or voxels are along each axis."""
        sizes = sizes_of(self._spacing_by_image, sample, dimensions)
        return (cast("float", self._spacing),) * dimensions if sizes is None else sizes

    @cached_property
    def _spacing_by_image(self) -> Lookup:
        """The spacing; of each image by its name where they differ."""
        return as_lookup(self._spacing)

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
