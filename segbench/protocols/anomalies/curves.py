"""The PRO and PIMO curves of many images and the areas under them, exact, at every distinct score.

Points of the PRO curve lie at the scores of anomalous pixels, between which it is level: normal pixels are only counted
between these. They are held for some of the scores at a time, the highest first (`SCORES_AT_ONCE`), and images are
seen again for each such range. AUPIMO needs the highest scores of normal images only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from segbench.core.arrays import Array, BoolArray, FloatArray, IntArray
from segbench.core.messages import NOTHING, Message
from segbench.core.numbers import number
from segbench.core.series import Line, Space
from segbench.curves.curve import Curve, Drawn
from segbench.protocols.anomalies.counts import AnomalyCounts, falling_between

SCORES_AT_ONCE = 2**24
"""Distinct scores of anomalous pixels held at a time, at 40 bytes each."""
LIMITS = (0.3, 0.05)
RATES = (1e-5, 1e-4)

_SAMPLED = 2**10
_DRAWN = 2**12
_HELD = 2**20
_REACH = 20

Images = Mapping[str, AnomalyCounts]


@dataclass(frozen=True, eq=False)
class ProSegment:
    """The PRO curve over a range of falling scores of anomalous pixels: the normal pixels and components found there.

    `above` are the normal pixels between each score and the one before, with one entry more for those below the last;
    `equal` those that have it; `found` the shares of components that do, added up.
    """

    scores: FloatArray
    above: IntArray
    equal: IntArray
    found: FloatArray


def pro_segments(images: Images, at_once: int = SCORES_AT_ONCE) -> Iterator[ProSegment]:
    """Give the PRO curve range by range, the highest scores first; each sees every image twice."""
    from segbench.protocols.anomalies.kernels import add_between, add_found, places_of

    for lowest, below in _ranges(images, at_once):
        every = (images[name].found_scores for name in sorted(images))
        places = places_of(_distinct(some[falling_between(some, lowest, below)] for some in every))
        scores = places.scores[:-1]
        above, equal = np.zeros(scores.size + 1, np.int64), np.zeros(scores.size, np.int64)
        found = np.zeros(scores.size)
        for name in sorted(images):
            counts = images[name]
            some = falling_between(counts.scores, lowest, below)
            add_between(counts.scores[some], counts.normal[some], places, above, equal)
            some = falling_between(counts.found_scores, lowest, below)
            add_found(counts.found_scores[some], counts.anomalous[some], counts.component_sizes[some], places, found)
        yield ProSegment(scores, above, equal, found)


def _distinct(parts: Iterator[FloatArray]) -> FloatArray:
    """Give distinct falling scores of many images."""
    held: list[FloatArray] = [np.empty(0)]
    waiting = 0
    for part in parts:
        held.append(part[np.append(True, part[1:] != part[:-1])[: part.size]])
        waiting += held[-1].size
        if waiting > _HELD and waiting > held[0].size:
            held, waiting = [np.unique(np.concatenate(held))], 0
    return np.unique(np.concatenate(held))[::-1].astype(np.float64)


def _ranges(images: Images, at_once: int) -> list[tuple[float, float]]:
    """Choose ranges of scores, the highest first, with about as many scores of anomalous pixels as may be held."""
    if sum(counts.found_scores.size for counts in images.values()) <= at_once:
        return [(-math.inf, math.inf)]
    sampled, weights = [], []
    for name in sorted(images):
        scores = images[name].found_scores
        step = max(scores.size // _SAMPLED, 1)
        sampled.append(scores[::step].astype(np.float64))
        weights.append(np.full(sampled[-1].size, min(step, scores.size)))
    scores, held = np.concatenate(sampled), np.concatenate(weights)
    order = np.argsort(-scores, kind="stable")
    rooms = np.cumsum(held[order]) * 4 // (3 * at_once)
    starts = np.unique(scores[order][np.flatnonzero(np.diff(rooms)) + 1])[::-1].tolist()
    return list(zip([*starts, -math.inf], [math.inf, *starts], strict=True))


@dataclass(frozen=True, eq=False)
class Pro:
    """Areas under the PRO curve up to each of `LIMITS` over the limit, and points of it for plots; nan if undefined."""

    areas: tuple[float, ...]
    chosen: bool = False  # whether `thresholds` are some of all
    thresholds: FloatArray = field(default_factory=lambda: np.empty(0))
    fpr: FloatArray = field(default_factory=lambda: np.empty(0))
    pro: FloatArray = field(default_factory=lambda: np.empty(0))


def measured_pro(images: Images, *, limits: tuple[float, ...] = LIMITS, at_once: int = SCORES_AT_ONCE) -> Pro:
    """Measure the areas, and keep some points, those of few all."""
    normal = components = 0
    for counts in images.values():
        normal += counts.total_normal
        components += counts.components
    if not normal or not components:
        return Pro((math.nan,) * len(limits))
    areas, false, found = np.zeros(len(limits)), 0, 0.0
    points: list[FloatArray] = []
    chosen = False
    for part in pro_segments(images, at_once):
        corners = pro_corners(part.above, part.equal, part.found, false, found)
        areas += [area_up_to(corners[0], corners[1], limit * normal) for limit in limits]
        false, found = int(corners[0, -1]), float(corners[1, -1])
        at = np.append(np.repeat(part.scores, 2), part.scores[-1] if part.scores.size else -math.inf)
        chosen = chosen or at.size > 2 * _DRAWN
        points.append(_thinned(np.vstack([at, corners[0, 1:] / normal, corners[1, 1:] / components])))
    thresholds, fpr, pro = np.hstack(points)
    shares = (float(area / (limit * normal * components)) for area, limit in zip(areas, limits, strict=True))
    return Pro(tuple(min(share, 1.0) for share in shares), chosen, thresholds, fpr, np.minimum(pro, 1.0))


def pro_corners(above: IntArray, equal: IntArray, found: FloatArray, false: int = 0, before: float = 0.0) -> FloatArray:
    """Give the corners of a curve, normal pixels and components found: before and at each score, and after the last."""
    corners = np.empty((2, 2 * found.size + 2))
    gained = np.zeros(2 * found.size + 1)
    gained[:-1:2], gained[1::2], gained[-1] = above[:-1], equal, above[-1]
    corners[0, 0], corners[0, 1:] = false, false + np.cumsum(gained)
    rising = before + np.cumsum(found)
    corners[1, 0] = corners[1, 1] = before
    corners[1, 2::2] = rising
    corners[1, 3::2] = rising
    return corners


def area_up_to(x: FloatArray, y: FloatArray, limit: float) -> float:
    """Give the area under straight lines between points up to a limit."""
    last = int(np.searchsorted(x, limit, side="right"))
    area = float(np.trapezoid(y[:last], x[:last])) if last else 0.0
    if 0 < last < x.size:
        share = (limit - x[last - 1]) / (x[last] - x[last - 1])
        area += (limit - x[last - 1]) * (y[last - 1] + (y[last] - y[last - 1]) * share / 2)
    return area


def pro_areas(above: FloatArray, equal: FloatArray, found: FloatArray, components: FloatArray) -> FloatArray:
    """Give the areas under the PRO curve up to each of `LIMITS`, of rows of sums; shape (limits, rows)."""
    areas = np.full((len(LIMITS), len(above)), np.nan)
    for row, of_row in enumerate(components.tolist()):
        normal = above[row].sum() + equal[row].sum()
        if normal and of_row:
            x, y = pro_corners(above[row], equal[row], found[row])
            areas[:, row] = [area_up_to(x, y, limit * normal) / limit for limit in LIMITS]
            areas[:, row] /= normal * of_row
    return areas


def _thinned(points: FloatArray) -> FloatArray:
    """Keep some of many points: between any two, neither axis gains more than a small share."""
    if points.shape[1] <= 2 * _DRAWN:
        return points
    fine = np.floor(_DRAWN * (points[1] + points[2] + np.sqrt(points[1])))
    kept = np.append(np.diff(fine) > 0, True) | np.append(True, np.diff(fine) > 0)
    return points[:, kept]


@dataclass(frozen=True, eq=False)
class Pimo:
    """Thresholds of AUPIMO with their shared FPR, and what recall at each adds to the area; or why there is none.

    Thresholds fall down to the first with `_REACH` times the higher end of `RATES`: of fewer images rates are lower.
    """

    thresholds: FloatArray
    rates: FloatArray
    weights: FloatArray
    reason: Message = NOTHING

    def area(self, counts: AnomalyCounts) -> float:
        """Give the AUPIMO of an anomalous image."""
        if self.reason or not counts.total_anomalous:
            return math.nan
        # A pixel adds to the recall of the thresholds that it reaches, the last ones.
        gains = np.append(np.cumsum(self.weights[::-1])[::-1], 0.0)
        reached = np.searchsorted(-self.thresholds, -counts.found_scores.astype(np.float64))
        return min(float((gains[reached] * counts.anomalous).sum() / counts.total_anomalous), 1.0)


def measured_pimo(images: Images) -> Pimo:
    """Find the thresholds of AUPIMO and their shared FPR."""
    from segbench.protocols.anomalies.kernels import pimo_weights

    normal = sum(counts.normal_images.size for counts in images.values())
    if not normal:
        return _no_pimo(Message("no-normal-images", "no normal images"))
    low, high = RATES
    enough = min(_REACH * high, 1.0) * normal
    held: list[tuple[FloatArray, FloatArray]] = []
    waiting, scores, rates = 0, np.empty(0), np.empty(0)
    for name in sorted(images):
        held.append(_normal_shares(images[name], enough))
        waiting += held[-1][0].size
        if waiting > max(_HELD, 2 * scores.size):
            scores, rates = _highest([(scores, rates), *held], enough)
            held, waiting = [], 0
    scores, rates = _highest([(scores, rates), *held], enough)
    shared = np.cumsum(rates) / normal
    weights = np.zeros(scores.size)
    if not pimo_weights(shared, low, high, weights):
        reason = Message(
            "no-low-rate",
            "the smallest shared FPR of normal images is {rate:.4g}, above {least:g}: too few normal pixels, "
            "or too many with the highest score",
            rate=float(shared[0]),
            least=low,
        )
        return _no_pimo(reason)
    return Pimo(scores, shared, weights)


def _no_pimo(reason: Message) -> Pimo:
    none = np.empty(0)
    return Pimo(none, none, none, reason)


def _normal_shares(counts: AnomalyCounts, enough: float) -> tuple[FloatArray, FloatArray]:
    """Give the highest scores of normal images, and the share of their image that pixels with that score are."""
    sizes = counts.image_sizes
    if not counts.normal_images.size:
        return np.empty(0), np.empty(0)
    own = np.flatnonzero(sizes)[: int(enough * sizes.max(initial=0)) + 2]  # each adds at least a pixel's share
    return _cut(counts.scores[own].astype(np.float64), counts.normal[own] / sizes[own], enough)


def _cut(scores: FloatArray, shares: FloatArray, enough: float) -> tuple[FloatArray, FloatArray]:
    """Leave out scores below that at which shares add up to enough."""
    stop = int(np.searchsorted(np.cumsum(shares), enough * (1 + 1e-9))) + 1
    return scores[:stop], shares[:stop]


def _highest(parts: list[tuple[FloatArray, FloatArray]], enough: float) -> tuple[FloatArray, FloatArray]:
    """Merge falling scores, those that are needed to add up to enough, with the shares of equal ones added up."""
    scores, shares = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    distinct, places = np.unique(-scores, return_inverse=True)
    return _cut(-distinct, np.bincount(places.reshape(-1), shares, distinct.size).astype(np.float64), enough)


def pimo_values(areas: FloatArray, times: FloatArray) -> tuple[float, float, float]:
    """Give mean, median, and the share at 0, of areas that count several times each."""
    order = np.argsort(areas)
    upto = np.cumsum(times[order])
    middle = [areas[order[np.searchsorted(upto, upto[-1] / 2, side=side)]] for side in ("left", "right")]
    mean, zero = float(areas @ times / upto[-1]), float(times[areas <= 0].sum() / upto[-1])
    return mean, float(sum(middle) / 2), zero


def chosen_pro(pro: Pro, most: int) -> tuple[FloatArray, bool]:
    """Choose falling thresholds at which images are left out, and say whether some were left out."""
    scores, places = np.unique(-pro.thresholds[np.isfinite(pro.thresholds)], return_index=True)
    if scores.size <= most and not pro.chosen:
        return -scores, False
    gained = (
        pro.pro[places] + np.minimum(pro.fpr[places], 2 * LIMITS[0]) + np.sqrt(np.minimum(pro.fpr[places], LIMITS[0]))
    )
    return -scores[_in_steps(gained, most)], True


def chosen_pimo(pimo: Pimo, most: int) -> FloatArray:
    """Choose falling thresholds of AUPIMO at which images are left out, and minus infinity, which all reach."""
    kept = _in_steps(np.log(pimo.rates), most) if pimo.rates.size > most else slice(None)
    return np.append(pimo.thresholds[kept], -math.inf)


def _in_steps(rising: FloatArray, most: int) -> BoolArray:
    """Mark the first and the last value of each of so many equal steps."""
    steps = np.floor((rising - rising[0]) / max(rising[-1] - rising[0], 1e-300) * (most // 2))
    fresh = np.diff(steps) > 0
    return np.append(True, fresh) | np.append(fresh, True)


def highest(counts: AnomalyCounts, lowest: float) -> AnomalyCounts:
    """Give the normal pixels of normal images alone, those below a score at the lowest that there is."""
    if not counts.normal_images.size:
        return AnomalyCounts.sum(())
    own = counts.image_sizes > 0
    scores, pixels, sizes = counts.scores[own], counts.normal[own], counts.image_sizes[own]
    kept = scores >= lowest
    rest, places = np.unique(sizes[~kept], return_inverse=True)
    lumped = np.bincount(places.reshape(-1), pixels[~kept], rest.size).astype(np.int64)
    nothing = AnomalyCounts.sum(())
    return replace(
        nothing,
        scores=np.append(scores[kept], np.full(rest.size, scores[-1])),
        normal=np.append(pixels[kept], lumped),
        image_sizes=np.append(sizes[kept], rest),
        normal_images=counts.normal_images,
    )


@dataclass(frozen=True, eq=False, repr=False)
class AnomalyCurve(Drawn):
    """The curves of anomaly maps: ROC and precision-recall of pixels, PRO, and the mean PIMO curve.

    Parameters
    ----------
    pixels : Curve
        ROC and precision-recall.
    pro : Pro
        The PRO curve, of very many scores at a choice of its points.
    pimo : tuple of array
        Shared FPR, and the mean recall of anomalous images.
    """

    measure: ClassVar[str] = "f"
    steps: ClassVar[bool] = True
    best: ClassVar[Mapping[str, str]] = {"f": "ods_f"}

    pixels: Curve
    pro: Pro
    pimo: Line

    @property
    def columns(self) -> Mapping[str, Array]:
        """Rising thresholds, counts and rates of pixels."""
        columns = self.pixels.columns
        known = np.isfinite(columns["threshold"])
        return {name: values[known][::-1] for name, values in columns.items()}

    @property
    def caption(self) -> str:
        """AUPRO."""
        return f"AUPRO@30% {number(self.pro.areas[0])}"

    @property
    def spaces(self) -> tuple[Space, ...]:
        """Precision-recall and ROC, of pixels."""
        return ("pr", "roc")

    @property
    def prevalence(self) -> float:
        """The share of anomalous pixels."""
        return self.pixels.prevalence

    def line(self, space: Space) -> Line:
        """Give the points to draw of pixels."""
        return self.pixels.line(space)
