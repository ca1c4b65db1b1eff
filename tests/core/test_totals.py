"""Totals too large for the integers that hold them are refused; none wraps around to a negative number."""

import numpy as np
import pytest
from refusing import refused

from segbench import ArgumentError, BoundaryCounts, ClassCounts, RegionCounts, ScoreCounts, intervals
from segbench.core.arrays import MEAN_UNITS

MOST = 2**56


def scores(positives, negatives=0):
    return ScoreCounts([1.0], [positives], [negatives])


def boundaries(total):
    return BoundaryCounts([0.5], [total], [total], [total], [total])


def regions(**sums):
    zeros = {name: [0] for name in RegionCounts.arrays}
    return RegionCounts([0.5], 2**40, 2**42, 2**42, 0, **zeros | sums)


class TestScores:
    def test_a_sum_up_to_the_largest_total(self):
        assert (scores(MOST - 1) + scores(1)).total_positives == MOST

    @pytest.mark.parametrize("kind", [scores, lambda n: scores(1, n), lambda n: ScoreCounts([1], [1], [1], n)])
    def test_a_sum_beyond_it(self, kind):
        with pytest.raises(ArgumentError) as raised:
            kind(MOST) + kind(1)
        assert (raised.value.kind, raised.value.values["argument"]) in (
            ("too-many-pixels", "positives"),
            ("too-many-pixels", "negatives"),
            ("wrong-value", "ignored"),
        )

    def test_one_array_that_adds_up_to_more(self):
        with refused("too-many-pixels", ArgumentError, argument="positives", total=2**64 - 2):
            ScoreCounts([2, 1], [2**63 - 1] * 2, [0, 0])

    @pytest.mark.parametrize("count", [2**63, 2**64 - 1, 10**30, 1e300])
    def test_a_count_beyond_64_bits(self, count):
        with refused("beyond-int64", ArgumentError, argument="positives", value=float(count)):
            ScoreCounts([1], np.array([count]), [0])

    @pytest.mark.parametrize("count", [np.nan, np.inf, 0.5, "1", None, 1j])
    def test_what_is_no_count(self, count):
        with pytest.raises(ArgumentError) as raised:
            ScoreCounts([1], [count], [0])
        assert raised.value.values["argument"] == "positives"

    def test_points_of_a_curve(self):
        with refused("wrong-value", ArgumentError, argument="positives"):
            ScoreCounts.from_points([1], [1], 2**63, 5)

    def test_replicates_that_hold_one_image_many_times(self):
        few = {"a": scores(MOST // 2, 5), "b": scores(2, 5)}
        assert intervals(few, replicates=3).estimates["ods_f"] > 0
        with refused("too-many-pixels", ArgumentError, argument="positives of a resample"):
            intervals(few | {"c": scores(3, 5)}, replicates=3)

    def test_classes(self):
        one = ClassCounts(("a", "b"), (scores(MOST // 2 + 1), scores(0, MOST // 2 + 1)))
        with refused("too-many-pixels", ArgumentError, argument="positives"):
            one + one


class TestBoundaries:
    def test_a_sum_beyond_the_largest_total(self):
        assert (boundaries(MOST - 1) + boundaries(1)).total_gt.tolist() == [MOST]
        with refused("too-many-pixels", ArgumentError):
            boundaries(MOST) + boundaries(MOST)

    def test_many_images(self):
        with refused("too-many-pixels", ArgumentError):
            BoundaryCounts.sum(boundaries(MOST) for _ in range(300))


class TestRegions:
    @pytest.mark.parametrize("name", ["voi_split", "voi_merge", "covered", "rand_index"])
    def test_a_sum_beyond_64_bits(self, name):
        most = 2**62 if name != "rand_index" else 2**40 * MEAN_UNITS
        most = min(most, 2**62)
        one = regions(**{name: [most]})
        with refused("too-many-pixels", ArgumentError, argument=name):
            one + one

    def test_pixels_beyond_64_bits(self):
        one = RegionCounts([0.5], 1, 2**62, 2**62, 0, *[[0]] * 8)
        with refused("wrong-value", ArgumentError, argument="area", value=str(2**63)):
            one + one
