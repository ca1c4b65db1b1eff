"""Predictions of ``segbench labels`` that are no masks yet: cut by a rule of their own, in stored units."""

import json

import numpy as np
import pytest
from cases import write_folder
from noted import noted
from refusing import refused
from sklearn.metrics import f1_score

import segbench as package
from segbench import DataError, Labels
from segbench.core.messages import Setting
from segbench.inputs.label_rules import BOTH_SIDES

RNG = np.random.default_rng(5)
TRUTH = (RNG.random((24, 24)) < 0.3).astype(np.uint8)
SOFT = np.clip(TRUTH * 0.5 + RNG.random((24, 24)) * 0.6, 0, 1)
DICE = f1_score(TRUTH.ravel(), (SOFT >= 0.5).ravel())


def dice(answer):
    assert answer.code == 0, answer.err + answer.out
    (run,) = json.loads(answer.out)["runs"]
    return run["summary"]["dice"]


@pytest.fixture
def folders(tmp_path):
    """Write ground truth and predictions as given."""

    def write(truth, predicted):
        return write_folder(tmp_path / "gt", {"a.npy": truth}), write_folder(tmp_path / "pred", {"a.npy": predicted})

    return write


@pytest.mark.parametrize(
    ("predicted", "rule"),
    [
        (SOFT, ">=0.5"),
        (SOFT.astype(np.float32), ">=0.5"),
        (np.floor(SOFT * 255.999).astype(np.uint8), ">=128"),
        (np.floor(SOFT * 65535.999).astype(np.uint16), ">=32768"),
    ],
    ids=["float64", "float32", "8 bits", "16 bits"],
)
@pytest.mark.parametrize("full", [1, 255])
def test_the_rule_that_the_error_names_gives_the_right_number(segbench, folders, predicted, rule, full):
    places = folders(TRUTH * np.uint8(full), predicted)
    answer = segbench("labels", *places, "--no-check", "--format", "json")
    (failure,) = json.loads(answer.out)["runs"][0]["failures"].values()
    assert (answer.code, failure["settings"][0]) == (1, {"name": "predicted_positive", "value": rule})
    assert dice(segbench("labels", *places, "--predicted-positive", rule, "--format", "json")) == pytest.approx(
        f1_score(TRUTH.ravel(), (predicted >= float(rule[2:])).ravel())
    )


def test_a_bound_of_the_ground_truth_cuts_float_maps_alike(segbench, folders):
    for truth in (TRUTH, TRUTH * 0.9):
        places = folders(truth, SOFT)
        assert dice(segbench("labels", *places, "--positive", ">=0.5", "--format", "json")) == pytest.approx(DICE)


@pytest.mark.parametrize(
    ("truth", "predicted", "rule", "advice"),
    [
        (TRUTH * np.uint8(255), SOFT, ">=128", ">=0.5"),
        (TRUTH, np.rint(SOFT * 255).astype(np.uint8), ">=0.5", ">=128"),
    ],
)
@pytest.mark.parametrize("option", ["--positive", "--predicted-positive"])
def test_a_bound_on_another_scale_is_refused(segbench, folders, truth, predicted, rule, advice, option):
    answer = segbench("labels", *folders(truth, predicted), option, rule, "--no-check", "--format", "json")
    (failure,) = json.loads(answer.out)["runs"][0]["failures"].values()
    assert (answer.code, {"name": "predicted_positive", "value": advice} in failure["settings"]) == (1, True)


LEVELS = np.rint(SOFT * 255).astype(np.uint8)


@pytest.mark.parametrize(
    ("predicted", "rule", "advice"),
    [
        (LEVELS * np.uint16(257), ">=128", ">=32768"),
        (LEVELS, ">=32768", ">=128"),
        (TRUTH, ">=128", ">=0.5"),
    ],
    ids=["16 bits", "8 bits", "masks of 0 and 1"],
)
def test_a_bound_for_integers_of_another_scale_is_refused(predicted, rule, advice):
    with refused("other-scale", DataError, path="prediction", settings={"predicted_positive": advice}):
        package.count(TRUTH, predicted, package.Labels(predicted_positive=rule))


@pytest.mark.parametrize("truth", [TRUTH, TRUTH * 0], ids=["missed", "nothing to find"])
def test_a_soft_map_that_is_all_but_0_is_no_mask(truth):
    dark = np.zeros_like(TRUTH)
    dark[0, :3] = 1
    assert package.count(truth, dark, package.Labels(predicted_positive=">=128")).matrix[:, 1].sum() == 0


def test_16_bit_files_with_any_level_above_0_can_be_masks():
    numbered = TRUTH * np.uint16(300)
    assert package.count(TRUTH, numbered, package.Labels(predicted_positive=">=1")) == package.count(
        TRUTH, TRUTH, "labels"
    )


def test_a_bound_of_the_ground_truth_holds_for_soft_maps_only_at_half_of_their_scale():
    with refused("several-values", DataError, path="prediction", settings={"predicted_positive": ">=128"}):
        package.count(TRUTH, LEVELS, package.Labels(positive=">=1"))
    for mask in (TRUTH, TRUTH * 255):
        assert package.count(TRUTH, mask, package.Labels(positive=">=1")) == package.count(TRUTH, TRUTH, "labels")
    cut = package.count(TRUTH, LEVELS >= 128, "labels")
    assert package.count(TRUTH * 255, LEVELS, package.Labels(positive=">=128")) == cut


@pytest.mark.parametrize(("rule", "side"), [(">=128", "positive"), (">=0", "negative"), ("7", "positive")])
def test_a_rule_that_leaves_one_side_empty_stops(segbench, folders, rule, side):
    places = folders(TRUTH, TRUTH)
    answer = segbench("labels", *places, "--positive", rule)
    assert (answer.code, answer.out) == (1, "")
    with refused("no-positives", DataError, path="ground truth", lacking=side, values=(0, 1)) as error:
        package.evaluate(*places, Labels(positive=rule))
    assert Setting("positive", "1") in error.value.settings


def test_check_finds_a_rule_that_leaves_one_side_empty(segbench, folders):
    answer = segbench("check", "labels", *folders(TRUTH, TRUTH), "--positive", ">=128", "--format", "json")
    (finding,) = [
        found for found in json.loads(answer.out)["reports"][0]["findings"] if found["kind"] == "no-positives"
    ]
    assert finding["values"]["reason"]["values"]["lacking"] == "positive"
    assert {"name": "positive", "value": "1"} in finding["settings"]


def test_one_image_or_a_part_may_lack_a_side(segbench, tmp_path):
    truths = {"a.npy": TRUTH * 0, "b.npy": TRUTH}
    places = write_folder(tmp_path / "gt", truths), write_folder(tmp_path / "pred", truths)
    kept = tmp_path / "r.segbench"
    assert dice(segbench("labels", *places, "--positive", "1", "--format", "json", "-o", kept)) == 1
    assert dice(segbench("show", kept, "--format", "json")) == 1
    assert segbench("labels", *places, "--positive", "1", "--images", "a").code == 0


def test_arrays_of_one_value_are_a_part_of_what_is_to_come():
    accumulator = package.Accumulator(Labels(positive=1))
    accumulator.update(TRUTH * 0, TRUTH, name="a")
    assert accumulator.compute().summary["dice"] == 0
    accumulator.update(TRUTH, TRUTH, name="b")
    assert accumulator.compute().summary["dice"] == pytest.approx(2 / 3)


def test_a_rule_that_leaves_one_side_of_arrays_empty_stops():
    accumulator = package.Accumulator(Labels(positive=">=128"))
    accumulator.update(TRUTH, TRUTH, name="a")
    with refused("no-positives", DataError, path="ground truth", lacking="positive", values=(0, 1)):
        accumulator.compute()


def test_a_set_of_one_value_is_told_to_show_both_sides(segbench, tmp_path):
    places = write_folder(tmp_path / "gt", {"a.npy": TRUTH * 0}), write_folder(tmp_path / "pred", {"a.npy": TRUTH})
    for protocol in ("labels", "pixels"):
        assert BOTH_SIDES in segbench(protocol, *places).err


def test_all_positive_images_stay_as_the_rule_says_when_loaded(tmp_path):
    ones = np.ones((4, 4), np.uint8)
    truths = {"a.npy": ones, "b.npy": np.eye(4, dtype=np.uint8), "c.npy": ones * 0}
    places = write_folder(tmp_path / "gt", truths), write_folder(tmp_path / "pred", truths)
    found = package.evaluate(*places, Labels(positive=1, predicted_positive=1), results=tmp_path / "r.segbench")
    (loaded,) = package.load_results(tmp_path / "r.segbench")
    assert found.summary["dice"] == loaded.summary["dice"] == 1
    assert loaded.counts["a"].matrix.tolist() == [[0, 0, 0], [0, 16, 0]]
    assert loaded.settings["predicted_positive"] == "1"


def test_suggested_classes_are_whole_numbers():
    with refused("several-values", DataError, path="ground_truth", settings={"positive": ">=0.5"}):
        package.count([0, 0.25, 0.999], [0, 1, 1], "labels")
    with refused("several-values", DataError, path="ground_truth") as error:
        package.count([0.0, 1.0, 2.0], [0, 1, 1], "labels")
    assert Setting("classes", "0-2") in error.value.settings


def test_no_number_is_made_up_where_the_scale_is_unclear():
    with refused("several-values", DataError, path="prediction", settings={"predicted_positive": ">=N"}):
        package.count(TRUTH, np.rint(SOFT * 100).astype(np.uint8), "labels")


@pytest.mark.parametrize("bound", [0.5, 2])
def test_a_bound_between_logits_is_no_other_scale(bound):
    logits = SOFT * 8 - 4
    for maps in (logits, logits - 3.5):  # the second has no logit above 1
        expected = package.count(TRUTH, maps >= bound, "labels")
        assert package.count(TRUTH, maps, package.Labels(predicted_positive=f">={bound}")) == expected


def test_logits_that_are_cut_at_half_of_probabilities_are_told():
    logits = SOFT * 8 - 4
    notes = {
        rule: package.evaluate({"a": (TRUTH, logits)}, protocol=Labels(**rule_of)).notes
        for rule, rule_of in {
            "half": {"predicted_positive": ">=0.5"},
            "both": {"positive": ">=0.5"},
            "logit": {"predicted_positive": ">=0"},
            "other": {"predicted_positive": ">=0.4"},
        }.items()
    }
    told = ("prediction", "cut-at-half", {"half": Setting("predicted_positive", ">=0")})
    assert {rule: noted(said) for rule, said in notes.items()} == {
        "half": [told],
        "both": [told],
        "logit": [],
        "other": [],
    }
    of_half = Labels(predicted_positive=">=0.5")
    assert noted(package.evaluate({"a": (TRUTH, SOFT * 2 - 1)}, protocol=of_half).notes) == [told]
    assert package.evaluate({"a": (TRUTH, SOFT * 1.1 - 0.1)}, protocol=of_half).notes == ()  # as resized


def test_logits_are_cut_at_0():
    with refused("several-values", DataError, path="prediction", settings={"predicted_positive": ">=0"}):
        package.count(TRUTH, SOFT * 8 - 4, "labels")


def test_a_blank_map_is_of_every_scale():
    blank = np.zeros((24, 24), np.float32)
    assert package.count(TRUTH, blank, package.Labels(predicted_positive=">=128")) == package.count(
        TRUTH, blank > 0, "labels"
    )


@pytest.mark.parametrize(
    ("settings", "kind", "given"),
    [
        ({"predicted_positive": "most"}, "wrong-rule", "most"),
        ({"predicted_positive": 1, "classes": 2}, "no-meaning", ...),
    ],
)
def test_what_the_rule_cannot_be_is_refused(settings, kind, given):
    with refused(kind, package.ArgumentError, given=Setting("predicted_positive", given)):
        Labels(**settings)


@pytest.mark.parametrize(
    ("predicted", "advice"), [(SOFT, ">=0.5"), (LEVELS, ">=128"), (TRUTH * np.uint8(255), ">=128")]
)
def test_a_share_alone_is_no_bound_and_the_error_writes_one(predicted, advice):
    share = Setting("predicted_positive", "0.5")
    with refused("several-values", DataError, settings={"predicted_positive": advice}, rule=share):
        package.count(TRUTH, predicted, package.Labels(predicted_positive=0.5))
    mask = TRUTH * 0.5
    assert package.count(TRUTH, mask, package.Labels(predicted_positive=0.5)) == package.count(TRUTH, TRUTH, "labels")


def test_a_single_level_in_the_middle_of_soft_maps_is_no_bound():
    level = Setting("predicted_positive", "128")
    with refused("several-values", DataError, settings={"predicted_positive": ">=128"}, rule=level):
        package.count(TRUTH, LEVELS, package.Labels(predicted_positive=128))
    with refused("several-values", DataError, settings={"predicted_positive": ">=32768"}):
        package.count(TRUTH, LEVELS * np.uint16(257), package.Labels(predicted_positive=32768))
    labels = np.arange(576).reshape(24, 24).astype(np.uint16) % 140  # of a label map, 128 is one of many
    cut = package.count(TRUTH, labels == 128, "labels")
    assert package.count(TRUTH, labels, package.Labels(predicted_positive=128)) == cut
    mask = TRUTH * np.uint8(128)
    assert package.count(TRUTH, mask, package.Labels(predicted_positive=128)) == package.count(TRUTH, TRUTH, "labels")


def test_a_rule_has_no_meaning_for_two_maps():
    stack = np.stack([1 - SOFT, SOFT])
    with refused("stack-and-rule", DataError, path="prediction", settings={"predicted_positive": ...}):
        package.count(TRUTH, stack, package.Labels(predicted_positive=">=0.5"))
    assert package.count(TRUTH, stack, "labels") == package.count(TRUTH, SOFT > 0.5, "labels")


@pytest.mark.parametrize("verb", ["labels", "contours", "centerlines", "anomalies"])
def test_values_0_and_1_beside_void_are_told_a_rule_that_fits_these(segbench, folders, verb):
    truth = TRUTH.copy()
    truth[:2] = 255
    answer = segbench(verb, *folders(truth, TRUTH), "--no-check", "--format", "json")
    (failure,) = json.loads(answer.out)["runs"][0]["failures"].values()
    assert {"name": "void", "value": [255]} in failure["settings"]
    assert {"name": "positive", "value": ">=128"} not in failure["settings"]


@pytest.mark.parametrize("verb", ["labels", "pixels"])
def test_a_set_that_failed_but_for_blank_images_is_told_why_these_failed(segbench, tmp_path, verb):
    truth = TRUTH * np.uint8(255)
    truth[:2] = 128
    truths = {f"{k}.npy": truth for k in range(5)} | {"blank.npy": TRUTH * 0}
    places = write_folder(tmp_path / "gt", truths), write_folder(tmp_path / "pred", dict.fromkeys(truths, TRUTH * 255))
    *_, last = segbench(verb, *places).err.splitlines()
    assert "5 images could not be counted, the first for this reason: " in last
    assert "--void 128" in last
    assert "--positive 255" not in last
