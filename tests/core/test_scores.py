import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from refusing import refused

from segbench import ArgumentError, ScoreCounts, count

any_score = st.floats(-1e6, 1e6, width=32)


def counts_of(scores, seed=0):
    scores = np.asarray(scores, dtype=np.float64)
    return count(np.random.default_rng(seed).random(scores.shape) < 0.4, scores)


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
        assert total.scores.size == np.union1d(many(0).scores, many(1).scores).size

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
        ("tp", "fp", "kind", "values"),
        [
            ([2, 1], [0, 1], "falling-counts", {}),
            ([21], [0], "beyond-totals", {"tp": 21, "fp": 0, "positives": 20, "negatives": 2000}),
            ([1], [1, 2], "other-length", {"tp": 1, "fp": 2}),
            ([0.5], [1], "not-whole", {"argument": "tp"}),
            ([-1], [1], "negative", {"argument": "tp", "value": -1}),
        ],
    )
    def test_points_no_ranking_has_are_refused(self, tp, fp, kind, values):
        with refused(kind, ArgumentError, **values):
            ScoreCounts.from_points(tp, fp, 20, 2000)

    def test_without_thresholds_they_do_not_add(self):
        points = ScoreCounts.from_points([1], [1], 2, 2)
        with refused("thresholds-unknown", ArgumentError):
            points + points


class TestAt:
    def test_keeps_the_points_at_the_thresholds_alone(self):
        test = ScoreCounts([0.9, 0.5, 0.1], [1, 2, 3], [4, 5, 6], 7).at([0.5, 0.95], source="tuning set")
        assert test.scores.tolist() == [0.95, 0.5, -np.inf]
        assert test.positives.tolist() == [0, 3, 3]
        assert test.negatives.tolist() == [0, 9, 6]
        assert (test.ignored, test.threshold_source) == (7, "tuning set")


@pytest.mark.parametrize(
    ("arguments", "kind", "values"),
    [
        (([0.1, 0.9], [1, 1], [1, 1]), "not-falling", {}),
        (([0.9, 0.9], [1, 1], [1, 1]), "not-falling", {}),
        (([0.9], [1, 1], [1]), "other-length", {"argument": "positives", "found": 2, "expected": 1}),
        (([0.9], [-1], [1]), "negative", {"argument": "positives", "value": -1}),
        (([[0.9]], [1], [1]), "wrong-shape", {"argument": "scores", "shape": (1, 1)}),
        (([0.9], [1], [1], -1), "wrong-value", {"argument": "ignored", "value": "-1"}),
    ],
)
def test_counts_that_cannot_be_are_refused(arguments, kind, values):
    with refused(kind, ArgumentError, **values):
        ScoreCounts(*arguments)


def test_counts_cannot_be_written_through():
    counts = ScoreCounts(np.array([0.5]), np.array([1]), np.array([2]))
    with pytest.raises(ValueError, match="read-only"):
        counts.positives[0] = 7
