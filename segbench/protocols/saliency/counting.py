"""From one saliency map and its ground truth to counts: every metric of the image, computed once.

Begin with `count_map`; `segbench.protocols.saliency.kernels` goes through the pixels.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from segbench.core.arrays import FloatArray, IntArray
from segbench.inputs.label_rules import zero_or_one
from segbench.inputs.saliency_maps import SaliencyImage
from segbench.protocols.saliency import kernels
from segbench.protocols.saliency.counts import CURVES, LEVELS, UNITS, SaliencyCounts

_SIGMA = 5
_REACH = 3
_BER_THRESHOLD = 0.5
_SQUARED_DISTANCES = 256**2  # beyond these the weight of a negative is 2 to within 4e-16


def count_map(image: SaliencyImage) -> SaliencyCounts:
    """Count one image."""
    truth = np.ascontiguousarray(zero_or_one(image.salient).view(np.uint8))
    positives = int(np.count_nonzero(truth))
    top, left = (_centroid(truth.sum(axis, dtype=np.int64)) for axis in (1, 0))
    values: FloatArray | None = None
    if image.levels is not None:
        levels = np.ascontiguousarray(image.levels)
        table = kernels.count_levels(truth, levels, top, left)
        of_level = _of_levels(table, stretch=image.stretch)
        moments, histogram = kernels.moments_of_levels(table, of_level)
    else:
        values = image.scores_of_pixels()
        moments, histogram = kernels.count_values(truth, values, top, left)
    adaptive_threshold = min(2 * float(moments[1].sum()) / truth.size, 1.0)
    thresholds = adaptive_threshold, _BER_THRESHOLD
    if values is None:
        predicted = table.reshape(4, 2, LEVELS).sum(axis=0) @ (of_level[:, np.newaxis] >= thresholds)
    else:
        above = [values >= threshold for threshold in thresholds]
        tp = [np.count_nonzero(mask & truth.view(np.bool_)) for mask in above]
        predicted = np.array([np.subtract([np.count_nonzero(mask) for mask in above], tp), tp])
    errors = (0.0, 0.0)
    if positives:
        values = of_level[levels] if values is None else values
        errors = kernels.weighted_errors(truth, values, *_weights())
    return _counts(positives, moments, histogram, predicted, kernels.weighted_f(*errors, positives))


def _counts(
    positives: int, moments: FloatArray, histogram: IntArray, predicted: IntArray, weighted_f: float
) -> SaliencyCounts:
    """Compute every metric of an image.

    `moments` are of shape (3, 4, 2), see `segbench.protocols.saliency.kernels`; `histogram`, of shape (2, 256), has the
    pixels by label and level; `predicted`, of shape (2, 2), has false and true positives (rows) at the adaptive
    threshold and at that of BER (columns).
    """
    pixels = int(histogram.sum())
    sizes = positives, pixels - positives
    fp, tp = np.cumsum(histogram[:, ::-1], axis=1)[:, ::-1]
    curves, _ = kernels.at_thresholds(tp, fp, *sizes)
    of_curve = dict(zip(CURVES, curves, strict=True))
    fp, tp = predicted
    (_, _, f_at, e_at, *_), ber_at = kernels.at_thresholds(tp, fp, *sizes)
    sum_of_negatives, sum_of_positives = moments[1].sum(axis=0).tolist()
    metrics = {
        "mae": (sum_of_negatives + (positives - sum_of_positives)) / pixels,
        "s_measure": kernels.s_measure(moments, *sizes),
        "weighted_f": weighted_f,
        "f_max_of_image": of_curve["f"].max(),
        "f_adaptive": f_at[0],
        "e_adaptive": e_at[0],
        "ber": ber_at[1],
    }
    in_units: dict[str, Any] = {key: round(float(value) * UNITS) for key, value in metrics.items()}
    in_units |= {name: np.rint(curve * UNITS).astype(np.int64) for name, curve in of_curve.items()}
    return SaliencyCounts(images=1, pixels=pixels, positives=positives, **in_units)


def _of_levels(table: IntArray, *, stretch: bool) -> FloatArray:
    """Return the value of each of 256 levels; of a level that no pixel has it is any value in [0, 1]."""
    values = np.arange(LEVELS) / 255
    if stretch:
        present = np.flatnonzero(table.any(axis=0))
        lowest, highest = values[present[0]], values[present[-1]]
        if lowest != highest:
            values = ((values - lowest) / (highest - lowest)).clip(0, 1)
    return values


def _centroid(positives: IntArray) -> int:
    """Return the number of rows (columns) up to and with the centroid, given the positives of each row (column).

    Without positives it is half of the image.
    """
    number, sum_of_rows = int(positives.sum()), int(positives @ np.arange(positives.size))
    return (2 * sum_of_rows + number) // (2 * number) + 1 if number else positives.size // 2


@cache
def _weights() -> tuple[FloatArray, FloatArray]:
    """Return the weights of negatives by squared distance, and the Gaussian of weighted F along one axis."""
    weights = 2 - np.exp(np.log(0.5) / 5 * np.sqrt(np.arange(_SQUARED_DISTANCES)))
    weights[0] = 0  # of positives, whose errors are measured otherwise
    gauss = np.exp(-(np.arange(-_REACH, _REACH + 1) ** 2) / (2 * _SIGMA**2))
    return weights, gauss / gauss.sum()
