"""Pixels for which files declare that there are no data: scored or left out on request, refused without one.

GDAL writes such a value into GeoTIFFs (`GDAL_NODATA`). A score of -9999 would rank below, or among, others, a label of
255 may be a class: only the user knows. Where the value is a class of the settings nothing is said.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from segbench.core.arrays import BoolArray
from segbench.core.errors import DataError
from segbench.core.levels import ROUNDING
from segbench.core.messages import NOTHING, Message, Note, Setting, joined
from segbench.core.numbers import written
from segbench.core.protocol import Counted, InputSettings, Interpreted, Protocol, soft_maps_of
from segbench.core.sample import Sample
from segbench.inputs.label_inputs import LabelInputs
from segbench.inputs.label_rules import AS_POSITIVE, Advice, LabelRule, ManyValuesError, equals_any, where_not_void
from segbench.inputs.sides import masks_of
from segbench.loaders.reading import LABEL_MAPS, NoDataRule, RawFiles, Repairs, decode_sample

if TYPE_CHECKING:
    from segbench.core.arrays import Array

_DECLARED = "GDAL_NODATA"


def decode_for(protocol: Protocol, raw: RawFiles, repairs: Repairs | None = None) -> Sample:
    """Decode the files of an image for a protocol; scores without data are refused unless `repairs` say what to do."""
    repairs = repairs or Repairs()
    sample = decode_sample(raw, protocol.reads, repairs)
    if not sample.nodata:
        return sample
    if not protocol.reads.levels:
        return _with_labels(sample, protocol)
    return _with_decision(sample, protocol, repairs.nodata)


def count_decoded(protocol: Any, sample: Sample) -> Counted:
    """Count an image; of ground truth with a value for no data, errors and notes say how to leave its pixels out."""
    counted: Counted = _with_advice(protocol, sample, protocol.count)
    return counted


def interpret_decoded(protocol: Any, sample: Sample) -> Interpreted:
    """Interpret an image, with the same advice."""
    interpreted: Interpreted = _with_advice(protocol, sample, protocol.inputs.interpret)
    protocol.refuse_unfit(sample)
    return interpreted


def _with_advice(protocol: Any, sample: Sample, make: Callable[[Sample], Any]) -> Any:
    """Make counts or arrays of an image, whose errors and notes say how to leave declared values out."""
    if not sample.truth_nodata:
        return make(sample)
    advice = _advice_on_truth(protocol, sample)
    if not advice:
        return make(sample)
    try:
        interpreted = make(sample)
    except ManyValuesError as error:
        first = partial(_before, advice, error.advise)
        raise ManyValuesError(error.path, error.what, error.stored, first, error.other_side) from None
    except DataError as error:
        if error.path not in sample.truth_files:
            raise
        raise DataError(error.path, error.what, _first(advice, error.hint)) from None
    note = Note(Message("declared-no-data", "{advice}", advice=advice), "ground truth")
    return replace(interpreted, notes=(*interpreted.notes, note))


def _before(advice: Message, advise: Advice, values: Sequence[float], other_side: Sequence[float]) -> Message:
    """Write advice before that on the values of a set."""
    return _first(advice, advise(values, other_side))


def _first(advice: Message, otherwise: Message) -> Message:
    """Write advice on a declared value before another advice, which may begin with the same remedy."""
    remedy, first = advice.values["remedy"], otherwise
    while isinstance(opening := first.values.get("part0"), Message):
        first = opening
    same = first.kind == "leave-out" and first.settings[:1] == remedy.settings
    return _of_declared(advice.values["values"], otherwise if same else joined([remedy, otherwise], "; otherwise "))


def _of_declared(values: str, remedy: Message) -> Message:
    """Write advice on values that mean that there are no data."""
    return Message(
        "nodata", "{values} is declared as no data ({tag}); {remedy}", values=values, tag=_DECLARED, remedy=remedy
    )


def _advice_on_truth(protocol: Any, sample: Sample) -> Message:
    """Say how to leave out pixels whose ground truth has a value for no data; empty where it is a class, or 0."""
    void = tuple(map(float, _void(protocol)))
    known = {0.0, *void, *_classes(protocol)}
    declared_values = [
        value
        for value in sample.truth_nodata
        if value not in known and any((truth[_inside(truth, sample)] == value).any() for truth in sample.ground_truths)
    ]
    if not declared_values:
        return NOTHING
    remedy = Message("fix", "save the value of background there")
    if hasattr(protocol, "void"):
        out = Setting("void", sorted({*declared_values, *void}))
        remedy = Message("leave-out", "leave such pixels out: {void}", void=out)
    return _of_declared(written(tuple(declared_values)), remedy)


def _inside(array: Array, sample: Sample) -> Any:
    """Select the pixels in the field of view."""
    return sample.field if sample.field is not None and sample.field.shape == array.shape else ...


def _void(protocol: Any) -> tuple[float, ...]:
    """Return the ground-truth values that are left out."""
    return tuple(getattr(protocol, "void", None) or ())


def _classes(protocol: Any) -> set[float]:
    """Return the values of ground truth that settings name as classes, or as positive."""
    labels = getattr(protocol, "labels" if hasattr(protocol, "labels") else "classes", None)
    masks = masks_of(protocol.inputs) if isinstance(protocol, Protocol) else None
    return {*map(float, labels or ()), *_named(masks.rule if masks else None)}


def _with_labels(sample: Sample, protocol: Protocol) -> Sample:
    """Say how predicted labels count that mean that there are no data, unless they are a class; in masks they are 0."""
    positive = getattr(protocol, "predicted_positive", None)
    rule = None if positive in (None, AS_POSITIVE) else LabelRule.parse(positive)
    known = {0.0, *_classes(protocol), *_named(rule)}
    of_masks = protocol.reads.name == LABEL_MAPS.name and not getattr(protocol, "classes", None)
    nodata = tuple(
        None if hole is None or hole.value in known or (of_masks and _is_mask(array)) else hole
        for array, hole in zip(sample.predictions, sample.nodata, strict=True)
    )
    values = sorted({hole.value for hole in nodata if hole})
    if not values:
        return replace(sample, nodata=())
    counts_as = "background" if of_masks and not isinstance(protocol.inputs, LabelInputs) else "wrong"
    message = Message(
        "no-data-labels",
        "{values} is declared as no data (GDAL_NODATA), which counts as {counts_as}",
        values=written(tuple(values)),
        counts_as=counts_as,
    )
    note = Note(message, "prediction")
    predictions = sample.predictions
    if of_masks:
        predictions = tuple(
            array if hole is None else np.where(hole.pixels, array.dtype.type(0), array)
            for array, hole in zip(predictions, nodata, strict=True)
        )
    return replace(sample, predictions=predictions, nodata=nodata, notes=(*sample.notes, note))


def _named(rule: LabelRule | None) -> tuple[float, ...]:
    """Return the values that a rule lists."""
    return rule.values if rule and rule.comparison == "=" else ()


def _with_decision(sample: Sample, protocol: Protocol, rule: NoDataRule | None) -> Sample:
    """Refuse scores without data where pixels count, or score or leave them out."""
    masks = masks_of(protocol.inputs)
    missing = np.logical_or.reduce([hole.pixels for hole in sample.nodata if hole])
    truth = sample.ground_truths[0]
    if missing.shape != truth.shape:
        return sample  # sizes differ, which the protocol refuses
    valid = where_not_void(
        truth, () if sample.without_truth else (masks.void_values if masks else None) or (), sample.field
    )
    missing = missing if valid is None else missing & valid
    values = sorted({hole.value for hole in sample.nodata if hole})
    if not missing.any() or (values == [0] and all(map(_is_mask, sample.predictions))):
        return sample
    positive = _positives(sample, protocol.inputs)
    if rule is None:
        raise _refusal(sample, protocol, missing, positive, values)
    pixels = Message("pixels", "{pixels} of {total} pixels", pixels=int(np.count_nonzero(missing)), total=missing.size)
    if rule == "exclude":
        field = ~missing if sample.field is None else sample.field & ~missing
        left_out = Message("no-data-left-out", "{side} without data: pixels left out")
        notes = [Note(left_out, "prediction", detail=pixels)]
        if positive is not None and (positive & missing).any():
            left_out = Message("no-data-positive", "{side} without data: positive pixels left out")
            notes.append(Note(left_out, "prediction", amount=int(np.count_nonzero(positive & missing))))
        return replace(sample, field=field, notes=(*sample.notes, *notes))
    predictions = tuple(
        array if hole is None else _with_lowest(array, hole.pixels, protocol)
        for array, hole in zip(sample.predictions, sample.nodata, strict=True)
    )
    lowest = Message("no-data-lowest", "{side} without data: pixels have the lowest score")
    note = Note(lowest, "prediction", detail=pixels)
    return replace(sample, predictions=predictions, notes=(*sample.notes, note))


def _is_mask(prediction: Array) -> bool:
    """Return whether a prediction holds at most two values, of which 0 is one that means something."""
    lowest, highest = prediction.min(), prediction.max()
    return bool(((prediction == lowest) | (prediction == highest)).all())


def _positives(sample: Sample, inputs: InputSettings) -> BoolArray | None:
    """Mark the pixels that any annotator has as positive; None where that is no matter of values."""
    masks = masks_of(inputs)
    if masks is None or getattr(inputs, "label_maps", False) or len(sample.predictions) > 1:
        return None
    if sample.without_truth:
        return np.zeros(sample.ground_truths[0].shape, np.bool_)
    marked = []
    for truth in sample.ground_truths:
        if masks.rule:
            positive = masks.rule.positive(truth)
        else:
            positive = (truth != 0) & ~equals_any(truth, masks.void_values or ())
        marked.append(positive)
    return np.asarray(np.logical_or.reduce(marked))


def _refusal(
    sample: Sample, protocol: Protocol, missing: BoolArray, positive: BoolArray | None, values: list[float]
) -> DataError:
    """Say how many scores are none, and what may be done about it."""
    of_positives = ""
    if positive is not None and positive.any():
        of_positives = f" and {_percent(positive & missing, np.count_nonzero(positive))} of positives"
    problem = Message(
        "nodata",
        "scores of {values}, which the file declares as no data ({tag}), in {share} of pixels{of_positives}",
        values=written(tuple(values)),
        tag=_DECLARED,
        share=_percent(missing, missing.size),
        of_positives=of_positives,
        pixels=int(np.count_nonzero(missing)),
        positives=None if positive is None else int(np.count_nonzero(positive & missing)),
    )
    lowest = Setting("nodata", "lowest", of="Repairs")
    hint = Message("fix", "{lowest} gives them the lowest score, as pixels where nothing is found", lowest=lowest)
    if not protocol.reads.without_field:
        out = Message(
            "fix",
            "{exclude} leaves them out, positives too; to leave out the same pixels of all methods give {masks}",
            exclude=Setting("nodata", "exclude", of="Repairs"),
            masks=Setting("field", metavar="masks"),
        )
        hint = joined([hint, out])
    return DataError(sample.predicted_file, problem, hint)


def _percent(pixels: BoolArray, whole: Any) -> str:
    """Write the share of pixels that are marked."""
    share = float(100 * np.count_nonzero(pixels) / whole)
    return "less than .1 %" if 0 < share < 0.1 else f"{share:.3g} %"


def _with_lowest(array: Array, missing: BoolArray, protocol: Protocol) -> Array:
    """Write the score that no other is below, or above where low scores mean positive."""
    soft_maps = soft_maps_of(protocol.inputs)
    inverted = bool(soft_maps and soft_maps.invert)
    if array.dtype.kind != "f":
        score: Any = (np.iinfo(array.dtype).max if array.dtype.kind in "iu" else True) if inverted else 0
    else:
        others = array[~missing]
        lowest, highest = (float(others.min()), float(others.max())) if others.size else (0.0, 1.0)
        limits = np.finfo(array.dtype)
        if lowest >= -ROUNDING and highest <= 1 + ROUNDING:
            score = max(1.0, highest) if inverted else min(0.0, lowest)
        elif protocol.reads.without_field:  # maps of whole images, which are compared in their own range
            score = highest if inverted else lowest
        else:
            score = limits.max if inverted else limits.min
    return np.where(missing, array.dtype.type(score), array)
