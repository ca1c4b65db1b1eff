"""Read-only integer arrays: what the counts are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segbench.arrays import as_array
from segbench.errors import ArgumentError

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Give a view of the array that cannot be written through."""
    view = array.view()
    view.flags.writeable = False
    return view


def as_counts(values: ArrayLike, name: str) -> NDArray[Any]:
    """Check a list of counts: whole numbers, one dimension, none below zero.

    int32 is kept (it halves the memory of long curves); everything else becomes int64.

    Raises
    ------
    ArgumentError
        For fractions, negative or masked numbers, or more than one dimension.
    """
    array = as_array(values, name)
    if array.ndim != 1:
        raise ArgumentError(f"{name} has shape {array.shape}, expected one dimension")
    if array.dtype not in (np.int32, np.int64):
        whole = array.astype(np.int64)
        if not np.array_equal(whole, array):
            raise ArgumentError(f"{name} holds values that are no whole numbers; counts are integers")
        array = whole
    if array.size and array.min() < 0:
        raise ArgumentError(f"{name} holds {array.min()}; counts are not negative")
    return frozen(array)
