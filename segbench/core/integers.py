"""Read-only integer arrays: what the counts are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segbench.core.arrays import as_array, as_floats
from segbench.core.errors import ArgumentError

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

LARGEST_TOTAL = 2**56
"""Of pixels counted together."""

MEAN_UNITS = 2**36
"""Units in 1, or in a bit, of values that are averaged over annotators or images: as whole numbers they add exactly."""

_BEYOND_INT64 = 2.0**63


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Give a view of the array that cannot be written through."""
    view = array.view()
    view.flags.writeable = False
    return view


def as_counts(values: ArrayLike, name: str) -> NDArray[Any]:
    """Check a list of counts: whole numbers of up to 64 bits, not negative; int32, which halves long curves, stays."""
    array = as_array(values, name)
    if array.ndim != 1:
        raise ArgumentError(f"{name} has shape {array.shape}, expected one dimension")
    if array.size and array.dtype not in (np.int32, np.int64):
        numbers = as_floats(array, name)
        if not np.all(np.isfinite(numbers) & (numbers == np.rint(numbers))):
            raise ArgumentError(f"{name} holds values that are not whole numbers; counts are integers")
        if numbers.max() >= _BEYOND_INT64 or numbers.min() < -_BEYOND_INT64:
            raise ArgumentError(f"{name} holds {numbers[np.abs(numbers).argmax()]:g}, beyond 64-bit integers")
    array = array.astype(np.int64, copy=False) if array.dtype != np.int32 else array
    if array.size and array.min() < 0:
        raise ArgumentError(f"{name} holds {array.min()}; counts are not negative")
    return frozen(array)


def within_total(total: int, name: str) -> int:
    """Refuse a total of pixels beyond which sums and products of totals could leave 64 bits."""
    if total > LARGEST_TOTAL:
        raise ArgumentError(f"{name} add up to {total}, expected at most 2**56; count fewer images together")
    return total


def total_of(counts: NDArray[Any]) -> int:
    """Add counts up, in integers of any size where 64 bits might not do."""
    if counts.size and int(counts.max()) * counts.size >= _BEYOND_INT64:
        return sum(counts.tolist())
    return int(counts.sum(dtype=np.int64))


def added(one: IntArray, other: IntArray, name: str) -> IntArray:
    """Add counts entry by entry, none of which is negative."""
    total: IntArray = np.add(one, other, dtype=np.int64)
    if total.size and total.min() < 0:  # the only way in which a sum of two can wrap around
        raise ArgumentError(f"{name} add up to more than 64-bit integers hold; count fewer images together")
    return total
