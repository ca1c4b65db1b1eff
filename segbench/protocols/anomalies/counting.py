"""One map against its mask: components are labelled, normal and anomalous pixels are counted by score."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segbench.core.arguments import Quantize, as_quantize
from segbench.core.arrays import Array, BoolArray, FloatArray, as_array, split_mask, where_counted
from segbench.core.errors import ArgumentError, DataError
from segbench.core.levels import are_levels, as_shares, quantized, refuse_nan, refuse_not_finite
from segbench.protocols.anomalies.counts import AnomalyCounts
from segbench.protocols.anomalies.defects import Found, anomalous_pixels
from segbench.protocols.label_rules import Positive, void_values, where_not_void
from segbench.protocols.pixels.counting import refuse_unfit_to_round

ImageScore = Literal["max", "top1"]

_TOP = 100  # one pixel in so many makes the score of an image


def count_anomalies(
    labels: ArrayLike,
    scores: ArrayLike,
    valid: ArrayLike | None = None,
    *,
    positive: Positive | None = None,
    void: Sequence[float] = (),
    quantize: Quantize | None = None,
    image_score: ImageScore | float = "max",
) -> AnomalyCounts:
    """Count the normal and anomalous pixels of an image by score, component by component.

    Parameters
    ----------
    labels : array, shape (H, W)
        Ground truth, anomalous where greater than 0. Masked pixels, here or in `scores`, are counted as ignored, as
        those outside `valid` are.
    scores : array, shape (H, W)
        Higher means more anomalous, of any range. Integers are divided by the maximum of their type.
    valid : array of bool, shape (H, W), optional
        True where a pixel counts.
    positive : str, float or sequence of float, optional
        Which values of `labels` are anomalous, as in `Anomalies`.
    void : sequence of float
        Values of `labels` where pixels do not count, as in `Anomalies`.
    quantize : {8, 16}, optional
        Round float scores in [0, 1] to levels of 8 or 16 bits, see `Pixels`.
    image_score : {"max", "top1"} or float
        The score of the image: the highest of its pixels, the mean of their highest 1 %, or this number.

    Returns
    -------
    AnomalyCounts

    Raises
    ------
    ArgumentError
        If shapes differ or are not two-dimensional, or an option is none of those above.
    DataError
        If labels are NaN, or hold grey levels and `positive` is not given; if a score that counts is not finite, or
        with `quantize` one outside [0, 1].

    Examples
    --------
    >>> counts = count_anomalies([[0, 1, 0, 1]], [[0.2, 0.9, 0.1, 0.8]])
    >>> counts.components, counts.total_normal, counts.anomalous_images.tolist()
    (2, 2, [0.9])
    """
    (truth, unlabelled), (values, unscored) = split_mask(labels, "labels"), split_mask(scores, "scores")
    truth, values = as_array(truth, "labels"), as_array(values, "scores")
    if truth.shape != values.shape or truth.ndim != 2 or not truth.size:
        raise ArgumentError(f"labels have shape {truth.shape}, scores {values.shape}; expected the same (H, W)")
    counted = where_counted(valid, (truth.shape,), (unlabelled, unscored))
    counted = where_not_void(truth, void_values(void), counted)
    refuse_nan("labels", truth if counted is None else truth[counted])
    anomalous = anomalous_pixels("labels", truth, counted, positive)
    bits = as_quantize(quantize, "quantize")
    score = image_score if isinstance(image_score, str) else float(image_score)
    if score not in ("max", "top1") and not (isinstance(score, float) and math.isfinite(score)):
        raise ArgumentError(f"image_score is {image_score!r}, expected 'max', 'top1' or a number")
    return count_map("scores", anomalous, values, counted, quantize=bits, image_score=score)


def soft_map(name: str, prediction: Array, valid: BoolArray | None, quantize: Quantize | None) -> tuple[Array, float]:
    """Give the scores of a map as floats and 0, or levels, to which floats are rounded if wanted, and the highest."""
    if prediction.dtype.kind not in "biuf":
        raise DataError(
            name, f"scores are of type {prediction.dtype}, expected numbers", "save the map as an image or NPY"
        )
    scores = as_shares(prediction, name, valid)
    if scores.dtype.kind == "f" and quantize:
        refuse_unfit_to_round(name, scores, [valid])
        scores = quantized(scores, quantize)
    if are_levels(scores.dtype):
        hard = scores.dtype == np.bool_
        return (scores.view(np.uint8), 1.0) if hard else (scores, float(np.iinfo(scores.dtype).max))
    return scores.astype(np.float32 if scores.dtype.itemsize <= 4 else np.float64, copy=False), 0.0


def count_map(
    name: str,
    anomalous: BoolArray,
    prediction: Array,
    valid: BoolArray | None,
    *,
    quantize: Quantize | None,
    image_score: ImageScore | float,
    defects: Callable[[Array], Sequence[Found]] | None = None,
) -> AnomalyCounts:
    """Count one image; `name` is what errors call its scores, and `defects` gives what replaces components."""
    from segbench.protocols.anomalies.kernels import component_sizes

    scores, full = soft_map(name, prediction, valid, quantize)
    mask = np.ascontiguousarray(anomalous if valid is None else anomalous & valid)
    rows = np.flatnonzero(mask.any(axis=1))
    any_anomalous = bool(rows.size)
    marked = slice(rows[0], rows[-1] + 1) if any_anomalous else slice(0, 0)  # few rows, mostly
    if valid is None:
        normal = [scores[: marked.start], scores[marked][~mask[marked]], scores[marked.stop :]]
    else:
        normal = [scores[valid & ~mask]]
    sizes = np.empty(0, np.int32)
    of_found = np.empty(0, scores.dtype)
    if any_anomalous and defects is not None:
        each = defects(scores)
        sizes = np.repeat(np.array([one.size for one in each], np.int32), [one.size for one in each])
        of_found = scores.reshape(-1)[np.concatenate([one.places for one in each])]
    elif any_anomalous:
        of_pixels = np.empty(mask[marked].shape, np.int32)
        component_sizes(mask[marked], of_pixels)
        sizes, of_found = of_pixels[mask[marked]], scores[marked][mask[marked]]
    counted = sum(part.size for part in normal) + int(np.count_nonzero(mask))
    falling, pixels = _runs(name, normal)
    found = _runs_by_size(name, of_found, sizes)
    if full:
        falling, found = falling / np.float64(full), found._replace(scores=found.scores / np.float64(full))
    of_score = found
    if defects is not None:  # of which a pixel may be in several, or in none
        of_score = _runs_by_size(name, scores[mask] / np.float64(full or 1), np.ones(int(mask.sum()), np.int32))
    own = np.array([_image_score(image_score, falling, pixels, of_score)] if counted else [])
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
