"""Calibration of pixel scores: `Pixels(calibration=True)` and ``--calibration``."""

import json
import math

import numpy as np
import pytest
from methods import write_methods
from refusing import refused

import segbench
from segbench import ArgumentError, Pixels, ScoreCounts, count

KEYS = ("brier", "ece", "mce", "ace")
CALIBRATED = Pixels(calibration=True)


def measured(*images):
    table = CALIBRATED.table({str(k): counts for k, counts in enumerate(images)})
    return {key: table.summary()[key] for key in KEYS}


def random_image(seed, highest=255, pixels=3000):
    """Draw labels and levels, or with a highest score of 1 floats."""
    rng = np.random.default_rng(seed)
    levels = rng.integers(0, highest, pixels, {255: np.uint8, 65535: np.uint16}.get(highest, int), endpoint=True)
    scores = rng.random(pixels) if highest == 1 else levels
    return rng.random(pixels) < (scores / highest) ** 1.5, scores


def test_a_drawing_by_hand():
    found = measured(count([0, 1, 1, 1], [0, 0, 0.5, 1]))
    assert found == pytest.approx({"brier": 1.25 / 4, "ece": 1.5 / 4, "mce": 1 / 2, "ace": 1.5 / 4}, abs=1e-15)
    found = measured(count([1, 0, 1], [0.10, 0.11, 1]))  # two in one bin of equal width, each in one of equal mass
    hand = {"brier": (0.81 + 0.0121) / 3, "ece": 0.79 / 3, "mce": 0.79 / 2, "ace": (0.9 + 0.11) / 3}
    assert found == pytest.approx(hand, abs=1e-15)


def test_probabilities_that_come_true_are_calibrated():
    counts = ScoreCounts([1, 0.75, 0.5, 0.25, 0], [8, 6, 4, 2, 0], [0, 2, 4, 6, 8])
    assert measured(counts) == {"brier": (2 * 0.25 * 0.75 + 0.5 * 0.5) / 5, "ece": 0, "mce": 0, "ace": 0}


@pytest.mark.parametrize(("dtype", "highest"), [(np.uint8, 255), (np.uint16, 65535)])
def test_edges_of_bins_are_levels_and_belong_to_the_bin_above(dtype, highest):
    for edge in range(highest // 15, highest, highest // 15):
        for below, apart in ((edge - 1, True), (edge, False)):
            levels = np.array([below, below + 1, highest], dtype)
            first, second = levels[:2] / highest
            gaps = (1 - first, second) if apart else (abs(1 - first - second),)  # in one bin they cancel
            assert measured(count([1, 0, 1], levels))["ece"] == pytest.approx(sum(gaps) / 3, abs=1e-15)


@pytest.mark.parametrize("highest", [255, 65535, 1])
def test_scikit_learn_agrees(highest):
    brier_score_loss = pytest.importorskip("sklearn.metrics").brier_score_loss
    calibration_curve = pytest.importorskip("sklearn.calibration").calibration_curve
    for seed in range(20):
        labels, scores = random_image(seed, highest)
        if highest > 1:
            labels, scores = (
                part[scores % (highest // 15) != 0] for part in (labels, scores)
            )  # it closes on the right
        found = measured(count(labels, scores))
        shares = scores / highest
        assert found["brier"] == pytest.approx(brier_score_loss(labels, shares), abs=1e-12)
        true, predicted = calibration_curve(labels, shares, n_bins=15)
        pixels = np.histogram(shares, 15, (0, 1))[0]
        gaps = np.abs(true - predicted)
        assert found["ece"] == pytest.approx((gaps * pixels[pixels > 0]).sum() / labels.size, abs=1e-12)
        assert found["mce"] == pytest.approx(gaps.max(), abs=1e-12)


def test_torchmetrics_agrees():
    torch = pytest.importorskip("torch")
    calibration_error = pytest.importorskip("torchmetrics.functional.classification").binary_calibration_error
    for seed in range(20):
        labels, scores = random_image(seed, 1)
        found = measured(count(labels, scores))
        given = torch.from_numpy(scores), torch.from_numpy(labels.astype(np.int64))
        for key, norm in (("ece", "l1"), ("mce", "max")):
            assert found[key] == pytest.approx(float(calibration_error(*given, n_bins=15, norm=norm)), abs=1e-6)


@pytest.mark.parametrize("highest", [255, 1])
def test_ace_is_over_bins_of_equal_mass_that_keep_ties(highest):
    labels, scores = random_image(3, highest, 1003)
    shares = scores / highest
    below = np.searchsorted(np.sort(shares), shares)
    gap = sum(abs((labels - shares)[below * 15 // shares.size == k].sum()) for k in range(15))
    assert measured(count(labels, scores))["ace"] == pytest.approx(gap / shares.size, abs=1e-13)


def test_neither_order_nor_parts_nor_weights_matter():
    images = [count(*random_image(k)) for k in range(4)]
    expected = measured(*images)
    assert measured(*reversed(images)) == measured(ScoreCounts.sum(images)) == expected
    table = CALIBRATED.table({str(k): image for k, image in enumerate(images)})
    twice = CALIBRATED.table({str(k): image for k, image in enumerate([*images, images[1]])})
    np.testing.assert_allclose(table.measure(np.array([[1.0, 2, 1, 1]]))[0], twice.estimates, rtol=1e-12)
    for row, image in zip(table.measure_images(), images, strict=True):
        np.testing.assert_allclose(row[-4:], list(measured(image).values()), rtol=1e-12)


def test_very_many_scores_are_exact_in_estimates_and_near_in_resamples():
    images = {str(k): count(*random_image(k, 1, 20_000)) for k in range(3)}
    table = CALIBRATED.table(images)
    pooled = measured(ScoreCounts.sum(images.values()))
    assert {key: table.summary()[key] for key in KEYS} == pooled
    resampled = table.score(np.asarray(table.rows.sum(axis=0)).reshape(1, -1))[0, -4:]
    np.testing.assert_allclose(resampled[:3], list(pooled.values())[:3], rtol=1e-12)
    assert resampled[3] == pytest.approx(pooled["ace"], abs=2e-3)


def test_results_files_that_keep_the_pool_give_exact_differences(tmp_path):
    for kind, power in (("gt", 0), ("one", 1), ("two", 2)):
        (tmp_path / kind).mkdir()
        for image in range(3):
            labels, scores = random_image(image, 1, 30_000)
            np.save(tmp_path / kind / f"{image}.npy", (scores**power if power else labels).reshape(200, 150))
    file = tmp_path / "r.segbench"
    for kind in ("one", "two"):
        segbench.evaluate(tmp_path / "gt", tmp_path / kind, CALIBRATED, results=file)
    results = segbench.load_results(file)
    assert all(result.kept for result in results)
    comparison = segbench.compare_results(results, replicates=5)
    for row in comparison.differences:
        expected = results[0].summary[row.metric] - results[1].summary[row.metric]
        assert row.difference == pytest.approx(expected, abs=1e-14), row.metric
    assert {"brier", "ece", "ace"} <= {row.metric for row in comparison.differences}


@pytest.mark.parametrize(
    ("counts", "reason"),
    [
        (count([0, 1, 1], [-0.5, 1.0, 2.0]), "no-probabilities"),
        (count([0, 1], [False, True]), "two-valued"),
        (ScoreCounts.from_points([1], [0], 2, 2), "scores-unknown"),
        (ScoreCounts([0.9, 0.1], [1, 1], [0, 2]).at([0.5]), "scores-unknown"),
        (ScoreCounts([], [], []), "no-pixels"),
    ],
)
def test_what_is_no_probability_has_no_calibration(counts, reason):
    summary = CALIBRATED.table({"image": counts}).summary()
    assert all(math.isnan(summary[key]) for key in KEYS)
    assert {summary.undefined[key].kind for key in KEYS} == {reason}


def test_constant_and_two_valued_maps_may_be_probabilities():
    constant = CALIBRATED.table({"image": count([0, 1, 1, 1], [0.75] * 4)}).summary()
    assert [constant[key] for key in ("brier", "ece", "mce", "ace")] == [0.1875, 0, 0, 0]
    two = CALIBRATED.table({"image": count([0, 1, 0, 1], [0.25, 0.25, 0.25, 0.75])}).summary()
    assert two["brier"] == pytest.approx((2 * 0.25**2 + 0.75**2 + 0.25**2) / 4)
    assert two["ece"] == pytest.approx((3 * (1 / 3 - 0.25) + 0.25) / 4)


def test_one_image_that_has_none_takes_it_from_all():
    images = {"a": count([0, 1, 1], [0.2, 0.3, 0.7]), "b": count([0, 1], [0.2, 7.0])}
    summary = CALIBRATED.table(images).summary()
    reason = summary.undefined["ece"]
    assert (reason.kind, reason.values) == ("no-probabilities", {"lowest": 0.2, "highest": 7})


def test_what_rounding_puts_outside_is_0_or_1():
    rounded = measured(count([0, 1, 0, 1], [-1e-9, 0.25, 0.5, 1 + 1e-7]))
    assert rounded == pytest.approx(measured(count([0, 1, 0, 1], [0, 0.25, 0.5, 1])), abs=1e-15)
    assert measured(count([0, 0, 1], [1 + 1e-7, 0.5, 0.2]))["mce"] == 1


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return write_methods(tmp_path_factory.mktemp("data"), {"one": 0.5, "two": 2}, images=6, shape=(20, 31))


def test_intervals_comparisons_files_and_fixed_thresholds(folders, tmp_path):
    gt, one, two = folders
    protocol = Pixels(at=(0.5,), calibration=True)
    file = tmp_path / "r.segbench"
    results = [
        segbench.evaluate(gt, method, protocol, results=file, method=str(k)) for k, method in enumerate((one, two))
    ]
    assert "|at:0.5|calibration:15 bins|" in results[0].signature
    loaded = segbench.load_results(file)
    assert [dict(each.summary) for each in loaded] == [dict(each.summary) for each in results]
    plain = segbench.evaluate(gt, one, Pixels(at=(0.5,)))
    assert dict(plain.summary).items() <= dict(results[0].summary).items()
    low, high = results[0].intervals(replicates=200)["brier"]
    assert low <= results[0].summary["brier"] <= high
    comparison = segbench.compare_results(results, replicates=20)
    (row,) = (row for row in comparison.differences if row.metric == "ece")
    assert row.difference == pytest.approx(results[0].summary["ece"] - results[1].summary["ece"], abs=1e-15)
    accumulator = segbench.Accumulator(CALIBRATED)
    accumulator.update(*random_image(0))
    alone = accumulator.compute().summary
    assert {key: alone[key] for key in KEYS} == measured(count(*random_image(0)))
    accumulator.update(*random_image(1), name="a")
    summary = accumulator.compute().summary
    expected = measured(ScoreCounts.sum(count(*random_image(k)) for k in (0, 1)))
    assert {key: summary[key] for key in KEYS} == expected


def test_reliability_is_drawn_of_any_soft_maps(folders):
    gt, one, two = folders
    results = [segbench.evaluate(gt, method) for method in (one, two)]
    ax = segbench.plot(results, "reliability")
    counts = results[0].pooled
    bins = np.minimum(np.round(counts.scores * 255).astype(int) // 17, 14)
    pixels = np.bincount(bins, counts.positives + counts.negatives)
    shares = np.bincount(bins, counts.positives)[pixels > 0] / pixels[pixels > 0]
    (line,) = (line for line in ax.lines if line.get_label().endswith(results[0].method))
    np.testing.assert_allclose(line.get_ydata(), shares)
    assert line.get_label().startswith("[ECE=.")
    arrays = {"a": (np.eye(4), np.eye(4) + np.tri(4))}
    with refused("no-plot", ArgumentError, method="arrays") as raised:
        segbench.plot(segbench.evaluate(arrays), "reliability")
    reason = raised.value.values["reason"]
    assert (reason.kind, reason.values) == ("no-probabilities", {"lowest": 0, "highest": 2})
    with refused("no-plot", ArgumentError, method="arrays") as raised:
        segbench.plot(segbench.evaluate({"a": (np.eye(4), np.eye(4))}), "reliability")
    assert raised.value.values["reason"].kind == "two-valued"
    with refused(
        "no-plot",
        ArgumentError,
        protocol="labels",
        plot="reliability, which is that of soft maps and of scored objects",
    ):
        segbench.plot(segbench.evaluate({"a": (np.eye(4), np.eye(4))}, protocol="labels"), "reliability")


def test_on_the_command_line(folders, segbench):
    gt, one, _ = folders
    runs = json.loads(segbench("pixels", gt, one, "--calibration", "--format", "json").out)["runs"]
    assert 0 < runs[0]["summary"]["ece"] < 1
    header = segbench("pixels", gt, one, "--calibration").out
    assert all(title in header for title in ("Brier", "ECE", "MCE", "ACE"))
    assert "ECE" not in segbench("pixels", gt, one).out
