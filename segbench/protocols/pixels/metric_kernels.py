"""Compiled loops over the pooled curves of many resamples; imported only where one is called."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import FloatArray, IntArray
from segbench.core.compiling import compiled
from segbench.curves.kernels import (
    area_share,
    best_point,
    false_positives_at,
    hull_vertices,
    pr_area_exact,
    precision_steps,
    roc_area,
    running,
    short_segment_areas,
    unless_long,
)
from segbench.curves.points import needed_for_fpr as needed

Counts = NDArray[Any]

_compiled = compiled(error_model="numpy")

needed_for_fpr = _compiled(needed)


@_compiled
def count_at(
    scores: FloatArray,
    counts: tuple[Counts, Counts],
    ends: NDArray[np.int64],
    thresholds: FloatArray,
    counted: Counts,
) -> None:
    """Add the counts of each image to the highest of falling thresholds that its scores reach; the last all reach.

    `counted` holds positives and negatives, each with a row per image and a column per threshold.
    """
    start = 0
    for i in range(ends.size):
        place = 0
        for k in range(start, ends[i]):
            while place + 1 < thresholds.size and scores[k] < thresholds[place]:
                place += 1
            counted[0, i, place] += counts[0][k]
            counted[1, i, place] += counts[1][k]
        start = ends[i]


@_compiled
def pooled_curves(
    positives: Counts, negatives: Counts, several: NDArray[np.bool_], best: IntArray, areas: FloatArray
) -> None:
    """Find the best point and the areas of pooled curves, one row per resample; without positives a row stays as it is.

    `best` is filled with the place of the best F from 1, TP and FP there, P and N; `areas` with auc_roc, auc_pr,
    auc_pr_achievable, average_precision and the false positives at 95 % recall. `several` marks the
    thresholds that several scores are counted at (`areas_between_chosen`); it is empty where each is a score.
    """
    longest = positives.shape[1] + 1
    chosen = several.size > 0
    # Few of these are written to where most scores are without positives; zeros would be written to all.
    points = np.empty(longest, np.int64), np.empty(longest, np.int64), np.empty(longest, np.int64)
    chain = np.empty(longest, np.int64)
    several_points, short = np.zeros(longest, np.bool_), np.empty(longest if chosen else 0)
    for r in range(positives.shape[0]):
        size = turning_points(positives[r], negatives[r], several, points, several_points)
        tp, fp, places = points[0][:size], points[1][:size], points[2]
        P, N = tp[-1], fp[-1]
        best[r, 3], best[r, 4] = P, N
        if P == 0:
            continue
        at = best_point(tp, fp, P)
        best[r, 0], best[r, 1], best[r, 2] = places[at], tp[at], fp[at]
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
    several: NDArray[np.bool_],
    points: tuple[IntArray, IntArray, IntArray],
    several_points: NDArray[np.bool_],
) -> int:
    """Cumulate counts, one point for scores without positives that follow each other; give the number of points.

    Scores without pixels have none. `points` is filled with TP, FP and the place of the first score of each, from 1. No
    metric differs by it, unless areas are so large that their sums are rounded; then every score is a point.
    """
    tp, fp, places = points
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
        tp[size], fp[size], places[size] = t, f, k + 1
        if several.size > 0:
            several_points[size - 1] = several[k]
        size += 1
        level = gained == 0 and joined
    return size


@_compiled
def areas_between_chosen(tp: Counts, fp: Counts, several: NDArray[np.bool_], short: FloatArray) -> tuple[float, float]:
    """Give `pr_area_exact`, and `precision_steps`, which is much the same where many scores are at one point."""
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
def precision_at(positives: FloatArray, negatives: FloatArray, recalls: FloatArray, precision: FloatArray) -> None:
    """Fill in precision at given recalls, read off the interpolated curve, one row per resample."""
    tp, fp = np.zeros(positives.shape[1] + 1, np.int64), np.zeros(positives.shape[1] + 1, np.int64)
    for r in range(positives.shape[0]):
        running(positives[r], tp)
        running(negatives[r], fp)
        if tp[-1] == 0:
            continue
        first = 1
        while tp[first] + fp[first] == 0:
            first += 1
        for i in range(recalls.size):
            t = recalls[i] * tp[-1]
            k = max(np.searchsorted(tp, t), first)
            share = (t - tp[k - 1]) / float(tp[k] - tp[k - 1]) if tp[k] > tp[k - 1] else 0.0
            false = fp[k - 1] + share * (fp[k] - fp[k - 1])
            if t + false > 0:
                precision[r, i] = t / (t + false)
            else:
                precision[r, i] = tp[k] / float(tp[k] + fp[k])


@_compiled
def tpr_at(positives: FloatArray, negatives: FloatArray, fprs: FloatArray, tpr: FloatArray) -> None:
    """Fill in true positive rates at given false positive rates, one row per resample."""
    tp, fp = np.zeros(positives.shape[1] + 1, np.int64), np.zeros(positives.shape[1] + 1, np.int64)
    for r in range(positives.shape[0]):
        running(positives[r], tp)
        running(negatives[r], fp)
        if tp[-1] == 0 or fp[-1] == 0:
            continue
        for i in range(fprs.size):
            f = fprs[i] * fp[-1]
            k = np.searchsorted(fp, f, "right")
            share = 0.0
            if k < fp.size:
                share = (f - fp[k - 1]) / float(fp[k] - fp[k - 1]) * (tp[k] - tp[k - 1])
            tpr[r, i] = (tp[k - 1] + share) / float(tp[-1])
