"""The files of an image as label maps: colours by the palette, stacks by argmax, values remapped, masks as 0 and 1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import Array, BoolArray, IntArray, is_whole
from segbench.core.errors import DataError
from segbench.core.geometry import how_to_fit
from segbench.core.levels import RESIZED, in_type_of, refuse_nan
from segbench.core.messages import (
    NOTHING,
    Either,
    Message,
    Note,
    Setting,
    alternatives,
    joined,
    protocol_with,
    together,
)
from segbench.core.numbers import written
from segbench.core.protocol import Interpreted
from segbench.core.sample import Sample
from segbench.inputs import label_rules as rules
from segbench.inputs.interpolated import refuse_interpolated
from segbench.inputs.label_rules import only_truth, zero_or_one
from segbench.inputs.label_values import Remapping
from segbench.inputs.palette import through_palette
from segbench.inputs.stacks import class_axis, is_one_map, refuse_other_softmax

INSTANCES = 1000
"""What labels are multiplied by in ids of instances, as those of Cityscapes."""
_MOST_CODES = 1 << 16
_BEYOND_LABELS = 2.0**62
_MOST_CLASSES = 150
"""Of a map with more values, which may be a soft map, the classes are not guessed."""


@dataclass(frozen=True, eq=False)
class Coded:
    """A label map as codes from 0, uint8 or uint16, and the labels that they represent, remapped."""

    codes: Array
    values: IntArray


def whole_labels(file: str, role: str, labels: Array) -> Array:
    """Return the labels of a file, which must be whole numbers; those of masks as 0 and 1."""
    if labels.dtype == np.bool_:
        return zero_or_one(labels).view(np.uint8)
    if labels.dtype.kind != "f":
        return labels
    refuse_nan(file, labels)
    if not (np.isfinite(labels) & (labels == np.rint(labels))).all():
        refuse_interpolated(file, labels)
        problem = Message(
            "not-whole", "{role} holds numbers that are not whole, expected one label per pixel", role=role
        )
        hint = Message(
            "fix",
            "label maps hold whole numbers; soft maps are for {pixels}, stacks of them are reduced by argmax",
            pixels=Either("Pixels()", "segbench pixels"),
        )
        raise DataError(file, problem, hint)
    if labels.size:
        refuse_far_apart(file, role, float(labels.min()), float(labels.max()))
    return labels.astype(np.int64)


def refuse_far_apart(file: str, role: str, lowest: float, highest: float) -> None:
    """Refuse values that are no labels, of which a table would not fit into memory."""
    if highest - lowest >= _MOST_CODES or max(-lowest, highest) >= _BEYOND_LABELS:
        problem = Message(
            "far-apart",
            "{role} holds values from {lowest:.15g} to {highest:.15g}, expected labels",
            role=role,
            lowest=lowest,
            highest=highest,
        )
        raise DataError(file, problem, "save labels as 8 or 16 bits")


@dataclass(frozen=True, eq=False)
class LabelMap:
    """One label map, the file it comes from, what errors call it, and what its values represent."""

    file: str
    role: str
    labels: Array
    mapping: Remapping = Remapping()
    lossy: str = ""  # the compression that changed its values
    by_place: bool = False  # whether labels are places in a stack of scores, which no map changes

    @property
    def stored_values(self) -> Array:
        """The values as they are stored, which must be whole numbers."""
        return whole_labels(self.file, self.role, self.labels)

    @cached_property
    def coded(self) -> Coded:
        """The map, of any type of whole numbers, as codes; 8 and 16 bits are taken as they are."""
        codes, first = self.stored_values.reshape(-1), 0
        if codes.dtype.kind not in "iu":
            problem = Message(
                "other-type", "{role} is of type {type}, expected labels", role=self.role, type=str(codes.dtype)
            )
            raise DataError(self.file, problem, "save labels as whole numbers")
        if codes.dtype not in (np.uint8, np.uint16):
            lowest, highest = (int(codes.min()), int(codes.max())) if codes.size else (0, 0)
            refuse_far_apart(self.file, self.role, lowest, highest)
            first = 0 if lowest >= 0 and highest < _MOST_CODES else lowest
            codes = codes.astype(np.int64) - first if first else codes
            codes = codes.astype(np.uint8 if highest - first <= 255 else np.uint16)
        number = 256 if codes.dtype == np.uint8 else int(codes.max(initial=0)) + 1
        return Coded(codes, self.mapping.labels_of(np.arange(first, first + number)))

    def remapped(self) -> LabelMap:
        """Return the map with its values replaced by the labels that they represent."""
        if self.mapping == Remapping():
            return self
        coded = self.coded
        return LabelMap(self.file, self.role, coded.values[coded.codes].reshape(self.labels.shape), lossy=self.lossy)


class LabelMaps(NamedTuple):
    """Ground truth and prediction of one image."""

    truth: LabelMap
    predicted: LabelMap

    @property
    def may_hold_instances(self) -> bool:
        """Whether values are as large as ids of instances."""
        wide = (label_map.labels for label_map in self if label_map.labels.dtype.itemsize > 1)
        return any(labels.max(initial=0) >= INSTANCES for labels in wide)

    def remapped(self) -> LabelMaps:
        """Return both with their values replaced."""
        return LabelMaps(self.truth.remapped(), self.predicted.remapped())


@dataclass(frozen=True, eq=False, kw_only=True)
class InterpretedMaps(Interpreted):
    """The label maps of an image, those of masks as True and False, and where pixels count; None for everywhere."""

    maps: LabelMaps
    valid: BoolArray | None


def label_maps(
    sample: Sample, *, labels: Sequence[int], palette: str, gt_map: str, pred_map: str, protocol: str
) -> LabelMaps:
    """Return the label maps of an image; the places in a stack are classes as they are. Errors name the `protocol`."""
    file = sample.predicted_file
    if len(sample.predictions) > 1:
        number = len(sample.predictions)
        problem = Message("several-maps", "{number} predictions of one image, expected one label map", number=number)
        pattern = Setting("pred_pattern")
        raise DataError(file, problem, Message("fix", "correct {pattern}, or the columns of the list", pattern=pattern))
    truth = through_palette(sample.truth_file, only_truth(sample, "label map"), palette)
    predicted = sample.predictions[0]
    if len(labels) > 1 and is_one_map(tuple(predicted.shape), truth.shape):
        predicted = _on_host(predicted).reshape(truth.shape)
    predicted = through_palette(file, predicted, palette)
    _refuse_channels(sample.truth_file, truth, tuple(predicted.shape), len(labels))
    by_place = predicted.ndim == truth.ndim + 1
    if by_place:
        colours = Message("fix", "save colours as PNG, for the palette to name")
        if not palette:
            option = protocol_with(protocol, "", Setting("palette", metavar="FILE"))
            colours = Message("fix", "for colours give {palette}", palette=option)
        predicted = np.asarray(labels)[_reduced_by_argmax(file, predicted, truth, labels, colours)]
    elif predicted.shape != truth.shape:
        problem = Message(
            "other-size",
            "shape ({shape}), expected ({expected}) as the ground truth has",
            shape=tuple(predicted.shape),
            expected=truth.shape,
        )
        resize = Message("fix", "resize it by nearest neighbour first, or give the scores of all classes")
        raise DataError(file, problem, how_to_fit(predicted.shape, truth.shape, resize))
    return LabelMaps(
        LabelMap(sample.truth_file, "the ground truth", truth, Remapping.parse(gt_map), sample.lossy[0]),
        LabelMap(
            file, "the prediction", predicted, Remapping() if by_place else Remapping.parse(pred_map), by_place=by_place
        ),
    )


def _refuse_channels(file: str, truth: Array, predicted: tuple[int, ...], classes: int) -> None:
    """Refuse ground truth with an axis of classes: scores that were swapped with labels, or labels as one-hot."""
    if truth.ndim < 3 or not truth.size:
        return
    axes = [axis for axis in (0, -1) if truth.shape[axis] == classes > 1]
    one_hot = truth.min() >= 0 and any((np.count_nonzero(truth, axis) == 1).all() for axis in axes)
    if one_hot or predicted in (truth.shape[1:], truth.shape[:-1]):
        problem = Message(
            "class-axis",
            "the ground truth has shape ({shape}), with an axis of classes, expected one label per pixel",
            shape=truth.shape,
        )
        argmax = Message(
            "one-hot", "of one-hot labels give labels.argmax(axis=1) for a batch, argmax(axis=0) for an image"
        )
        raise DataError(file, problem, argmax if is_whole(truth) else rules.MIND_THE_ORDER)


def _reduced_by_argmax(
    file: str, scores: Any, truth: Array, labels: Sequence[int], colours: Message
) -> NDArray[np.intp]:
    """Return the index of the highest score of each pixel, of equal ones the first; `colours` is advice on them."""
    shape = tuple(scores.shape)
    if shape[:-1] == truth.shape and shape[-1] in (3, 4) and str(scores.dtype).endswith("uint8"):
        problem = Message(
            "colour-or-scores",
            "shape ({shape}) of uint8 may be a colour image or the scores of {classes} classes",
            shape=shape,
            classes=shape[-1],
        )
        raise DataError(file, problem, joined([colours, "put the axis of classes first, or make scores floats"]))
    last = shape[-1] == len(labels) != shape[0]
    reduced = f"scores.argmax(axis={-1 if last else 0})"
    if tuple(labels) != tuple(range(len(labels))):
        reduced = f"numpy.array({list(labels)})[{reduced}]"
    hint = f"save label maps instead: {reduced}; only these are resized"
    axis = class_axis(file, shape, truth, labels, argument="classes", hint=hint)
    refuse_nan(file, scores)
    refuse_other_softmax(file, scores, axis)
    return _on_host(scores.argmax(axis))


def _on_host(array: Any) -> Array:
    return np.asarray(array.cpu() if hasattr(array, "cpu") else array)


def masks_in(
    maps: LabelMaps,
    valid: BoolArray | None,
    *,
    void: Sequence[int],
    positive: rules.Positive | None,
    predicted_positive: rules.Positive | None,
    wrong: BoolArray | None = None,
) -> InterpretedMaps:
    """Return label maps, remapped, as masks; `wrong` marks where there is no prediction, which is never right."""
    truth, predicted = maps
    for label_map in maps:
        refuse_nan(label_map.file, label_map.labels)
    valid = rules.where_not_void(truth.labels, void, valid)
    rule = None if positive is None else rules.LabelRule.parse(positive)
    notes: tuple[Note, ...] = ()
    if rule is None:
        try:
            (is_positive,), facts = rules.two_values([truth.file], [truth.labels], [valid])
        except rules.ManyValuesError as error:
            order = rules.perhaps_swapped(truth.labels, predicted.labels)
            of_predictions = None if predicted_positive is None else rules.LabelRule.parse(predicted_positive)
            advise = partial(_advice_on_values, order=order, of_predictions=of_predictions, void=void)
            counted = truth.labels if valid is None else truth.labels[valid]  # of which the error keeps not too many
            sides = np.unique(counted).tolist(), np.unique(predicted.labels).tolist()
            raise rules.ManyValuesError(error.path, error.what, sides[0], advise, sides[1]) from None
    else:
        is_positive = rule.labels(truth.file, truth.labels, valid)
        among = (truth.labels, is_positive) if valid is None else (truth.labels[valid], is_positive[valid])
        facts = rule.shown_by(*among)
        notes = rule.notes(truth.labels, is_positive, valid, void)
    labels = predicted.labels
    if labels.dtype == np.bool_:
        found_positive = labels
    elif predicted_positive is not None:
        of_predictions = rules.LabelRule.parse(predicted_positive)
        found_positive = _by_rule(predicted, of_predictions, "predicted_positive", is_positive)
        notes += _logits_at_half(labels, of_predictions)
    elif rule is not None and rule.at_half and not ((labels == 0) | (labels == 1)).all():
        found_positive = _by_rule(predicted, rule, "positive", is_positive)
        notes += _logits_at_half(labels, rule)
    else:
        found_positive = _two_valued(maps, valid, rule)
    if wrong is not None:
        found_positive = np.where(wrong, ~is_positive, found_positive)
    masks = LabelMaps(replace(truth, labels=is_positive), replace(predicted, labels=found_positive))
    return InterpretedMaps(maps=masks, valid=valid, facts=facts, notes=notes)


def _advice_on_values(
    values: Sequence[float],
    predicted: Sequence[float],
    *,
    order: Message = NOTHING,
    of_predictions: rules.LabelRule | None = None,
    void: Sequence[float] = (),
) -> Message:
    """Say what more than two values may be: as in predictions, classes of label maps, or levels of masks."""
    if rule := rules.rule_of_other_side(of_predictions, values, predicted):
        return _name_rule("positive", str(rule)) + " (as in the predictions, which hold the same values)"
    hint = order + rules.suggested_positive(values, void=void)
    classes = NOTHING if order else likely_classes(np.asarray(values), _MOST_CLASSES)
    if classes and of_predictions:
        return alternatives([hint, _name_classes(classes, "predicted_positive")])
    return alternatives([_name_classes(classes), hint], "; for masks ") if classes else hint


def _name_classes(classes: Message, *rules_for_masks: str) -> Message:
    """Say how label maps are measured, without the rules for masks that are given."""
    if not rules_for_masks:
        return Message("fix", "for label maps name the classes: {classes}", classes=classes)
    without = joined(map(Setting, rules_for_masks), " and ")
    return Message(
        "fix", "for label maps name the classes, without {without}: {classes}", without=without, classes=classes
    )


def _by_rule(predicted: LabelMap, rule: rules.LabelRule, name: str, truth: BoolArray) -> BoolArray:
    """Say which pixels a rule makes positive; a bound on another scale than the map's is refused."""
    labels = predicted.labels
    if rule.comparison != "=" and _on_another_scale(labels, rule.values[0], truth):
        problem = Message(
            "other-scale",
            "holds values up to {highest:g}, and {rule} is on another scale",
            highest=float(labels.max()),
            rule=Setting(name, str(rule)),
        )
        one_scale = "one rule holds for all predictions: save them on one scale"
        raise DataError(predicted.file, problem, joined([_cut_predictions(_some_values(labels)), one_scale]))
    if rule.bound_was_meant(labels) and not likely_classes(labels, _MOST_CLASSES):
        problem = Message(
            "several-values",
            "holds {count} distinct values ({values}), and {rule} is a single one",
            **rules.counted(np.unique(labels)),
            rule=Setting(name, str(rule)),
        )
        raise rules.ManyValuesError(
            predicted.file, problem, _some_values(labels), lambda values, _: _cut_predictions(values)
        )
    return replace(rule, values=tuple(in_type_of(labels.dtype, rule.values).tolist())).positive(labels)


def _logits_at_half(labels: Array, rule: rules.LabelRule) -> tuple[Note, ...]:
    """Say that a bound which is half of probabilities cuts logits, or scores from -1 to 1."""
    if not rule.at_half or rule.values[0] != 0.5 or labels.dtype.kind != "f" or labels.min(initial=0) >= RESIZED:
        return ()
    message = Message(
        "cut-at-half",
        "scores far below 0, as of logits or tanh, are cut at 0.5; half of these is {half}",
        half=Setting("predicted_positive", ">=0"),
    )
    return (Note(message, "prediction"),)


def _on_another_scale(labels: Array, bound: float, truth: BoolArray) -> bool:
    """Return whether a bound is for shares, or levels of 8 or 16 bits, and a predicted map holds others of these."""
    highest = float(labels.max(initial=0))
    if highest <= 0 or labels.min() < 0:  # blank maps are of every scale, logits of none
        return False
    if labels.dtype.kind == "f" and highest <= 1:
        return bound > 1
    if highest == 1:
        return bound > 1 and rules.may_be_mask(truth, labels)
    of_levels = labels.dtype.kind != "f" and 1 < bound <= 255 < highest
    return 0 < bound < 1 or of_levels or (labels.dtype == np.uint8 and bound > 255)


def _two_valued(maps: LabelMaps, valid: BoolArray | None, rule: rules.LabelRule | None) -> BoolArray:
    """Say which pixels are predicted positive by a mask of 0 and one other value; `rule` is for the ground truth."""
    labels = maps.predicted.labels
    mask: BoolArray = labels != 0
    if np.all(~mask | (labels == labels.max(initial=0))):
        return mask
    cut = Message("fix", "{rule}, if these are scores", rule=Setting("predicted_positive", ">=0.5"))
    refuse_interpolated(maps.predicted.file, labels, cut)
    truth = maps.truth.labels if valid is None else maps.truth.labels[valid]
    values = rules.counted(np.unique(labels))
    problem = Message(
        "several-values", "holds {count} distinct values, expected a mask of 0 and one other value", **values
    )
    advise = partial(_advice_on_predictions, rule=rule)
    raise rules.ManyValuesError(maps.predicted.file, problem, _some_values(labels), advise, _some_values(truth))


def _advice_on_predictions(values: Sequence[float], truth: Sequence[float], *, rule: rules.LabelRule | None) -> Message:
    """Say which values may be positive: those of the ground truth if it holds the same, else those above a bound."""
    classes = likely_classes(np.array([*values, *truth]), rules.MANY_LEVELS)
    of_labels = [_name_classes(classes, *(["positive"] if rule else []))] if classes else []
    if same := rules.rule_of_other_side(rule, values, truth):
        of_truth = " (as in the ground truth, which holds the same values)"
        return alternatives([_name_rule("predicted_positive", str(same)) + of_truth, *of_labels])
    soft = Message("fix", "rank soft maps with {pixels}", pixels=Either("Pixels()", "segbench pixels"))
    if not classes:
        return alternatives([_cut_predictions(values), soft])
    above = Setting("predicted_positive", f">{values[0]:g}")
    of_masks = Message("fix", "{rule} for all but {lowest:g}", rule=above, lowest=values[0])
    positive = [value for value in (rule.chosen(truth) if rule else truth[1:]) if value in values]
    if positive:
        same_labels = _name_rule("predicted_positive", written(positive))
        of_masks = alternatives([same_labels, of_masks], " if labels mean the same there, or ")
    return alternatives([of_masks, *of_labels, soft] if rule else [*of_labels, of_masks, soft])


def _cut_predictions(values: Sequence[float]) -> Message:
    """Say at which bound to cut maps of some rising values: at half of their scale, if it lies within them."""
    lowest, highest = values[0], values[-1]
    half, scale = rules.half_of(highest), ""
    if lowest < 0:
        half, scale = (
            ("0", " for logits") if highest >= 0 else (f"{math.log(0.5):.6f}", " for logarithms of probabilities")
        )
    if half == "N" or not lowest < float(half) <= highest:
        half, scale = "N", f" with N half of the scale that predictions are on, above {lowest:g} and up to {highest:g}"
    return _name_rule("predicted_positive", f">={half}") + scale


def _name_rule(setting_name: str, rule: str) -> Message:
    sides = {"positive": "ground-truth values", "predicted_positive": "predicted values"}
    values = sides[setting_name]
    return Message("fix", "say which {values} are positive: {rule}", values=values, rule=Setting(setting_name, rule))


def _some_values(labels: Array) -> list[float]:
    """Return the distinct values of a map, rising; of very many some, with both ends."""
    values = np.unique(labels)
    indices = np.linspace(0, values.size - 1, min(values.size, rules.MOST_LABELS)).astype(np.intp)
    some_values: list[float] = values[indices].tolist()
    return some_values


def likely_classes(labels: Array, most: int) -> Message:
    """Say how the classes of label maps may be given; empty where values are too few, too many or not whole."""
    values, void = np.unique(labels[labels != 255]), []
    while values.size <= most and rules.ends_in_void(values.tolist()):
        void.append(float(values[-1]))
        values = values[:-1]
    if values.size > 3 and values[0] == rules.UNLABELLED:
        void.append(rules.UNLABELLED)
        values = values[1:]
    few = 2 < values.size <= most and values[-1] < 2 * values.size
    whole = few and values[0] >= 0 and np.array_equal(values, np.rint(values))
    if not whole:
        return NOTHING
    classes = Setting("classes", f"0-{values[-1]:.0f}")
    return together(classes, Setting("void", sorted({*void, 255}))) if void else together(classes)
