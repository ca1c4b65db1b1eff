"""The instances of one image to counts of scored objects: IoU of all pairs, and matching by falling score.

Begin with `count_scored`. Matching is that of pycocotools 2.0.11.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from segbench.core.arrays import BoolArray, FloatArray, IntArray
from segbench.core.compiling import kernel
from segbench.core.instances import Instances, Runs
from segbench.imaging.run_lengths import (
    MeasuredMasks,
    boundaries_of,
    measured_masks,
    overlap_boxes,
    overlap_masks,
)
from segbench.protocols.objects.froc_kernels import count_hits
from segbench.protocols.objects.scored_counts import RANGES, THRESHOLDS, ScoredObjectCounts, names_as_json

Overlap = Literal["mask", "box", "boundary"]
AreaOf = Literal["mask", "box"]

IOU = np.linspace(0.5, 0.95, THRESHOLDS)
"""The thresholds of IoU, as pycocotools has them: .55 and others differ from the decimals in the last digit."""
AREA_RANGES = np.array([[0, 1e10], [0, 32**2], [32**2, 96**2], [96**2, 1e10]])
"""The least and largest area of each range, in pixels; both belong to it."""
_HIGHEST = 1 - 1e-10  # below 1, so that an IoU of 1 is reached whatever its rounding


@dataclass(frozen=True)
class Rules:
    """What decides counts of scored objects: settings of the protocol."""

    overlap: Overlap = "mask"
    area: AreaOf = "mask"
    max_dets: int = 100
    boundary_ratio: float = 0.02
    hit_iou: float = 0.0  # 0: one common pixel

    def hit(self, overlaps: FloatArray) -> BoolArray:
        """Return which overlaps are hits, as FROC counts them."""
        hits: BoolArray = overlaps >= self.hit_iou if self.hit_iou else overlaps > 0
        return hits


def count_scored(truth: Instances, predicted: Instances, rules: Rules) -> ScoredObjectCounts:
    """Count an image."""
    image = _MatchedImage(truth, predicted, rules)
    scores, labels = image.scores, image.labels
    is_ignored = truth.crowds | _outside(image.true_areas)  # (ranges, objects)
    is_outside = _outside(image.predicted_areas)
    order, ranks, outcomes, hits = [], [], [], []
    for label in labels.tolist():
        rows, columns = image.of_class(label)
        outcome = np.zeros((2, rows.size), np.int64)
        overlaps = image.overlaps.of(rows, columns)
        match_detections(overlaps, truth.crowds[columns], is_ignored[:, columns], is_outside[:, rows], outcome)
        hits.append(np.zeros(rows.size, np.int64))
        hitting, hit = np.nonzero(rules.hit(overlaps))
        count_hits(hitting, hit, ~truth.crowds[columns], hits[-1])
        order.append(rows)
        ranks.append(np.arange(rows.size))
        outcomes.append(outcome)
    listed = np.concatenate([np.zeros(0, np.intp), *order])
    matched, ignored = np.hstack([np.zeros((2, 0), np.int64), *outcomes])
    counted = [~is_ignored[:, truth.classes == label] for label in labels.tolist()]
    names = {**predicted.names, **truth.names}
    return ScoredObjectCounts.unchecked(
        labels=labels,
        called=names_as_json(labels.tolist(), [names.get(label, str(label)) for label in labels.tolist()]),
        objects=np.array([of_class.sum(axis=1) for of_class in counted], np.int64).reshape(-1, len(RANGES)),
        detections=np.array([rows.size for rows in order], np.int64),
        scores=scores[listed],
        ranks=np.concatenate([np.zeros(0, np.int64), *ranks]),
        matched=matched,
        ignored=ignored,
        hits=np.concatenate([np.zeros(0, np.int64), *hits]),
    )


class DetectionMatch(NamedTuple):
    """A detection at IoU .5: the object that it takes, -1 if none, and how much it overlaps that."""

    detection: int
    taken: int
    overlap: float


def match_at_half(truth: Instances, predicted: Instances, rules: Rules) -> list[DetectionMatch]:
    """Match the detections that count at IoU .5, whatever their area, by falling score over all classes."""
    image = _MatchedImage(truth, predicted, rules)
    matches = []
    for label in image.labels.tolist():
        rows, columns = image.of_class(label)
        overlaps = image.overlaps.of(rows, columns)
        crowds = truth.crowds[columns]
        order = np.zeros(columns.size, np.int64)
        counted = _counted_first(crowds, order)
        may_be_taken = np.ones(columns.size, np.bool_)
        for row, detection in enumerate(rows.tolist()):
            taken = _best_match(overlaps[row], IOU[0], order, counted, may_be_taken)
            if taken >= 0:
                may_be_taken[taken] = crowds[taken]
            matched = (int(columns[taken]), float(overlaps[row, taken])) if taken >= 0 else (-1, 0.0)
            matches.append(DetectionMatch(detection, *matched))
    by_score = -image.scores[[match.detection for match in matches]]
    return [matches[k] for k in np.argsort(by_score, kind="stable").tolist()]


class _MatchedImage:
    """What matching takes of both sides of an image."""

    def __init__(self, truth: Instances, predicted: Instances, rules: Rules) -> None:
        if predicted.scores is None:
            raise ValueError("inputs have checked that predictions have scores")
        self.scores = predicted.scores
        true_masks, predicted_masks = (
            measured_masks(Runs(side.runs, side.ends), side.size[0]) for side in (truth, predicted)
        )
        true_boxes = _stated_or(truth.boxes, true_masks.boxes)
        predicted_boxes = _stated_or(predicted.boxes, predicted_masks.boxes)
        self.true_areas = _stated_or(truth.areas, true_masks.areas)
        if rules.area == "box":
            self.predicted_areas = predicted_boxes[:, 2] * predicted_boxes[:, 3]
        else:
            self.predicted_areas = _stated_or(predicted.areas, predicted_masks.areas)
        self.overlaps = _Overlaps(truth, (true_masks, predicted_masks), (true_boxes, predicted_boxes), rules)
        self.labels = np.union1d(truth.classes, predicted.classes)
        self._by_score = np.argsort(-self.scores, kind="stable")  # equal ones in the order of the file
        self._true_classes, self._classes, self._max_dets = truth.classes, predicted.classes, rules.max_dets

    def of_class(self, label: int) -> tuple[IntArray, IntArray]:
        """Return the detections of a class that count, by falling score, and its objects."""
        rows = self._by_score[self._classes[self._by_score] == label][: self._max_dets]
        return rows, np.flatnonzero(self._true_classes == label)


def _stated_or(stated: FloatArray, measured: FloatArray) -> FloatArray:
    """Return the areas or boxes that a file states, and those of masks where it states none."""
    return np.where(np.isnan(stated), measured, stated)


def _outside(areas: FloatArray) -> BoolArray:
    """Return which areas lie outside of each range, shape (ranges, areas)."""
    least, most = AREA_RANGES.T[:, :, np.newaxis]
    outside: BoolArray = (areas < least) | (areas > most)
    return outside


class _Overlaps:
    """How much detections overlap true objects, by the rules."""

    def __init__(
        self,
        truth: Instances,
        masks: tuple[MeasuredMasks, MeasuredMasks],
        boxes: tuple[FloatArray, FloatArray],
        rules: Rules,
    ) -> None:
        self._crowds, self._overlap, self._masks, self._boxes = truth.crowds, rules.overlap, masks, boxes
        if rules.overlap == "boundary":
            self._boundaries = [boundaries_of(side, truth.size, rules.boundary_ratio) for side in masks]

    def of(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return the overlap of some detections with some objects, shape (detections, objects)."""
        true_masks, predicted_masks = self._masks
        true_boxes, predicted_boxes = self._boxes
        if self._overlap == "box":
            return overlap_boxes(predicted_boxes, true_boxes, self._crowds, rows, columns)
        overlaps = overlap_masks(predicted_masks, true_masks, self._crowds, rows, columns)
        if self._overlap == "boundary":
            true_boundaries, predicted_boundaries = self._boundaries
            of_boundaries = overlap_masks(predicted_boundaries, true_boundaries, self._crowds, rows, columns)
            overlaps = np.where(self._crowds[columns], overlaps, np.minimum(overlaps, of_boundaries))
        return overlaps


@kernel
def _counted_first(is_ignored: BoolArray, order: IntArray) -> int:
    """Fill in the order in which objects are tried, those that count first, and return how many these are."""
    filled = 0
    for ignored in (False, True):
        for column in range(is_ignored.size):
            if is_ignored[column] == ignored:
                order[filled] = column
                filled += 1
    return is_ignored.size - int(is_ignored.sum())


@kernel
def _best_match(overlaps: FloatArray, least: float, order: IntArray, counted: int, may_be_taken: BoolArray) -> int:
    """Return the object that a detection takes, or -1: the last of largest overlap, ignored ones if no other."""
    best, match = least, -1
    for k in range(order.size):
        if k == counted and match >= 0:
            break
        column = order[k]
        if may_be_taken[column] and overlaps[column] >= best:
            best, match = overlaps[column], column
    return match


@kernel
def match_detections(
    overlaps: FloatArray, crowds: BoolArray, is_ignored: BoolArray, is_outside: BoolArray, outcome: IntArray
) -> None:
    """Match detections in their order at each threshold for each range of areas, and set the bits of their outcome.

    `overlaps` has shape (detections, objects), `is_ignored` (ranges, objects), `is_outside` (ranges, detections), and
    `outcome` (2, detections): matched and ignored.
    """
    ranges, objects = is_ignored.shape
    order = np.zeros(objects, np.int64)
    may_be_taken = np.ones(objects, np.bool_)
    for area in range(ranges):
        counted = _counted_first(is_ignored[area], order)
        for t in range(IOU.size):
            bit = np.int64(1) << np.int64(area * IOU.size + t)
            may_be_taken[:] = True
            for row in range(overlaps.shape[0]):
                match = _best_match(overlaps[row], min(IOU[t], _HIGHEST), order, counted, may_be_taken)
                if match >= 0:
                    may_be_taken[match] = crowds[match]
                    outcome[int(is_ignored[area, match]), row] |= bit
                elif is_outside[area, row]:
                    outcome[1, row] |= bit
