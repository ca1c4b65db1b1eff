import numpy as np
import pytest
from measured import pixel_image_summary, pixel_summary
from noted import kinds

from segbench.core.scores import ScoreCounts
from segbench.curves.points import best_f

KEYS = (
    "ods_f ods_precision ods_recall ods_threshold iou ois_f ois_precision ois_recall mean_image_f auc_pr "
    "auc_pr_achievable average_precision auc_roc fpr_at_95_tpr positives negatives ignored"
)
KEYS_OF_IMAGES = "f precision recall threshold iou auc_pr average_precision auc_roc positives negatives ignored"
COUNTS = ["positives", "negatives", "ignored"]


def test_the_keys_are_the_interface_s_in_its_order():
    image = ScoreCounts([2, 1], [3, 1], [1, 5], ignored=7)
    for found, keys in ((pixel_summary({"a": image}), KEYS), (pixel_image_summary(image), KEYS_OF_IMAGES)):
        assert [key for key in found if key in keys.split()] == keys.split()


def test_two_images_by_hand():
    a = ScoreCounts([3, 2, 1], [2, 0, 2], [0, 2, 8], ignored=5)  # best at 3: F = 2 * 2 / (4 + 2) = 2/3
    b = ScoreCounts([3, 2, 1], [0, 6, 0], [1, 1, 6])  # best at 2: F = 2 * 6 / (6 + 8) = 6/7
    summary = pixel_summary({"b": b, "a": a})
    assert [summary[key] for key in COUNTS] == [10, 18, 5]
    # Pooled: 2 of 3 at 3, 8 of 12 at 2, 10 of 28 at 1.
    assert [summary[f"ods_{name}"] for name in ("f", "precision", "recall", "threshold")] == [16 / 22, 8 / 12, 0.8, 2]
    # Each at its best: TP 2 + 6, FP 0 + 2.
    assert [summary[f"ois_{name}"] for name in ("f", "precision", "recall")] == [16 / 20, 0.8, 0.8]
    assert summary["mean_image_f"] == pytest.approx((2 / 3 + 6 / 7) / 2)
    assert summary["fpr_at_95_tpr"] == 1
    assert summary.undefined == {}
    assert summary.optimistic == ("auc_pr_achievable",)


@pytest.mark.parametrize("positives", [10, 19, 20, 21, 39])
def test_fpr95_is_at_the_first_threshold_with_no_less_than_95_percent(positives):
    image = ScoreCounts(range(positives, 0, -1), np.ones(positives, int), np.ones(positives, int))
    needed = next(found for found in range(positives + 1) if 100 * found >= 95 * positives)
    assert pixel_summary({"a": image})["fpr_at_95_tpr"] == needed / positives


def test_an_image_without_positives_pools_the_false_positives_of_its_highest_score():
    with_some, without = ScoreCounts([2, 1], [4, 0], [0, 9]), ScoreCounts([5, 3], [0, 0], [3, 90])
    summary = pixel_summary({"a": with_some, "b": without})
    assert summary["ois_precision"] == 4 / 7
    assert summary["ois_f"] == 2 * 4 / (4 + 7)
    assert summary["mean_image_f"] == 1


def test_image_figures_are_those_of_the_image():
    image = ScoreCounts([3, 2, 1], [2, 0, 2], [0, 2, 8], ignored=5)
    figures = pixel_image_summary(image)
    assert (figures["f"], figures["precision"], figures["recall"], figures["threshold"]) == (2 / 3, 1, 0.5, 3)
    assert figures["ignored"] == 5


@pytest.mark.parametrize(
    ("images", "reason"),
    [
        ({"a": ScoreCounts([2, 1], [0, 0], [4, 5])}, "no-positives"),
        ({"a": ScoreCounts([], [], [], ignored=9)}, "no-pixels"),
        ({}, "no-pixels"),
    ],
)
def test_without_positives_every_figure_is_nan_with_its_reason(images, reason):
    summary = pixel_summary(images)
    assert all(np.isnan(summary[key]) for key in KEYS.split()[:-3])
    assert set(kinds(summary.undefined.values())) == {reason}


def test_without_negatives_only_false_positive_rates_are_undefined():
    summary = pixel_summary({"a": ScoreCounts([2, 1], [4, 5], [0, 0])})
    assert {summary.undefined[key].kind for key in ("auc_roc", "fpr_at_95_tpr")} == {"no-negatives"}
    assert summary["auc_pr"] == summary["ods_f"] == summary["ois_f"] == 1


def test_a_curve_by_its_points_has_no_best_threshold():
    figures = pixel_image_summary(ScoreCounts.from_points([5, 10], [5, 30], 20, 2000))
    assert list(figures.undefined) == ["threshold"]
    assert figures.undefined["threshold"].kind == "scores-unknown"


def test_one_image_one_pixel():
    assert pixel_summary({"a": ScoreCounts([1], [1], [0])})["ods_f"] == 1


def test_many_images_of_different_lengths_have_their_own_best():
    rng = np.random.default_rng(2)
    images = {}
    for k in range(300):
        size = int(rng.integers(0, 2000))
        images[f"{k:03}"] = ScoreCounts(np.arange(size)[::-1], rng.integers(0, 3, size), rng.integers(0, 9, size))
    each = [best_f(counts) for counts in images.values()]
    summary = pixel_summary(images)
    tp, fp = sum(best.tp for best in each), sum(best.fp for best in each)
    assert summary["ois_f"] == 2 * tp / (summary["positives"] + tp + fp)
    assert summary["mean_image_f"] == pytest.approx(np.nanmean([best.f for best in each]), rel=1e-15)


def test_the_best_f_of_an_image_counts_the_positives_of_its_lowest_score():
    image = ScoreCounts([3, 2, 1], [10, 10, 80], [0, 25, 9999])  # 2 * 20 / 145 is the best of 100 positives
    assert pixel_summary({"a": image, "b": image})["ois_recall"] == 0.2


def test_the_source_of_thresholds_is_kept():
    image = ScoreCounts([2, 1], [3, 1], [1, 5])
    assert pixel_summary({"a": image.at([2], source="tuning set")}).threshold_source == "tuning set"
    assert pixel_image_summary(image.at([2], source="tuning set")).threshold_source == "tuning set"
    assert pixel_summary({"a": image}).threshold_source == ""
