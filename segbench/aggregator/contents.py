"""A number that names the ground truth of an image given as arrays, as a digest of bytes names that of files.

It is made of values, whatever their type: masks of bool and of floats 0 and 1 have the same. NumPy and PyTorch make it
by the same operations, so that of tensors on another device a few sums are copied, and no labels. Sums of products with
constants take half the time of SHA-256. They find what differs by mistake, and prove nothing against intent.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.aggregator.batches import Batch
from segbench.core.arrays import IntArray
from segbench.protocols.pixels.tensors import Tensor

BITS = 2**64 - 1
"""Numbers are added up in 64 bits."""

_ROW = 4096  # words of eight bytes
_SHIFT = 29  # brings high bits down, which products lose; of no byte to the place of another
_LEFT_OUT, _SIZE = 0xD6E8FEB86659FD93, 0xA0761D6478BD642F


def content_of(batch: Batch) -> int:
    """Name the values of the ground truth of one image, and which of them count."""
    labels, valid = batch.labels, batch.valid
    if isinstance(labels, tuple):
        labels = np.concatenate([truth.reshape(-1) for truth in labels])
    number = _of_tensor if batch.tensors else _of_array
    labels = labels.reshape(-1)
    content = int(labels.shape[0]) * _SIZE
    if valid is not None:
        valid = valid.reshape(-1)
        labels = (sys.modules["torch"] if batch.tensors else np).where(valid, labels, 0)
        content += number(~valid) * _LEFT_OUT
    return (content + number(labels)) & BITS


def _of_array(values: NDArray[Any]) -> int:
    with np.errstate(invalid="ignore"):  # of labels that are no whole numbers from 0 to 255
        octets = values.astype(np.uint8, copy=False)
    if values.dtype not in (np.bool_, np.uint8) and not np.array_equal(octets, values):
        octets = values.astype(np.float64).view(np.uint8)
    rows = np.zeros((-(-octets.size // (8 * _ROW)), 8 * _ROW), np.uint8)
    rows.reshape(-1)[: octets.size] = octets
    words = rows.view("<i8")
    return _joined((words ^ (words >> _SHIFT)) @ _weights(_ROW))


def _of_tensor(values: Tensor) -> int:
    torch: Any = sys.modules["torch"]
    octets = values.detach().to(torch.uint8)
    if values.dtype not in (torch.bool, torch.uint8) and not bool((octets.to(values.dtype) == values).all()):
        octets = values.to(torch.float64).view(torch.uint8)
    size = octets.numel()
    rows = torch.zeros((-(-size // (8 * _ROW)), 8 * _ROW), dtype=torch.uint8, device=values.device)
    rows.view(-1)[:size] = octets
    words = rows.view(torch.int64)
    return _joined(((words ^ (words >> _SHIFT)) * _weights_on(values.device)).sum(1).cpu().numpy())


@lru_cache(maxsize=16)
def _weights_on(device: Any) -> Tensor:  # noqa: ANN401  of PyTorch's type
    return sys.modules["torch"].from_numpy(_weights(_ROW)).to(device)


def _joined(sums: IntArray) -> int:
    return int(sums @ _weights(len(sums)))


@lru_cache(maxsize=16)
def _weights(number: int) -> IntArray:
    """Return odd 64-bit numbers without a pattern (those of SplitMix64), the same on every machine."""
    mixed = np.arange(1, number + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return (mixed | np.uint64(1)).view(np.int64)
