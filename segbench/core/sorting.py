"""Adding up counts of very many scores in single precision.

Score and counts of an entry are put into one word of 64 bits, because NumPy sorts words several times as quickly as it
finds the order of scores, and nothing has to be moved by it. Imported only where that is done: Numba is slow to load.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.compiling import compiled

_MOST = 2**16 - 1
Parts = tuple[NDArray[np.float32], NDArray[Any], NDArray[Any]]


def added_up(scores: NDArray[np.float32], positives: NDArray[Any], negatives: NDArray[Any]) -> Parts:
    """Add the counts of equal scores up; scores come in any order, and are given falling."""
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


@compiled()
def pack(scores: NDArray[np.uint32], positives: NDArray[Any], negatives: NDArray[Any], words: NDArray[Any]) -> None:
    """Write words that rise as scores fall, given as their bits; of counts as much as fits."""
    for k in range(scores.size):
        score = scores[k] if scores[k] != 1 << 31 else np.uint32(0)  # 0.0, not -0.0
        word = np.uint64(score if score >> 31 else score ^ np.uint32(0x7FFFFFFF))
        word = word << np.uint64(16) | np.uint64(min(positives[k], _MOST))
        words[k] = word << np.uint64(16) | np.uint64(min(negatives[k], _MOST))


@compiled()
def unpack(
    words: NDArray[np.uint64], scores: NDArray[np.uint32], positives: NDArray[np.int64], negatives: NDArray[np.int64]
) -> int:
    """Write the bits and counts of each distinct score of sorted words, and return how many there are."""
    size, last = 0, np.uint64(0)
    for word in words:
        score = word >> np.uint64(32)
        if size == 0 or score != last:
            scores[size] = score if score >> np.uint64(31) else score ^ np.uint64(0x7FFFFFFF)
            positives[size] = negatives[size] = 0
            size += 1
            last = score
        positives[size - 1] += np.int64(word >> np.uint64(16) & np.uint64(_MOST))
        negatives[size - 1] += np.int64(word & np.uint64(_MOST))
    return size
