"""Soft maps of what is salient, and masks that are cut above half of the scale, as the field does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, cast

from segbench.core.errors import DataError
from segbench.core.messages import Either, Message, Note, Setting
from segbench.core.numbers import written
from segbench.core.protocol import InputSettings, Interpreted, SoftMaps
from segbench.core.sample import Reading, Sample
from segbench.core.settings import check_settings, option, set_fields
from segbench.inputs.label_rules import (
    Labelled,
    ManyValuesError,
    Positive,
    RuleWithoutVoid,
    half_among,
    numbered_by,
    only_truth,
    perhaps_swapped,
    refuse_exchanged,
    rule_option,
    rule_text,
    suggested_without_void,
)
from segbench.inputs.sides import DrawnMasks
from segbench.loaders.reading import MASKS

if TYPE_CHECKING:
    from segbench.core.arrays import Array, BoolArray, FloatArray
    from segbench.inputs.summaries import ImageSummary
    from segbench.loaders.listing import SampleFiles

HALF = ">128"
"""The field's rule, for levels of 8 bits."""


@dataclass(frozen=True)
class MaskRule(RuleWithoutVoid):
    """A rule for levels; masks of one bit are taken as they are."""

    def labels(self, file: str, ground_truth: Array, valid: BoolArray | None = None) -> BoolArray:
        """Mark which pixels are salient; a mask that the rule cannot have been meant for is an error."""
        import numpy as np

        from segbench.core.arrays import distinct

        if ground_truth.dtype.kind == "b":
            return ground_truth
        positive, highest = super().labels(file, ground_truth, valid), float(ground_truth.max(initial=0))
        if str(self) == HALF and ground_truth.dtype.kind in "iu" and highest > 255:
            half = int(np.iinfo(ground_truth.dtype).max) * 128 // 255
            if (positive != (ground_truth > half)).any():
                problem = Message(
                    "rule-for-8-bits",
                    "levels of {dtype} up to {highest:g}, and the rule {rule} is for 8 bits",
                    dtype=str(ground_truth.dtype),
                    highest=highest,
                    rule=str(self),
                )
                if highest > half:
                    raise DataError(file, problem, _named(f">{half}"))
                raise ManyValuesError(file, problem, distinct(ground_truth).tolist(), suggested_without_void)
        if ground_truth.any() and not positive.any():
            few = np.unique(ground_truth).size <= 2
            if few or highest <= 1:
                raise DataError(
                    file,
                    Message(
                        "no-positives",
                        "holds values up to {highest:g}, and the rule {rule} finds nothing salient",
                        highest=highest,
                        rule=str(self),
                    ),
                    perhaps_swapped(ground_truth) + _named(_rule_for(ground_truth)),
                )
        return positive

    def note(self, ground_truth: Array, labels: BoolArray) -> tuple[Note, ...]:
        """Say that a mask with other values than 0 has no salient pixel."""
        if labels.any() or not ground_truth.any():
            return ()
        message = Message(
            "nothing-salient", "{side} is not blank, but the rule {rule} finds nothing salient", rule=str(self)
        )
        detail = Message("up-to", "up to {highest:g}", highest=ground_truth.max())
        return (Note(message, "ground truth", detail=detail),)


def _rule_for(ground_truth: Array) -> str:
    """Write a bound for values up to 1: the highest of two, or half of the scale."""
    import numpy as np

    values = np.unique(ground_truth).tolist()
    if len(values) > 2 and values[-1] > 0.5:
        return ">0.5"
    return f">={written(values[-1]) if len(values) <= 2 else half_among(values)}"


def _named(rule: str) -> Message:
    return Message("fix", "name what is salient: {setting}", setting=Setting("positive", rule))


@dataclass(frozen=True, eq=False, kw_only=True)
class SaliencyImage(Interpreted):
    """A mask and a soft map of one size."""

    salient: BoolArray
    """Which pixels are salient, shape (H, W)."""
    levels: Array | None
    """The map as it is stored, where it has 256 levels: scores need not be computed pixel by pixel then."""
    scores: FloatArray | None
    """The scores of other maps, from 0 to 1."""
    stretch: bool
    """Whether maps are stretched to their own range; scores are so already."""

    @property
    def drawn_masks(self) -> Sequence[Labelled]:
        return [(self.salient, None)]

    def scores_of_pixels(self) -> FloatArray:
        """Return the score of each pixel, from 0 to 1."""
        if self.levels is None:
            return cast("FloatArray", self.scores)
        return _stretched("prediction", self.levels, stretch=self.stretch)


@dataclass(frozen=True, kw_only=True)
class SaliencyMaps(InputSettings, DrawnMasks, SoftMaps):
    """A mask and a soft map, each compared as a whole.

    Parameters
    ----------
    positive : str, float or sequence of float
        Which ground-truth values are salient. Masks of one bit are taken as they are.
    stretch : bool
        Stretch each map to [0, 1] by its own minimum and maximum; else floats must lie in [0, 1].
    """

    reads: ClassVar[Reading] = replace(
        MASKS,
        instances="masks",
        without_field="saliency compares whole images, without a field of view",
        without_volumes="saliency compares images of two dimensions",
    )

    positive: Positive = rule_option("Name the ground-truth values that are salient: '>128', 255 or 1.", HALF)
    stretch: bool = option("Use maps as they are, instead of stretching each to [0, 1].", True)

    def __post_init__(self) -> None:
        """Check the settings, and write the rule without blanks."""
        check_settings(self)
        set_fields(self, positive=rule_text(self.positive))
        set_fields(self, reads=replace(self.reads, numbered=numbered_by(self.positive)))

    @property
    def rule(self) -> MaskRule:
        """Which values are salient."""
        return MaskRule.parse(self.positive)

    @property
    def rule_is_named(self) -> bool:
        """Whether that is not the rule of the field."""
        return self.positive != HALF

    @property
    def pooled(self) -> bool:
        return False

    @property
    def in_unit_range(self) -> bool:
        """Whether maps are not stretched."""
        return not self.stretch

    def interpret(self, sample: Sample) -> SaliencyImage:
        """Return which pixels are salient, and their scores; a `DataError` says what is wrong with the files."""
        from segbench.loaders.reading import require_same_size

        if self.positive == HALF:
            refuse_exchanged(sample)
        salient = self._salient(sample)
        file, stored, truth = sample.predicted_file, sample.predictions[0], sample.ground_truths[0]
        require_same_size([(sample.truth_file, salient.shape), (file, stored.shape)])
        of_levels = stored.dtype.name == "uint8"
        scores = None if of_levels else _stretched(file, stored, stretch=self.stretch)
        notes = (*self.rule.note(truth, salient), *self.rule.notes(truth, salient, None, None))
        if self.stretch:
            notes += _doubts_on_logits(stored)
        levels = stored if of_levels else None
        return SaliencyImage(salient=salient, levels=levels, scores=scores, stretch=self.stretch, notes=notes)

    def summarize(self, sample: Sample, files: SampleFiles, interpret: Callable[[Sample], Interpreted]) -> ImageSummary:
        """Summarize masks and scores, also where a run refuses these."""
        from segbench.inputs.mask_summaries import summary_of_scores

        return summary_of_scores(self, self, sample, files, interpret)

    def _salient(self, sample: Sample) -> BoolArray:
        """Mark which pixels are salient."""
        import numpy as np

        truth = only_truth(sample, "mask")
        file = sample.truth_file
        if sample.field is not None and not sample.field.all():
            raise DataError(
                file,
                Message("field-of-view", "a field of view leaves pixels out, but saliency compares whole images"),
                Message("fix", "leave out {given}", given=Setting("field")),
            )
        if sample.without_truth:
            return np.zeros(truth.shape, np.bool_)
        return self.rule.labels(file, truth)


def _doubts_on_logits(scores: Array) -> tuple[Note, ...]:
    """Doubt scores that look like logits, which are stretched as they are."""
    from segbench.core.levels import LOGIT, ROUNDING, span

    lowest, highest = float(scores.min()), float(scores.max())
    if scores.dtype.kind != "f" or not lowest < LOGIT - ROUNDING:
        return ()
    message = Message(
        "logits-stretched",
        "scores like logits: each map is stretched, which gives other metrics than a sigmoid; apply {arrays}{sigmoid}",
        arrays=Either("a sigmoid, or for files ", ""),
        sigmoid=Setting("scale", "sigmoid", of="Repairs"),
    )
    return (Note(message, doubt=True, detail=span(lowest, highest)),)


def _stretched(name: str, scores: Array, *, stretch: bool) -> FloatArray:
    """Return scores in [0, 1], stretched by their own minimum and maximum if wanted."""
    import numpy as np

    from segbench.core.levels import refuse_beyond_unit, refuse_not_finite, scores_of

    if scores.dtype.kind not in "biuf":
        raise DataError(
            name,
            Message("no-numbers", "scores are of type {dtype}, expected numbers", dtype=str(scores.dtype)),
            Message("fix", "save the map as an image or NPY"),
        )
    with np.errstate(invalid="ignore"):  # a signalling NaN is found like any other
        values = scores_of(scores, name)
    lowest, highest = float(values.min()), float(values.max())
    if not (np.isfinite(lowest) and np.isfinite(highest)):
        refuse_not_finite(name, values)
    if stretch and highest / 2 - lowest / 2 > np.finfo(np.float64).max / 2:
        raise DataError(
            name,
            Message(
                "out-of-range",
                "scores from {lowest:g} to {highest:g}, expected a range that floats hold",
                lowest=lowest,
                highest=highest,
            ),
            Message(
                "fix",
                "scale them: {setting}, or fix the prediction",
                setting=Setting("scale", "sigmoid", of="Repairs"),
            ),
        )
    if stretch and lowest != highest:
        values = (values - lowest) / (highest - lowest)
    else:
        if stretch:
            refuse_beyond_unit(name, values, "expected [0, 1], since a constant map cannot be stretched")
        else:
            otherwise = Message("fix", ", or leave out {given}", given=Setting("stretch", False))
            refuse_beyond_unit(name, values, "expected [0, 1]", otherwise)
        values = values.clip(0, 1)
    return np.ascontiguousarray(values)
