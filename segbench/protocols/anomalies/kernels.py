"""Compiled loops of the anomaly protocol; imported only where an image is counted, because Numba is slow to load."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import Array, BoolArray, FloatArray, IntArray
from segbench.core.compiling import compiled, helper, index, root_of

_compiled = compiled(error_model="numpy")

_CELLS, _MOST_CELLS = 16, 2**22  # per score, and in all
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
def write_pairs(scores: FloatArray, sizes: NDArray[np.int32], pixels: NDArray[np.int32]) -> int:
    """Replace falling scores and the sizes beside them by the distinct pairs, write how often each occurs, count them.

    Sizes of equal scores come in any order.
    """
    pairs: Any = -1
    start: Any = 0
    while start < scores.size:
        end = start + 1
        while end < scores.size and scores[end] == scores[start]:
            end += 1
        if end - start > 1:
            sizes[start:end].sort()
        for k in range(start, end):
            if k == start or sizes[k] != sizes[pairs]:
                pairs += 1
                scores[pairs], sizes[pairs], pixels[pairs] = scores[start], sizes[k], 0
            pixels[pairs] += 1
        start = end
    return int(pairs + 1)


class ScoreCells(NamedTuple):
    """Falling scores and minus infinity, and where those of each of many cells of equal width begin among them."""

    scores: FloatArray
    first: NDArray[np.int32]
    top: float
    steps: float


@helper
def cell_of(score: Any, places: ScoreCells) -> Any:
    """Give the cell of a score, those beyond the ends in the first and the last."""
    return np.int32(max(min((places.top - np.float64(score) * 0.5) * places.steps, places.first.size - 1.0), 0.0))


def places_of(falling: FloatArray) -> ScoreCells:
    """Lay cells of equal width over falling scores, so many that few scores are passed to find a place."""
    first = np.empty(min(_CELLS * falling.size, _MOST_CELLS) + 1, np.int32)
    # Of halves, as the difference of large scores may be infinite; with infinitely many steps 0 would be no number.
    top, bottom = falling[[0, -1]] * 0.5 if falling.size else (0.0, 0.0)
    places = ScoreCells(np.append(falling, -np.inf), first, top, min(first.size / max(top - bottom, 1e-300), 1e300))
    begin_cells(places)
    return places


@_compiled
def begin_cells(places: ScoreCells) -> None:
    """Write where the scores of each cell begin: after those of the cells before it."""
    first = places.first
    first[:] = 0
    for score in places.scores:
        first[index(cell_of(score, places))] += 1
    begun: Any = 0
    for cell in range(first.size):
        begun, first[cell] = begun + first[cell], begun


@_compiled
def add_between(scores: Array, pixels: Array, places: ScoreCells, above: IntArray, equal: IntArray) -> None:
    """Add pixels of falling scores: to `equal` where a score is one of the places, else to `above` the next.

    `above` has one entry more, for scores below all.
    """
    # The processor cannot foresee where the next of the scores lies among the others: without cells it would wait for
    # almost every one. Cells of many scores at once are computed faster than one by one.
    at, first, place = places.scores, places.first, index(0)
    cells = np.empty(256, np.int32)
    for start in range(0, scores.size, cells.size):
        some, held = scores[start : start + cells.size], pixels[start : start + cells.size]
        for k in range(some.size):
            cells[k] = cell_of(some[k], places)
        for k in range(some.size):
            score = np.float64(some[k])
            place = max(place, index(first[index(cells[k])]))
            while at[place] > score:
                place += index(1)
            if at[place] == score:
                equal[place] += held[k]
            else:
                above[place] += held[k]


@_compiled
def add_found(scores: Array, pixels: Array, sizes: Array, places: ScoreCells, into: FloatArray) -> None:
    """Add the share of its component that pixels are, at the places of their falling scores."""
    at, first, place = places.scores, places.first, index(0)
    for k in range(scores.size):
        score = np.float64(scores[k])
        place = max(place, index(first[index(cell_of(score, places))]))
        while at[place] > score:
            place += index(1)
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
