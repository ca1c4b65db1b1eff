"""One map against its mask: components are labelled, normal and anomalous pixels are counted by score."""

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

ImageScore = Literal["max", "top1"]

_TOP = 100  # one pixel in so many makes the score of an image


def count_map(image: AnomalyImage, *, image_score: ImageScore) -> AnomalyCounts:
    """Count one image; a score of the image that a table has takes the place of `image_score`."""
    name, mask, valid, scores, full = image.file, image.anomalous, image.valid, image.scores, image.full
    rows = np.flatnonzero(mask.any(axis=tuple(range(1, mask.ndim))))
    any_anomalous = bool(rows.size)
    marked = slice(rows[0], rows[-1] + 1) if any_anomalous else slice(0, 0)  # few rows, mostly
    if valid is None:
        normal = [scores[: marked.start], scores[marked][~mask[marked]], scores[marked.stop :]]
    else:
        normal = [scores[valid & ~mask]]
    sizes = np.empty(0, np.int32)
    of_found = np.empty(0, scores.dtype)
    if image.defects is not None:
        saturations = [defect.saturation for defect in image.defects]
        sizes = np.repeat(np.array(saturations, np.int32), saturations)
        of_found = np.concatenate([_saturating(scores, defect) for defect in image.defects])
    elif any_anomalous:
        of_pixels = _sizes_of_components(mask[marked])
        sizes, of_found = of_pixels[mask[marked]], scores[marked][mask[marked]]
    counted = sum(part.size for part in normal) + int(np.count_nonzero(mask))
    falling, pixels = _runs(name, normal)
    found = _runs_by_size(name, of_found, sizes)
    if full:
        falling, found = falling / np.float64(full), found._replace(scores=found.scores / np.float64(full))
    of_score = found
    if image.defects is not None:  # of which a pixel may be in several, or in none
        of_score = _runs_by_size(name, scores[mask] / np.float64(full or 1), np.ones(int(mask.sum()), np.int32))
    score_of_image = image_score if image.image_score is None else image.image_score
    own = np.array([_image_score(score_of_image, falling, pixels, of_score)] if counted else [])
    return AnomalyCounts.unchecked(
        scores=falling,
        normal=pixels,
        image_sizes=np.broadcast_to(pixels.dtype.type(0 if any_anomalous else counted), falling.size),
        found_scores=found.scores,
        anomalous=found.pixels,
        component_sizes=found.sizes,
        normal_images=own[: 0 if any_anomalous else 1],
        anomalous_images=own[: 1 if any_anomalous else 0],
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
    """Return the scores of the pixels of a defect that matter, those with the highest.

    It is counted as a component of these pixels, so that counts add up as those of components do.
    """
    of_defect = scores.reshape(-1)[defect.pixels]
    return of_defect[np.argsort(-of_defect.astype(np.float64), kind="stable")[: defect.saturation]]


class _Found(NamedTuple):
    scores: FloatArray
    pixels: Array
    sizes: Array


def _runs(name: str, parts: Sequence[Array]) -> tuple[Array, Array]:
    """Give the distinct falling scores of some pixels, and how many pixels have each."""
    from segbench.core.sorting import BeyondLimitError, count_distinct

    if parts[0].dtype.kind == "u":
        of_levels = np.bincount(np.concatenate([part.reshape(-1) for part in parts]))
        held = np.flatnonzero(of_levels)[::-1]
        return held.astype(parts[0].dtype), of_levels[held].astype(np.int32)
    with suppress(BeyondLimitError):
        return count_distinct(parts)
    for part in parts:
        refuse_not_finite(name, part)
    raise BeyondLimitError


def _runs_by_size(name: str, scores: Array, sizes: NDArray[np.int32]) -> _Found:
    """Give falling scores and sizes of components, each pair once, and how many pixels have both."""
    from segbench.protocols.anomalies.kernels import write_pairs

    if not np.isfinite(scores).all():
        refuse_not_finite(name, scores)
    values = scores.astype(np.float64)
    order = np.argsort(-values)  # several times as quick as one that keeps the order of equal scores
    values, sizes, pixels = values[order], sizes[order], np.empty(order.size, np.int32)
    pairs = write_pairs(values, sizes, pixels)
    return _Found((values[:pairs] + 0.0).astype(scores.dtype), pixels[:pairs].copy(), sizes[:pairs].copy())


def _image_score(image_score: ImageScore | float, scores: FloatArray, pixels: Array, found: _Found) -> float:
    """Give the score of an image: a number that is known, the highest of its pixels, or the mean of the highest 1 %."""
    if not isinstance(image_score, str):
        return image_score
    if image_score == "max":
        return max(float(falling[0]) for falling in (scores, found.scores) if falling.size)
    both = np.concatenate([scores, found.scores]).astype(np.float64)
    held = np.concatenate([pixels, found.pixels])
    wanted = -(-int(held.sum()) // _TOP)
    order = np.argsort(-both, kind="stable")
    taken = np.clip(wanted - (np.cumsum(held[order]) - held[order]), 0, held[order])
    return math.fsum((both[order] * taken).tolist()) / wanted
