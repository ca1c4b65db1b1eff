from fractions import Fraction

import numpy as np
import pytest
from cases import score_counts
from hypothesis import given
from hypothesis import strategies as st

from segbench.core.scores import ScoreCounts
from segbench.curves.curve import achievable_pr_curve, pr_curve, roc_curve, roc_hull
from segbench.curves.points import best_f

SMALL = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=12)
LARGE = st.lists(st.tuples(st.integers(0, 2**40), st.integers(0, 2**40)), min_size=1, max_size=12)
LEVELS = SMALL | LARGE


def hull_by_definition(counts):
    """Keep the points that no straight line between two others reaches, in fractions."""
    curve = roc_curve(counts)
    points = sorted(set(zip(curve.tp.tolist(), curve.fp.tolist(), strict=True)))
    ends = {points[0], points[-1]}

    def reached(t, f, left, right):
        (a, fa), (b, fb) = left, right
        if a == b:
            return t == a and fa < f < fb
        return a <= t <= b and (t, f) not in (left, right) and fa + Fraction((fb - fa) * (t - a), b - a) <= f

    def undercut(point):
        return any(reached(*point, left, right) for left in points for right in points if left <= right)

    return [point for point in points if point in ends or not undercut(point)]


@given(LEVELS)
def test_vertices_are_those_of_the_definition(pairs):
    hull = roc_hull(score_counts(pairs))
    assert list(zip(hull.tp.tolist(), hull.fp.tolist(), strict=True)) == hull_by_definition(score_counts(pairs))


@given(LEVELS)
def test_the_hull_of_a_hull_is_itself(pairs):
    hull = roc_hull(score_counts(pairs))
    again = roc_hull(ScoreCounts.from_points(hull.tp, hull.fp, hull.positives, hull.negatives))
    assert again.tp.tolist() == hull.tp.tolist()
    assert again.fp.tolist() == hull.fp.tolist()


@given(LEVELS)
def test_every_vertex_keeps_its_threshold(pairs):
    counts = score_counts(pairs)
    hull = roc_hull(counts)
    for threshold, tp, fp in zip(hull.thresholds, hull.tp.tolist(), hull.fp.tolist(), strict=True):
        on = counts.scores >= threshold
        assert (counts.positives[on].sum(), counts.negatives[on].sum()) == (tp, fp)


@given(LEVELS, st.sampled_from([0.3, 0.5, 1.0, 2.0, 10.0]))
def test_the_best_f_lies_on_the_hull(pairs, beta):
    counts = score_counts(pairs)
    if counts.total_positives == 0:
        return
    hull = roc_hull(counts)
    vertices = ScoreCounts.from_points(hull.tp, hull.fp, hull.positives, hull.negatives)
    assert best_f(vertices, beta=beta).f == best_f(counts, beta=beta).f


@given(LEVELS)
def test_both_areas_of_the_hull_are_at_least_the_curve_s(pairs):
    counts = score_counts(pairs)
    if counts.total_positives:
        assert achievable_pr_curve(counts).area >= pr_curve(counts).area * (1 - 1e-14)
    if counts.total_positives and counts.total_negatives:
        assert roc_hull(counts).area >= max(roc_curve(counts).area * (1 - 1e-14), 0.5 - 1e-14)


def test_slopes_that_differ_in_the_last_of_24_digits_are_told_apart():
    # Slopes x / (x + 1) and (x + 1) / (x + 2): the same to every digit of a float, products of 80 bits.
    x = 10**12
    rising = ScoreCounts([2, 1], [x + 1, x + 2], [x, x + 1])
    falling = ScoreCounts([2, 1], [x + 2, x + 1], [x + 1, x])
    assert roc_hull(rising).tp.size == 3
    assert roc_hull(falling).tp.size == 2
    assert roc_hull(ScoreCounts([2, 1], [x, 2 * x], [x + 1, 2 * x + 2])).tp.size == 2


def test_a_hull_says_that_it_is_optimistic():
    counts = ScoreCounts([3, 2, 1], [2, 1, 1], [0, 3, 1])
    assert roc_hull(counts).optimistic
    assert achievable_pr_curve(counts).optimistic
    assert achievable_pr_curve(counts).space == "pr"


@pytest.mark.parametrize("pairs", [[(0, 5), (0, 2)], [(5, 0), (2, 0)], [(0, 0)], [(3, 4)]])
def test_without_a_class_or_with_one_score_the_hull_has_its_two_ends(pairs):
    counts = score_counts(pairs)
    ends = {(0, 0), (counts.total_positives, counts.total_negatives)}
    hull = roc_hull(counts)
    assert set(zip(hull.tp.tolist(), hull.fp.tolist(), strict=True)) == ends
    assert hull.tp.size == len(ends)


def test_long_curves_grow_the_chain_of_vertices():
    # Slopes 1/3000, 1/2999, ...: every point is a vertex.
    run = np.arange(3000, 0, -1)
    hull = roc_hull(ScoreCounts(np.arange(3000)[::-1], run, np.ones(3000, int)))
    assert hull.tp.size == 3001
