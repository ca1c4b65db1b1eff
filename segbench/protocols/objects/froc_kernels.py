"""Compiled loops of FROC: what detections hit, and sensitivity at rates of false detections for rows of weights.

Imported only where one is called, because Numba is slow to load.

Detections lie class by class in falling score; equal scores of a class form one group, which is one point of a curve.
A row of weights says how often each image counts. Where a row leaves out few images, the points of all images are
corrected for these; otherwise detections are counted afresh, as far as the highest rate. Both give the same numbers,
since counts are whole.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from segbench.core.arrays import BoolArray, FloatArray, IntArray
from segbench.core.compiling import compiled

_compiled = compiled(error_model="numpy")

_FALSE = 0
_FURTHER = 1


class RankedHits(NamedTuple):
    """All detections of a method, class by class, in falling score; of equal score in any order."""

    starts: IntArray  # where the detections of each class start, and in the end their number
    images: IntArray
    groups: IntArray  # of equal score, numbered within each class
    hits: IntArray  # see `count_hits`


class FrocPoints(NamedTuple):
    """Objects found and false detections of all images from the highest score to that of each group, class by class."""

    starts: IntArray  # where the points of each class start, and in the end their number
    detected: FloatArray
    false: FloatArray


class FrocSettings(NamedTuple):
    """Where curves are read: rising rates of false detections per image, and whether between points, too."""

    rates: FloatArray
    interpolates: bool


class ObjectsByImage(NamedTuple):
    """How many objects each image has of classes, how many images were added up to it, and both of all together."""

    starts: IntArray  # where the entries of each image start, and in the end their number
    classes: IntArray
    objects: IntArray
    images: IntArray
    all_objects: FloatArray  # (classes,)
    all_images: float


class CountedDetections(NamedTuple):
    """All that is known of a method before images are left out."""

    objects: ObjectsByImage
    ranked: RankedHits
    image_starts: IntArray  # where the detections of each image start in `of_images`, and in the end their number
    of_images: IntArray  # the numbers of the detections of each image, rising
    points: FrocPoints


@_compiled
def count_hits(detections: IntArray, objects: IntArray, is_counted: BoolArray, hits: IntArray) -> None:
    """Fill in what detections hit, from the pairs of a detection and an object that it hits.

    Detections are numbered by falling score. A detection has 0 if it is false, 1 if it hits nothing that is not hit by
    an earlier one, or that does not count, and n + 1 if it is the first to hit n objects.
    """
    first = np.full(is_counted.size, hits.size)
    hits[:] = _FALSE
    for k in range(detections.size):
        hits[detections[k]] = _FURTHER
        first[objects[k]] = min(first[objects[k]], detections[k])
    for k in range(is_counted.size):
        if is_counted[k] and first[k] < hits.size:
            hits[first[k]] += 1


@_compiled
def points_of_all(ranked: RankedHits) -> FrocPoints:
    """Count the points of all images."""
    starts = np.zeros_like(ranked.starts)
    detected, false = np.zeros((2, ranked.hits.size))
    point = -1
    for label in range(starts.size - 1):
        detected_so_far = false_so_far = 0.0
        for k in range(ranked.starts[label], ranked.starts[label + 1]):
            point = starts[label] + ranked.groups[k]
            detected_so_far += max(ranked.hits[k] - _FURTHER, 0)
            false_so_far += ranked.hits[k] == _FALSE
            detected[point], false[point] = detected_so_far, false_so_far
        starts[label + 1] = point + 1
    return FrocPoints(starts, detected[: point + 1], false[: point + 1])


class _Row(NamedTuple):
    """How often each image counts, and how many false detections each rate allows then, rising."""

    weights: FloatArray
    limits: FloatArray
    interpolates: bool


class _Point(NamedTuple):
    """Objects found and false detections down to some score."""

    detected: float
    false: float


@_compiled
def _read(point: _Point, following: _Point, limit: float, row: _Row) -> float:
    """Return the objects found at a number of false detections between two points."""
    if not row.interpolates:
        return point.detected
    share = (limit - point.false) / (following.false - point.false)
    return point.detected + share * (following.detected - point.detected)


@_compiled
def _with_detection(point: _Point, hits: int, weight: float) -> _Point:
    """Return a point with one more detection, as often as its weight says."""
    return _Point(point.detected + weight * max(hits - _FURTHER, 0), point.false + weight * (hits == _FALSE))


@_compiled
def _count_afresh(label: int, row: _Row, ranked: RankedHits, detected_at: FloatArray) -> None:
    """Fill in the objects of a class found at each limit of false detections."""
    k, stop = ranked.starts[label], ranked.starts[label + 1]
    point = _Point(0.0, 0.0)
    limit = 0
    while k < stop and limit < row.limits.size:
        following, group = point, ranked.groups[k]
        while k < stop and ranked.groups[k] == group:
            following = _with_detection(following, ranked.hits[k], row.weights[ranked.images[k]])
            k += 1
        while limit < row.limits.size and following.false > row.limits[limit]:
            detected_at[limit] = _read(point, following, row.limits[limit], row)
            limit += 1
        point = following
    detected_at[limit:] = point.detected


@_compiled
def _last_within(false: FloatArray, start: int, stop: int, limit: float) -> int:
    """Return the last point from `start` to before `stop` with at most so many false detections, else `start` - 1."""
    while start < stop:
        middle = (start + stop) // 2
        if false[middle] <= limit:
            start = middle + 1
        else:
            stop = middle
    return start - 1


@_compiled
def _correct(label: int, changed: IntArray, row: _Row, counted: CountedDetections, detected_at: FloatArray) -> None:
    """Do the same from the points of all images; `changed` are the detections of images that count otherwise."""
    ranked, points = counted.ranked, counted.points
    start, stop = points.starts[label], points.starts[label + 1]
    shift = following_shift = _Point(0.0, 0.0)  # by how much points change from a changed score on
    k = 0
    for limit in range(row.limits.size):
        following = stop  # the first changed point beyond the limit
        while k < changed.size and following == stop:
            group = ranked.groups[changed[k]]
            following_shift, after = shift, k
            while after < changed.size and ranked.groups[changed[after]] == group:
                detection = changed[after]
                more = row.weights[ranked.images[detection]] - 1
                following_shift = _with_detection(following_shift, ranked.hits[detection], more)
                after += 1
            if points.false[start + group] + following_shift.false > row.limits[limit]:
                following = start + group
            else:
                shift, k = following_shift, after
        last = _last_within(points.false, start, following, row.limits[limit] - shift.false)
        point = shift
        if last >= start:
            point = _Point(points.detected[last] + shift.detected, points.false[last] + shift.false)
        detected_at[limit] = point.detected
        if last + 1 < stop:
            if last + 1 != following:
                following_shift = shift
            beyond = _Point(
                points.detected[last + 1] + following_shift.detected, points.false[last + 1] + following_shift.false
            )
            detected_at[limit] = _read(point, beyond, row.limits[limit], row)


@_compiled
def _detections_of(images: IntArray, counted: CountedDetections) -> IntArray:
    """Return the detections of some images, rising, which is class by class in falling score."""
    starts = counted.image_starts
    number = 0
    for image in images:
        number += starts[image + 1] - starts[image]
    detections = np.zeros(number, np.int64)
    filled = 0
    for image in images:
        for k in range(starts[image], starts[image + 1]):
            detections[filled] = counted.of_images[k]
            filled += 1
    detections.sort()
    return detections


@_compiled
def _add_objects(images: IntArray, weights: FloatArray, of: ObjectsByImage, objects: FloatArray) -> float:
    """Add the objects of some images to those of classes, as often as weights say, and return how many images."""
    number = 0.0
    for image in images:
        number += weights[image] * of.images[image]
        for k in range(of.starts[image], of.starts[image + 1]):
            objects[of.classes[k]] += weights[image] * of.objects[k]
    return number


@_compiled
def sensitivity_of_rows(
    rows: FloatArray, counted: CountedDetections, settings: FrocSettings, sensitivity: FloatArray
) -> None:
    """Fill in sensitivity at each rate, shape (R, rates), of each row of weights, shape (R, images).

    It is the mean over the classes that have objects; nan where none has.
    """
    starts = counted.ranked.starts
    detected_at = np.zeros(settings.rates.size)
    for r in range(rows.shape[0]):
        changed_images = np.flatnonzero(rows[r] != 1)
        corrects = 2 * changed_images.size <= rows.shape[1]
        if corrects:
            objects = counted.objects.all_objects.copy()
            number = counted.objects.all_images + _add_objects(changed_images, rows[r] - 1, counted.objects, objects)
        else:
            objects = np.zeros_like(counted.objects.all_objects)
            number = _add_objects(np.flatnonzero(rows[r]), rows[r], counted.objects, objects)
        row = _Row(rows[r], settings.rates * number, settings.interpolates)
        changed = _detections_of(changed_images[: changed_images.size if corrects else 0], counted)
        begin = defined = 0
        sensitivity[r] = 0.0
        for label in range(objects.size):
            end = begin
            while end < changed.size and changed[end] < starts[label + 1]:
                end += 1
            if objects[label]:
                if corrects:
                    _correct(label, changed[begin:end], row, counted, detected_at)
                else:
                    _count_afresh(label, row, counted.ranked, detected_at)
                sensitivity[r] += detected_at / objects[label]
                defined += 1
            begin = end
        sensitivity[r] /= defined  # nan without any class
