"""What label maps of classes and masks have in common: values that a remapping replaces, and pixels left out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from segbench.core.errors import ArgumentError, DataError
from segbench.core.messages import Message, Setting
from segbench.core.numbers import written
from segbench.core.protocol import Facts, InputSettings
from segbench.core.sample import Sample
from segbench.core.settings import as_real, option, read_number, set_fields
from segbench.inputs.label_rules import where_not_void
from segbench.inputs.label_values import as_map_text, places_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from segbench.core.arrays import Array, BoolArray, IntArray
    from segbench.inputs.confusion import ClassesOfPixels
    from segbench.inputs.label_maps import LabelMaps
    from segbench.inputs.label_summaries import LabelsSummary, LeftOut
    from segbench.inputs.numberings import Renumbered, StoredLabels
    from segbench.inputs.summaries import Ranking
    from segbench.loaders.listing import SampleFiles

_WIDEST_BAND = 1000
_BAND: Mapping[str, Any] = {
    "metavar": "N", "read": read_number, "example": "3", "shown": "none", "panel": "Ground truth", "rare": True,
}  # fmt: skip
_REMAPPING: Mapping[str, Any] = {"default": "", "metavar": "VALUE=LABEL,..", "read": str, "rare": True}


@dataclass(frozen=True, kw_only=True)
class LabelInputs(InputSettings):
    """A map of one value per pixel on both sides.

    Parameters
    ----------
    void : sequence of int, optional
        Ground-truth labels of pixels that are left out.
    gt_map, pred_map : str or mapping of int to int
        Labels that values as stored represent: ``"7=0,8=1"``, ``"1-150=0-149,0=255"``, ``"*=255"`` for all others.
    void_band, only_band : float
        Leave out the pixels at most so far from another class of the ground truth, or all others. 0 for neither.
    asked_by : str
        The class of the protocol, as advice names it.
    """

    void: Sequence[int] | None = None
    gt_map: str | Mapping[int, int] = option(
        "Replace ground-truth labels: 7=0,8=1, ranges 1-150=0-149, all others '*=255'.",
        panel="Ground truth",
        **_REMAPPING,
    )
    pred_map: str | Mapping[int, int] = option(
        "Replace predicted labels in the same way.", of_predictions=True, **_REMAPPING
    )
    void_band: float = option("Leave out pixels within N of another class of the ground truth.", 0.0, **_BAND)
    only_band: float = option("Count only pixels within N of another class of the ground truth.", 0.0, **_BAND)
    asked_by: str = "Labels"

    def __post_init__(self) -> None:
        for name in ("gt_map", "pred_map"):
            set_fields(self, **{name: as_map_text(getattr(self, name), name)})
        self._settle_bands()

    def _settle_bands(self) -> None:
        """Read how wide bands are, of which there is one."""
        expected = Message("expected", "a distance from 0 to {most} pixels", most=_WIDEST_BAND)
        for name in ("void_band", "only_band"):
            set_fields(
                self, **{name: as_real(getattr(self, name), Setting(name), expected, least=0, most=_WIDEST_BAND)}
            )
        if self.void_band and self.only_band:
            raise ArgumentError(
                Message(
                    "exclusive-settings",
                    "{setting} and {other} exclude each other: leave one out",
                    setting=Setting("void_band"),
                    other=Setting("only_band"),
                )
            )

    def counted_in(self, truth: Array, void: BoolArray | None, sample: Sample) -> BoolArray | None:
        """Mark where pixels count: in the field of view, and within bands or outside of them; None for everywhere.

        Where only a band counts, void is a class beside which there is one; else nothing is near because of it.
        """
        if not (self.void_band or self.only_band):
            return sample.field
        from fractions import Fraction

        import numpy as np

        from segbench.inputs.bands import OF_NO_CLASS, near_another_class, numbered_from_zero

        if sample.volume:
            band = Setting("void_band", self.void_band) if self.void_band else Setting("only_band", self.only_band)
            problem = Message("other-dimensions", "has three axes, and {setting} is for images", setting=band)
            raise DataError(sample.truth_file, problem, Message("fix", "leave out {setting}", setting=band))
        classes = numbered_from_zero(truth)
        if void is not None:
            classes[void] = OF_NO_CLASS if self.void_band else classes.max(initial=0) + 1
        if sample.field is not None:
            classes[~sample.field] = OF_NO_CLASS
        radius = Fraction(str(self.void_band or self.only_band))
        images: list[NDArray[np.int32]] = list(classes.reshape(-1, *classes.shape[-2:]))  # of a batch each by itself
        near = np.stack([near_another_class(image, radius) for image in images]).reshape(classes.shape)
        counted = ~near if self.void_band else near
        return counted if sample.field is None else counted & sample.field

    @property
    def masks(self) -> bool:
        """Whether they are masks, which have a positive class."""
        return False

    @property
    def regions(self) -> bool:
        """Whether some classes are regions of several labels, which may overlap."""
        return False

    @abstractmethod
    def require_both_sides(self, facts: Mapping[str, Facts], where: str) -> None:
        """Refuse settings under which nothing in some images is positive, or nothing negative."""

    @property
    @abstractmethod
    def labels(self) -> tuple[int, ...]:
        """The labels that count, one for each class."""

    @property
    @abstractmethod
    def class_names(self) -> tuple[str, ...]:
        """What the classes are called."""

    @property
    def signed_maps(self) -> dict[str, str]:
        """What replaces values and which bands count, as fields of signatures have it; nothing of what is not given."""
        maps = {"gt_map": str(self.gt_map), "pred_map": str(self.pred_map)}
        bands = {name: getattr(self, name) for name in ("void_band", "only_band")}
        maps |= {name: written((distance,)) for name, distance in bands.items() if distance}
        return {name: text for name, text in maps.items() if text}

    def maps_of(self, sample: Sample) -> LabelMaps:
        """Return the label maps of an image as they are stored, and what their values represent."""
        from segbench.inputs.label_maps import label_maps

        maps = {"gt_map": str(self.gt_map), "pred_map": str(self.pred_map), "palette": self._palette}
        return label_maps(sample, labels=self.labels, protocol=self.asked_by, **maps)

    @property
    def _palette(self) -> str:
        """The labels of colours as text; masks have none."""
        return ""

    def stored(self, sample: Sample) -> StoredLabels | None:
        """Count the pairs of values of an image as they are stored; None of masks, which have no numbers."""
        del sample
        return None

    def renumbered(self, stored: StoredLabels) -> Renumbered | None:
        """Find remappings that stored values need instead of those given; None for none."""
        del stored
        return None

    def summarize(
        self, sample: Sample, files: SampleFiles, interpret: Callable[[Sample], ClassesOfPixels]
    ) -> LabelsSummary:
        """Summarize the classes of pixels, and labels that are no class or have other numbers."""
        from segbench.inputs.label_summaries import LabelsSummary, LeftOut
        from segbench.inputs.summaries import Inspected, UncountedError, as_in_run
        from segbench.loaders.source import shown

        try:
            image: ClassesOfPixels = as_in_run(interpret, sample)
        except UncountedError as error:
            with suppress(DataError):  # where they are no label maps
                error.stored = self.stored(sample)
            raise
        return LabelsSummary(
            image=sample.name,
            inputs=Inspected.of(sample),
            prediction=sample.prediction_file,
            mask=_ranking(sample, image.matrix) if self.masks else None,
            truth_file=shown(files.ground_truths[0]),
            named_classes=(self.labels, self.class_names),
            matrix=image.matrix,
            ignored=image.ignored,
            facts=image.facts,
            outside=self._predicted_outside(sample) if image.matrix[:, -1].any() else {},
            left_out=self._left_out(sample) if image.ignored else LeftOut(),
            joined=self._joined(sample),
            stored=self.stored(sample),
            values=self._values_of_mask(sample) if self.masks else ((), ()),
        )

    def _values_of_mask(self, sample: Sample) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return some values of the ground truth that are not void, and some that are predicted."""
        from segbench.inputs.summaries import few_distinct

        present = few_distinct(sample.ground_truths[0].reshape(-1))
        void = tuple(map(float, self.void or ()))
        return tuple(value for value in present if value not in void), few_distinct(sample.predictions[0].reshape(-1))

    def _predicted_outside(self, sample: Sample) -> dict[int, IntArray]:
        """Count the pixels of each class by predicted labels that are not classes, rising."""
        import numpy as np

        truth, predicted = (side.labels for side in self.maps_of(sample).remapped())
        wrong = np.isin(truth, self.labels) & ~np.isin(predicted, self.labels)
        wrong &= True if sample.field is None else sample.field
        outside, codes = np.unique(predicted[wrong], return_inverse=True)
        codes += places_of(truth[wrong], self.labels) * outside.size
        counts = np.bincount(codes, minlength=len(self.labels) * outside.size).reshape(-1, max(outside.size, 1))
        return dict(zip(map(int, outside), counts.T, strict=False))

    def _left_out(self, sample: Sample) -> LeftOut:
        """Compare predictions with the ground truth where that is void or outside the field of view."""
        import numpy as np

        from segbench.inputs.label_summaries import LeftOut

        stored, void = self.maps_of(sample), self.void or ()
        truth, predicted = (side.labels for side in stored.remapped())
        valid = where_not_void(truth, void, sample.field)
        if valid is None:
            return LeftOut()
        zeros = (stored.truth.labels == 0) & np.isin(truth, void)
        classes = np.count_nonzero(np.isin(predicted[zeros], self.labels))
        labels = tuple(label for label in void if (predicted == label).any())
        same = bool((truth == predicted)[~valid].all())
        return LeftOut(same, int(np.count_nonzero(zeros)), int(classes), labels)

    def _joined(self, sample: Sample) -> dict[str, list[int]]:
        """Return the values of an image that keep a number which a remapping gives others, where that is a class."""
        return self.joined_in(self.maps_of(sample)) if self.gt_map or self.pred_map else {}

    def joined_in(self, maps: LabelMaps) -> dict[str, list[int]]:
        """Return these values of label maps, by the setting of each side."""
        from segbench.core.arrays import distinct

        joined = {}
        for name, side in zip(("gt_map", "pred_map"), maps, strict=True):
            if unclear := side.mapping.ambiguous.intersection(self.labels):
                joined[name] = sorted(unclear.intersection(map(int, distinct(side.labels).tolist())))
        return joined


def _ranking(sample: Sample, matrix: IntArray) -> Ranking:
    """Judge a predicted mask by how many pixels have each true and predicted class."""
    from segbench.inputs.summaries import ranking_of_mask

    negative, positive = matrix.tolist()
    return ranking_of_mask(sample, positive[1], negative[1], sum(positive), int(matrix.sum()))
