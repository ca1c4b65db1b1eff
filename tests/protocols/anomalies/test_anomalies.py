"""Anomalies: drawings worked by hand, the tests of anomalib, direct computation, edges, and what images add up to."""

import math
import sys
from pathlib import Path

import imageio.v3 as iio
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from refusing import refused
from sklearn.metrics import average_precision_score, roc_auc_score

import segbench
from segbench import Anomalies, AnomalyCounts, ArgumentError, DataError, count
from segbench.core.messages import Setting
from segbench.protocols.anomalies import curves
from segbench.protocols.anomalies.curves import measured_pimo, measured_pro

sys.path.insert(0, str(Path(__file__).parent))
from direct import direct_aupimo, direct_aupro


def summary(masks, maps, **settings):
    images = {f"{k:03}": pair for k, pair in enumerate(zip(masks, maps, strict=True))}
    return segbench.evaluate(images, protocol=Anomalies(**settings)).summary


def random_set(seed, *, images=5):
    """Return masks and maps: with 3 or 20 scores, or almost without ties; some images are normal."""
    rng = np.random.default_rng(seed)
    shape = rng.integers(2, 12, 2)
    levels = int(rng.choice([3, 20, 10**6]))
    dtype = rng.choice([np.float32, np.float64])
    masks = [rng.random(shape) < (rng.random() / 2 if rng.random() < 0.6 else 0) for _ in range(images)]
    maps = [((rng.integers(0, levels, shape) - levels // 2) / 7).astype(dtype) for _ in range(images)]
    return masks, maps


def larger_set(seed=0, images=12, size=24):
    """Return a set with normal images and some of one to three components."""
    rng = np.random.default_rng(seed)
    masks, maps = np.zeros((images, size, size), bool), rng.normal(size=(images, size, size)).astype(np.float32)
    for mask in masks[: 2 * images // 3]:
        for y, x in rng.integers(0, size - 5, (rng.integers(1, 4), 2)):
            mask[y : y + 5, x : x + 4] = True
    maps[masks] += 2
    return masks, maps


@pytest.fixture
def wide_rates(monkeypatch):
    """Measure AUPIMO between rates that small images have."""
    monkeypatch.setattr(curves, "RATES", (0.02, 0.2))


class TestByHand:
    def test_one_of_two_components_found_before_any_false_alarm_is_one_half(self):
        mask, scores = [[1, 0, 1, 0]], [[0.9, 0.5, 0.1, 0.5]]
        assert summary([np.array(mask)], [np.array(scores)])["aupro"] == 0.5

    def test_components_weigh_alike_whatever_their_size(self):
        mask = np.array([[1, 1, 1, 0, 1, 0]])
        assert summary([mask], [np.array([[0.0, 0.0, 0.0, 0.5, 0.9, 0.5]])])["aupro"] == 0.5

    def test_a_tie_of_everything_is_a_straight_line(self):
        assert_allclose(summary([np.array([[1, 0, 0]])], [np.ones((1, 3))])["aupro"], 0.15)

    def test_the_line_is_cut_at_the_limit(self):
        # Level at 1/2 up to an FPR of 1/10, then straight to 1 at 2/10: up to .15 (.05 + .05 * .625) / .15.
        mask = np.array([[1, 1] + [0] * 10])
        scores = np.array([[0.9, 0.6, 0.7, 0.6] + [0.1] * 8])
        mask[0, 1] = 0
        mask = np.hstack([mask, [[1]]])
        scores = np.hstack([scores, [[0.6]]])
        counts = count(mask, scores, "anomalies")
        expected = direct_aupro([mask > 0], [scores], 0.15)
        assert_allclose(measured_pro({"a": counts}, limits=(0.15,)).areas[0], expected, atol=1e-15)

    def test_diagonal_neighbours_are_one_component(self):
        assert count(np.eye(3), np.eye(3), "anomalies").components == 1

    def test_highest_score_makes_the_score_of_an_image(self):
        counts = count([[0, 0]], [[0.2, -3]], "anomalies")
        assert counts.normal_images.tolist() == [0.2]

    def test_mean_of_the_highest_percent_is_rounded_up(self):
        scores = np.arange(150.0).reshape(10, 15)
        assert count(np.zeros((10, 15)), scores, Anomalies(image_score="top1")).normal_images.tolist() == [148.5]


class TestKnownValues:
    """The tests of anomalib."""

    @pytest.mark.parametrize("row", [[0, 0, 0, 1, 0, 0, 0], [0, 1, 0, 1, 0, 1, 0]])
    def test_aupro_is_a_sixth_up_to_a_third(self, row):
        counts = count(np.array([row] * 400), np.arange(2800).reshape(400, 7) / 2800, "anomalies")
        assert_allclose(measured_pro({"a": counts}, limits=(1 / 3,)).areas[0], 1 / 6, atol=2e-6)

    def test_aupimo(self):
        scores = np.ones(10**6, np.float32)
        for pixels in (10**5, 10**4, 10**3, 100, 10, 1):
            scores[:pixels] += 1
        first = np.arange(10**6) < 10**5
        masks = [mask.reshape(1000, 1000) for mask in (scores < 0, scores > 0, first)]
        result = segbench.evaluate([(mask, scores.reshape(1000, 1000)) for mask in masks], protocol=Anomalies())
        found = [result.per_image[name]["aupimo"] for name in ("1", "2")]
        assert_allclose(found, [5.5e-5, 5.5e-4], rtol=1e-12)
        assert_allclose(result.summary["aupimo"], np.mean(found), rtol=1e-12)


class TestDirectly:
    """Random sets against the definitions; ``SETS`` of 500 passes, too."""

    SETS = 60

    @pytest.mark.parametrize("limit", [0.3, 0.05])
    def test_aupro(self, limit):
        for seed in range(self.SETS):
            masks, maps = random_set(seed)
            images = {str(k): count(*pair, "anomalies") for k, pair in enumerate(zip(masks, maps, strict=True))}
            at_once = (3, 20, 2**24)[seed % 3]
            found = measured_pro(images, limits=(limit,), at_once=at_once).areas[0]
            assert_allclose(found, direct_aupro(masks, maps, limit), atol=1e-12, rtol=0, err_msg=str(seed))

    @pytest.mark.parametrize(
        "spread",
        [lambda x: np.exp(700 * x), lambda x: 1e308 * (2 * x - 1), lambda x: 5e-324 * np.rint(1e5 * x), np.zeros_like],
        ids=["a few far above the rest", "the largest numbers", "the smallest numbers", "one score"],
    )
    def test_aupro_of_scores_of_any_spread(self, spread):
        for seed in range(10):
            masks, rng = random_set(seed)[0], np.random.default_rng(seed)
            maps = [spread(rng.integers(0, 101, mask.shape) / 100) for mask in masks]
            images = {str(k): count(*pair, "anomalies") for k, pair in enumerate(zip(masks, maps, strict=True))}
            found = measured_pro(images, limits=(0.3,)).areas[0]
            assert_allclose(found, direct_aupro(masks, maps, 0.3), atol=1e-12, rtol=0, err_msg=str(seed))

    @pytest.mark.usefixtures("wide_rates")
    def test_aupimo(self):
        defined = 0
        for seed in range(self.SETS):
            masks, maps = random_set(seed, images=8)
            images = {str(k): count(*pair, "anomalies") for k, pair in enumerate(zip(masks, maps, strict=True))}
            expected, pimo = direct_aupimo(masks, maps, *curves.RATES), measured_pimo(images)
            if expected is None:
                assert pimo.reason or not any(mask.any() for mask in masks)
                continue
            defined += 1
            found = [pimo.area(counts) for counts in images.values() if counts.total_anomalous]
            assert_allclose(found, expected, atol=1e-12, rtol=0, err_msg=str(seed))
        assert defined > self.SETS // 10

    def test_pixels_and_images_are_those_of_scikit_learn(self):
        masks, maps = larger_set()
        found = summary(masks, maps)
        of_images = masks.any(axis=(1, 2)), maps.max(axis=(1, 2))
        for prefix, (labels, scores) in {"": (masks.ravel(), maps.ravel()), "image_": of_images}.items():
            assert_allclose(found[f"{prefix}auc_roc"], roc_auc_score(labels, scores), atol=1e-12)
            assert_allclose(found[f"{prefix}average_precision"], average_precision_score(labels, scores), atol=1e-12)

    @pytest.mark.usefixtures("wide_rates")
    def test_leaving_out_images_agrees_with_counting_the_others(self):
        masks, maps = larger_set(images=9)
        result = segbench.evaluate(
            {str(k): pair for k, pair in enumerate(zip(masks, maps, strict=True))}, protocol=Anomalies()
        )
        table = result.table
        without = table.measure(1 - np.eye(9))
        for left_out, row in zip(sorted(result.counts), without, strict=True):
            others = {name: counts for name, counts in result.counts.items() if name != left_out}
            assert_allclose(row, Anomalies().table(others).estimates, atol=1e-9)

    @pytest.mark.usefixtures("wide_rates")
    def test_leaving_out_the_normal_image_with_the_highest_scores(self):
        # Of images of unequal size, so that sums are rounded, and what is left after subtracting them is not exactly 0.
        rng = np.random.default_rng(4)
        shapes = [(7, 7), (9, 11), (13, 10), (6, 9)]
        images = {f"n{k}": (np.zeros(shape), rng.random(shape) + k / 9) for k, shape in enumerate(shapes)}
        images |= {f"a{k}": (np.eye(9), rng.random((9, 9)) + k / 5) for k in range(3)}
        table = segbench.evaluate(images, protocol=Anomalies()).table
        place = [metric.key for metric in table.metrics].index("aupimo")
        for row, left_out in zip(table.measure(1 - np.eye(7))[:, place], sorted(images), strict=True):
            others = {name: pair for name, pair in images.items() if name != left_out}
            expected = segbench.evaluate(others, protocol=Anomalies()).summary["aupimo"]
            assert_allclose(row, expected, atol=1e-9, err_msg=left_out)
        sums = table.rows.sum(axis=0) - table.rows.toarray()
        assert_allclose(table.score(sums)[:, place], table.measure(1 - np.eye(7))[:, place], atol=1e-9)

    @pytest.mark.usefixtures("wide_rates")
    def test_choosing_thresholds_hardly_moves_intervals(self, monkeypatch):
        masks, maps = larger_set(images=9)
        images = {str(k): pair for k, pair in enumerate(zip(masks, maps, strict=True))}
        exact = segbench.evaluate(images, protocol=Anomalies()).intervals()
        monkeypatch.setattr("segbench.protocols.anomalies.metrics._MOST", 512)
        monkeypatch.setattr("segbench.protocols.anomalies.metrics._FEWEST", 512)
        chosen = segbench.evaluate(images, protocol=Anomalies()).intervals()
        for key in ("aupro", "aupro_05", "aupimo"):
            assert_allclose(chosen[key], exact[key], atol=1e-4)


class TestEdges:
    def test_components_at_borders_and_of_one_pixel(self):
        mask = np.zeros((4, 5), bool)
        mask[0, 0] = mask[3, 4] = mask[0, 3:] = True
        counts = count(mask, np.arange(20.0).reshape(4, 5), "anomalies")
        assert (counts.components, sorted(counts.component_sizes)) == (3, [1, 1, 2, 2])

    def test_void_cuts_components_in_two(self):
        mask, valid = np.ones((1, 5), bool), np.array([[True, True, False, True, True]])
        counts = count(mask, np.ones((1, 5)), "anomalies", valid)
        assert (counts.components, counts.ignored, counts.total_anomalous) == (2, 1, 4)
        marked = np.where(valid, mask, 255)
        advice = {"void": (255,), "positive": "1"}
        with refused("several-values", DataError, path="ground_truth", settings=advice, values=(0, 1, 255)):
            count([[0, *marked[0]]], np.ones((1, 6)), "anomalies")
        assert count(marked, np.ones((1, 5)), Anomalies(void=(255,))) == counts

    def test_an_image_left_out_as_a_whole_is_no_image(self):
        counts = count([[1, 0]], [[0.5, 0.1]], "anomalies", [[False, False]])
        assert (counts.ignored, counts.normal_images.size, counts.anomalous_images.size) == (2, 0, 0)

    def test_no_normal_images(self):
        found = summary([np.array([[0, 1]])], [np.array([[0.1, 0.9]])])
        assert found["aupro"] == 1
        assert math.isnan(found["aupimo"])
        assert found.undefined["aupimo"].kind == found.undefined["image_auc_roc"].kind == "no-normal-images"

    def test_no_anomalous_images(self):
        found = summary([np.zeros((2, 2))], [np.eye(2)])
        assert found.undefined["aupro"].kind == found.undefined["image_f"].kind == "no-anomalous-pixels"

    def test_too_few_normal_pixels(self):
        masks, maps = larger_set()
        found = summary(masks, maps)
        assert math.isnan(found["aupimo"])
        reason = found.undefined["aupimo"]
        assert (reason.kind, reason.values) == (
            "no-low-rate",
            {"rate": pytest.approx(0.000434, abs=1e-6), "least": 1e-5},
        )

    def test_as_many_normal_pixels_as_needed(self):
        rng = np.random.default_rng(0)
        scores = rng.permutation(10**5).reshape(250, 400).astype(np.float64)
        mask = np.zeros((250, 400))
        mask[0] = 1
        assert summary([np.zeros_like(mask), mask], [scores, scores + 10**6])["aupimo"] == 1

    @pytest.mark.parametrize("value", [np.nan, np.inf])
    @pytest.mark.parametrize("label", [0, 1])
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_scores_that_are_not_finite_are_refused(self, value, label, dtype):
        scores = np.zeros((2, 2), dtype)
        scores[0, 0] = value
        of_kinds = {"nan": int(np.isnan(value)), "infinite": int(np.isinf(value))}
        with refused("not-finite", DataError, path="prediction", **of_kinds):
            count([[label, 0], [0, 0]], scores, "anomalies")

    def test_maps_of_another_size_are_refused(self):
        with refused("other-size", DataError, path="prediction", size=(2, 3), expected=(2, 2)):
            count(np.eye(2), np.ones((2, 3)), "anomalies")

    def test_small_integers_of_masks_are_anomalous(self):
        assert count(np.array([[0, 3]], np.uint8), [[0.0, 1.0]], "anomalies").total_anomalous == 1


class TestCounts:
    def test_sum_does_not_depend_on_order(self):
        masks, maps = random_set(5)
        parts = [count(*pair, "anomalies") for pair in zip(masks, maps, strict=True)]
        assert AnomalyCounts.sum(parts) == AnomalyCounts.sum(parts[::-1])

    @pytest.mark.usefixtures("wide_rates")
    def test_summed_counts_measure_the_same(self):
        masks, maps = larger_set()
        parts = {str(k): count(*pair, "anomalies") for k, pair in enumerate(zip(masks, maps, strict=True))}
        whole = {"all": AnomalyCounts.sum(parts.values())}
        assert_allclose(measured_pro(whole).areas, measured_pro(parts).areas, rtol=1e-12)
        assert_allclose(measured_pimo(whole).rates, measured_pimo(parts).rates, rtol=1e-12)

    def test_pooling_range_by_range_changes_no_bit(self, monkeypatch):
        whole = summary(*larger_set())
        monkeypatch.setattr("segbench.core.pooling.SCORES_AT_ONCE", 500)
        assert str(summary(*larger_set())) == str(whole)

    def test_scores_of_any_range_keep_ranks(self):
        masks, maps = larger_set()
        assert summary(masks, maps)["aupro"] == summary(masks, np.exp(maps.astype(np.float64)) * 1e6)["aupro"]

    @pytest.mark.parametrize(("dtype", "full"), [(bool, 1), (np.uint8, 255), (np.uint16, 65535)])
    def test_integers_are_levels(self, dtype, full):
        levels = np.array([[1, 0], [1, 0]], dtype)
        mask = [[1, 0], [0, 0]]
        assert count(mask, levels, "anomalies") == count(mask, levels / np.float64(full), "anomalies")

    def test_rounding_is_that_of_levels(self):
        rng = np.random.default_rng(1)
        scores, mask = rng.random((9, 9)), rng.random((9, 9)) < 0.2
        levels = np.rint(scores * 65535).astype(np.uint16)
        assert count(mask, scores, Anomalies(quantize=16)) == count(mask, levels, "anomalies")

    def test_rounding_refuses_other_ranges(self):
        with refused("outside-unit", DataError, path="prediction", lowest=0, highest=3) as raised:
            count([[0, 1]], [[0.0, 3.0]], Anomalies(quantize=8))
        assert raised.value.values["why"].values["setting"] == Setting("quantize", None)

    def test_components_must_be_filled(self):
        with refused("wrong-value", ArgumentError, argument="component_sizes", value=0):
            AnomalyCounts([], [], [], [0.5], [3], [0], [], [0.5])
        with refused("inconsistent-counts", ArgumentError, pixels=3, called="anomalous pixels", size=2):
            AnomalyCounts([], [], [], [1.0], [3], [2], [], [1.0])

    def test_an_accumulator_gives_the_same(self):
        masks, maps = larger_set()
        accumulator = segbench.Accumulator(Anomalies())
        for start in (0, 6):
            some = slice(start, start + 6)
            accumulator.update(masks[some], maps[some], names=[f"{k:03}" for k in range(start, start + 6)])
        assert str(accumulator.compute().summary) == str(summary(masks, maps))


@pytest.fixture
def folders(tmp_path):
    """Write a set of files: masks of anomalous images only."""
    masks, maps = larger_set()
    for name, mask, scores in zip("abcdefghijkl", masks, maps, strict=True):
        for kind in ("gt", "pred"):
            (tmp_path / kind).mkdir(exist_ok=True)
        if mask.any():
            iio.imwrite(tmp_path / "gt" / f"{name}.png", mask.astype(np.uint8) * 3)
        np.save(tmp_path / "pred" / f"{name}.npy", scores)
    return tmp_path


class TestFiles:
    def evaluate(self, folders, **settings):
        return segbench.evaluate(folders / "gt", folders / "pred", Anomalies(**settings), negatives="*")

    def test_normal_images_are_named_by_negatives(self, folders):
        result = self.evaluate(folders)
        assert result.summary["normal_images"] == 4
        assert result.summary["aupro"] == summary(*larger_set())["aupro"]

    def test_a_table_gives_the_scores_of_images(self, folders):
        lines = [f"{name}.png,{place}" for place, name in enumerate("lkjihgfedcba")]
        (folders / "scores.csv").write_text("\n".join(["image,score", *lines]))
        assert self.evaluate(folders, image_scores=folders / "scores.csv").summary["image_auc_roc"] == 1

    def test_an_image_without_a_score_fails(self, folders):
        with pytest.warns(segbench.FailedImages):
            failed = self.evaluate(folders, image_scores={"a": 1}).failed
        assert set(failed) == set("bcdefghijkl")
        assert (failed["b"].kind, failed["b"].values["image"]) == ("no-score", "b")

    def test_check_finds_images_without_a_score(self, folders):
        report = segbench.check(
            folders / "gt", folders / "pred", Anomalies(image_scores={"a": 1}), negatives="*", sample=12
        )
        (uncounted,) = [finding for finding in report.findings if finding.kind == "not-countable"]
        assert uncounted.images == tuple("bcdefghijkl")

    def test_a_table_of_something_else_is_refused(self, folders):
        (folders / "scores.csv").write_text("name,score\na,1\nb,high\n")
        with refused("not-finite", ArgumentError, score="'high'", image="b"):
            Anomalies(image_scores=folders / "scores.csv")

    def test_scores_of_any_range_are_no_finding(self, folders):
        report = segbench.check(folders / "gt", folders / "pred", Anomalies(), negatives="*")
        assert "range" not in {finding.kind for finding in report.findings}

    def test_processes_give_the_same_to_the_last_bit(self, folders):
        with segbench.process_pool(2) as executor:
            parallel = segbench.evaluate(
                folders / "gt", folders / "pred", Anomalies(), negatives="*", executor=executor
            )
        assert str(parallel.summary) == str(self.evaluate(folders).summary)

    def test_states_tell_missed_components(self):
        mask = np.array([[1, 1, 0, 1, 0]])
        sample = segbench.Sample("a", (mask,), (np.array([[0.9, 0.1, 0.9, 0.1, 0.1]]),))
        assert_array_equal(Anomalies().states(sample, 0.5), [[1, 5, 2, 3, 0]])
