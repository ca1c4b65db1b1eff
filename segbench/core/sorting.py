"""Counting the distinct scores of pixels by sorting them, and adding up the counts of very many.

Scores are sorted negated, so that the rising order is falling score. No index is sorted along: NumPy sorts plain
numbers several times as quickly as it finds their order. Imported only where scores are sorted, because Numba is slow
to load.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import Array, IntArray
from segbench.core.compiling import compiled
from segbench.core.levels import BEYOND_EXACT

_MOST = 2**16 - 1
_AT_ONCE = 64


class BeyondLimitError(ValueError):
    """A score is NaN or infinite, or an integer from `BEYOND_EXACT` on."""


def count_distinct(parts: Sequence[Array]) -> tuple[Array, IntArray]:
    """Return the distinct scores of some pixels, falling, and how many pixels have each; all parts are of one type."""
    negated = _room_for(parts[0], sum(part.size for part in parts))
    start = 0
    for part in parts:
        with np.errstate(invalid="ignore"):  # a signalling NaN is found like any other
            np.subtract(0.0, part.reshape(-1), out=negated[start : start + part.size])
        start += part.size
    _sort(negated, parts[0].dtype)
    times = np.empty(start, _number(start))
    distinct = write_runs(negated, times)
    for array in (negated, times):
        array.resize(distinct, refcheck=False)  # a slice would keep the rest in memory
    return negated, times


def count_distinct_of_classes(classes: NDArray[np.uint8], scores: Array) -> tuple[Array, IntArray, IntArray]:
    """Return the distinct scores of class 1 and of class 0, falling, and how many pixels of each class have each.

    Each class is sorted alone, and both are merged. The scores of the result replace the sorted ones in memory.
    """
    first_size, second_size = (int(np.count_nonzero(classes == label)) for label in (1, 0))
    negated_first = _room_for(scores, first_size)
    values = _room_for(scores, first_size + second_size)
    negated_second = values[first_size:]
    split_negated(classes, scores, negated_first, negated_second)
    for negated in (negated_first, negated_second):
        _sort(negated, scores.dtype)
    at_most = count_runs(negated_first) + count_runs(negated_second) - 2
    in_first, in_second = np.empty(at_most, _number(scores.size)), np.empty(at_most, _number(scores.size))
    distinct = merge_negated(negated_first, negated_second, values, in_first, in_second)
    del negated, negated_first, negated_second
    for array in (values, in_first, in_second):
        array.resize(distinct, refcheck=False)  # a slice would keep the rest in memory; NumPy 2.5 copies one by one
    return values, in_first, in_second


def _room_for(scores: Array, size: int) -> Array:
    """Make an array for so many scores and what `_sort` adds."""
    return np.empty(size + 1, np.float32 if scores.dtype == np.float32 else np.float64)


def _number(pixels: int) -> type[np.signedinteger[Any]]:
    """Return the integer type that can count this many pixels."""
    return np.int32 if pixels < 2**31 else np.int64


def _sort(negated: Array, dtype: np.dtype[Any]) -> None:
    """Sort negated scores, which were of the given type, and end them with infinity."""
    limit = float(np.finfo(dtype).max) if dtype.kind == "f" else BEYOND_EXACT - 1
    negated[-1] = np.inf
    negated.sort()
    if negated.size > 1 and not (-limit <= negated[0] and negated[-2] <= limit):
        raise BeyondLimitError


def added_up(scores: NDArray[np.float32], positives: IntArray, negatives: IntArray) -> tuple[Array, Array, Array]:
    """Add up the counts of equal scores, which come in any order; return distinct scores, falling, and their counts."""
    # Key and counts of an entry are put into one word of 64 bits, because NumPy sorts words several times as quickly as
    # it finds the order of scores, and nothing has to be moved by it.
    words = np.empty(scores.size, np.uint64)
    pack(scores.view(np.uint32), positives, negatives, words)
    words.sort()
    sums = np.empty(scores.size, np.uint32), np.empty(scores.size, np.int64), np.empty(scores.size, np.int64)
    size = unpack(words, *sums)
    distinct, *totals = (part[:size].copy() if 2 * size < scores.size else part[:size] for part in sums)
    distinct_scores = distinct.view(np.float32)
    for counts, total in zip((positives, negatives), totals, strict=True):
        large = np.flatnonzero(counts > _MOST)  # few, such as those of the score 0
        if large.size:
            np.add.at(total, np.searchsorted(-distinct_scores, -scores[large]), counts[large] - _MOST)
    return distinct_scores, totals[0], totals[1]


@compiled()
def turned(bits: Any) -> Any:  # noqa: ANN401  of 32 bits
    """Compute the key of a score from its bits, or the bits from the key; no branch, which signs would mislead."""
    return np.uint32(bits ^ (np.uint32((bits >> np.uint32(31)) - np.uint32(1)) & np.uint32(0x7FFFFFFF)))


@compiled()
def key_of(bits: Any) -> Any:  # noqa: ANN401  as above
    """Compute the key of a score from its bits, the same of -0 and 0."""
    return turned(np.uint32(bits * np.uint32(bits != np.uint32(1 << 31))))


@compiled()
def pack(scores: NDArray[np.uint32], positives: NDArray[Any], negatives: NDArray[Any], words: NDArray[Any]) -> None:
    """Write words that rise as scores, given as their bits, fall; counts are capped at 65535."""
    for k in range(scores.size):
        word = np.uint64(key_of(scores[k])) << np.uint64(16) | np.uint64(min(positives[k], _MOST))
        words[k] = word << np.uint64(16) | np.uint64(min(negatives[k], _MOST))


@compiled()
def unpack(
    words: NDArray[np.uint64], scores: NDArray[np.uint32], positives: NDArray[np.int64], negatives: NDArray[np.int64]
) -> int:
    """Write the bits and counts of each distinct score of sorted words, and return how many there are."""
    size, last = 0, np.uint64(0)
    for word in words:
        key = word >> np.uint64(32)
        if size == 0 or key != last:
            scores[size] = turned(np.uint32(key))
            positives[size] = negatives[size] = 0
            size += 1
            last = key
        positives[size - 1] += np.int64(word >> np.uint64(16) & np.uint64(_MOST))
        negatives[size - 1] += np.int64(word & np.uint64(_MOST))
    return size


@compiled()
def split_negated(classes: Array, scores: Array, into_first: Array, into_second: Array) -> None:
    """Write the negated scores of positives and of negatives into arrays with room for one entry more.

    Every score is written into both arrays, and overwritten by the next one where it is not of the class: a branch on
    the class would often be mispredicted.
    """
    i = j = np.uintp(0)
    for k in range(scores.size):
        negated = 0.0 - scores[k]
        into_first[i] = negated
        into_second[j] = negated
        i += np.uintp(classes[k] == 1)
        j += np.uintp(classes[k] == 0)


@compiled()
def count_runs(ordered: Array) -> int:
    """Count the runs of equal values."""
    runs = min(1, ordered.size)
    for i in range(1, ordered.size):
        runs += ordered[i] != ordered[i - 1]
    return runs


@compiled()
def write_runs(ordered: Array, times: Array) -> int:
    """Write how often each of the rising values but the last occurs, and return how many are distinct.

    The distinct values, negated, replace the rising ones.
    """
    negated = np.empty(_AT_ONCE, ordered.dtype)
    k = np.intp(-1)
    last = ordered[ordered.size - 1]
    run_length = np.intp(0)
    for start in range(0, ordered.size - 1, negated.size):
        chunk = ordered[start : min(start + negated.size, ordered.size - 1)]
        equal = np.intp(chunk[0] == last)
        for i in range(1, chunk.size):
            equal += chunk[i] == chunk[i - 1]
        if equal == 0:  # as most are in float maps; so many at once are moved faster than one by one
            last = chunk[chunk.size - 1]
            run_length = np.intp(1)
            for i in range(chunk.size):
                negated[i] = 0.0 - chunk[i]  # 0.0, not -0.0
            moved, once = ordered[k + 1 : k + 1 + chunk.size], times[k + 1 : k + 1 + chunk.size]
            for i in range(chunk.size):
                moved[i], once[i] = negated[i], 1
            k += chunk.size
            continue
        for value in chunk:
            fresh = np.intp(value != last)
            run_length = (run_length & (fresh - 1)) + 1
            k += fresh
            last = value
            ordered[np.uintp(k)] = 0.0 - value
            times[np.uintp(k)] = run_length
    return int(k + 1)


@compiled()
def merge_negated(first: Array, second: Array, scores: Array, in_first: Array, in_second: Array) -> int:
    """Merge two rising arrays of negated scores, each ending in infinity, and return how many are distinct.

    Writes the distinct scores, falling, and how often each occurs in either array. `scores` may share memory with
    `second` if it starts ``first.size - 1`` entries before it: only entries that have been read are overwritten.
    """
    end = last = first[first.size - 1]
    i = j = np.uintp(0)
    k = np.intp(-1)
    times_first = times_second = np.intp(0)
    while True:
        # Branch on the array, as scores of one class often follow each other, but not on ties.
        if second[j] < first[i]:
            negated = second[j]
            j += np.uintp(1)
            fresh = np.intp(negated != last)
            times_first = times_first & (fresh - 1)
            times_second = (times_second & (fresh - 1)) + 1
        else:
            negated = first[i]
            if negated == end:
                return int(k + 1)
            i += np.uintp(1)
            fresh = np.intp(negated != last)
            times_first = (times_first & (fresh - 1)) + 1
            times_second = times_second & (fresh - 1)
        k += fresh
        scores[np.uintp(k)] = 0.0 - negated  # 0.0, not -0.0
        in_first[np.uintp(k)] = times_first
        in_second[np.uintp(k)] = times_second
        last = negated
