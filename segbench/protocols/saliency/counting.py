"""One map against its ground truth: the map is stretched, its pixels are counted, and each metric is computed once."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from segbench.core.arrays import FloatArray, IntArray
from segbench.inputs.label_rules import zero_or_one
from segbench.inputs.saliency_maps import SaliencyImage
from segbench.protocols.saliency.counts import CURVES, LEVELS, UNITS, SaliencyCounts

_SIGMA = 5
_REACH = 3
_SQUARED_DISTANCES = 256**2  # from here on the weight of a negative is 2 to within 4e-16


def count_map(image: SaliencyImage) -> SaliencyCounts:
    """Count one image."""
    from segbench.protocols.saliency import kernels

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
    cuts = min(2 * float(moments[1].sum()) / truth.size, 1.0), 0.5  # the adaptive threshold, and that of BER
    if values is None:
        above = table.reshape(4, 2, LEVELS).sum(axis=0) @ (of_level[:, np.newaxis] >= cuts)
    else:
        found = [values >= cut for cut in cuts]
        true = [np.count_nonzero(on & truth.view(np.bool_)) for on in found]
        above = np.array([np.subtract([np.count_nonzero(on) for on in found], true), true])
    errors = (0.0, 0.0)
    if positives:
        values = of_level[levels] if values is None else values
        errors = kernels.weighted_errors(truth, values, *_weights())
    return _counts(positives, moments, histogram, above, kernels.weighted_f(*errors, positives))


def _counts(
    positives: int, moments: FloatArray, histogram: IntArray, above: IntArray, of_weights: float
) -> SaliencyCounts:
    """Compute every metric of an image from histograms by label and level."""
    from segbench.protocols.saliency import kernels

    pixels = int(histogram.sum())
    sizes = positives, pixels - positives
    false, true = np.cumsum(histogram[:, ::-1], axis=1)[:, ::-1]
    curves, overlaps = kernels.at_thresholds(true, false, *sizes)
    chosen, (_, _, wrong) = kernels.at_thresholds(above[1], above[0], *sizes)
    of_negatives, of_positives = moments[1].sum(axis=0).tolist()
    values = {
        "mae": (of_negatives + (positives - of_positives)) / pixels,
        "s_measure": kernels.s_measure(moments, *sizes),
        "weighted_f": of_weights,
        "f_max_of_image": curves[2].max(),
        "f_adaptive": chosen[2, 0],
        "e_adaptive": chosen[3, 0],
        "mean_iou": overlaps[0].mean(),
        "mean_dice": overlaps[1].mean(),
        "ber": wrong[1],
    }
    in_units: dict[str, Any] = {key: round(float(value) * UNITS) for key, value in values.items()}
    in_units |= zip(CURVES, np.rint(curves * UNITS).astype(np.int64), strict=True)
    return SaliencyCounts(images=1, pixels=pixels, positives=positives, **in_units)


def _of_levels(table: IntArray, *, stretch: bool) -> FloatArray:
    """Give the value of each of 256 levels; of those that no pixel has only some value in [0, 1]."""
    values = np.arange(LEVELS) / 255
    if stretch:
        held = np.flatnonzero(table.any(axis=0))
        lowest, highest = values[held[0]], values[held[-1]]
        if lowest != highest:
            values = ((values - lowest) / (highest - lowest)).clip(0, 1)
    return values


def _centroid(positives: IntArray) -> int:
    """Give how many rows (columns) lie before the centroid and at it; half of the image without positives."""
    number, places = int(positives.sum()), int(positives @ np.arange(positives.size))
    return (2 * places + number) // (2 * number) + 1 if number else positives.size // 2


@cache
def _weights() -> tuple[FloatArray, FloatArray]:
    """Give the weights of negatives by squared distance, and the Gaussian of weighted F along one axis."""
    weights = 2 - np.exp(np.log(0.5) / 5 * np.sqrt(np.arange(_SQUARED_DISTANCES)))
    weights[0] = 0  # of positives, which are measured apart
    gauss = np.exp(-(np.arange(-_REACH, _REACH + 1) ** 2) / (2 * _SIGMA**2))
    return weights, gauss / gauss.sum()
