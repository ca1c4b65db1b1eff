"""Two label maps to a confusion matrix: values become table entries, and one compiled pass counts them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np

from segbench.core.arrays import Array, BoolArray, IntArray
from segbench.core.errors import DataError
from segbench.core.messages import Either, Message, Setting, alternatives, joined, protocol_with
from segbench.core.numbers import verb
from segbench.inputs.class_names import few_labels, labels_text, with_background, with_labels
from segbench.inputs.class_regions import ClassLabel
from segbench.inputs.label_maps import Coded, InterpretedMaps, LabelMap, LabelMaps
from segbench.inputs.label_rules import LABELS_BELOW, OFTEN_VOID, VOIDS, ManyValuesError, is_apart
from segbench.inputs.label_values import Remapping, are_intensities, places_of, shift_to_zero
from segbench.loaders.reading import how_to_save_labels

NamedClasses: TypeAlias = tuple[Sequence[ClassLabel], Sequence[str]]
"""Labels and names of classes."""
_SHOWN = 20
_OF_8_BITS = 256


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassesOfPixels(InterpretedMaps):
    """The label maps of an image, and how many pixels have each true and predicted class."""

    matrix: IntArray
    """True classes in rows, predicted ones in columns, and a last column of predictions outside the classes."""
    ignored: int
    """Pixels left out: void, or outside the field of view."""


def count_maps(
    maps: LabelMaps,
    *,
    labels: Sequence[int],
    named: NamedClasses,
    void: Sequence[int],
    valid: BoolArray | None,
    protocol: str,
) -> tuple[IntArray, int]:
    """Count pixels by true and predicted label, shape (K, K + 1), and those left out.

    Labels of the ground truth that are neither counted nor void are refused; errors say how to list them beside the
    `named` classes of the `protocol`.
    """
    size = len(labels)
    width, left_out, unknown = size + 1, size, size + 1
    truth, predicted = (side.coded for side in maps)
    _refuse_intensities(maps.predicted, _values_in(predicted) if predicted.values.size > _OF_8_BITS else ())
    table, columns = places_of(truth.values, labels), places_of(predicted.values, labels)
    table += (table == size) & ~np.isin(truth.values, void)
    codes, rows = truth.codes, table
    if valid is not None:
        codes, rows = np.where(valid.reshape(-1), table[codes], left_out).astype(np.uint16), np.arange(size + 2)
    counts = _counted(codes, predicted.codes, rows * width, columns, (size + 2) * width).reshape(size + 2, width)
    if counts[unknown].any():
        occurring = np.unique(truth.codes if valid is None else truth.codes[valid.reshape(-1)])
        foreign = np.unique(truth.values[occurring[table[occurring] == unknown]]).tolist()
        # A remapping says itself what labels count from.
        remap = shift_to_zero(labels) if maps.truth.mapping == Remapping() else ""
        advise = partial(_advice, labels=labels, named=named, void=void, remap=remap, protocol=protocol)
        raise _foreign(maps.truth, foreign, np.unique(truth.values[occurring]).tolist(), advise, _values_in(predicted))
    return counts[:size], int(counts[left_out].sum())


def _values_in(coded: Coded) -> Sequence[int]:
    """Return the labels that a map holds, rising."""
    values: list[int] = np.unique(coded.values[np.bincount(coded.codes, minlength=1).nonzero()[0]]).tolist()
    return values


def _refuse_intensities(label_map: LabelMap, values: Sequence[int]) -> None:
    """Refuse a map of so many values that they are those of an image, such as one of CT, and no labels."""
    if not are_intensities(values):
        return
    problem = Message(
        "intensities",
        "{role} holds {count} distinct values from {lowest} to {highest}: these are intensities of an image, and no "
        "labels",
        role=label_map.role,
        count=len(values),
        lowest=values[0],
        highest=values[-1],
    )
    fixes: list[Message | str] = [
        "give label maps: data sets with images in imagesTr have the labels in labelsTr or labelsTs"
    ]
    if values[0] >= 0:
        fixes.append(
            Message("fix", "numbered objects are for {objects}", objects=Either("Objects()", "segbench objects"))
        )
    raise DataError(label_map.file, problem, joined(fixes))


def _counted(truth: Array, predicted: Array, rows: Array, columns: Array, size: int) -> IntArray:
    """Count pixels by the sum of the table entries of both values."""
    from segbench.inputs.confusion_kernels import confusion, confusion_of_words

    truth, predicted = np.ascontiguousarray(truth), np.ascontiguousarray(predicted)
    # What has a sign may count from the end of an array, and a loop would look for it at each pixel.
    rows, columns = rows.astype(np.uint64), columns.astype(np.uint64)
    whole = truth.size - truth.size % 8 if truth.dtype == predicted.dtype == np.uint8 else 0
    counts: IntArray = confusion(truth[whole:], predicted[whole:], rows, columns, size)
    if whole:
        true_words, predicted_words = (part[:whole].view(np.uint64) for part in (truth, predicted))
        counts += confusion_of_words(true_words, predicted_words, rows, columns, size)
    return counts


def _count_from_one(labels: Sequence[int], classes: int) -> bool:
    """Return whether labels, rising, seem to count several classes from 1; void may be among them."""
    whole = classes in labels and labels[0] > 0 and all(label <= classes or label in VOIDS for label in labels)
    return classes > 1 and whole


def _foreign(
    truth: LabelMap, foreign: Sequence[int], labels: Sequence[int], advise: partial[Message], predicted: Sequence[int]
) -> DataError:
    """Say which labels of all that a file holds are neither classes nor void; `advise` on those of the whole set."""
    _refuse_intensities(truth, labels)
    problem = Message(
        "no-class",
        "{noun} {labels}{more} {are} neither a class nor void{background}",
        noun="values" if len(foreign) > 1 else "value",
        labels=foreign[:_SHOWN],
        more=f", ... ({len(foreign)} labels)" if len(foreign) > _SHOWN else "",
        are=verb(len(foreign), "are"),
        background=", and no pixel is 0" if labels[0] > 0 else "",
    )
    if truth.lossy:
        return DataError(truth.file, problem, how_to_save_labels(truth.lossy))
    error = ManyValuesError(truth.file, problem, labels, partial(advise, alone=True), predicted)
    error.advise = advise
    return error


def _advice(
    values: Sequence[float],
    predicted: Sequence[float],
    *,
    labels: Sequence[int],
    named: NamedClasses,
    void: Sequence[int],
    remap: str,
    protocol: str,
    alone: bool = False,
) -> Message:
    """Say what to do with those of the values of ground truth that are neither classes nor void.

    Background is never left out as void, for false positives lie there. `remap` fits labels that count from 1, which a
    file `alone` does not show.
    """
    stored = [int(value) for value in values]
    foreign = [label for label in stored if label not in labels and label not in void]
    highest = max([*labels, *(label for label in stored if label < LABELS_BELOW)])
    often_void = [label for label in foreign if label < 0 or label in VOIDS or is_apart(label, highest)]
    others = [label for label in foreign if label not in often_void]
    out = Setting("void", sorted({*often_void, *void}) if len(often_void) <= _SHOWN else ...)
    if not others:
        remapped = Setting("gt_map", f"{often_void[0]}=LABEL")
        leave_out = Message("leave-out", "leave such pixels out: {void}", void=out)
        hint = alternatives([leave_out, Message("fix", "remap them: {gt_map}", gt_map=remapped)], ", or ")
        apart = [label for label in often_void if label not in OFTEN_VOID]
        if len(apart) != 1:
            return hint
        classes = with_labels(*named, apart)
        return alternatives(
            [hint, Message("fix", "if {label} is a class, {classes}", label=apart[0], classes=classes)], "; "
        )
    if remap and _count_from_one(stored, len(labels)):
        from_1 = "if no image has label 0, labels count from 1: write {classes_from_one}, or {maps}"
        too = "list {labels}, too: {classes}"
        hint = Message(
            "alternatives",
            f"{too}; or {from_1}" if alone else f"{from_1}; if some has, {too}",
            classes_from_one=Setting("classes", f"1-{len(labels)}"),
            maps=Message(
                "fix",
                "{gt_map}, with {pred_map} if predictions count from 1, too",
                gt_map=Setting("gt_map", remap),
                pred_map=Setting("pred_map", remap),
            ),
            labels=few_labels(others),
            classes=with_labels(*named, others),
        )
    elif len(labels) == 1 and others[-1] < labels[0]:
        (label,) = labels
        up_to, below = with_labels(*named, range(label)), Setting("classes", labels_text(range(label)))
        likely, other = (up_to, below) if label in stored else (below, up_to)
        hint = Message(
            "alternatives",
            "{given} names label {label} alone; name all labels, and each is measured alone, too: {likely}, or {other} "
            "if there are {number:many label} from 0",
            given=Setting("classes", str(label)),
            label=label,
            likely=likely,
            other=other,
            number=label + 1 if other is up_to else label,
        )
    else:
        unlabelled = Setting("void", sorted({0, *void})) if min(labels) == 1 and 0 not in predicted else None
        hint = _listed_too(others, named, protocol, unlabelled)
    if not often_void:
        return hint
    void_labels = few_labels(often_void)
    return Message("fix", "{hint}; leave {labels} out if it is void: {void}", hint=hint, labels=void_labels, void=out)


def _listed_too(others: Sequence[int], named: NamedClasses, protocol: str, void_0: Setting | None) -> Message:
    """Say how to list labels that are none of the classes, as background or as classes.

    `void_0` leaves 0 out beside classes from 1, if no prediction holds it, as what nobody labelled in ADE20K.
    """
    several = len(others) > 1
    them, are = ("them", "are") if several else ("it", "is")
    listed = f"{'labels' if several else 'label'} {few_labels(others)}"
    as_classes = with_labels(*named, others)
    background = Message(
        "fix",
        "if {labels} {are} background, {settings} counts {them} and leaves {them} out of means over classes",
        labels=listed,
        are=are,
        settings=protocol_with(protocol, "", with_background(*named, others)),
        them=them,
    )
    see = "what nobody labelled is void, see docs/labels.md"
    if 0 in others:
        how = "as classes" if several else "as a class"
        as_class = Message("fix", "{how} {classes}", how=how, classes=as_classes)
        if void_0 and not several:
            unlabelled = Message("fix", "if nobody labelled pixels of 0, leave them out: {void}", void=void_0)
            return alternatives([unlabelled, background, as_class], "; ")
        return joined([alternatives([background, as_class], "; "), see])
    as_listed = Message(
        "alternatives",
        "list {labels}, too: {classes}, or remap {them}: {gt_map}",
        labels=listed,
        classes=as_classes,
        them=them,
        gt_map=Setting("gt_map", f"{others[0]}=LABEL"),
    )
    return joined([as_listed, background, see])
