"""The PRO and PIMO curves of many images and the areas under them, exact, at every distinct score.

Begin with `measured_pro` and `measured_pimo`. Points of the PRO curve lie at the scores of anomalous pixels, between
which it is level: normal pixels are only counted between these. Memory holds the points of one range of scores at a
time, the highest first (`SCORES_AT_ONCE`), and each range takes another pass over the images. AUPIMO needs the highest
scores of normal images only.
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
"""Distinct scores of anomalous pixels in memory at a time, at 40 bytes each."""
LIMITS = (0.3, 0.05)
"""False positive rates up to which the area under the PRO curve is measured."""
RATES = (1e-5, 1e-4)
"""Shared false positive rates between which the area under the PIMO curve is measured."""

_SAMPLED = 2**10  # scores of an image, to choose ranges
_DRAWN = 2**12
_UNMERGED = 2**20  # scores of images before they are merged
_REACH = 20

Images = Mapping[str, AnomalyCounts]


@dataclass(frozen=True, eq=False)
class ProSegment:
    """The PRO curve over a range of falling scores of anomalous pixels: normal pixels and per-region overlap there.

    `above` are the normal pixels between each score and the one before, with one entry more for those below the last;
    `equal` those with that score; `overlap` the shares of components with that score, added up.
    """

    scores: FloatArray
    above: IntArray
    equal: IntArray
    overlap: FloatArray


def pro_segments(images: Images, at_once: int = SCORES_AT_ONCE) -> Iterator[ProSegment]:
    """Yield the PRO curve range by range, the highest scores first; each takes two passes over the images."""
    from segbench.protocols.anomalies.kernels import add_between, add_overlap, cells_of

    for lowest, below in _ranges(images, at_once):
        found_scores = (images[name].found_scores for name in sorted(images))
        cells = cells_of(_distinct(scores[falling_between(scores, lowest, below)] for scores in found_scores))
        thresholds = cells.scores[:-1]
        above, equal = np.zeros(thresholds.size + 1, np.int64), np.zeros(thresholds.size, np.int64)
        overlap = np.zeros(thresholds.size)
        for name in sorted(images):
            counts = images[name]
            normal = falling_between(counts.scores, lowest, below)
            add_between(counts.scores[normal], counts.normal[normal], cells, above, equal)
            anomalous = falling_between(counts.found_scores, lowest, below)
            pixels, sizes = counts.anomalous[anomalous], counts.component_sizes[anomalous]
            add_overlap(counts.found_scores[anomalous], pixels, sizes, cells, overlap)
        yield ProSegment(thresholds, above, equal, overlap)


def _distinct(parts: Iterator[FloatArray]) -> FloatArray:
    """Return the distinct scores of many images, falling; those of an image need not be distinct."""
    merged: FloatArray = np.empty(0)
    unmerged: list[FloatArray] = []
    unmerged_scores = 0
    for part in parts:
        distinct = part[np.append(True, part[1:] != part[:-1])[: part.size]]
        unmerged.append(distinct)
        unmerged_scores += distinct.size
        if unmerged_scores > max(_UNMERGED, merged.size):
            merged = np.unique(np.concatenate([merged, *unmerged]))
            unmerged, unmerged_scores = [], 0
    return np.unique(np.concatenate([merged, *unmerged]))[::-1].astype(np.float64)


def _ranges(images: Images, at_once: int) -> list[tuple[float, float]]:
    """Choose ranges of scores, the highest first, with about `at_once` scores of anomalous pixels each."""
    if sum(counts.found_scores.size for counts in images.values()) <= at_once:
        return [(-math.inf, math.inf)]
    sampled, weights = [], []
    for name in sorted(images):
        scores = images[name].found_scores
        step = max(scores.size // _SAMPLED, 1)
        sampled.append(scores[::step].astype(np.float64))
        weights.append(np.full(sampled[-1].size, min(step, scores.size)))
    scores, represented = np.concatenate(sampled), np.concatenate(weights)
    order = np.argsort(-scores, kind="stable")
    range_of_score = np.cumsum(represented[order]) * 4 // (3 * at_once)
    starts = np.unique(scores[order][np.flatnonzero(np.diff(range_of_score)) + 1])[::-1].tolist()
    return list(zip([*starts, -math.inf], [math.inf, *starts], strict=True))


@dataclass(frozen=True, eq=False)
class Pro:
    """Areas under the PRO curve up to each limit, divided by it, and points of it for plots; nan if undefined."""

    areas: tuple[float, ...]
    chosen: bool = False  # whether `thresholds` are some of all
    thresholds: FloatArray = field(default_factory=lambda: np.empty(0))
    fpr: FloatArray = field(default_factory=lambda: np.empty(0))
    pro: FloatArray = field(default_factory=lambda: np.empty(0))


def measured_pro(images: Images, *, limits: tuple[float, ...] = LIMITS, at_once: int = SCORES_AT_ONCE) -> Pro:
    """Measure the areas under the PRO curve, and keep its points: all, or a choice of very many."""
    normal = components = 0
    for counts in images.values():
        normal += counts.total_normal
        components += counts.components
    if not normal or not components:
        return Pro((math.nan,) * len(limits))
    areas, fp, overlap = np.zeros(len(limits)), 0, 0.0
    points: list[FloatArray] = []
    chosen = False
    for segment in pro_segments(images, at_once):
        fps, overlaps = pro_corners(segment.above, segment.equal, segment.overlap, fp, overlap)
        areas += [area_up_to(fps, overlaps, limit * normal) for limit in limits]
        fp, overlap = int(fps[-1]), float(overlaps[-1])
        thresholds = np.append(np.repeat(segment.scores, 2), segment.scores[-1] if segment.scores.size else -math.inf)
        chosen = chosen or thresholds.size > 2 * _DRAWN
        points.append(_thinned(np.vstack([thresholds, fps[1:] / normal, overlaps[1:] / components])))
    thresholds, fpr, pro = np.hstack(points)
    normalized = (float(area / (limit * normal * components)) for area, limit in zip(areas, limits, strict=True))
    return Pro(tuple(min(area, 1.0) for area in normalized), chosen, thresholds, fpr, np.minimum(pro, 1.0))


def pro_corners(
    above: IntArray, equal: IntArray, overlap: FloatArray, fp_before: int = 0, overlap_before: float = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Return false positives and summed per-region overlap at the corners of a PRO curve.

    They lie before and at each score, and after the last.
    """
    corners = 2 * overlap.size + 2
    gained = np.zeros(corners - 1)
    gained[:-1:2], gained[1::2], gained[-1] = above[:-1], equal, above[-1]
    fps, overlaps = np.empty(corners), np.empty(corners)
    fps[0], fps[1:] = fp_before, fp_before + np.cumsum(gained)
    overlaps[:2] = overlap_before
    overlaps[2::2] = overlaps[3::2] = overlap_before + np.cumsum(overlap)
    return fps, overlaps


def area_up_to(x: FloatArray, y: FloatArray, limit: float) -> float:
    """Return the area under straight lines between points up to a limit of `x`."""
    last = int(np.searchsorted(x, limit, side="right"))
    area = float(np.trapezoid(y[:last], x[:last])) if last else 0.0
    if 0 < last < x.size:
        share = (limit - x[last - 1]) / (x[last] - x[last - 1])
        area += (limit - x[last - 1]) * (y[last - 1] + (y[last] - y[last - 1]) * share / 2)
    return area


def pro_areas(above: FloatArray, equal: FloatArray, overlap: FloatArray, components: FloatArray) -> FloatArray:
    """Compute the areas under the PRO curve of each row of sums up to each of `LIMITS`; shape (limits, rows)."""
    areas = np.full((len(LIMITS), len(above)), np.nan)
    for row, components_of_row in enumerate(components.tolist()):
        normal = above[row].sum() + equal[row].sum()
        if normal and components_of_row:
            fps, overlaps = pro_corners(above[row], equal[row], overlap[row])
            areas[:, row] = [area_up_to(fps, overlaps, limit * normal) / limit for limit in LIMITS]
            areas[:, row] /= normal * components_of_row
    return areas


def _thinned(points: FloatArray) -> FloatArray:
    """Thin out very many points (rows: threshold, FPR, PRO), so that rates gain little between two that are kept."""
    if points.shape[1] <= 2 * _DRAWN:
        return points
    _, fpr, pro = points
    new_step = np.diff(np.floor(_DRAWN * (fpr + pro + np.sqrt(fpr)))) > 0
    return points[:, np.append(new_step, True) | np.append(True, new_step)]


@dataclass(frozen=True, eq=False)
class Pimo:
    """Thresholds of AUPIMO with their shared FPR, and how much recall at each adds to the area; or why there are none.

    Thresholds fall down to the first with `_REACH` times the higher end of `RATES`: of fewer images rates are lower.
    """

    thresholds: FloatArray
    rates: FloatArray
    weights: FloatArray
    reason: Message = NOTHING

    def area(self, counts: AnomalyCounts) -> float:
        """Return the AUPIMO of an anomalous image; nan of others."""
        if self.reason or not counts.total_anomalous:
            return math.nan
        # A pixel adds to the recall of the thresholds that it reaches, the last ones.
        gains = np.append(np.cumsum(self.weights[::-1])[::-1], 0.0)
        reached = np.searchsorted(-self.thresholds, -counts.found_scores.astype(np.float64))
        return min(float((gains[reached] * counts.anomalous).sum() / counts.total_anomalous), 1.0)


def measured_pimo(images: Images) -> Pimo:
    """Find the thresholds of AUPIMO and their shared FPR."""
    normal = sum(counts.normal_images.size for counts in images.values())
    if not normal:
        return _no_pimo(Message("no-normal-images", "no normal images"))
    enough = min(_REACH * RATES[1], 1.0) * normal
    scores, shares = np.empty(0), np.empty(0)
    unmerged: list[tuple[FloatArray, FloatArray]] = []
    unmerged_scores = 0
    for name in sorted(images):
        scores_of_image, shares_of_image = _normal_shares(images[name], enough)
        unmerged.append((scores_of_image, shares_of_image))
        unmerged_scores += scores_of_image.size
        if unmerged_scores > max(_UNMERGED, 2 * scores.size):
            scores, shares = _merged([(scores, shares), *unmerged], enough)
            unmerged, unmerged_scores = [], 0
    scores, shares = _merged([(scores, shares), *unmerged], enough)
    rates = np.cumsum(shares) / normal
    weights = pimo_weights(rates)
    if weights is None:
        reason = Message(
            "no-low-rate",
            "the smallest shared FPR of normal images is {rate:.4g}, above {least:g}: too few normal pixels, "
            "or too many with the highest score",
            rate=float(rates[0]),
            least=RATES[0],
        )
        return _no_pimo(reason)
    return Pimo(scores, rates, weights)


def pimo_weights(rates: FloatArray) -> FloatArray | None:
    """Return how much the recall at each threshold adds to AUPIMO, given its shared FPR; None where it is undefined."""
    from segbench.protocols.anomalies.kernels import write_pimo_weights

    weights = np.zeros(rates.size)
    return weights if write_pimo_weights(rates, *RATES, weights) else None


def _no_pimo(reason: Message) -> Pimo:
    none = np.empty(0)
    return Pimo(none, none, none, reason)


def _normal_shares(counts: AnomalyCounts, enough: float) -> tuple[FloatArray, FloatArray]:
    """Return the highest scores of normal images, and the share of their image that pixels with that score are."""
    sizes = counts.image_sizes
    if not counts.normal_images.size:
        return np.empty(0), np.empty(0)
    of_normal_images = np.flatnonzero(sizes)[: int(enough * sizes.max(initial=0)) + 2]  # each is at least one pixel
    scores = counts.scores[of_normal_images].astype(np.float64)
    return _cut(scores, counts.normal[of_normal_images] / sizes[of_normal_images], enough)


def _cut(scores: FloatArray, shares: FloatArray, enough: float) -> tuple[FloatArray, FloatArray]:
    """Leave out scores below the one at which shares add up to `enough`."""
    stop = int(np.searchsorted(np.cumsum(shares), enough * (1 + 1e-9))) + 1
    return scores[:stop], shares[:stop]


def _merged(parts: list[tuple[FloatArray, FloatArray]], enough: float) -> tuple[FloatArray, FloatArray]:
    """Merge falling scores down to where shares add up to `enough`; shares of equal scores are added up."""
    scores, shares = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    negated, index = np.unique(-scores, return_inverse=True)
    return _cut(-negated, np.bincount(index.reshape(-1), shares, negated.size).astype(np.float64), enough)


def pimo_values(areas: FloatArray, times: FloatArray) -> tuple[float, float, float]:
    """Return mean, median, and the share at 0, of areas of which each counts `times` times."""
    order = np.argsort(areas)
    number_up_to = np.cumsum(times[order])
    number = number_up_to[-1]
    middle = [areas[order[np.searchsorted(number_up_to, number / 2, side=side)]] for side in ("left", "right")]
    return float(areas @ times / number), float(sum(middle) / 2), float(times[areas <= 0].sum() / number)


def chosen_pro(pro: Pro, most: int) -> tuple[FloatArray, bool]:
    """Choose falling thresholds for leaving images out, and return whether they are only some of all thresholds."""
    negated, first = np.unique(-pro.thresholds[np.isfinite(pro.thresholds)], return_index=True)
    if negated.size <= most and not pro.chosen:
        return -negated, False
    fpr = pro.fpr[first]
    gained = pro.pro[first] + np.minimum(fpr, 2 * LIMITS[0]) + np.sqrt(np.minimum(fpr, LIMITS[0]))
    return -negated[_ends_of_steps(gained, most)], True


def chosen_pimo(pimo: Pimo, most: int) -> FloatArray:
    """Choose falling thresholds of AUPIMO for leaving images out, and append minus infinity, which all scores reach."""
    kept = _ends_of_steps(np.log(pimo.rates), most) if pimo.rates.size > most else slice(None)
    return np.append(pimo.thresholds[kept], -math.inf)


def _ends_of_steps(rising: FloatArray, most: int) -> BoolArray:
    """Divide the range of rising values into equal steps; mark the first and last value of each, `most` in all."""
    steps = np.floor((rising - rising[0]) / max(rising[-1] - rising[0], 1e-300) * (most // 2))
    new_step = np.diff(steps) > 0
    return np.append(True, new_step) | np.append(new_step, True)


def of_normal_images(counts: AnomalyCounts, lowest: float) -> AnomalyCounts:
    """Return the counts of normal images alone, with all pixels whose score is below `lowest` at the lowest score."""
    nothing = AnomalyCounts.sum(())
    if not counts.normal_images.size:
        return nothing
    is_normal = counts.image_sizes > 0
    scores, pixels, sizes = counts.scores[is_normal], counts.normal[is_normal], counts.image_sizes[is_normal]
    kept = scores >= lowest
    sizes_below, index = np.unique(sizes[~kept], return_inverse=True)
    pixels_below = np.bincount(index.reshape(-1), pixels[~kept], sizes_below.size).astype(np.int64)
    return replace(
        nothing,
        scores=np.append(scores[kept], np.full(sizes_below.size, scores[-1])),
        normal=np.append(pixels[kept], pixels_below),
        image_sizes=np.append(sizes[kept], sizes_below),
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
        """Return the points to draw of pixels."""
        return self.pixels.line(space)
