"""Two label maps to a confusion matrix: values become table entries, and one compiled pass counts them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.errors import DataError
from segbench.core.integers import IntArray
from segbench.protocols.labels.values import Remapping

_MOST_CODES = 1 << 16
_SHOWN = 20


@dataclass(frozen=True, eq=False)
class Coded:
    """A label map as codes from 0, uint8 or uint16, and the consecutive values that they represent."""

    codes: NDArray[Any]
    values: NDArray[np.int64]


def coded(file: str, labels: NDArray[Any], what: str) -> Coded:
    """Bring a label map of any type of whole numbers into codes; 8 and 16 bits are taken as they are."""
    if labels.dtype == np.bool_:
        labels = labels.astype(np.uint8)
    if labels.dtype.kind == "f":
        labels = _whole(file, labels, what)
    if labels.dtype in (np.uint8, np.uint16):
        return Coded(labels.reshape(-1), np.arange(np.iinfo(labels.dtype).max + 1))
    if labels.dtype.kind not in "iu":
        raise DataError(file, f"{what} is of type {labels.dtype}, expected labels", "save labels as whole numbers")
    if not labels.size:
        return Coded(labels.reshape(-1).astype(np.uint8), np.arange(256))
    lowest, highest = int(labels.min()), int(labels.max())
    if lowest >= 0 and highest < _MOST_CODES:
        narrow = np.uint8 if highest <= 255 else np.uint16
        return Coded(labels.astype(narrow).reshape(-1), np.arange(np.iinfo(narrow).max + 1))
    if highest - lowest >= _MOST_CODES:
        raise DataError(
            file, f"{what} holds values from {lowest} to {highest}, expected labels", "save labels as 8 or 16 bits"
        )
    return Coded((labels.astype(np.int64) - lowest).astype(np.uint16).reshape(-1), np.arange(lowest, highest + 1))


def _whole(file: str, labels: NDArray[Any], what: str) -> NDArray[np.int64]:
    nan = int(np.count_nonzero(~np.isfinite(labels)))
    if nan:
        raise DataError(file, f"{what} holds {nan} values that are NaN or infinite", "give them a label")
    if not np.array_equal(labels, np.rint(labels)):
        hint = "label maps hold whole numbers; soft maps are for segbench pixels, stacks of them are reduced by argmax"
        raise DataError(file, f"{what} holds numbers that are not whole, expected one label per pixel", hint)
    return labels.astype(np.int64)


def remapped(file: str, labels: NDArray[Any], by: Remapping, what: str) -> NDArray[Any]:
    """Give a label map with its values replaced; as it is where nothing is."""
    if by == Remapping():
        return labels
    found = coded(file, labels, what)
    table = found.values if by.others is None else np.full(found.values.size, by.others)
    table = table.copy()
    for value, label in by.labels.items():
        if 0 <= value - int(found.values[0]) < table.size:
            table[value - int(found.values[0])] = label
    replaced: NDArray[Any] = table[found.codes].reshape(labels.shape)
    return replaced


def count_codes(
    file: str,
    truth: Coded,
    predicted: Coded,
    *,
    labels: Sequence[int],
    void: Sequence[int],
    truth_map: Remapping,
    predicted_map: Remapping,
    valid: NDArray[np.bool_] | None,
) -> tuple[IntArray, int]:
    """Give the matrix of an image, shape (K, K + 1), and the number of pixels left out; `file` is the ground truth."""
    size = len(labels)
    width, left_out, unknown = size + 1, size, size + 1
    places = {label: place for place, label in enumerate(labels)}
    known: Mapping[int, int] = {**places, **dict.fromkeys(void, left_out)}
    rows = truth_map.table(truth.values, known, unknown)
    columns = predicted_map.table(predicted.values, places, size)
    codes = truth.codes
    if valid is not None:
        codes = np.where(valid.reshape(-1), rows[codes], left_out).astype(np.uint16)
        rows = np.arange(size + 2)
    counts = _counted(codes, predicted.codes, rows * width, columns, (size + 2) * width).reshape(size + 2, width)
    if counts[unknown].any():
        kept = truth.codes if valid is None else truth.codes[valid.reshape(-1)]
        table = truth_map.table(truth.values, known, unknown)
        held = np.flatnonzero(np.bincount(kept, minlength=truth.values.size)[: truth.values.size])
        foreign = truth.values[held[table[held] == unknown]].tolist()
        raise ForeignLabelsError(file, foreign, [*void, *labels][0])
    return counts[:size], int(counts[left_out].sum())


def _counted(
    truth: NDArray[Any], predicted: NDArray[Any], rows: NDArray[np.int64], columns: NDArray[np.int64], size: int
) -> IntArray:
    """Count pixels by the sum of the table entries of both values."""
    from segbench.protocols.labels.kernels import confusion, confusion_of_words

    truth, predicted = np.ascontiguousarray(truth), np.ascontiguousarray(predicted)
    whole = truth.size - truth.size % 8 if truth.dtype == predicted.dtype == np.uint8 else 0
    counts: IntArray = confusion(truth[whole:], predicted[whole:], rows, columns, size)
    if whole:
        true_words, predicted_words = (part[:whole].view(np.uint64) for part in (truth, predicted))
        counts += confusion_of_words(true_words, predicted_words, rows, columns, size)
    return counts


class ForeignLabelsError(DataError):
    """A ground truth holds labels that are neither classes nor void."""

    def __init__(self, path: str, labels: Sequence[int], known: int) -> None:
        shown = ", ".join(map(str, labels[:_SHOWN])) + (f", ... ({len(labels)} labels)" if len(labels) > _SHOWN else "")
        several = len(labels) > 1
        super().__init__(
            path,
            f"{'labels' if several else 'label'} {shown} {'are' if several else 'is'} neither a class nor void",
            f"name {'them' if several else 'it'} in --classes or --void, or remap: --gt-map {labels[0]}={known} "
            "(Labels(classes=..., void=..., gt_map=...))",
        )
        self.labels, self.known = tuple(labels), known

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by what it was made from."""
        return type(self), (self.path, self.labels, self.known)


def reduced_by_argmax(file: str, stack: NDArray[Any], shape: tuple[int, ...], classes: int) -> NDArray[np.intp]:
    """Give the place of the highest score of each pixel, of equal ones the first; stacks of both orders of axes."""
    first, last = stack.shape == (classes, *shape), stack.shape == (*shape, classes)
    if first == last:
        what = (
            f"shape {stack.shape} can be (classes, height, width) or (height, width, classes)"
            if first
            else f"shape {stack.shape}, expected {(classes, *shape)} or {(*shape, classes)}: {classes} classes of the "
            "ground truth's size"
        )
        raise DataError(file, what, "save label maps instead: scores.argmax(axis=0); only these are resized")
    if stack.dtype.kind == "f" and np.isnan(stack).any():
        raise DataError(file, f"{np.count_nonzero(np.isnan(stack))} NaN among the scores", "give these a score")
    places: NDArray[np.intp] = np.argmax(stack, axis=0 if first else -1)
    return places
