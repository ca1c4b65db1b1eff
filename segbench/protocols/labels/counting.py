"""Two label maps to a confusion matrix: values become table entries, and one compiled pass counts them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from segbench.core.arrays import Array, BoolArray, IntArray
from segbench.core.errors import DataError
from segbench.core.interface import format_setting, setting
from segbench.protocols.label_rules import OFTEN_VOID, VOIDS, of_jpeg
from segbench.protocols.labels.inputs import LabelMaps
from segbench.protocols.labels.values import Remapping, places_of, shift_to_zero

_SHOWN = 20


def count_maps(
    maps: LabelMaps, *, labels: Sequence[int], void: Sequence[int], valid: BoolArray | None
) -> tuple[IntArray, int]:
    """Give the matrix of an image, shape (K, K + 1), and the number of pixels left out."""
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
        from_one = maps.truth.mapping == Remapping() and _count_from_one(truth.values[held].tolist(), size)
        raise _foreign(maps.truth.file, foreign, labels, void, shift_to_zero(labels) if from_one else "")
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


def _foreign(path: str, labels: Sequence[int], classes: Sequence[int], void: Sequence[int], remap: str) -> DataError:
    """Say what to do with labels that are neither classes nor void; `remap` fits labels that count from 1."""
    several, few, most = len(labels) > 1, len(labels) <= _SHOWN, max(classes)
    what = f"{'values' if several else 'value'} {', '.join(map(str, labels[:_SHOWN]))}"
    what += "" if few else f", ... ({len(labels)} labels)"
    what += f" {'are' if several else 'is'} neither a class nor void"
    out = format_setting("void", sorted({*labels, *void}) if few else ...)
    leave_out = f"or leave such pixels out: {out}"
    if remap:
        what += ", and no pixel is 0"
        classes_from_one = format_setting("classes", remap.partition("=")[0])
        gt_map, pred_map = (format_setting(name, remap) for name in ("gt_map", "pred_map"))
        hint = f"if no image has label 0, labels count from 1: write {classes_from_one}, or {gt_map}, with {pred_map} "
        hint += f"if predictions count from 1, too; {leave_out}"
    elif len(classes) == 1 and min(labels) >= 0 and max(labels) < most:
        alone = setting(f"--classes {most}", f"classes='{most}'")
        through, below = (format_setting("classes", f"0-{last}") for last in (most, most - 1))
        hint = f"{alone} names label {most} alone; name all labels, and each is measured alone, too: {through}, or "
        hint += f"{below} for {most} labels from 0"
    else:
        remap_one = format_setting("gt_map", f"{labels[0]}=LABEL")
        hint = f"add labels to {format_setting('classes')}, remap them: {remap_one}, {leave_out}"
        if set(labels) <= set(OFTEN_VOID):
            hint = f"leave such pixels out: {out}, or remap them: {remap_one}"
    return DataError(path, what, of_jpeg(path) or hint)
