"""The instances of one image to counts of scored objects: IoU of all pairs, and matching by falling score.

Begin with `count_scored`. Matching is that of pycocotools 2.0.11.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from segbench.core.arrays import BoolArray, FloatArray, IntArray
from segbench.core.compiling import kernel
from segbench.core.instances import Instances
from segbench.imaging.run_lengths import Runs, boundaries_of, measure_masks, overlap_boxes, overlap_masks
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


class Shapes(NamedTuple):
    """The masks of one side with their areas and boxes."""

    runs: IntArray
    ends: IntArray
    areas: FloatArray
    boxes: FloatArray


def shapes_of(instances: Instances) -> Shapes:
    """Measure the masks of one side."""
    number = len(instances)
    areas, boxes = np.zeros(number), np.zeros((number, 4))
    measure_masks(instances.runs, instances.ends, instances.size[0], areas, boxes)
    return Shapes(instances.runs, instances.ends, areas, boxes)


def count_scored(truth: Instances, predicted: Instances, rules: Rules) -> ScoredObjectCounts:
    """Count an image."""
    scores = predicted.scores
    if scores is None:
        raise ValueError("inputs have checked that predictions have scores")
    true_shapes, predicted_shapes = shapes_of(truth), shapes_of(predicted)
    true_boxes = _stated_or(truth.boxes, true_shapes.boxes)
    predicted_boxes = _stated_or(predicted.boxes, predicted_shapes.boxes)
    true_areas = np.where(np.isnan(truth.areas), true_shapes.areas, truth.areas)
    # Detections that are boxes alone have no pixels, and the areas of their boxes.
    by_box = (predicted_shapes.areas == 0) | (rules.area == "box")
    predicted_areas = np.where(by_box, predicted_boxes[:, 2] * predicted_boxes[:, 3], predicted_shapes.areas)
    overlap = _Overlaps(truth, predicted, (true_shapes, predicted_shapes), (true_boxes, predicted_boxes), rules)
    is_ignored = truth.crowds | _outside(true_areas)  # (ranges, objects)
    is_outside = _outside(predicted_areas)
    labels = np.union1d(truth.classes, predicted.classes)
    by_score = np.argsort(-scores, kind="stable")  # equal ones in the order of the file
    order, ranks, outcomes = [], [], []
    for label in labels.tolist():
        rows = by_score[predicted.classes[by_score] == label][: rules.max_dets]
        columns = np.flatnonzero(truth.classes == label)
        outcome = np.zeros((2, rows.size), np.int64)
        match_detections(
            overlap.of(rows, columns), truth.crowds[columns], is_ignored[:, columns], is_outside[:, rows], IOU, outcome
        )
        order.append(rows)
        ranks.append(np.arange(rows.size))
        outcomes.append(outcome)
    listed = np.concatenate([np.zeros(0, np.intp), *order])
    found, ignored = np.hstack([np.zeros((2, 0), np.int64), *outcomes])
    counted = [~is_ignored[:, truth.classes == label] for label in labels.tolist()]
    names = {**truth.names, **predicted.names}
    return ScoredObjectCounts(
        labels=labels,
        called=names_as_json(labels.tolist(), [names.get(label, str(label)) for label in labels.tolist()]),
        objects=np.array([of_class.sum(axis=1) for of_class in counted], np.int64).reshape(-1, len(RANGES)),
        detections=np.array([rows.size for rows in order], np.int64),
        scores=scores[listed],
        ranks=np.concatenate([np.zeros(0, np.int64), *ranks]),
        found=found,
        ignored=ignored,
    )


def _stated_or(stated: FloatArray, measured: FloatArray) -> FloatArray:
    """Return the boxes that a file states, and those of masks where it states none."""
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
        predicted: Instances,
        shapes: tuple[Shapes, Shapes],
        boxes: tuple[FloatArray, FloatArray],
        rules: Rules,
    ) -> None:
        self._crowds, self._rules, self._boxes = truth.crowds, rules, boxes
        self._shapes = shapes
        if rules.overlap == "boundary":
            sides = zip((truth, predicted), shapes, strict=True)
            self._boundaries = [_boundary_shapes(side, shape, rules.boundary_ratio) for side, shape in sides]

    def of(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return the overlap of some detections with some objects, shape (detections, objects)."""
        overlaps = np.zeros((rows.size, columns.size))
        if not overlaps.size:
            return overlaps
        true_boxes, predicted_boxes = self._boxes
        if self._rules.overlap == "box":
            overlap_boxes(predicted_boxes, true_boxes, self._crowds, rows, columns, overlaps)
            return overlaps
        true_shapes, predicted_shapes = self._shapes
        overlap_masks(predicted_shapes, true_shapes, self._crowds, rows, columns, overlaps)
        if self._rules.overlap == "boundary":
            true_boundaries, predicted_boundaries = self._boundaries
            of_boundaries = np.zeros_like(overlaps)
            overlap_masks(predicted_boundaries, true_boundaries, self._crowds, rows, columns, of_boundaries)
            overlaps = np.where(self._crowds[columns], overlaps, np.minimum(overlaps, of_boundaries))
        return overlaps


def _boundary_shapes(instances: Instances, shapes: Shapes, ratio: float) -> Shapes:
    """Return the boundaries of the masks of one side, measured."""
    boundaries = boundaries_of(Runs(shapes.runs, shapes.ends), instances.size, shapes.boxes, ratio)
    areas, boxes = np.zeros_like(shapes.areas), np.zeros_like(shapes.boxes)
    measure_masks(boundaries.runs, boundaries.ends, instances.size[0], areas, boxes)
    return Shapes(boundaries.runs, boundaries.ends, areas, boxes)


@kernel
def match_detections(
    overlaps: FloatArray,
    crowds: BoolArray,
    is_ignored: BoolArray,
    is_outside: BoolArray,
    thresholds: FloatArray,
    outcome: IntArray,
) -> None:
    """Match detections in their order at each threshold for each range of areas, and set the bits of their outcome.

    `overlaps` has shape (detections, objects), `is_ignored` (ranges, objects), `is_outside` (ranges, detections), and
    `outcome` (2, detections): found and ignored.
    """
    ranges, objects = is_ignored.shape
    order = np.zeros(objects, np.int64)
    taken = np.zeros(objects, np.bool_)
    for area in range(ranges):
        counted = 0
        for column in range(objects):  # those that count come first
            if not is_ignored[area, column]:
                order[counted] = column
                counted += 1
        last = counted
        for column in range(objects):
            if is_ignored[area, column]:
                order[last] = column
                last += 1
        for t in range(thresholds.size):
            bit = np.int64(1) << np.int64(area * thresholds.size + t)
            taken[:] = False
            for row in range(overlaps.shape[0]):
                best, match = min(thresholds[t], _HIGHEST), -1
                for k in range(objects):
                    column = order[k]
                    if taken[column] and not crowds[column]:
                        continue
                    if match >= 0 and k >= counted and not is_ignored[area, match]:
                        break
                    if overlaps[row, column] >= best:
                        best, match = overlaps[row, column], column
                if match < 0:
                    if is_outside[area, row]:
                        outcome[1, row] |= bit
                    continue
                taken[match] = True
                outcome[1 if is_ignored[area, match] else 0, row] |= bit
