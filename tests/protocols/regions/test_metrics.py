import numpy as np
from measured import region_image_summary, region_summary
from refusing import refused

from segbench import ArgumentError, RegionCounts, compare, intervals, region_curve

AREA, UNIT, MEAN = 10, 2**20, 2**36


def counts(covered, rand, voi, thresholds=(0.25, 0.5, 0.75)):
    means = [np.array(values) * MEAN for values in (rand, voi, voi, rand, rand, rand)]
    best = max(covered) * UNIT
    return RegionCounts(
        thresholds,
        1,
        AREA,
        AREA,
        best,
        np.array(covered) * UNIT,
        np.array(covered) * UNIT,
        *(m.astype(int) for m in means),
    )


A = counts([6, 8, 8], [0.5, 0.75, 0.25], [1, 0.5, 0.25])
B = counts([6, 2, 2], [0.75, 0.25, 0.25], [0.25, 0.5, 1])
IMAGES = {"a": A, "b": B}


def test_the_curve_covers_predictions_too():
    assert region_curve(A + B).covering_of_prediction.tolist() == [0.6, 0.5, 0.5]


def test_summary_by_hand():
    summary = region_summary(IMAGES)
    assert list(summary)[:4] == ["covering_ods", "covering_ods_threshold", "covering_ois", "covering_best"]
    assert {"pri_ods", "pri_ois", "voi_ods", "voi_ois"} <= summary.keys()
    assert (summary["covering_ods"], summary["covering_ods_threshold"]) == (0.6, 0.25)
    assert summary["covering_ois"] == summary["covering_best"] == 0.7
    assert (summary["pri_ods"], summary["pri_ods_threshold"], summary["pri_ois"]) == (0.625, 0.25, 0.75)
    assert (summary["voi_ods"], summary["voi_ods_threshold"], summary["voi_ois"]) == (1.0, 0.5, 0.5)
    assert summary["voi_split"] + summary["voi_merge"] == summary["voi_ods"]
    assert (summary["are_ods"], summary["are_ois"], summary["are_precision"]) == (0.375, 0.25, 0.625)


def test_pooled_curve_is_that_of_the_sum():
    curve = region_curve(A + B)
    assert curve.covering.tolist() == [0.6, 0.5, 0.5]
    assert curve.voi.tolist() == [1.25, 1.0, 1.25]


def test_figures_of_an_image_take_the_first_of_equal_thresholds():
    figures = region_image_summary(A)
    assert (figures["covering"], figures["threshold"], figures["voi"]) == (0.8, 0.5, 0.5)


def test_intervals_and_comparison():
    images = {str(k): (A, B)[k % 2] for k in range(12)}
    low, high = intervals(images)["pri_ods"]
    assert 0.5 <= low < 0.625 < high <= 0.75
    worse = {name: counts([5, 5, 1], [0.25] * 3, [1.5] * 3) for name in images}
    rows = {row.metric: row for row in compare({"a": images, "b": worse}, replicates=100).differences}
    assert rows["covering_ods"].wins == rows["voi_ods"].wins == rows["are_ods"].wins == 12
    assert rows["voi_ods"].difference < 0
    assert "covering_ods_threshold" not in rows


def test_of_no_image_everything_is_undefined():
    summary = region_summary({})
    assert summary.empty
    assert set(summary.undefined) == set(summary)


def test_refusals():
    with refused("counted-otherwise", ArgumentError, first="a", thresholds=3, image="b", others=1):
        region_summary({"a": A, "b": counts([1], [1], [1], thresholds=[0.5])})
