import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segbench.counts import ScoreCounts
from segbench.curves import pixel_image_figures, pixel_summary

BOUNDED = (
    "auc_roc",
    "auc_pr",
    "auc_pr_achievable",
    "average_precision",
    "ods_f",
    "ois_f",
    "mean_image_f",
    "fpr_at_95_tpr",
)


def crowded(rng, pixels, prevalence, spread):
    """Scores that share bins: around a few centres, closer to each other than a bin is wide."""
    centres = rng.choice([1e-6, 0.01, 0.2, 0.4999, 0.6, 0.95, 0.999], pixels)
    return rng.random(pixels) < prevalence, centres * (1 + spread * rng.random(pixels) / 256)


@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, 2**32),
    st.lists(st.tuples(st.integers(1, 60), st.sampled_from([0, 0.1, 0.5, 1])), min_size=1, max_size=5),
    st.sampled_from([0.0, 0.3, 1.0, 3.0]),
)
def test_bounds_hold_the_exact_figure(counted, seed, shapes, spread):
    rng = np.random.default_rng(seed)
    exact = {str(k): counted(*crowded(rng, pixels, share, spread)) for k, (pixels, share) in enumerate(shapes)}
    truth = pixel_summary(exact)
    binned = pixel_summary({name: counts.in_bins() for name, counts in exact.items()})
    for key in BOUNDED:
        if np.isnan(truth[key]):
            assert key not in binned.bounds
            continue
        low, high = binned.bounds.get(key, (binned[key], binned[key]))
        assert low <= binned[key] <= high
        assert low - 1e-15 <= truth[key] <= high + 1e-15


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 60))
def test_bounds_of_one_image_hold_its_exact_figures(counted, seed, pixels):
    rng = np.random.default_rng(seed)
    exact = counted(*crowded(rng, pixels, 0.4, 1.0))
    truth, binned = pixel_image_figures(exact), pixel_image_figures(exact.in_bins())
    for key, (low, high) in binned.bounds.items():
        assert low <= truth[key] <= high
        assert low < high


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
    assert set(BOUNDED) - set(summary.bounds) <= {"fpr_at_95_tpr"}
    assert all(high - low < 0.005 for low, high in summary.bounds.values())
