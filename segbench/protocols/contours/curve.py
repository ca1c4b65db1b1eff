"""NSD against the tolerance, and the distribution of distances: what plots of contours show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from segbench.core.integers import FloatArray
from segbench.core.numbers import number
from segbench.core.series import Series
from segbench.protocols.contours.counts import ContourCounts
from segbench.protocols.contours.measures import Conventions

_STEPS = 4
_LAST = 32


@dataclass(frozen=True, eq=False, repr=False)
class ToleranceCurve(Series):
    """NSD at rising tolerances, quarters of a pixel up to 32.

    Parameters
    ----------
    tolerances : array of float64
        In pixels, or in the unit of the spacing.
    nsd : array of float64
        The mean NSD at each, as the metric of this tolerance has it; nan where undefined.
    share : array of float64
        The share of all contours of all images together that is within each tolerance.
    """

    measure: ClassVar[str] = "nsd"
    steps: ClassVar[bool] = True

    tolerances: FloatArray
    nsd: FloatArray
    share: FloatArray

    @property
    def columns(self) -> Mapping[str, FloatArray]:
        """The tolerance as ``threshold``, NSD, and the share of all contours."""
        return {"threshold": self.tolerances, "nsd": self.nsd, "share": self.share}

    @property
    def caption(self) -> str:
        """NSD at two pixels."""
        return f"NSD@{self.tolerances[2 * _STEPS]:g} {number(float(self.nsd[2 * _STEPS]))}"


def tolerance_curve(images: Sequence[ContourCounts], conventions: Conventions, masks: int) -> ToleranceCurve:
    """Compute NSD at each tolerance, averaged over images, and then over masks."""
    pixels = np.arange(_STEPS * _LAST + 1) / _STEPS
    sums, held = np.zeros((masks, pixels.size)), np.zeros((masks, 1))
    within, whole = np.zeros(pixels.size), 0.0
    for counts in images:
        for place in range(masks):
            truth, predicted = counts.areas[place, :2].tolist()
            if truth and predicted:
                both = counts.distances(place)
                reached, length = sum(each.within(pixels) for each in both), sum(each.length for each in both)
                sums[place] += reached / length
                within += reached
                whole += length
            elif not truth and not predicted:
                sums[place] += conventions.empty == "diagonal"
            held[place] += bool(truth or predicted or conventions.empty == "diagonal")
    with np.errstate(invalid="ignore"):  # 0 / 0 where there is no contour
        by_mask = sums / held
        defined = held[:, 0] > 0
        nsd = by_mask[defined].mean(axis=0) if defined.any() else np.full(pixels.size, np.nan)
        return ToleranceCurve(pixels * conventions.spacing, nsd, within / np.float64(whole))
