"""The metrics of one mask of one image, from its counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from segbench.core.metric import key_at
from segbench.protocols.contours.choices import Empty, Percentile
from segbench.protocols.contours.distances import Distances

DISTANCES = ("hd", "hd95", "assd", "masd")
DAVIS = ("j_and_f", "j", "f_davis")


def nsd_key(tolerance: float) -> str:
    """Return the key of NSD at a tolerance: ``nsd@2``, ``nsd@0.5``."""
    return key_at("nsd", tolerance)


class Mask(NamedTuple):
    """What one mask of an image is measured by, see `segbench.ContourCounts`; distances are in pixels."""

    areas: Sequence[int]
    bands: Sequence[int]
    davis: Sequence[int]
    there: Distances
    back: Distances
    lengths: bool
    squared_diagonal: int


@dataclass(frozen=True, kw_only=True)
class Conventions:
    """How metrics are computed from counts, as in `segbench.Contours`."""

    hd95: Percentile = "larger"
    empty: Empty = "undefined"
    spacing: float = 1.0
    nsd: Sequence[float] = (2.0,)

    @property
    def unit(self) -> str:
        """What distances are in; empty for pixels."""
        return "" if self.spacing == 1 else "mm"

    def measure(self, mask: Mask) -> dict[str, float]:
        """Give every metric; nan where undefined."""
        truth, predicted, both = mask.areas
        values = {"dice": _share(2 * both, truth + predicted)}
        if truth and predicted:
            values |= self._distances(mask.there, mask.back, lengths=mask.lengths)
        else:
            values |= self._of_empty(mask, one=bool(truth or predicted))
        first, second, common = mask.bands
        values["boundary_iou"] = _share(common, first + second - common)
        values["j"] = both / (truth + predicted - both) if truth or predicted else 1.0
        values["f_davis"] = f_davis(*mask.davis)
        values["j_and_f"] = (values["j"] + values["f_davis"]) / 2
        return values

    def _distances(self, there: Distances, back: Distances, *, lengths: bool) -> dict[str, float]:
        length = there.length + back.length
        if self.hd95 == "larger":
            percentile = max(each.percentile(lengths=lengths) for each in (there, back))
        else:
            percentile = (there + back).percentile(lengths=lengths)
        values = {
            "hd": max(there.farthest, back.farthest),
            "hd95": percentile,
            "assd": (there.total + back.total) / length,
            "masd": (there.total / there.length + back.total / back.length) / 2,
        }
        values = {key: value * self.spacing for key, value in values.items()}
        pixels = np.array(self.nsd, np.float64) / self.spacing
        within = ((there.within(pixels) + back.within(pixels)) / length).tolist()
        values |= zip(map(nsd_key, self.nsd), within, strict=True)
        return values

    def _of_empty(self, mask: Mask, *, one: bool) -> dict[str, float]:
        distance, share = math.nan, 0.0 if one else math.nan
        if self.empty == "diagonal":
            distance = math.sqrt(mask.squared_diagonal) * self.spacing if one else 0.0
            share = 0.0 if one else 1.0
        return {**dict.fromkeys(DISTANCES, distance), **{nsd_key(tolerance): share for tolerance in self.nsd}}


def f_davis(truth: int, predicted: int, near_prediction: int, near_truth: int) -> float:
    """Give F of the boundary pixels of DAVIS: 1 where neither mask has any, 0 where one has none."""
    if not (truth and predicted):
        return float(truth == predicted)
    precision, recall = near_truth / predicted, near_prediction / truth
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def recall_of(values: Sequence[float]) -> float:
    """Give the share of frames above one half."""
    return sum(value > 0.5 for value in values) / len(values)


def decay_of(values: Sequence[float]) -> float:
    """Give the mean over the first quarter of the frames minus that over the last, as DAVIS divides them.

    Quarters are from frame round(1 + k (n - 1) / 4) to the next, ends included; halves are rounded up.
    """
    frames = len(values)
    ends = [math.floor(1 + k * (frames - 1) / 4 + 0.5) - 1 for k in range(5)]
    first, last = values[ends[0] : ends[1] + 1], values[ends[3] : ends[4] + 1]
    return sum(first) / len(first) - sum(last) / len(last)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else math.nan
