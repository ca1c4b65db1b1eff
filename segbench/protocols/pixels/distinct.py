"""The distinct values of an array and how often each occurs in two classes, by sorting each class and merging.

Scores are sorted negated, so that the rising order of `numpy.sort` is falling score. No index is sorted along, and the
scores of the result replace the sorted ones in memory: float32 takes 16 bytes per pixel at most, the result included.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.protocols.pixels.kernels import count_runs, count_two, merge_negated, split_negated

INTEGER_LIMIT = 2**53 - 1
"""Up to here float64 holds every integer."""


class BeyondLimitError(ValueError):
    """A score is NaN or infinite, or an integer beyond `INTEGER_LIMIT`."""


def distinct_by_class(
    classes: NDArray[np.uint8], scores: NDArray[Any], *, first: int, second: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Count the distinct scores of two classes of pixels."""
    kept = np.float32 if scores.dtype == np.float32 else np.float64
    limit = float(np.finfo(kept).max) if scores.dtype.kind == "f" else INTEGER_LIMIT
    wanted = first, second
    size_first, size_second = count_two(classes, wanted)
    negated_first = np.empty(size_first + 1, kept)
    values: NDArray[Any] = np.empty(size_first + size_second + 1, kept)
    negated_second = values[size_first:]
    split_negated(classes, scores, wanted, negated_first, negated_second)
    for negated in (negated_first, negated_second):
        negated[-1] = np.inf
        negated.sort()  # NaN goes to the end
        if negated.size > 1 and not (-limit <= negated[0] and negated[-2] <= limit):
            raise BeyondLimitError
    counted = np.int32 if scores.size < 2**31 else np.int64
    at_most = count_runs(negated_first) + count_runs(negated_second) - 2
    in_first, in_second = np.empty(at_most, counted), np.empty(at_most, counted)
    distinct = merge_negated(negated_first, negated_second, values, in_first, in_second)
    del negated, negated_second
    for array in (values, in_first, in_second):
        array.resize(distinct, refcheck=False)  # in place; a slice would keep the rest in memory
    return values, in_first, in_second
