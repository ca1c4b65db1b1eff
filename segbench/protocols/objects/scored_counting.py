"""The instances of one image to counts of scored objects: IoU of all pairs, and matching by falling score.

Begin with `count_scored`. Matching is that of pycocotools 2.0.11.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
    rows, columns, labels = image.rows, image.columns, image.labels
    is_crowd = truth.crowds[columns]
    is_ignored = (truth.crowds | _outside(image.true_areas))[:, columns]  # (ranges, objects)
    is_outside = _outside(image.predicted_areas)[:, rows]
    outcome = np.zeros((2, rows.size), np.int64)
    match_detections((image.blocks, image.overlaps), is_crowd, is_ignored, is_outside, outcome)
    hits = np.zeros(rows.size, np.int64)
    hitting, hit = image.pairs[:, rules.hit(image.overlaps)]
    count_hits(hitting, hit, ~is_crowd, hits)
    detections, objects = image.blocks
    counted = np.zeros((columns.size + 1, len(RANGES)), np.int64)
    np.cumsum(~is_ignored.T, axis=0, out=counted[1:])
    names = {**predicted.names, **truth.names}
    listed = labels.tolist()
    return ScoredObjectCounts.unchecked(
        labels=labels,
        called=names_as_json(listed, [names.get(label, str(label)) for label in listed]),
        objects=np.diff(counted[objects], axis=0),
        detections=np.diff(detections),
        scores=image.scores[rows],
        ranks=image.ranks,
        matched=outcome[0],
        ignored=outcome[1],
        hits=hits,
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
    filled = 0
    for detections, objects in zip(*map(itertools.pairwise, image.blocks.tolist()), strict=True):
        rows, columns = image.rows[slice(*detections)], image.columns[slice(*objects)]
        overlaps = image.overlaps[filled : filled + rows.size * columns.size].reshape(rows.size, columns.size)
        filled += overlaps.size
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
        self.labels = np.union1d(truth.classes, predicted.classes)
        by_score = np.lexsort((-self.scores, predicted.classes))  # equal ones in the order of the file
        starts, ends = _blocks(predicted.classes[by_score], self.labels)
        ranks = np.arange(by_score.size) - np.repeat(starts, ends - starts)
        counts = ranks < rules.max_dets
        self.rows, self.ranks = by_score[counts], ranks[counts]
        """Detections that count, by class and falling score, and their places in their class."""
        self.columns = np.argsort(truth.classes, kind="stable")
        self.blocks = np.zeros((2, self.labels.size + 1), np.int64)
        """Where the detections and objects of each class start, and in the end their number."""
        np.cumsum(np.minimum(ends - starts, rules.max_dets), out=self.blocks[0, 1:])
        self.blocks[1, 1:] = _blocks(truth.classes[self.columns], self.labels)[1]
        self.pairs = _pairs(self.blocks)
        pairs = np.stack([self.rows[self.pairs[0]], self.columns[self.pairs[1]]])
        self.overlaps = _overlaps(truth, (true_masks, predicted_masks), (true_boxes, predicted_boxes), rules, pairs)
        """Of the pairs."""


def _blocks(classes: IntArray, labels: IntArray) -> tuple[IntArray, IntArray]:
    """Return where each label starts and ends among sorted classes."""
    starts, ends = (np.searchsorted(classes, labels, side) for side in ("left", "right"))
    return starts, ends


def _stated_or(stated: FloatArray, measured: FloatArray) -> FloatArray:
    """Return the areas or boxes that a file states, and those of masks where it states none."""
    return np.where(np.isnan(stated), measured, stated)


def _outside(areas: FloatArray) -> BoolArray:
    """Return which areas lie outside of each range, shape (ranges, areas)."""
    least, most = AREA_RANGES.T[:, :, np.newaxis]
    outside: BoolArray = (areas < least) | (areas > most)
    return outside


def _overlaps(
    truth: Instances,
    masks: tuple[MeasuredMasks, MeasuredMasks],
    boxes: tuple[FloatArray, FloatArray],
    rules: Rules,
    pairs: IntArray,
) -> FloatArray:
    """Return the overlap of pairs of a detection and an object, by the rules."""
    true_masks, predicted_masks = masks
    if rules.overlap == "box":
        return overlap_boxes(boxes[1], boxes[0], truth.crowds, pairs)
    overlaps = overlap_masks(predicted_masks, true_masks, truth.crowds, pairs)
    if rules.overlap == "boundary":
        true_boundaries, predicted_boundaries = (
            boundaries_of(side, truth.size, rules.boundary_ratio) for side in masks
        )
        of_boundaries = overlap_masks(predicted_boundaries, true_boundaries, truth.crowds, pairs)
        overlaps = np.where(truth.crowds[pairs[1]], overlaps, np.minimum(overlaps, of_boundaries))
    return overlaps


@kernel
def _pairs(blocks: IntArray) -> NDArray[np.int64]:
    """Return the places of each detection and each object of its class, class by class, shape (2, pairs)."""
    number = 0
    for label in range(blocks.shape[1] - 1):
        number += (blocks[0, label + 1] - blocks[0, label]) * (blocks[1, label + 1] - blocks[1, label])
    pairs = np.zeros((2, number), np.int64)
    filled = 0
    for label in range(blocks.shape[1] - 1):
        for row in range(blocks[0, label], blocks[0, label + 1]):
            for column in range(blocks[1, label], blocks[1, label + 1]):
                pairs[0, filled], pairs[1, filled] = row, column
                filled += 1
    return pairs


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
    pairs: tuple[IntArray, FloatArray],
    crowds: BoolArray,
    is_ignored: BoolArray,
    is_outside: BoolArray,
    outcome: IntArray,
) -> None:
    """Match detections of each class in their order at each threshold for each range of areas: set bits of outcomes.

    `pairs` are the blocks and overlaps of `_MatchedImage`, `is_ignored` has shape (ranges, objects), `is_outside`
    (ranges, detections), and `outcome` (2, detections): matched and ignored.
    """
    blocks, overlaps = pairs
    filled = 0
    for label in range(blocks.shape[1] - 1):
        begin, end = blocks[0, label], blocks[0, label + 1]
        objects = slice(blocks[1, label], blocks[1, label + 1])
        of_class = crowds[objects]
        order = np.zeros(of_class.size, np.int64)
        may_be_taken = np.ones(of_class.size, np.bool_)
        for area in range(is_ignored.shape[0]):
            ignored = is_ignored[area, objects]
            counted = _counted_first(ignored, order)
            for t in range(IOU.size):
                bit = np.int64(1) << np.int64(area * IOU.size + t)
                may_be_taken[:] = True
                for row in range(begin, end):
                    first = filled + (row - begin) * order.size
                    of_row = overlaps[first : first + order.size]
                    match = _best_match(of_row, min(IOU[t], _HIGHEST), order, counted, may_be_taken)
                    if match >= 0:
                        may_be_taken[match] = of_class[match]
                        outcome[int(ignored[match]), row] |= bit
                    elif is_outside[area, row]:
                        outcome[1, row] |= bit
        filled += (end - begin) * order.size
