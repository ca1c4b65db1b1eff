"""A mask beside a predicted mask, or beside a soft map that thresholds cut; light to import, as settings are."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from segbench.core.errors import ArgumentError, DataError
from segbench.core.messages import NOTHING, Message, Note, Setting, alternatives
from segbench.core.numbers import number, written
from segbench.core.protocol import Facts, InputSettings, Interpreted, SoftMaps
from segbench.core.sample import Reading, Sample
from segbench.core.settings import as_real, option, read_thresholds, read_void, read_whole, set_fields
from segbench.inputs.label_rules import (
    AS_POSITIVE,
    LabelRule,
    Positive,
    may_be_mask,
    numbered_by,
    optional_rule,
    rule_option,
    void_labels,
    where_not_void,
)
from segbench.inputs.sides import DrawnMasks
from segbench.loaders.reading import MASKS

if TYPE_CHECKING:
    from segbench.core.arrays import Array, BoolArray, FloatArray
    from segbench.inputs.summaries import ImageSummary
    from segbench.loaders.listing import SampleFiles

CONNECTIVITY: Mapping[str, Any] = {
    "help": "Choose which pixels touch: 8, at corners, too, or 4; of volumes 26, 18 or 6.",
    "metavar": "N",
    "read": read_whole,
    "example": "8",
    "rare": True,
}
"""The option of protocols that count connected components."""

CONNECTIVITY_OF_VOLUMES: Mapping[int, int] = {8: 26, 4: 6}
"""How many voxels touch a voxel where so many pixels touch a pixel."""

CONNECTIVITIES_OF_VOLUMES = (26, 18, 6)
"""How many voxels may touch a voxel: at corners and edges, too; at edges, too; at faces alone."""

_SEVERAL = 0.2
"""From two images and this share of all on, masks of 0 and 1 beside soft maps are no accident."""


def _read_score(text: str) -> Any:
    """Read a number."""
    try:
        return float(text)
    except ValueError:
        return text


class ThresholdOfSet(float):
    """A threshold that the scores of the whole set decided: it is on their scale, whatever that is."""


@dataclass(frozen=True, kw_only=True)
class CutMasks(InputSettings, DrawnMasks, SoftMaps):
    """A mask, and a predicted mask or a soft map that becomes masks by thresholds."""

    at: Any = option(
        "Cut soft predictions: scores of at least this belong to the mask.",
        metavar="SCORE",
        read=_read_score,
        of_predictions=True,
    )
    thresholds: int | tuple[float, ...] | None = option(
        "Cut soft predictions at this number of thresholds, or at those listed: 0.25,0.5.",
        metavar="NUMBER|LIST",
        read=read_thresholds,
        example="0.25,0.5",
    )
    positive: Positive | None = option(
        "Name the ground-truth values that belong to the mask: 255, '>=128' or 1,3.",
        metavar="VALUES",
        read=str,
        panel="Ground truth",
        shown="all but 0",
    )
    predicted_positive: Positive | None = rule_option(
        "Name the values of predicted masks that belong to them: 255, '>=128' or 1,3; or same, those of --positive.",
        shown="all but 0",
        of_predictions=True,
        rare=True,
    )
    void: Sequence[int] = option(
        "Treat pixels with these ground-truth values as background: 255, or 0,255.",
        (),
        metavar="VALUES",
        panel="Ground truth",
        read=read_void,
        example="0,255",
        shown="none",
    )
    reads: Reading = MASKS  # type: ignore[misc]  # of the protocol
    no_volumes: str
    """What to do with images of more than two dimensions that are no volumes."""
    of_labels: Callable[[Sequence[float]], Message] | None = None
    """What to do with label maps, given their rising values."""
    above: bool = False
    """Whether scores that equal a threshold are not predicted."""
    may_be_best: bool = False
    """Whether `at` may be "best", the threshold that a first pass over the whole set finds."""

    def __post_init__(self) -> None:
        if self.at is not None and self.thresholds is not None:
            raise ArgumentError(
                Message(
                    "exclusive-settings",
                    "{setting} and {other} exclude each other: leave one out",
                    setting=Setting("at", None),
                    other=Setting("thresholds", None),
                )
            )
        if self.at is not None and not self.at_best and not isinstance(self.at, ThresholdOfSet):
            expected = "a score or 'best'" if self.may_be_best else "a score"
            set_fields(self, at=as_real(self.at, Setting("at", None), expected, least=-1e300, most=1e300))
        set_fields(self, positive=optional_rule(self.positive))
        if self.predicted_positive is not None:
            self._settle_predicted_positive()
        if self.thresholds is not None:
            from segbench.inputs.lines import number_or_list

            set_fields(self, thresholds=number_or_list(self.thresholds))
        set_fields(self, void=void_labels(self.void))
        set_fields(self, reads=replace(self.reads, numbered=numbered_by(self.positive)))

    def _settle_predicted_positive(self) -> None:
        """Read the rule for predicted masks."""
        if self.soft:
            raise ArgumentError(
                Message(
                    "exclusive-settings",
                    "{setting} and {other} exclude each other: leave one out",
                    setting=Setting(self._name_of_cuts, None),
                    other=Setting("predicted_positive", None),
                )
            )
        if self.predicted_positive != AS_POSITIVE:
            set_fields(self, predicted_positive=optional_rule(self.predicted_positive, "predicted_positive"))

    @property
    def _predicted_rule(self) -> Positive | None:
        """Which values of predicted masks belong to them; None for all but 0."""
        return self.positive if self.predicted_positive == AS_POSITIVE else self.predicted_positive

    @property
    def soft(self) -> bool:
        """Whether predictions are soft maps."""
        return self.at is not None or self.thresholds is not None

    @property
    def at_best(self) -> bool:
        """Whether a first pass over the set has yet to find the threshold."""
        return self.may_be_best and isinstance(self.at, str) and self.at == "best"

    @property
    def cuts(self) -> tuple[float, ...]:
        """The thresholds chosen beforehand: `at`, or a list of them."""
        if self.at is not None:
            return () if self.at_best else (self.at,)
        return self.thresholds if isinstance(self.thresholds, tuple) else ()

    @property
    def _name_of_cuts(self) -> str:
        return "thresholds" if self.at is None else "at"

    @property
    def _given_cuts(self) -> Setting:
        """These thresholds as they are given."""
        return Setting(self._name_of_cuts, getattr(self, self._name_of_cuts))

    def interpret(self, sample: Sample) -> Any:
        """Return the `MaskPair` of an image; nothing while the threshold is not known."""
        from segbench.inputs import mask_pairs

        if self.at_best:
            return Interpreted()
        truth, stored = mask_pairs.two_maps(sample, "" if sample.volume else self.no_volumes)
        ignored = mask_pairs.left_out(sample, truth, self.void)
        mask = mask_pairs.true_mask(sample, truth, self.positive, ignored, of_labels=self.of_labels, void=self.void)
        predicted = scores = None
        if self.soft:
            scores = mask_pairs.finite_scores(sample, stored)
            if isinstance(self.thresholds, int):
                from segbench.inputs.lines import check_unit_range

                check_unit_range(scores, sample.predicted_file)
        elif self._predicted_rule is None:
            predicted = mask_pairs.predicted_mask(sample, truth, stored, self.positive, self.of_labels)
        else:
            predicted = mask_pairs.mask_by_rule(sample.predicted_file, stored, self._predicted_rule)
        return mask_pairs.MaskPair(
            truth=mask if ignored is None else mask & ~ignored,
            ignored=ignored,
            predicted_mask=predicted,
            scores=scores,
            stored_type=stored.dtype,
            thresholds=self._thresholds,
            above=self.above,
            facts=self._highest_of(sample),
            notes=(*self._notes_on(sample), *self._notes_on_mask(predicted, stored)),
        )

    def summarize(self, sample: Sample, files: SampleFiles, interpret: Callable[[Sample], Any]) -> ImageSummary:
        """Summarize a mask beside scores, also where a run refuses these, or beside a predicted mask."""
        from segbench.inputs.mask_summaries import summary_of_masks, summary_of_scores
        from segbench.inputs.summaries import as_in_run, ranking_of_masks

        if self.soft:
            return summary_of_scores(self, self, sample, files, interpret)
        image = as_in_run(interpret, sample)
        ((truth, valid),), (predicted,) = image.drawn_masks, image.predicted
        return summary_of_masks(self, sample, files, image, ranking_of_masks(sample, truth, predicted, valid))

    @property
    def _thresholds(self) -> FloatArray:
        """The scores at which soft maps are cut; 1 of masks."""
        import numpy as np

        from segbench.inputs.lines import as_thresholds

        if self.thresholds is not None:
            return as_thresholds(self.thresholds)
        return np.array([1.0 if self.at is None else self.at])

    def _notes_on_mask(self, predicted: BoolArray | None, stored: Array) -> tuple[Note, ...]:
        """Note a prediction that holds other values than the ground truth's, as masks of a region do."""
        if self.predicted_positive != AS_POSITIVE or self.positive is None or predicted is None:
            return ()
        if predicted.any() or not stored.any():
            return ()
        message = Message(
            "no-value-of-truth",
            "predictions hold values, and none of {positive}; if they are masks of the region, {masks}",
            positive=Setting("positive", self.positive),
            masks=Setting("predicted_positive", ">0"),
        )
        return (Note(message),)

    def _highest_of(self, sample: Sample) -> Facts:
        """Return what `settle` needs to know: the highest score of a mask of 0 and 1 in integers.

        It is 1 of other maps with scores from 0 to 1, and 2 of those on a scale of their own.
        """
        import numpy as np

        from segbench.core.levels import ROUNDING

        truth, stored = sample.ground_truths[0], sample.predictions[0]
        if not self.cuts or not stored.any():
            return ()
        if stored.dtype.kind == "f":
            return (1.0 if stored.min() >= 0 and stored.max() <= 1 + ROUNDING else 2.0,)
        if stored.dtype.kind == "b" or stored.max() != 1:
            return (1.0,)
        positive = truth != 0 if self.positive is None else LabelRule.parse(self.positive).positive(truth)
        # Else it may be either, and says nothing.
        return (1 / np.iinfo(stored.dtype).max,) if may_be_mask(positive, stored) else ()

    def _notes_on(self, sample: Sample) -> tuple[Note, ...]:
        """Say what is odd in an image: values beside those named, or scores beside thresholds."""
        import numpy as np

        from segbench.core.levels import doubts_on_cuts, in_type_of, scores_of, span

        truth, stored = sample.ground_truths[0], sample.predictions[0]
        cuts = in_type_of(stored.dtype, self.cuts).tolist()
        valid = where_not_void(truth, self.void, sample.field)
        rule = None if self.positive is None else LabelRule.parse(self.positive)
        notes = rule.notes(truth, rule.positive(truth), valid, self.void) if rule else ()
        counted = stored.reshape(-1) if valid is None else stored.reshape(truth.shape)[valid]
        if not counted.size or not cuts:
            return notes
        lowest, highest = scores_of(np.array([counted.min(), counted.max()])).tolist()
        given_cuts, reach = self._given_cuts, span(lowest, highest)
        doubts = () if isinstance(self.at, ThresholdOfSet) else doubts_on_cuts(cuts, given_cuts, lowest, highest)
        if doubts:
            return (*notes, *doubts)
        if highest < min(cuts) or (self.above and highest == min(cuts)):
            message = Message(
                "nothing-predicted", "no score reaches {given}, so nothing is predicted", given=given_cuts
            )
            return (*notes, Note(message, detail=reach))
        if lowest > max(cuts) or (lowest == max(cuts) and not self.above):
            message = Message(
                "all-predicted", "all scores reach {given}, so every pixel is predicted", given=given_cuts
            )
            return (*notes, Note(message, detail=reach))
        return notes

    def settle(
        self, facts: Mapping[str, Facts], *, excluded_by: Message = NOTHING, complete: bool = True, part: bool = False
    ) -> frozenset[Facts]:
        """Refuse thresholds of which no mask is left: integer masks of 0 and 1, or all scores up to 1 and cut above.

        A few masks of 0 and 1 among others may be levels that are all but 0.
        """
        highest, cuts = [max(values) for values in facts.values() if values], self.cuts
        if not complete or not highest or not cuts:
            return frozenset()
        low = [value for value in highest if value < min(1, *cuts)]
        if not low or len(low) < min(len(highest), max(2, _SEVERAL * len(highest))):
            above = above_scores(cuts, self._name_of_cuts) if max(highest) <= 1 else None
            if above:
                raise DataError("predictions", *above)
            return frozenset()
        if len(low) < len(highest):
            problem = Message(
                "mixed-levels",
                "{images} of {total} hold integers of at most 1, which is a score of {score}, and others more",
                images=len(low),
                total=len(highest),
                score=number(max(low)),
            )
            hint = "save all predictions on one scale, masks as 0 and the highest level"
            raise DataError("predictions", problem, hint)
        score = number(max(low))
        problem = Message("low-levels", "hold integers of at most 1, which is a score of {score}", score=score)
        fixes = [Message("fix", "masks of 0 and 1 need no threshold: leave out {given}", given=self._given_cuts)]
        if min(cuts) <= 1:
            fixes.append(Message("fix", "or for files give {scale}", scale=Setting("scale", 1, of="Repairs")))
        raise DataError("predictions", problem, alternatives(fixes, "; "))

    @property
    def why_not_arrays(self) -> Message | str:
        """Why images cannot come one by one: a threshold of the whole set."""
        if not self.at_best:
            return ""
        at = Setting("at", 0.5)
        return Message("no-arrays", "the best threshold is that of the whole set; give it: {at}", at=at)

    @property
    def in_unit_range(self) -> bool:
        """Whether thresholds are spread evenly from 0 to 1."""
        return isinstance(self.thresholds, int)

    @property
    def in_any_range(self) -> bool:
        """Whether the scores of the set decide the threshold, whatever their scale is."""
        return self.at_best

    @property
    def by_image(self) -> bool:
        return True

    @property
    def pooled(self) -> bool:
        """Whether the scores of the set decide the threshold."""
        return self.at_best


def above_scores(cuts: Sequence[float], name: str) -> tuple[Message, Message] | None:
    """Say what is wrong with thresholds above all scores up to 1, and what to do; None where they are not.

    `name` is that of the setting. Half a level below a level parts it from all lower ones.
    """
    if not cuts or min(cuts) <= 1:
        return None
    bits, digits = (8, 4) if max(cuts) <= 255 else (16, 6)  # 255 is the highest level of 8 bits
    full = 2**bits - 1
    given_cuts, shares = list(cuts), [round((math.ceil(cut) - 0.5) / full, digits) for cut in cuts]
    single = name == "at"
    above = Setting(name, given_cuts[0] if single else given_cuts)
    problem = Message("above-scores", "have scores up to 1, and {given} is above all of them", given=above)
    if max(cuts) > full:
        return problem, Message("fix", "give a score from 0 to 1")
    hint = Message(
        "fix",
        "levels of {bits} bits are divided by {full}: for levels from {levels} give {shares}",
        bits=bits,
        full=full,
        levels=written(given_cuts),
        shares=Setting(name, shares[0] if single else shares),
    )
    return problem, hint
