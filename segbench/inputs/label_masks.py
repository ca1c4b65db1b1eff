"""Masks on both sides, read as label maps are: which values of the ground truth and of predictions are positive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from segbench.core.errors import DataError
from segbench.core.messages import NOTHING, Message, Setting
from segbench.core.protocol import Facts
from segbench.core.sample import Sample
from segbench.core.settings import set_fields
from segbench.inputs import label_rules as rules
from segbench.inputs.label_inputs import LabelInputs
from segbench.loaders.reading import LABEL_MAPS

if TYPE_CHECKING:
    from segbench.inputs.confusion import ClassesOfPixels
    from segbench.inputs.label_maps import InterpretedMaps


@dataclass(frozen=True, kw_only=True)
class LabelMasks(LabelInputs):
    """A mask on both sides, or the scores of background and foreground as the prediction.

    Parameters
    ----------
    void : sequence of int, optional
        Ground-truth values of pixels that are left out; by default none.
    positive : str, float or sequence of float, optional
        Which ground-truth values are positive. None: the set must hold exactly two values, and the larger is positive.
    predicted_positive : str, float or sequence of float, optional
        Which values of the predictions are positive, as stored. None: 0 is negative and the only other value positive,
        or what a `positive` bound at half of a scale says.

    Raises
    ------
    ArgumentError
        If a rule or a remapping is none.
    """

    void: Sequence[int] | None = rules.void_option(
        "Leave out pixels with these ground-truth values: 255, or 0,255, or none.", shown="none"
    )
    positive: rules.Positive | None = rules.rule_option(
        "Name the ground-truth values of masks that are positive: 255, '>=128' or 1,3.", shown="the larger of two"
    )
    predicted_positive: rules.Positive | None = rules.rule_option(
        "Name the values of predicted masks that are positive, as stored: '>=128', '>=0.5'.",
        shown="all but 0",
        of_predictions=True,
        rare=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("positive", "predicted_positive"):
            set_fields(self, **{name: rules.optional_rule(getattr(self, name), name)})
        void = rules.void_labels(() if self.void is None else self.void)
        numbered = rules.numbered_by(self.positive, self.predicted_positive)
        set_fields(self, void=void, reads=replace(LABEL_MAPS, numbered=numbered))

    @property
    def labels(self) -> tuple[int, ...]:
        """What negative and positive pixels are counted as."""
        return (0, 1)

    @property
    def masks(self) -> bool:
        """Return True: some values are positive."""
        return True

    @property
    def class_names(self) -> tuple[str, ...]:
        """What these are called."""
        return ("negative", "positive")

    def interpret(self, sample: Sample) -> ClassesOfPixels:
        """Return both masks as True and False, where pixels are not void, and which are right."""
        from segbench.inputs.confusion import ClassesOfPixels, count_maps

        masks = self.mask_maps(sample)
        matrix, ignored = count_maps(
            masks.maps, labels=self.labels, named=(self.labels, ()), void=(), valid=masks.valid, protocol=self.asked_by
        )
        return ClassesOfPixels(**vars(masks), matrix=matrix, ignored=ignored)

    def mask_maps(self, sample: Sample) -> InterpretedMaps:
        """Return both masks without counting their pixels."""
        from segbench.inputs.label_maps import masks_in
        from segbench.inputs.stacks import is_one_map

        maps = self.maps_of(sample).remapped()
        shapes = tuple(sample.predictions[0].shape), sample.ground_truths[0].shape
        if self.predicted_positive is not None and len(shapes[0]) > len(shapes[1]) and not is_one_map(*shapes):
            rule = Setting("predicted_positive")
            problem = Message(
                "stack-and-rule", "is a stack of two maps, of which the higher one counts, beside {rule}", rule=rule
            )
            fix = Message("fix", "leave out {given}, or save one map", given=rule)
            raise DataError(sample.predicted_file, problem, fix)
        masks = masks_in(
            maps,
            sample.field,
            void=self.void or (),
            positive=self.positive,
            predicted_positive=self.predicted_positive,
            wrong=next((hole.pixels for hole in sample.nodata if hole), None),
        )
        void = None if masks.valid is None else ~masks.valid
        counted = self.counted_in(masks.maps.truth.labels, void, sample)
        valid = masks.valid if counted is None or masks.valid is None else counted & masks.valid
        return replace(masks, valid=counted if valid is None else valid)

    def settle(
        self, facts: Mapping[str, Facts], *, excluded_by: Message = NOTHING, complete: bool = True, part: bool = False
    ) -> frozenset[Facts]:
        """Decide which value is positive: images that hold it alone are counted the other way round."""
        if complete and not part:
            self.require_both_sides(facts, left_out_by=excluded_by)
        if self.positive is not None:
            return frozenset()
        return rules.settled_positive(facts, excluded_by=excluded_by, complete=complete, part=part)

    def settle_alone(self, facts: Facts, file: str) -> Facts:
        """Take the larger value beside 0 as positive, unless a rule says which is."""
        return rules.positive_alone(facts, file) if self.positive is None else super().settle_alone(facts, file)

    def require_both_sides(
        self, facts: Mapping[str, Facts], where: str = "the whole set", *, left_out_by: Message = NOTHING
    ) -> None:
        """Refuse a rule under which no pixel is positive, or none negative."""
        if self.positive is not None:
            rules.LabelRule.parse(self.positive).require_both_sides(facts, left_out_by=left_out_by, where=where)
