"""Compiled loops of the signed-rank test; see `segbench.statistics.signed_rank` for what they compute."""

from __future__ import annotations

import numpy as np

from segbench.core.arrays import FloatArray, IntArray
from segbench.core.compiling import kernel

_HALVINGS = 64  # leave an interval that no two distinct averages share, but for rounding


@kernel
def known_differences(differences: FloatArray, tied: float) -> FloatArray:
    """Return the differences that are not nan, with 0 for those that are close to it."""
    known = np.empty(differences.size)
    number = 0
    for difference in differences:
        if not np.isnan(difference):
            known[number] = difference if abs(difference) > tied else 0.0
            number += 1
    return known[:number]


@kernel
def signed_ranks(differences: FloatArray, tied: float) -> IntArray:
    """Return twice the midrank of the size of each difference, with its sign; 0 for those that are 0."""
    number = differences.size
    sizes = np.abs(differences)
    order = np.argsort(sizes)
    ranks = np.zeros(number, np.int64)
    first = 0
    while first < number:
        last = first
        while last + 1 < number and sizes[order[last + 1]] - sizes[order[last]] <= tied:
            last += 1
        for position in range(first, last + 1):
            image = order[position]
            if differences[image] > 0:
                ranks[image] = first + last + 2  # twice the mean of the positions, which count from 1
            elif differences[image] < 0:
                ranks[image] = -(first + last + 2)
        first = last + 1
    return ranks


@kernel
def choices_of_signs(ranks: IntArray, most: int) -> float:
    """Count the choices of signs for these ranks in which the positive ones add up to at most this."""
    choices = np.zeros(most + 1)  # whole numbers up to 2**50, which are exact
    choices[0] = 1.0
    reached = 0
    for rank in ranks:
        reached = min(reached + rank, most)
        for total in range(reached, rank - 1, -1):
            choices[total] += choices[total - rank]
    return choices.sum()


@kernel
def walsh_average(rising: FloatArray, rank: int) -> float:
    """Return the average of this rank, from 1, among the means of each two values and each value with itself."""
    # Averages are counted, not listed: the one of this rank is between `low` and `high`, which close in on it.
    number = rising.size
    low, high = rising[0], rising[-1]
    if rank <= 1:
        return low
    for _ in range(_HALVINGS):
        middle = low + (high - low) / 2
        count, partner = 0, number - 1
        for first in range(number):
            while partner >= first and rising[first] + rising[partner] > 2 * middle:
                partner -= 1
            if partner < first:
                break
            count += partner - first + 1
        if count >= rank:
            high = middle
        else:
            low = middle
    largest, partner = rising[0], number - 1
    for first in range(number):
        while partner >= first and rising[first] + rising[partner] > 2 * high:
            partner -= 1
        if partner < first:
            break
        largest = max(largest, (rising[first] + rising[partner]) / 2)
    return largest
