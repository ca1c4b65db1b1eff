"""Compiled loops from detections to metrics, for all images and where images are left out or resampled.

Imported only where one is called, because Numba is slow to load.

Detections lie class by class in falling score; equal scores of a class form one group, which is one point of a curve.
Of a curve only those points matter at which true positives rise: between them precision falls. A row of weights says
how often each image counts, and its metrics are the means over the classes that have objects then. Where a row leaves
out few images, the points of all images are corrected for these; otherwise detections are counted afresh. Both give
the same numbers, since counts are whole.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import FloatArray, IntArray
from segbench.core.compiling import compiled
from segbench.curves.kernels import area_share, short_segment_area, unless_long
from segbench.protocols.objects.scored_counts import BITS

_compiled = compiled(error_model="numpy")

RECALLS = 101
_EPSILON = float(np.spacing(1))  # which pycocotools adds to the number of detections
_ALL = 0  # the range of areas of which areas under curves are measured
_AP, _AP_50, _AP_75, _AP_OF_RANGES, _AR_OF_RANGES, _EXACT, _ACHIEVABLE, _AR = 0, 1, 2, 3, 6, 9, 12, 13
_OF_RANGE, _OF_ALL = 2, 4  # numbers that are measured of each curve
VALUES = 13
"""Values of a class before those of average recall at each limit of detections."""


class Detections(NamedTuple):
    """All detections of a method, class by class, in falling score; of equal score in any order."""

    starts: IntArray  # where the detections of each class start, and in the end their number
    images: IntArray
    groups: IntArray  # of equal score, numbered within each class
    ranks: IntArray
    matched: IntArray  # bits, see `ScoredObjectCounts`
    ignored: IntArray


class ChosenDetections(NamedTuple):
    """Some detections by their numbers, from `start` to `stop`, and how often each image counts."""

    numbers: IntArray
    start: int
    stop: int
    weights: FloatArray


class ByImage(NamedTuple):
    """What each image has: numbers of its detections, rising, and its objects."""

    starts: IntArray  # where those of each image start in `detections`, and in the end their number
    detections: IntArray
    object_starts: IntArray
    object_classes: IntArray
    objects: IntArray  # (entries, ranges)


class CurvePoints(NamedTuple):
    """The points of all curves of all images, at which true positives rise, and what is known of each class.

    Of each point the areas are those of its curve up to there, times the number of objects.
    """

    starts: IntArray  # (curves + 1,), curves by class, range and threshold
    groups: IntArray
    tp: FloatArray  # cumulative
    fp: FloatArray  # cumulative
    fp_before: FloatArray  # without those of the same score
    precision: FloatArray
    exact: FloatArray
    hull: FloatArray
    previous: IntArray  # the vertex before this point in the hull up to there, -1 for the origin
    measured: FloatArray  # (curves, 4): AP, recall, exact area and that of the hull
    objects: IntArray  # (classes, ranges)
    needed: IntArray  # (classes, ranges, recalls): true positives that reach each recall
    matched: IntArray  # (classes, limits, thresholds): true positives of the range of all areas by limit


class Workspace(NamedTuple):
    """Arrays that are filled again and again with the points of one curve, as in `CurvePoints`."""

    groups: IntArray
    tp: FloatArray  # whole numbers as floats, with which several points are computed at once
    fp: FloatArray
    fp_before: FloatArray
    precision: FloatArray
    short: FloatArray  # areas from the point before, computed as those of short segments
    exact: FloatArray
    hull: FloatArray
    previous: IntArray
    read: FloatArray  # precision, made falling, at each recall
    needed: IntArray
    shifts: FloatArray  # (3, any): zeros between curves


class CurveSettings(NamedTuple):
    """What curves are of."""

    thresholds: int
    ranges: int
    limits: IntArray  # how many detections of an image count for average recall; the last is all
    recalls: FloatArray


class MeasuredMethod(NamedTuple):
    """All that is known of a method before images are left out."""

    detections: Detections
    by_image: ByImage
    points: CurvePoints
    by_class: FloatArray  # (classes, values): the metrics of each class
    settings: CurveSettings


@_compiled
def _workspace(longest: int, recalls: int) -> Workspace:
    """Make the arrays for curves of at most so many points."""
    return Workspace(
        np.zeros(longest + 1, np.int64),
        np.zeros(longest + 1),
        np.zeros(longest + 1),
        np.zeros(longest + 1),
        np.zeros(longest + 1),
        np.zeros(longest + 1),
        np.zeros(longest + 1),
        np.zeros(longest + 1),
        np.zeros(longest + 1, np.int64),
        np.zeros(recalls),
        np.zeros(recalls, np.int64),
        np.zeros((3, longest + 2)),
    )


@_compiled
def _count_points(chosen: ChosenDetections, detections: Detections, bit: int, work: Workspace) -> int:
    """Fill in the points of one curve from detections in their order, and return how many it has."""
    mask = np.int64(1) << np.int64(bit)
    tp = fp = before = last_tp = 0.0
    size = 0
    group = np.int64(-1)
    for k in range(chosen.start, chosen.stop):
        detection = chosen.numbers[k]
        weight = chosen.weights[detections.images[detection]]
        if detections.groups[detection] != group:
            if tp > last_tp:
                work.groups[size], work.tp[size], work.fp[size], work.fp_before[size] = group, tp, fp, before
                size += 1
                last_tp = tp
            group = detections.groups[detection]
            before = fp
        if detections.matched[detection] & mask:
            tp += weight
        elif not detections.ignored[detection] & mask:
            fp += weight
    if tp > last_tp:
        work.groups[size], work.tp[size], work.fp[size], work.fp_before[size] = group, tp, fp, before
        size += 1
    return size


@_compiled
def _needed(objects: int, recalls: FloatArray, needed: IntArray) -> None:
    """Fill in how many true positives reach each recall, compared as floats."""
    for k in range(recalls.size):
        least = np.int64(recalls[k] * objects)
        while least > 0 and (least - 1) / objects >= recalls[k]:
            least -= 1
        while least / objects < recalls[k]:
            least += 1
        needed[k] = least


@_compiled
def _interpolated(work: Workspace, size: int) -> float:
    """Compute AP of the points: fill in precision, made falling, at each recall, and return the mean."""
    needed, read, tp = work.needed, work.read, work.tp
    read[:] = 0.0
    position = needed.size - 1
    while position >= 0 and (size == 0 or needed[position] > tp[size - 1]):
        position -= 1
    highest = total = 0.0
    for k in range(size - 1, -1, -1):
        highest = max(highest, work.precision[k])
        below = tp[k - 1] if k else -1.0
        while position >= 0 and needed[position] > below:
            read[position] = highest
            total += highest
            position -= 1
    return total / needed.size


@_compiled
def _segment(a: float, f: float, b: float, g: float) -> float:
    """Compute the area from one point to the next, times the number of objects."""
    if a + f == 0.0:
        return b * (b / (b + g))
    return unless_long(short_segment_area(a, f, b, g), a, f, b, g)


@_compiled
def _fill_areas(work: Workspace, first: int, size: int) -> None:
    """Fill in exact areas, and the chain of the hull, from the point `first` on; those before it are known.

    The hull up to a point ends there, so each point but the first continues the hull up to the point before it.
    """
    tp, fp, before, short = work.tp, work.fp, work.fp_before, work.short
    for k in range(max(first, 1), size):  # without a branch
        short[k] = short_segment_area(tp[k - 1], before[k], tp[k], fp[k])
    area = work.exact[first - 1] if first else 0.0
    for k in range(first, size):
        if k == 0:
            area += _segment(0.0, before[0], tp[0], fp[0])
        else:
            area += unless_long(short[k], tp[k - 1], before[k], tp[k], fp[k])
        work.exact[k] = area
        vertex = k - 1
        while vertex >= 0:
            earlier = work.previous[vertex]
            earlier_tp, earlier_fp = (tp[earlier], fp[earlier]) if earlier >= 0 else (0.0, 0.0)
            rise, run = fp[vertex] - earlier_fp, tp[vertex] - earlier_tp
            if (fp[k] - fp[vertex]) * run > rise * (tp[k] - tp[vertex]):
                break
            vertex = earlier
        work.previous[k] = vertex


@_compiled
def _hull_step(work: Workspace, point: int) -> float:
    """Compute the area of the hull from the vertex before a point to that point."""
    tp, fp, vertex = work.tp, work.fp, work.previous[point]
    if vertex < 0:
        return _segment(0.0, 0.0, tp[point], fp[point])
    return _segment(tp[vertex], fp[vertex], tp[point], fp[point])


@_compiled
def _hull_area(work: Workspace, first: int, size: int) -> float:
    """Compute the area of the hull; `hull` is known of the points before `first`."""
    total, point = 0.0, size - 1
    while point >= first:
        total += _hull_step(work, point)
        point = work.previous[point]
    return total + (work.hull[point] if point >= 0 else 0.0)


@_compiled
def _measure_points(work: Workspace, first: int, size: int, objects: int, measured: FloatArray) -> None:
    """Fill in AP and recall of the points; where there is room in `measured` also the exact area and that of the hull.

    The first points, up to `first`, are measured already, see `CurvePoints`.
    """
    tp, fp, precision = work.tp, work.fp, work.precision
    for k in range(first, size):
        precision[k] = tp[k] / (fp[k] + tp[k] + _EPSILON)
    measured[0] = _interpolated(work, size)
    measured[1] = tp[size - 1] / objects if size else 0.0
    if measured.size > _OF_RANGE:
        _fill_areas(work, first, size)
        measured[2] = area_share(work.exact[size - 1], float(objects)) if size else 0.0
        measured[3] = area_share(_hull_area(work, first, size), float(objects))


@_compiled
def _add_curve(measured: FloatArray, bit: int, settings: CurveSettings, values: FloatArray) -> None:
    """Add what was measured of one curve to the metrics of its class, which are sums over thresholds."""
    area, t = bit // settings.thresholds, bit % settings.thresholds
    if area != _ALL:
        values[_AP_OF_RANGES + area - 1] += measured[0]
        values[_AR_OF_RANGES + area - 1] += measured[1]
        return
    values[_AP] += measured[0]
    values[_AR + settings.limits.size - 1] += measured[1]
    values[_EXACT] += measured[2]
    values[_ACHIEVABLE] += measured[3]
    if t == 0:
        values[_AP_50], values[_EXACT + 1] = measured[0], measured[2]
    if 2 * t == settings.thresholds:
        values[_AP_75], values[_EXACT + 2] = measured[0], measured[2]


@_compiled
def _finish_class(values: FloatArray, objects: IntArray, settings: CurveSettings) -> None:
    """Turn sums over thresholds into means; nan where the class has no objects."""
    for k in range(values.size):
        area = _ALL
        if _AP_OF_RANGES <= k < _EXACT:
            area = (k - _AP_OF_RANGES) % 3 + 1
        if objects[area] == 0:
            values[k] = np.nan
        elif k not in (_AP_50, _AP_75, _EXACT + 1, _EXACT + 2):
            values[k] /= settings.thresholds


@_compiled
def _recall_at_limits(matched: IntArray, objects: int, settings: CurveSettings, values: FloatArray) -> None:
    """Add the recall of the first detections of each image, at each limit but the last."""
    for limit in range(settings.limits.size - 1 if objects else 0):
        for t in range(settings.thresholds):
            values[_AR + limit] += matched[limit, t] / objects


@_compiled
def _add_matched(matched: IntArray, bits: int, rank: int, weight: int, settings: CurveSettings) -> None:
    """Count a detection among those matched at each limit and threshold, as often as its weight says."""
    for limit in range(settings.limits.size - 1):
        if rank < settings.limits[limit]:
            for t in range(settings.thresholds):
                if bits >> np.int64(t) & np.int64(1):
                    matched[limit, t] += weight


@_compiled
def measure_class(
    chosen: ChosenDetections, detections: Detections, objects: IntArray, settings: CurveSettings
) -> FloatArray:
    """Measure a class afresh from its detections."""
    work = _workspace(chosen.stop - chosen.start, settings.recalls.size)
    matched = np.zeros((settings.limits.size, settings.thresholds), np.int64)
    measured = np.zeros(_OF_ALL)
    values = np.zeros(VALUES + settings.limits.size)
    for area in range(settings.ranges):
        if objects[area]:
            _needed(objects[area], settings.recalls, work.needed)
            for bit in range(area * settings.thresholds, (area + 1) * settings.thresholds):
                size = _count_points(chosen, detections, bit, work)
                _measure_points(work, 0, size, objects[area], measured[: _OF_RANGE if area else _OF_ALL])
                _add_curve(measured, bit, settings, values)
    for k in range(chosen.start, chosen.stop):
        detection = chosen.numbers[k]
        weight = np.int64(chosen.weights[detections.images[detection]])
        _add_matched(matched, detections.matched[detection], detections.ranks[detection], int(weight), settings)
    _recall_at_limits(matched, objects[_ALL], settings, values)
    _finish_class(values, objects, settings)
    return values


@_compiled
def _shift_points(
    curve: int, changed: ChosenDetections, detections: Detections, base: CurvePoints, shifts: FloatArray
) -> int:
    """Fill in by how much the points of a curve change with detections of images of other weights.

    `shifts` has shape (3, any), and holds zeros. Returns the first point that changes, or how many points there are.
    """
    mask = np.int64(1) << np.int64(curve % BITS)
    start, last = base.starts[curve], base.starts[curve + 1]
    first = last - start
    low = start
    for k in range(changed.start, changed.stop):
        detection = changed.numbers[k]
        is_matched = detections.matched[detection] & mask
        if not is_matched and detections.ignored[detection] & mask:
            continue
        group = detections.groups[detection]
        high = last
        while low < high:  # the first point whose score is not above that of the detection; those before were higher
            middle = (low + high) // 2
            if base.groups[middle] < group:
                low = middle + 1
            else:
                high = middle
        if low == last:
            break  # all others have lower scores than the last that is matched
        position = low - start
        first = min(first, position)
        shift = changed.weights[detections.images[detection]] - 1.0
        if is_matched:
            shifts[0, position] += shift
        else:
            shifts[1, position] += shift
            shifts[2, position + (base.groups[low] == group)] += shift
    return first


@_compiled
def _shift_curve(curve: int, first: int, base: CurvePoints, work: Workspace) -> int:
    """Fill in the points of a curve with their shifts, which become zeros again, and return how many they are.

    Those before `first` are as they were.
    """
    start, last = base.starts[curve], base.starts[curve + 1]
    shifts = work.shifts
    work.tp[:first] = base.tp[start : start + first]
    work.fp[:first] = base.fp[start : start + first]
    work.precision[:first] = base.precision[start : start + first]
    work.previous[:first] = base.previous[start : start + first]
    work.hull[:first] = base.hull[start : start + first]
    if first:
        work.exact[first - 1] = base.exact[start + first - 1]
    size = first
    more_tp = more_fp = more_before = last_tp = 0.0
    if first:
        last_tp = work.tp[first - 1]
    for k in range(first, last - start):
        more_tp += shifts[0, k]
        more_fp += shifts[1, k]
        more_before += shifts[2, k]
        shifts[0, k] = shifts[1, k] = shifts[2, k] = 0
        tp = base.tp[start + k] + more_tp
        if tp > last_tp:
            work.tp[size] = last_tp = tp
            work.fp[size] = base.fp[start + k] + more_fp
            work.fp_before[size] = base.fp_before[start + k] + more_before
            size += 1
    shifts[2, last - start] = 0
    return size


@_compiled
def points_of_all(detections: Detections, objects: IntArray, settings: CurveSettings) -> CurvePoints:
    """Count and measure the points of all curves of all images."""
    classes = detections.starts.size - 1
    curves = settings.ranges * settings.thresholds
    every = np.arange(detections.images.size)
    weights = np.ones(detections.images.max() + 1 if every.size else 1)
    most = longest = 0
    for detection in every:
        bits = detections.matched[detection]
        while bits:
            most += bits & 1
            bits >>= 1
    for label in range(classes):
        longest = max(longest, detections.starts[label + 1] - detections.starts[label])
    work = _workspace(longest, settings.recalls.size)
    whole, real = np.zeros((2, most), np.int64), np.zeros((6, most))
    starts = np.zeros(classes * curves + 1, np.int64)
    measured = np.zeros((classes * curves, _OF_ALL))
    needed = np.zeros((classes, settings.ranges, settings.recalls.size), np.int64)
    matched = np.zeros((classes, settings.limits.size, settings.thresholds), np.int64)
    for label in range(classes):
        begin, end = detections.starts[label], detections.starts[label + 1]
        for area in range(settings.ranges):
            if objects[label, area]:
                _needed(objects[label, area], settings.recalls, needed[label, area])
        for bit in range(curves):
            curve, area = label * curves + bit, bit // settings.thresholds
            work.needed[:] = needed[label, area]
            size = _count_points(ChosenDetections(every, begin, end, weights), detections, bit, work)
            of_curve = measured[curve, : _OF_RANGE if area else _OF_ALL]
            _measure_points(work, 0, size, max(objects[label, area], 1), of_curve)
            for k in range(size if area == _ALL else 0):
                vertex = work.previous[k]
                work.hull[k] = _hull_step(work, k) + (work.hull[vertex] if vertex >= 0 else 0.0)
            into = starts[curve]
            starts[curve + 1] = into + size
            stop = into + size
            whole[0, into:stop], whole[1, into:stop] = work.groups[:size], work.previous[:size]
            real[0, into:stop], real[1, into:stop] = work.tp[:size], work.fp[:size]
            real[2, into:stop], real[3, into:stop] = work.fp_before[:size], work.precision[:size]
            real[4, into:stop], real[5, into:stop] = work.exact[:size], work.hull[:size]
        for k in range(begin, end):
            _add_matched(matched[label], detections.matched[k], detections.ranks[k], 1, settings)
    return CurvePoints(
        starts, whole[0], real[0], real[1], real[2], real[3], real[4], real[5], whole[1], measured, objects, needed,
        matched,
    )  # fmt: skip


@_compiled
def _measure_changed(
    label: int, changed: ChosenDetections, objects: IntArray, method: MeasuredMethod, work: Workspace
) -> FloatArray:
    """Measure a class by correcting its points for detections of images with other weights."""
    detections, _, base, _, settings = method
    measured = np.zeros(_OF_ALL)
    values = np.zeros(VALUES + settings.limits.size)
    for area in range(settings.ranges):
        if not objects[area]:
            continue
        same_objects = objects[area] == base.objects[label, area]
        if same_objects:
            work.needed[:] = base.needed[label, area]
        else:
            _needed(objects[area], settings.recalls, work.needed)
        for bit in range(area * settings.thresholds, (area + 1) * settings.thresholds):
            curve = label * BITS + bit
            first = _shift_points(curve, changed, detections, base, work.shifts)
            if same_objects and first == base.starts[curve + 1] - base.starts[curve]:
                _add_curve(base.measured[curve], bit, settings, values)
                continue
            size = _shift_curve(curve, first, base, work)
            _measure_points(work, first, size, objects[area], measured[: _OF_RANGE if area else _OF_ALL])
            _add_curve(measured, bit, settings, values)
    matched = base.matched[label].copy()
    for k in range(changed.start, changed.stop):
        detection = changed.numbers[k]
        weight = np.int64(changed.weights[detections.images[detection]]) - np.int64(1)
        _add_matched(matched, detections.matched[detection], detections.ranks[detection], int(weight), settings)
    _recall_at_limits(matched, objects[_ALL], settings, values)
    _finish_class(values, objects, settings)
    return values


@_compiled
def _mean_over_classes(values: FloatArray, means: FloatArray) -> None:
    """Average each metric over the classes that have it."""
    for k in range(values.shape[1]):
        total, defined = 0.0, 0
        for label in range(values.shape[0]):
            if not np.isnan(values[label, k]):
                total += values[label, k]
                defined += 1
        means[k] = total / defined if defined else np.nan


@_compiled
def _listed(images: IntArray, by_image: ByImage) -> IntArray:
    """Return the numbers of the detections of some images, rising, which is class by class in falling score."""
    number = 0
    for image in images:
        number += by_image.starts[image + 1] - by_image.starts[image]
    listed = np.zeros(number, np.int64)
    filled = 0
    for image in images:
        for k in range(by_image.starts[image], by_image.starts[image + 1]):
            listed[filled] = by_image.detections[k]
            filled += 1
    listed.sort()
    return listed


@_compiled
def _objects_of_row(
    weights: FloatArray, images: IntArray, by_image: ByImage, objects: IntArray, is_touched: NDArray[np.bool_]
) -> None:
    """Add the objects of some images, as often as weights say, to those of classes, and mark their classes."""
    for image in images:
        for row in range(by_image.object_starts[image], by_image.object_starts[image + 1]):
            label = by_image.object_classes[row]
            is_touched[label] = True
            for area in range(objects.shape[1]):
                objects[label, area] += np.int64(weights[image]) * by_image.objects[row, area]


@_compiled
def _measure_row(weights: FloatArray, method: MeasuredMethod, work: Workspace, values: FloatArray) -> None:
    """Measure one row of weights: fill in the metrics of each class, (classes, values)."""
    detections, by_image, base, by_class, settings = method
    changed_images, counted_images = np.flatnonzero(weights != 1), np.flatnonzero(weights != 0)
    by_correcting = 2 * changed_images.size <= weights.size and changed_images.size < counted_images.size
    images = changed_images if by_correcting else counted_images
    listed = _listed(images, by_image)
    is_touched = np.zeros(values.shape[0], np.bool_)
    if by_correcting:
        values[:] = by_class
        objects = base.objects.copy()
        _objects_of_row(weights - 1, images, by_image, objects, is_touched)
    else:
        values[:] = np.nan
        objects = np.zeros_like(base.objects)
        _objects_of_row(weights, images, by_image, objects, is_touched)
    begin = 0
    for label in range(values.shape[0]):
        end = begin
        while end < listed.size and listed[end] < detections.starts[label + 1]:
            end += 1
        chosen = ChosenDetections(listed, begin, end, weights)
        if by_correcting and (is_touched[label] or end > begin):
            values[label] = _measure_changed(label, chosen, objects[label], method, work)
        elif not by_correcting and is_touched[label]:
            values[label] = measure_class(chosen, detections, objects[label], settings)
        begin = end


@_compiled
def measure_rows(rows: FloatArray, method: MeasuredMethod, means: FloatArray) -> None:
    """Measure rows of weights of images, (R, images): fill in means over classes, (R, values)."""
    longest = 0
    for curve in range(method.points.starts.size - 1):
        longest = max(longest, method.points.starts[curve + 1] - method.points.starts[curve])
    work = _workspace(longest, method.settings.recalls.size)
    values = np.zeros_like(method.by_class)
    for r in range(rows.shape[0]):
        _measure_row(rows[r], method, work, values)
        _mean_over_classes(values, means[r])


@_compiled
def read_precision(
    rows: FloatArray, detections: Detections, objects: FloatArray, recalls: FloatArray, heights: FloatArray
) -> None:
    """Fill in precision at each recall at IoU .5 of each row of weights, the mean over the classes that have objects.

    `objects` has shape (R, classes).
    """
    classes = detections.starts.size - 1
    every = np.arange(detections.images.size)
    work = _workspace(every.size, recalls.size)
    measured = np.zeros(_OF_RANGE)
    for r in range(rows.shape[0]):
        total, defined = np.zeros(recalls.size), 0
        for label in range(classes):
            of_class = int(objects[r, label])
            if of_class:
                begin, end = detections.starts[label], detections.starts[label + 1]
                size = _count_points(ChosenDetections(every, begin, end, rows[r]), detections, 0, work)
                _needed(of_class, recalls, work.needed)
                _measure_points(work, 0, size, of_class, measured)
                total += work.read
                defined += 1
        if defined:
            heights[r] = total / defined
        else:
            heights[r] = np.nan


@_compiled
def number_groups(scores: FloatArray, starts: NDArray[np.int64], groups: NDArray[np.int64]) -> None:
    """Number equal scores within each class, from 0."""
    for label in range(starts.size - 1):
        group = np.int64(0)
        for k in range(starts[label], starts[label + 1]):
            if k > starts[label] and scores[k] != scores[k - 1]:
                group += 1
            groups[k] = group
