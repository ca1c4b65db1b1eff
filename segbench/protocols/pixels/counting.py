"""Labels and scores of pixels to counts: a histogram of levels, or the distinct scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.errors import DataError
from segbench.core.scores import ScoreCounts
from segbench.protocols.annotators import zero_or_one

NEGATIVE, POSITIVE, IGNORED = 0, 1, 2


def count_labelled(
    name: str, labels: NDArray[np.bool_], scores: NDArray[Any], valid: NDArray[np.bool_] | None, *, bins: bool
) -> ScoreCounts:
    """Count one image; `name` is what errors call its scores, see `segbench.count_pixels`."""
    classes = np.ascontiguousarray(classes_of(labels, valid)).reshape(-1)
    scores = np.ascontiguousarray(scores).reshape(-1)
    if scores.dtype == np.bool_:
        return _count_levels(classes, zero_or_one(scores).view(np.uint8), 2)
    if scores.dtype in (np.uint8, np.uint16):
        return _count_levels(classes, scores, 1 << (8 * scores.itemsize))
    if scores.dtype.kind not in "iuf":
        raise DataError(name, f"scores are of type {scores.dtype}, expected numbers")
    if scores.dtype.kind == "f" and scores.dtype not in (np.float32, np.float64):
        scores = scores.astype(np.float32 if scores.dtype == np.float16 else np.float64)
    counts = _count_numbers(name, classes, scores)
    return counts.in_bins() if bins else counts


def classes_of(labels: NDArray[np.bool_], valid: NDArray[np.bool_] | None) -> NDArray[np.uint8]:
    """Sort pixels into `NEGATIVE`, `POSITIVE` and `IGNORED`."""
    classes = zero_or_one(labels).view(np.uint8)
    return classes if valid is None else np.where(valid, classes, np.uint8(IGNORED))


def _count_levels(classes: NDArray[np.uint8], levels: NDArray[Any], level_count: int) -> ScoreCounts:
    from segbench.protocols.pixels.kernels import histogram

    table = histogram(classes, levels, level_count)
    return counts_of_levels(table[NEGATIVE], table[POSITIVE], int(table[IGNORED].sum()))


def counts_of_levels(negatives: NDArray[np.int64], positives: NDArray[np.int64], ignored: int) -> ScoreCounts:
    """Give the counts of levels, from two histograms over all of them."""
    seen = np.flatnonzero(negatives + positives)[::-1]
    scores = seen / (negatives.size - 1)
    return ScoreCounts(scores, positives[seen], negatives[seen], ignored, of_predictions=True)


def _count_numbers(name: str, classes: NDArray[np.uint8], scores: NDArray[Any]) -> ScoreCounts:
    from segbench.protocols.pixels.distinct import BeyondLimitError, distinct_by_class

    try:
        values, positives, negatives = distinct_by_class(classes, scores, first=POSITIVE, second=NEGATIVE)
    except BeyondLimitError:
        broken = scores[classes != IGNORED]
        refuse_not_finite(name, int(np.isnan(broken).sum()), int(np.isinf(broken).sum()))
        raise DataError(
            name,
            f"integer scores from {broken.min()} to {broken.max()}, expected none of 2**53 or more in magnitude, which "
            "float64 does not hold exactly",
            "convert the scores to float64 if rounding them is acceptable",
        ) from None
    ignored = int(np.count_nonzero(classes == IGNORED))
    return ScoreCounts.of_valid(
        scores=values, positives=positives, negatives=negatives, ignored=ignored, of_predictions=True
    )


def refuse_nan(name: str, nan: int) -> None:
    """Refuse a ground truth that holds NaN."""
    if nan:
        raise DataError(name, f"holds {nan} NaN", "give them a value")


def refuse_not_finite(name: str, nan: int, infinite: int) -> None:
    """Refuse scores of valid pixels that are not finite."""
    if nan or infinite:
        raise DataError(
            name,
            f"{nan} NaN and {infinite} infinite scores, expected finite ones",
            "mend the prediction, or leave those pixels out with a mask",
        )
