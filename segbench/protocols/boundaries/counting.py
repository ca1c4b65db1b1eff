"""Counts of the boundary benchmark for one image, at all thresholds, against all annotators.

Begin with `count_boundaries`; `assignment` matches the pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segbench.core.arrays import BoolArray, FloatArray
from segbench.core.levels import in_type_of
from segbench.imaging import thinning
from segbench.imaging.bits import count_bits, levels_of, pack, pack_levels
from segbench.inputs import lines as inputs
from segbench.protocols.boundaries.assignment import sweep, sweep_down, tabulate_costs
from segbench.protocols.boundaries.counts import BoundaryCounts
from segbench.protocols.boundaries.suppression import nms


def count_boundaries(
    truths: Sequence[BoolArray],
    scores: FloatArray,
    stored: np.dtype[Any],
    *,
    thresholds: int | ArrayLike = 99,
    max_dist: float | str = 0.0075,
    thin: bool = True,
) -> BoundaryCounts:
    """Count matched and total boundary pixels of an image at every threshold; `stored` is the type of its scores."""
    levels_at = inputs.as_thresholds(thresholds)
    levels = levels_of(scores, in_type_of(stored, levels_at))
    build = thinning.thin_levels if thin else pack_levels
    return _count(build(levels, levels_at.size), truths, levels_at, max_dist)


def count_boundary_maps(
    maps: Sequence[ArrayLike],
    ground_truths: ArrayLike | Sequence[ArrayLike],
    *,
    max_dist: float | str = 0.0075,
    thin: bool = True,
) -> BoundaryCounts:
    """Count as `count_boundaries`, with the map of every threshold given, lowest first; they need not be nested."""
    masks = [inputs.as_mask(mask, f"prediction {k}") for k, mask in enumerate(maps, start=1)]
    truths = inputs.as_ground_truths(ground_truths)
    for k, mask in enumerate(masks, start=1):
        inputs.check_same_size(mask, truths[0], f"prediction {k}")
    packed = [thinning.thin_levels(mask.astype(np.int32), 1)[0] if thin else pack(mask) for mask in masks]
    return _count(np.stack(packed), truths, np.arange(1.0, len(masks) + 1), max_dist)


def _count(
    maps: NDArray[np.uint64], truths: Sequence[BoolArray], thresholds: FloatArray, max_dist: float | str
) -> BoundaryCounts:
    shape = truths[0].shape
    max_dist_px = inputs.tolerance_px(max_dist, shape)
    union = np.bitwise_or.reduce(maps, axis=0)
    used = np.zeros_like(maps)
    matched_gt = np.zeros(thresholds.size, np.int64)
    pixels = [int(np.count_nonzero(truth)) for truth in truths]
    for annotator, truth in enumerate(truths):
        costs = tabulate_costs(shape, max_dist_px, pixels[annotator], annotator)
        matched_gt += sweep(maps, union, pack(truth), costs, used).matched
    total_gt = np.full_like(matched_gt, sum(pixels))
    return BoundaryCounts(thresholds, matched_gt, total_gt, count_bits(used), count_bits(maps))


def kernels_cached() -> bool:
    """Say whether compiled kernels lie on disk from an earlier process; if not, the first image takes long."""
    slowest: tuple[Any, ...] = (thinning.thin_down, sweep_down)
    for kernel in slowest:
        folder, module = kernel.stats.cache_path, kernel.__module__.rpartition(".")[2]
        if not folder or not any(Path(folder).glob(f"{module}.{kernel.__name__}-*.nbi")):
            return False
    return True


def compile_kernels() -> None:
    """Compile every kernel, or load it from disk."""
    scores = np.eye(3)
    truths = [scores != 0]
    count_boundaries(truths, scores, scores.dtype, thresholds=2)
    count_boundaries(truths, scores, scores.dtype, thin=False)
    count_boundary_maps([scores], scores)
    nms(scores)
