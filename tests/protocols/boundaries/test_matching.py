import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from protocols.boundaries.peers import best_matching, tie_break
from refusing import refused

import segbench as sb
from segbench.core.errors import ArgumentError, DataError
from segbench.protocols.boundaries.assignment import tabulate_costs


def draw(text):
    return np.array([[c == "#" for c in line] for line in text.split()])


def flat_partners(match, shape):
    partners = np.full(len(match.ground_truth), -1)
    flat = np.ravel_multi_index(match.prediction.T, shape) if len(match.prediction) else np.empty(0, int)
    on = match.prediction_to_gt >= 0
    partners[match.prediction_to_gt[on]] = flat[on]
    return partners


def test_more_pairs_come_before_shorter_ones():
    # Greedily the two in the middle would pair at distance 1 and leave two alone.
    prediction = draw("#..#....")
    truth = draw("....#..#")
    match = sb.match_boundaries(truth, prediction, 4)
    assert match.count == 2
    assert match.links.tolist() == [[[0, 0], [0, 4]], [[0, 3], [0, 7]]]
    assert match.total_distance == 8.0


def test_the_tolerance_is_inclusive():
    prediction, truth = draw("#.... ..... ..... ....."), draw("..... ..... ..... ....#")
    assert sb.match_boundaries(truth, prediction, 5.0).count == 1
    assert sb.match_boundaries(truth, prediction, 4.999).count == 0


def test_distances_are_rounded_to_hundredths():
    match = sb.match_boundaries(draw(".. .#"), draw("#. .."), 2)
    assert match.total_distance == 1.41


def test_tolerance_zero_matches_equal_pixels():
    prediction, truth = draw("##. .#."), draw(".## .#.")
    match = sb.match_boundaries(truth, prediction, 0)
    assert match.links[:, 0].tolist() == match.links[:, 1].tolist() == [[0, 1], [1, 1]]
    assert match.prediction[match.prediction_to_gt < 0].tolist() == [[0, 0]]


def test_one_pixel_is_matched_once():
    match = sb.match_boundaries(draw("... .#. ..."), draw("### ### ###"), 2)
    assert match.count == 1
    assert match.links.tolist() == [[[1, 1], [1, 1]]]
    assert np.count_nonzero(match.prediction_to_gt < 0) == 8


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (7, 1), (3, 130)])
def test_empty_and_full_maps(shape):
    full, empty = np.ones(shape), np.zeros(shape)
    for prediction, truth, count in ((full, full, full.size), (full, empty, 0), (empty, full, 0), (empty, empty, 0)):
        match = sb.match_boundaries(truth, prediction, 20)
        assert (match.count, match.total_distance) == (count, 0.0)


def test_the_tie_break_is_the_documented_one():
    # Both pixels are as near; the lower hash wins, for every annotator.
    prediction, truth = draw("#.#"), draw(".#.")
    chosen = set()
    for annotator in range(8):
        match = sb.match_boundaries(truth, prediction, 1, annotator=annotator)
        expected = min((0, 2), key=lambda p: tie_break(p, 1, annotator))
        assert flat_partners(match, (1, 3)).tolist() == [expected]
        chosen.add(expected)
    assert chosen == {0, 2}


def test_best_of_all_matchings_by_trying_each():
    rng = np.random.default_rng(5)
    for _ in range(30):
        prediction, truth = rng.permuted(np.arange(25) < 4).reshape(5, 5), rng.permuted(np.arange(25) < 4).reshape(5, 5)
        match = sb.match_boundaries(truth, prediction, 2.3)
        p, g = np.argwhere(prediction), np.argwhere(truth)
        distances = [
            [d for i, j in enumerate(order) if (d := np.hypot(*(p[j] - g[i]))) <= 2.3]
            for order in itertools.permutations(range(4))
        ]
        best = min(sum(np.rint(100 * np.array(d))) + 23000 * (4 - len(d)) for d in distances)
        assert best == round(100 * match.total_distance) + 23000 * (4 - match.count)


@pytest.mark.parametrize(("pixels", "pairs"), [(99, 99), (200, 199)])
def test_distance_is_weighed_against_pairs(pixels, pairs):
    # A line one pixel beside its ground truth: all pixels pair at distance 1, or all but one at distance 0. With a
    # tolerance of 1 a ground-truth pixel left alone costs as much as 100 pairs at distance 1, so a long line loses one.
    truth = draw("#" * pixels + ".")
    match = sb.match_boundaries(truth, truth[:, ::-1], 1)
    assert match.count == pairs
    assert match.total_distance == (pixels if pairs == pixels else 0)


@given(st.data())
@settings(max_examples=25)
def test_every_pixel_equal_to_scipy(data):
    shape = data.draw(st.sampled_from([(1, 20), (9, 9), (14, 14), (6, 70)]))
    prediction, truth = (data.draw(arrays(bool, shape, elements=st.booleans(), fill=st.just(False))) for _ in range(2))
    max_dist_px = data.draw(st.sampled_from([0, 0.5, 1, 1.5, 2.83, 4.337, 20]))
    annotator = data.draw(st.integers(0, 7))
    match = sb.match_boundaries(truth, prediction, max_dist_px, annotator=annotator)
    assert np.array_equal(flat_partners(match, shape), best_matching(prediction, truth, max_dist_px, annotator))


@pytest.mark.parametrize("density", [0.05, 0.3, 0.8])
@pytest.mark.parametrize("max_dist_px", [0, 1, 4.337, 20])
def test_random_maps_equal_scipy(density, max_dist_px):
    rng = np.random.default_rng(int(100 * density + max_dist_px))
    prediction, truth = rng.random((17, 90)) < density, rng.random((17, 90)) < 0.1
    for first, second in ((prediction, truth), (truth, prediction)):
        match = sb.match_boundaries(second, first, max_dist_px)
        assert np.array_equal(flat_partners(match, first.shape), best_matching(first, second, max_dist_px))


def test_flipping_and_transposing_change_no_distance():
    rng = np.random.default_rng(3)
    prediction, truth = rng.random((2, 40, 70)) < 0.08
    match = sb.match_boundaries(truth, prediction, 4.337)
    for turn in (np.fliplr, np.flipud, np.transpose):
        turned = sb.match_boundaries(turn(truth), turn(prediction), 4.337)
        assert (turned.count, turned.total_distance) == (match.count, match.total_distance)


def test_inputs_are_not_changed():
    prediction, truth = np.eye(5), np.eye(5)[::-1].copy()
    sb.match_boundaries(truth, prediction, 3)
    assert np.array_equal(prediction, np.eye(5))
    assert np.array_equal(truth, np.eye(5)[::-1])


@pytest.mark.parametrize(
    ("shape", "guess", "values"),
    [
        ((5, 4), "transposed", {}),
        ((4, 6), "off-by-pixels", {"off": (0, 1)}),
        ((8, 10), "off-by-factor", {"word": "larger", "factor": 2}),
    ],
)
def test_other_sizes_are_refused(shape, guess, values):
    with refused("other-size", DataError, path="prediction", size=shape, expected=(4, 5)) as raised:
        sb.match_boundaries(np.ones((4, 5)), np.ones(shape), 1)
    guessed = raised.value.values["guess"]
    assert (guessed.kind, guessed.values) == (guess, values)


@pytest.mark.parametrize("max_dist_px", [-1, np.nan, np.inf])
def test_no_such_tolerance(max_dist_px):
    with refused("wrong-value", ArgumentError, argument="max_dist_px", value=str(max_dist_px)):
        sb.match_boundaries([[1]], [[1]], max_dist_px)


def test_costs_beyond_64_bits_are_refused():
    assert -tabulate_costs((2000, 3000), 27.04, 6_000_000, 0).pair.min() < 2**62
    with refused("too-many-pixels", ArgumentError, settings={"max_dist": None}, pixels=2_000_000, tolerance=400):
        tabulate_costs((20_000, 20_000), 400, 2_000_000, 0)
