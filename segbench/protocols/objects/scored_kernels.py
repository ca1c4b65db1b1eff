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
from segbench.curves.kernels import area_share, hull_vertices, short_segment_area, unless_long

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
    """The points of all curves of all images, at which true positives rise, and the totals of each class."""

    starts: IntArray  # (curves + 1,), curves by class, range and threshold
    groups: IntArray
    tp: IntArray  # cumulative
    fp: IntArray  # cumulative
    fp_before: IntArray  # without those of the same score
    objects: IntArray  # (classes, ranges)
    found: IntArray  # (classes, limits, thresholds): true positives of the range of all areas by limit


class Settings(NamedTuple):
    """What curves are of."""

    thresholds: int
    ranges: int
    limits: IntArray  # how many detections of an image count for average recall; the last is all
    recalls: FloatArray


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
def _interpolated(points: IntArray, size: int, needed: IntArray, read: FloatArray) -> float:
    """Compute AP: fill in precision, made falling, at each recall, and return the mean."""
    read[:] = 0.0
    place = needed.size - 1
    while place >= 0 and (size == 0 or needed[place] > points[1, size - 1]):
        place -= 1
    highest = total = 0.0
    for k in range(size - 1, -1, -1):
        tp, fp = float(points[1, k]), float(points[2, k])
        highest = max(highest, tp / (fp + tp + _EPSILON))
        below = points[1, k - 1] if k else np.int64(-1)
        while place >= 0 and needed[place] > below:
            read[place] = highest
            total += highest
            place -= 1
    return total / needed.size


@_compiled
def _exact_area(points: IntArray, size: int) -> float:
    """Compute the area under the curve of Davis and Goadrich, times the number of objects."""
    total = 0.0
    a = 0.0
    for k in range(size):
        b, g, f = float(points[1, k]), float(points[2, k]), float(points[3, k])
        if a + f == 0.0:
            total += b * (b / (b + g))
        else:
            total += unless_long(short_segment_area(a, f, b, g), a, f, b, g)
        a = b
    return total


@_compiled
def _hull_area(points: IntArray, size: int, chain: IntArray, tp: IntArray, fp: IntArray) -> float:
    """Compute the same of the convex hull."""
    if not size:
        return 0.0
    tp[0] = fp[0] = 0
    for k in range(size):
        tp[k + 1], fp[k + 1] = points[1, k], points[2, k]
    vertices = hull_vertices(tp[: size + 1], fp[: size + 1], chain)
    total = 0.0
    for k in range(1, vertices):
        a, f = float(tp[chain[k - 1]]), float(fp[chain[k - 1]])
        b, g = float(tp[chain[k]]), float(fp[chain[k]])
        if a + f == 0.0:
            total += b * (b / (b + g))
        else:
            total += unless_long(short_segment_area(a, f, b, g), a, f, b, g)
    return total


@_compiled
def _measure_curve(
    points: IntArray,
    size: int,
    objects: int,
    area: int,
    t: int,
    settings: Settings,
    needed: IntArray,
    scratch: tuple[IntArray, IntArray, IntArray, FloatArray],
    values: FloatArray,
) -> None:
    """Add the metrics of one curve to those of its class, which are sums over thresholds."""
    chain, tp, fp, read = scratch
    ap = _interpolated(points, size, needed, read)
    reached = points[1, size - 1] / objects if size else 0.0
    if area != _ALL:
        values[_AP_OF_RANGES + area - 1] += ap
        values[_AR_OF_RANGES + area - 1] += reached
        return
    exact = area_share(_exact_area(points, size), float(objects))
    values[_AP] += ap
    values[_EXACT] += exact
    values[_ACHIEVABLE] += area_share(_hull_area(points, size, chain, tp, fp), float(objects))
    values[_AR + settings.limits.size - 1] += reached
    if t == 0:
        values[_AP_50], values[_EXACT + 1] = ap, exact
    if 2 * t == settings.thresholds:
        values[_AP_75], values[_EXACT + 2] = ap, exact


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
    longest = stop - start
    points = np.zeros((4, longest + 1), np.int64)
    scratch = (np.zeros(longest + 2, np.int64), np.zeros(longest + 2, np.int64), np.zeros(longest + 2, np.int64),
               np.zeros(settings.recalls.size))  # fmt: skip
    needed = np.zeros(settings.recalls.size, np.int64)
    found = np.zeros((settings.limits.size, settings.thresholds), np.int64)
    values[:] = 0.0
    for area in range(settings.ranges):
        if objects[area]:
            _needed(objects[area], settings.recalls, needed)
            for t in range(settings.thresholds):
                size = count_points(start, stop, chosen, detections, weights, area * settings.thresholds + t, points)
                _measure_curve(points, size, objects[area], area, t, settings, needed, scratch, values)
    if objects[_ALL]:
        for k in range(start, stop):
            weight = np.int64(weights[detections.images[chosen[k]]])
            _add_found(found, detections.found[chosen[k]], detections.ranks[chosen[k]], weight, settings)
        _recall_at_limits(found, objects[_ALL], settings, values)
    _finish_class(values, objects, settings)


@_compiled
def _corrected(
    curve: int, changed: IntArray, begin: int, end: int, detections: Detections, weights: FloatArray, bit: int,
    base: Points, points: IntArray, shifts: IntArray,
) -> int:  # fmt: skip
    """Fill in the points of a curve of all images, corrected for the detections of those with other weights.

    These are `changed` from `begin` to `end`; `shifts` has shape (3, any), and holds zeros.
    """
    mask = np.int64(1) << np.int64(bit)
    first, last = base.starts[curve], base.starts[curve + 1]
    for k in range(begin, end):
        detection = changed[k]
        is_found = detections.found[detection] & mask
        if not is_found and detections.ignored[detection] & mask:
            continue
        group = detections.groups[detection]
        shift = np.int64(weights[detections.images[detection]]) - np.int64(1)
        low, high = first, last
        while low < high:  # the first point whose score is not above that of the detection
            middle = (low + high) // 2
            if base.groups[middle] < group:
                low = middle + 1
            else:
                high = middle
        place = low - first
        if is_found:
            shifts[0, place] += shift
        else:
            shifts[1, place] += shift
            shifts[2, place + (low < last and base.groups[low] == group)] += shift
    size = 0
    more_tp = more_fp = more_before = last_tp = np.int64(0)
    for k in range(last - first):
        more_tp += shifts[0, k]
        more_fp += shifts[1, k]
        more_before += shifts[2, k]
        tp = base.tp[first + k] + more_tp
        if tp > last_tp:
            points[1, size] = last_tp = tp
            points[2, size] = base.fp[first + k] + more_fp
            points[3, size] = base.fp_before[first + k] + more_before
            size += 1
    shifts[:, : last - first + 2] = 0
    return size


@_compiled
def points_of_all(detections: Detections, objects: IntArray, settings: Settings) -> Points:
    """Count the points of all curves of all images."""
    classes = detections.starts.size - 1
    curves = settings.ranges * settings.thresholds
    starts = np.zeros(classes * curves + 1, np.int64)
    number = detections.images.size
    every = np.arange(number)
    weights = np.ones(detections.images.max() + 1 if number else 1)
    found = np.zeros((classes, settings.limits.size, settings.thresholds), np.int64)
    most = 0
    for detection in range(number):
        bits = detections.found[detection]
        while bits:
            most += bits & 1
            bits >>= 1
    lists = np.zeros((4, most + 1), np.int64)
    for label in range(classes):
        begin, end = detections.starts[label], detections.starts[label + 1]
        for curve in range(curves):
            into = starts[label * curves + curve]
            size = count_points(begin, end, every, detections, weights, curve, lists[:, into:])
            starts[label * curves + curve + 1] = into + size
        for k in range(begin, end):
            _add_found(found[label], detections.found[k], detections.ranks[k], 1, settings)
    filled = lists[:, : starts[-1]]
    return Points(starts, filled[0].copy(), filled[1].copy(), filled[2].copy(), filled[3].copy(), objects, found)


@_compiled
def _measure_changed(
    label: int, changed: IntArray, begin: int, end: int, detections: Detections, weights: FloatArray, base: Points,
    objects: IntArray, settings: Settings, longest: int, values: FloatArray,
) -> None:  # fmt: skip
    """Measure a class by correcting its points for detections of images with other weights."""
    points, shifts = np.zeros((4, longest + 1), np.int64), np.zeros((3, longest + 2), np.int64)
    scratch = (np.zeros(longest + 2, np.int64), np.zeros(longest + 2, np.int64), np.zeros(longest + 2, np.int64),
               np.zeros(settings.recalls.size))  # fmt: skip
    needed = np.zeros(settings.recalls.size, np.int64)
    curves = settings.ranges * settings.thresholds
    values[:] = 0.0
    for area in range(settings.ranges):
        if objects[area]:
            _needed(objects[area], settings.recalls, needed)
            for t in range(settings.thresholds):
                bit = area * settings.thresholds + t
                size = _corrected(
                    label * curves + bit, changed, begin, end, detections, weights, bit, base, points, shifts
                )
                _measure_curve(points, size, objects[area], area, t, settings, needed, scratch, values)
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
                    label, listed, begin, end, detections, weights, base, objects[label], settings, longest,
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
    points = np.zeros((4, every.size + 1), np.int64)
    needed, read = np.zeros(recalls.size, np.int64), np.zeros(recalls.size)
    for r in range(rows.shape[0]):
        total, defined = np.zeros(recalls.size), 0
        for label in range(classes):
            of_class = np.int64(objects[r, label])
            if of_class:
                size = count_points(
                    detections.starts[label], detections.starts[label + 1], every, detections, rows[r], bit, points
                )
                _needed(of_class, recalls, needed)
                _interpolated(points, size, needed, read)
                total += read
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
