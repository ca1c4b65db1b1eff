import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from measured import BOUNDARIES, boundary_summary
from refusing import refused

from segbench import compare
from segbench.core.errors import ArgumentError, DataError
from segbench.core.messages import part_of
from segbench.core.scores import ScoreCounts
from segbench.protocols.boundaries.counts import BoundaryCounts
from segbench.statistics.intervals import intervals

LEVEL = st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(0, 6), st.integers(0, 6))


def image(rows):
    counts = np.array(rows)
    gt, pred = np.sort(counts[:, :2], axis=1), np.sort(counts[:, 2:], axis=1)
    return BoundaryCounts(np.arange(1, len(rows) + 1) / (len(rows) + 1), gt[:, 0], gt[:, 1], pred[:, 0], pred[:, 1])


def detector(count, seed, skill):
    """Make images with the same ground truth for every seed: recall falls and precision rises with the threshold."""
    truth, rng = np.random.default_rng(7), np.random.default_rng(seed)
    t = np.arange(1, 20) / 20
    images = {}
    for k in range(count):
        total_gt, ease = int(truth.integers(300, 900)), truth.uniform(0.8, 1.2)
        matched_gt = np.minimum(total_gt * (1 - t) ** (1 / skill) * ease + rng.integers(0, 9, 19), total_gt).astype(int)
        total_pred = (2000 * (1 - t) ** 2 + 9).astype(int)
        matched_pred = np.minimum(total_pred, matched_gt)
        images[f"{k:02}"] = BoundaryCounts(t, matched_gt, np.full(19, total_gt), matched_pred, total_pred)
    return images


def same(figures, expected):
    assert set(figures) == set(expected)
    for key, figure in expected.items():
        assert figures[key] == pytest.approx(figure, rel=1e-12, nan_ok=True), key


@settings(max_examples=150, deadline=None)
@given(st.data(), st.integers(1, 6), st.integers(1, 4))
def test_weights_are_copies_of_images(data, levels, count):
    rows = st.lists(LEVEL, min_size=levels, max_size=levels)
    images = [image(data.draw(rows)) for _ in range(count)]
    times = data.draw(st.lists(st.integers(0, 3), min_size=count, max_size=count).filter(any))
    table = BOUNDARIES.table({str(k): counts for k, counts in enumerate(images)})
    copies = {f"{k} {n}": counts for k, counts in enumerate(images) for n in range(times[k])}
    found = table.measure(np.array([times], dtype=np.float64))[0]
    measured = {metric.key: value for metric, value in zip(table.metrics, found, strict=True) if metric.key}
    same(measured, boundary_summary(copies))


@pytest.mark.parametrize("skill", [0.3, 1, 3])
def test_the_figures_of_all_images_are_the_summary_s(skill):
    images = detector(30, 0, skill)
    same(intervals(images, replicates=5).estimates, boundary_summary(images))


def test_every_figure_has_an_interval_around_it():
    result = intervals(detector(30, 0, 1), replicates=500)
    for key, (low, high) in result.items():
        assert key in result.undefined or low <= result.estimates[key] <= high
    assert result["ods_f"][0] < result["ods_f"][1]


def test_of_no_image_nothing_is_defined():
    table = BOUNDARIES.table(detector(2, 0, 1))
    assert np.isnan(table.measure(np.zeros((1, 2)))).all()


def test_a_better_detector_is_found_better():
    result = compare({"good": detector(12, 0, 3), "poor": detector(12, 1, 1)}, replicates=200)
    row = next(row for row in result.differences if row.metric == "ods_f")
    assert row.low > 0
    assert row.p_value < 0.01
    assert (row.wins, row.losses) == (12, 0)
    assert result.rank_shares["ods_f"]["good"] == (1, 0)
    assert "ods_threshold" not in result.rank_shares


def test_different_thresholds_ground_truth_or_kinds_are_refused():
    images = detector(3, 0, 1)
    odd = dict(images, other=BoundaryCounts([0.5], [1], [2], [1], [2]))
    with refused("counted-otherwise", ArgumentError, first="00", thresholds=19, image="other", others=1):
        intervals(odd)
    changed = dict(images)
    changed["01"] = BoundaryCounts([0.5], [1], [2], [1], [2])
    with refused("other-images", DataError, path="a, b", methods=("a", "b")):
        compare({"a": images, "b": changed})
    with refused("other-counts", ArgumentError, given="BoundaryCounts, ScoreCounts"):
        intervals(dict(images, other=ScoreCounts([1], [1], [1])))


def test_an_undefined_r50_has_a_reason():
    images = {str(k): BoundaryCounts([0.5], [1 + k % 2], [9], [1 + k % 2], [9]) for k in range(12)}
    result = intervals(images, replicates=20)
    assert math.isnan(result["r50"][0])
    assert "r50" in result.undefined
    assert result["ods_f"][0] < 1 / 6 < result["ods_f"][1]


def test_an_image_without_boundaries_adds_the_false_positives_of_its_last_threshold():
    t = [0.25, 0.5, 0.75]
    images = {
        "empty": BoundaryCounts(t, [0, 0, 0], [0, 0, 0], [0, 0, 0], [1000, 100, 10]),
        "full": BoundaryCounts(t, [90, 90, 40], [100, 100, 100], [90, 90, 40], [120, 90, 40]),
    }
    table = BOUNDARIES.table(images)
    summary = table.summary()
    assert summary["ois_precision"] == 90 / 100
    assert summary["mean_image_f"] == pytest.approx(0.5 * 2 * 0.9 / 1.9)
    (note,) = table.notes
    assert (note.kind, note.metrics) == ("counted-as-0", (("mean_image_f", "mean F"),))
    assert note.values == {"number": part_of(1, 2)}
