import math

import numpy as np
import pytest
from cases import labels_and_scores
from hypothesis import given
from hypothesis import strategies as st
from refusing import refused
from sklearn.metrics import (
    accuracy_score,
    f1_score,
    jaccard_score,
    matthews_corrcoef,
    recall_score,
)

from segbench.core.errors import ArgumentError
from segbench.core.operating_point import OperatingPoint
from segbench.core.scores import ScoreCounts
from segbench.curves.curve import roc_curve
from segbench.curves.points import best_f

PIXELS = st.lists(st.tuples(st.booleans(), st.integers(0, 8)), min_size=2, max_size=40).filter(
    lambda pixels: 0 < sum(label for label, _ in pixels) < len(pixels)
)


def test_a_point_by_hand():
    point = OperatingPoint(0.5, tp=6, fp=2, positives=8, negatives=92)
    assert (point.precision, point.recall, point.f, point.dice) == (0.75, 0.75, 0.75, 0.75)
    assert (point.iou, point.fpr, point.accuracy) == (0.6, 2 / 92, 0.96)


def test_points_are_printed_as_what_one_looks_for():
    counts = ScoreCounts([0.9, 0.1], [2, 1], [1, 6])
    said = "(f=0.6667, precision=0.6667, recall=0.6667, threshold=0.9)"
    assert repr(best_f(counts)) == f"BestF{said}"
    assert repr(counts.operating_point(0.9)) == f"OperatingPoint{said}"


@given(PIXELS)
def test_the_iou_of_best_f_is_the_best_of_scikit_learn_s_over_all_thresholds(counted, pixels):
    labels, scores = labels_and_scores(pixels)
    best = best_f(counted(labels, scores))
    each = [jaccard_score(labels, scores >= threshold) for threshold in np.unique(scores)]
    assert best.iou == pytest.approx(max(each), rel=1e-14)
    assert best.dice == pytest.approx(f1_score(labels, scores >= best.threshold), rel=1e-14)


@pytest.mark.parametrize("counts", [ScoreCounts([1], [0], [4]), ScoreCounts([], [], [])])
def test_without_positives_iou_is_undefined(counts):
    assert math.isnan(best_f(counts).iou)


class TestAThresholdGiven:
    counts = ScoreCounts([0.9, 0.5, 0.1], [3, 1, 0], [0, 2, 7])

    @pytest.mark.parametrize(
        ("threshold", "tp", "fp"), [(0.95, 0, 0), (0.9, 3, 0), (0.6, 3, 0), (0.5, 4, 2), (0, 4, 9), (-math.inf, 4, 9)]
    )
    def test_counts_scores_that_reach_it(self, threshold, tp, fp):
        point = self.counts.operating_point(threshold)
        assert (point.tp, point.fp, point.positives, point.negatives) == (tp, fp, 4, 9)
        assert (point.threshold, type(point.tp)) == (threshold, int)

    def test_by_hand(self):
        point = self.counts.operating_point(0.5)
        assert (point.precision, point.recall, point.f, point.iou) == (4 / 6, 1, 0.8, 4 / 6)
        assert (point.specificity, point.accuracy, point.dice) == (7 / 9, 11 / 13, 0.8)
        assert point.mcc == pytest.approx(4 * 7 / math.sqrt(6 * 4 * 7 * 9), rel=1e-15)

    def test_every_threshold_of_a_curve(self):
        curve = roc_curve(self.counts)
        points = [self.counts.operating_point(threshold) for threshold in curve.thresholds]
        assert [point.tp for point in points] == curve.tp.tolist()
        assert [point.fpr for point in points] == curve.fpr.tolist()

    @given(PIXELS, st.integers(-1, 9))
    def test_it_is_scikit_learn_s(self, counted, pixels, threshold):
        labels, scores = labels_and_scores(pixels)
        point = counted(labels, scores).operating_point(threshold)
        predicted = scores >= threshold
        mcc = matthews_corrcoef(labels, predicted)
        assert mcc == pytest.approx(0 if math.isnan(point.mcc) else point.mcc, rel=1e-14, abs=1e-15)
        assert point.accuracy == pytest.approx(accuracy_score(labels, predicted), rel=1e-14)
        assert point.specificity == pytest.approx(recall_score(~labels, ~predicted), rel=1e-14)

    def test_undefined_metrics_are_nan(self):
        nothing = ScoreCounts([0.5], [0], [0]).operating_point(0.5)
        names = ("precision", "recall", "fpr", "specificity", "f", "iou", "accuracy", "mcc")
        assert all(math.isnan(getattr(nothing, name)) for name in names)
        assert math.isnan(self.counts.operating_point(1).mcc)
        assert math.isnan(self.counts.operating_point(0).mcc)
        assert self.counts.operating_point(1).specificity == 1

    def test_mcc_of_many_pixels_is_exact(self):
        large = 2**56
        assert OperatingPoint(0.5, large, 0, large, large).mcc == 1
        assert OperatingPoint(0.5, 0, large, large, large).mcc == -1
        # The difference of the two products is below the last bit of either as a float.
        point = OperatingPoint(0.5, large // 2, large // 2 + 1, large, large)
        assert point.mcc == pytest.approx(-1 / large, rel=1e-12)

    @pytest.mark.parametrize("threshold", [math.nan, "0.5", None, True, [0.5]])
    def test_what_is_no_threshold(self, threshold):
        with refused("wrong-value", ArgumentError, argument="threshold", value=repr(threshold), expected="a number"):
            self.counts.operating_point(threshold)

    def test_scores_that_are_not_known(self):
        with refused("thresholds-unknown", ArgumentError):
            ScoreCounts.from_points([1], [1], 2, 2).operating_point(0.5)
