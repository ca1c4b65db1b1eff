import numpy as np
import pytest
from cases import score_counts
from hypothesis import given
from hypothesis import strategies as st
from refusing import refused

from segbench.core.errors import ArgumentError
from segbench.curves.conversion import from_pr
from segbench.curves.curve import pr_curve, roc_curve

LEVELS = st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), min_size=1, max_size=10)


def test_rp_6_3_points_drawn_in_pr_space():
    first = roc_curve(from_pr([0.1, 0.4, 0.6], [1, 2 / 3, 6 / 11], positives=10, negatives=10))
    assert first.tpr.tolist() == [0, 0.1, 0.4, 0.6, 1]
    assert first.fpr.tolist() == [0, 0, 0.2, 0.5, 1]
    second = from_pr([0.8, 0.1, 0.5], [8 / 13, 0.5, 5 / 8], positives=10, negatives=10)
    assert second.negatives.tolist() == [1, 2, 2, 5]


@given(LEVELS)
def test_there_and_back(pairs):
    counts = score_counts(pairs)
    if not (counts.total_positives and counts.total_negatives):
        return
    pr = pr_curve(counts)
    some = pr.recall > 0
    again = pr_curve(
        from_pr(
            pr.recall[some],
            pr.precision[some],
            positives=counts.total_positives,
            negatives=counts.total_negatives,
            tolerance=1e-3,
        )
    )
    points = set(zip(again.tp.tolist(), again.fp.tolist(), strict=True))
    assert points >= set(zip(pr.tp[some].tolist(), pr.fp[some].tolist(), strict=True))


@pytest.mark.parametrize(
    ("recall", "precision", "kind", "values"),
    [
        (0, 0.5, "no-matrix", {"recall": 0, "precision": 0.5}),
        (-0.5, 0.5, "no-matrix", {"recall": -0.5}),
        (0.5, 0, "no-matrix", {"precision": 0}),
        (np.nan, 0.5, "no-matrix", {"precision": 0.5}),
        (0.5, 0.01, "beyond-totals", {"tp": 5, "fp": 495, "positives": 10, "negatives": 100}),
        (1.5, 0.5, "beyond-totals", {"tp": 15}),
        (0.5, 1.25, "negative", {"argument": "fp", "value": -1}),
        (0.5, 1e-320, "not-whole", {"argument": "fp"}),
    ],
)
def test_points_that_are_no_confusion_matrix_are_refused(recall, precision, kind, values):
    with refused(kind, ArgumentError, **values):
        from_pr([0.5, recall], [0.5, precision], positives=10, negatives=100)


def test_everything_predicted_is_feasible_in_spite_of_rounding():
    assert from_pr([1.0], [7 / (7 + 3)], positives=7, negatives=3).negatives.tolist() == [3]


def test_lengths_and_totals_are_checked():
    with refused("other-shape", ArgumentError, recall=(2,), precision=(1,)):
        from_pr([0.5, 0.6], [0.5], positives=10, negatives=100)
    with refused("wrong-value", ArgumentError, argument="negatives", value="-1"):
        from_pr([0.5], [0.5], positives=10, negatives=-1)


def test_counts_that_are_no_whole_numbers_are_refused_unless_rounding_is_allowed():
    # 7 true, 15.01 false: a table of three digits
    with refused("not-whole", ArgumentError, tp=7, fp=pytest.approx(15.0126, abs=5e-5)):
        from_pr([0.5], [0.318], positives=14, negatives=100)
    assert from_pr([0.5], [0.318], positives=14, negatives=100, tolerance=0.1).negatives.tolist() == [15, 85]


def test_one_point_of_several_that_is_no_whole_number_is_refused():
    with refused("not-whole", ArgumentError, tp=14, fp=pytest.approx(30.0252, abs=5e-5)):
        from_pr([0.5, 1.0], [0.5, 0.318], positives=14, negatives=100)


def test_points_that_no_one_ranking_has_are_refused():
    with refused("falling-counts", ArgumentError):
        from_pr([0.2, 0.4], [0.2, 0.8], positives=10, negatives=10)
