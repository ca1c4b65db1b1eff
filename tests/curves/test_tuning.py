import numpy as np
from measured import pixel_summary
from refusing import refused

from segbench.core.errors import ArgumentError
from segbench.core.scores import ScoreCounts, Thresholds
from segbench.curves.curve import achievable_pr_curve, pr_curve, thresholds_from


def test_a_test_set_is_cut_at_the_tuning_set_s_hull():
    # Hull of the tuning set: (2, 0) at .9, (3, 3) at .5 is above the line to (4, 4), so .9 and .1 remain.
    tuning = ScoreCounts([0.9, 0.5, 0.1], [2, 1, 1], [0, 3, 1])
    test = ScoreCounts([0.95, 0.6, 0.2, 0.05], [1, 0, 1, 2], [1, 0, 0, 4])
    curve = pr_curve(test.at(thresholds_from(tuning, source="images 1 to 9")))
    assert curve.thresholds.tolist() == [np.inf, 0.9, 0.1, -np.inf]
    assert curve.tp.tolist() == [0, 1, 2, 4]
    assert curve.fp.tolist() == [0, 1, 1, 5]
    assert curve.threshold_source == "images 1 to 9"
    assert not curve.optimistic


def test_on_its_own_data_the_tuned_curve_is_the_optimistic_hull():
    rng = np.random.default_rng(0)
    tuning = ScoreCounts(np.arange(50)[::-1], rng.integers(0, 9, 50), rng.integers(0, 9, 50))
    tuned, hull = pr_curve(tuning.at(thresholds_from(tuning))), achievable_pr_curve(tuning)
    assert tuned.area == hull.area
    assert hull.optimistic


def test_the_summary_keeps_the_source():
    tuning = ScoreCounts([0.9, 0.5, 0.1], [2, 1, 1], [0, 3, 1])
    images = {name: tuning.at(thresholds_from(tuning, source="validation")) for name in "ab"}
    assert pixel_summary(images).threshold_source == "validation"


def test_a_tuning_set_without_a_class_or_scores_is_refused():
    with refused("one-class", ArgumentError, positives=0, negatives=3):
        thresholds_from(ScoreCounts([1], [0], [3]))
    with refused("thresholds-unknown", ArgumentError):
        thresholds_from(ScoreCounts.from_points([1], [1], 2, 2))


def test_thresholds_fall_each_once_and_hold_no_nan():
    thresholds = Thresholds([0.1, 0.7, 0.1], "tuning")
    assert (np.asarray(thresholds).tolist(), len(thresholds)) == ([0.7, 0.1], 2)
    with refused("not-a-number", ArgumentError, argument="thresholds"):
        Thresholds([np.nan], "tuning")
