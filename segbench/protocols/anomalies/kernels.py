"""Compiled loops of the anomaly protocol; imported only where an image is counted, because Numba is slow to load."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import Array, BoolArray, FloatArray, IntArray
from segbench.core.compiling import compiled, root_of

_compiled = compiled(error_model="numpy")

_NOTHING = 1e-15  # of a rate: one pixel of 10**15


@_compiled
def label_components(mask: BoolArray, labels: NDArray[np.int32], parents: NDArray[np.int32]) -> int:
    """Label a mask provisionally, with the parent of each label in its component; give the number of labels."""
    height, width = mask.shape
    number = 0
    for y in range(height):
        for x in range(width):
            if not mask[y, x]:
                labels[y, x] = 0
                continue
            left = labels[y, x - 1] if x > 0 else 0
            up = labels[y - 1, x] if y > 0 else 0
            before = labels[y - 1, x - 1] if y > 0 and x > 0 else 0
            after = labels[y - 1, x + 1] if y > 0 and x + 1 < width else 0
            found = up or left or before or after
            if not found:
                number += 1
                parents[number] = number
                found = number
            elif after and not up and (left or before):  # the only two neighbours that do not touch each other
                one, other = root_of(parents, after), root_of(parents, left or before)
                parents[max(one, other)] = min(one, other)
                found = min(one, other)
            labels[y, x] = found
    return number


@_compiled
def component_sizes(mask: BoolArray, sizes: NDArray[np.int32]) -> int:
    """Write the size of its 8-connected component at each pixel of a mask, 0 elsewhere; give their number."""
    parents = np.zeros(mask.size // 2 + 2, np.int32)
    labels = label_components(mask, sizes, parents)
    totals = np.zeros(labels + 1, np.int32)
    components = 0
    for label in range(1, labels + 1):
        parents[label] = root_of(parents, label)
        components += parents[label] == label
    flat = sizes.reshape(-1)
    for k in range(flat.size):
        if flat[k]:
            flat[k] = parents[flat[k]]
            totals[flat[k]] += 1
    for k in range(flat.size):
        if flat[k]:
            flat[k] = totals[flat[k]]
    return components


@_compiled
def add_between(scores: Array, pixels: Array, at: FloatArray, above: IntArray, equal: IntArray) -> None:
    """Add pixels of falling scores: to `equal` where a score is one of the falling `at`, else to `above` the next.

    `above` has one entry more, for scores below all.
    """
    place, low, high = 0, 0, scores.size
    for k in range(low, high):
        score = np.float64(scores[k])
        while place < at.size and at[place] > score:
            place += 1
        if place < at.size and at[place] == score:
            equal[place] += pixels[k]
        else:
            above[place] += pixels[k]


@_compiled
def add_found(scores: Array, pixels: Array, sizes: Array, at: FloatArray, into: FloatArray) -> None:
    """Add the share of its component that pixels are, at the place of their falling scores among all in `at`."""
    place = 0
    for k in range(scores.size):
        score = np.float64(scores[k])
        while at[place] > score:
            place += 1
        into[place] += pixels[k] / sizes[k]


@_compiled
def pimo_weights(rates: FloatArray, low: float, high: float, weights: FloatArray) -> bool:
    """Fill in by how much the recall at each threshold adds to the area between two rates, over the logarithm's width.

    `rates` do not fall from threshold to threshold; those that do not rise are no points. False if the area is
    undefined, since the first positive rate is above `low`, or the last below `high`.
    """
    weights[:] = 0.0
    width = np.log(high / low)
    before, x0 = -1, 0.0
    slack = 1.0 + 1e-12
    for k in range(rates.size):
        rate = rates[k]
        # What is left of sums from which images were subtracted is not exactly 0, or the same as before.
        if rate <= _NOTHING or (before >= 0 and rate <= rates[before] * slack):
            continue
        if before < 0 and rate > low * slack:
            return False
        x1 = np.log(rate / low)
        if before >= 0 and x1 > 0.0:
            start, end = max(x0, 0.0), min(x1, width)
            if end > start:
                middle = ((start + end) / 2 - x0) / (x1 - x0)
                weights[before] += (end - start) / width * (1.0 - middle)
                weights[k] += (end - start) / width * middle
        before, x0 = k, x1
        if rate * slack >= high:
            return True
    return False
