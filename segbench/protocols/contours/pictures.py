"""Pictures of contours: how far predicted pixels are off, in steps, and which true ones were found."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import FloatArray
from segbench.core.metric import Metric, Summary, image_headline
from segbench.core.pictures import Pictures
from segbench.protocols.contours import kernels
from segbench.protocols.contours.places import Places
from segbench.protocols.states import State

STEPS = (1, 2, 5)
"""Predicted pixels are coloured by the first of these times the tolerance that they are within."""

_PREDICTED = (State.PARTNER, State.NEAR, State.FAR, State.FALSE)
_TRUE = (State.TRUE, State.MISSED)


def contour_states(places: Places, near: float) -> tuple[NDArray[np.uint8], FloatArray]:
    """Give the states of the pixels of contours, and how far predicted ones are off; infinite where none is true."""
    states = np.full(places.truth.shape, State.NOTHING, np.uint8)
    off = np.zeros(places.truth.shape)
    for place in range(places.number):
        masks = [(part == place).view(np.uint8) for part in (places.truth, places.predicted)]
        truth, predicted = (kernels.inner_boundary(np.pad(mask, 1), np.empty_like(mask)) for mask in masks)
        for one, other, by_step in ((truth, predicted, _TRUE), (predicted, truth, _PREDICTED)):
            on = np.flatnonzero(one)
            squared = kernels.squared_distances(one, other)
            distances = np.where(squared < kernels.ANY, np.sqrt(squared), np.inf)
            limits = near * np.array(STEPS[: len(by_step) - 1]) * (1 + 1e-12)  # as NSD has it
            states.flat[on] = np.array(by_step)[np.searchsorted(limits, distances)]
            if one is predicted:
                off.flat[on] = distances
    return states, off


def contour_pictures(places: Places, near: float, metrics: Sequence[Metric], summary: Summary) -> Pictures:
    """Draw an image: its masks, its contours, and how far predicted contours are off, brighter the farther."""
    states, off = contour_states(places, near)
    truth = np.where(places.truth < places.number, 255, 0).astype(np.uint8)
    farthest = off[np.isfinite(off)].max(initial=near)
    grey = np.where(off > 0, 63 + 192 * np.minimum(off, farthest) / farthest, 0)
    rank = image_headline(metrics)
    return Pictures(
        truth,
        truth,
        states=[states],
        soft=grey.astype(np.uint8),
        metrics={rank.name_for_images: np.array([summary[rank.image_key]])},
    )
