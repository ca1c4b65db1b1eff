"""Masks and scores: ground truth of which some values are positive, of one annotator or several, and a soft map.

Conventions
-----------
1. Integer predictions are levels: score = value / maximum of the type (255, 65535); bool is 0 or 1. Floats are scores
   as they are, of any range.
2. Without a rule the whole set decides which of its two ground-truth values is positive.
3. Several annotators are brought together by a rule that has to be named (`segbench.inputs.label_rules`); without one
   an image with several is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from segbench.core.errors import DataError
from segbench.core.messages import NOTHING, Message, Setting
from segbench.core.protocol import Facts, InputSettings, Interpreted, SoftMaps
from segbench.core.sample import Reading, Sample
from segbench.core.settings import Quantize, as_distinct, as_quantize, as_real, check_settings, option, set_fields
from segbench.inputs import label_rules as rules
from segbench.inputs.label_rules import AnnotatorRule, Labelled, brought_together, take_one
from segbench.inputs.sides import DrawnMasks, SeveralAnnotators
from segbench.loaders.reading import MASKS

if TYPE_CHECKING:
    from segbench.core.arrays import Array, BoolArray
    from segbench.inputs.summaries import ImageSummary
    from segbench.loaders.listing import SampleFiles


@dataclass(frozen=True, eq=False, kw_only=True)
class ScoredPixels(Interpreted):
    """The pixels of an image, with labels and scores."""

    labelled: Sequence[Labelled]
    """Labels and where they count, of all annotators together; of each one, where every annotator counts."""
    scores: Array
    """Levels or scores, high where positive."""
    file: str
    """What errors call the scores."""
    bits: Quantize | None
    """What scores were rounded to; None where they are as they are stored."""

    @property
    def drawn_masks(self) -> Sequence[Labelled]:
        return self.labelled


@dataclass(frozen=True, kw_only=True)
class ScoredMasks(InputSettings, DrawnMasks, SoftMaps):
    """Masks, and a soft map that scores their pixels; `segbench.Pixels` describes the settings."""

    reads: ClassVar[Reading] = replace(MASKS, pixelwise=True)

    positive: rules.Positive | None = rules.rule_option(
        "Name the ground-truth values that are positive: 255, '>=128' or 1,3.", shown="the larger of two"
    )
    void: tuple[float, ...] = rules.void_option(
        "Leave out pixels with these ground-truth values: 255, or 254,255, or none.", (), shown="none"
    )
    invert: bool = option(
        "Treat low predictions as positive, for black edges on white.", False, of_predictions=True, rare=True
    )
    quantize: Quantize | None = option(
        "Round float scores in [0, 1] to levels of 8 or 16 bits: small results files and constant memory.",
        read=int,
        of_predictions=True,
        rare=True,
    )
    annotators: AnnotatorRule | None = option(
        "Combine several annotators: positive where any, all or most of them say so; or count each.",
        panel="Ground truth",
        rare=True,
    )
    at: tuple[float, ...] = ()
    """Thresholds at which a protocol measures, which scores should fit."""

    def __post_init__(self) -> None:
        """Check and normalise the settings."""
        check_settings(self)
        quantize, void = as_quantize(self.quantize), as_distinct(self.void, "void", "(255,)", as_real)
        positive = rules.optional_rule(self.positive)
        reads = replace(self.reads, numbered=rules.numbered_by(positive), annotators=self.annotators is not None)
        set_fields(self, void=void, positive=positive, quantize=quantize, reads=reads)

    def interpret(self, sample: Sample) -> ScoredPixels:
        """Label pixels, and make scores high where positive, rounded where the settings say so."""
        if len(sample.ground_truths) > 1 and self.annotators is None:
            raise _without_rule(sample)
        annotations, values = self.labelled(sample)
        notes = rules.notes_on_values(self.positive, sample.ground_truths, annotations, self.void)
        labelled = brought_together(annotations, self.annotators)
        file = sample.predicted_file
        _, valids = zip(*annotations, strict=True)
        scores, bits = self.scores(file, sample.predictions[0], sample.field, valids)
        if self.invert:
            from segbench.core.levels import INVERTED

            notes = (INVERTED, *notes)
        return ScoredPixels(
            facts=values,
            notes=notes,
            labelled=labelled,
            scores=scores,
            file=file,
            bits=bits,
        )

    def summarize(self, sample: Sample, files: SampleFiles, interpret: Callable[[Sample], Interpreted]) -> ImageSummary:
        """Summarize masks and scores, also where a run refuses these."""
        from segbench.inputs.mask_summaries import summary_of_scores

        return summary_of_scores(self, self, sample, files, interpret)

    def labelled(self, sample: Sample) -> tuple[list[Labelled], Facts]:
        """Label each annotator's pixels, say where they count, and which values no rule names."""
        from segbench.core.levels import refuse_nan

        if sample.without_truth:
            import numpy as np

            return [(np.zeros(sample.ground_truths[0].shape, np.bool_), sample.field)], ()
        files, valids = sample.truth_files, []
        for file, truth in zip(files, sample.ground_truths, strict=True):
            refuse_nan(file, truth)
            valids.append(rules.where_not_void(truth, self.void, sample.field))
        if self.positive is not None:
            rule = rules.LabelRule.parse(self.positive)
            labels = [rule.labels(*annotation) for annotation in zip(files, sample.ground_truths, valids, strict=True)]
            return list(zip(labels, valids, strict=True)), ()
        try:
            labels, values = rules.two_values(files, sample.ground_truths, valids, self.void)
        except DataError as error:
            raise self._by_what_is_predicted(sample, error) from None
        return list(zip(labels, valids, strict=True)), values

    def _by_what_is_predicted(self, sample: Sample, error: DataError) -> DataError:
        """Return the error of ground truth of more than two values, with advice by what the prediction holds."""
        from segbench.inputs.predicted_labels import are_label_maps, instead_of_label_maps, labels_seen

        if not are_label_maps([labels_seen(sample, self.void)]):
            order = rules.perhaps_swapped(sample.ground_truths[0], *sample.predictions[:1])
            return DataError(error.path, error.what, order + error.hint)
        problem = Message(
            "label-map-predicted",
            "{values}; the prediction is a label map, too, and the number of a label is not a score",
            values=error.what,
        )
        return DataError(error.path, problem, instead_of_label_maps("0-18", "16"))

    def scores(
        self, file: str, prediction: Array, field: BoolArray | None, valids: Sequence[BoolArray | None]
    ) -> tuple[Array, Quantize | None]:
        """Return levels or scores that are high where positive, and the bits that they were rounded to.

        They must be exact in the `field`, and in [0, 1] where pixels count for any annotator if they are rounded.
        """
        from segbench.core.levels import are_levels, as_shares, mirrored, quantized, refuse_unfit_to_round

        scores, stored = as_shares(prediction, file, field), prediction.dtype
        rounds = self.quantize is not None and stored.kind in "iuf" and not are_levels(stored)
        bits = self.quantize if rounds else None
        if bits:
            refuse_unfit_to_round(file, scores, valids)
        if self.invert:
            # In double precision: float32 makes equal what lies close to 0, the highest scores of all once turned.
            scores = mirrored(scores if scores.dtype.kind in "bu" else scores.astype("float64"))
        if bits:
            scores = quantized(scores, bits)
        if scores.dtype.kind not in "biuf":
            problem = Message("no-numbers", "scores are of type {dtype}, expected numbers", dtype=str(scores.dtype))
            raise DataError(file, problem)
        return scores, bits

    def settle(
        self, facts: Mapping[str, Facts], *, excluded_by: Message = NOTHING, complete: bool = True, part: bool = False
    ) -> frozenset[Facts]:
        """Decide which ground-truth value is positive: images that hold it alone are counted the other way round."""
        return rules.settled_positive(facts, excluded_by=excluded_by, complete=complete, part=part)

    def settle_alone(self, facts: Facts, file: str) -> Facts:
        """Take the larger value beside 0 of masks as positive, unless a rule says which is."""
        if self.positive is None:
            return rules.positive_alone(facts, file)
        return super().settle_alone(facts, file)

    @property
    def as_masks(self) -> bool:
        return True

    @property
    def several_annotators(self) -> SeveralAnnotators:
        return "counted" if self.annotators else "ruled"

    @property
    def in_unit_range(self) -> bool:
        """Whether scores are rounded."""
        return self.quantize is not None

    @property
    def marks(self) -> tuple[float, ...]:
        """Thresholds at which something is measured."""
        return self.at


def _without_rule(sample: Sample) -> DataError:
    """Return the error of several annotators that no rule brings together."""
    problem = Message(
        "several-annotators",
        "{annotators} annotators, and no rule to combine them",
        annotators=len(sample.ground_truths),
    )
    fix = Message(
        "alternatives",
        "choose {setting}, any, all or each; or {otherwise}",
        setting=Setting("annotators", "majority"),
        otherwise=take_one(),
    )
    return DataError(sample.name, problem, fix)
