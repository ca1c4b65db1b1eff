"""Two label maps to a confusion matrix: values become table entries, and one compiled pass counts them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from segbench.core.arrays import Array, BoolArray, IntArray
from segbench.core.errors import DataError
from segbench.core.interface import format_setting, setting
from segbench.core.numbers import many
from segbench.loaders.reading import how_to_save_labels
from segbench.protocols.class_names import labels_text, with_background, with_labels
from segbench.protocols.label_rules import LABELS_BELOW, OFTEN_VOID, VOIDS, Advice, ManyValuesError, is_apart
from segbench.protocols.labels.inputs import LabelMap, LabelMaps
from segbench.protocols.labels.values import Remapping, places_of, shift_to_zero

_SHOWN = 20


def count_maps(
    maps: LabelMaps,
    *,
    labels: Sequence[int],
    names: Sequence[str],
    void: Sequence[int],
    valid: BoolArray | None,
    protocol: str,
) -> tuple[IntArray, int]:
    """Give the matrix of an image, shape (K, K + 1), and the number of pixels left out; errors name the `protocol`."""
    size = len(labels)
    width, left_out, unknown = size + 1, size, size + 1
    truth, predicted = (each.coded for each in maps)
    table, columns = places_of(truth.values, labels), places_of(predicted.values, labels)
    table += (table == size) & ~np.isin(truth.values, void)
    codes, rows = truth.codes, table
    if valid is not None:
        codes, rows = np.where(valid.reshape(-1), table[codes], left_out).astype(np.uint16), np.arange(size + 2)
    counts = _counted(codes, predicted.codes, rows * width, columns, (size + 2) * width).reshape(size + 2, width)
    if counts[unknown].any():
        held = np.unique(truth.codes if valid is None else truth.codes[valid.reshape(-1)])
        foreign = np.unique(truth.values[held[table[held] == unknown]]).tolist()
        # A remapping says itself what labels count from.
        remap = shift_to_zero(labels) if maps.truth.mapping == Remapping() else ""
        advise = partial(_advice, labels=labels, names=names, void=void, remap=remap, protocol=protocol)
        raise _foreign(maps.truth, foreign, np.unique(truth.values[held]).tolist(), advise)
    return counts[:size], int(counts[left_out].sum())


def _counted(truth: Array, predicted: Array, rows: Array, columns: Array, size: int) -> IntArray:
    """Count pixels by the sum of the table entries of both values."""
    from segbench.protocols.labels.kernels import confusion, confusion_of_words

    truth, predicted = np.ascontiguousarray(truth), np.ascontiguousarray(predicted)
    # What has a sign may count from the end of an array, and a loop would look for it at each pixel.
    rows, columns = rows.astype(np.uint64), columns.astype(np.uint64)
    whole = truth.size - truth.size % 8 if truth.dtype == predicted.dtype == np.uint8 else 0
    counts: IntArray = confusion(truth[whole:], predicted[whole:], rows, columns, size)
    if whole:
        true_words, predicted_words = (part[:whole].view(np.uint64) for part in (truth, predicted))
        counts += confusion_of_words(true_words, predicted_words, rows, columns, size)
    return counts


def _count_from_one(held: Sequence[int], classes: int) -> bool:
    """Return whether labels, rising, seem to count several classes from 1; void may be among them."""
    whole = classes in held and held[0] > 0 and all(label <= classes or label in VOIDS for label in held)
    return classes > 1 and whole


def _foreign(truth: LabelMap, foreign: Sequence[int], held: Sequence[int], advise: Advice) -> DataError:
    """Say which labels of all that a file holds are neither classes nor void; `advise` on those of the whole set."""
    several, few = len(foreign) > 1, len(foreign) <= _SHOWN
    what = f"{'values' if several else 'value'} {', '.join(map(str, foreign[:_SHOWN]))}"
    what += "" if few else f", ... ({len(foreign)} labels)"
    what += f" {'are' if several else 'is'} neither a class nor void"
    what += ", and no pixel is 0" * (held[0] > 0)
    if truth.lossy:
        return DataError(truth.file, what, how_to_save_labels(truth.lossy))
    return ManyValuesError(truth.file, what, held, advise)


def _advice(
    values: Sequence[float],
    _predicted: Sequence[float],
    *,
    labels: Sequence[int],
    names: Sequence[str],
    void: Sequence[int],
    remap: str,
    protocol: str,
) -> str:
    """Say what to do with those of the values of ground truth that are neither classes nor void.

    Background is never left out as void, for false positives lie there. `remap` fits labels that count from 1.
    """
    held = [int(value) for value in values]
    foreign = [label for label in held if label not in labels and label not in void]
    highest = max([*labels, *(label for label in held if label < LABELS_BELOW)])
    often_void = [label for label in foreign if label < 0 or label in VOIDS or is_apart(label, highest)]
    others = [label for label in foreign if label not in often_void]
    out = format_setting("void", sorted({*often_void, *void}))
    if not others:
        hint = f"leave such pixels out: {out}, or remap them: {format_setting('gt_map', f'{often_void[0]}=LABEL')}"
        apart = [label for label in often_void if label not in OFTEN_VOID]
        if len(apart) != 1:
            return hint
        return f"{hint}; if {labels_text(apart)} is a class, {with_labels(labels, names, apart)}"
    if remap and _count_from_one(held, len(labels)):
        classes_from_one = format_setting("classes", remap.partition("=")[0])
        gt_map, pred_map = (format_setting(name, remap) for name in ("gt_map", "pred_map"))
        hint = f"if no image has label 0, labels count from 1: write {classes_from_one}, or {gt_map}, with {pred_map} "
        hint += f"if predictions count from 1, too; if some has, list {labels_text(others)}, too: "
        hint += with_labels(labels, names, others)
    elif len(labels) == 1 and others[-1] < labels[0]:
        (label,) = labels
        hint = (
            f"{setting(f'--classes {label}', f'classes={str(label)!r}')} names label {label} alone; name all labels, "
        )
        hint += f"and each is measured alone, too: {with_labels(labels, names, range(label))}, or "
        hint += f"{format_setting('classes', labels_text(range(label)))} for {many(label, 'label')} from 0"
    else:
        hint = _listed_too(others, labels, names, protocol)
    return hint + f"; leave {labels_text(often_void)} out if it is void: {out}" * bool(often_void)


def _listed_too(others: Sequence[int], labels: Sequence[int], names: Sequence[str], protocol: str) -> str:
    """Say how to list labels that are none of the classes, as background or as classes."""
    several = len(others) > 1
    them, are, listed = ("them", "are", "labels") if several else ("it", "is", "label")
    listed += f" {labels_text(others)}"
    as_background, as_classes = with_background(labels, names, others), with_labels(labels, names, others)
    as_background = setting(as_background, f"{protocol}({as_background})")
    background = (
        f"if {listed} {are} background, {as_background} counts {them} and leaves {them} out of means over classes"
    )
    if 0 in others:
        hint = f"{background}; {'as classes' if several else 'as a class'} {as_classes}"
    else:
        remap = format_setting("gt_map", f"{others[0]}=LABEL")
        hint = f"list {listed}, too: {as_classes}, or remap {them}: {remap}; {background}"
    return f"{hint}; what nobody labelled is void, see docs/labels.md"
