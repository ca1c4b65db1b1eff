"""From one anomaly map and its mask to counts: normal pixels by score, anomalous ones by score and component size.

Begin with `count_map`; `segbench.protocols.anomalies.counts` describes what it returns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import Array, BoolArray, FloatArray
from segbench.core.levels import refuse_not_finite
from segbench.inputs.anomaly_maps import AnomalyImage
from segbench.inputs.defects import Defect
from segbench.protocols.anomalies.counts import AnomalyCounts
from segbench.protocols.anomalies.kernels import write_pairs

ImageScore = Literal["max", "top1"]

_TOP = 100  # one pixel in so many makes the score of an image


def count_map(image: AnomalyImage, *, image_score: ImageScore) -> AnomalyCounts:
    """Count one image; its score from a table, if there is one, takes the place of `image_score`."""
    name, mask, valid, scores, full = image.file, image.anomalous, image.valid, image.scores, image.full
    anomalous_rows = np.flatnonzero(mask.any(axis=tuple(range(1, mask.ndim))))
    any_anomalous = bool(anomalous_rows.size)
    # Mostly few rows, outside of which no pixel needs to be selected.
    rows = slice(anomalous_rows[0], anomalous_rows[-1] + 1) if any_anomalous else slice(0, 0)
    if valid is None:
        normal_scores = [scores[: rows.start], scores[rows][~mask[rows]], scores[rows.stop :]]
    else:
        normal_scores = [scores[valid & ~mask]]
    sizes = np.empty(0, np.int32)
    anomalous_scores = np.empty(0, scores.dtype)
    if image.defects is not None:
        saturations = [defect.saturation for defect in image.defects]
        sizes = np.repeat(np.array(saturations, np.int32), saturations)
        anomalous_scores = np.concatenate([_saturating(scores, defect) for defect in image.defects])
    elif any_anomalous:
        size_of_pixel = _sizes_of_components(mask[rows])
        sizes, anomalous_scores = size_of_pixel[mask[rows]], scores[rows][mask[rows]]
    counted = sum(part.size for part in normal_scores) + int(np.count_nonzero(mask))
    distinct, normal = _by_score(name, normal_scores)
    anomalous = _by_score_and_size(name, anomalous_scores, sizes)
    if full:
        distinct = distinct / np.float64(full)
        anomalous = anomalous._replace(scores=anomalous.scores / np.float64(full))
    in_mask = anomalous
    if image.defects is not None:  # a pixel may be in several defects, or in none
        in_mask = _by_score_and_size(name, scores[mask] / np.float64(full or 1), np.ones(int(mask.sum()), np.int32))
    rule = image_score if image.image_score is None else image.image_score
    score_of_image = np.array([_image_score(rule, distinct, normal, in_mask)] if counted else [])
    return AnomalyCounts.unchecked(
        scores=distinct,
        normal=normal,
        image_sizes=np.broadcast_to(normal.dtype.type(0 if any_anomalous else counted), distinct.size),
        found_scores=anomalous.scores,
        anomalous=anomalous.pixels,
        component_sizes=anomalous.sizes,
        normal_images=score_of_image[: 0 if any_anomalous else 1],
        anomalous_images=score_of_image[: 1 if any_anomalous else 0],
        ignored=scores.size - counted,
    )


def _sizes_of_components(mask: BoolArray) -> NDArray[np.int32]:
    """Return how large the component of each pixel is; pixels and voxels that share a corner touch."""
    if mask.ndim == 2:
        from segbench.protocols.anomalies.kernels import component_sizes

        sizes = np.empty(mask.shape, np.int32)
        component_sizes(mask, sizes)
        return sizes
    from scipy.ndimage import label

    components, _ = label(mask, np.ones((3,) * mask.ndim), output=np.int32)
    return np.bincount(components.reshape(-1)).astype(np.int32)[components]


def _saturating(scores: Array, defect: Defect) -> Array:
    """Return the highest scores of a defect, as many as saturate it.

    The defect is counted as a component of these pixels, so that counts add up as those of components do.
    """
    of_defect = scores.reshape(-1)[defect.pixels]
    return of_defect[np.argsort(-of_defect.astype(np.float64), kind="stable")[: defect.saturation]]


class _AnomalousPixels(NamedTuple):
    """Numbers of anomalous pixels for each pair of a falling score and a size of component."""

    scores: FloatArray
    pixels: Array
    sizes: Array


def _by_score(name: str, parts: Sequence[Array]) -> tuple[Array, Array]:
    """Return the distinct falling scores of pixels, and how many pixels have each."""
    from segbench.core.sorting import BeyondLimitError, count_distinct

    if parts[0].dtype.kind == "u":
        pixels = np.bincount(np.concatenate([part.reshape(-1) for part in parts]))
        levels = np.flatnonzero(pixels)[::-1]
        return levels.astype(parts[0].dtype), pixels[levels].astype(np.int32)
    with suppress(BeyondLimitError):
        return count_distinct(parts)
    for part in parts:
        refuse_not_finite(name, part)
    raise BeyondLimitError


def _by_score_and_size(name: str, scores: Array, sizes: NDArray[np.int32]) -> _AnomalousPixels:
    """Return falling scores and sizes of components, each pair once, and how many pixels have both."""
    if not np.isfinite(scores).all():
        refuse_not_finite(name, scores)
    values = scores.astype(np.float64)
    order = np.argsort(-values)  # several times as fast as a stable sort
    values, sizes, pixels = values[order], sizes[order], np.empty(order.size, np.int32)
    pairs = write_pairs(values, sizes, pixels)
    return _AnomalousPixels((values[:pairs] + 0.0).astype(scores.dtype), pixels[:pairs].copy(), sizes[:pairs].copy())


def _image_score(
    rule: ImageScore | float, normal_scores: FloatArray, normal: Array, anomalous: _AnomalousPixels
) -> float:
    """Return the score of an image: a known number, the highest of its pixels, or the mean of the highest 1 %."""
    if not isinstance(rule, str):
        return rule
    if rule == "max":
        return max(float(falling[0]) for falling in (normal_scores, anomalous.scores) if falling.size)
    scores = np.concatenate([normal_scores, anomalous.scores]).astype(np.float64)
    pixels = np.concatenate([normal, anomalous.pixels])
    top_pixels = math.ceil(int(pixels.sum()) / _TOP)
    order = np.argsort(-scores, kind="stable")
    scores, pixels = scores[order], pixels[order]
    higher = np.cumsum(pixels) - pixels
    taken = np.clip(top_pixels - higher, 0, pixels)
    return math.fsum((scores * taken).tolist()) / top_pixels
