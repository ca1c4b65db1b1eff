"""The distinct values of an array and how often each occurs in two classes, by sorting each class.

No index is sorted along and nothing is looked up by value: for float32, 16 bytes a pixel at most, the result included.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.protocols.kernels import count_distinct, fill_distinct, radix_sort, rising_keys, scores_of


def distinct_by_class(
    classes: NDArray[np.uint8], scores: NDArray[Any], *, first: int, second: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Count the distinct scores of two classes of pixels.

    Parameters
    ----------
    classes : array of uint8, shape (n,)
        The class of each pixel; other classes than `first` and `second` are passed over.
    scores : array of numbers, shape (n,)
        Finite where the class is one of the two.

    Returns
    -------
    values : array, shape (L,)
        Distinct scores, falling, of the dtype of `scores` if that is float32 or float64, else float64.
    in_first, in_second : array of int32, or int64 for 2**31 pixels and more
        How many pixels of either class have that score.
    """
    as_keys = scores.dtype == np.float32
    if as_keys:
        rising = [_sorted_keys(classes, scores, wanted) for wanted in (first, second)]
    else:
        rising = [np.sort(scores[classes == wanted]) for wanted in (first, second)]
    distinct = count_distinct(rising[0], rising[1])
    counted = np.int32 if scores.size < 2**31 else np.int64
    values: NDArray[Any] = np.empty(distinct, rising[0].dtype)
    in_first, in_second = np.empty(distinct, counted), np.empty(distinct, counted)
    fill_distinct(rising[0], rising[1], values, in_first, in_second)
    del rising
    if as_keys:
        scores_of(values)
        return values.view(np.float32), in_first, in_second
    return values.astype(np.float64, copy=False) + 0.0, in_first, in_second  # -0.0 + 0.0 is 0.0


def _sorted_keys(classes: NDArray[np.uint8], scores: NDArray[np.float32], wanted: int) -> NDArray[np.uint32]:
    keys = np.empty(np.count_nonzero(classes == wanted), np.uint32)
    rising_keys(classes, scores.view(np.uint32), wanted, keys)
    radix_sort(keys, np.empty_like(keys))
    return keys
