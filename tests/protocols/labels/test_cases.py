"""Dice and IoU over cases: means over the images in which either side holds a class."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from noted import of_kind
from refusing import refused
from volumes_written import write_cases

import segbench
from segbench import ArgumentError, Labels, count

ORGANS = {"a": 1, "b": 2, "c": 3}
PROTOCOL = Labels(classes="rest=0,a=1,b=2,c=3", background=0)
KEYS = ("dice_cases", "iou_cases")


def row(text):
    return np.array([[int(mark) for mark in text]], np.uint8)


DRAWN = {
    "1": (row("0112200"), row("0111200")),  # a: Dice 4/5, IoU 2/3; b: 2/3, 1/2
    "2": (row("0110000"), row("0110002")),  # a: 1; b is only predicted: 0
    "3": (row("0000022"), row("0000022")),  # a is on neither side; b: 1
}
BY_HAND = {"a": (9 / 10, 5 / 6), "b": (5 / 9, 1 / 2)}


def measured(images, protocol=PROTOCOL):
    """Return the summary of arrays, and that of each class."""
    counts = {name: count(*arrays, protocol) for name, arrays in images.items()}
    parts = protocol.divided("class", counts).parts
    of_classes = {name: part.protocol.table(part.counts).summary() for name, part in parts.items()}
    return protocol.table(counts).summary(), of_classes


def nan_means(images, value_where_empty=np.nan):
    """Compute Dice and IoU by case and class, and their means over cases, as nnU-Net defines them."""
    values = []
    for truth, predicted in images.values():
        masks = [(truth == label, predicted == label) for label in ORGANS.values()]
        tp = [np.sum(a & b) for a, b in masks]
        errors = [np.sum(a != b) for a, b in masks]
        dice = [2 * t / (2 * t + e) if t + e else value_where_empty for t, e in zip(tp, errors, strict=True)]
        iou = [t / (t + e) if t + e else value_where_empty for t, e in zip(tp, errors, strict=True)]
        values.append((dice, iou))
    by_class = np.array(values).transpose(2, 1, 0)  # class, metric, case
    return [[np.nanmean(row) if np.isfinite(row).any() else np.nan for row in of_class] for of_class in by_class]


def test_a_drawing_worked_by_hand():
    summary, of_classes = measured(DRAWN)
    for name, expected in BY_HAND.items():
        assert [of_classes[name][key] for key in KEYS] == pytest.approx(expected)
    assert summary["mean_dice_cases"] == pytest.approx((9 / 10 + 5 / 9) / 2)
    assert summary["mean_iou_cases"] == pytest.approx((5 / 6 + 1 / 2) / 2)
    assert of_classes["c"].undefined["dice_cases"].kind == "on-no-side"
    assert "c" in str(of_kind(summary.notes, "absent-classes"))


def test_cases_on_neither_side_count_as_1_where_that_is_asked():
    summary, of_classes = measured(DRAWN, Labels(classes="rest=0,a=1,b=2,c=3", background=0, both_empty=1))
    dice = {"a": (4 / 5 + 1 + 1) / 3, "b": 5 / 9, "c": 1}
    assert {name: of_classes[name]["dice_cases"] for name in dice} == pytest.approx(dice)
    assert summary["mean_dice_cases"] == pytest.approx(np.mean([*dice.values()]))
    assert summary["mean_dice"] == measured(DRAWN)[0]["mean_dice"]


def test_two_masks():
    images = {"1": (row("0110"), row("0100")), "2": (row("0000"), row("0001")), "3": (row("0000"), row("0000"))}
    rules = Labels(positive=1)
    table = rules.table({name: count(*arrays, rules) for name, arrays in images.items()})
    assert table.summary()["dice_cases"] == pytest.approx((2 / 3 + 0) / 2)
    assert table.summary()["dice_images"] == pytest.approx(2 / 3)
    filled = rules.with_settings(both_empty=1).table(table.per_image)
    assert filled.summary()["dice_cases"] == pytest.approx((2 / 3 + 0 + 1) / 3)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([np.nan, 1]))
def test_means_are_those_of_a_loop_over_cases_and_classes(seed, where_empty):
    rng = np.random.default_rng(seed)
    images = {}
    for case in range(4):
        held = [rng.choice(4, rng.integers(1, 4), replace=False) for _ in range(2)]
        images[f"{case}"] = tuple(rng.choice(labels, (2, 3, 4)).astype(np.uint8) for labels in held)
    both_empty = None if np.isnan(where_empty) else 1
    summary, of_classes = measured(images, Labels(classes=PROTOCOL.classes_text, background=0, both_empty=both_empty))
    expected = nan_means(images, where_empty)
    for name, values in zip(ORGANS, expected, strict=True):
        assert [of_classes[name][key] for key in KEYS] == pytest.approx(values, nan_ok=True)
    for key, values in zip(KEYS, zip(*expected, strict=True), strict=True):
        mean = np.nanmean(values) if np.isfinite(values).any() else np.nan
        assert summary[f"mean_{key}"] == pytest.approx(mean, nan_ok=True)


class TestTables:
    @pytest.fixture
    def folders(self, tmp_path):
        volumes = [[np.stack(np.broadcast_arrays(*[side] * 3)) for side in pair] for pair in DRAWN.values()]
        return tuple(write_cases(tmp_path / name, side) for name, side in zip("gp", zip(*volumes), strict=True))  # noqa: B905  of equal length

    def test_volumes_show_them_and_images_do_not(self, folders):
        volumes = segbench.evaluate(*folders, PROTOCOL)
        images = segbench.evaluate(DRAWN, protocol=PROTOCOL)
        assert volumes.summary["mean_dice_cases"] == pytest.approx(images.summary["mean_dice_cases"])
        for result, shown in ((volumes, True), (images, False)):
            titled = {metric.key for metric in result.metrics if metric.title and metric.compared}
            assert ("mean_dice_cases" in titled) is shown
            titled = {metric.key for metric in result.parts("class")["a"].metrics if metric.title}
            assert ("dice_cases" in titled) is shown
        assert volumes.intervals().keys() == images.intervals().keys()

    def test_a_stored_run_is_measured_with_either_rule(self, folders, segbench, tmp_path):
        file = tmp_path / "r.segbench"
        segbench("labels", *folders, "--classes", "0-3", "--background", "0", "-o", file)
        keys = ("--metrics", "mean_dice_cases", "--digits", "6")
        assert ".727778" in segbench("show", file, *keys).out
        filled = segbench("show", file, "--both-empty", "1")
        assert "counted as 1 in mDice cases, on neither side: 4 of 9 case-class pairs" in filled.out
        assert "both_empty:1" in filled.out
        left_out = segbench("show", file, "--per-class", "--metrics", "dice_cases")
        assert "left out of Dice cases, on neither side: 1 of 3 cases (1); 3 of 3 cases (3)" in left_out.out


@pytest.mark.parametrize("value", [0, 2, True, "1"])
def test_other_values_are_refused(value):
    with refused("wrong-value", ArgumentError):
        Labels(classes=3, both_empty=value)
