"""Scores in single precision, sorted as keys: counting the distinct ones, and adding up the counts of very many.

A key is a whole number of 32 bits that rises as the score falls. Imported only where scores are sorted, because Numba
is slow to load.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segbench.core.compiling import compiled

_MOST = 2**16 - 1
_FINITE = 0x00800000, 0xFF7FFFFF
"""Keys of the highest and the lowest finite score."""
_KEYS_PER_BUCKET, _MOST_BUCKETS = 2**11, 2**12
_DIGIT = 11  # bits
_FEW = 32
Parts = tuple[NDArray[np.float32], NDArray[Any], NDArray[Any]]


def added_up(scores: NDArray[np.float32], positives: NDArray[Any], negatives: NDArray[Any]) -> Parts:
    """Add the counts of equal scores up; scores come in any order, and are given falling."""
    # Key and counts of an entry are put into one word of 64 bits, because NumPy sorts words several times as quickly as
    # it finds the order of scores, and nothing has to be moved by it.
    words = np.empty(scores.size, np.uint64)
    pack(scores.view(np.uint32), positives, negatives, words)
    words.sort()
    sums = np.empty(scores.size, np.uint32), np.empty(scores.size, np.int64), np.empty(scores.size, np.int64)
    size = unpack(words, *sums)
    distinct, *totals = (part[:size].copy() if 2 * size < scores.size else part[:size] for part in sums)
    found = distinct.view(np.float32)
    for counts, total in zip((positives, negatives), totals, strict=True):
        large = np.flatnonzero(counts > _MOST)  # few, such as those of the score 0
        if large.size:
            np.add.at(total, np.searchsorted(-found, -scores[large]), counts[large] - _MOST)
    return found, totals[0], totals[1]


class Buckets(NamedTuple):
    """Where the keys of some scores lie: bucket b ends at ends[b], and holds those from lowest + (b << shift) on."""

    lowest: np.uint32
    shift: np.uint32
    ends: NDArray[np.uintp]


def count_distinct(classes: NDArray[np.uint8], scores: NDArray[np.float32]) -> Parts | None:
    """Count the distinct scores of class 1 and of class 0, falling; None if a score of theirs is not finite."""
    # Keys are put into buckets by their high bits, and each bucket is sorted where it lies, in the processor's cache.
    # That takes as long on every processor, which `numpy.sort` does not. The scores of the result replace the keys:
    # 12 bytes per pixel at most, the result included, and those of one bucket.
    bits = scores.view(np.uint32)
    lowest, highest = key_range(classes, bits)
    if lowest < _FINITE[0] or highest > _FINITE[1]:
        return None
    number = min(2 << (scores.size // _KEYS_PER_BUCKET).bit_length(), _MOST_BUCKETS)
    shift = (max(highest - lowest, 0) // number).bit_length()
    buckets = Buckets(np.uint32(lowest), np.uint32(shift), np.zeros(number, np.uintp))
    words = np.empty(scores.size, np.uint32)
    fill_buckets(classes, bits, buckets, words)
    largest = int(np.diff(buckets.ends, prepend=np.uintp(0)).max())
    size = sort_buckets(words, buckets, np.empty(largest, np.uint32))
    positives, negatives = np.empty((2, size), np.int32 if scores.size < 2**31 else np.int64)
    count_sorted(words, buckets, positives, negatives)
    words.resize(size, refcheck=False)  # a slice would keep the rest in memory
    return words.view(np.float32), positives, negatives


@compiled()
def turned(bits: Any) -> Any:  # noqa: ANN401  of 32 bits
    """Give the key of a score from its bits, or the bits from the key; without a branch, which signs would mislead."""
    return np.uint32(bits ^ (np.uint32((bits >> np.uint32(31)) - np.uint32(1)) & np.uint32(0x7FFFFFFF)))


@compiled()
def key_of(bits: Any) -> Any:  # noqa: ANN401  as above
    """Give the key of a score from its bits, the same of -0 and 0."""
    return turned(np.uint32(bits * np.uint32(bits != np.uint32(1 << 31))))


@compiled()
def pack(scores: NDArray[np.uint32], positives: NDArray[Any], negatives: NDArray[Any], words: NDArray[Any]) -> None:
    """Write words that rise as scores fall, given as their bits; of counts as much as fits."""
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
def key_range(classes: NDArray[Any], scores: NDArray[Any]) -> tuple[int, int]:
    """Give the lowest and the highest key of classes 0 and 1; the other way round if there is none."""
    ends = np.uint32(2**32 - 1), np.uint32(0)
    lowest, highest = ends
    for k in range(scores.size):
        key, counts = key_of(scores[k]), classes[k] < 2
        lowest, highest = min(lowest, key if counts else ends[0]), max(highest, key if counts else ends[1])
    return int(lowest), int(highest)


@compiled()
def fill_buckets(classes: NDArray[Any], scores: NDArray[Any], buckets: Buckets, words: NDArray[Any]) -> None:
    """Write the words of classes 0 and 1 bucket by bucket, and where each bucket ends."""
    # A word is a key, less the lowest, with the class as its last bit. The first bit of the key does not fit, but
    # follows from the bucket.
    lowest, shift, ends = buckets
    for k in range(scores.size):
        if classes[k] < 2:
            ends[(key_of(scores[k]) - lowest) >> shift] += np.uintp(1)
    place = np.uintp(0)
    for b in range(ends.size):
        ends[b], place = place, place + ends[b]
    for k in range(scores.size):
        if classes[k] < 2:
            key = np.uint32(key_of(scores[k]) - lowest)
            words[ends[key >> shift]] = key << np.uint32(1) | np.uint32(classes[k])
            ends[key >> shift] += np.uintp(1)


@compiled()
def sort_buckets(words: NDArray[Any], buckets: Buckets, spare: NDArray[Any]) -> int:
    """Sort the words of each bucket by score, and return how many scores are distinct."""
    bits: Any = np.int64(buckets.shift)
    digits = max(1, (bits + _DIGIT - 1) // _DIGIT)
    width = (bits + digits - 1) // digits
    places = np.empty(1 << width, np.uintp)
    distinct, start = 0, np.uintp(0)
    for end in buckets.ends:
        some, other = words[start:end], spare[: end - start]
        if some.size <= _FEW:
            some.sort()
        else:
            for digit in range(digits):
                sort_by_digit(some, other, np.uint32(digit * width + 1), places)
                some, other = other, some
            if digits % 2:
                other[:] = some
        distinct += min(1, some.size)
        for k in range(1, some.size):
            distinct += some[k] ^ some[k - 1] > np.uint32(1)
        start = end
    return distinct


@compiled()
def count_sorted(words: NDArray[Any], buckets: Buckets, positives: NDArray[Any], negatives: NDArray[Any]) -> None:
    """Replace the sorted words by the bits of the distinct scores, and write how many words of each class they have."""
    lowest, shift, ends = buckets
    below = np.uint32((1 << np.int64(shift)) - 1)
    size, start = np.intp(-1), np.uintp(0)
    for b in range(ends.size):
        first = lowest + (np.uint32(b) << shift)
        last = np.uint32(0)
        positive = pixels = np.intp(0)
        for k in range(start, ends[b]):
            word = words[k]
            fresh = np.intp(k == start or word ^ last > np.uint32(1))
            size += fresh
            positive = (positive & (fresh - 1)) + np.intp(word & np.uint32(1))
            pixels = (pixels & (fresh - 1)) + 1
            words[size] = turned(np.uint32(first + (word >> np.uint32(1) & below)))
            positives[size], negatives[size] = positive, pixels - positive
            last = word
        start = ends[b]


@compiled()
def sort_by_digit(words: NDArray[Any], into: NDArray[Any], shift: Any, places: NDArray[Any]) -> None:  # noqa: ANN401
    """Write words in the order of one of their digits, of which there are as many as places; equal ones stay."""
    digits = np.uint32(places.size - 1)
    places[:] = 0
    for word in words:
        places[word >> shift & digits] += np.uintp(1)
    place = np.uintp(0)
    for digit in range(places.size):
        places[digit], place = place, place + places[digit]
    for word in words:
        into[places[word >> shift & digits]] = word
        places[word >> shift & digits] += np.uintp(1)
