"""Compiled loops over the pooled curves of many resamples; imported only where one is called."""

from __future__ import annotations

import numpy as np

from segbench.core.arrays import Array, BoolArray, FloatArray, IntArray
from segbench.core.compiling import compiled
from segbench.curves.kernels import (
    area_share,
    best_point,
    false_positives_at,
    hull_vertices,
    pr_area_exact,
    precision_steps,
    roc_area,
    short_segment_areas,
    unless_long,
)
from segbench.curves.points import needed_for_fpr as needed

Counts = Array

_compiled = compiled(error_model="numpy")

needed_for_fpr = _compiled(needed)


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
        at = best_point(tp, fp, P)
        best[r, 0], best[r, 1], best[r, 2] = score_numbers[at], tp[at], fp[at]
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
