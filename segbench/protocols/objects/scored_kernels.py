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

_compiled = compiled(error_model="numpy")

RECALLS = 101
_EPSILON = float(np.spacing(1))  # which pycocotools adds to the number of detections
_ALL = 0  # the range of areas of which areas under curves are measured
_AP, _AP_50, _AP_75, _AP_OF_RANGES, _AR_OF_RANGES, _EXACT, _ACHIEVABLE, _AR = 0, 1, 2, 3, 6, 9, 12, 13
VALUES = 13
"""Values of a class before those of average recall at each limit of detections."""


class Detections(NamedTuple):
    """All detections of a method, class by class, in falling score; of equal score in any order."""

    starts: IntArray  # where the detections of each class start, and in the end their number
    images: IntArray
    groups: IntArray  # of equal score, numbered within each class
    ranks: IntArray
    found: IntArray  # bits, see `ScoredObjectCounts`
    ignored: IntArray


class ByImage(NamedTuple):
    """What each image has: numbers of its detections, rising, and its objects."""

    starts: IntArray  # where those of each image start in `detections`, and in the end their number
    detections: IntArray
    object_starts: IntArray
    object_classes: IntArray
    objects: IntArray  # (entries, ranges)


class Points(NamedTuple):
    """The points of all curves of all images, at which true positives rise, and what is known of each class.

    Of each point the areas are those of its curve up to there, times the number of objects.
    """

    starts: IntArray  # (curves + 1,), curves by class, range and threshold
    groups: IntArray
    tp: IntArray  # cumulative
    fp: IntArray  # cumulative
    fp_before: IntArray  # without those of the same score
    precision: FloatArray
    exact: FloatArray
    hull: FloatArray
    previous: IntArray  # the vertex before this point in the hull up to there, -1 for the origin
    measured: FloatArray  # (curves, 3): AP, exact area and that of the hull
    objects: IntArray  # (classes, ranges)
    needed: IntArray  # (classes, ranges, recalls): true positives that reach each recall
    found: IntArray  # (classes, limits, thresholds): true positives of the range of all areas by limit


class Workspace(NamedTuple):
    """Arrays that are filled again and again with the points of one curve, as in `Points`."""

    points: IntArray  # (4, any): groups, TP, FP, and FP without those of the same score
    precision: FloatArray
    exact: FloatArray
    hull: FloatArray
    previous: IntArray
    read: FloatArray  # precision, made falling, at each recall
    needed: IntArray
    shifts: IntArray  # (3, any): zeros between curves


class Settings(NamedTuple):
    """What curves are of."""

    thresholds: int
    ranges: int
    limits: IntArray  # how many detections of an image count for average recall; the last is all
    recalls: FloatArray


@_compiled
def _workspace(longest: int, recalls: int) -> Workspace:
    """Make the arrays for curves of at most so many points."""
    return Workspace(
        np.zeros((4, longest + 1), np.int64),
        np.zeros(longest + 1),
        np.zeros(longest + 1),
        np.zeros(longest + 1),
        np.zeros(longest + 1, np.int64),
        np.zeros(recalls),
        np.zeros(recalls, np.int64),
        np.zeros((3, longest + 2), np.int64),
    )


@_compiled
def count_points(
    start: int, stop: int, chosen: IntArray, detections: Detections, weights: FloatArray, bit: int, points: IntArray
) -> int:
    """Fill in the points of one curve from detections in their order, and return how many it has.

    `points` has shape (4, any): groups, TP, FP, and FP without those of the same score. `chosen` has the numbers of the
    detections, from `start` to `stop`.
    """
    mask = np.int64(1) << np.int64(bit)
    tp = fp = before = np.int64(0)
    size = 0
    group = np.int64(-1)
    last_tp = np.int64(0)
    for k in range(start, stop):
        detection = chosen[k]
        if detections.groups[detection] != group:
            if tp > last_tp:
                points[0, size], points[1, size], points[2, size], points[3, size] = group, tp, fp, before
                size += 1
                last_tp = tp
            group = detections.groups[detection]
            before = fp
        if detections.found[detection] & mask:
            tp += np.int64(weights[detections.images[detection]])
        elif not detections.ignored[detection] & mask:
            fp += np.int64(weights[detections.images[detection]])
    if tp > last_tp:
        points[0, size], points[1, size], points[2, size], points[3, size] = group, tp, fp, before
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
    needed, read, tp = work.needed, work.read, work.points[1]
    read[:] = 0.0
    place = needed.size - 1
    while place >= 0 and (size == 0 or needed[place] > tp[size - 1]):
        place -= 1
    highest = total = 0.0
    for k in range(size - 1, -1, -1):
        highest = max(highest, work.precision[k])
        below = tp[k - 1] if k else np.int64(-1)
        while place >= 0 and needed[place] > below:
            read[place] = highest
            total += highest
            place -= 1
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
    tp, fp, before = work.points[1], work.points[2], work.points[3]
    a, area = (float(tp[first - 1]), work.exact[first - 1]) if first else (0.0, 0.0)
    for k in range(first, size):
        b = float(tp[k])
        area += _segment(a, float(before[k]), b, float(fp[k]))
        work.exact[k] = area
        a = b
        vertex = k - 1
        while vertex >= 0:
            earlier = work.previous[vertex]
            earlier_tp, earlier_fp = (tp[earlier], fp[earlier]) if earlier >= 0 else (np.int64(0), np.int64(0))
            rise, run = fp[vertex] - earlier_fp, tp[vertex] - earlier_tp
            if (fp[k] - fp[vertex]) * run > rise * (tp[k] - tp[vertex]):
                break
            vertex = earlier
        work.previous[k] = vertex


@_compiled
def _hull_step(work: Workspace, point: int) -> float:
    """Compute the area of the hull from the vertex before a point to that point."""
    tp, fp, vertex = work.points[1], work.points[2], work.previous[point]
    if vertex < 0:
        return _segment(0.0, 0.0, float(tp[point]), float(fp[point]))
    return _segment(float(tp[vertex]), float(fp[vertex]), float(tp[point]), float(fp[point]))


@_compiled
def _hull_area(work: Workspace, first: int, size: int) -> float:
    """Compute the area of the hull; `hull` is known of the points before `first`."""
    total, point = 0.0, size - 1
    while point >= first:
        total += _hull_step(work, point)
        point = work.previous[point]
    return total + (work.hull[point] if point >= 0 else 0.0)


@_compiled
def _measure_points(work: Workspace, first: int, size: int, objects: int, of_all: int, measured: FloatArray) -> None:
    """Fill in AP of the points, and of a curve `of_all` areas also the exact area and that of its hull.

    The first points, up to `first`, are measured already, see `Points`.
    """
    for k in range(first, size):
        tp, fp = float(work.points[1, k]), float(work.points[2, k])
        work.precision[k] = tp / (fp + tp + _EPSILON)
    measured[0] = _interpolated(work, size)
    if of_all:
        _fill_areas(work, first, size)
        measured[1] = area_share(work.exact[size - 1], float(objects)) if size else 0.0
        measured[2] = area_share(_hull_area(work, first, size), float(objects))


@_compiled
def _add_curve(measured: FloatArray, reached: float, area: int, t: int, settings: Settings, values: FloatArray) -> None:
    """Add what was measured of one curve to the metrics of its class, which are sums over thresholds."""
    if area != _ALL:
        values[_AP_OF_RANGES + area - 1] += measured[0]
        values[_AR_OF_RANGES + area - 1] += reached
        return
    values[_AP] += measured[0]
    values[_EXACT] += measured[1]
    values[_ACHIEVABLE] += measured[2]
    values[_AR + settings.limits.size - 1] += reached
    if t == 0:
        values[_AP_50], values[_EXACT + 1] = measured[0], measured[1]
    if 2 * t == settings.thresholds:
        values[_AP_75], values[_EXACT + 2] = measured[0], measured[1]


@_compiled
def _finish_class(values: FloatArray, objects: IntArray, settings: Settings) -> None:
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
def _recall_at_limits(found: IntArray, objects: int, settings: Settings, values: FloatArray) -> None:
    """Add the recall of the first detections of each image, at each limit but the last."""
    for limit in range(settings.limits.size - 1):
        for t in range(settings.thresholds):
            values[_AR + limit] += found[limit, t] / objects


@_compiled
def _add_found(found: IntArray, bits: int, rank: int, weight: int, settings: Settings) -> None:
    """Count a detection among those found at each limit and threshold, as often as its weight says."""
    for limit in range(settings.limits.size - 1):
        if rank < settings.limits[limit]:
            for t in range(settings.thresholds):
                if bits >> np.int64(t) & np.int64(1):
                    found[limit, t] += weight


@_compiled
def measure_class(
    start: int,
    stop: int,
    chosen: IntArray,
    detections: Detections,
    weights: FloatArray,
    objects: IntArray,
    settings: Settings,
    values: FloatArray,
) -> None:
    """Measure a class afresh from its detections, which are `chosen` from `start` to `stop`."""
    work = _workspace(stop - start, settings.recalls.size)
    found = np.zeros((settings.limits.size, settings.thresholds), np.int64)
    measured = np.zeros(3)
    values[:] = 0.0
    for area in range(settings.ranges):
        if objects[area]:
            _needed(objects[area], settings.recalls, work.needed)
            for t in range(settings.thresholds):
                bit = area * settings.thresholds + t
                size = count_points(start, stop, chosen, detections, weights, bit, work.points)
                _measure_points(work, 0, size, objects[area], area == _ALL, measured)
                reached = work.points[1, size - 1] / objects[area] if size else 0.0
                _add_curve(measured, reached, area, t, settings, values)
    if objects[_ALL]:
        for k in range(start, stop):
            weight = np.int64(weights[detections.images[chosen[k]]])
            _add_found(found, detections.found[chosen[k]], detections.ranks[chosen[k]], weight, settings)
        _recall_at_limits(found, objects[_ALL], settings, values)
    _finish_class(values, objects, settings)


@_compiled
def _shift_points(
    curve: int,
    changed: IntArray,
    begin: int,
    end: int,
    detections: Detections,
    weights: FloatArray,
    bit: int,
    base: Points,
    shifts: IntArray,
) -> int:
    """Fill in by how much the points of a curve change with the detections of images of other weights.

    These are `changed` from `begin` to `end`; `shifts` has shape (3, any), and holds zeros. Returns the first point
    that changes, or how many points there are.
    """
    mask = np.int64(1) << np.int64(bit)
    start, last = base.starts[curve], base.starts[curve + 1]
    first = last - start
    low = start
    for k in range(begin, end):
        detection = changed[k]
        is_found = detections.found[detection] & mask
        if not is_found and detections.ignored[detection] & mask:
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
            break  # all others have lower scores than the last that is found
        place = low - start
        first = min(first, place)
        shift = np.int64(weights[detections.images[detection]]) - np.int64(1)
        if is_found:
            shifts[0, place] += shift
        else:
            shifts[1, place] += shift
            shifts[2, place + (base.groups[low] == group)] += shift
    return first


@_compiled
def _shift_curve(curve: int, first: int, base: Points, work: Workspace) -> int:
    """Fill in the points of a curve with their shifts, which become zeros again, and return how many they are.

    Those before `first` are as they were.
    """
    start, last = base.starts[curve], base.starts[curve + 1]
    shifts, points = work.shifts, work.points
    points[1, :first] = base.tp[start : start + first]
    points[2, :first] = base.fp[start : start + first]
    work.precision[:first] = base.precision[start : start + first]
    work.previous[:first] = base.previous[start : start + first]
    work.hull[:first] = base.hull[start : start + first]
    if first:
        work.exact[first - 1] = base.exact[start + first - 1]
    size = first
    more_tp = more_fp = more_before = np.int64(0)
    last_tp = points[1, first - 1] if first else np.int64(0)
    for k in range(first, last - start):
        more_tp += shifts[0, k]
        more_fp += shifts[1, k]
        more_before += shifts[2, k]
        shifts[0, k] = shifts[1, k] = shifts[2, k] = 0
        tp = base.tp[start + k] + more_tp
        if tp > last_tp:
            points[1, size] = last_tp = tp
            points[2, size] = base.fp[start + k] + more_fp
            points[3, size] = base.fp_before[start + k] + more_before
            size += 1
    shifts[2, last - start] = 0
    return size


@_compiled
def points_of_all(detections: Detections, objects: IntArray, settings: Settings) -> Points:
    """Count and measure the points of all curves of all images."""
    classes = detections.starts.size - 1
    curves = settings.ranges * settings.thresholds
    every = np.arange(detections.images.size)
    weights = np.ones(detections.images.max() + 1 if every.size else 1)
    most = longest = 0
    for detection in every:
        bits = detections.found[detection]
        while bits:
            most += bits & 1
            bits >>= 1
    for label in range(classes):
        longest = max(longest, detections.starts[label + 1] - detections.starts[label])
    work = _workspace(longest, settings.recalls.size)
    whole, real = np.zeros((5, most), np.int64), np.zeros((3, most))
    starts = np.zeros(classes * curves + 1, np.int64)
    measured = np.zeros((classes * curves, 3))
    needed = np.zeros((classes, settings.ranges, settings.recalls.size), np.int64)
    found = np.zeros((classes, settings.limits.size, settings.thresholds), np.int64)
    for label in range(classes):
        begin, end = detections.starts[label], detections.starts[label + 1]
        for area in range(settings.ranges):
            if objects[label, area]:
                _needed(objects[label, area], settings.recalls, needed[label, area])
        for bit in range(curves):
            curve, area = label * curves + bit, bit // settings.thresholds
            work.needed[:] = needed[label, area]
            size = count_points(begin, end, every, detections, weights, bit, work.points)
            _measure_points(work, 0, size, max(objects[label, area], 1), area == _ALL, measured[curve])
            for k in range(size if area == _ALL else 0):
                vertex = work.previous[k]
                work.hull[k] = _hull_step(work, k) + (work.hull[vertex] if vertex >= 0 else 0.0)
            into = starts[curve]
            starts[curve + 1] = into + size
            whole[:4, into : into + size] = work.points[:, :size]
            whole[4, into : into + size] = work.previous[:size]
            real[0, into : into + size] = work.precision[:size]
            real[1, into : into + size] = work.exact[:size]
            real[2, into : into + size] = work.hull[:size]
        for k in range(begin, end):
            _add_found(found[label], detections.found[k], detections.ranks[k], 1, settings)
    return Points(
        starts, whole[0], whole[1], whole[2], whole[3], real[0], real[1], real[2], whole[4], measured, objects, needed,
        found,
    )  # fmt: skip


@_compiled
def _measure_changed(
    label: int,
    changed: IntArray,
    begin: int,
    end: int,
    detections: Detections,
    weights: FloatArray,
    base: Points,
    objects: IntArray,
    settings: Settings,
    work: Workspace,
    values: FloatArray,
) -> None:
    """Measure a class by correcting its points for detections of images with other weights."""
    measured = np.zeros(3)
    values[:] = 0.0
    for area in range(settings.ranges):
        if not objects[area]:
            continue
        same_objects = objects[area] == base.objects[label, area]
        if same_objects:
            work.needed[:] = base.needed[label, area]
        else:
            _needed(objects[area], settings.recalls, work.needed)
        for t in range(settings.thresholds):
            bit = area * settings.thresholds + t
            curve = label * settings.ranges * settings.thresholds + bit
            size = base.starts[curve + 1] - base.starts[curve]
            first = _shift_points(curve, changed, begin, end, detections, weights, bit, base, work.shifts)
            if same_objects and first == size:
                reached = base.tp[base.starts[curve + 1] - 1] / objects[area] if size else 0.0
                _add_curve(base.measured[curve], reached, area, t, settings, values)
                continue
            size = _shift_curve(curve, first, base, work)
            _measure_points(work, first, size, objects[area], area == _ALL, measured)
            reached = work.points[1, size - 1] / objects[area] if size else 0.0
            _add_curve(measured, reached, area, t, settings, values)
    if objects[_ALL]:
        found = base.found[label].copy()
        for k in range(begin, end):
            weight = np.int64(weights[detections.images[changed[k]]]) - np.int64(1)
            _add_found(found, detections.found[changed[k]], detections.ranks[changed[k]], weight, settings)
        _recall_at_limits(found, objects[_ALL], settings, values)
    _finish_class(values, objects, settings)


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
def measure_rows(
    rows: FloatArray,
    detections: Detections,
    by_image: ByImage,
    base: Points,
    base_values: FloatArray,
    settings: Settings,
    means: FloatArray,
) -> None:
    """Measure rows of weights of images, (R, images): fill in means over classes, (R, values)."""
    classes = base.objects.shape[0]
    longest = 0
    for curve in range(base.starts.size - 1):
        longest = max(longest, base.starts[curve + 1] - base.starts[curve])
    work = _workspace(longest, settings.recalls.size)
    values = np.zeros_like(base_values)
    objects = np.zeros_like(base.objects)
    is_touched = np.zeros(classes, np.bool_)
    for r in range(rows.shape[0]):
        weights = rows[r]
        changed_images = np.flatnonzero(weights != 1)
        counted_images = np.flatnonzero(weights != 0)
        by_correcting = 2 * changed_images.size <= weights.size and changed_images.size < counted_images.size
        images = changed_images if by_correcting else counted_images
        listed = _listed(images, by_image)
        objects[:] = base.objects if by_correcting else np.zeros_like(base.objects)
        values[:] = base_values
        is_touched[:] = not by_correcting
        for image in images:
            weight = np.int64(weights[image]) - np.int64(by_correcting)
            for entry in range(by_image.object_starts[image], by_image.object_starts[image + 1]):
                is_touched[by_image.object_classes[entry]] = True
                for area in range(settings.ranges):
                    objects[by_image.object_classes[entry], area] += weight * by_image.objects[entry, area]
        begin = 0
        for label in range(classes):
            end = begin
            while end < listed.size and listed[end] < detections.starts[label + 1]:
                end += 1
            if by_correcting and (is_touched[label] or end > begin):
                _measure_changed(
                    label, listed, begin, end, detections, weights, base, objects[label], settings, work,
                    values[label],
                )  # fmt: skip
            elif not by_correcting and not objects[label].any():
                values[label] = np.nan
            elif not by_correcting:
                measure_class(begin, end, listed, detections, weights, objects[label], settings, values[label])
            begin = end
        _mean_over_classes(values, means[r])


@_compiled
def read_precision(
    rows: FloatArray, detections: Detections, objects: FloatArray, bit: int, recalls: FloatArray, heights: FloatArray
) -> None:
    """Fill in precision at each recall of each row of weights, the mean over the classes that have objects.

    `objects` has shape (R, classes).
    """
    classes = detections.starts.size - 1
    every = np.arange(detections.images.size)
    work = _workspace(every.size, recalls.size)
    measured = np.zeros(3)
    for r in range(rows.shape[0]):
        total, defined = np.zeros(recalls.size), 0
        for label in range(classes):
            of_class = np.int64(objects[r, label])
            if of_class:
                begin, end = detections.starts[label], detections.starts[label + 1]
                size = count_points(begin, end, every, detections, rows[r], bit, work.points)
                _needed(of_class, recalls, work.needed)
                _measure_points(work, 0, size, of_class, 0, measured)
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
