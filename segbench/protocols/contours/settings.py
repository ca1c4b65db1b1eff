"""Settings of the contours protocol: which masks are compared, and by the conventions of which tool."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property, partial
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from segbench.core import protocol as can
from segbench.core.counts import Counts, counts_in
from segbench.core.errors import VOLUMES, ArgumentError
from segbench.core.messages import Either, Message, Note, Setting, protocol_with
from segbench.core.metric import VOXELS, Metric
from segbench.core.numbers import written
from segbench.core.protocol import Counted, Protocol, inputs_of, take_settings
from segbench.core.sample import Reading, Sample, refuse_other_dimensions
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
from segbench.inputs.class_names import (
    background_option,
    labels_text,
    read_background,
    read_class_labels,
    written_classes,
)
from segbench.inputs.class_regions import ClassLabel
from segbench.inputs.cut_masks import CutMasks
from segbench.inputs.label_rules import MANY_LEVELS, Positive
from segbench.inputs.numbered_objects import SequenceObjects, sequence_of
from segbench.inputs.spacing import (
    HEADER,
    Lookup,
    Sizes,
    Spacing,
    as_lookup,
    exact,
    is_of_volumes,
    read_spacing,
    reading_for,
    sizes_of,
    spacing_text,
    typed_spacing,
    typed_text,
    why_not_without_name,
)
from segbench.loaders.reading import LABEL_MAPS, MASKS
from segbench.protocols.contours.conventions import (
    MEASURED_AS_TOOL,
    PIXELS_OF_VOXELS,
    SETTINGS_OF_TOOLS,
    VERSIONS,
    VOXELS_OF_PIXELS,
    Convention,
    Percentile,
    Surface,
)
from segbench.protocols.one_class import OneClass, divided_by_class
from segbench.protocols.states import State

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from segbench.core.arrays import FloatArray
    from segbench.core.pictures import Pictures
    from segbench.core.table import Table
    from segbench.protocols.contours.counting import NumberedMasks
    from segbench.protocols.contours.counts import ContourCounts
    from segbench.protocols.contours.measures import Conventions

_MASKS, _OBJECTS = "masks", "objects"
_WORDS_FOR_EMPTY = ("undefined", "diagonal")
_NO_VOLUMES = f"J and F of sequences are measured in two dimensions: {VOLUMES}"
_ROUNDED = Note(
    Message(
        "rounded-spacing",
        "spacings are rounded to the finest common unit in which squared distances have 62 bits",
    )
)
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


def _typed_empty(text: str) -> str | float:
    """Read what distances of an empty mask are: a word, or a number."""
    if text in _WORDS_FOR_EMPTY:
        return text
    try:
        return float(text)
    except ValueError:
        raise ValueError("is neither undefined nor diagonal nor a number") from None


@dataclass(frozen=True, kw_only=True)
class Contours(Protocol, can.Verb, can.FromCounts, can.Divided, can.Pictured):
    """Settings of the contours protocol.

    Parameters
    ----------
    convention : {"metrics-reloaded", "medpy", "deepmind", "brats", "davis"}, optional
        Set `surface`, ``hd95`` and `empty` as this tool has them, or `sequences`: Metrics Reloaded and MONAI, medpy
        from version 0.5.2, Google DeepMind's surface-distance, the code of BraTS 2023, or DAVIS. nnU-Net 2 measures no
        distances, and has none.
    surface : {"pixels", "lengths", "voxels", "areas"}
        What contours are made of: the pixels of a mask with a neighbour of four outside, or elements between the
        centres of pixels, weighted by their length. Of volumes the surface: the voxels of a mask with a neighbour of
        six outside, by default, or elements between the centres of voxels, weighted by their area.
    hd95 : {"larger", "union"}
        The larger of the 95th percentiles of both directions, or that of both directions together.
    nsd : float or sequence of float
        Tolerances of NSD, in pixels or in the unit of `spacing`, 0 or more.
    spacing : float, sequence of float, mapping, path, or "header", optional
        How far apart pixels or voxels are: distances and tolerances are then in mm. One number is that along all axes;
        several are in the order of the axes, (height, width) or (depth, height, width). A mapping has those of each
        image by its name, and a CSV file in a column `spacing`, as width x height x depth: ``0.78x0.78x3``. With
        ``"header"`` they are those of the ground truth's header. None: of volumes those of headers that have them, else
        1.
    empty : {"undefined", "diagonal"} or float
        What distances are where one mask is empty: undefined, the diagonal of the image, or a number in pixels or mm;
        where both are, 0.
    at : float, optional
        Predictions are soft maps, and scores of at least this belong to the mask. None: they are masks.
    classes : int, sequence or str, optional
        The labels of the classes of label maps, or regions that overlap, as in `Labels`. None: ground truth and
        predictions are masks.
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
    >>> Contours(spacing=(3, 0.78, 0.78), nsd=[1, 2]).signature_fields()["spacing"]
    '0.78x0.78x3'
    """

    name: ClassVar[str] = "contours"
    reads: ClassVar[Reading] = LABEL_MAPS
    takes_volumes: ClassVar[bool] = True
    counts = counts_in("segbench.protocols.contours.counts", "ContourCounts")
    draws_lines: ClassVar[bool] = True
    title: ClassVar[str] = (
        "Contours of masks are compared: Hausdorff and mean distances, NSD, Boundary IoU, and J and F of DAVIS."
    )
    examples: ClassVar[tuple[str, ...]] = ("GT PRED --at 0.5 --nsd 1,2", "GT PRED --convention medpy --spacing 0.7")
    convention: Convention | None = option(
        "Follow the conventions of a tool in all settings; brats is the code of 2023.",
        shown="metrics-reloaded",
        measuring="shorthand",
    )
    surface: Surface | None = option(
        "Measure between pixels (voxels), or elements with their lengths (areas).",
        shown="pixels, of volumes voxels",
        rare=True,
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
    spacing: float | Sequence[Any] | Mapping[str, Any] | str | PathLike[str] | None = option(
        "Set the size of pixels in mm: of all images, of each (CSV), or as headers have it.",
        metavar="MM|WxHxD|header|FILE.csv",
        read=typed_spacing,
        write=typed_text,
        example="0.78x0.78x3",
        shown="pixels, of volumes header",
        measuring="apart",
        may_count=True,
        none="none measures in pixels",
    )
    empty: str | float = option(
        "Leave out images with an empty mask, or give them the image's diagonal, or a number.",
        "undefined",
        metavar="undefined|diagonal|NUMBER",
        read=_typed_empty,
        example="diagonal",
        rare=True,
        measuring="apart",
    )
    at: float | None = option_like(CutMasks, "at")
    classes: int | Sequence[ClassLabel | Sequence[int]] | str | None = option_like(ClassLabelMaps, "classes")
    names: Sequence[str] | None = None
    void: Sequence[int] | None = option_like(
        CutMasks,
        "void",
        default=None,
        help="Treat pixels with these ground-truth values as background: 255, or 0,255, or none.",
        shown="255 with classes; none otherwise",
    )
    background: int | Sequence[int] | str | None = background_option()
    positive: Positive | None = option_like(CutMasks, "positive")
    gt_map: str | Mapping[int, int] = option_like(ClassLabelMaps, "gt_map")
    pred_map: str | Mapping[int, int] = option_like(ClassLabelMaps, "pred_map")
    palette: str | Mapping[tuple[int, int, int], int] = option_like(ClassLabelMaps, "palette")
    sequences: bool = option("Take folders as sequences, and values as objects, as in DAVIS.", False)
    all_frames: bool = option("Count the first and last frame of sequences, too.", False, rare=True)

    def __post_init__(self) -> None:
        check_settings(self)
        self._settle_convention()
        set_fields(self, spacing=None if self.spacing is None else read_spacing(self.spacing))
        set_fields(self, nsd=_tolerances(self.nsd), empty=_empty(self.empty))
        self._refuse_pairs()
        take_settings(self)
        set_fields(self, reads=reading_for(self.reads, self._spacing))
        labels, names = cast("Sequence[ClassLabel]", self.classes), cast("Sequence[str]", self.names)
        set_fields(self, background=read_background(self.background, labels, names) if self._of_classes else ())

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
        no_volumes = _NO_VOLUMES if self.sequences else ""
        settings = {"void": () if self.void is None else self.void, "no_volumes": no_volumes}
        if self.sequences and self.positive is None:
            inputs = inputs_of(SequenceObjects, self, reads=replace(reads, sequences=True), **settings)
        else:
            reads = replace(reads, sequences=self.sequences)
            inputs = inputs_of(CutMasks, self, reads=reads, of_labels=_advice_on_labels, **settings)
        return inputs

    def _settle_convention(self) -> None:
        """Set what a tool decides; a setting that says otherwise is refused."""
        of_tool = SETTINGS_OF_TOOLS[self.convention or "metrics-reloaded"]
        for name, value in of_tool.items():
            if getattr(self, name) in (None, False) or (name == "empty" and self.empty == "undefined"):
                set_fields(self, **{name: value})
            elif self.convention is not None and self._in_two_dimensions(name) != value:
                raise self._differ(self.convention, name, getattr(self, name))
        set_fields(self, convention=None)

    def _in_two_dimensions(self, name: str) -> Any:
        """Return the value of a setting; of a surface of volumes what corresponds to it in two dimensions."""
        value = getattr(self, name)
        return PIXELS_OF_VOXELS.get(value, value)

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
        defaults: dict[str, Any] = {setting.name: setting.default for setting in fields(self)}
        defaults |= SETTINGS_OF_TOOLS["metrics-reloaded"]
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
            wrong = [name for name in names if getattr(self, name) not in (defaults[name], ())]
            if refused and wrong:
                raise ArgumentError(
                    Message("unfit-setting", "{setting} {reason}", setting=Setting(wrong[0], None), reason=reason)
                )

    def with_settings(self, **settings: Any) -> Self:
        """Return the protocol that measures the same counts otherwise; a convention sets ``hd95``, or `empty`, too."""
        convention = settings.pop("convention", None)
        if convention is not None:
            check_choice(convention, Setting("convention", None), SETTINGS_OF_TOOLS)
            of_tool = dict(SETTINGS_OF_TOOLS[convention])
            for name in MEASURED_AS_TOOL:
                value = of_tool.pop(name, settings.get(name, getattr(self, name)))
                if settings.setdefault(name, value) != value:
                    raise self._differ(convention, name, settings[name])
            for name, value in of_tool.items():
                if self._in_two_dimensions(name) != value:
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
        changed = super().with_settings(**settings)
        if self.has_factor and not changed.has_factor:
            raise ArgumentError(
                Message(
                    "not-measuring",
                    "{given} is no setting of measuring of {protocol}, which are: {known}; {fix}",
                    given=Setting("spacing", None),
                    protocol=self.name,
                    known=", ".join(sorted(self.measuring_settings())),
                    fix="count again with it, or give one number",
                )
            )
        return changed

    def measuring_settings(self) -> frozenset[str]:
        """Return the settings of masks or of label maps; sequences have none, as J and F are measured of them.

        A spacing that is not the same along all axes of all images decides which distances are counted.
        """
        if self.sequences:
            return frozenset()
        counting = {"background"} if not self._of_classes else set()
        return super().measuring_settings() - counting - (set() if self.has_factor else {"spacing"})

    @property
    def has_factor(self) -> bool:
        """Whether the spacing is one number for all images, by which distances in pixels are multiplied."""
        return isinstance(self._spacing, float)

    @property
    def _spacing(self) -> Spacing:
        """The spacing, which is 1 where none is given."""
        return 1.0 if self.spacing is None else cast("Spacing", self.spacing)

    @property
    def of_volumes(self) -> bool:
        """Whether surfaces of volumes are measured."""
        return self.surface in PIXELS_OF_VOXELS

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
        if self.sequences:
            return self
        spacing = HEADER if with_header and self.spacing is None else self.spacing
        return replace(self, surface=VOXELS_OF_PIXELS.get(str(self.surface), self.surface), spacing=spacing)

    @property
    def _of_classes(self) -> bool:
        """Whether label maps are compared."""
        return self.classes is not None or self.palette != ""

    @property
    def _kind(self) -> str:
        """What counts hold: a mask, objects, or classes as text."""
        if self.classes is not None:
            return written_classes(cast("Sequence[ClassLabel]", self.classes), cast("Sequence[str]", self.names))
        return _OBJECTS if self.sequences and self.positive is None else _MASKS

    def measured_with(self, image: str) -> str:
        """Name the sequence of a frame, as decay and the objects to find take all frames."""
        return image.rpartition("/")[0] if self.sequences else image

    @property
    def distance_unit(self) -> str:
        return self.conventions.unit or (VOXELS if self.of_volumes else "")

    @cached_property
    def conventions(self) -> Conventions:
        """How metrics are computed from counts."""
        from segbench.protocols.contours.measures import Conventions

        return Conventions(
            hd95=cast("Percentile", self.hd95),
            empty=self.empty,
            spacing=self._factor,
            nsd=cast("tuple[float, ...]", self.nsd),
            unit="" if self._spacing == 1 else "mm",
            is_flat=not self.of_volumes,
        )

    @property
    def _factor(self) -> float:
        """What distances are multiplied by after counting."""
        return cast("float", self._spacing) if self.has_factor else 1.0

    @property
    def usual_unit(self) -> str:
        return "folder" if self.sequences else ""

    def signature_fields(self) -> dict[str, str]:
        """Name the settings that a metric depends on, and the tool that has the same conventions."""
        known = (
            name
            for name, of_tool in SETTINGS_OF_TOOLS.items()
            if all(self._in_two_dimensions(key) == value for key, value in of_tool.items())
        )
        tool = next(known, "none")
        if self.sequences and self.all_frames:
            tool = "none"
        signed = {
            "convention": VERSIONS.get(tool, tool),
            "classes": self._kind,
            "void": ",".join(map(str, self.void or ())) or "none",
        }
        if self.sequences:
            signed["frames"] = "all" if self.all_frames else "inner"
        else:
            signed |= {
                "surface": str(self.surface),
                "hd95": str(self.hd95),
                "empty": self.empty if isinstance(self.empty, str) else written(self.empty),
                "spacing": spacing_text(self._spacing),
                "nsd": written(cast("tuple[float, ...]", self.nsd)) or "none",
            }
        if self._kind == _MASKS:
            signed["positive"] = str(self.positive or "nonzero").replace(" ", "")
        if self.at is not None:
            signed["at"] = written((self.at,))
        if isinstance(self.inputs, ClassLabelMaps):
            background = cast("tuple[int, ...]", self.background)
            if background:
                signed["background"] = labels_text(background)
            signed |= self.inputs.signed_maps
        return signed

    @classmethod
    def measuring(cls, counts: Counts) -> Contours:
        contours = cast("ContourCounts", counts)
        if contours.classes == _OBJECTS:
            return cls(sequences=True)
        return cls._measuring(contours.classes, surface=contours.surface, spacing=HEADER if contours.unit else None)

    @classmethod
    def _measuring(cls, classes: str, **settings: Any) -> Contours:
        if classes == _MASKS:
            return cls(**settings)
        labels, names = read_class_labels(classes)
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
        labels = cast("Sequence[ClassLabel]", self.classes)
        return divided_by_class(
            zip(labels, cast("Sequence[str]", self.names), strict=True),
            per_image,
            self.of_class,
            lambda counts, label, _: counts.one(labels.index(label)),
            why_not_pooled=_NOT_POOLED,
        )

    def of_class(self, label: ClassLabel) -> _ClassAsMask:
        """Return the protocol that measures one of the classes as a mask."""
        settings = {
            setting.name: getattr(self, setting.name) for setting in fields(self) if setting.name not in _OF_CLASSES
        }
        return _ClassAsMask(**settings, of=self, label=label)

    def _by_object(self, per_image: Mapping[str, Any]) -> can.Division:
        from segbench.protocols.contours.metrics import objects_of

        counts, parts = dict(per_image), {}
        for name, (frames, mask) in objects_of(counts, all_frames=self.all_frames).items():
            in_sequence = partial(_is_in, sequence_of(frames[0]))
            parts[name] = can.Part(
                self if self.positive is not None else replace(self, positive=str(mask + 1)),
                {"object": name},
                {image: of_image.one(mask) for image, of_image in counts.items() if in_sequence(image)},
                in_sequence,
            )
        return can.Division(parts, pooled=_FRAMES_NOT_POOLED, averaged=True)

    def prepare(self, say: Callable[[str], None]) -> None:
        import numpy as np

        from segbench.protocols.contours.counting import NumberedMasks, count_masks

        mask = np.eye(3, dtype=np.uint8)
        uneven = (1.0, 1.0000001)  # whose squares need 64 bits
        if not self.of_volumes:
            sizes: Sequence[Sizes | None] = [None] if self.has_factor else [(1.0, 1.0), uneven]
            sides = mask, mask.T.copy()
        else:
            sizes = [(1.0, 1.0, 1.0), (1.0, *uneven)]
            sides = np.array([mask, mask, 0 * mask]), np.array([mask, 0 * mask, mask])
        for of_image in sizes:
            count_masks(NumberedMasks(*sides, 1), classes=_MASKS, surface=cast("Surface", self.surface), sizes=of_image)

    def count(self, sample: Sample) -> Counted:
        from segbench.protocols.contours.counting import count_masks

        image: Any = self.inputs.interpret(sample)
        masks = self._masks(image)
        self._refuse_dimensions(sample)
        sizes = sizes_of(self._spacing_by_image, sample, masks.truth.ndim)
        counts = count_masks(masks, classes=self._kind, surface=cast("Surface", self.surface), sizes=sizes)
        return Counted(counts, image.facts, (*image.notes, *self._notes_on_spacing(sample, counts, sizes)))

    def refuse_unfit(self, sample: Sample) -> None:
        self._refuse_dimensions(sample)
        sizes_of(self._spacing_by_image, sample, 3 if sample.volume else 2)

    @cached_property
    def _spacing_by_image(self) -> Lookup:
        """The spacing; of each image by its name where they differ."""
        return as_lookup(self._spacing)

    def _refuse_dimensions(self, sample: Sample) -> None:
        """Refuse an image of other dimensions than the surface is for."""
        refuse_other_dimensions(sample, Setting("surface", self.surface) if self.of_volumes else None)

    def _notes_on_spacing(self, sample: Sample, counts: ContourCounts, sizes: Sizes | None) -> tuple[Note, ...]:
        """Say where spacings are rounded, and where distances are not in the unit that the header knows."""
        if sizes is not None:
            unit = Fraction(counts.unit)
            steps = counts.steps[0].tolist()
            is_exact = all(step * unit == exact(size) for step, size in zip(steps, sizes, strict=True))
            return () if is_exact else (_ROUNDED,)
        if sample.spacing is None or set(sample.spacing) == {self._spacing}:
            return ()
        message = Message(
            "header-spacing",
            "headers have spacings, which {used} overrides; {setting} measures with those",
            used=Setting("spacing", self._factor),
            setting=Setting("spacing", HEADER),
        )
        if self._spacing == 1:
            message = Message(
                "header-spacing",
                "distances are in {unit}, and headers have spacings; {setting} measures in mm",
                unit=self.distance_unit or "pixels",
                setting=Setting("spacing", HEADER),
            )
        return (Note(message),)

    @property
    def states_called(self) -> Mapping[int, str]:  # type: ignore[override]  # distances depend on the settings
        """What pictures distinguish: in steps of the smallest tolerance of NSD."""
        near, unit = self._near * self._factor, self.distance_unit or "px"
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

        masks = self._drawn_masks(sample)
        return contour_states(masks, self._near, self._sizes_of(sample, masks))[0]

    def pictures(self, sample: Sample, counts: Any, thresholds: FloatArray) -> Pictures:
        """Draw an image for the report page: its contours, and how far the predicted ones are off, in grey."""
        from segbench.protocols.contours.pictures import contour_pictures

        table = self.table({sample.name: counts})
        masks = self._drawn_masks(sample)
        sizes = self._sizes_of(sample, masks)
        return contour_pictures(masks, self._near, sizes, self.metrics(), table.image_summary())

    def _sizes_of(self, sample: Sample, masks: NumberedMasks) -> Sizes | None:
        """Return the sizes of pixels or voxels, unless those of an image are 1."""
        dimensions = masks.truth.ndim
        sizes = sizes_of(self._spacing_by_image, sample, dimensions)
        return (1.0, 1.0, 1.0) if sizes is None and dimensions == 3 else sizes

    @property
    def _near(self) -> float:
        """How far apart contours may be in pictures, in pixels: the smallest tolerance above 0, or 2 pixels."""
        tolerances = cast("tuple[float, ...]", self.nsd)
        return next((tolerance / self._factor for tolerance in tolerances if tolerance), 2.0)

    def _drawn_masks(self, sample: Sample) -> NumberedMasks:
        """Return the masks of an image that count in means: the contour of the background would be a frame."""
        masks = self._masks(self.inputs.interpret(sample))
        classes, background = cast("Sequence[ClassLabel]", self.classes), cast("tuple[int, ...]", self.background)
        return masks.without([classes.index(label) + 1 for label in background]) if background else masks

    def _masks(self, image: Any) -> NumberedMasks:
        """Return the masks of an image, as it is interpreted."""
        from segbench.protocols.contours import counting

        if isinstance(self.inputs, ClassLabelMaps):
            return counting.masks_of_classes(image, self.inputs)
        if isinstance(self.inputs, SequenceObjects):
            return counting.masks_of_objects(image)
        return counting.masks_of_pair(image)


def _empty(value: Any) -> str | float:
    """Read what distances of an empty mask are."""
    if isinstance(value, str) and value in _WORDS_FOR_EMPTY:
        return value
    expected = "'undefined', 'diagonal' or a number from 0 to 1e9"
    return as_real(value, Setting("empty", None), expected, least=0, most=1e9)


def _tolerances(values: Any) -> tuple[float, ...]:
    """Read the tolerances of NSD, rising."""
    single = isinstance(values, (int, float)) and not isinstance(values, bool)
    several = (values,) if single else listed(values, "nsd", "(1, 2)")
    expected = "tolerances from 0 to 1e9"
    return tuple(sorted({as_real(value, Setting("nsd", None), expected, least=0, most=1e9) for value in several}))


@dataclass(frozen=True, kw_only=True)
class _ClassAsMask(OneClass, Contours):
    """One of several classes, measured as a mask."""

    of: Contours
    label: ClassLabel
