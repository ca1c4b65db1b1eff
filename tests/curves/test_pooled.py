"""Pooling in ranges of scores, and curves at a choice of their points."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from measured import pixel_summary

from segbench import ScoreCounts, achievable_pr_curve, auc_pr, best_f, count
from segbench.core import pooling
from segbench.curves.pooled import pool_pixels, reduced


def images_of(rng, images, *, levels):
    def scores():
        some = rng.normal(size=rng.integers(1, 60))
        return np.round(some, 1) if levels else some.astype(np.float32)

    return {
        str(k): count(rng.random((s := scores()).shape) < rng.choice([0, 0.3, 1]), s, valid=rng.random(s.shape) < 0.9)
        for k in range(images)
    }


@given(st.integers(0, 2**32), st.integers(1, 12), st.booleans(), st.sampled_from([3, 7, 30, 100]))
def test_ranges_of_any_size_give_the_same_metrics_to_the_last_bit(seed, images, levels, at_once):
    counts = images_of(np.random.default_rng(seed), images, levels=levels)
    whole = pixel_summary(counts)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pooling, "SCORES_AT_ONCE", at_once)
        by_range = pixel_summary(counts)
    assert str(dict(whole)) == str(dict(by_range))


def noisy(rng, pixels):
    labels = rng.random(pixels) < 0.3
    return count(labels, (rng.normal(size=labels.size) + labels).astype(np.float32))


class TestReduced:
    @pytest.fixture
    def whole(self):
        return noisy(np.random.default_rng(3), 200_000)

    def test_few_scores_are_all_kept(self):
        counts = count([0, 1, 1], [0.1, 0.5, 0.7])
        assert reduced(counts) is counts

    def test_every_point_is_one_of_the_whole_curve_at_its_own_threshold(self, whole):
        some = reduced(whole)
        assert some.scores.size < 20_000
        assert some == replace(whole.at(some.scores[:-1]), scores=some.scores)

    def test_the_point_before_a_score_of_many_pixels_is_kept(self, whole):
        place = 100_000
        positives = whole.positives.copy()
        positives[place] += 10_000
        jump = replace(whole, positives=positives)
        assert {float(score) for score in whole.scores[place - 1 : place + 1]} <= set(reduced(jump).scores.tolist())

    def test_metrics_read_at_a_point_stay_exact(self, whole):
        some = reduced(whole)
        assert best_f(some) == best_f(whole)
        assert achievable_pr_curve(some).area == achievable_pr_curve(whole).area
        assert auc_pr(some) == pytest.approx(auc_pr(whole), abs=2e-5)

    def test_it_says_that_points_were_chosen(self, whole):
        some = reduced(whole)
        assert some.threshold_source == f"{some.scores.size} of {whole.scores.size} scores"
        assert reduced(some) is some


def test_a_pool_that_does_not_fit_is_reduced_and_its_summary_is_exact(monkeypatch):
    rng = np.random.default_rng(0)
    images = {name: noisy(rng, 90_000) for name in "abc"}
    whole = pixel_summary(images)
    monkeypatch.setattr(pooling, "SCORES_AT_ONCE", 50_000)
    assert dict(pixel_summary(images)) == dict(whole)
    assert pool_pixels(images).counts == reduced(ScoreCounts.sum(images.values()))
