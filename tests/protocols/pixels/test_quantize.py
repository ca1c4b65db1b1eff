"""Float scores rounded to levels of 8 or 16 bits: the same counts as an image of these levels has."""

import json
import math

import numpy as np
import pytest
from cases import write_folder
from noted import kinds
from refusing import refused

import segbench
from segbench import Accumulator, ArgumentError, Classes, DataError, Pixels, check, count, evaluate
from segbench.core.sample import Sample

RNG = np.random.default_rng(0)
TRUTH = RNG.random((40, 50)) < 0.3
SCORES = RNG.random((40, 50))
LABELS = np.arange(12, dtype=np.uint8).reshape(3, 4) % 2


@pytest.mark.parametrize(("bits", "kind"), [(8, np.uint8), (16, np.uint16)])
@pytest.mark.parametrize("stored", [np.float16, np.float32, np.float64])
def test_counts_are_those_of_an_image_of_levels(bits, kind, stored):
    scores = SCORES.astype(stored)
    levels = np.rint(scores.astype(np.float64) * np.iinfo(kind).max).astype(kind)
    assert count(TRUTH, scores, Pixels(quantize=bits)) == count(TRUTH, levels)


def test_halves_are_rounded_to_even_levels():
    counts = count([0, 1, 1], [0.5 / 255, 1.5 / 255, 2.5 / 255], Pixels(quantize=8))
    assert (counts.scores * 255).tolist() == [2, 0]


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.bool_])
def test_levels_and_masks_stay_as_they_are(kind):
    stored = (SCORES * (1 if kind == np.bool_ else np.iinfo(kind).max)).round().astype(kind)
    assert count(TRUTH, stored, Pixels(quantize=8)) == count(TRUTH, stored)


def test_scores_are_inverted_first():
    # 1 - .5 / 255 rounds to 254, and .5 / 255 to 0, which turned around would be 255.
    scores = np.array([[0.5 / 255, 0.3], [0.7, 1.0]])
    result = evaluate([([[1, 0], [0, 0]], scores)], protocol=Pixels(invert=True, quantize=8))
    assert result.counts["0"] == count([[1, 0], [0, 0]], np.rint(255 * (1 - scores)).astype(np.uint8))


def test_what_rounding_puts_outside_by_a_millionth_is_0_or_1():
    assert count([0, 1], [-1e-7, 1 + 1e-7], Pixels(quantize=16)).scores.tolist() == [1, 0]


@pytest.mark.parametrize("valid", [np.nan, 7.0, -np.inf])
def test_pixels_that_do_not_count_may_hold_anything(valid):
    assert count([0, 1, 1], [0.25, 0.5, valid], Pixels(quantize=8), [True, True, False]).ignored == 1


@pytest.mark.parametrize(
    ("scores", "kind", "values", "scales"),
    [
        ([-4.0, 3.0], "outside-unit", {"lowest": -4, "highest": 3}, ["sigmoid"]),
        ([0.0, 200.0], "outside-unit", {"lowest": 0, "highest": 200}, [255]),
        ([0.5, 1000.0], "outside-unit", {"lowest": 0.5, "highest": 1000}, [...]),
        ([0.5, math.nan], "not-finite", {"nan": 1, "infinite": 0}, []),
    ],
)
def test_scores_outside_0_to_1_are_refused(scores, kind, values, scales):
    for counted in (
        lambda: count([0, 1], scores, Pixels(quantize=8)),
        lambda: Accumulator(Pixels(quantize=8)).update([0, 1], np.array(scores)),
        lambda: Accumulator(Pixels(quantize=8, invert=True)).update([0, 1], np.array(scores)),
    ):
        with refused(kind, DataError, **values) as raised:
            counted()
        assert [(advised.name, advised.value) for advised in raised.value.settings] == [("scale", k) for k in scales]


def test_the_advice_on_files_of_levels_stored_as_floats_works(segbench, tmp_path):
    gt = write_folder(tmp_path / "gt", {"a.png": LABELS * 255})
    pred = write_folder(tmp_path / "pred", {"a.npy": LABELS * 200.0 + 3})
    arguments = ("pixels", gt, pred, "--quantize", "8", "--no-check", "--format", "json")
    (failure,) = json.loads(segbench(*arguments).out)["runs"][0]["failures"].values()
    assert (failure["kind"], failure["settings"]) == ("outside-unit", [{"name": "scale", "value": 255}])
    assert (failure["values"]["lowest"], failure["values"]["highest"]) == (3, 203)
    (run,) = json.loads(segbench(*arguments, "--scale", "255").out)["runs"]
    assert run["summary"]["ods_threshold"] == 203 / 255


def test_check_finds_scores_outside_0_to_1(segbench, tmp_path):
    gt = write_folder(tmp_path / "gt", {"a.png": LABELS * 255})
    pred = write_folder(tmp_path / "pred", {"a.npy": LABELS * 9.0 - 3})
    assert segbench("check", gt, pred, "--quantize", "16").code == 1
    assert "range" in kinds(check(gt, pred, Pixels(quantize=16)).errors)


@pytest.mark.parametrize("at", [0.3, 0.5, 0.123, 1.0])
def test_a_score_equal_to_its_threshold_is_not_lost(at):
    images = [(LABELS, np.where(LABELS == 1, at, 0.0))]
    result = evaluate(images, protocol=Pixels(at=(at,), quantize=8))
    assert result.summary[f"recall@{at:g}"] == 1


def test_thresholds_of_an_exact_tuning_set_are_rounded_like_the_scores(tmp_path):
    tune = write_folder(tmp_path / "tune", {"a.npy": np.where(LABELS == 1, 0.3, LABELS + 0.1 * np.eye(3, 4))})
    truth = write_folder(tmp_path / "gt", {"a.png": LABELS * 255})
    tuned = segbench.tuned_thresholds(evaluate(truth, tune))
    result = evaluate(truth, tune, Pixels(quantize=8), thresholds=tuned)
    assert result.summary["ods_threshold"] == 76 / 255
    assert result.summary["ods_f"] == 1


def test_pictures_are_those_of_the_rounded_scores():
    sample = Sample("a", (LABELS,), (np.where(LABELS == 1, 0.3, 0.2),))
    shown, levels = Pixels(quantize=8).states(sample, 0.3), Pixels().states(sample, 0.3)
    assert np.array_equal(shown, levels)


def test_calibration_is_that_of_the_rounded_scores():
    exact, rounded = (
        evaluate([(TRUTH, scores)], protocol=Pixels(calibration=True, quantize=bits)).summary
        for scores, bits in ((np.rint(SCORES * 255) / 255, None), (SCORES, 8))
    )
    assert [rounded[key] for key in ("brier", "ece", "mce", "ace")] == pytest.approx(
        [exact[key] for key in ("brier", "ece", "mce", "ace")], abs=1e-15
    )


def test_each_class_is_rounded():
    truth, maps = RNG.integers(0, 3, (8, 9)), RNG.random((3, 8, 9))
    result = evaluate([(truth, maps)], protocol=Classes(labels=range(3), quantize=8))
    assert result.signature.startswith("protocol:classes|classes:0-2|void:255|invert:no|quantize:8|")
    assert result.parts("class")["1"].counts["0"] == count(truth == 1, maps[1], Pixels(quantize=8))


def test_results_files_keep_the_setting(tmp_path):
    truth = write_folder(tmp_path / "gt", {"a.png": TRUTH * np.uint8(255)})
    pred = write_folder(tmp_path / "pred", {"a.npy": SCORES})
    counted = evaluate(truth, pred, Pixels(at=(0.3,), quantize=16), results=tmp_path / "r.segbench")
    (loaded,) = segbench.load_results(tmp_path / "r.segbench")
    assert (dict(loaded.summary), loaded.rules.quantize) == (dict(counted.summary), 16)
    assert "quantize" not in evaluate(truth, pred).settings


@pytest.mark.parametrize("bits", [0, 1, 9, 12, True, "8", 8.5])
def test_other_numbers_of_bits_are_refused(bits):
    for made in (
        lambda: Pixels(quantize=bits),
        lambda: Classes(labels=[0, 1], quantize=bits),
        lambda: count([0, 1], [0.1, 0.2], Pixels(quantize=bits)),
    ):
        with refused("wrong-value", ArgumentError, settings={"quantize": None}, value=repr(bits)):
            made()
