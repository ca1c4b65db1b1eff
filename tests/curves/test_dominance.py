from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from refusing import refused

from segbench.core.errors import ArgumentError
from segbench.core.scores import ScoreCounts
from segbench.curves.areas import auc_pr, auc_roc
from segbench.curves.conversion import from_pr
from segbench.curves.curve import roc_hull
from segbench.curves.dominance import dominates

P, N = 12, 20
# Points on the way from (0, 0) to (P, N), the same totals for every curve.
STEPS = st.lists(st.tuples(st.integers(0, P), st.integers(0, N)), max_size=6)


def curve(points):
    tp, fp = (sorted(column) for column in zip(*points, strict=True)) if points else ([], [])
    return ScoreCounts.from_points(tp, fp, P, N)


def false_positives(counts, t):
    """Fewest false positives at t true positives, read off the definition in fractions."""
    tp, fp = (np.append(0, np.cumsum(part)).tolist() for part in (counts.positives, counts.negatives))
    for k in range(1, len(tp)):
        if tp[k] >= t > tp[k - 1]:
            return fp[k - 1] + Fraction(fp[k] - fp[k - 1], tp[k] - tp[k - 1]) * (t - tp[k - 1])
    return Fraction(0)


GRID = [Fraction(k, 24) * P for k in range(1, 25)]


@given(STEPS, STEPS)
def test_dominance_is_what_the_definition_says_on_a_grid(first, second):
    a, b = curve(first), curve(second)
    result = dominates(a, b)
    excess = [false_positives(a, t) - false_positives(b, t) for t in GRID]
    if result.holds:
        assert max(excess) <= 0
        assert np.isnan(result.witness_recall)
    else:
        witness = Fraction(result.witness_recall) * P
        # The recall comes as a float: step off a possible kink to the nearest fraction that it stands for.
        witness = witness.limit_denominator(10**6)
        assert false_positives(a, witness) > false_positives(b, witness)
    if max(excess) > 0:
        assert not result.holds


@given(STEPS, STEPS)
def test_dominance_orders_both_areas(first, second):
    a, b = curve(first), curve(second)
    if dominates(a, b).holds:
        assert auc_roc(a) >= auc_roc(b) - 1e-12
        assert auc_pr(a) >= auc_pr(b) - 1e-12


@given(STEPS)
def test_the_hull_dominates_its_curve_and_a_curve_itself(points):
    counts = curve(points)
    hull = roc_hull(counts)
    assert dominates(ScoreCounts.from_points(hull.tp, hull.fp, P, N), counts).holds
    assert dominates(counts, counts).holds


@given(STEPS, STEPS)
def test_both_ways_only_when_equal(first, second):
    a, b = curve(first), curve(second)
    equal = all(false_positives(a, t) == false_positives(b, t) for t in GRID)
    assert (dominates(a, b).holds and dominates(b, a).holds) == equal


def test_rp_6_3_the_two_curves_cross():
    # The paper joins its PR points by straight lines and reads crossings at recall .2 and .6. Joined as Davis and
    # Goadrich do, the curves cross at other recalls, but between them the lead is the same in either space.
    blue = from_pr([0.1, 0.4, 0.6], [1, 2 / 3, 6 / 11], positives=10, negatives=10)
    red = from_pr([0.1, 0.5, 0.8], [0.5, 5 / 8, 8 / 13], positives=10, negatives=10)
    result = dominates(blue, red)
    # FP(4) = 2 and 2.5, FP(5) = 3.5 and 3: the excess goes from -.5 to .5 over one true positive.
    assert not result.holds
    assert not dominates(red, blue).holds
    assert result.witness_recall > 0.45
    assert dominates(red, blue).witness_recall < 0.45


def test_a_witness_lies_beyond_a_jump():
    a = ScoreCounts([3, 2, 1], [2, 0, 2], [0, 6, 0])
    b = ScoreCounts([3, 2, 1], [2, 0, 2], [3, 0, 3])
    result = dominates(a, b)
    assert 0.5 < result.witness_recall <= 1


def test_one_false_positive_in_a_million_million_decides():
    x = 10**12
    a, b = ScoreCounts.from_points([x], [x], 3 * x, 3 * x), ScoreCounts.from_points([x], [x + 1], 3 * x, 3 * x)
    assert dominates(a, b).holds
    assert dominates(b, a).witness_recall == 1 / 3


def test_different_ground_truth_is_refused():
    totals = {"positives": 4, "negatives": 9, "other_positives": 4, "other_negatives": 8}
    with refused("other-ground-truth", ArgumentError, **totals):
        dominates(ScoreCounts([1], [4], [9]), ScoreCounts([1], [4], [8]))
    with refused("one-class", ArgumentError, positives=4, negatives=0):
        dominates(ScoreCounts([1], [4], [0]), ScoreCounts([1], [4], [0]))
