"""Settings of scored objects: instances with a confidence, measured by average precision as COCO has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

from segbench.core import protocol as can
from segbench.core.counts import Counts, counts_in
from segbench.core.metric import Metric
from segbench.core.protocol import Counted, Protocol, inputs_of, take_settings
from segbench.core.sample import Reading, Sample
from segbench.core.settings import as_real, as_whole, check_settings, option, option_like, set_fields
from segbench.inputs.class_names import written_classes
from segbench.inputs.object_kinds import SCORED
from segbench.inputs.scored_instances import ScoredInstances
from segbench.loaders.instance_files import INSTANCE_FILES
from segbench.protocols.objects.settings import Objects, as_hit_iou
from segbench.protocols.one_class import OneClass
from segbench.protocols.states import State

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from segbench.core.arrays import FloatArray
    from segbench.core.pictures import Pictures
    from segbench.core.table import Table
    from segbench.protocols.objects.scored_counts import ScoredObjectCounts
    from segbench.protocols.objects.scored_metrics import ScoredObjectTable

_MOST_DETECTIONS = 2**31
_LARGEST_DIVISOR = 2**31 - 1


@dataclass(frozen=True, kw_only=True)
class ScoredObjects(Protocol, can.FromCounts, can.Divided, can.Pictured):
    """Settings of scored objects, which `Objects(kind="scored")` makes, too.

    Parameters
    ----------
    kind : {"scored"}
        What objects are: instances that may overlap, of predictions with scores.
    overlap : {"mask", "box", "boundary"}
        What is compared: masks, boxes (those that files state, else those of masks), or the smaller IoU of masks and of
        their boundaries (Boundary AP), where crowds keep that of masks.
    area : {"mask", "box"}
        Whose area decides whether a detection is small, medium or large. pycocotools takes that of the box where
        results state one.
    max_dets : int
        How many detections of each class count in an image, those of highest score.
    boundary_ratio : float
        How wide boundaries are, as a share of the image's diagonal: .02, of Cityscapes .005.
    hit_iou : float, optional
        FROC: the least IoU at which a detection hits an object. None: one common pixel.
    interpolate : bool
        FROC: read sensitivity between points of the curve, as LUNA16, CAMELYON16 and MONAI do.
    divisor : int, optional
        Ground truth that is a label map holds ``class * divisor + instance``, and below it crowds of a class. None:
        numbers of objects, which are all of class 1.
    classes : int, sequence of int or str, optional
        Count these classes alone, by their ids. None: all.
    names : sequence of str, optional
        What these are called; by default as files call them.

    Raises
    ------
    ArgumentError
        If a setting is out of range.

    Examples
    --------
    >>> ScoredObjects(overlap="box").signature_fields()
    {'overlap': 'box', 'area': 'mask', 'max_dets': '100', 'classes': 'all'}
    """

    name: ClassVar[str] = "scored"
    reads: ClassVar[Reading] = INSTANCE_FILES
    counts = counts_in("segbench.protocols.objects.scored_counts", "ScoredObjectCounts")
    title: ClassVar[str] = "Detections are matched by falling score: average precision and recall, as COCO has them."

    draws_lines: ClassVar[bool] = True
    states_called: ClassVar[Mapping[int, str]] = {
        State.TRUE: "true, as predicted",
        State.PARTNER: "found, as in the ground truth",
        State.FALSE: "false",
        State.MISSED: "missed",
        State.IGNORED: "crowds, and what they excuse",
    }

    kind: Literal["scored"] = option_like(Objects, "kind", default=SCORED)
    overlap: Literal["mask", "box", "boundary"] = option(
        "Compare scored objects by the IoU of masks, of boxes, or also of boundaries.", "mask"
    )
    area: Literal["mask", "box"] = option(
        "Take the area of scored objects for small, medium and large from masks or boxes.", "mask", rare=True
    )
    max_dets: int = option(
        "Count so many detections of each class and image.", 100, metavar="N", least=1, most=_MOST_DETECTIONS, rare=True
    )
    boundary_ratio: float = option(
        "Set the width of boundaries as a share of the diagonal.", 0.02, metavar="R", rare=True
    )
    hit_iou: float | None = option_like(Objects, "hit_iou")
    interpolate: bool = option_like(Objects, "interpolate")
    divisor: int | None = option_like(Objects, "divisor")
    classes: int | Sequence[int] | str | None = option_like(ScoredInstances, "classes")
    names: Sequence[str] | None = None

    def __post_init__(self) -> None:
        check_settings(self)
        set_fields(self, max_dets=as_whole(self.max_dets, "max_dets", least=1, most=_MOST_DETECTIONS))
        expected = "a share of the diagonal, above 0 and below 1"
        ratio = as_real(self.boundary_ratio, "boundary_ratio", expected, least=0, most=1, open_ends=True)
        set_fields(self, boundary_ratio=ratio, hit_iou=as_hit_iou(self.hit_iou))
        if self.divisor is not None:
            set_fields(self, divisor=as_whole(self.divisor, "divisor", least=2, most=_LARGEST_DIVISOR))
        take_settings(self)

    @classmethod
    def chosen_by(cls, typed: Mapping[str, Any]) -> bool:
        """Return whether options choose it: the kind, or one that it alone has."""
        return typed.get("kind") == SCORED or not typed.keys().isdisjoint(
            ("overlap", "area", "max_dets", "boundary_ratio")
        )

    @cached_property
    def inputs(self) -> ScoredInstances:
        """What objects are in files; where boxes are compared, masks may be lacking."""
        reads = replace(INSTANCE_FILES, boxes_only=self.overlap == "box", divisor=self.divisor)
        scored: ScoredInstances = inputs_of(ScoredInstances, self, reads=reads)
        return scored

    def signature_fields(self) -> dict[str, str]:
        classes = "all"
        if self.classes is not None:
            classes = written_classes(cast("Sequence[int]", self.classes), cast("Sequence[str]", self.names))
        signature = {"overlap": self.overlap, "area": self.area, "max_dets": str(self.max_dets), "classes": classes}
        if self.divisor is not None:
            signature["divisor"] = str(self.divisor)
        if self.hit_iou is not None:
            signature["hit_iou"] = str(self.hit_iou)
        return signature | ({"boundary_ratio": str(self.boundary_ratio)} if self.overlap == "boundary" else {})

    @classmethod
    def measuring(cls, counts: Counts) -> ScoredObjects:
        """Return the protocol for counts with more than 100 detections of a class, or fewer."""
        ranks = cast("ScoredObjectCounts", counts).ranks
        return cls(max_dets=max(100, int(ranks.max(initial=0)) + 1))

    def metrics(self) -> tuple[Metric, ...]:
        from segbench.protocols.objects.metrics import TOTALS
        from segbench.protocols.objects.scored_metrics import metrics_of

        return (*metrics_of(self.max_dets), *TOTALS)

    def table(self, per_image: Mapping[str, ScoredObjectCounts]) -> Table:
        from segbench.protocols.objects.scored_metrics import ScoredObjectTable

        return ScoredObjectTable(per_image, self.max_dets, interpolate=self.interpolate)

    def states(self, sample: Sample, threshold: float, counts: Any = None) -> NDArray[np.uint8]:
        """Outline what is found at IoU .5 by detections with at least this score, and what is missed or false."""
        from segbench.protocols.objects.scored_pictures import scored_states

        return scored_states(sample, self, threshold)

    def pictures(self, sample: Sample, counts: Any, thresholds: FloatArray) -> Pictures:
        """Draw an image for the report page: its objects, and outlines of what became of them at each threshold."""
        from segbench.protocols.objects.scored_pictures import scored_pictures

        return scored_pictures(sample, self, thresholds)

    def thresholds_of(self, table: Table) -> tuple[FloatArray, float]:
        """Return the scores of all detections, and that of the best F1 over all classes at IoU .5."""
        return cast("ScoredObjectTable", table).thresholds

    @property
    def axes(self) -> tuple[str, ...]:
        return ("class",)

    def divided(self, axis: str, per_image: Mapping[str, Any]) -> can.Division:
        """Take out each class."""
        from segbench.protocols.objects.scored_metrics import CountsOfClass, DetectionsOfImages

        whole = DetectionsOfImages(per_image)
        detections = whole.detection_set
        parts = {
            name: can.Part(self.of_class(label), {"class": name, "label": str(label)}, CountsOfClass(whole, label))
            for label, name in zip(detections.labels.tolist(), detections.class_names, strict=True)
        }
        why_not_pooled = "average precision is defined by class, and averaged: scores of classes are not compared"
        return can.Division(parts, why_not_pooled, averaged=True)

    def of_class(self, label: int) -> _ScoredClass:
        """Return the protocol that measures one class."""
        settings = {setting.name: getattr(self, setting.name) for setting in fields(self)}
        return _ScoredClass(**settings, of=self, label=label)

    def prepare(self, say: Any) -> None:
        import numpy as np

        from segbench.core.instances import Instances
        from segbench.protocols.objects.scored_counting import count_scored

        ones = np.ones(1, np.int64)
        instances = Instances(
            size=(1, 1), runs=np.array([0, 1]), ends=2 * ones, classes=ones, scores=np.ones(1),
            crowds=np.zeros(1, np.bool_), areas=np.ones(1), boxes=np.ones((1, 4)),
        )  # fmt: skip
        count_scored(instances, instances, self.rules)

    @property
    def rules(self) -> Any:
        """What decides counts."""
        from segbench.protocols.objects.scored_counting import Rules

        return Rules(self.overlap, self.area, self.max_dets, self.boundary_ratio, self.hit_iou or 0.0)

    def count(self, sample: Sample) -> Counted:
        from segbench.protocols.objects.scored_counting import count_scored

        image = self.inputs.interpret(sample)
        return Counted(count_scored(image.truth, image.predicted, self.rules), image.facts, image.notes)


@dataclass(frozen=True, kw_only=True)
class _ScoredClass(OneClass, ScoredObjects):
    """A single class of scored objects."""

    of: ScoredObjects
    label: int
