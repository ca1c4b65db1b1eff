"""The metrics of one mask of one image, from its counts, and how much of contours is within rising tolerances."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from segbench.core.arrays import FloatArray
from segbench.core.metric import key_at
from segbench.imaging.surfaces import largest_square
from segbench.inputs.spacing import exact
from segbench.protocols.contours.conventions import Percentile
from segbench.protocols.contours.counts import ContourCounts, Mask

DISTANCES = ("hd", "hd95", "assd", "masd")
DAVIS = ("j_and_f", "j", "f_davis")
BOUNDARY_IOU = "boundary_iou"
BUFFER = ("buffer_precision", "buffer_recall", "buffer_quality")
"""Correctness, completeness and quality of roads, within a tolerance."""

_STEPS = 4
_LAST = 32
NEAR = _STEPS * _LAST + 1
"""The first so many tolerances are a quarter of a pixel apart, up to 32 pixels."""
_MOST_FAR = 1000


def buffer_keys(tolerance: float) -> tuple[str, ...]:
    """Return the keys of the metrics of roads at a tolerance: ``buffer_precision@2`` and two others."""
    return tuple(key_at(name, tolerance) for name in BUFFER)


def nsd_key(tolerance: float) -> str:
    """Return the key of NSD at a tolerance: ``nsd@2``, ``nsd@0.5``."""
    return key_at("nsd", tolerance)


@dataclass(frozen=True, kw_only=True)
class Conventions:
    """How metrics are computed from counts, as in `segbench.Contours`."""

    hd95: Percentile = "larger"
    empty: str | float = "undefined"
    spacing: float = 1.0
    """The factor from distances in counts to those of metrics."""
    nsd: Sequence[float] = (2.0,)
    unit: str = ""
    """What distances are in; empty for pixels."""
    is_flat: bool = True
    """Whether images have two dimensions, in which Boundary IoU and DAVIS's measures are defined."""

    def measure(self, mask: Mask) -> dict[str, float]:
        """Compute every metric; nan where undefined."""
        truth, predicted, both = mask.areas
        values = {"dice": _share(2 * both, truth + predicted)}
        if truth and predicted:
            values |= self._distances(mask)
        else:
            values |= self._of_empty(mask, is_one_empty=bool(truth or predicted))
        if mask.dimensions == 3:
            return values | dict.fromkeys((BOUNDARY_IOU, *DAVIS), math.nan)
        true_band, predicted_band, common = mask.bands
        values[BOUNDARY_IOU] = _share(common, true_band + predicted_band - common)
        values["j"] = both / (truth + predicted - both) if truth or predicted else 1.0
        values["f_davis"] = f_davis(*mask.davis)
        values["j_and_f"] = (values["j"] + values["f_davis"]) / 2
        return values

    def _distances(self, mask: Mask) -> dict[str, float]:
        """Compute the metrics of distances of two masks with pixels; nan of several spacings together."""
        keys = list(map(nsd_key, self.nsd))
        if mask.distances is None:
            return dict.fromkeys((*DISTANCES, *keys, *self._buffer_keys), math.nan)
        to_prediction, to_truth = mask.distances
        length = to_prediction.length + to_truth.length
        if self.hd95 == "larger":
            percentile = max(to_prediction.percentile(), to_truth.percentile())
        else:
            both: Any = to_prediction + to_truth  # type: ignore[operator]  # of one type
            percentile = both.percentile()
        means = to_prediction.total / to_prediction.length, to_truth.total / to_truth.length
        values = {
            "hd": max(to_prediction.farthest, to_truth.farthest),
            "hd95": percentile,
            "assd": (to_prediction.total + to_truth.total) / length,
            "masd": (means[0] + means[1]) / 2,
        }
        unit = mask.unit * exact(self.spacing)
        values = {key: value * float(unit) for key, value in values.items()}
        squares = np.array([largest_square(exact(tolerance), unit) for tolerance in self.nsd], np.int64)
        true_length, predicted_length = to_prediction.length, to_truth.length
        matched_truth, matched_prediction = to_prediction.within(squares), to_truth.within(squares)
        values |= zip(keys, ((matched_truth + matched_prediction) / length).tolist(), strict=True)
        missed = true_length - matched_truth
        quality = matched_prediction / (predicted_length + missed)
        rates = np.stack([matched_prediction / predicted_length, matched_truth / true_length, quality], axis=1)
        return values | dict(zip(self._buffer_keys, rates.ravel().tolist(), strict=True))

    def _of_empty(self, mask: Mask, *, is_one_empty: bool) -> dict[str, float]:
        """Return the metrics of distances where one mask is empty, or both."""
        distance, share = math.nan, 0.0 if is_one_empty else math.nan
        if self.has_value_of_empty:
            of_one_empty = mask.diagonal * self.spacing if self.empty == "diagonal" else float(self.empty)
            distance = of_one_empty if is_one_empty else 0.0
            share = 0.0 if is_one_empty else 1.0
        # Of one empty mask there is no contour of which a share could be right, or found.
        rates = (share if mask.areas[1] else math.nan, share if mask.areas[0] else math.nan, share)
        if not is_one_empty:
            rates = (share, share, share)
        return {
            **dict.fromkeys(DISTANCES, distance),
            **{nsd_key(tolerance): share for tolerance in self.nsd},
            **dict(zip(self._buffer_keys, rates * len(self.nsd), strict=True)),
        }

    @property
    def _buffer_keys(self) -> tuple[str, ...]:
        return tuple(key for tolerance in self.nsd for key in buffer_keys(tolerance))

    @property
    def has_value_of_empty(self) -> bool:
        """Whether distances of empty masks have a value."""
        return self.empty != "undefined"


def f_davis(truth: int, predicted: int, near_prediction: int, near_truth: int) -> float:
    """Return F of the boundary pixels of DAVIS: 1 where neither mask has any, 0 where one has none."""
    if not (truth and predicted):
        return float(truth == predicted)
    precision, recall = near_truth / predicted, near_prediction / truth
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def recall_of(values: Sequence[float]) -> float:
    """Return the share of frames above one half."""
    return sum(value > 0.5 for value in values) / len(values)


def decay_of(values: Sequence[float]) -> float:
    """Return the mean over the first quarter of the frames minus that over the last, as DAVIS divides them.

    Quarters are from frame round(1 + k (n - 1) / 4) to the next, ends included; halves are rounded up.
    """
    frames = len(values)
    ends = [math.floor(1 + k * (frames - 1) / 4 + 0.5) - 1 for k in range(5)]
    first, last = values[ends[0] : ends[1] + 1], values[ends[3] : ends[4] + 1]
    return sum(first) / len(first) - sum(last) / len(last)


def _share(part: int, whole: int) -> float:
    """Return a quotient; nan where there is nothing."""
    return part / whole if whole else math.nan


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
    """Compute NSD at each tolerance, averaged over images, and then over the masks of these numbers."""
    tolerances = np.append(np.arange(NEAR) / _STEPS, _far(math.ceil(farthest)))
    fractions = list(map(exact, tolerances.tolist()))
    sums, defined_in = np.zeros((len(masks), tolerances.size)), np.zeros((len(masks), 1))
    within, whole = np.zeros(tolerances.size), 0.0
    for counts in images:
        for row, number in enumerate(masks):
            mask = counts.mask(number)
            truth, predicted, _ = mask.areas
            if truth and predicted and mask.distances:
                squares = np.array([largest_square(tolerance, mask.unit) for tolerance in fractions], np.int64)
                reached = sum(direction.within(squares) for direction in mask.distances)
                length = sum(direction.length for direction in mask.distances)
                sums[row] += reached / length
                within += reached
                whole += length
            elif not truth and not predicted:
                sums[row] += conventions.has_value_of_empty
            defined_in[row] += bool(truth or predicted or conventions.has_value_of_empty)
    with np.errstate(invalid="ignore"):  # 0 / 0 where there is no contour
        by_mask = sums / defined_in
        defined = defined_in[:, 0] > 0
        nsd = by_mask[defined].mean(axis=0) if defined.any() else np.full(tolerances.size, np.nan)
        return Tolerances(tolerances * conventions.spacing, nsd, within / np.float64(whole))


def farthest_of(images: Iterable[ContourCounts], masks: Sequence[int]) -> float:
    """Return the largest distance of contours, in pixels or mm; 0 without any."""
    measured = (counts.mask(number) for counts in images for number in masks if counts.areas[number, :2].all())
    return max(
        (direction.farthest * float(mask.unit) for mask in measured for direction in mask.distances or ()), default=0.0
    )


def _far(farthest: int) -> FloatArray:
    """Return whole pixels from 33 to the largest distance, at most so many of them."""
    step = max(1, math.ceil((farthest - _LAST) / _MOST_FAR))
    return np.arange(_LAST + step, farthest + step, step, dtype=np.float64)
