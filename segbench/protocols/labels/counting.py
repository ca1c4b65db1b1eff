"""Two label maps to a confusion matrix: values become table entries, and one compiled pass counts them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.errors import DataError
from segbench.core.integers import IntArray
from segbench.protocols.labels.inputs import LabelMaps

_SHOWN = 20


def count_maps(
    maps: LabelMaps, *, labels: Sequence[int], void: Sequence[int], valid: NDArray[np.bool_] | None
) -> tuple[IntArray, int]:
    """Give the matrix of an image, shape (K, K + 1), and the number of pixels left out."""
    size = len(labels)
    width, left_out, unknown = size + 1, size, size + 1
    places = {label: place for place, label in enumerate(labels)}
    known: Mapping[int, int] = {**places, **dict.fromkeys(void, left_out)}
    truth, predicted = (each.coded for each in maps)
    table = maps.truth.mapping.table(truth.values, known, unknown)
    columns = maps.predicted.mapping.table(predicted.values, places, size)
    codes, rows = truth.codes, table
    if valid is not None:
        codes, rows = np.where(valid.reshape(-1), table[codes], left_out).astype(np.uint16), np.arange(size + 2)
    counts = _counted(codes, predicted.codes, rows * width, columns, (size + 2) * width).reshape(size + 2, width)
    if counts[unknown].any():
        held = np.unique(truth.codes if valid is None else truth.codes[valid.reshape(-1)])
        foreign = truth.values[held[table[held] == unknown]].tolist()
        raise ForeignLabelsError(maps.truth.file, foreign, labels, [*void, *labels][0])
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

    def __init__(self, path: str, labels: Sequence[int], classes: Sequence[int], known: int) -> None:
        shown = ", ".join(map(str, labels[:_SHOWN])) + (f", ... ({len(labels)} labels)" if len(labels) > _SHOWN else "")
        several, most = len(labels) > 1, max(classes)
        hint = (
            f"name {'them' if several else 'it'} in --classes or --void, or remap: --gt-map {labels[0]}={known} "
            "(Labels(classes=..., void=..., gt_map=...))"
        )
        if len(classes) == 1 and min(labels) >= 0 and max(labels) < most:
            hint = (
                f"--classes {most} names label {most} alone; for {most} classes write --classes 0-{most - 1} "
                f"(Labels(classes='0-{most - 1}'))"
            )
        super().__init__(
            path,
            f"{'labels' if several else 'label'} {shown} {'are' if several else 'is'} neither a class nor void",
            hint,
        )
        self._given = path, tuple(labels), tuple(classes), known

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by what it was made from."""
        return type(self), self._given
