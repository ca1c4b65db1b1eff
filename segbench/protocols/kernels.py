"""Compiled loops of the pixel protocol: histograms of levels, and the distinct values of float scores.

Imported only when pixels are counted, so that ``import segbench`` stays quick.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.compiling import compiled


@compiled()
def histogram(classes: NDArray[Any], levels: NDArray[Any], level_count: int) -> NDArray[Any]:
    """Count pixels by class (0, 1, 2) and level; int64, shape (3, level_count)."""
    # Edge maps are mostly one level: neighbouring pixels go to separate tables, or each would wait for the last.
    tables = np.zeros((4, 3, level_count), np.int64)
    whole = classes.size - classes.size % 4
    for i in range(0, whole, 4):
        tables[0, classes[i], levels[i]] += 1
        tables[1, classes[i + 1], levels[i + 1]] += 1
        tables[2, classes[i + 2], levels[i + 2]] += 1
        tables[3, classes[i + 3], levels[i + 3]] += 1
    for i in range(whole, classes.size):
        tables[0, classes[i], levels[i]] += 1
    counts: NDArray[Any] = tables[0] + tables[1] + tables[2] + tables[3]
    return counts


@compiled()
def rising_keys(classes: NDArray[Any], bits: NDArray[Any], wanted: int, keys: NDArray[Any]) -> None:
    """Write the bits of the float32 scores of one class as uint32 numbers that rise with the score."""
    sign = np.uint32(1 << 31)
    j = 0
    for i in range(bits.size):
        if classes[i] == wanted:
            b = np.uint32(0) if bits[i] == sign else bits[i]  # -0.0 is 0.0
            keys[j] = ~b if b & sign else b | sign
            j += 1


@compiled()
def scores_of(keys: NDArray[Any]) -> None:
    """Turn keys made by `rising_keys` back into the bits of float32 scores, in place."""
    sign = np.uint32(1 << 31)
    for i in range(keys.size):
        keys[i] = keys[i] ^ sign if keys[i] & sign else ~keys[i]


@compiled()
def radix_sort(keys: NDArray[Any], spare: NDArray[Any]) -> None:
    """Sort uint32 keys in place, a byte at a time; `spare` is scratch of the same size."""
    byte = np.uint32(255)
    starts = np.zeros((4, 256), np.int64)
    for key in keys:
        for digit in range(4):
            starts[digit, (key >> np.uint32(8 * digit)) & byte] += 1
    for digit in range(4):
        position = 0
        for bucket in range(256):
            count = starts[digit, bucket]
            starts[digit, bucket] = position
            position += count
    source, target = keys, spare
    for digit in range(4):
        shift, next_free = np.uint32(8 * digit), starts[digit]
        for key in source:
            bucket = (key >> shift) & byte
            target[next_free[bucket]] = key
            next_free[bucket] += 1
        source, target = target, source


@compiled()
def count_distinct(first: NDArray[Any], second: NDArray[Any]) -> int:
    """Count the distinct values of two rising arrays together."""
    i = j = distinct = 0
    while i < first.size or j < second.size:
        value = first[i] if j == second.size or (i < first.size and first[i] <= second[j]) else second[j]
        while i < first.size and first[i] == value:
            i += 1
        while j < second.size and second[j] == value:
            j += 1
        distinct += 1
    return distinct


@compiled()
def fill_distinct(
    first: NDArray[Any],
    second: NDArray[Any],
    values: NDArray[Any],
    in_first: NDArray[Any],
    in_second: NDArray[Any],
) -> None:
    """Write the distinct values of two rising arrays, falling, and how often each stands in either."""
    i, j = first.size - 1, second.size - 1
    for k in range(values.size):
        value = first[i] if j < 0 or (i >= 0 and first[i] >= second[j]) else second[j]
        i_end, j_end = i, j
        while i >= 0 and first[i] == value:
            i -= 1
        while j >= 0 and second[j] == value:
            j -= 1
        values[k] = value
        in_first[k] = i_end - i
        in_second[k] = j_end - j
