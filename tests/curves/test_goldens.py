"""The two papers' own examples: D&G is Davis and Goadrich 2006, R&P is "ROC and PR" by Sun, Zheng and Huang 2013."""

import math

import numpy as np
import pytest
from measured import pixel_summary

from segbench.core.scores import ScoreCounts
from segbench.curves.areas import auc_pr, auc_roc, average_precision
from segbench.curves.curve import achievable_pr_curve, pr_curve, roc_curve
from segbench.curves.operating import best_f

TABLE_2 = [[0, 0, 0, 0], [0, 1, 1, 0], [0, 1, 1, 0], [0, 0, 0, 0]]
TABLE_3 = [[128, 0, 0, 0], [0, 255, 0, 0], [0, 64, 192, 0], [0, 0, 0, 64]]
TABLE_6 = [[0, 0, 0, 0], [0, 1, 1, 0], [0, 1, 1, 0], [0, 0, 0, 1]]
TABLE_7 = [[0.5, 0, 0, 0], [0, 1, 0, 0], [0, 0.25, 0.75, 0], [0, 0, 0, 0.25]]
TABLE_8 = [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
TABLE_9 = [[0.6, 0, 0, 0], [0.8, 0.4, 0, 0], [0, 0.7, 0.8, 0], [0, 0, 0, 0]]


def approx(value, digits):
    return pytest.approx(value, rel=0, abs=0.5000001 * 10**-digits)


def test_dg_table_1_points():
    counts = ScoreCounts.from_points([5, 6, 7, 8, 9, 10], [5, 10, 15, 20, 25, 30], 20, 2000)
    curve = pr_curve(counts)
    assert curve.recall[1:7] == pytest.approx([0.25, 0.30, 0.35, 0.40, 0.45, 0.50])
    assert np.round(curve.precision[1:7], 3).tolist() == [0.5, 0.375, 0.318, 0.286, 0.265, 0.25]


@pytest.mark.parametrize(("method", "segment"), [("exact", 0.0801748), ("trapezoid", 0.0809301), ("linear", 0.09375)])
def test_dg_table_1_area_from_a_to_b(method, segment):
    whole = auc_pr(ScoreCounts.from_points([5, 10], [5, 30], 20, 2000), method=method)
    # Up to A precision is .5; from B on, a curve of its own that the second term takes off.
    after = auc_pr(ScoreCounts.from_points([10], [30], 20, 2000), method=method) - 0.5 * 0.25
    assert whole - 0.25 * 0.5 - after == approx(segment, 7)


@pytest.mark.parametrize(("method", "area"), [("exact", 0.0294742), ("trapezoid", 0.0302763), ("linear", 0.51)])
def test_dg_figure_6(method, area):
    # The paper prints .031 and .50: its own rule gives .0303, and a straight line from (.02, 1) to (1, .008) .514.
    counts = ScoreCounts.from_points([9], [0], 433, 56164)
    assert auc_pr(counts, method=method) == approx(area, 2 if method == "linear" else 7)


def test_dg_figure_7_curve_2():
    counts = ScoreCounts.from_points([20], [500], 20, 2000)
    assert auc_roc(counts) == 0.875
    assert auc_pr(counts) == approx(0.0384615, 7)


def test_dg_figure_7_curve_1():
    # Its vertices are not printed. The natural guess gives the paper's .813, but .520 (.537 by the paper's own rule)
    # where .514 is printed; that the two areas order the curves the opposite way comes out as the paper says.
    counts = ScoreCounts.from_points([10, 20], [0, 1500], 20, 2000)
    assert auc_roc(counts) == 0.8125
    assert auc_pr(counts) == approx(0.51984, 5)
    assert auc_pr(counts, method="trapezoid") == approx(0.53730, 5)


def test_rp_tables_2_to_5(counted):
    # The paper's third PR point is (.5, .4). At threshold .75 nothing false is left, so precision is 1.
    counts = counted(TABLE_2, np.asarray(TABLE_3) / 255).at([0.25, 0.5, 0.75])
    roc, pr = roc_curve(counts), pr_curve(counts)
    assert roc.thresholds.tolist() == [np.inf, 0.75, 0.5, 0.25, -np.inf]
    assert roc.fpr[1:4].tolist() == [0, 1 / 12, 1 / 6]
    assert roc.tpr[1:4].tolist() == [0.5, 0.5, 0.75]
    assert pr.recall[1:4].tolist() == [0.5, 0.5, 0.75]
    assert pr.precision[1:4] == pytest.approx([1, 2 / 3, 0.6])


@pytest.mark.parametrize(("last_entry", "recall"), [(1, 4 / 9), (0, 4 / 8)])
def test_rp_tables_6_to_9_at_one_half(counted, last_entry, recall):
    # The paper's recall of 4/8 needs table 6 without its last positive, the fifth.
    pooled = counted(_table_6(last_entry), TABLE_7) + counted(TABLE_8, TABLE_9)
    pr = pr_curve(pooled.at([0.5]))
    assert (pr.tp[1], pr.fp[1], pr.precision[1], pr.recall[1]) == (4, 3, 4 / 7, recall)


@pytest.mark.parametrize(
    ("last_entry", "expected"),
    [
        (
            1,
            {
                "auc_roc": 0.8140097,
                "average_precision": 0.6300926,
                "auc_pr": 0.6531311,
                "auc_pr_achievable": 0.7041736,
                "ods_f": 0.7368421,
                "ods_threshold": 0.25,
                "ois_f": 0.7368421,
                "mean_image_f": 0.7333333,
            },
        ),
        (
            0,
            {
                "auc_roc": 0.8020833,
                "average_precision": 0.6010417,
                "auc_pr": 0.6316802,
                "auc_pr_achievable": 0.6649600,
                "ods_f": 0.6666667,
                "ois_f": 0.6666667,
                "mean_image_f": 0.6666667,
            },
        ),
    ],
)
def test_rp_tables_6_to_9_pooled(counted, last_entry, expected):
    summary = pixel_summary({"6": counted(_table_6(last_entry), TABLE_7), "8": counted(TABLE_8, TABLE_9)})
    assert {key: summary[key] for key in expected} == {key: approx(value, 7) for key, value in expected.items()}


def test_rp_6_2_the_picture_of_32_by_32(counted):
    labels, scores = np.zeros((32, 32), int), np.zeros((32, 32), int)
    labels[15:] = 1
    scores[0] = 64
    scores[15:20], scores[20:25], scores[25:31] = 64, 128, 192
    counts = counted(labels, scores)
    curve = pr_curve(counts)
    assert (curve.positives, curve.negatives) == (544, 480)
    assert list(zip(curve.tp.tolist(), curve.fp.tolist(), strict=True)) == [
        (0, 0),
        (192, 0),
        (352, 0),
        (512, 32),
        (544, 480),
    ]
    assert auc_roc(counts) == approx(0.9588235, 7)
    assert average_precision(counts) == approx(0.9551254, 7)
    assert curve.area == approx(0.9720766, 7)
    assert achievable_pr_curve(counts).area == curve.area
    assert best_f(counts).f == approx(0.9411765, 7)
    assert best_f(counts).threshold == 64


@pytest.mark.parametrize(
    ("scores", "areas"),
    [
        ("11220230002110021000", (0.600, 0.6090909, 0.6490955, 0.6538577)),
        ("13220112203112200000", (0.645, 0.5846154, 0.5815780, 0.6082179)),
    ],
)
def test_rp_6_3_ten_and_ten(counted, scores, areas):
    # The paper prints nineteen labels for its twenty scores; ten positives, then ten negatives, is what it says.
    counts = counted([1] * 10 + [0] * 10, [int(score) for score in scores])
    found = auc_roc(counts), average_precision(counts), auc_pr(counts), achievable_pr_curve(counts).area
    assert found == tuple(approx(area, 7) for area in areas)


@pytest.mark.parametrize(
    ("positives", "roc", "average"),
    [
        (50, 0.236842, 0.031183),
        (150, 0.401961, None),
        (250, 0.433333, None),
        (350, 0.445055, None),
        (450, 0.449495, None),
        (950, None, 0.916412),
    ],
)
def test_rp_6_4_prevalence(counted, positives, roc, average):
    counts = counted(np.arange(1000) < positives, np.tile(np.arange(100), 10))
    if roc is not None:
        assert auc_roc(counts) == approx(roc, 6)
    if average is not None:
        assert average_precision(counts) == approx(average, 6)
    # The scores tell nothing, so the hull is the diagonal and precision the prevalence.
    assert achievable_pr_curve(counts).area == pytest.approx(positives / 1000, rel=1e-15)


@pytest.mark.parametrize(("positives", "negatives"), [(1, 1), (10**6, 10**6), (3, 997), (10**12, 10**3)])
def test_the_worst_order_has_the_least_area(positives, negatives):
    prevalence = positives / (positives + negatives)
    counts = ScoreCounts.from_points([0], [negatives], positives, negatives)
    least = 1 + (1 - prevalence) * math.log1p(-prevalence) / prevalence
    assert auc_pr(counts) == pytest.approx(least, rel=1e-12, abs=1e-12 / prevalence if prevalence < 0.1 else 1e-12)
    if positives == negatives:
        assert auc_pr(counts) == approx(0.3068528, 7)


def test_pooling_each_image_at_its_best_can_be_below_one_common_threshold(counted):
    summary = pixel_summary({"a": counted([0, 1, 0], [0, 0, 1]), "b": counted([0, 1, 1], [0, 3, 3])})
    assert (summary["ods_f"], summary["ois_f"]) == (0.8, 0.75)


def _table_6(last_entry):
    return [*TABLE_6[:3], [0, 0, 0, last_entry]]
