import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from measured import PIXELS, keys_of, pixel_image_summary, pixel_summary

from segbench.core.scores import ScoreCounts
from segbench.curves.areas import average_precision
from segbench.curves.operating import best_f, fpr_at_tpr

BOUNDED = (
    "auc_roc",
    "auc_pr",
    "auc_pr_achievable",
    "average_precision",
    "ods_f",
    "ods_precision",
    "ods_recall",
    "ods_threshold",
    "ois_f",
    "ois_precision",
    "ois_recall",
    "mean_image_f",
    "fpr_at_95_tpr",
)
IN_UNIT = 1e-15  # what rounding alone does


def crowded(rng, pixels, prevalence, spread):
    """Scores that share bins: around a few centres, closer to each other than a bin is wide; some are equal."""
    centres = rng.choice([1e-6, 0.01, 0.2, 0.4999, 0.6, 0.95, 0.999], pixels)
    within = rng.random(pixels) if rng.random() < 0.5 else rng.integers(0, 3, pixels) / 3
    return rng.random(pixels) < prevalence, centres * (1 + spread * within / 256)


def in_bins(images):
    return {name: counts.in_bins() for name, counts in images.items()}


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32),
    st.lists(st.tuples(st.integers(1, 60), st.sampled_from([0, 0.1, 0.5, 1])), min_size=1, max_size=5),
    st.sampled_from([0.0, 0.3, 1.0, 3.0]),
)
def test_bounds_hold_the_exact_metric(counted, seed, shapes, spread):
    rng = np.random.default_rng(seed)
    exact = {str(k): counted(*crowded(rng, pixels, share, spread)) for k, (pixels, share) in enumerate(shapes)}
    truth, binned = pixel_summary(exact), pixel_summary(in_bins(exact))
    for key in BOUNDED:
        if np.isnan(truth[key]):
            assert key not in binned.bounds
            continue
        low, high = binned.bounds.get(key, (binned[key], binned[key]))
        assert low <= binned[key] <= high
        assert low - IN_UNIT <= truth[key] <= high + IN_UNIT


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 60))
def test_bounds_of_one_image_hold_its_exact_figures(counted, seed, pixels):
    rng = np.random.default_rng(seed)
    exact = counted(*crowded(rng, pixels, 0.4, 1.0))
    truth, binned = pixel_image_summary(exact), pixel_image_summary(exact.in_bins())
    assert not set(binned.bounds) - set(binned)
    for key, value in truth.items():
        low, high = binned.bounds.get(key, (binned[key], binned[key]))
        assert low <= binned[key] <= high or np.isnan(binned[key])
        assert low - IN_UNIT <= value <= high + IN_UNIT or np.isnan(value)
        assert low < high or key not in binned.bounds


def test_bins_that_hold_one_score_each_are_exact():
    counts = ScoreCounts([0.9, 0.5, 0.1], [3, 2, 1], [1, 2, 5])
    summary = pixel_summary({"a": counts.in_bins(), "b": counts.in_bins()})
    assert summary.bounds == {}
    assert dict(summary) == dict(pixel_summary({"a": counts, "b": counts}))


def test_a_bin_without_negatives_leaves_all_but_average_precision_exact():
    # Scores .4 and .4001 share a bin. After three negatives its two positives have precision 1/4 and 2/5, or 2/5 both.
    bins = ScoreCounts([0.9, 0.4, 0.1], [0, 2, 1], [3, 0, 5], highest=[0.9, 0.4001, 0.1])
    summary = pixel_summary({"a": bins})
    assert set(summary.bounds) == {"average_precision"}
    assert summary.bounds["average_precision"] == pytest.approx(
        ((1 / 4 + 2 / 5 + 3 / 11) / 3, (2 * 2 / 5 + 3 / 11) / 3)
    )


def test_bounds_by_hand():
    # One bin of 2 positives and 1 negative, then 1 negative alone.
    summary = pixel_summary({"a": ScoreCounts([0.5, 0.1], [2, 0], [1, 1], highest=[0.5001, 0.1])})
    assert summary.bounds["auc_roc"] == pytest.approx((0.5, 1))
    assert summary.bounds["ods_f"] == pytest.approx((2 * 2 / (2 + 2 + 1), 1))
    assert summary.bounds["average_precision"] == pytest.approx(((1 / 2 + 2 / 3) / 2, 1))
    assert summary.bounds["fpr_at_95_tpr"] == pytest.approx((0, 0.5))
    assert summary["auc_roc"] == 0.75


def test_bounds_tighten_as_bins_do():
    rng = np.random.default_rng(0)
    labels = rng.random(4000) < 0.3
    scores = np.round(1 / (1 + np.exp(-rng.normal(labels, 2))), 5)
    levels, where = np.unique(-scores, return_inverse=True)
    exact = ScoreCounts(-levels, np.bincount(where, labels).astype(int), np.bincount(where, ~labels).astype(int))
    summary = pixel_summary({"a": exact.in_bins()})
    assert set(BOUNDED) - set(summary.bounds) <= {"fpr_at_95_tpr", "ods_recall", "ois_recall"}
    assert all(high - low < 0.005 for low, high in summary.bounds.values())


def test_precision_recall_and_threshold_of_the_best_f_by_hand():
    # One bin of 2 positives and 1 negative. Exactly, F can be 1 above the negative (precision 1, recall 1), or .8 below
    # all (precision 2 / 3); with one positive on top its 2 / 3 is below what the bin's edge has for certain.
    image = ScoreCounts([0.5, 0.1], [2, 0], [1, 1], highest=[0.5001, 0.1])
    summary = pixel_summary({"a": image})
    assert (summary["ods_precision"], summary["ods_recall"], summary["ods_threshold"]) == (2 / 3, 1.0, 0.5)
    assert summary.bounds["ods_precision"] == pytest.approx((2 / 3, 1))
    assert "ods_recall" not in summary.bounds
    assert summary.bounds["ods_threshold"] == (0.5, 0.5001)
    assert summary.bounds["ois_precision"] == summary.bounds["ods_precision"]
    alone = pixel_image_summary(image)
    assert alone.bounds["threshold"] == (0.5, 0.5001)
    assert alone.bounds["precision"] == summary.bounds["ods_precision"]


def test_a_bin_that_cannot_hold_the_best_leaves_the_best_point_exact():
    # The first bin's edge has F 1; whatever the order inside the second, it is lower there.
    summary = pixel_summary({"a": ScoreCounts([0.9, 0.5], [5, 0], [0, 9], highest=[0.9, 0.5001])})
    assert summary.bounds == {}
    # Here the second bin has a positive, which may come first.
    summary = pixel_summary({"a": ScoreCounts([0.9, 0.5], [9, 1], [0, 9], highest=[0.9, 0.5001])})
    assert summary.bounds["ods_f"] == pytest.approx((18 / 19, 1))
    assert summary.bounds["ods_recall"] == pytest.approx((9 / 10, 1))
    assert summary.bounds["ods_threshold"] == (0.5, 0.9)


def test_the_best_threshold_may_lie_in_any_bin_that_can_hold_it():
    counts = ScoreCounts([0.8, 0.5, 0.2], [4, 4, 1], [2, 2, 2], highest=[0.81, 0.51, 0.2])
    summary = pixel_summary({"a": counts})
    assert summary.bounds["ods_threshold"] == (0.5, 0.51)
    equal = ScoreCounts([0.8, 0.5], [2, 1], [1, 1], highest=[0.81, 0.51])
    assert pixel_summary({"a": equal}).bounds["ods_threshold"] == (0.5, 0.81)


def test_an_image_without_positives_moves_the_precision_of_ois_alone():
    with_positives = ScoreCounts([0.9, 0.1], [3, 1], [1, 5])
    without = ScoreCounts([0.5], [0], [4], highest=[0.5001])
    bounds = pixel_summary({"a": with_positives.in_bins(), "b": without}).bounds
    assert bounds["ois_precision"] == pytest.approx((3 / 8, 3 / 5))
    assert "ois_recall" not in bounds


def test_average_precision_goes_through_a_bin_instead_of_stepping_over_it():
    # 2 positives and 1 negative share a bin: on average 1 / 3 of the negative precedes the first, 2 / 3 the second.
    bins = ScoreCounts([0.5], [2], [1], highest=[0.5001])
    assert average_precision(bins) == pytest.approx((1 / (1 + 1 / 3) + 2 / (2 + 2 / 3)) / 2)
    one_score = ScoreCounts([0.5], [2], [1], highest=[0.5])
    assert average_precision(one_score) == pytest.approx(2 / 3)


def test_the_false_positive_rate_is_interpolated_inside_a_bin():
    bins = ScoreCounts([0.5, 0.1], [100, 0], [20, 80], highest=[0.5001, 0.1])
    assert fpr_at_tpr(bins) == pytest.approx(0.95 * 20 / 100)
    assert fpr_at_tpr(ScoreCounts([0.5, 0.1], [100, 0], [20, 80])) == 0.2


def test_binned_values_are_close_to_exact_ones():
    rng = np.random.default_rng(0)
    labels = rng.random(60_000) < 0.3
    scores = 1 / (1 + np.exp(-rng.normal(labels, 1)))
    order = np.argsort(-scores)
    exact = ScoreCounts(scores[order], labels[order].astype(int), (~labels[order]).astype(int))
    assert average_precision(exact.in_bins()) == pytest.approx(average_precision(exact), abs=1e-5)
    assert fpr_at_tpr(exact.in_bins()) == pytest.approx(fpr_at_tpr(exact), abs=2e-4)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32), st.lists(st.integers(1, 80), min_size=1, max_size=4))
def test_resampling_starts_from_the_same_values(counted, seed, shapes):
    rng = np.random.default_rng(seed)
    binned = in_bins({str(k): counted(*crowded(rng, pixels, 0.4, 1.0)) for k, pixels in enumerate(shapes)})
    summary, table = pixel_summary(binned), PIXELS.table(binned)
    measured = table.measure(np.ones((1, table.images)))[0]
    assert measured.tolist() == pytest.approx([summary[key] for key in keys_of(table)], rel=1e-13, nan_ok=True)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 12))
def test_bounds_of_the_best_point_are_reached(counted, seed, pixels):
    """Of every order inside the bins, the extremes lie no further than one pixel inside the bounds of the best F."""
    rng = np.random.default_rng(seed)
    binned = counted(*crowded(rng, pixels, 0.5, 1.0)).in_bins()
    if not binned.total_positives:
        return
    bounds = pixel_image_summary(binned).bounds
    found = [best_f(order) for order in some_orders(rng, binned, 200)]
    for key in ("f", "precision", "recall"):
        values = [getattr(best, key) for best in found]
        low, high = bounds.get(key, (min(values), max(values)))
        assert low - IN_UNIT <= min(values)
        assert max(values) <= high + IN_UNIT


def some_orders(rng, binned, number):
    """Exact counts that fall into these bins: the pixels of each bin in random orders, or tied."""
    for _ in range(number):
        positives, negatives = [], []
        for p, n, lowest, highest in zip(
            binned.positives, binned.negatives, binned.scores, binned.highest, strict=True
        ):
            labels = rng.permutation([1] * p + [0] * n)
            cuts = np.flatnonzero(rng.random(labels.size - 1) < 0.6) + 1 if highest > lowest else []
            for part in np.split(labels, cuts):
                positives.append(int(part.sum()))
                negatives.append(int(part.size - part.sum()))
        yield ScoreCounts(-np.arange(len(positives), dtype=float), positives, negatives)
