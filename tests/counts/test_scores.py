import itertools

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from segbench import ArgumentError, ScoreCounts, count_pixels
from segbench.core.bins import bin_of

any_score = st.floats(-1e6, 1e6, width=32)


def counts_of(scores, seed=0):
    scores = np.asarray(scores, dtype=np.float64)
    return count_pixels(np.random.default_rng(seed).random(scores.shape) < 0.4, scores)


def many(seed):
    return counts_of(np.random.default_rng(seed).random(44_000), seed)


class TestSum:
    def test_adds_levels_that_both_hold_and_keeps_the_others(self):
        total = ScoreCounts([0.9, 0.5], [1, 2], [3, 4], ignored=1) + ScoreCounts([0.5, 0.1], [10, 20], [30, 40], 2)
        assert total == ScoreCounts([0.9, 0.5, 0.1], [1, 12, 20], [3, 34, 40], 3)

    def test_a_sum_keeps_the_source_of_thresholds_that_all_parts_share(self):
        one, other = (ScoreCounts([2, 1], [1, 2], [3, 4]).at([2], source=source) for source in ("tuning", "by hand"))
        assert (one + one).threshold_source == "tuning"
        assert (one + other).threshold_source == ""

    def test_nothing_adds_to_nothing(self):
        assert ScoreCounts.sum([]) == ScoreCounts([], [], [])

    @given(st.lists(st.lists(any_score, max_size=8), min_size=1, max_size=4), st.randoms())
    def test_order_and_grouping_do_not_matter(self, images, random):
        parts = [counts_of(scores, seed) for seed, scores in enumerate(images)]
        shuffled = random.sample(parts, len(parts))
        cut = random.randrange(len(parts) + 1)
        halves = [ScoreCounts.sum(shuffled[:cut]), ScoreCounts.sum(shuffled[cut:])]
        assert ScoreCounts.sum(parts) == ScoreCounts.sum(halves)

    def test_any_number_of_scores_stays_exact(self):
        total = many(0) + many(1)
        assert not total.binned
        assert total.scores.size == np.union1d(many(0).scores, many(1).scores).size

    def test_a_part_in_bins_puts_the_sum_in_bins_in_any_order(self):
        parts = [many(0), many(1), counts_of([0.25, 0.5]), many(2).in_bins()]
        assert not parts[0].binned
        sums = [ScoreCounts.sum(order) for order in itertools.permutations(parts)]
        nested = [(parts[0] + parts[1]) + (parts[2] + parts[3]), parts[0] + ((parts[1] + parts[2]) + parts[3])]
        assert sums[0].binned
        assert all(total == sums[0] for total in sums + nested)

    def test_more_than_a_batch_of_images(self):
        one = ScoreCounts([1.0, 0.0], [1, 2], [3, 4], 5)
        assert ScoreCounts.sum([one] * 200) == ScoreCounts([1.0, 0.0], [200, 400], [600, 800], 1000)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_very_many_scores_add_up_like_few(kind):
    rng = np.random.default_rng(0)
    ends = np.array([-np.inf, -2.5, -0.0, 1.5, np.inf], kind)
    parts = []
    for k in range(3):
        levels = np.unique(np.append(rng.integers(-150_000, 150_000, 120_000) / 2**15, -ends if k else ends)).astype(
            kind
        )
        positives, negatives = rng.integers(0, 3, (2, levels.size), np.int32)
        positives[levels == 0] += 2**16 * (k + 1)  # as of a background that is always exactly 0
        negatives[levels == np.inf] = 2**20 + k
        parts.append(ScoreCounts(levels[::-1], positives, negatives))
    total = ScoreCounts.sum(parts)
    scores, places = np.unique(np.concatenate([part.scores for part in parts]), return_inverse=True)
    assert np.array_equal(total.scores, scores[::-1])
    assert total.scores.dtype == kind
    for name in ("positives", "negatives"):
        wanted = np.zeros(scores.size, np.int64)
        np.add.at(wanted, places, np.concatenate([getattr(part, name) for part in parts]))
        assert np.array_equal(getattr(total, name), wanted[::-1])


class TestBins:
    @given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=20))
    def test_a_higher_score_never_has_a_lower_bin(self, scores):
        assert np.all(np.diff(bin_of(np.sort(scores))) >= 0)

    def test_both_ends_are_fine_and_hold_themselves_alone(self):
        scores = np.array([0.0, 1e-30, 1e-8, 1e-3, 0.5, 1 - 1e-3, 1 - 1e-8, 1 - 2**-53, 1.0])
        assert np.unique(bin_of(scores)).size == scores.size
        assert bin_of(np.array([0.0, 1.0])).tolist() == [0, 64_003]

    def test_a_bin_is_at_most_one_in_256_wide_towards_its_end(self):
        scores = np.linspace(0.001, 0.999, 200_001)
        bins = bin_of(scores)
        for distance in (scores, 1 - scores):
            near = distance <= 0.5
            order = np.argsort(distance[near])
            starts = np.flatnonzero(np.diff(bins[near][order], prepend=-1) != 0)
            widest = np.maximum.reduceat(distance[near][order], starts)
            nearest = np.minimum.reduceat(distance[near][order], starts)
            assert np.all(widest / nearest <= 1 + 1 / 256 + 1e-9)

    def test_long_arrays_of_any_shape_are_binned_like_short_ones(self):
        scores = np.linspace(-1, 2, 90_000)
        apart = np.concatenate([bin_of(part) for part in np.split(scores, 900)])
        assert np.array_equal(bin_of(scores.reshape(300, 300)), apart.reshape(300, 300))

    @given(st.lists(any_score, min_size=1, max_size=50))
    def test_bins_keep_totals_and_the_scores_seen(self, scores):
        counts = counts_of(scores)
        binned = counts.in_bins()
        assert binned.total_positives == counts.total_positives
        assert binned.total_negatives == counts.total_negatives
        assert set(binned.scores) | set(binned.highest) <= set(counts.scores)


class TestFromPoints:
    def test_adds_both_ends_and_drops_repeats(self):
        counts = ScoreCounts.from_points([5, 5, 10], [5, 5, 30], 20, 2000)
        assert counts.positives.tolist() == [5, 5, 10]
        assert counts.negatives.tolist() == [5, 25, 1970]
        assert not counts.scores_known

    def test_thresholds_are_kept(self):
        counts = ScoreCounts.from_points([1, 2], [0, 1], 2, 3, thresholds=[0.8, 0.4])
        assert counts.scores.tolist() == [0.8, 0.4, -np.inf]

    @pytest.mark.parametrize(
        ("tp", "fp", "message"),
        [
            ([2, 1], [0, 1], "must not decrease"),
            ([21], [0], "21 true"),
            ([1], [1, 2], "1 point, fp has 2"),
            ([0.5], [1], "whole numbers"),
            ([-1], [1], "not negative"),
        ],
    )
    def test_points_no_ranking_has_are_refused(self, tp, fp, message):
        with pytest.raises(ArgumentError, match=message):
            ScoreCounts.from_points(tp, fp, 20, 2000)

    def test_without_thresholds_they_do_not_add(self):
        points = ScoreCounts.from_points([1], [1], 2, 2)
        with pytest.raises(ArgumentError, match="given by points"):
            points + points


class TestAt:
    def test_keeps_the_points_at_the_thresholds_alone(self):
        test = ScoreCounts([0.9, 0.5, 0.1], [1, 2, 3], [4, 5, 6], 7).at([0.5, 0.95], source="tuning set")
        assert test.scores.tolist() == [0.95, 0.5, -np.inf]
        assert test.positives.tolist() == [0, 3, 3]
        assert test.negatives.tolist() == [0, 9, 6]
        assert (test.ignored, test.threshold_source) == (7, "tuning set")

    def test_a_threshold_inside_a_bin_is_refused_and_at_its_edge_is_not(self):
        binned = counts_of([0.3, 0.3001, 0.9]).in_bins()
        assert binned.at([0.3]).positives.sum() == binned.total_positives
        with pytest.raises(ArgumentError, match="inside a bin"):
            binned.at([0.30005])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.1, 0.9], [1, 1], [1, 1]), "must be strictly decreasing"),
        (([0.9, 0.9], [1, 1], [1, 1]), "must be strictly decreasing"),
        (([0.9], [1, 1], [1]), "2 entries for 1"),
        (([0.9], [-1], [1]), "not negative"),
        (([[0.9]], [1], [1]), "one dimension"),
        (([0.9], [1], [1], -1), "ignored is -1"),
        (([0.9], [1], [1], 0, [0.8]), "at or above"),
    ],
)
def test_counts_that_cannot_be_are_refused(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        ScoreCounts(*arguments)


def test_counts_cannot_be_written_through():
    counts = ScoreCounts(np.array([0.5]), np.array([1]), np.array([2]))
    with pytest.raises(ValueError, match="read-only"):
        counts.positives[0] = 7
