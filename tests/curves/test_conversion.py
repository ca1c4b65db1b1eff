import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from segbench.core.errors import ArgumentError
from segbench.core.scores import ScoreCounts
from segbench.curves.conversion import from_pr, from_roc
from segbench.curves.curve import pr_curve, roc_curve

LEVELS = st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), min_size=1, max_size=10)


def levels(pairs):
    positives, negatives = zip(*pairs, strict=True)
    return ScoreCounts(np.arange(len(pairs))[::-1], positives, negatives)


def test_rp_6_3_points_drawn_in_pr_space():
    first = from_pr([0.1, 0.4, 0.6], [1, 2 / 3, 6 / 11], positives=10, negatives=10)
    assert first.tpr == pytest.approx([0.1, 0.4, 0.6])
    assert first.fpr == pytest.approx([0, 0.2, 0.5], abs=1e-15)
    second = from_pr([0.1, 0.5, 0.8], [0.5, 5 / 8, 8 / 13], positives=10, negatives=10)
    assert second.fp == pytest.approx([1, 3, 5])


@given(LEVELS)
def test_there_and_back(pairs):
    counts = levels(pairs)
    if not (counts.total_positives and counts.total_negatives):
        return
    pr, roc = pr_curve(counts), roc_curve(counts)
    totals = {"positives": counts.total_positives, "negatives": counts.total_negatives}
    some = pr.recall > 0
    by_pr = from_pr(pr.recall[some], pr.precision[some], **totals)
    assert by_pr.fpr == pytest.approx(roc.fpr[some], rel=1e-9, abs=1e-12)
    by_roc = from_roc(roc.fpr, roc.tpr, **totals)
    assert by_roc.precision[some] == pytest.approx(pr.precision[some], rel=1e-9)
    again = pr_curve(by_roc.counts())
    assert set(zip(again.tp.tolist(), again.fp.tolist(), strict=True)) == set(
        zip(pr.tp.tolist(), pr.fp.tolist(), strict=True)
    )


@pytest.mark.parametrize(
    ("recall", "precision", "reason"),
    [
        (0, 0.5, "cannot be recovered"),
        (0.5, 0.01, "more false positives than the 100 negatives"),
        (1.5, 0.5, "more true positives than the 10 positives"),
        (0.5, 1.5, "precision above 1"),
        (0.5, 0, "infinitely many"),
        (np.nan, 0.5, "not a number"),
        (-0.5, 0.5, "below 0"),
    ],
)
def test_infeasible_pr_points_are_refused_with_the_reason(recall, precision, reason):
    with pytest.raises(ArgumentError, match=f"point 1 .*{reason}"):
        from_pr([0.5, recall], [0.5, precision], positives=10, negatives=100)


@pytest.mark.parametrize(("fpr", "tpr"), [(1.1, 0.5), (0.5, 1.1), (-0.1, 0.5), (np.nan, 0.5)])
def test_roc_points_outside_the_square_are_refused(fpr, tpr):
    with pytest.raises(ArgumentError, match="point 0"):
        from_roc([fpr], [tpr], positives=10, negatives=100)


def test_everything_predicted_is_feasible_in_spite_of_rounding():
    points = from_pr([1.0], [7 / (7 + 3)], positives=7, negatives=3)
    assert points.fp[0] == pytest.approx(3)
    assert points.fp[0] <= 3


def test_lengths_and_totals_are_checked():
    with pytest.raises(ArgumentError, match="shape"):
        from_pr([0.5, 0.6], [0.5], positives=10, negatives=100)
    with pytest.raises(ArgumentError, match="negatives is 0"):
        from_roc([0.5], [0.5], positives=10, negatives=0)


def test_counts_that_are_no_whole_numbers_are_refused_unless_rounding_is_allowed():
    points = from_pr([0.5], [0.318], positives=14, negatives=100)  # 7 true, 15.01 false: a table of three digits
    with pytest.raises(ArgumentError, match=r"7 true and 15\.0126 false"):
        points.counts()
    assert points.counts(tolerance=0.1).negatives.tolist() == [15, 85]


def test_points_that_no_one_ranking_has_are_refused():
    with pytest.raises(ArgumentError, match="must not decrease"):
        from_roc([0.5, 0.1], [0.1, 0.5], positives=10, negatives=10).counts()


def test_a_curve_is_read_in_the_other_space():
    roc = roc_curve(ScoreCounts([2, 1], [3, 1], [2, 7]))
    pr = roc.in_space("pr")
    assert (roc.space, pr.space) == ("roc", "pr")
    assert pr.area == pr_curve(ScoreCounts([2, 1], [3, 1], [2, 7])).area != roc.area
    assert pr.in_space("roc").area == roc.area
