"""How much of the contours is within rising tolerances: NSD, and the distribution of distances, for plots."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from segbench.core.arrays import FloatArray
from segbench.protocols.contours.counts import ContourCounts
from segbench.protocols.contours.measures import Conventions

_STEPS = 4
_LAST = 32
NEAR = _STEPS * _LAST + 1
"""The first so many tolerances are a quarter of a pixel apart, up to 32 pixels."""
_MOST_FAR = 1000


class Tolerances(NamedTuple):
    """What is within each tolerance, in pixels or in the unit of the spacing.

    Parameters
    ----------
    at : array of float64
        Rising tolerances.
    nsd : array of float64
        The mean NSD at each, as the metric has it; nan where undefined.
    share : array of float64
        The share of all contours of all images together within it.
    """

    at: FloatArray
    nsd: FloatArray
    share: FloatArray


def tolerances_of(
    images: Iterable[ContourCounts], conventions: Conventions, masks: Sequence[int], farthest: float
) -> Tolerances:
    """Compute NSD at each tolerance, averaged over images, and then over the masks in these places."""
    pixels = np.append(np.arange(NEAR) / _STEPS, _far(math.ceil(farthest)))
    sums, held = np.zeros((len(masks), pixels.size)), np.zeros((len(masks), 1))
    within, whole = np.zeros(pixels.size), 0.0
    for counts in images:
        for row, place in enumerate(masks):
            truth, predicted = counts.areas[place, :2].tolist()
            if truth and predicted:
                both = counts.distances(place)
                reached, length = sum(each.within(pixels) for each in both), sum(each.length for each in both)
                sums[row] += reached / length
                within += reached
                whole += length
            elif not truth and not predicted:
                sums[row] += conventions.empty == "diagonal"
            held[row] += bool(truth or predicted or conventions.empty == "diagonal")
    with np.errstate(invalid="ignore"):  # 0 / 0 where there is no contour
        by_mask = sums / held
        defined = held[:, 0] > 0
        nsd = by_mask[defined].mean(axis=0) if defined.any() else np.full(pixels.size, np.nan)
        return Tolerances(pixels * conventions.spacing, nsd, within / np.float64(whole))


def farthest_of(images: Iterable[ContourCounts], masks: Sequence[int]) -> float:
    """Give the largest distance of contours, in pixels; 0 without any."""
    found = (counts.distances(place) for counts in images for place in masks if counts.areas[place, :2].all())
    return max((each.farthest for both in found for each in both), default=0.0)


def _far(farthest: int) -> FloatArray:
    """Give whole pixels from 33 to the largest distance, at most so many of them."""
    step = max(1, math.ceil((farthest - _LAST) / _MOST_FAR))
    return np.arange(_LAST + step, farthest + step, step, dtype=np.float64)
