"""Compiled loops from detections to metrics, for all images and where images are left out or resampled.

Imported only where one is called, because Numba is slow to load.

Detections lie class by class in falling score; equal scores of a class form one group, which is one point of a curve.
Of a curve only those points matter at which true positives rise: between them precision falls. A row of weights says
how often each image counts, and its metrics are the means over the classes that have objects then. Where a row leaves
out few images, the points of all images are corrected for these; otherwise detections are counted afresh. Both give
the same numbers, since counts are whole.

Behind the last detection that is corrected all points of a curve move alike. So rows are corrected curve by curve: what
is known of points that have moved so serves several rows, and their own hull stays, which joins that of the points
before them elsewhere.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import FloatArray, IntArray
from segbench.core.compiling import compiled, int64
from segbench.curves.kernels import area_share, segment_area, short_segment_area, unless_long
from segbench.protocols.objects.scored_counts import BITS, THRESHOLDS

_compiled = compiled(error_model="numpy")

RECALLS = 101
_EPSILON = float(np.spacing(1))  # which pycocotools adds to the number of detections
_ALL = 0  # the range of areas of which areas under curves are measured
_AP, _AP_50, _AP_75, _AP_OF_RANGES, _AR_OF_RANGES, _EXACT, _ACHIEVABLE, _AR = 0, 1, 2, 3, 6, 9, 12, 13
_MOVES = 4  # that are kept of a curve: in most rows one true or one false positive goes
_CELLS = 2**20  # numbers of several rows at once
_OF_CURVE = 4  # numbers that are measured of each curve of all areas; the first two of those of ranges
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
    steps: IntArray  # how many points on the next vertex is in the hull from this point on, 0 at the last
    measured: FloatArray  # (curves, 4): AP, recall, exact area and that of the hull
    objects: IntArray  # (classes, ranges)
    needed: FloatArray  # (classes, ranges, recalls): true positives that reach each recall
    matched: IntArray  # (classes, limits, thresholds): true positives of the range of all areas by limit


class MovedPoints(NamedTuple):
    """The points of one curve after all have moved alike, of a few such moves; arrays that are filled again and again.

    Only those points are valid behind which no detection is corrected.
    """

    moves: FloatArray  # (moves, 2): by how many true and false positives
    filled: IntArray  # (1,): how many moves there have been
    precision: FloatArray  # (moves, points)
    areas: FloatArray  # (moves, points): exact areas from the point before


class HullPath(NamedTuple):
    """Arrays for the vertices of a hull, from the origin on."""

    points: IntArray  # those of the points that stay, from the last to the first; in the end where the others begin
    tp: FloatArray
    fp: FloatArray


class Stretch(NamedTuple):
    """Points of a curve from `begin` up to `end`, to whose true positives `more_tp` is added.

    The point before them has `before` true positives.
    """

    begin: int
    end: int
    more_tp: float
    before: float


class ShiftedCurve(NamedTuple):
    """A curve some of whose points change: the first so many stay, and those from `behind` on all move alike.

    Between there are `middle` points, in the workspace.
    """

    start: int  # of the curve among all points, and where it ends
    last: int
    first: int
    middle: int
    behind: int
    more_tp: float
    more_fp: float


class Workspace(NamedTuple):
    """Arrays that are filled again and again with the points of one curve, as in `CurvePoints`."""

    groups: IntArray
    tp: FloatArray  # whole numbers as floats, with which several points are computed at once
    fp: FloatArray
    fp_before: FloatArray
    precision: FloatArray
    exact: FloatArray
    hull: FloatArray
    previous: IntArray
    steps: IntArray
    read: FloatArray  # precision, made falling, at each recall
    needed: FloatArray
    shifts: FloatArray  # (3, any): zeros between curves
    moved: MovedPoints
    path: HullPath


class ChangedRows(NamedTuple):
    """Rows of weights that are measured by correction, and what changes with each."""

    weights: FloatArray  # (rows, images)
    starts: IntArray  # where the detections of each row start in `numbers`, and in the end their number
    numbers: IntArray  # of detections in images of other weights, rising within each row
    begins: IntArray  # where those of the class at hand begin in each row, and end
    ends: IntArray
    objects: IntArray  # (rows, classes, ranges)
    is_touched: NDArray[np.bool_]  # (rows, classes): whether images of other weights have objects of the class


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
        np.zeros(longest + 1, np.int64),
        np.zeros(longest + 1, np.int64),
        np.zeros(recalls),
        np.zeros(recalls),
        np.zeros((3, longest + 2)),
        MovedPoints(
            np.zeros((_MOVES, 2)),
            np.zeros(1, np.int64),
            np.zeros((_MOVES, longest + 1)),
            np.zeros((_MOVES, longest + 1)),
        ),
        HullPath(np.zeros(longest + 2, np.int64), np.zeros(longest + 2), np.zeros(longest + 2)),
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
def _needed(objects: int, recalls: FloatArray, needed: FloatArray) -> None:
    """Fill in how many true positives reach each recall, compared as floats."""
    for k in range(recalls.size):
        least = np.int64(recalls[k] * objects)
        while least > 0 and (least - 1) / objects >= recalls[k]:
            least -= 1
        while least / objects < recalls[k]:
            least += 1
        needed[k] = least


@_compiled
def _read_falling(
    stretch: Stretch, tp: FloatArray, precision: FloatArray, reading: tuple[float, float, int], work: Workspace
) -> tuple[float, float, int]:
    """Read precision, made falling, at the recalls that points reach, from the last point to the first.

    Goes on with a reading: the highest precision, the sum of what was read, and the next recall.
    """
    highest, total, position = reading
    for k in range(stretch.end - 1, stretch.begin - 1, -1):
        highest = max(highest, precision[k])
        below = tp[k - 1] + stretch.more_tp if k > stretch.begin else stretch.before
        while position >= 0 and work.needed[position] > below:
            work.read[position] = highest
            total += highest
            position -= 1
    return highest, total, position


@_compiled
def _begin_reading(most: float, work: Workspace) -> tuple[float, float, int]:
    """Return the reading of precision to go on with at the last recall that so many true positives reach."""
    work.read[:] = 0.0
    position = work.needed.size - 1
    while position >= 0 and work.needed[position] > most:
        position -= 1
    return 0.0, 0.0, position


@_compiled
def _segment(a: float, f: float, b: float, g: float) -> float:
    """Compute the area from one point to the next, times the number of objects."""
    if a + f == 0.0:
        return b * (b / (b + g))
    return segment_area(a, f, b, g)


@_compiled
def _fill_areas(tp: FloatArray, fp: FloatArray, before: FloatArray, move: FloatArray, areas: FloatArray) -> None:
    """Fill in the exact area from each point to the next, after all have moved by some true and false positives."""
    more_tp, more_fp = move[0], move[1]
    for k in range(tp.size - 1):  # without a branch, so that several are computed at once
        a, f, b, g = tp[k] + more_tp, before[k + 1] + more_fp, tp[k + 1] + more_tp, fp[k + 1] + more_fp
        areas[k + 1] = short_segment_area(a, f, b, g)
    for k in range(tp.size - 1):
        a, f, b, g = tp[k] + more_tp, before[k + 1] + more_fp, tp[k + 1] + more_tp, fp[k + 1] + more_fp
        areas[k + 1] = unless_long(areas[k + 1], a, f, b, g)


@_compiled
def _turns(tp: FloatArray, fp: FloatArray, earlier: int, point: int, later: tuple[float, float]) -> bool:
    """Return whether a point lies below the line from an earlier one, or the origin if that is -1, to a later one."""
    rise, run = fp[point], tp[point]
    if earlier >= 0:
        rise -= fp[earlier]
        run -= tp[earlier]
    return (later[1] - fp[point]) * run > rise * (later[0] - tp[point])


@_compiled
def _fill_hull(work: Workspace, size: int) -> None:
    """Fill in the chain of the hull.

    The hull up to a point ends there, so each point but the first continues the hull up to the point before it.
    """
    tp, fp = work.tp, work.fp
    for k in range(size):
        vertex = k - 1
        while vertex >= 0 and not _turns(tp, fp, work.previous[vertex], vertex, (tp[k], fp[k])):
            vertex = work.previous[vertex]
        work.previous[k] = vertex


@_compiled
def _fill_steps(work: Workspace, size: int) -> None:
    """Fill in the chain of the hull of the points from each point on."""
    tp, fp, steps = work.tp, work.fp, work.steps
    steps[max(size - 1, 0)] = 0
    for k in range(size - 2, -1, -1):
        vertex = k + 1
        while steps[vertex] > 0:
            beyond = vertex + steps[vertex]
            if _turns(tp, fp, k, vertex, (tp[beyond], fp[beyond])):
                break
            vertex = beyond
        steps[k] = vertex - k


@_compiled
def _hull_step(work: Workspace, point: int) -> float:
    """Compute the area of the hull from the vertex before a point to that point."""
    tp, fp, vertex = work.tp, work.fp, work.previous[point]
    if vertex < 0:
        return _segment(0.0, 0.0, tp[point], fp[point])
    return _segment(tp[vertex], fp[vertex], tp[point], fp[point])


@_compiled
def _fill_hull_areas(work: Workspace, size: int) -> None:
    """Fill in the area of the hull up to each point."""
    for k in range(size):
        vertex = work.previous[k]
        work.hull[k] = _hull_step(work, k) + (work.hull[vertex] if vertex >= 0 else 0.0)


@_compiled
def _measure_points(work: Workspace, size: int, objects: int, measured: FloatArray) -> None:
    """Fill in AP and recall of the points."""
    for k in range(size):
        work.precision[k] = work.tp[k] / (work.fp[k] + work.tp[k] + _EPSILON)
    most = work.tp[size - 1] if size else -1.0
    reading = _begin_reading(most, work)
    _, total, _ = _read_falling(Stretch(0, size, 0.0, -1.0), work.tp, work.precision, reading, work)
    measured[0] = total / work.needed.size
    measured[1] = most / objects if size else 0.0


@_compiled
def _measure_areas(work: Workspace, size: int, objects: int, measured: FloatArray) -> None:
    """Fill in the exact area and that of the hull."""
    area = 0.0
    _fill_areas(work.tp[:size], work.fp[:size], work.fp_before[:size], np.zeros(2), work.exact)
    for k in range(size):
        area += work.exact[k] if k else _segment(0.0, work.fp_before[0], work.tp[0], work.fp[0])
        work.exact[k] = area
    _fill_hull(work, size)
    hull, point = 0.0, size - 1
    while point >= 0:
        hull += _hull_step(work, point)
        point = work.previous[point]
    measured[2] = area_share(area, float(objects)) if size else 0.0
    measured[3] = area_share(hull, float(objects))


@_compiled
def _measure_curve(work: Workspace, size: int, objects: int, area: int, measured: FloatArray) -> None:
    """Fill in what is measured of a curve from all of its points."""
    _measure_points(work, size, objects, measured)
    if area == _ALL:
        _measure_areas(work, size, objects, measured)


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
    measured = np.zeros(_OF_CURVE)
    values = np.zeros(VALUES + settings.limits.size)
    for area in range(settings.ranges):
        if objects[area]:
            _needed(objects[area], settings.recalls, work.needed)
            for bit in range(area * settings.thresholds, (area + 1) * settings.thresholds):
                size = _count_points(chosen, detections, bit, work)
                _measure_curve(work, size, objects[area], area, measured)
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
) -> tuple[int, int, int]:
    """Fill in by how much the points of a curve change with detections of images of other weights.

    `shifts` has shape (3, any), and holds zeros. Returns the curve, the first point that changes, or how many points
    there are, and the first from which on all change alike.
    """
    mask = np.int64(1) << np.int64(curve % BITS)
    start, last = base.starts[curve], base.starts[curve + 1]
    first, behind = last - start, int64(0)
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
        first, behind = min(first, position), position + 2
        shift = changed.weights[detections.images[detection]] - 1.0
        if is_matched:
            shifts[0, position] += shift
        else:
            shifts[1, position] += shift
            shifts[2, position + (base.groups[low] == group)] += shift
    return curve, first, max(first, min(behind, last - start))


@_compiled
def _shift_middle(
    changing: tuple[int, int, int], base: CurvePoints, work: Workspace
) -> tuple[int, tuple[float, float]]:
    """Fill in the points of a curve from one up to another with their shifts, which become zeros again.

    Returns how many there are, and by how many true and false positives all points behind them move.
    """
    curve, first, behind = changing
    start = base.starts[curve]
    shifts = work.shifts
    size = 0
    more_tp = more_fp = more_before = 0.0
    last_tp = base.tp[start + first - 1] if first else 0.0
    for k in range(first, behind):
        more_tp += shifts[0, k]
        more_fp += shifts[1, k]
        more_before += shifts[2, k]
        shifts[0, k] = shifts[1, k] = shifts[2, k] = 0
        tp = base.tp[start + k] + more_tp
        if tp > last_tp:
            work.tp[size] = last_tp = tp
            work.fp[size] = base.fp[start + k] + more_fp
            work.fp_before[size] = base.fp_before[start + k] + more_before
            work.precision[size] = tp / (work.fp[size] + tp + _EPSILON)
            size += 1
    shifts[2, behind] = 0  # where only the end of the curve follows
    return size, (more_tp, more_fp)


@_compiled
def _moved(curve: int, move: tuple[float, float], base: CurvePoints, moved: MovedPoints) -> int:
    """Return the number of a move of a curve, whose points are filled in where they are not yet."""
    for number in range(min(moved.filled[0], _MOVES)):
        if moved.moves[number, 0] == move[0] and moved.moves[number, 1] == move[1]:
            return number
    number = moved.filled[0] % _MOVES
    moved.filled[0] += 1
    moved.moves[number, 0], moved.moves[number, 1] = move
    start, last = base.starts[curve], base.starts[curve + 1]
    tp, fp = base.tp[start:last], base.fp[start:last]
    precision = moved.precision[number]
    for k in range(tp.size):
        precision[k] = (tp[k] + move[0]) / (fp[k] + move[1] + (tp[k] + move[0]) + _EPSILON)
    if curve % BITS < THRESHOLDS:
        _fill_areas(tp, fp, base.fp_before[start:last], moved.moves[number], moved.areas[number])
    return number


@_compiled
def _known_hull(shifted: ShiftedCurve, base: CurvePoints, path: HullPath) -> int:
    """Fill in the vertices of the hull of the points that stay, the origin first, and return how many points it has."""
    known = 0
    point = shifted.first - 1
    while point >= 0:
        path.points[known] = point
        known += 1
        point = base.previous[shifted.start + point]
    path.tp[0] = path.fp[0] = 0.0
    for k in range(known):
        point = shifted.start + path.points[known - 1 - k]
        path.tp[k + 1], path.fp[k + 1] = base.tp[point], base.fp[point]
    return known


@_compiled
def _join_hulls(shifted: ShiftedCurve, top: int, base: CurvePoints, path: HullPath) -> int:
    """Go back from the vertex `top`, and on from the first point behind, to where both hulls have a line in common.

    Fills in that point as the next vertex, and returns the number of the last vertex before it; the point itself is
    `path.points[-1]`.
    """
    tp, fp = path.tp, path.fp
    right = shifted.start + shifted.behind
    joined = False
    while not joined:
        joined = True
        tp[top + 1], fp[top + 1] = base.tp[right] + shifted.more_tp, base.fp[right] + shifted.more_fp
        while base.steps[right] > 0:
            beyond = right + base.steps[right]
            later = base.tp[beyond] + shifted.more_tp, base.fp[beyond] + shifted.more_fp
            if _turns(tp, fp, top, top + 1, later):
                break
            right, tp[top + 1], fp[top + 1] = beyond, later[0], later[1]
        later = tp[top + 1], fp[top + 1]
        while top > 0 and not _turns(tp, fp, top - 1, top, later):
            top -= 1
            joined = False
    path.points[-1] = right
    return top


@_compiled
def _shifted_hull(shifted: ShiftedCurve, base: CurvePoints, work: Workspace) -> float:
    """Compute the area of the hull of a curve with shifts."""
    path = work.path
    tp, fp = path.tp, path.fp
    known = _known_hull(shifted, base, path)
    top = same = known  # up to `same` the hull is that of the points that stay
    for k in range(shifted.middle):
        while top > 0 and not _turns(tp, fp, top - 1, top, (work.tp[k], work.fp[k])):
            top -= 1
        same = min(same, top)
        top += 1
        tp[top], fp[top] = work.tp[k], work.fp[k]
    if shifted.start + shifted.behind < shifted.last:
        top = _join_hulls(shifted, top, base, path)
        same = min(same, top)
        right, step = path.points[-1], 1
        while step > 0:
            top += 1
            tp[top], fp[top] = base.tp[right] + shifted.more_tp, base.fp[right] + shifted.more_fp
            step = base.steps[right]
            right += step
    area = 0.0
    for k in range(top, same, -1):
        area += _segment(tp[k - 1], fp[k - 1], tp[k], fp[k])
    return area + (base.hull[shifted.start + path.points[known - same]] if same else 0.0)


@_compiled
def _shifted_area(shifted: ShiftedCurve, base: CurvePoints, work: Workspace, areas: FloatArray) -> float:
    """Compute the exact area of a curve with shifts; `areas` are those between the points behind."""
    start, last, first = shifted.start, shifted.last, shifted.first
    area, reached = 0.0, 0.0
    if first:
        area, reached = base.exact[start + first - 1], base.tp[start + first - 1]
    for k in range(shifted.middle):
        area += _segment(reached, work.fp_before[k], work.tp[k], work.fp[k])
        reached = work.tp[k]
    k = start + shifted.behind
    if k < last:
        more_tp, more_fp = shifted.more_tp, shifted.more_fp
        area += _segment(reached, base.fp_before[k] + more_fp, base.tp[k] + more_tp, base.fp[k] + more_fp)
    for k in range(shifted.behind + 1, last - start):
        area += areas[k]
    return area


@_compiled
def _measure_shifted(
    changing: tuple[int, int, int], objects: int, base: CurvePoints, work: Workspace, measured: FloatArray
) -> None:
    """Fill in what is measured of a curve whose points are shifted from one on, and alike from another on."""
    curve, first, behind = changing
    start, last = base.starts[curve], base.starts[curve + 1]
    middle, move = _shift_middle(changing, base, work)
    shifted = ShiftedCurve(start, last, first, middle, behind, move[0], move[1])
    number = _moved(curve, move, base, work.moved) if start + behind < last else 0
    before = base.tp[start + first - 1] if first else -1.0
    between = work.tp[middle - 1] if middle else before
    most = base.tp[last - 1] + move[0] if start + behind < last else between
    reading = _begin_reading(most, work)
    moved_points = Stretch(behind, last - start, move[0], between)
    reading = _read_falling(moved_points, base.tp[start:last], work.moved.precision[number], reading, work)
    reading = _read_falling(Stretch(0, middle, 0.0, before), work.tp, work.precision, reading, work)
    reading = _read_falling(Stretch(start, start + first, 0.0, -1.0), base.tp, base.precision, reading, work)
    measured[0] = reading[1] / work.needed.size
    measured[1] = most / objects if most >= 0.0 else 0.0
    if curve % BITS < THRESHOLDS:
        area = _shifted_area(shifted, base, work, work.moved.areas[number])
        measured[2] = area_share(area, float(objects)) if most >= 0.0 else 0.0
        measured[3] = area_share(_shifted_hull(shifted, base, work), float(objects))


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
    whole, real = np.zeros((3, most), np.int64), np.zeros((6, most))
    starts = np.zeros(classes * curves + 1, np.int64)
    measured = np.zeros((classes * curves, _OF_CURVE))
    needed = np.zeros((classes, settings.ranges, settings.recalls.size))
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
            _measure_curve(work, size, max(objects[label, area], 1), area, measured[curve])
            if area == _ALL:
                _fill_steps(work, size)
                _fill_hull_areas(work, size)
            into = starts[curve]
            starts[curve + 1] = into + size
            stop = into + size
            whole[0, into:stop], whole[1, into:stop] = work.groups[:size], work.previous[:size]
            whole[2, into:stop] = work.steps[:size]
            real[0, into:stop], real[1, into:stop] = work.tp[:size], work.fp[:size]
            real[2, into:stop], real[3, into:stop] = work.fp_before[:size], work.precision[:size]
            real[4, into:stop], real[5, into:stop] = work.exact[:size], work.hull[:size]
        for k in range(begin, end):
            _add_matched(matched[label], detections.matched[k], detections.ranks[k], 1, settings)
    return CurvePoints(
        starts, whole[0], real[0], real[1], real[2], real[3], real[4], real[5], whole[1], whole[2], measured, objects,
        needed, matched,
    )  # fmt: skip


@_compiled
def _correct_curve(
    curve: int,
    rows: tuple[IntArray, FloatArray, FloatArray],
    changed: ChangedRows,
    method: MeasuredMethod,
    work: Workspace,
) -> None:
    """Add what is measured of a curve in some rows.

    `rows` are their numbers, the true positives that recalls need in each, and the values of all rows.
    """
    touched, needed, values = rows
    detections, _, base, _, settings = method
    label, bit = curve // BITS, curve % BITS
    area = bit // settings.thresholds
    measured = np.zeros(_OF_CURVE)
    work.moved.filled[0] = 0
    for k in range(touched.size):
        row = touched[k]
        objects = changed.objects[row, label, area]
        if not objects:
            continue
        chosen = ChosenDetections(changed.numbers, changed.begins[row], changed.ends[row], changed.weights[row])
        changing = _shift_points(curve, chosen, detections, base, work.shifts)
        if changing[1] == base.starts[curve + 1] - base.starts[curve] and objects == base.objects[label, area]:
            measured[:] = base.measured[curve]
        else:
            work.needed[:] = needed[k]
            _measure_shifted(changing, objects, base, work, measured)
        _add_curve(measured, bit, settings, values[row, label])


@_compiled
def _correct_class(
    label: int, touched: IntArray, changed: ChangedRows, method: MeasuredMethod, values: FloatArray
) -> None:
    """Measure a class in the rows that touch it, by correcting its points for images of other weights."""
    detections, _, base, _, settings = method
    starts = base.starts[label * BITS : (label + 1) * BITS + 1]
    work = _workspace((starts[1:] - starts[:-1]).max(), settings.recalls.size)
    needed = np.zeros((touched.size, settings.recalls.size))
    for row in touched:
        values[row, label] = 0.0
    for area in range(settings.ranges):
        for k in range(touched.size):
            objects = changed.objects[touched[k], label, area]
            if objects == base.objects[label, area]:
                needed[k] = base.needed[label, area]
            elif objects:
                _needed(objects, settings.recalls, needed[k])
        first = label * BITS + area * settings.thresholds
        for curve in range(first, first + settings.thresholds):
            _correct_curve(curve, (touched, needed, values), changed, method, work)
    for row in touched:
        matched = base.matched[label].copy()
        for k in range(changed.begins[row], changed.ends[row]):
            detection = changed.numbers[k]
            weight = np.int64(changed.weights[row, detections.images[detection]]) - np.int64(1)
            _add_matched(matched, detections.matched[detection], detections.ranks[detection], int(weight), settings)
        _recall_at_limits(matched, changed.objects[row, label, _ALL], settings, values[row, label])
        _finish_class(values[row, label], changed.objects[row, label], settings)


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
def _measure_afresh(weights: FloatArray, method: MeasuredMethod, values: FloatArray) -> None:
    """Measure one row of weights from the detections of its images: fill in the metrics of each class."""
    detections, by_image, base, _, settings = method
    images = np.flatnonzero(weights)
    listed = _listed(images, by_image)
    is_touched = np.zeros(values.shape[0], np.bool_)
    objects = np.zeros_like(base.objects)
    _objects_of_row(weights, images, by_image, objects, is_touched)
    values[:] = np.nan
    begin = 0
    for label in range(values.shape[0]):
        end = begin
        while end < listed.size and listed[end] < detections.starts[label + 1]:
            end += 1
        if is_touched[label]:
            chosen = ChosenDetections(listed, begin, end, weights)
            values[label] = measure_class(chosen, detections, objects[label], settings)
        begin = end


@_compiled
def _correct_rows(
    weights: FloatArray, changed_images: list[IntArray], method: MeasuredMethod, values: FloatArray
) -> None:
    """Measure rows of weights in which few images change: fill in the metrics of classes, (rows, classes, values)."""
    detections, by_image, base, by_class, _ = method
    number, classes = values.shape[0], values.shape[1]
    starts = np.zeros(number + 1, np.int64)
    objects = np.zeros((number, classes, base.objects.shape[1]), np.int64)
    is_touched = np.zeros((number, classes), np.bool_)
    listed = [_listed(images, by_image) for images in changed_images]
    for row in range(number):
        values[row] = by_class
        objects[row] = base.objects
        starts[row + 1] = starts[row] + listed[row].size
        _objects_of_row(weights[row] - 1, changed_images[row], by_image, objects[row], is_touched[row])
    numbers = np.zeros(starts[-1], np.int64)
    for row in range(number):
        numbers[starts[row] : starts[row + 1]] = listed[row]
    begins, ends = starts[:-1].copy(), starts[:-1].copy()
    changed = ChangedRows(weights, starts, numbers, begins, ends, objects, is_touched)
    touched = np.zeros(number, np.int64)
    for label in range(classes):
        several = 0
        for row in range(number):
            begins[row] = ends[row]
            while ends[row] < starts[row + 1] and numbers[ends[row]] < detections.starts[label + 1]:
                ends[row] += 1
            if is_touched[row, label] or ends[row] > begins[row]:
                touched[several] = row
                several += 1
        if several:
            _correct_class(label, touched[:several], changed, method, values)


@_compiled
def measure_rows(rows: FloatArray, method: MeasuredMethod, means: FloatArray) -> None:
    """Measure rows of weights of images, (R, images): fill in means over classes, (R, values)."""
    by_image, of_classes = method.by_image, method.by_class
    at_once = max(_CELLS // max(of_classes.size, 1), 1)
    begin = 0
    while begin < rows.shape[0]:
        # As many rows at once as change few detections, and whose values take little memory.
        changed_images = [np.flatnonzero(rows[begin] != 1)]
        changed_images.clear()
        end, cells = begin, 0
        while end < rows.shape[0] and end - begin < at_once and cells < _CELLS:
            images = np.flatnonzero(rows[end] != 1)
            unchanged = rows.shape[1] - images.size
            if images.size > unchanged or images.size >= unchanged + np.count_nonzero(rows[end][images]):
                break
            changed_images.append(images)
            cells += (by_image.starts[images + 1] - by_image.starts[images]).sum()
            end += 1
        values = np.zeros((max(end - begin, 1), of_classes.shape[0], of_classes.shape[1]))
        if end > begin:
            _correct_rows(rows[begin:end], changed_images, method, values)
        else:
            end = begin + 1
            _measure_afresh(rows[begin], method, values[0])
        for row in range(begin, end):
            _mean_over_classes(values[row - begin], means[row])
        begin = end


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
    measured = np.zeros(2)
    for r in range(rows.shape[0]):
        total, defined = np.zeros(recalls.size), 0
        for label in range(classes):
            of_class = int(objects[r, label])
            if of_class:
                begin, end = detections.starts[label], detections.starts[label + 1]
                size = _count_points(ChosenDetections(every, begin, end, rows[r]), detections, 0, work)
                _needed(of_class, recalls, work.needed)
                _measure_points(work, size, of_class, measured)
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
