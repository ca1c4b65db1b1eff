import numpy as np
import pytest

from segbench.core.scores import ScoreCounts
from segbench.curves.curve import pr_curve, roc_curve


def test_points_go_from_nothing_to_everything():
    curve = roc_curve(ScoreCounts([0.9, 0.5, 0.1], [2, 1, 1], [0, 3, 5]))
    assert curve.tp.tolist() == [0, 2, 3, 4]
    assert curve.fp.tolist() == [0, 0, 3, 8]
    assert curve.thresholds.tolist() == [np.inf, 0.9, 0.5, 0.1]
    assert curve.tpr.tolist() == [0, 0.5, 0.75, 1]
    assert curve.fpr.tolist() == [0, 0, 3 / 8, 1]
    assert (curve.positives, curve.negatives, curve.optimistic) == (4, 8, False)


def test_precision_without_predictions_is_the_limit():
    assert pr_curve(ScoreCounts([2, 1], [0, 4], [1, 3])).precision.tolist() == [0, 0, 0.5]
    assert pr_curve(ScoreCounts([2, 1], [1, 3], [1, 3])).precision.tolist() == [0.5, 0.5, 0.5]
    # Thresholds above every score predict nothing either.
    assert pr_curve(ScoreCounts([2, 1], [3, 1], [1, 3]).at([9, 8, 2])).precision.tolist() == [0.75] * 4 + [0.5]


def test_rates_without_a_class_are_nan():
    curve = roc_curve(ScoreCounts([2, 1], [0, 0], [1, 3]))
    assert np.isnan(curve.tpr).all()
    assert curve.fpr.tolist() == [0, 0.25, 1]
    assert np.isnan(roc_curve(ScoreCounts([2, 1], [1, 3], [0, 0])).fpr).all()
    empty = pr_curve(ScoreCounts([], [], []))
    assert np.isnan([empty.precision[0], empty.recall[0], empty.area]).all()


def test_the_source_of_thresholds_is_kept():
    counts = ScoreCounts([2, 1], [3, 1], [1, 3]).at([2], source="tuning set")
    assert pr_curve(counts).threshold_source == roc_curve(counts).threshold_source == "tuning set"


def test_float32_scores_stay_float32_and_arrays_cannot_be_written():
    curve = roc_curve(ScoreCounts(np.array([0.5, 0.25], np.float32), [1, 2], [3, 4]))
    assert curve.thresholds.dtype == np.float32
    with pytest.raises(ValueError, match="read-only"):
        curve.tp[0] = 1


def test_a_curve_by_points_has_no_thresholds():
    curve = pr_curve(ScoreCounts.from_points([5], [5], 20, 2000))
    assert curve.thresholds[0] == np.inf
    assert np.isnan(curve.thresholds[1:]).all()
