"""Compiled loops over the points of a curve, and over the curves of many resamples.

Imported only where one is called, because Numba is slow to load.

Every kernel takes the cumulative counts of `segbench.curves.points`: tp, fp from (0, 0) to (P, N), read-only integers.
Areas under PR curves come multiplied by P. Long sums are compensated (Kahan), so their error does not grow with length:
they come with what rounding lost, and go on from both over more points, which begin with the last one summed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import BoolArray, FloatArray, IntArray
from segbench.core.compiling import compiled

Counts = NDArray[Any]
Integer = np.signedinteger[Any] | int

_compiled = compiled(error_model="numpy")

_ROUNDING = 1e-12
_SERIES_BELOW = 1 / 32  # below it u - log1p(u) loses digits; above it ten terms of the series would not do
_SEGMENTS_AT_ONCE = 512
_CLOSE = 1 - 1e-14  # ratios of two counts that differ by less may differ by rounding alone
DIRECT_STEPS = 64  # steps summed one by one before Euler-Maclaurin is exact to the last digit


@_compiled
def area_share(part: float, whole: float) -> float:
    """Divide an area by the whole; what rounding alone puts outside [0, 1] becomes 0 or 1."""
    share = part / whole
    if 1.0 < share < 1.0 + _ROUNDING:
        return 1.0
    return 0.0 if -_ROUNDING < share < 0.0 else share


@_compiled
def added(total: float, lost: float, part: float) -> tuple[float, float]:
    """Add to a long sum, and return it with what rounding lost (Kahan)."""
    part -= lost
    sum_with_part = total + part
    return sum_with_part, (sum_with_part - total) - part


@_compiled
def running(counts: Counts, into: Counts) -> int:
    """Add whole numbers up from 0, and return their total; they may have come out of a float product."""
    total = np.int64(0)
    into[0] = total
    for k in range(counts.size):
        total += np.int64(counts[k])
        into[k + 1] = total
    return int(total)


@_compiled
def precisions(tp: Counts, fp: Counts, into: NDArray[np.float64]) -> None:
    """Write TP / (TP + FP) of all points; where nothing is predicted, the first precision there is, or nan."""
    for k in range(tp.size):
        into[k] = float(tp[k]) / (float(tp[k]) + float(fp[k]))
    blank = 0
    while blank < tp.size and tp[blank] + fp[blank] == 0:
        blank += 1
    into[:blank] = into[blank] if blank < tp.size else math.nan


@_compiled
def segment_area(a: float, f: float, b: float, g: float) -> float:
    """Compute the integral of t / (t + FP(t)) for t from a to b, FP(t) running straight from f to g."""
    # The textbook form subtracts logarithms of neighbouring large numbers and loses every digit at pixel counts.
    width = b - a
    if width == 0.0:
        return 0.0
    start = a + f
    gained = width + (g - f)
    if start == 0.0:
        return width * (width / gained)
    u = gained / start
    if u < _SERIES_BELOW:
        return short_segment_area(a, f, b, g)
    log = math.log1p(u)
    return (width / start) * (a * (log / u) + width * ((u - log) / (u * u)))


@_compiled
def short_segment_area(a: float, f: float, b: float, g: float) -> float:
    """Compute the same integral for a segment that gains less than a 32nd of what is predicted before it."""
    width, start = b - a, a + f
    u = (width + (g - f)) / start
    second = 1 / 7 - u * (1 / 8 - u * (1 / 9 - u * (1 / 10 - u * (1 / 11 - u / 12))))
    second = 1 / 2 - u * (1 / 3 - u * (1 / 4 - u * (1 / 5 - u * (1 / 6 - u * second))))
    return (width / start) * (a * (1.0 - u * second) + width * second)


@_compiled
def short_segment_areas(tp: Counts, fp: Counts, areas: NDArray[np.float64]) -> None:
    """Write the same integral of each segment between points; several are computed at once, as there is no branch."""
    for k in range(1, tp.size):
        areas[k] = short_segment_area(float(tp[k - 1]), float(fp[k - 1]), float(tp[k]), float(fp[k]))


@_compiled
def unless_long(short: float, a: float, f: float, b: float, g: float) -> float:
    """Return the area of a segment computed as a short one, or compute it again if the segment is long."""
    return short if ((b - a) + (g - f)) / (a + f) < _SERIES_BELOW else segment_area(a, f, b, g)


@_compiled
def segment_trapezoid(a: float, f: float, b: float, g: float) -> float:
    """Compute the same integral by the trapezoid rule over whole true positives (Davis and Goadrich, section 4)."""
    # The first steps are added one by one; the rest is the exact area plus Euler-Maclaurin's difference of both rules.
    width = b - a
    if width == 0.0:
        return 0.0
    skew = (g - f) / width
    slope = 1.0 + skew
    start = a + f
    steps = int(min(width, DIRECT_STEPS))
    before = a / start if start > 0.0 else 1.0 / slope
    total = 0.0
    for x in range(1, steps + 1):
        precision = (a + x) / (start + slope * x)
        total += (before + precision) / 2
        before = precision
    if width > steps:
        total += segment_area(a + steps, f + skew * steps, b, g)
        near, far = start / slope + steps, start / slope + width
        difference = (1 / near**2 - 1 / far**2) / 12
        difference -= (1 / near**4 - 1 / far**4) / 120
        difference += (1 / near**6 - 1 / far**6) / 252
        total += (a * skew - f) / slope / slope * difference
    return total


@_compiled
def pr_area_exact(tp: Counts, fp: Counts, total: float = 0.0, lost: float = 0.0) -> tuple[float, float]:
    """Sum the exact areas of all segments, times P."""
    short = np.empty(min(_SEGMENTS_AT_ONCE, tp.size) + 1)
    for begin in range(0, tp.size - 1, _SEGMENTS_AT_ONCE):
        batch_tp, batch_fp = tp[begin : begin + short.size], fp[begin : begin + short.size]
        short_segment_areas(batch_tp, batch_fp, short)
        for k in range(1, batch_tp.size):
            if batch_tp[k] != batch_tp[k - 1]:
                a, f, b, g = float(batch_tp[k - 1]), float(batch_fp[k - 1]), float(batch_tp[k]), float(batch_fp[k])
                total, lost = added(total, lost, unless_long(short[k], a, f, b, g))
    return total, lost


@_compiled
def pr_area_trapezoid(tp: Counts, fp: Counts, total: float = 0.0, lost: float = 0.0) -> tuple[float, float]:
    """Sum the trapezoids over whole true positives of all segments, times P."""
    for k in range(1, tp.size):
        if tp[k] != tp[k - 1]:
            part = segment_trapezoid(float(tp[k - 1]), float(fp[k - 1]), float(tp[k]), float(fp[k]))
            total, lost = added(total, lost, part)
    return total, lost


@_compiled
def pr_area_linear(tp: Counts, fp: Counts) -> tuple[float, float]:
    """Sum the areas under straight lines between PR points, times P; level up to the first point with predictions."""
    total = 0.0
    before = -1.0
    for k in range(1, tp.size):
        predicted = float(tp[k]) + float(fp[k])
        if predicted == 0.0:
            continue
        precision = tp[k] / predicted
        if before < 0.0:
            before = precision
        total += float(tp[k] - tp[k - 1]) * (before + precision) / 2
        before = precision
    return total, 0.0


@_compiled
def precision_steps(tp: Counts, fp: Counts, total: float = 0.0, lost: float = 0.0) -> tuple[float, float]:
    """Sum precision over the positives, each at the threshold of its own score: average precision times P."""
    for k in range(1, tp.size):
        now = float(tp[k])
        gained = now - float(tp[k - 1])
        if gained > 0.0:
            total, lost = added(total, lost, gained * (now / (now + float(fp[k]))))
    return total, lost


@_compiled
def precision_steps_of_counts(positives: Counts, negatives: Counts) -> tuple[float, int]:
    """Return `precision_steps` and the number of positives from counts per score, in a third of the time."""
    total = lost = 0.0
    tp = fp = np.int64(0)
    for k in range(positives.size):
        tp += positives[k]
        fp += negatives[k]
        if positives[k] > 0:
            total, lost = added(total, lost, float(positives[k]) * (float(tp) / (float(tp) + float(fp))))
    return total, int(tp)


@_compiled
def false_positives_at(tp: Counts, fp: Counts, several: NDArray[np.bool_], needed: Integer) -> float:
    """Return the false positives at a number of true positives, linear in TP at points of `several` scores."""
    k = np.searchsorted(tp, needed)
    if k == 0 or not several[k - 1]:
        return float(fp[k])
    share = float(needed - tp[k - 1]) / float(tp[k] - tp[k - 1])
    return float(fp[k - 1]) + share * float(fp[k] - fp[k - 1])


@_compiled
def roc_area_rounded(tp: Counts, fp: Counts, total: float = 0.0, lost: float = 0.0) -> tuple[float, float]:
    """Sum the trapezoids under the ROC points, times P N, in floats."""
    for k in range(1, tp.size):
        gained = float(fp[k] - fp[k - 1])
        if gained > 0.0:
            total, lost = added(total, lost, gained * (float(tp[k - 1]) + float(tp[k])) / 2)
    return total, lost


@_compiled
def roc_area(tp: Counts, fp: Counts) -> float:
    """Sum the trapezoids under the ROC points, times P N."""
    if 2.0 * float(tp[-1]) * float(fp[-1]) < 2.0**53:  # then no sum is rounded
        twice = np.int64(0)
        for k in range(1, tp.size):
            twice += (np.int64(fp[k]) - np.int64(fp[k - 1])) * (np.int64(tp[k - 1]) + np.int64(tp[k]))
        return twice / 2
    return float(roc_area_rounded(tp, fp)[0])


@_compiled
def not_steeper(rise: Integer, run: Integer, next_rise: Integer, next_run: Integer) -> bool:
    """Decide whether next_rise / next_run <= rise / run, by Euclid's divisions: exact, and no product can overflow."""
    while True:
        if run == 0:  # a vertical line, steeper than all others
            return True
        if next_run == 0:
            return False
        whole, next_whole = rise // run, next_rise // next_run
        if whole != next_whole:
            return bool(next_whole < whole)
        # Equal whole parts: compare the fractions left over, which is comparing their inverses the other way round.
        left, next_left = rise - whole * run, next_rise - next_whole * next_run
        rise, run, next_rise, next_run = next_run, next_left, run, left


@_compiled
def best_point(tp: Counts, fp: Counts, positives: Integer) -> int:
    """Number the point with the best TP / (P + TP + FP), to which F is proportional, from 1; the first of equals."""
    best, best_k = 0.0, 1
    for k in range(1, tp.size):
        if k > 1 and tp[k] == tp[k - 1]:  # more false positives alone
            continue
        t, base = np.int64(tp[k]), np.int64(positives) + np.int64(tp[k]) + np.int64(fp[k])
        ratio = float(t) / float(base)
        if ratio < best * _CLOSE or (ratio == 0.0 and best == 0.0):
            continue
        if ratio <= best / _CLOSE:
            best_base = np.int64(positives) + np.int64(tp[best_k]) + np.int64(fp[best_k])
            if not_steeper(np.int64(tp[best_k]), best_base, t, base):
                continue
        best, best_k = ratio, k
    return best_k


@_compiled
def best_points(positives: Counts, negatives: Counts, ends: NDArray[np.int64], best: NDArray[np.int64]) -> None:
    """Fill in the number of the best point of each image, TP and FP there, P and N; 0 of an image without pixels."""
    start = 0
    for i in range(ends.size):
        size = ends[i] - start
        tp, fp = np.zeros(size + 1, np.int64), np.zeros(size + 1, np.int64)
        for k in range(size):
            tp[k + 1], fp[k + 1] = tp[k] + positives[start + k], fp[k] + negatives[start + k]
        if size > 0:
            best_k = best_point(tp, fp, tp[-1])
            best[i, 0], best[i, 1], best[i, 2], best[i, 3], best[i, 4] = best_k, tp[best_k], fp[best_k], tp[-1], fp[-1]
        start = ends[i]


@_compiled
def hull_vertices(tp: Counts, fp: Counts, chain: NDArray[np.int64]) -> int:
    """Number the vertices of the ROC convex hull of different points in `chain`, and return how many there are."""
    # Points that their neighbours already put on or below the hull are left out first, without a branch, and the last
    # two vertices are kept in variables: without that it takes twice as long.
    products_fit = float(tp[-1]) * float(fp[-1]) < 9e18
    last = tp.size - 1
    candidates = 1
    chain[0] = 0
    rise: Any = np.int64(fp[min(1, last)]) - np.int64(fp[0])
    run: Any = np.int64(tp[min(1, last)]) - np.int64(tp[0])
    for k in range(1, last):
        chain[candidates] = k
        next_rise, next_run = np.int64(fp[k + 1]) - np.int64(fp[k]), np.int64(tp[k + 1]) - np.int64(tp[k])
        candidates += (next_rise * run > rise * next_run) or not products_fit
        rise, run = next_rise, next_run
    if last:
        chain[candidates] = last
        candidates += 1
    size = 1
    last_t = last_f = before_t = before_f = np.int64(0)
    for n in range(1, candidates):
        point = chain[n]
        t, f = np.int64(tp[point]), np.int64(fp[point])
        while size > 1:
            rise, run = last_f - before_f, last_t - before_t
            next_rise, next_run = f - last_f, t - last_t
            if products_fit and next_rise * run > rise * next_run:
                break
            if not products_fit and not not_steeper(rise, run, next_rise, next_run):
                break
            size -= 1
            last_t, last_f = before_t, before_f
            if size > 1:
                before_t, before_f = np.int64(tp[chain[size - 2]]), np.int64(fp[chain[size - 2]])
        chain[size] = point
        before_t, before_f = last_t, last_f
        last_t, last_f = t, f
        size += 1
    return size


@_compiled
def needed_for_fpr(positives: int) -> int:
    """Return the fewest true positives with recall 95 %, where the false positive rate is measured."""
    return (95 * positives + 99) // 100


@_compiled
def count_at(
    scores: FloatArray,
    counts: tuple[Counts, Counts],
    ends: IntArray,
    thresholds: FloatArray,
    counted: Counts,
) -> None:
    """Add the counts of each image to the highest of falling thresholds that its scores reach; the last all reach.

    `counted` holds positives and negatives, each with a row per image and a column per threshold.
    """
    start = 0
    for i in range(ends.size):
        column = 0
        for k in range(start, ends[i]):
            while column + 1 < thresholds.size and scores[k] < thresholds[column]:
                column += 1
            counted[0, i, column] += counts[0][k]
            counted[1, i, column] += counts[1][k]
        start = ends[i]


@_compiled
def pooled_curves(positives: Counts, negatives: Counts, several: BoolArray, best: IntArray, areas: FloatArray) -> None:
    """Find the best point and the areas of pooled curves, one row per resample; without positives a row stays as it is.

    `best` is filled with the number of the score of the best F, from 1, TP and FP there, P and N; `areas` as `AtOds`
    holds them. `several` marks the thresholds that several scores are counted at; it is empty where each is a score.
    """
    longest = positives.shape[1] + 1
    chosen = several.size > 0
    # Few of these are written to where most scores are without positives; zeros would be written to all.
    points = np.empty(longest, np.int64), np.empty(longest, np.int64), np.empty(longest, np.int64)
    chain = np.empty(longest, np.int64)
    several_points, short = np.zeros(longest, np.bool_), np.empty(longest if chosen else 0)
    for r in range(positives.shape[0]):
        size = turning_points(positives[r], negatives[r], several, points, several_points)
        tp, fp, score_numbers = points[0][:size], points[1][:size], points[2]
        P, N = tp[-1], fp[-1]
        best[r, 3], best[r, 4] = P, N
        if P == 0:
            continue
        best_k = best_point(tp, fp, P)
        best[r, 0], best[r, 1], best[r, 2] = score_numbers[best_k], tp[best_k], fp[best_k]
        if chosen:
            area, steps = areas_between_chosen(tp, fp, several_points, short)
        else:
            area, steps = pr_area_exact(tp, fp)[0], precision_steps(tp, fp)[0]
        areas[r, 1], areas[r, 3] = area_share(area, P), area_share(steps, P)
        if N > 0:
            areas[r, 0] = area_share(roc_area(tp, fp) / P, N)
            areas[r, 4] = false_positives_at(tp, fp, several_points, needed_for_fpr(P))
        vertices = hull_vertices(tp, fp, chain)
        for k in range(vertices):  # over the points, which are not needed any more
            tp[k], fp[k] = tp[chain[k]], fp[chain[k]]
        areas[r, 2] = area_share(pr_area_exact(tp[:vertices], fp[:vertices])[0], P)


@_compiled
def curves_of_images(positives: Counts, negatives: Counts, ends: IntArray, best: IntArray, areas: FloatArray) -> None:
    """Find the same of images whose counts lie one after another, each up to its end; one row per image."""
    each_is_a_score = np.empty(0, np.bool_)
    start = 0
    for i in range(ends.size):
        of_image = positives[start : ends[i]].reshape((1, -1)), negatives[start : ends[i]].reshape((1, -1))
        pooled_curves(of_image[0], of_image[1], each_is_a_score, best[i : i + 1], areas[i : i + 1])
        start = ends[i]


@_compiled
def turning_points(
    positives: Counts,
    negatives: Counts,
    several: BoolArray,
    points: tuple[IntArray, IntArray, IntArray],
    several_points: BoolArray,
) -> int:
    """Cumulate counts, one point for scores without positives that follow each other; return the number of points.

    `points` is filled with TP, FP and the number of the first score of each, from 1. No metric differs by it: of areas
    so large that their sums are rounded, every score is a point.
    """
    tp, fp, score_numbers = points
    t = f = np.int64(0)
    for k in range(positives.size):
        t += np.int64(positives[k])
        f += np.int64(negatives[k])
    joined = 2.0 * float(t) * float(f) < 2.0**53
    t = f = np.int64(0)
    size, level = 1, False
    tp[0] = fp[0] = 0
    for k in range(positives.size):
        gained = np.int64(positives[k])
        t += gained
        f += np.int64(negatives[k])
        if gained == 0 and (level or negatives[k] == 0):
            fp[size - 1] = f
            continue
        tp[size], fp[size], score_numbers[size] = t, f, k + 1
        if several.size > 0:
            several_points[size - 1] = several[k]
        size += 1
        level = gained == 0 and joined
    return size


@_compiled
def areas_between_chosen(tp: Counts, fp: Counts, several: BoolArray, short: FloatArray) -> tuple[float, float]:
    """Return `pr_area_exact` and `precision_steps`, which are much the same where many scores share a point."""
    short_segment_areas(tp, fp, short)
    area = steps = 0.0
    for k in range(1, tp.size):
        a, f, b, g = float(tp[k - 1]), float(fp[k - 1]), float(tp[k]), float(fp[k])
        if b > a:
            part = unless_long(short[k], a, f, b, g)
            area += part
            steps += part if several[k - 1] else (b - a) * (b / (b + g))
    return area, steps


@_compiled
def read_off(roc: bool, positives: FloatArray, negatives: FloatArray, at: FloatArray, heights: FloatArray) -> None:  # noqa: FBT001
    """Fill in true positive rates at false positive rates, or precision at recalls, one row per resample."""
    tp, fp = np.zeros(positives.shape[1] + 1, np.int64), np.zeros(positives.shape[1] + 1, np.int64)
    for r in range(positives.shape[0]):
        for k in range(positives.shape[1]):  # whole numbers that may have come out of a float product
            tp[k + 1], fp[k + 1] = tp[k] + np.int64(positives[r, k]), fp[k] + np.int64(negatives[r, k])
        if tp[-1] == 0 or (roc and fp[-1] == 0):
            continue
        x, y = (fp, tp) if roc else (tp, fp)
        first = np.searchsorted(tp + fp, 1)
        for i in range(at.size):
            x_at = at[i] * x[-1]
            k = np.searchsorted(x, x_at, "right") if roc else max(np.searchsorted(x, x_at), first)
            height = float(y[k - 1])
            if k < x.size and x[k] > x[k - 1]:
                height += (x_at - x[k - 1]) / float(x[k] - x[k - 1]) * (y[k] - y[k - 1])
            if roc:
                heights[r, i] = height / y[-1]
            else:
                heights[r, i] = x_at / (x_at + height) if x_at + height > 0 else tp[k] / float(tp[k] + fp[k])
