import itertools
import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from measured import pixel_image_summary, pixel_summary

from segbench import count_pixels
from segbench.core.errors import ArgumentError
from segbench.core.scores import ScoreCounts
from segbench.curves.operating import best_f
from segbench.statistics.bootstrap import bootstrap
from segbench.statistics.comparison import compare
from segbench.statistics.permutation import holm


def method(count, seed, skill, levels=8):
    """Make images with the same ground truth for every seed, and scores of some skill."""
    truth, rng = np.random.default_rng(99), np.random.default_rng(seed)
    images = {}
    for k in range(count):
        positives, negatives = int(truth.integers(20, 60)), int(truth.integers(100, 300))
        rising = np.linspace(1, skill, levels)
        images[f"{k:02}"] = ScoreCounts(
            np.arange(levels)[::-1],
            rng.multinomial(positives, rising[::-1] / rising.sum()),
            rng.multinomial(negatives, rising / rising.sum()),
        )
    return images


def row(result, figure, a=None, b=None):
    return next(r for r in result.differences if r.metric == figure and (a is None or (r.a, r.b) == (a, b)))


def test_every_figure_but_thresholds_is_compared():
    result = compare({"x": method(6, 0, 4), "y": method(6, 1, 4)}, replicates=20, permutations=20)
    figures = set(pixel_summary({})) - {"positives", "negatives", "ignored", "ods_threshold"}
    assert {r.metric for r in result.differences} == set(result.rank_shares) == figures
    summaries = [pixel_summary(method(6, seed, 4)) for seed in (0, 1)]
    for r in result.differences:
        assert (r.estimate_a, r.estimate_b) == pytest.approx(tuple(summary[r.metric] for summary in summaries))
        assert r.difference == pytest.approx(r.estimate_a - r.estimate_b)


def test_exact_p_values_are_those_of_swapping_by_hand():
    a, b = method(5, 0, 6), method(5, 1, 3)
    result = compare({"a": a, "b": b}, replicates=10)
    assert (result.exact, result.permutations) == (True, 32)
    for figure in ("auc_roc", "ods_f", "ois_f", "mean_image_f", "auc_pr_achievable"):
        found = []
        for swaps in itertools.product([False, True], repeat=5):
            one = {name: (b if swap else a)[name] for name, swap in zip(a, swaps, strict=True)}
            other = {name: (a if swap else b)[name] for name, swap in zip(a, swaps, strict=True)}
            found.append(abs(pixel_summary(one)[figure] - pixel_summary(other)[figure]))
        expected = np.mean(np.array(found) >= found[0] - 1e-12)
        assert row(result, figure).p_value == expected


def test_random_p_values_are_near_the_exact_ones():
    a, b = method(10, 0, 5), method(10, 1, 4)
    exact = compare({"a": a, "b": b}, replicates=5, permutations=1024)
    drawn = compare({"a": a, "b": b}, replicates=5, permutations=1023)
    assert exact.exact
    assert not drawn.exact
    for one, other in zip(exact.differences, drawn.differences, strict=True):
        assert one.p_value == pytest.approx(other.p_value, abs=0.06)


def test_turning_the_pair_round_turns_the_result_round():
    a, b = method(12, 0, 6), method(12, 1, 3)
    there = compare({"a": a, "b": b}, replicates=200, permutations=500)
    back = compare({"b": b, "a": a}, replicates=200, permutations=500)
    for one, other in zip(there.differences, back.differences, strict=True):
        assert one.difference == -other.difference
        assert (one.low, one.high) == pytest.approx((-other.high, -other.low), rel=1e-9)
        assert one.p_value == other.p_value
        assert (one.wins, one.ties, one.losses) == (other.losses, other.ties, other.wins)


def test_a_method_against_itself():
    a = method(12, 0, 6)
    for r in compare({"a": a, "again": dict(a)}, replicates=100, permutations=100).differences:
        assert (r.difference, r.p_value, r.p_holm) == (0, 1, 1)
        assert (r.low, r.high) == (0, 0)
        assert (r.wins, r.ties, r.losses) == (0, 12, 0)


def test_wins_are_of_images_by_themselves_and_fewer_false_positives_win():
    a, b = method(9, 0, 5), method(9, 1, 4)
    result = compare({"a": a, "b": b}, replicates=10)
    each = [(pixel_image_summary(a[name]), pixel_image_summary(b[name])) for name in a]
    assert row(result, "ods_f").wins == sum(x["f"] > y["f"] for x, y in each)
    assert row(result, "auc_pr").losses == sum(x["auc_pr"] < y["auc_pr"] for x, y in each)
    rates = [(pixel_summary({"_": a[name]}), pixel_summary({"_": b[name]})) for name in a]
    assert row(result, "fpr_at_95_tpr").wins == sum(x["fpr_at_95_tpr"] < y["fpr_at_95_tpr"] for x, y in rates)


def test_an_image_without_positives_is_neither_won_nor_lost():
    a, b = method(4, 0, 6), method(4, 1, 3)
    a["void"] = b["void"] = ScoreCounts([2, 1], [0, 0], [3, 9])
    r = row(compare({"a": a, "b": b}, replicates=10), "ods_f")
    assert r.wins + r.ties + r.losses == 4


def test_intervals_of_differences_are_narrower_than_their_parts_suggest():
    a = method(20, 0, 5)
    b = {name: ScoreCounts(c.scores, c.positives, np.roll(c.negatives, 1)) for name, c in a.items()}
    result = compare({"a": a, "b": b}, replicates=500, permutations=200)
    r = row(result, "auc_roc")
    low, high = result.intervals["a"]["auc_roc"]
    assert r.low <= r.difference <= r.high
    assert r.high - r.low < 2 * (high - low)
    assert dict(result.intervals["a"]) == dict(bootstrap(a, replicates=500))


def test_the_interval_of_a_difference_of_means_is_near_scipy_s_paired_bootstrap():
    a, b = method(25, 0, 6), method(25, 1, 3)
    each = [[best_f(counts).f for counts in images.values()] for images in (a, b)]
    expected = scipy.stats.bootstrap(
        each,
        lambda x, y, axis: np.mean(x, axis=axis) - np.mean(y, axis=axis),
        paired=True,
        method="bca",
        n_resamples=20_000,
        rng=np.random.default_rng(0),
    ).confidence_interval
    found = row(compare({"a": a, "b": b}, replicates=10), "mean_image_f")
    assert (found.low, found.high) == pytest.approx(tuple(expected), abs=0.15 * (expected.high - expected.low))


def test_ranks_of_three_methods():
    methods = {"poor": method(15, 0, 2), "good": method(15, 1, 20), "fair": method(15, 2, 6)}
    result = compare(methods, replicates=100, permutations=50)
    shares = result.rank_shares["auc_roc"]
    assert [shares[name] for name in ("good", "fair", "poor")] == [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    assert [(r.a, r.b) for r in result.differences if r.metric == "ods_f"] == [
        ("poor", "good"),
        ("poor", "fair"),
        ("good", "fair"),
    ]
    for figure in ("auc_roc", "ods_f"):
        rows = [r for r in result.differences if r.metric == figure]
        assert [r.p_holm for r in rows] == holm([r.p_value for r in rows])


@pytest.mark.parametrize(
    ("p_values", "expected"),
    [
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),
        ([0.5, 0.6], [1, 1]),
        ([0.02], [0.02]),
        ([], []),
    ],
)
def test_holm(p_values, expected):
    assert holm(p_values) == pytest.approx(expected)


def test_a_single_pair_has_one_p_value():
    methods = {name: method(12, seed=0, skill=skill) for name, skill in (("a", 1.0), ("b", 2.0), ("c", 3.0))}
    two = compare({name: methods[name] for name in "ab"}, replicates=50, permutations=50)
    assert all(each.p_holm == each.p_value for each in two.differences if each.difference)
    assert str(two).splitlines()[0].split()[-4:] == ["p", "wins", "ties", "losses"]
    three = compare(methods, replicates=50, permutations=50)
    assert str(three).splitlines()[0].endswith("p  p (Holm)  wins  ties  losses")


def test_holm_leaves_undefined_p_values_out_of_the_number():
    assert holm([0.01, math.nan]) == pytest.approx([0.01, math.nan], nan_ok=True)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_raises_p_values_and_keeps_their_order(p_values):
    corrected = holm(p_values)
    assert all(p <= q <= 1 for p, q in zip(p_values, corrected, strict=True))
    assert min(corrected) == min(len(p_values) * min(p_values), 1)
    assert [x for _, x in sorted(zip(p_values, corrected, strict=True))] == sorted(corrected)


def test_different_images_are_refused_with_their_names():
    a, b = method(6, 0, 5), method(6, 1, 4)
    del b["03"]
    b["extra"] = b.pop("00")
    with pytest.raises(ArgumentError, match=r"a has 00, 03, b has not; b has extra, a has not"):
        compare({"a": a, "b": b})


def test_different_ground_truth_is_refused():
    a, b = method(3, 0, 5), method(3, 1, 4)
    b["01"] = ScoreCounts([1], [1], [2])
    with pytest.raises(ArgumentError, match=r"01 has .* positives .* in a, 1 positives and 2 negatives in b"):
        compare({"a": a, "b": b})


def test_one_method_or_no_permutations_are_refused():
    with pytest.raises(ArgumentError, match="at least two"):
        compare({"a": method(3, 0, 5)})
    with pytest.raises(ArgumentError, match="permutations"):
        compare({"a": method(3, 0, 5), "b": method(3, 1, 5)}, permutations=0)


def test_one_image_gives_no_interval_and_says_so():
    result = compare({"a": method(1, 0, 5), "b": method(1, 1, 4)}, replicates=10)
    assert all(math.isnan(r.low) and r.p_value == 1 for r in result.differences)
    assert result.notes[0].startswith("1 image:")


def test_without_positives_everything_is_undefined():
    images = {str(k): ScoreCounts([2, 1], [0, 0], [3, 9]) for k in range(3)}
    for r in compare({"a": images, "b": images}, replicates=10).differences:
        assert all(math.isnan(value) for value in (r.difference, r.low, r.p_value, r.p_holm))
        assert (r.wins, r.ties, r.losses) == (0, 0, 0)


@pytest.fixture(scope="module")
def images():
    """Two methods that are the same but for tiny changes of scores, and one that is worse."""
    rng = np.random.default_rng(0)
    methods = {"a": {}, "twin": {}, "poor": {}}
    for k in range(8):
        labels = rng.random(1500) < 0.3
        scores = rng.normal(labels, 1)
        shaken = scores + rng.normal(0, 1e-3, labels.size)
        for name, values in (("a", scores), ("twin", shaken), ("poor", scores + rng.normal(0, 2, labels.size))):
            methods[name][str(k)] = count_pixels(labels, 1 / (1 + np.exp(-values)))
    return methods


@pytest.fixture(scope="module")
def binned(images):
    return {name: {k: counts.in_bins() for k, counts in each.items()} for name, each in images.items()}


class TestBins:
    def rows(self, methods):
        return {(row.a, row.b, row.metric): row for row in compare(methods, replicates=20, permutations=20).differences}

    def test_wins_are_never_decided_by_bins(self, images, binned):
        exact, rows = self.rows(images), self.rows(binned)
        for key, row in rows.items():
            assert row.wins <= exact[key].wins
            assert row.losses <= exact[key].losses
            assert row.wins + row.ties + row.losses + row.undecided == len(images["a"])
            low, high = row.bounds
            assert low <= exact[key].difference <= high
        assert rows["a", "twin", "auc_roc"].undecided == 8
        assert rows["a", "poor", "auc_roc"].undecided == 0
        assert rows["a", "poor", "auc_roc"].wins == 8

    def test_a_note_says_what_bins_leave_open(self, binned):
        notes = compare(binned, replicates=20, permutations=20).notes
        assert any("p-values and rank shares are those of the binned values" in note for note in notes)
        (pair,) = [note for note in notes if "which of a and twin is higher" in note]
        assert "ods_f" in pair

    def test_what_bins_leave_open_has_no_p_value_interval_or_rank(self, images, binned):
        comparison = compare({"exact": images["a"], "bins": binned["a"]}, replicates=20, permutations=20)
        row = next(row for row in comparison.differences if row.metric == "mean_image_f")
        assert row.bounds[0] <= 0 <= row.bounds[1]
        assert np.isnan([row.low, row.high, row.p_value, row.p_holm]).all()
        assert np.isnan(list(comparison.rank_shares["mean_image_f"].values())).all()
        assert any("no interval, p-value or rank: " in note for note in comparison.notes)

    def test_exact_counts_carry_no_bounds(self, images):
        comparison = compare(images, replicates=20, permutations=20)
        assert all(row.bounds is None and row.undecided == 0 for row in comparison.differences)
        assert not any("bins" in note for note in comparison.notes)

    def test_each_image_counts_by_itself_even_where_the_pool_is_binned(self, images, binned):
        # Seven exact images of a count as they are; only the one in bins is uncertain.
        mixed = {**images["a"], "0": binned["a"]["0"]}
        row = self.rows({"a": mixed, "twin": images["twin"]})["a", "twin", "auc_roc"]
        exact = self.rows({"a": images["a"], "twin": images["twin"]})["a", "twin", "auc_roc"]
        assert row.undecided == 1
        assert row.wins + row.ties + row.losses == 7
        assert exact.undecided == 0
