from fractions import Fraction

import numpy as np
import pytest
from cases import score_counts
from hypothesis import given
from hypothesis import strategies as st
from refusing import refused

from segbench.core.errors import ArgumentError
from segbench.core.scores import ScoreCounts
from segbench.curves.points import best_f

LEVELS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=15)


@given(LEVELS, st.sampled_from([0.25, 0.3, 1.0, 2.0, 3.7]))
def test_best_f_is_the_first_maximum_in_fractions(pairs, beta):
    counts = score_counts(pairs)
    if counts.total_positives == 0:
        return
    weight = Fraction(beta) ** 2
    tp, fp = np.cumsum(counts.positives).tolist(), np.cumsum(counts.negatives).tolist()
    f = [(1 + weight) * t / (weight * tp[-1] + t + g) for t, g in zip(tp, fp, strict=True)]
    best = best_f(counts, beta=beta)
    first = f.index(max(f))
    assert (best.tp, best.fp, best.threshold) == (tp[first], fp[first], counts.scores[first])
    assert best.f == pytest.approx(float(max(f)), rel=1e-15)


def test_precision_and_recall_are_those_of_the_point():
    best = best_f(ScoreCounts([3, 2, 1], [2, 1, 1], [1, 0, 9]))
    assert (best.precision, best.recall, best.f) == (0.75, 0.75, 0.75)


def test_beta_favours_recall_above_one_and_precision_below():
    counts = ScoreCounts([2, 1], [5, 5], [0, 10])
    assert best_f(counts, beta=0.5).recall == 0.5
    assert best_f(counts, beta=2).recall == 1


def test_among_equals_the_highest_threshold_wins():
    # F is 2/3 at both: 2 * 1 / (2 + 1) and 2 * 2 / (2 + 4).
    best = best_f(ScoreCounts([2, 1], [1, 1], [0, 2]))
    assert (best.f, best.threshold) == (2 / 3, 2)


def test_the_best_of_a_long_curve_is_found_past_its_first_piece():
    positives = np.zeros(400_000, np.int64)
    positives[300_000] = 10**6
    best = best_f(ScoreCounts(np.arange(400_000)[::-1], positives, np.ones(400_000, int)))
    assert best.threshold == 399_999 - 300_000
    assert (best.tp, best.fp) == (10**6, 300_001)


def test_without_positives_f_is_undefined_and_the_highest_score_stands():
    best = best_f(ScoreCounts([3, 2], [0, 0], [4, 9]))
    assert np.isnan([best.f, best.recall]).all()
    assert (best.threshold, best.tp, best.fp, best.precision) == (3, 0, 4, 0)


@pytest.mark.parametrize("beta", [0, -1, np.nan, np.inf])
def test_a_beta_that_is_no_positive_number_is_refused(beta):
    with refused("wrong-value", ArgumentError, argument="beta", value=str(beta)):
        best_f(ScoreCounts([1], [1], [1]), beta=beta)
