import numpy as np
import pytest

from segbench.core.sorting import BeyondLimitError, count_distinct, count_distinct_of_classes


def reference(classes, scores):
    counted = classes < 2
    values, places = np.unique(0.0 - scores[counted], return_inverse=True)
    of_class = [np.bincount(places[classes[counted] == label], minlength=values.size) for label in (1, 0)]
    return 0.0 - values, *of_class


def any_bits(rng, size):
    scores = rng.integers(0, 2**32, size, np.uint32).view(np.float32)
    return np.where(np.isfinite(scores), scores, np.float32(-0.0))


KINDS = {
    "any bits": any_bits,
    "in [0, 1]": lambda rng, size: rng.random(size, np.float32),
    "logits": lambda rng, size: rng.normal(0, 3, size).astype(np.float32),
    "levels": lambda rng, size: (rng.integers(0, 9, size) / 8).astype(np.float32),
    "both zeros": lambda rng, size: rng.choice(np.array([-0.0, 0.0], np.float32), size),
}


@pytest.mark.parametrize("size", [0, 1, 33, 1000, 3 * 10**5])
@pytest.mark.parametrize("kind", KINDS)
def test_distinct_scores_are_those_of_numpy(kind, size):
    rng = np.random.default_rng(size)
    scores, classes = KINDS[kind](rng, size), rng.integers(0, 3, size, np.uint8)
    found, expected = count_distinct_of_classes(classes, scores), reference(classes, scores)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    assert not np.signbit(found[0][found[0] == 0]).any()


@pytest.mark.parametrize("size", [0, 1, 33, 1000, 3 * 10**5])
@pytest.mark.parametrize("kind", KINDS)
def test_distinct_scores_of_one_class_are_those_of_numpy(kind, size):
    scores = KINDS[kind](np.random.default_rng(size), size)
    found, times = count_distinct(np.split(scores, [size // 3]))
    expected, expected_times = np.unique(0.0 - scores, return_counts=True)
    np.testing.assert_array_equal(found, 0.0 - expected)
    np.testing.assert_array_equal(times, expected_times)
    assert not np.signbit(found[found == 0]).any()


@pytest.mark.parametrize("broken", [np.nan, -np.nan, np.inf, -np.inf])
def test_a_score_that_is_not_finite_is_found_where_it_counts(broken):
    scores = np.array([0.5, broken, np.finfo(np.float32).max, np.finfo(np.float32).min], np.float32)
    for given in scores, scores.astype(np.float64):
        with pytest.raises(BeyondLimitError):
            count_distinct([given])
        with pytest.raises(BeyondLimitError):
            count_distinct_of_classes(np.array([0, 1, 1, 0], np.uint8), given)
        assert count_distinct_of_classes(np.array([0, 2, 1, 0], np.uint8), given)[1].tolist() == [1, 0, 0]
