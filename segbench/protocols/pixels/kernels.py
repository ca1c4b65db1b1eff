"""Compiled loops of the pixel protocol: histograms of levels, and the distinct values of scores in double precision.

Imported only when pixels are counted, so that ``import segbench`` stays quick.
"""

from __future__ import annotations

import numpy as np

from segbench.core.arrays import Array
from segbench.core.compiling import compiled


@compiled()
def histogram(classes: Array, levels: Array, cells: Array, tables: Array) -> None:
    """Add pixels to four tables, whose columns are the levels of class 0, those of class 1 and those of class 2.

    `cells` holds the columns of some pixels at a time: so many at once are computed faster than one by one.
    """
    level_count = tables.shape[1] // 3
    for start in range(0, classes.size, cells.size):
        some_classes = classes[start : start + cells.size]
        some_levels = levels[start : start + cells.size]
        for i in range(some_classes.size):
            cells[i] = some_classes[i] * level_count + some_levels[i]
        # Edge maps are mostly one level: neighbouring pixels go to separate tables, or each would wait for the last.
        whole = some_classes.size - some_classes.size % 4
        for i in range(0, whole, 4):
            tables[0, cells[i]] += 1
            tables[1, cells[i + 1]] += 1
            tables[2, cells[i + 2]] += 1
            tables[3, cells[i + 3]] += 1
        for i in range(whole, some_classes.size):
            tables[0, cells[i]] += 1


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
