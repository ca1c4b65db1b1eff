"""Intervals of differences: the values that swapping images does not reject."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import segbench
from segbench import ScoreCounts


def image(rng, skill):
    positives = rng.binomial(20, np.linspace(0.2 + skill, 0.1, 5).clip(0, 1))
    return ScoreCounts([5, 4, 3, 2, 1], positives, rng.binomial(40, np.linspace(0.05, 0.6, 5)))


def methods(seed, count, skill=0.3):
    """Two methods on the same images: same totals of each image, other scores."""
    found = {"a": {}, "b": {}}
    for k in range(count):
        rng = np.random.default_rng([seed, k])
        one = image(rng, skill)
        places = rng.permutation(5) if rng.random() < 0.5 else np.arange(5)
        other = ScoreCounts(one.scores, one.positives[places], one.negatives)
        found["a"][str(k)], found["b"][str(k)] = one, other
    return found


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(6, 12), st.sampled_from([0.8, 0.9, 0.95]))
def test_an_interval_excludes_0_exactly_where_the_test_rejects_it(seed, count, level):
    comparison = segbench.compare(methods(seed, count), level=level, replicates=10)
    for row in comparison.differences:
        if math.isnan(row.low):
            continue
        assert row.low - 1e-12 <= row.difference <= row.high + 1e-12
        assert (row.low > 0 or row.high < 0) == (row.p_value <= 1 - level + 1e-12)


def test_by_brute_force():
    """Of a mean over images, a value is not rejected where flipping the signs of what is left of each does not."""
    found = methods(3, 7)
    comparison = segbench.compare(found, level=0.9, replicates=10)
    row = next(row for row in comparison.differences if row.metric == "mean_image_f")
    table = segbench.Pixels().table
    f = [np.array([table({"": one}).image_summary()["f"] for one in images.values()]) for images in found.values()]
    each = f[0] - f[1]
    signs = np.array(list(itertools.product([1, -1], repeat=each.size)))

    def p_value(value):
        off = each - value
        return np.mean(np.abs(signs @ off) >= abs(off.sum()) - 1e-9)

    assert row.p_value == pytest.approx(p_value(0))
    for end, inward in ((row.low, 1), (row.high, -1)):
        assert p_value(end + inward * 1e-9) > 0.1
        assert p_value(end - inward * 1e-6) <= 0.1


def test_identical_methods_differ_by_nothing():
    found = methods(0, 8)
    comparison = segbench.compare({"a": found["a"], "again": found["a"]}, replicates=10)
    for row in comparison.differences:
        assert (row.low, row.high, row.p_value) == (0, 0, 1)


def test_exchanging_the_methods_turns_the_interval_round():
    found = methods(5, 9)
    there = segbench.compare(found, replicates=10).differences
    back = segbench.compare(dict(reversed(found.items())), replicates=10).differences
    for one, other in zip(there, back, strict=True):
        assert (one.low, one.high) == pytest.approx((-other.high, -other.low), abs=1e-12, nan_ok=True)


def test_too_few_images_for_a_level_have_no_interval():
    comparison = segbench.compare(methods(1, 5), replicates=10)
    assert all(math.isnan(row.low) and math.isnan(row.high) for row in comparison.differences)
    assert "5 images: too few for 95 % intervals of differences" in comparison.notes
    assert not math.isnan(segbench.compare(methods(1, 6), replicates=10).differences[0].low)


def test_no_interval_holds_a_difference_that_cannot_be():
    """A perfect method against one that finds nothing: F cannot differ by more than 1."""
    totals = [(9 + k, 40 - k) for k in range(9)]
    found = {
        "perfect": {str(k): ScoreCounts([2, 1], [p, 0], [0, n]) for k, (p, n) in enumerate(totals)},
        "poor": {str(k): ScoreCounts([2, 1], [k, p - k], [n, 0]) for k, (p, n) in enumerate(totals)},
    }
    for row in segbench.compare(found, replicates=10).differences:
        assert math.isnan(row.low) or -1 <= row.low <= row.difference <= row.high <= 1


def test_a_choice_of_thresholds_hardly_moves_intervals(monkeypatch):
    """Of many distinct scores a choice is resampled: differences stay exact, intervals move by less than 1e-4."""
    found = {"a": {}, "b": {}}
    for k in range(16):
        rng = np.random.default_rng(k)
        labels = rng.random(12_000) < rng.uniform(0.1, 0.3)
        for name, skill in (("a", 1.5), ("b", 1.3)):
            found[name][str(k)] = segbench.count_pixels(labels, rng.normal(size=labels.size) + skill * labels)
    some = segbench.compare(found, replicates=200, permutations=500)
    for cuts in ("_CUTS", "_MOST_CUTS"):
        monkeypatch.setattr(f"segbench.protocols.pixels.image_set.{cuts}", 16_384)
    many = segbench.compare(found, replicates=200, permutations=500)
    shown = {metric.key for metric in many.metrics if metric.compared}
    for one, other in zip(some.differences, many.differences, strict=True):
        assert one.difference == other.difference == one.estimate_a - one.estimate_b
        assert (one.wins, one.ties, one.losses) == (other.wins, other.ties, other.losses)
        if one.metric in shown:
            ends = [(row.low, row.high, *by.intervals["a"][row.metric]) for row, by in ((one, some), (other, many))]
            assert ends[0] == pytest.approx(ends[1], abs=1e-4)
