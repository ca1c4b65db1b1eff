"""Settings of the labels protocol: which labels are classes, and how label maps become confusion matrices.

Begin with `Labels`; `ClassAgainstOthers` measures one class of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

from segbench.core import protocol as can
from segbench.core.counts import Counts, counts_in
from segbench.core.errors import ArgumentError, DataError
from segbench.core.messages import Either, Message, Setting
from segbench.core.metric import Metric, image_headline
from segbench.core.protocol import Counted, Protocol, inputs_of, take_settings
from segbench.core.sample import Reading, Sample
from segbench.core.settings import check_settings, option, option_like, read_whole, set_fields
from segbench.inputs.class_label_maps import ClassLabelMaps
from segbench.inputs.class_names import (
    background_option,
    labels_text,
    read_background,
    read_class_labels,
    written_classes,
)
from segbench.inputs.class_regions import ClassLabel, has_regions
from segbench.inputs.label_inputs import LabelInputs
from segbench.inputs.label_masks import LabelMasks
from segbench.inputs.label_rules import Positive, where_not_void
from segbench.inputs.label_values import places_of
from segbench.loaders.reading import LABEL_MAPS
from segbench.protocols.one_class import OneClass, divided_by_class
from segbench.protocols.states import OF_MASKS, State, states_of_labels

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from segbench.core.arrays import BoolArray, FloatArray
    from segbench.core.pictures import Pictures
    from segbench.inputs.label_maps import InterpretedMaps, LabelMaps
    from segbench.protocols.labels.counts import LabelCounts
    from segbench.protocols.labels.metrics import LabelTable

_MASKS = "masks"
_MASK_CLASSES = "negative=0,positive=1"
_NOT_POOLED = "pooled over classes, precision, recall and Dice are all the pixel accuracy of the label maps"
_MOST_DRAWN = (
    253  # beside these, 8 bits hold no class, what is left out, and what lies between the lines of its hatching
)


@dataclass(frozen=True, kw_only=True)
class Labels(Protocol, can.Verb, can.FromCounts, can.OnDevice, can.Divided, can.Pictured):
    """Settings of the labels protocol.

    Parameters
    ----------
    classes : int, sequence or str, optional
        The labels of the classes: ``19`` for 0 to 18, ``range(1, 21)``, or a text as the command line takes it:
        ``"0-18"``, ``"road=0,car=13"``, a file with a label and a name a line. Regions of several labels, which may
        overlap, are ``"WT=1+2+3,TC=1+3,ET=3"``, or ``[(1, 2, 3), (1, 3), 3]`` with `names`; label 0 lies outside them.
        None: ground truth and predictions are masks.
    names : sequence of str, optional
        What the classes are called; by default by their labels.
    void : sequence of int, optional
        Ground-truth labels of pixels that are left out and counted as ignored; one, or several. By default 255 with
        classes, unless it is one of them, and none with masks.
    background : int, sequence of int or str, optional
        Labels of classes that are counted as all others are, and left out of means over classes: ``0`` where these are
        to be means over organs alone, ``()`` for none. None: label 0 if `classes` is a ``dataset.json`` of nnU-Net or
        the Medical Segmentation Decathlon that calls it background.
    positive : str, float or sequence of float, optional
        Of masks: which ground-truth values are positive, as in `segbench.Pixels`. None: the set must hold exactly two
        values, and the larger is positive. A bound at half of a scale (``">=128"``) also cuts predictions of more than
        two values, unless `predicted_positive` says otherwise; beside other bounds these are refused.
    predicted_positive : str, float or sequence of float, optional
        Of masks: which values of the predictions are positive, as stored: ``">=128"`` for 8-bit probabilities,
        ``">=0.5"`` for floats. None: 0 is negative and the only other value positive. Arrays of type bool are taken as
        they are.
    both_empty : {1}, optional
        What means over cases (``dice_cases`` and the like) take where neither side holds a class: 1, as BraTS does.
        None leaves such a case out of the mean of the class.
    gt_map, pred_map : str or mapping of int to int
        Labels that values as stored represent: ``"7=0,8=1"``, ``"1-150=0-149,0=255"``, ``"*=255"`` for all others.
    void_band, only_band : float
        Leave out the pixels whose distance to a pixel of another class of the ground truth is at most this, in pixels;
        or count these alone, where void is a class beside which there is a band, too. 0 for neither.
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

    classes: int | Sequence[ClassLabel | Sequence[int]] | str | None = option_like(
        ClassLabelMaps, "classes", shown="two-valued masks"
    )
    names: Sequence[str] | None = None
    void: Sequence[int] | None = option_like(ClassLabelMaps, "void", shown="255; none for masks")
    background: int | Sequence[int] | str | None = background_option()
    positive: Positive | None = option_like(LabelMasks, "positive")
    predicted_positive: Positive | None = option_like(LabelMasks, "predicted_positive")
    both_empty: Literal[1] | None = option(
        "Count cases in which neither side holds a class as 1 in means over cases (dice_cases), as BraTS does.",
        metavar="1",
        read=read_whole,
        rare=True,
        measuring="apart",
        none="none leaves them out",
    )
    gt_map: str | Mapping[int, int] = option_like(ClassLabelMaps, "gt_map")
    pred_map: str | Mapping[int, int] = option_like(ClassLabelMaps, "pred_map")
    palette: str | Mapping[tuple[int, int, int], int] = option_like(ClassLabelMaps, "palette")
    void_band: float = option_like(LabelInputs, "void_band")
    only_band: float = option_like(LabelInputs, "only_band")

    def __post_init__(self) -> None:
        check_settings(self)
        self._refuse_rules_beside_classes()
        take_settings(self)
        if self.masks and self.background not in (None, ()):
            raise ArgumentError(
                Message(
                    "no-classes",
                    "{given} is one of the classes; list them, too: {classes}",
                    given=Setting("background", None),
                    classes=Setting("classes", None),
                )
            )
        background = () if self.masks else read_background(self.background, self._labels, self._names)
        set_fields(self, background=background)

    def _refuse_rules_beside_classes(self) -> None:
        """Refuse rules for the positive values of masks beside classes."""
        if self.classes is None and self.palette == "":
            return
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

    @cached_property
    def inputs(self) -> ClassLabelMaps | LabelMasks:
        """Label maps of classes, or masks where there are none."""
        of_classes = self.classes is not None or self.names is not None or self.palette != ""
        inputs: ClassLabelMaps | LabelMasks = inputs_of(ClassLabelMaps if of_classes else LabelMasks, self)
        return inputs

    @property
    def adds_tiles(self) -> bool:
        """Return whether no pixel depends on others, as in bands."""
        return not (self.void_band or self.only_band)

    @property
    def states_called(self) -> Mapping[int, str]:  # type: ignore[override]  # label maps have no false and missed pixels
        """Names of the states that pictures of label maps, or of masks, distinguish."""
        return OF_MASKS if self.masks else {State.FALSE: "wrong", State.IGNORED: "left out"}

    @property
    def classes_drawn(self) -> tuple[str, ...]:  # type: ignore[override]  # which is read alone
        """Names of the labels that pictures tell apart: of classes, or where regions overlap of their labels."""
        return () if self.masks else self.inputs.class_names

    def measuring_settings(self) -> frozenset[str]:
        """Return the settings of measuring; masks have no background."""
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
        return fields | self.inputs.signed_maps

    @classmethod
    def measuring(cls, counts: Counts) -> Labels:
        """Return the protocol for counts: their classes decide what is measured."""
        classes = cast("LabelCounts", counts).classes
        if classes == _MASK_CLASSES:
            return cls()
        labels, names = read_class_labels(classes)
        return cls(classes=labels, names=names, void=())

    def metrics(self) -> tuple[Metric, ...]:
        from segbench.protocols.labels.metrics import TOTALS, metrics_of

        overlapping = has_regions(self._labels)
        return (*metrics_of(len(self._labels), masks=self.masks, overlapping=overlapping), *TOTALS)

    def metrics_of(self, per_image: Mapping[str, Any]) -> tuple[Metric, ...]:
        """Return the metrics; tables of volumes have columns of means over cases, too."""
        from segbench.protocols.labels.metrics import shown_for_volumes

        first = next(iter(per_image.values()), None)
        return shown_for_volumes(self.metrics()) if first is not None and first.volumes else self.metrics()

    def table(self, per_image: Mapping[str, LabelCounts]) -> LabelTable:
        from segbench.protocols.labels.metrics import LabelTable

        return LabelTable(per_image, self)

    def turned(self, counts: LabelCounts) -> LabelCounts:
        """Count as positive what was counted as negative, for a mask that contains the positive value alone."""
        return replace(counts, matrix=counts.matrix[::-1])

    @property
    def axes(self) -> tuple[str, ...]:
        """Return the classes of label maps; masks have none."""
        return () if self.masks else ("class",)

    def divided(self, axis: str, per_image: Mapping[str, Any]) -> can.Division:
        """Return the counts of each class against all others."""
        classes = zip(self._labels, self._names, strict=True)
        return divided_by_class(classes, per_image, self.of_class, self._one_against_others, why_not_pooled=_NOT_POOLED)

    def of_class(self, label: ClassLabel) -> ClassAgainstOthers:
        """Return the protocol that measures one class against all others."""
        name = self._names[self._labels.index(label)]
        return ClassAgainstOthers(of=self, label=label, class_name=name, both_empty=self.both_empty)

    def _one_against_others(self, counts: LabelCounts, label: ClassLabel, name: str) -> LabelCounts:
        """Return the counts of one class against all others; predictions outside the classes are another."""
        import numpy as np

        from segbench.protocols.labels.counts import LabelCounts

        tp, truth, predicted = (pixels[self._labels.index(label)] for pixels in counts.by_class)
        fp, fn = predicted - tp, truth - tp
        tn = counts.pixels - tp - fp - fn
        two_classes = np.array([[tn, fp, 0], [fn, tp, 0]])
        return LabelCounts(_against_others(name), two_classes, counts.ignored, counts.volumes)

    def count(self, sample: Sample) -> Counted:
        from segbench.protocols.labels.counts import LabelCounts

        image = self.inputs.interpret(sample)
        is_volume = image.maps.truth.labels.ndim == 3
        counts = LabelCounts(self.classes_text, image.matrix, image.ignored, int(is_volume))
        return Counted(counts, image.facts, image.notes)

    def states(self, sample: Sample, threshold: float, counts: LabelCounts | None = None) -> NDArray[np.uint8]:
        """Return the state of each pixel: wrong or not; of masks true, false and missed."""
        inputs = self.inputs
        if isinstance(inputs, LabelMasks):
            return self._states_of_masks(inputs.mask_maps(sample), counts)
        maps = inputs.maps_of(sample).remapped()
        return self._states(maps, inputs.counted_pixels(maps, sample))

    def _states_of_masks(self, masks: InterpretedMaps, counts: LabelCounts | None) -> NDArray[np.uint8]:
        truth, predicted = masks.maps
        all_positive = self.positive is None and counts is not None and not counts.matrix[0].any()
        return states_of_labels(truth.labels | all_positive, predicted.labels, masks.valid)

    def _states(self, maps: LabelMaps, field: BoolArray | None) -> NDArray[np.uint8]:
        import numpy as np

        truth, predicted = (label_map.labels for label_map in maps)
        states: NDArray[np.uint8] = np.where(truth == predicted, State.NOTHING, State.FALSE).astype(np.uint8)
        valid = where_not_void(truth, self.void or (), field)
        if valid is not None:
            states[~valid] = State.IGNORED
        return states

    def pictures(self, sample: Sample, counts: LabelCounts, thresholds: FloatArray) -> Pictures:
        """Return an image for the report page: both label maps in colours of classes; masks in black and white."""
        import numpy as np

        from segbench.core.pictures import Pictures

        headline = image_headline(self.metrics())
        metrics = {headline.name_for_images: np.array([self.table({"": counts}).summary()[headline.key]])}
        inputs = self.inputs
        if isinstance(inputs, LabelMasks):
            states = self._states_of_masks(inputs.mask_maps(sample), counts)
            truth = np.isin(states, [State.TRUE, State.MISSED])
            predicted = np.isin(states, [State.TRUE, State.FALSE])
            white = np.uint8(255)
            ranks = truth.astype(np.int64)
            return Pictures(truth * white, ranks, states=[states], soft=predicted * white, metrics=metrics)
        labels = inputs.labels
        if len(labels) > _MOST_DRAWN:
            too_many = Message(
                "too-many-classes",
                "{classes} classes, expected at most {most} for the pictures of a report",
                classes=len(labels),
                most=_MOST_DRAWN,
            )
            overlay = Either("export_overlays", "segbench overlay")
            hint = Message("fix", "{overlay} draws right and wrong pixels of any number", overlay=overlay)
            raise DataError(sample.name, too_many, hint)
        maps = inputs.maps_of(sample).remapped()
        states = self._states(maps, inputs.counted_pixels(maps, sample))
        true_classes, predicted_classes = (places_of(label_map.labels, labels).astype(np.uint8) for label_map in maps)
        true_classes[states == State.IGNORED] = len(labels) + 1
        ranks = (states == State.FALSE).astype(np.int64)
        return Pictures(true_classes, ranks, states=[states], classes=predicted_classes, metrics=metrics)

    @property
    def class_labels(self) -> tuple[ClassLabel, ...]:
        """The labels of the classes, of regions as text; of masks 0 and 1."""
        return self._labels

    @property
    def background_labels(self) -> tuple[int, ...]:
        """The labels that means over classes leave out; of masks 0."""
        return (0,) if self.masks else cast("tuple[int, ...]", self.background)

    @property
    def _labels(self) -> tuple[ClassLabel, ...]:
        """The labels of the classes; of masks 0 and 1."""
        return self.inputs.labels if self.masks else cast("tuple[ClassLabel, ...]", self.classes)

    @property
    def _names(self) -> tuple[str, ...]:
        """The names of the classes; none of masks."""
        return tuple(self.names or ())


@dataclass(frozen=True, kw_only=True)
class SummarizedLabels(Labels):
    """The labels protocol for counts of each class against all others, which nnU-Net counted."""

    counts = counts_in("segbench.protocols.labels.counts", "SummarizedCounts")

    def signature_fields(self) -> dict[str, str]:
        """Return the settings that are known: the classes, and that others counted."""
        fields = {"classes": self.classes_text, "source": "imported"}
        background = super().signature_fields().get("background")
        return fields if background is None else fields | {"background": background}

    def metrics(self) -> tuple[Metric, ...]:
        """Return the metrics that need no confusion matrix."""
        from segbench.protocols.labels.metrics import TOTALS, without_matrix

        return (*without_matrix(overlapping=has_regions(self._labels)), *TOTALS[:3])

    def count(self, sample: Sample) -> Counted:
        """Refuse images: others counted them."""
        raise ArgumentError(
            Message(
                "imported-counts",
                "counts of a summary were counted by nnU-Net; count {image} with {labels}",
                image=sample.name,
                labels=Either("Labels()", "segbench labels"),
            )
        )


@dataclass(frozen=True, kw_only=True)
class ClassAgainstOthers(OneClass, Labels):
    """The labels protocol for one class against all others: a part of a result of many classes."""

    of: Labels
    label: ClassLabel
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
