"""The pixel protocol on PyTorch tensors, on their device: only the counts come to the host.

Counts are those of `Pixels.count` for the same numbers, to the last bit: integers are counted, and scores are rounded
in float64, only on request. PyTorch is never imported here: a caller with a tensor has imported it.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from segbench.core.arrays import Array
from segbench.core.errors import DataError
from segbench.core.levels import ROUNDS, refuse_beyond_unit, refuse_inexact, refuse_nan, refuse_not_finite
from segbench.core.messages import Message
from segbench.core.protocol import Counted
from segbench.core.sample import Sample
from segbench.core.scores import ScoreCounts
from segbench.inputs.label_rules import notes_on_values
from segbench.protocols.pixels.counting import IGNORED, POSITIVE, classes_of, counts_of_levels

Tensor = Any
"""A ``torch.Tensor``: PyTorch is not a dependency, so its types are not known."""

_SIGNED = {"torch.uint16": "int16", "torch.uint32": "int32", "torch.uint64": "int64"}


def is_tensor(array: object) -> bool:
    """Recognise a PyTorch tensor without importing PyTorch."""
    torch: Any = sys.modules.get("torch")
    return torch is not None and isinstance(array, torch.Tensor)


def count_tensors(
    settings: Any,
    labels: Tensor,
    scores: Tensor,
    valid: Tensor | None,
    called: tuple[str, str],
) -> Counted:
    """Count the pixels of tensors that lie on one device, as `segbench.Pixels.count` counts arrays."""
    torch: Any = sys.modules["torch"]
    labels, scores = labels.detach().reshape(-1), scores.detach().reshape(-1)
    labels_called, scores_called = called
    pixels = scores.numel()
    refuse_nan(labels_called, labels)
    if valid is not None:
        valid = valid.reshape(-1)
        labels, scores = labels[valid], _where(torch, scores, valid)
    values, index = _label_values(torch, labels)
    distinct_labels = Sample("labels", (values,), (), ground_truth_files=(labels_called,))
    labelled, label_values = settings.inputs.labelled(distinct_labels)
    ((positive_values, valid_values),) = labelled
    notes = notes_on_values(settings.positive, (values,), labelled, settings.void)
    classes = torch.from_numpy(classes_of(positive_values, valid_values)).to(labels.device)[index]
    if settings.void:
        counted = classes != IGNORED
        classes, scores = classes[counted], _where(torch, scores, counted)
    ignored = pixels - scores.numel()
    positive = (classes == POSITIVE).to(torch.int64)
    level_count = {torch.bool: 2, torch.uint8: 1 << 8, getattr(torch, "uint16", None): 1 << 16}.get(scores.dtype)
    if level_count:
        levels = scores.to(torch.int64)
        if settings.invert:
            levels = level_count - 1 - levels
    else:
        numbers = _as_floats(torch, scores_called, scores)
        if settings.quantize:
            refuse_beyond_unit(scores_called, numbers, ROUNDS)
        numbers = (1 - numbers.to(torch.float64) if settings.invert else numbers) + 0.0  # -0.0 + 0.0 is 0.0
        if not settings.quantize:
            counts = _count_numbers(torch, numbers, positive, ignored, pixels)
            return Counted(counts, label_values, (*notes, *settings.doubts(counts)))
        level_count = 2**settings.quantize
        levels = torch.round(numbers.to(torch.float64) * (level_count - 1)).to(torch.int64)
    negatives, positives = _by_class(torch, levels, positive, level_count).cpu().numpy()
    return Counted(counts_of_levels(negatives, positives, ignored), label_values, notes)


def signed(labels: Tensor) -> Tensor:
    """Return whole numbers in a type that PyTorch's operations support; few support unsigned ones beyond 8 bits."""
    return labels.to(sys.modules["torch"].int64) if str(labels.dtype) in _SIGNED else labels


def _where(torch: Any, scores: Tensor, kept: Tensor) -> Tensor:
    """Select scores; unsigned integers are selected as signed ones of the same bits, which PyTorch can index."""
    dtype = getattr(torch, _SIGNED[str(scores.dtype)]) if str(scores.dtype) in _SIGNED else scores.dtype
    return scores.view(dtype)[kept].view(scores.dtype)


def _label_values(torch: Any, labels: Tensor) -> tuple[Array, Tensor]:
    """Return the distinct labels, and the index of each pixel's label among them."""
    if labels.dtype == torch.bool:
        return np.array([False, True]), labels.to(torch.int64)
    if labels.dtype.is_floating_point:
        labels = labels.to(torch.float64)
    values, index = torch.unique(labels, return_inverse=True)
    return values.cpu().numpy(), index


def _as_floats(torch: Any, name: str, scores: Tensor) -> Tensor:
    if scores.dtype.is_complex:
        raise DataError(
            name, Message("no-numbers", "scores are of type {dtype}, expected numbers", dtype=str(scores.dtype))
        )
    if scores.dtype.is_floating_point:
        numbers = scores if scores.dtype == torch.float64 else scores.to(torch.float32)
        refuse_not_finite(name, numbers)
        return numbers
    if scores.dtype in (torch.int64, getattr(torch, "uint64", None)):
        refuse_inexact(name, scores.cpu().numpy())
    # Divided by a tensor: a GPU multiplies by the reciprocal of a Python number, which is not the same.
    most = torch.tensor(torch.iinfo(scores.dtype).max, dtype=torch.float64, device=scores.device)
    return scores.to(torch.float64) / most


def _by_class(torch: Any, index: Tensor, positive: Tensor, length: int) -> Tensor:
    """Count entries by class (0 negative, 1 positive) and index."""
    return torch.bincount(positive * length + index, minlength=2 * length).reshape(2, length)


def _count_numbers(
    torch: Any,
    scores: Tensor,
    positive: Tensor,
    ignored: int,
    pixels: int,
) -> ScoreCounts:
    values, index = torch.unique(scores, return_inverse=True)
    table = _by_class(torch, index, positive, values.numel())
    negatives, positives = (_falling(counts) for counts in table)
    if pixels < 2**31:
        negatives, positives = negatives.astype(np.int32), positives.astype(np.int32)
    return ScoreCounts(_falling(values), positives, negatives, ignored, of_predictions=True)


def _falling(rising: Tensor) -> Array:
    return rising.flip(0).cpu().numpy()
