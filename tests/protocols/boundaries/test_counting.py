import csv
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from protocols.boundaries.peers import best_matching
from refusing import refused
from scipy.io import loadmat
from skimage.morphology import thin as skimage_thin

import segbench as sb
from segbench.core.errors import ArgumentError, DataError
from segbench.imaging.bits import pack
from segbench.protocols.boundaries.assignment import sweep, tabulate_costs
from segbench.protocols.boundaries.counting import count_boundary_maps
from segbench.protocols.boundaries.counts import BoundaryCounts

FOLDER = os.environ.get("SEGBENCH_BSDS500")


def counted_alone(maps, truths, max_dist_px):
    """Counts threshold by threshold, each annotator matched from scratch by SciPy."""
    rows = []
    for on in maps:
        matched_gt, used = 0, set()
        for annotator, truth in enumerate(truths):
            partners = best_matching(on, truth, max_dist_px, annotator)
            matched_gt += np.count_nonzero(partners >= 0)
            used |= set(partners[partners >= 0].tolist())
        rows.append([matched_gt, sum(int(t.sum()) for t in truths), len(used), int(on.sum())])
    return np.array(rows).T.tolist()


def as_lists(counts):
    return [part.tolist() for part in (counts.matched_gt, counts.total_gt, counts.matched_pred, counts.total_pred)]


def test_a_drawing_worked_by_hand():
    scores = np.array([[0.9, 0.0, 0.0, 0.0, 0.6], [0.0] * 5, [0.3, 0.0, 0.0, 0.0, 0.0]])
    first = np.array([[0, 1, 0, 0, 0], [0] * 5, [0, 0, 0, 0, 0]])
    second = np.array([[1, 0, 0, 1, 0], [0] * 5, [0, 0, 0, 0, 1]])
    counts = sb.count(
        [first, second], scores, sb.Boundaries(thresholds=[0.2, 0.5, 0.8], max_dist=1.01 / np.hypot(3, 5))
    )
    assert as_lists(counts) == [[3, 3, 2], [4, 4, 4], [2, 2, 1], [3, 2, 1]]


def test_thresholds_are_those_of_the_official_code_to_the_last_bit():
    # Level 85 of 255 is 1 / 3, and the second of 5 thresholds a unit in the last place above it.
    level = np.array([[85]], np.uint8)
    counts = sb.count([[1]], level, sb.Boundaries(thresholds=5))
    assert counts.thresholds[1] == 0.33333333333333337
    assert counts.total_pred.tolist() == [1, 0, 0, 0, 0]
    assert sb.count([[1]], level, sb.Boundaries(thresholds=[1 / 3])).total_pred.tolist() == [1]
    beside = np.flatnonzero(sb.count([[1]], level, "boundaries").thresholds != np.arange(1, 100) / 100)
    assert beside.size == 25
    assert beside[0] == 5
    assert sb.count([[1]], [[0.06]], "boundaries").total_pred[5] == 0


def test_the_perfect_prediction():
    truth = sb.thin(np.random.default_rng(0).random((30, 40)) < 0.2)
    counts = sb.count(truth, truth, sb.Boundaries(max_dist=0))
    assert (counts.matched_gt == truth.sum()).all()
    assert (counts.matched_pred == counts.total_pred).all()


@given(st.data())
@settings(max_examples=20)
def test_every_threshold_equal_to_scipy_alone(data):
    shape = data.draw(st.sampled_from([(1, 12), (10, 10), (8, 68)]))
    scores = data.draw(arrays(np.uint8, shape, elements=st.integers(0, 5), fill=st.just(0)))
    truths = [data.draw(arrays(bool, shape, fill=st.just(False))) for _ in range(data.draw(st.integers(1, 3)))]
    max_dist_px = data.draw(st.sampled_from([0, 1.01, 2.3, 4.337]))
    thin = data.draw(st.booleans())
    counts = sb.count(
        truths,
        scores.astype(float),
        sb.Boundaries(thresholds=[1, 2, 3, 4, 5], max_dist=f"{max_dist_px}px", thin=thin),
    )
    maps = [skimage_thin(scores >= k) if thin else scores >= k for k in range(1, 6)]
    assert as_lists(counts) == counted_alone(maps, truths, max_dist_px)


@pytest.mark.slow
def test_pixels_that_come_and_go():
    # Maps that are not nested: whole rows of partners vanish at once, and each repair leans on the others.
    rng = np.random.default_rng(11)
    truths = [rng.random((14, 70)) < 0.15 for _ in range(2)]
    maps = [rng.random((14, 70)) < density for density in (0.3, 0.05, 0.2, 0.0, 0.4, 0.1)]
    counts = count_boundary_maps(maps, truths, max_dist=3.7 / np.hypot(14, 70), thin=False)
    assert counts.thresholds.tolist() == [1, 2, 3, 4, 5, 6]
    assert as_lists(counts) == counted_alone(maps, truths, 3.7)


@pytest.mark.slow
def test_thick_maps_whose_thinning_changes_at_every_threshold():
    rng = np.random.default_rng(2)
    noise = rng.random((24, 70))
    scores = sum(np.roll(noise, (dy, dx), (0, 1)) for dy in range(3) for dx in range(3)) / 9
    truth = sb.thin(scores > 0.55)
    thresholds = np.linspace(0.3, 0.7, 9)
    counts = sb.count(truth, scores, sb.Boundaries(thresholds=thresholds, max_dist=3.05 / np.hypot(24, 70)))
    assert as_lists(counts) == counted_alone([skimage_thin(scores >= t) for t in thresholds], [truth], 3.05)


def test_no_order_of_thresholds_matters_to_a_threshold():
    scores = np.random.default_rng(4).random((30, 30)) ** 4
    truth = np.random.default_rng(5).random((30, 30)) < 0.1
    every = sb.count(truth, scores, sb.Boundaries(max_dist=0.1))
    for k in (0, 30, 70, 98):
        alone = sb.count(truth, scores, sb.Boundaries(thresholds=[every.thresholds[k]], max_dist=0.1))
        assert [part[0] for part in as_lists(alone)] == [part[k] for part in as_lists(every)]


@pytest.mark.parametrize("shape", [(1, 1), (1, 300), (200, 1)])
def test_empty_and_full_maps(shape):
    full, empty = np.ones(shape), np.zeros(shape)
    for scores, truth, matched in ((full, full, full.size), (full, empty, 0), (empty, full, 0), (empty, empty, 0)):
        counts = sb.count([truth] * 8, scores, sb.Boundaries(thin=False))
        assert set(counts.matched_gt.tolist()) == {8 * matched}
        assert set(counts.matched_pred.tolist()) == {matched}


def test_a_large_image():
    truth = np.zeros((2000, 3000), bool)
    truth[::50, 5:-5] = True
    shifted = np.roll(truth, 7, axis=0)
    counts = sb.count(truth, shifted, sb.Boundaries(thresholds=3))
    assert (counts.matched_gt == truth.sum()).all()
    assert not sb.count(
        truth, shifted, sb.Boundaries(thresholds=1, max_dist=6.9 / np.hypot(*truth.shape))
    ).matched_gt.any()


@pytest.mark.parametrize("max_dist_px", [1.5, 4, 9])
def test_every_threshold_is_matched_as_if_alone_where_pixels_move(max_dist_px):
    rng = np.random.default_rng(9)
    truth, drawn = rng.random((2, 20, 70)) < 0.1
    # Half of the pixels move by one from map to map: some vanish where others appear, some alone.
    maps = [np.where(rng.random(drawn.shape) < 0.5, drawn, np.roll(drawn, k, axis=1)) for k in range(12)]
    packed = np.stack([pack(each) for each in maps])
    every = np.bitwise_or.reduce(packed, axis=0)
    costs = tabulate_costs(truth.shape, max_dist_px, int(truth.sum()), 0)
    swept = sweep(packed, every, pack(truth), costs, np.zeros_like(packed), trace=True)
    alone = [best_matching(each, truth, max_dist_px) for each in maps]
    assert np.array_equal(swept.partners, alone)
    assert swept.matched.tolist() == [np.count_nonzero(partners >= 0) for partners in alone]


def test_long_lists_of_neighbours():
    rng = np.random.default_rng(8)
    truth, scores = rng.random((60, 80)) < 0.5, rng.random((60, 80))
    counts = sb.count(truth, scores, sb.Boundaries(thresholds=[0.5, 0.7, 0.9], max_dist=0.2, thin=False))
    alone = [sb.match_boundaries(truth, scores >= t, 20) for t in (0.5, 0.7, 0.9)]
    assert counts.matched_gt.tolist() == [match.count for match in alone]


def test_one_annotator_given_in_three_ways():
    scores, truth = np.eye(6), np.eye(6, dtype=int)
    expected = sb.count(truth, scores, "boundaries")
    assert sb.count([truth], scores, "boundaries") == expected
    assert sb.count(truth.tolist(), scores, "boundaries") == expected
    assert sb.count(truth[None], scores, "boundaries") == expected


@pytest.mark.parametrize(
    ("call", "kind", "path", "values"),
    [
        (
            lambda: sb.count([[1, 0]], [[0.5, np.nan]], "boundaries"),
            "not-finite",
            "prediction",
            {"nan": 1, "infinite": 0},
        ),
        (
            lambda: sb.count([[1, 0]], [[0.5, np.inf]], "boundaries"),
            "not-finite",
            "prediction",
            {"nan": 0, "infinite": 1},
        ),
        (
            lambda: sb.count([[1, 0]], [[0.0, 255.0]], "boundaries"),
            "outside-unit",
            "prediction",
            {"lowest": 0, "highest": 255},
        ),
        (
            lambda: sb.count([np.ones((2, 2)), np.ones((2, 3))], np.ones((2, 2)), "boundaries"),
            "other-size",
            "prediction",
            {"size": (2, 3), "expected": (2, 2), "other": "ground truth of annotator 0"},
        ),
        (
            lambda: count_boundary_maps([np.ones((2, 2)), np.ones((2, 3))], np.ones((2, 2))),
            "other-size",
            "prediction 2",
            {"size": (2, 3), "expected": (2, 2)},
        ),
    ],
)
def test_data_at_fault(call, kind, path, values):
    with refused(kind, DataError, path=path, **values):
        call()


@pytest.mark.parametrize(
    ("call", "kind", "values"),
    [
        (
            lambda: sb.count(np.ones((2, 3)), np.ones((3, 2)), "boundaries"),
            "wrong-shape",
            {"argument": "ucm2", "shape": (3, 2)},
        ),
        (lambda: sb.count([], np.ones((2, 2)), "boundaries"), "empty", {"name": "ground_truth"}),
        (
            lambda: sb.count(np.ones((2, 2)), np.ones(2), "boundaries"),
            "other-shape",
            {"name": "prediction", "shape": (2,)},
        ),
    ],
)
def test_arguments_at_fault(call, kind, values):
    with refused(kind, ArgumentError, **values):
        call()


@pytest.mark.parametrize(
    ("setting", "value"),
    [({"thresholds": 0}, "0"), ({"thresholds": [0.5, 0.2]}, "[0.5, 0.2]"), ({"max_dist": -0.1}, "-0.1")],
)
def test_settings_at_fault(setting, value):
    with refused("wrong-value", ArgumentError, settings=dict.fromkeys(setting), value=value):
        sb.Boundaries(**setting)


@pytest.mark.skipif(not FOLDER, reason="SEGBENCH_BSDS500 does not say where the images are")
def test_an_image_of_bsds500_against_the_official_matcher():
    root = Path(FOLDER)
    with (root / "reference_counts.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["image"] == "100007"]
    names = ("matched_gt", "total_gt", "matched_pred", "total_pred")
    official = BoundaryCounts(
        [float(row["threshold"]) for row in rows], *([int(row[name]) for row in rows] for name in names)
    )
    cells = loadmat(root / "groundTruth" / "100007.mat")["groundTruth"].ravel()
    scores = loadmat(root / "ucm2" / "100007.mat")["ucm2"][2::2, 2::2]
    counts = sb.count([cell["Boundaries"][0, 0] for cell in cells], scores, "boundaries")
    assert np.array_equal(counts.total_gt, official.total_gt)
    assert np.array_equal(counts.total_pred, official.total_pred)
    assert 0 <= counts.matched_gt.sum() / official.matched_gt.sum() - 1 <= 0.001
    assert abs(counts.matched_pred.sum() / official.matched_pred.sum() - 1) <= 0.0025
