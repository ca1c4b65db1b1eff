"""Pooling in ranges of scores, and curves at a choice of their points."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from segbench import ScoreCounts, achievable_pr_curve, auc_pr, best_f, count_pixels, roc_curve
from segbench.counts import pooling
from segbench.curves import pixel_summary
from segbench.curves.pooled import pool_pixels, reduced


@pytest.fixture
def little_memory(monkeypatch):
    def allow(scores):
        monkeypatch.setattr(pooling, "SCORES_AT_ONCE", scores)

    return allow


def images_of(rng, images, *, levels):
    def scores():
        some = rng.normal(size=rng.integers(1, 60))
        return np.round(some, 1) if levels else some.astype(np.float32)

    return {
        str(k): count_pixels(rng.random((s := scores()).shape) < rng.choice([0, 0.3, 1]), s, rng.random(s.shape) < 0.9)
        for k in range(images)
    }


@given(st.integers(0, 2**32), st.integers(1, 12), st.booleans(), st.sampled_from([1, 7, 30, 100]))
def test_ranges_of_any_size_give_the_same_metrics_to_the_last_bit(seed, images, levels, at_once):
    counts = images_of(np.random.default_rng(seed), images, levels=levels)
    whole = pixel_summary(counts)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pooling, "SCORES_AT_ONCE", at_once)
        assert pool_pixels(counts).counts.scores.size
        by_range = pixel_summary(counts)
    assert str(dict(whole)) == str(dict(by_range))
