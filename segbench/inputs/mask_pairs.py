"""A ground truth and a prediction of its size, of files or of arrays, as several protocols read them; mostly masks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from segbench.core.arrays import Array, BoolArray, FloatArray
from segbench.core.errors import VOLUMES, DataError
from segbench.core.geometry import how_to_fit
from segbench.core.levels import in_type_of, refuse_nan, refuse_not_finite, scores_of
from segbench.core.messages import NOTHING, Message, Setting, alternatives, joined
from segbench.core.numbers import written
from segbench.core.protocol import Interpreted
from segbench.core.sample import SIDES, Sample, Side
from segbench.inputs.interpolated import refuse_interpolated
from segbench.inputs.label_rules import (
    VOIDS,
    Advice,
    Labelled,
    LabelRule,
    ManyValuesError,
    Positive,
    counted,
    only_truth,
    perhaps_swapped,
    rule_of_other_side,
    suggested_positive,
    where_not_void,
    zero_or_one,
)
from segbench.inputs.predicted_labels import in_colour

OfLabels = Callable[[Sequence[float]], Message]
"""Turn the rising values of label maps into advice on them."""


class LossyNumbersError(DataError):
    """Numbers of objects that were stored with loss."""


@dataclass(frozen=True, eq=False, kw_only=True)
class MaskPair(Interpreted):
    """What is true and what is predicted in an image; neither where pixels are void or outside the field of view."""

    truth: BoolArray
    ignored: BoolArray | None
    """Those pixels; None where there are none."""
    predicted_mask: BoolArray | None
    """What a predicted mask holds; None of a soft map."""
    scores: FloatArray | None
    """The scores of a soft map; None of a mask."""
    stored_type: np.dtype[Any]
    """The type of the prediction as it is stored."""
    thresholds: FloatArray
    """The scores that a soft map is cut at; 1 of a mask."""
    above: bool
    """Whether scores that equal a threshold are not predicted."""

    @property
    def drawn_masks(self) -> Sequence[Labelled]:
        return [(self.truth, None if self.ignored is None else ~self.ignored)]

    @cached_property
    def predicted(self) -> list[BoolArray]:
        """What is predicted at each threshold."""
        return self.at_scores(self.thresholds)

    def at_scores(self, cuts: Sequence[float] | FloatArray) -> list[BoolArray]:
        """Return what is predicted at each of some scores; a predicted mask is the same at any."""
        masks: list[BoolArray] = []
        if self.predicted_mask is not None:
            masks = [self.predicted_mask]
        elif self.scores is not None:
            thresholds = in_type_of(self.stored_type, cuts)
            masks = [self.scores > cut if self.above else self.scores >= cut for cut in thresholds]
        return masks if self.ignored is None else [mask & ~self.ignored for mask in masks]


def two_maps(sample: Sample, no_volumes: str) -> tuple[Array, Array]:
    """Return the ground truth and the prediction of an image that has one of each; `no_volumes` is the other remedy.

    Without that remedy, volumes are taken, too.
    """
    truth, predicted = only_truth(sample, "mask"), sample.predictions[0]
    if sample.volume and not no_volumes and truth.ndim == predicted.ndim == 3:
        _refuse_other_size(sample, truth, predicted)
        return truth, predicted
    if predicted.ndim == 3 and 1 in (predicted.shape[0], predicted.shape[-1]):
        predicted = predicted.reshape([size for size in predicted.shape if size > 1] if predicted.size > 1 else (1, 1))
    if predicted.ndim != 2 or truth.ndim != 2:
        problem = Message("other-dimensions", "shape ({shape}), expected (H, W)", shape=predicted.shape)
        raise DataError(sample.predicted_file, problem, no_volumes or VOLUMES)
    _refuse_other_size(sample, truth, predicted)
    return truth, predicted


def _refuse_other_size(sample: Sample, truth: Array, predicted: Array) -> None:
    """Refuse a prediction of another size than the ground truth."""
    if predicted.shape != truth.shape:
        problem = Message(
            "other-size",
            "shape ({shape}), expected ({expected}) as the ground truth has",
            shape=predicted.shape,
            expected=truth.shape,
        )
        resize = Message("fix", "resize it by nearest neighbour first")
        raise DataError(sample.predicted_file, problem, how_to_fit(predicted.shape, truth.shape, resize))


def refuse_numbers_with_loss(sample: Sample, advice_on_levels: Callable[[Side], Message]) -> None:
    """Refuse numbers of objects that were stored with loss: noise becomes objects, and numbers change.

    The advice is for maps that reach half of the scale, as masks and soft maps do.
    """
    maps = (sample.ground_truths[0], sample.predictions[0])
    for side, file, compression, values in zip(
        SIDES, (sample.truth_file, sample.predicted_file), sample.lossy, maps, strict=True
    ):
        if compression:
            fixes: list[Message | str] = ["write them again, without loss, as PNG"]
            if values.max(initial=0) >= 128 and not in_colour(values):
                fixes.append(advice_on_levels(side))
            problem = Message(
                "lossy-labels",
                "holds numbers of objects stored with loss ({compression}), which changes them",
                compression=compression,
            )
            raise LossyNumbersError(file, problem, joined(fixes))


def left_out(sample: Sample, truth: Array, void: Sequence[float]) -> BoolArray | None:
    """Mark pixels that are in no mask: void ones, and those outside the field of view; None for none."""
    valid = where_not_void(truth, void, sample.field)
    return None if valid is None else ~valid


def true_mask(
    sample: Sample,
    truth: Array,
    positive: Positive | None,
    none: BoolArray | None,
    *,
    of_labels: OfLabels | None,
    void: Sequence[float],
) -> BoolArray:
    """Mark what the ground truth calls positive, apart from where there is `none`, whatever it holds there."""
    if none is not None:
        truth = np.where(none, truth.dtype.type(0), truth)
    if positive is not None:
        return zero_or_one(LabelRule.parse(positive).labels(sample.truth_file, truth))
    return two_valued(sample.truth_file, truth, of_labels=of_labels, void=void)


def predicted_mask(
    sample: Sample, truth: Array, stored: Array, positive: Positive | None, of_labels: OfLabels | None
) -> BoolArray:
    """Mark what is not 0 in a predicted map; of one that holds what the rule for the ground truth names, say so."""
    try:
        return two_valued(sample.predicted_file, stored, predicted=True, of_labels=of_labels)
    except ManyValuesError as error:
        rule = None if positive is None else LabelRule.parse(positive)
        advise = partial(_advice_beside_rule, rule=rule, otherwise=error.advise)
        predicted_values, true = (np.unique(values).tolist() for values in (stored, truth))
        raise ManyValuesError(error.path, error.what, predicted_values, advise, true) from None


def mask_by_rule(file: str, stored: Array, rule: Positive) -> BoolArray:
    """Mark what a rule names in a predicted map."""
    refuse_nan(file, stored)
    refuse_interpolated(file, stored)
    return zero_or_one(LabelRule.parse(rule, "predicted_positive").positive(stored))


def _advice_beside_rule(
    values: Sequence[float], truth: Sequence[float], *, rule: LabelRule | None, otherwise: Advice
) -> Message:
    """Say how to save masks of what a rule for the ground truth names; other maps are those of `otherwise`."""
    if same := rule_of_other_side(rule, values, truth):
        mask = f"numpy.isin(labels, [{written(same.chosen(values))}]) * numpy.uint8(255)"
        return Message(
            "fix",
            "save predicted masks of what {given} names, as the ground truth holds the same values: {mask}",
            given=Setting("positive", str(same)),
            mask=mask,
        )
    return otherwise(values, truth)


def two_valued(
    file: str,
    values: Array,
    *,
    predicted: bool = False,
    of_labels: OfLabels | None = None,
    void: Sequence[float] = (),
) -> BoolArray:
    """Mark what is not 0 in a map with at most one other value; `of_labels` says what to do with labels.

    `void` are the values left out of ground truth, which advice names again.
    """
    if values.dtype == np.bool_:
        return zero_or_one(values)
    marked: BoolArray = values != 0
    if np.all(~marked | (values == values.max())):
        return marked
    refuse_nan(file, values)
    if in_colour(values):
        colours = [(int(c) >> 16 & 255, int(c) >> 8 & 255, int(c) & 255) for c in np.unique(values)]
        colour = str(colours[1]) if len(colours) == 2 and not any(colours[0]) else "(red, green, blue)"
        problem = Message("in-colour", "is in colour, expected a mask of 0 and one other value")
        hint = Message(
            "fix", "save the mask of one colour: (rgb == {colour}).all(axis=-1) * numpy.uint8(255)", colour=colour
        )
        raise DataError(file, problem, hint)
    distinct = np.unique(values)
    problem = Message(
        "several-values",
        "holds {count} distinct values ({values}), expected a mask of 0 and one other value",
        **counted(distinct),
    )
    order = NOTHING if predicted else perhaps_swapped(distinct)
    predicted_type = distinct.dtype if predicted else None
    advise = partial(_advice_on_values, predicted=predicted_type, order=order, of_labels=of_labels, void=void)
    raise ManyValuesError(file, problem, distinct.tolist(), advise)


def _advice_on_values(
    values: Sequence[float],
    _other_side: Sequence[float],
    *,
    predicted: np.dtype[Any] | None,
    order: Message,
    of_labels: OfLabels | None,
    void: Sequence[float],
) -> Message:
    """Say what more than two values of ground truth, or of a prediction of some type, may be."""
    labels = of_labels(values) if of_labels else ""
    if predicted is None:
        small = values[-1] < 2 * len(values) and values[-1] not in VOIDS  # above all labels
        fixes = [order + suggested_positive(values, void=void), labels]
        return alternatives(reversed(fixes) if small else fixes)
    # Of levels in the lower half of their type, as numbers of labels are, a cut at .5 would leave nothing.
    low = predicted.kind in "iu" and values[-1] <= np.iinfo(predicted).max // 2
    cut = Message("fix", "cut a soft map at a score, {at}", at=_cut(values, predicted))
    return alternatives([labels, "save masks of 0 and 255"] if low else [cut, labels])


def _cut(values: Sequence[float], predicted: np.dtype[Any]) -> Message | Setting:
    """Write the threshold that is half of the scale of rising values, if it lies within them."""
    scores = values
    if predicted.kind in "iu":
        scores = [value / np.iinfo(predicted).max for value in values]
    half = 0.5 if scores[0] >= 0 else 0
    if scores[0] < half <= scores[-1]:
        return Setting("at", half)
    ends = {"lowest": scores[0], "highest": scores[-1]}
    return Message("fix", "{at} with a score above {lowest:.4g} and up to {highest:.4g}", at=Setting("at"), **ends)


def finite_scores(sample: Sample, stored: Array) -> FloatArray:
    """Return the scores of a soft map, all of which have to be finite."""
    scores = scores_of(stored, sample.predicted_file)
    refuse_not_finite(sample.predicted_file, scores)
    return scores
