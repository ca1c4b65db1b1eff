"""Compiled loops of the anomaly protocol; imported only where an image is counted, because Numba is slow to load.

Scores fall, and counts and sizes lie beside them. `ScoreCells` finds scores among others, as PRO and PIMO need.
"""

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
    """Label a mask provisionally, with the parent of each label in its component; return the number of labels."""
    height, width = mask.shape
    number = 0
    for y in range(height):
        for x in range(width):
            if not mask[y, x]:
                labels[y, x] = 0
                continue
            left = labels[y, x - 1] if x > 0 else 0
            up = labels[y - 1, x] if y > 0 else 0
            up_left = labels[y - 1, x - 1] if y > 0 and x > 0 else 0
            up_right = labels[y - 1, x + 1] if y > 0 and x + 1 < width else 0
            label = up or left or up_left or up_right
            if not label:
                number += 1
                parents[number] = number
                label = number
            elif up_right and not up and (left or up_left):  # the only two neighbours that do not touch each other
                root, other = root_of(parents, up_right), root_of(parents, left or up_left)
                parents[max(root, other)] = min(root, other)
                label = min(root, other)
            labels[y, x] = label
    return number


@_compiled
def component_sizes(mask: BoolArray, sizes: NDArray[np.int32]) -> int:
    """Write the size of its 8-connected component at each pixel of a mask, 0 elsewhere; return their number."""
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
    """Replace falling scores and the sizes beside them by their distinct pairs; return the number of pairs.

    Sizes of equal scores come in any order. `pixels` receives how often each pair occurs.
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
    """Falling scores and minus infinity, with an index: many cells of equal width over the range of the scores."""

    scores: FloatArray
    first: NDArray[np.int32]  # the position in `scores` where each cell begins
    top: float  # half of the highest score
    steps: float  # cells per half of a score


@helper
def cell_of(score: Any, cells: ScoreCells) -> Any:
    """Return the cell of a score; scores beyond the ends belong to the first or the last."""
    return np.int32(max(min((cells.top - np.float64(score) * 0.5) * cells.steps, cells.first.size - 1.0), 0.0))


def cells_of(falling: FloatArray) -> ScoreCells:
    """Lay cells of equal width over falling scores, so many that a search passes few scores."""
    first = np.empty(min(_CELLS * falling.size, _MOST_CELLS) + 1, np.int32)
    # Of halves, as the difference of large scores may be infinite; times infinitely many steps, 0 would be nan.
    top, bottom = falling[[0, -1]] * 0.5 if falling.size else (0.0, 0.0)
    steps = min(first.size / max(top - bottom, 1e-300), 1e300)
    cells = ScoreCells(np.append(falling, -np.inf), first, top, steps)
    begin_cells(cells)
    return cells


@_compiled
def begin_cells(cells: ScoreCells) -> None:
    """Write where the scores of each cell begin: after those of the cells before it."""
    first = cells.first
    first[:] = 0
    for score in cells.scores:
        first[index(cell_of(score, cells))] += 1
    begun: Any = 0
    for cell in range(first.size):
        begun, first[cell] = begun + first[cell], begun


@_compiled
def add_between(scores: Array, pixels: Array, cells: ScoreCells, above: IntArray, equal: IntArray) -> None:
    """Add pixels of falling scores to `equal` where the cells have the score, else to `above` the next lower one.

    `above` has one entry more, for scores below all.
    """
    # The processor cannot predict how many scores of the cells lie between two: without cells it would wait for almost
    # every one. The cells of a batch of scores are computed faster than one by one.
    thresholds, first, k = cells.scores, cells.first, index(0)
    cell_in_batch = np.empty(256, np.int32)
    for start in range(0, scores.size, cell_in_batch.size):
        batch = scores[start : start + cell_in_batch.size]
        pixels_of_batch = pixels[start : start + cell_in_batch.size]
        for i in range(batch.size):
            cell_in_batch[i] = cell_of(batch[i], cells)
        for i in range(batch.size):
            score = np.float64(batch[i])
            k = max(k, index(first[index(cell_in_batch[i])]))
            while thresholds[k] > score:
                k += index(1)
            if thresholds[k] == score:
                equal[k] += pixels_of_batch[i]
            else:
                above[k] += pixels_of_batch[i]


@_compiled
def add_overlap(scores: Array, pixels: Array, sizes: Array, cells: ScoreCells, overlap: FloatArray) -> None:
    """Add to `overlap`, at each falling score, the share of its component that the pixels with that score are."""
    thresholds, first, k = cells.scores, cells.first, index(0)
    for i in range(scores.size):
        score = np.float64(scores[i])
        k = max(k, index(first[index(cell_of(score, cells))]))
        while thresholds[k] > score:
            k += index(1)
        overlap[k] += pixels[i] / sizes[i]


@_compiled
def write_pimo_weights(rates: FloatArray, low: float, high: float, weights: FloatArray) -> bool:
    """Write by how much the recall at each threshold adds to the area between two rates; return whether it is defined.

    The area is over the logarithm of the rate, divided by its width. `rates` do not fall from threshold to threshold;
    those that do not rise are no points. The area is undefined if the first positive rate is above `low`, or the last
    below `high`.
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
