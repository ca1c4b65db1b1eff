"""Pictures of contours: how far predicted pixels are off, in steps, and which true ones were found."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import FloatArray
from segbench.core.metric import Metric, Summary, image_headline
from segbench.core.pictures import Pictures
from segbench.imaging.surfaces import marks_of
from segbench.inputs.spacing import Sizes
from segbench.protocols.contours.counting import NumberedMasks
from segbench.protocols.states import State

STEPS = (1, 2, 5)
"""Predicted pixels are coloured by the first of these times the tolerance that they are within."""

_PREDICTED = (State.PARTNER, State.NEAR, State.FAR, State.FALSE)
_TRUE = (State.TRUE, State.MISSED)


def contour_states(
    masks: NumberedMasks, near: float, sizes: Sizes | None = None
) -> tuple[NDArray[np.uint8], FloatArray]:
    """Return the states of the pixels of contours, and how far predicted ones are off; infinite where none is true.

    With `sizes` of pixels or voxels distances are in their unit, as `near` is; otherwise both are in pixels.
    """
    states = np.full(masks.truth.shape, State.NOTHING, np.uint8)
    distances_off = np.zeros(masks.truth.shape)
    for number in range(1, masks.number + 1):
        truth, predicted = (_contour(side) for side in masks.sides_of(number))
        for contour, other, by_step in ((truth, predicted, _TRUE), (predicted, truth, _PREDICTED)):
            on_contour = np.flatnonzero(contour)
            distances = _distances(contour, other, sizes)
            limits = near * np.array(STEPS[: len(by_step) - 1]) * (1 + 1e-12)  # as NSD has it
            states.flat[on_contour] = np.array(by_step)[np.searchsorted(limits, distances)]
            if contour is predicted:
                distances_off.flat[on_contour] = distances
    return states, distances_off


def _contour(mask: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Mark the pixels or voxels of a mask beside background."""
    return marks_of(mask, "voxels") if mask.ndim == 3 else marks_of(mask, "pixels")[0]


def _distances(contour: NDArray[np.uint8], other: NDArray[np.uint8], sizes: Sizes | None) -> FloatArray:
    """Compute the distance of each pixel of a contour to another; infinite if that has none."""
    from segbench.protocols.contours import kernels

    if sizes is None:
        squared = kernels.squared_distances(contour, other)
        return np.where(squared < kernels.ANY, np.sqrt(squared), np.inf)
    from scipy.ndimage import distance_transform_edt

    if not other.any():
        return np.full(np.count_nonzero(contour), np.inf)
    distances: FloatArray = distance_transform_edt(other == 0, sampling=sizes)[contour != 0]
    return distances


def contour_pictures(
    masks: NumberedMasks, near: float, sizes: Sizes | None, metrics: Sequence[Metric], summary: Summary
) -> Pictures:
    """Draw an image: its masks, its contours, and how far predicted contours are off, brighter the farther."""
    states, distances_off = contour_states(masks, near, sizes)
    if masks.number <= 1:
        truth = np.where(masks.in_any_mask(masks.truth), 255, 0).astype(np.uint8)
    else:  # classes may cover the whole image: their contours tell them apart
        contours = [_contour(masks.sides_of(number)[0]) != 0 for number in range(1, masks.number + 1)]
        truth = np.where(np.logical_or.reduce(contours), 255, 0).astype(np.uint8)
    farthest = distances_off[np.isfinite(distances_off)].max(initial=near)
    grey = np.where(distances_off > 0, 63 + 192 * np.minimum(distances_off, farthest) / farthest, 0)
    rank = image_headline(metrics)
    return Pictures(
        truth,
        truth,
        states=[states],
        soft=grey.astype(np.uint8),
        metrics={rank.name_for_images: np.array([summary[rank.image_key]])},
    )
