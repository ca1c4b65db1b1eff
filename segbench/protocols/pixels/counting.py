"""From the labels and scores of an image to counts: a histogram of levels, or the distinct scores.

Begin with `count_pixels`; `segbench.core.scores` describes what it returns.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import Array, BoolArray, IntArray
from segbench.core.levels import refuse_inexact, refuse_not_finite
from segbench.core.scores import ScoreCounts
from segbench.inputs.label_rules import zero_or_one
from segbench.inputs.scored_masks import ScoredPixels

NEGATIVE, POSITIVE, IGNORED = 0, 1, 2
_MANY = 10**5  # sorting fewer pixels is faster than going through all levels of 16 bits


def count_pixels(pixels: ScoredPixels) -> ScoreCounts:
    """Count one image."""
    counts = [_count_labelled(pixels.file, labels, pixels.scores, valid) for labels, valid in pixels.labelled]
    return counts[0] if len(counts) == 1 else ScoreCounts.sum(counts)


def _count_labelled(name: str, labels: BoolArray, scores: Array, valid: BoolArray | None) -> ScoreCounts:
    """Count pixels against one map of labels; errors call the scores `name`."""
    scores = np.ascontiguousarray(scores).reshape(-1)
    if scores.dtype == np.bool_:
        return _count_levels(labels, valid, zero_or_one(scores).view(np.uint8), 2)
    if scores.dtype == np.uint8 or (scores.dtype == np.uint16 and scores.size >= _MANY):
        return _count_levels(labels, valid, scores, 1 << (8 * scores.itemsize))
    if scores.dtype.kind == "f" and scores.dtype not in (np.float32, np.float64):
        scores = scores.astype(np.float32 if scores.dtype == np.float16 else np.float64)
    classes = np.ascontiguousarray(classes_of(labels, valid)).reshape(-1)
    if scores.dtype == np.uint16:
        return _as_levels(_count_numbers(name, classes, scores.astype(np.float32)))
    return _count_numbers(name, classes, scores)


def classes_of(labels: BoolArray, valid: BoolArray | None) -> NDArray[np.uint8]:
    """Sort pixels into `NEGATIVE`, `POSITIVE` and `IGNORED`."""
    classes = zero_or_one(labels).view(np.uint8)
    return classes if valid is None else np.where(valid, classes, np.uint8(IGNORED))


def _count_levels(labels: BoolArray, valid: BoolArray | None, levels: Array, level_count: int) -> ScoreCounts:
    from segbench.protocols.pixels.kernels import histogram

    if valid is None:  # as bytes, True need not be 1: `histogram` takes all classes above the highest for it
        classes, highest = labels.view(np.uint8), POSITIVE
    else:
        classes, highest = classes_of(labels, valid), IGNORED
    tables = np.zeros((4, 3 * level_count), np.uint16 if level_count <= 256 else np.uint32)
    counts = np.zeros(3 * level_count, np.int64)
    histogram(np.ascontiguousarray(classes).reshape(-1), np.uint8(highest), levels, tables, counts)
    negatives, positives, ignored = counts.reshape(3, level_count)
    return counts_of_levels(negatives, positives, int(ignored.sum()))


def counts_of_levels(negatives: IntArray, positives: IntArray, ignored: int) -> ScoreCounts:
    """Return the counts of an image from its histograms over all levels."""
    levels = (negatives + positives).nonzero()[0][::-1]
    scores = levels / (negatives.size - 1)
    return ScoreCounts.unchecked(
        scores=scores, positives=positives[levels], negatives=negatives[levels], ignored=ignored, of_predictions=True
    )


def _as_levels(counts: ScoreCounts) -> ScoreCounts:
    """Turn counts of levels of 16 bits, stored exactly as float32, into those that `counts_of_levels` returns."""
    scores = counts.scores / np.float64(2**16 - 1)
    positives, negatives = counts.positives.astype(np.int64), counts.negatives.astype(np.int64)
    return replace(counts, scores=scores, positives=positives, negatives=negatives)


def _count_numbers(name: str, classes: NDArray[np.uint8], scores: Array) -> ScoreCounts:
    from segbench.core.sorting import BeyondLimitError, count_distinct_of_classes

    try:
        values, positives, negatives = count_distinct_of_classes(classes, scores)
    except BeyondLimitError:
        counted = scores[classes != IGNORED]
        refuse_not_finite(name, counted)
        refuse_inexact(name, counted)
        raise
    ignored = int(np.count_nonzero(classes == IGNORED))
    return ScoreCounts.unchecked(
        scores=values, positives=positives, negatives=negatives, ignored=ignored, of_predictions=True
    )
