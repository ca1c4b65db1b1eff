"""Settings of the contours protocol: which masks are compared, and by the conventions of which tool."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from segbench.core import protocol as can
from segbench.core.counts import Counts, counts_in
from segbench.core.errors import VOLUMES, ArgumentError
from segbench.core.messages import Either, Message, Setting, protocol_with
from segbench.core.metric import Metric
from segbench.core.numbers import written
from segbench.core.protocol import Counted, Protocol, inputs_of, take_settings
from segbench.core.sample import Reading, Sample
from segbench.core.settings import (
    as_real,
    check_choice,
    check_settings,
    listed,
    option,
    option_like,
    read_numbers,
    set_fields,
    setting_text,
)
from segbench.inputs.class_label_maps import ClassLabelMaps
from segbench.inputs.class_names import background_option, labels_text, read_background, read_classes, written_classes
from segbench.inputs.cut_masks import CutMasks
from segbench.inputs.label_rules import MANY_LEVELS, Positive
from segbench.inputs.numbered_objects import SequenceObjects, sequence_of
from segbench.loaders.reading import LABEL_MAPS, MASKS
from segbench.protocols.contours.choices import Convention, Empty, Percentile, Surface
from segbench.protocols.one_class import OneClass, divided_by_class
from segbench.protocols.states import State

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from segbench.core.arrays import FloatArray
    from segbench.core.pictures import Pictures
    from segbench.core.table import Table
    from segbench.protocols.contours.counts import ContourCounts
    from segbench.protocols.contours.measures import Conventions
    from segbench.protocols.contours.places import Places

_OF_TOOLS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "metrics-reloaded": {"surface": "pixels", "hd95": "larger", "sequences": False},
        "medpy": {"surface": "pixels", "hd95": "union", "sequences": False},
        "deepmind": {"surface": "lengths", "hd95": "larger", "sequences": False},
        "davis": {"surface": "pixels", "hd95": "larger", "sequences": True},
    }
)
_VERSIONS = {"medpy": "medpy>=0.5.2", "deepmind": "deepmind surface-distance 0.1"}
_MASKS, _OBJECTS = "masks", "objects"
_NO_VOLUMES = f"contours are measured in two dimensions: save one image per slice, or {VOLUMES}"
_OF_CLASSES = ("classes", "names", "void", "background", "gt_map", "pred_map", "palette")

_NOT_POOLED = "metrics of contours are means over masks, and those of different classes are averaged"
_FRAMES_NOT_POOLED = "J and F are measured in each frame, and averaged over frames and objects"


def _is_in(sequence: str, image: str) -> bool:
    """Return whether an image is a frame of a sequence."""
    return sequence_of(image) == sequence


def _advice_on_labels(values: Sequence[float]) -> Message:
    """Say how label maps of these values are measured."""
    import numpy as np

    from segbench.inputs.label_maps import likely_classes

    classes = likely_classes(np.asarray(values), MANY_LEVELS) or Setting("classes", "0-18")
    if values[0] != 0:
        return Message("fix", "for label maps name {classes}", classes=classes)
    background = Setting("background", 0)
    return Message(
        "fix",
        "for label maps name {classes}, with {background} if 0 is background",
        classes=classes,
        background=Either(protocol_with("Contours", "", classes, background), background),
    )


def _read_sizes(text: str) -> Any:
    """Read the size of a pixel; sizes of its sides, as in 0.5x0.7, are judged where settings are checked."""
    numbers = read_numbers(re.sub(r"\s*[x*,\s]\s*", ",", text.strip()))
    return numbers[0] if len(numbers) == 1 else numbers


@dataclass(frozen=True, kw_only=True)
class Contours(Protocol, can.Verb, can.FromCounts, can.Divided, can.Pictured):
    """Settings of the contours protocol.

    Parameters
    ----------
    convention : {"metrics-reloaded", "medpy", "deepmind", "davis"}, optional
        Set `surface` and ``hd95`` as this tool has them, or `sequences`: Metrics Reloaded and MONAI, medpy from version
        0.5.2, Google DeepMind's surface-distance, or DAVIS.
    surface : {"pixels", "lengths"}
        What contours are made of: the pixels of a mask with a neighbour of four outside, or elements between the
        centres of pixels, weighted by their length.
    hd95 : {"larger", "union"}
        The larger of the 95th percentiles of both directions, or that of both directions together.
    nsd : float or sequence of float
        Tolerances of NSD, in pixels or in the unit of `spacing`, 0 or more.
    spacing : float
        The size of a pixel, above 0, the same along both axes: distances and tolerances are then in mm.
    empty : {"undefined", "diagonal"}
        What distances are where one mask is empty: undefined, or the diagonal of the image; where both are, 0.
    at : float, optional
        Predictions are soft maps, and scores of at least this belong to the mask. None: they are masks.
    classes : int, sequence of int or str, optional
        The labels of the classes of label maps, as in `Labels`. None: ground truth and predictions are masks.
    names : sequence of str, optional
        What the classes are called; by default by their labels.
    void : sequence of int, optional
        Ground-truth values of pixels that are background in both masks. By default 255 with classes, unless it is one
        of them, and none otherwise. In sequences without `positive`, 255 is background of the ground truth in any case,
        but not of predictions.
    background
        Of label maps: the labels of classes that means over classes leave out, as in `Labels`.
    positive : str, float or sequence of float, optional
        Of masks: which ground-truth values belong to the mask, as in `Pixels`. None: 0 does not, the only other does.
    gt_map, pred_map, palette
        Of label maps, as in `Labels`.
    sequences : bool
        Sub-folders are sequences and values are objects, as in DAVIS 2017: J, F, their recall and decay by object. With
        `positive` each frame is a single mask, as in DAVIS 2016.
    all_frames : bool
        Count the first and the last frame of sequences, too.

    Raises
    ------
    ArgumentError
        If a setting is out of range, or two do not go together.

    Examples
    --------
    >>> Contours(convention="medpy").hd95
    'union'
    >>> Contours(spacing=0.7, nsd=[1, 2]).signature_fields()["nsd"]
    '1,2'
    """

    name: ClassVar[str] = "contours"
    reads: ClassVar[Reading] = LABEL_MAPS
    counts = counts_in("segbench.protocols.contours.counts", "ContourCounts")
    title: ClassVar[str] = (
        "Contours of masks are compared: Hausdorff and mean distances, NSD, Boundary IoU, and J and F of DAVIS."
    )
    examples: ClassVar[tuple[str, ...]] = ("GT PRED --at 0.5 --nsd 1,2", "GT PRED --convention medpy --spacing 0.7")
    convention: Convention | None = option(
        "Follow the conventions of a tool in all settings.", shown="metrics-reloaded", measuring="shorthand"
    )
    surface: Surface | None = option(
        "Measure between pixels, or between elements with their lengths.", shown="pixels", rare=True
    )
    hd95: Percentile | None = option(
        "Take the larger percentile of both directions, or that of their union.",
        shown="larger",
        rare=True,
        measuring="apart",
    )
    nsd: float | Sequence[float] = option(
        "Set the tolerances of NSD: 1,2.",
        (2.0,),
        metavar="LIST",
        read=read_numbers,
        example="1,2",
        shown="2",
        measuring="union",
        none="none takes NSD away",
    )
    spacing: float = option(
        "Set the size of a pixel in mm.",
        1.0,
        metavar="MM",
        read=_read_sizes,
        example="0.7",
        shown="pixels",
        rare=True,
        measuring="apart",
        none="none measures in pixels",
    )
    empty: Empty = option(
        "Leave out images with an empty mask, or give them the image's diagonal.",
        "undefined",
        rare=True,
        measuring="apart",
    )
    at: float | None = option_like(CutMasks, "at")
    classes: int | Sequence[int] | str | None = option_like(ClassLabelMaps, "classes")
    names: Sequence[str] | None = None
    void: Sequence[int] | None = option_like(
        CutMasks,
        "void",
        default=None,
        help="Treat pixels with these ground-truth values as background: 255, or 0,255, or none.",
        shown="255 with classes; none otherwise",
    )
    background: int | Sequence[int] | str = background_option()
    positive: Positive | None = option_like(CutMasks, "positive")
    gt_map: str | Mapping[int, int] = option_like(ClassLabelMaps, "gt_map")
    pred_map: str | Mapping[int, int] = option_like(ClassLabelMaps, "pred_map")
    palette: str | Mapping[tuple[int, int, int], int] = option_like(ClassLabelMaps, "palette")
    sequences: bool = option("Take folders as sequences, and values as objects, as in DAVIS.", False)
    all_frames: bool = option("Count the first and last frame of sequences, too.", False, rare=True)

    def __post_init__(self) -> None:
        check_settings(self)
        self._settle_convention()
        set_fields(self, spacing=_spacing(self.spacing), nsd=_tolerances(self.nsd))
        self._refuse_pairs()
        take_settings(self)
        if self._of_classes:
            labels, names = cast("Sequence[int]", self.classes), cast("Sequence[str]", self.names)
            set_fields(self, background=read_background(self.background, labels, names))

    @cached_property
    def inputs(self) -> ClassLabelMaps | SequenceObjects | CutMasks:
        """What files hold: label maps of classes, objects of sequences, or masks and soft maps."""
        inputs: ClassLabelMaps | SequenceObjects | CutMasks
        if self._of_classes:
            inputs = inputs_of(ClassLabelMaps, self, asked_by="Contours")
            return inputs
        reads = LABEL_MAPS if self.at is None else MASKS
        if self.sequences and not self.all_frames:
            otherwise = Message(
                "fix", "or count what is there as all frames, {setting}", setting=Setting("all_frames", True)
            )
            reads = replace(reads, whole_folders=otherwise)
        settings = {"void": () if self.void is None else self.void, "no_volumes": _NO_VOLUMES}
        if self.sequences and self.positive is None:
            inputs = inputs_of(SequenceObjects, self, reads=replace(reads, sequences=True), **settings)
        else:
            reads = replace(reads, sequences=self.sequences)
            inputs = inputs_of(CutMasks, self, reads=reads, of_labels=_advice_on_labels, **settings)
        return inputs

    def _settle_convention(self) -> None:
        """Set what a tool decides; a setting that says otherwise is refused."""
        of_tool = _OF_TOOLS[self.convention or "metrics-reloaded"]
        for name, value in of_tool.items():
            if getattr(self, name) in (None, False):
                set_fields(self, **{name: value})
            elif self.convention is not None and getattr(self, name) != value:
                raise self._differ(self.convention, name, getattr(self, name))
        set_fields(self, convention=None)

    def _differ(self, convention: str, name: str, value: Any) -> ArgumentError:
        """Return the error for a setting that is not that of the tool asked for."""
        return ArgumentError(
            Message(
                "exclusive-settings",
                "{setting} and {other} differ; leave one out",
                setting=Setting("convention", convention),
                other=Setting(name, value),
            )
        )

    def _refuse_pairs(self) -> None:
        """Refuse settings that do not go together."""
        defaults: dict[str, Any] = {each.name: each.default for each in fields(self)}
        defaults |= _OF_TOOLS["metrics-reloaded"]
        objects = self.sequences and self.positive is None
        of_labels = Message(
            "text",
            "is for label maps; name their classes, {classes}, or leave it out",
            classes=Setting("classes", None),
        )
        of_masks = Message(
            "text",
            "is not for label maps; leave it or {other} out",
            other=Setting("palette" if self.classes is None else "classes", None),
        )
        one_mask = Message(
            "text",
            "needs a single mask in each frame of sequences; give {positive}, too",
            positive=Setting("positive", None),
        )
        of_sequences = Message(
            "text", "is for sequences; add {sequences}, or leave it out", sequences=Setting("sequences", True)
        )
        no_effect = Message("text", "has no effect on sequences, of which J and F are measured; leave it out")
        for refused, names, reason in (
            (not self._of_classes, ("names", "background", "gt_map", "pred_map"), of_labels),
            (self._of_classes, ("at", "positive", "sequences"), of_masks),
            (objects, ("at",), one_mask),
            (not self.sequences, ("all_frames",), of_sequences),
            (self.sequences, ("surface", "hd95", "nsd", "spacing", "empty"), no_effect),
        ):
            wrong = [name for name in names if getattr(self, name) != defaults[name]]
            if refused and wrong:
                raise ArgumentError(
                    Message("unfit-setting", "{setting} {reason}", setting=Setting(wrong[0], None), reason=reason)
                )

    def with_settings(self, **settings: Any) -> Self:
        """Return the protocol that measures the same counts otherwise, see `Protocol`; a convention sets ``hd95``."""
        convention = settings.pop("convention", None)
        if convention is not None:
            check_choice(convention, Setting("convention", None), _OF_TOOLS)
            of_tool = dict(_OF_TOOLS[convention])
            hd95 = of_tool.pop("hd95")
            if settings.setdefault("hd95", hd95) != hd95:
                raise self._differ(convention, "hd95", settings["hd95"])
            for name, value in of_tool.items():
                if getattr(self, name) != value:
                    raise ArgumentError(
                        Message(
                            "other-settings",
                            "{setting} is for counts with {name}:{expected}, and these have {name}:{counted}; "
                            "count again with it",
                            setting=Setting("convention", convention),
                            name=name,
                            expected=setting_text(value),
                            counted=setting_text(getattr(self, name)),
                        )
                    )
        return super().with_settings(**settings)

    def measuring_settings(self) -> frozenset[str]:
        """Return the settings of masks or of label maps; sequences have none, as J and F are measured of them."""
        if self.sequences:
            return frozenset()
        return super().measuring_settings() - (frozenset() if self._of_classes else {"background"})

    @property
    def _of_classes(self) -> bool:
        """Whether label maps are compared."""
        return self.classes is not None or self.palette != ""

    @property
    def _kind(self) -> str:
        """What counts hold: a mask, objects, or classes as text."""
        if self.classes is not None:
            return written_classes(cast("Sequence[int]", self.classes), cast("Sequence[str]", self.names))
        return _OBJECTS if self.sequences and self.positive is None else _MASKS

    def measured_with(self, image: str) -> str:
        """Name the sequence of a frame, as decay and the objects to find take all frames."""
        return image.rpartition("/")[0] if self.sequences else image

    @property
    def distance_unit(self) -> str:
        return self.conventions.unit

    @cached_property
    def conventions(self) -> Conventions:
        """How metrics are computed from counts."""
        from segbench.protocols.contours.measures import Conventions

        nsd = cast("tuple[float, ...]", self.nsd)
        return Conventions(hd95=cast("Percentile", self.hd95), empty=self.empty, spacing=self.spacing, nsd=nsd)

    @property
    def usual_unit(self) -> str:
        return "folder" if self.sequences else ""

    def signature_fields(self) -> dict[str, str]:
        """Name the settings that a metric depends on, and the tool that has the same conventions."""
        known = [
            name for name, of in _OF_TOOLS.items() if all(getattr(self, key) == value for key, value in of.items())
        ]
        tool = ["davis", "none"][self.all_frames] if self.sequences else (*known, "none")[0]
        found = {
            "convention": _VERSIONS.get(tool, tool),
            "classes": self._kind,
            "void": ",".join(map(str, self.void or ())) or "none",
        }
        if self.sequences:
            found["frames"] = "all" if self.all_frames else "inner"
        else:
            found |= {
                "surface": str(self.surface),
                "hd95": str(self.hd95),
                "empty": self.empty,
                "spacing": written((self.spacing,)),
                "nsd": written(cast("tuple[float, ...]", self.nsd)) or "none",
            }
        if self._kind == _MASKS:
            found["positive"] = str(self.positive or "nonzero").replace(" ", "")
        if self.at is not None:
            found["at"] = written((self.at,))
        if isinstance(self.inputs, ClassLabelMaps):
            background = cast("tuple[int, ...]", self.background)
            if background:
                found["background"] = labels_text(background)
            found |= self.inputs.signed_maps
        return found

    @classmethod
    def measuring(cls, counts: Counts) -> Contours:
        ours = cast("ContourCounts", counts)
        if ours.classes == _OBJECTS:
            return cls(sequences=True)
        return cls._measuring(ours.classes, surface=ours.surface)

    @classmethod
    def _measuring(cls, classes: str, **settings: Any) -> Contours:
        if classes == _MASKS:
            return cls(**settings)
        labels, names = read_classes(classes)
        return cls(classes=labels, names=names, void=(), **settings)

    def metrics(self) -> tuple[Metric, ...]:
        from segbench.protocols.contours.metrics import SEQUENCE_TOTALS, SEQUENCES, TOTALS, metrics_of

        if self.sequences:
            return (*SEQUENCES, *SEQUENCE_TOTALS)
        return (*metrics_of(self.conventions, classes=self.classes is not None), *TOTALS)

    def table(self, per_image: Mapping[str, ContourCounts]) -> Table:
        from segbench.protocols.contours.metrics import ContourTable, SequenceTable

        if self.sequences:
            return SequenceTable(per_image, all_frames=self.all_frames)
        background, remapped = cast("Sequence[int]", self.background), bool(self.gt_map or self.pred_map)
        return ContourTable(
            self._kind, self.conventions, self.metrics(), per_image, background=background, remapped=remapped
        )

    @property
    def axes(self) -> tuple[str, ...]:
        """Return the objects of sequences, or the classes of label maps; masks have neither."""
        if self.sequences:
            return ("object",)
        return ("class",) if self._of_classes else ()

    def divided(self, axis: str, per_image: Mapping[str, Any]) -> can.Division:
        """Take out each class, or each object of a sequence, as a mask."""
        if axis == "object":
            return self._by_object(per_image)
        labels = cast("Sequence[int]", self.classes)
        return divided_by_class(
            zip(labels, cast("Sequence[str]", self.names), strict=True),
            per_image,
            self.of_class,
            lambda counts, label, _: counts.one(labels.index(label)),
            why_not_pooled=_NOT_POOLED,
        )

    def of_class(self, label: int) -> _ClassAsMask:
        """Return the protocol that measures one of the classes as a mask."""
        settings = {
            setting.name: getattr(self, setting.name) for setting in fields(self) if setting.name not in _OF_CLASSES
        }
        return _ClassAsMask(**settings, of=self, label=label)

    def _by_object(self, per_image: Mapping[str, Any]) -> can.Division:
        from segbench.protocols.contours.metrics import objects_of

        counts, parts = dict(per_image), {}
        for name, (frames, place) in objects_of(counts, all_frames=self.all_frames).items():
            in_sequence = partial(_is_in, sequence_of(frames[0]))
            parts[name] = can.Part(
                self if self.positive is not None else replace(self, positive=str(place + 1)),
                {"object": name},
                {image: of_image.one(place) for image, of_image in counts.items() if in_sequence(image)},
                in_sequence,
            )
        return can.Division(parts, pooled=_FRAMES_NOT_POOLED, averaged=True)

    def prepare(self, say: Callable[[str], None]) -> None:
        import numpy as np

        from segbench.protocols.contours.counting import count_masks
        from segbench.protocols.contours.places import Places

        masks = np.eye(3, dtype=np.uint8)
        count_masks(Places(masks, masks.T.copy(), 1), classes=_MASKS, surface=str(self.surface))

    def count(self, sample: Sample) -> Counted:
        from segbench.protocols.contours.counting import count_masks

        image: Any = self.inputs.interpret(sample)
        counts = count_masks(self._places(image), classes=self._kind, surface=str(self.surface))
        return Counted(counts, image.facts, image.notes)

    @property
    def states_called(self) -> Mapping[int, str]:  # type: ignore[override]  # distances depend on the settings
        """What pictures distinguish: in steps of the smallest tolerance of NSD."""
        near, unit = self._near * self.spacing, self.distance_unit or "px"
        return {
            State.PARTNER: f"predicted contour, up to {near:g} {unit} off",
            State.NEAR: f"predicted, up to {2 * near:g} {unit} off",
            State.FAR: f"predicted, up to {5 * near:g} {unit} off",
            State.FALSE: "predicted, farther off",
            State.TRUE: f"true contour, up to {near:g} {unit} off",
            State.MISSED: "true, farther off",
        }

    def states(self, sample: Sample, threshold: float, counts: Any = None) -> NDArray[np.uint8]:
        """Mark the pixels of both contours by their distance to the other, see `states_called`."""
        from segbench.protocols.contours.pictures import contour_states

        return contour_states(self._places(self.inputs.interpret(sample)), self._near)[0]

    def pictures(self, sample: Sample, counts: Any, thresholds: FloatArray) -> Pictures:
        """Draw an image for the report page: its contours, and how far the predicted ones are off, in grey."""
        from segbench.protocols.contours.pictures import contour_pictures

        table = self.table({sample.name: counts})
        return contour_pictures(
            self._places(self.inputs.interpret(sample)), self._near, self.metrics(), table.image_summary()
        )

    @property
    def _near(self) -> float:
        """How far apart contours may be in pictures, in pixels: the smallest tolerance above 0, or 2 pixels."""
        return next((each / self.spacing for each in cast("tuple[float, ...]", self.nsd) if each), 2.0)

    def _places(self, image: Any) -> Places:
        """Return the places of the masks of an image, as it is interpreted."""
        from segbench.protocols.contours import places

        if isinstance(self.inputs, ClassLabelMaps):
            return places.places_of_classes(image, self.inputs)
        if isinstance(self.inputs, SequenceObjects):
            return places.places_of_objects(image)
        return places.places_of_mask(image)


def _spacing(value: Any) -> float:
    """Read the size of a pixel; of several numbers only equal ones make sense in two dimensions."""
    if not isinstance(value, (int, float)) and hasattr(value, "__len__"):
        sizes = set(value)
        if len(sizes) > 1 or len(value) > 2:
            raise ArgumentError(
                Message(
                    "not-square",
                    "{setting} is ({sizes}), and distances need square pixels, as wide as they are high; "
                    "see docs/limits.md for what measures others; resampled masks have other values",
                    setting=Setting("spacing", None),
                    sizes=tuple(value),
                )
            )
        (value,) = sizes or (None,)
    return as_real(value, Setting("spacing", None), "a size above 0", least=0, most=1e9, open_ends=True)


def _tolerances(values: Any) -> tuple[float, ...]:
    single = isinstance(values, (int, float)) and not isinstance(values, bool)
    several = (values,) if single else listed(values, "nsd", "(1, 2)")
    expected = "tolerances of 0 or more"
    return tuple(sorted({as_real(value, Setting("nsd", None), expected, least=0, most=1e9) for value in several}))


@dataclass(frozen=True, kw_only=True)
class _ClassAsMask(OneClass, Contours):
    """One of several classes, measured as a mask."""

    of: Contours
    label: int
