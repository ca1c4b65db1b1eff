"""What `check` finds in label maps and in the soft maps of many classes."""

import json

import numpy as np
import pytest
from cases import write_folder

SHAPE = (40, 60)
CLASSES = ("--classes", "road=0,person=1,car=2")


def stripes_and_scores(seed=0, images=3):
    """Draw label maps in stripes, and a soft map for each of three classes, as floats in [0, 1]."""
    rng = np.random.default_rng(seed)
    stripes = np.broadcast_to(np.arange(SHAPE[1]) // 5 % 3, SHAPE).astype(np.uint8)
    truths = {f"im{k}.png": np.roll(stripes, k, axis=1).copy() for k in range(images)}
    soft = {
        name: np.clip(0.5 * (truth == np.arange(3)[:, None, None]) + 0.45 * rng.random((3, *SHAPE)), 0, 1)
        for name, truth in truths.items()
    }
    return truths, soft


@pytest.fixture
def found(segbench, tmp_path):
    """Check drawn classes after a change, as stacks and as a folder a class, which must say the same."""

    def check(change=lambda stack: np.rint(255 * stack).astype(np.uint8), truths=None, options=()):
        labels, soft = stripes_and_scores()
        stacks = {name: change(stack) for name, stack in soft.items()}
        gt = write_folder(tmp_path / "gt", truths or labels)
        one = write_folder(tmp_path / "stacks", {name.replace("png", "npy"): stack for name, stack in stacks.items()})
        each = {f"class_{k}/{name.replace('png', 'npy')}": stacks[name][k].copy() for name in stacks for k in range(3)}
        answer = segbench(
            "check", gt, one, write_folder(tmp_path / "maps", each), *CLASSES, *options, "--format", "json"
        )
        as_stacks, as_maps = json.loads(answer.out)["reports"]
        told = [
            [(finding["kind"], finding["text"], finding["fix"]) for finding in report["findings"]]
            for report in (as_stacks, as_maps)
        ]
        assert told[0] == told[1]
        assert not as_stacks["errors"]
        return {finding["kind"]: finding for finding in as_stacks["findings"]}

    return check


def levels(stack):
    return np.rint(255 * stack).astype(np.uint8)


def of_class(place, change):
    def changed(stack):
        stack = levels(stack)
        stack[place] = change(stack[place])
        return stack

    return changed


def test_sound_classes_have_no_finding(found):
    assert found() == {}
    assert found(lambda stack: stack.astype(np.float32)) == {}
    assert found(lambda stack: levels(1 - stack), options=["--invert"]) == {}


def test_scores_that_run_backwards_name_their_classes(found):
    every = found(lambda stack: levels(1 - stack))["inverted"]
    assert every["text"].startswith("all 3 classes: ")
    assert every["settings"] == [{"name": "invert", "value": True}]
    assert (every["count"], every["values"]["auc"]) == (9, 0)
    turned = found(options=["--invert"])["inverted"]
    assert (turned["fix"], turned["settings"]) == ("leave out --invert", [])
    one = found(of_class(1, np.invert))["inverted"]
    assert one["text"].startswith("person (label 1): ")
    assert one["settings"] == []


def test_classes_in_another_order_look_inverted(found):
    assert "person (label 1), car (label 2)" in found(lambda stack: levels(stack)[[0, 2, 1]])["inverted"]["text"]


def test_a_class_that_was_never_written(found):
    constant = found(of_class(2, np.zeros_like))
    assert constant.keys() == {"constant"}
    assert constant["constant"]["text"].startswith("car (label 2): ")
    assert constant["constant"]["values"] == {"count": 3, "total": 3, "zero": 3}
    assert constant["constant"]["files"][0]["values"] == {"value": 0}


def test_levels_range_and_number_of_scores_are_judged_over_all_classes(found):
    assert found(lambda stack: (stack > 0.5).astype(np.uint8)).keys() == {"few-levels"}
    assert found(lambda stack: levels(stack).astype(np.uint16)).keys() == {"levels-unscaled"}
    assert found(lambda stack: levels(stack > 0.5)).keys() == {"few-levels"}
    ranged = found(lambda stack: levels(stack).astype(np.float32))
    assert ranged.keys() == {"range"}
    assert ranged["range"]["settings"] == []
    assert found(of_class(0, lambda one: np.minimum(one, 1))) == {}, "one class of low scores is no finding"


def test_scores_clipped_at_the_top(found):
    clipped = found(of_class(0, lambda one: np.where(one > 60, 255, one).astype(np.uint8)))
    assert clipped["saturated"]["text"].startswith("road (label 0): ")


def test_scores_that_are_not_finite_stop_their_image_once(segbench, tmp_path):
    labels, soft = stripes_and_scores()
    soft["im1.png"][:2, 0, 0] = np.nan
    gt = write_folder(tmp_path / "gt", labels)
    pred = write_folder(tmp_path / "pred", {name.replace("png", "npy"): stack for name, stack in soft.items()})
    answer = segbench("check", gt, pred, *CLASSES, "--format", "json")
    assert answer.code == 1
    (finding,) = json.loads(answer.out)["reports"][0]["findings"]
    assert (finding["kind"], finding["images"]) == ("not-finite", ["im1"])
    assert [place["file"].rpartition(" (")[2] for place in finding["files"]] == ["class road)", "class person)"]


def test_void_that_is_not_declared_and_labels_that_are_no_class(found):
    labels, _ = stripes_and_scores()
    labels["im0.png"][0], labels["im2.png"][:2] = 255, 7
    void = found(truths=labels, options=["--void", "none"])
    assert void.keys() == {"void", "no-class"}
    assert void["void"]["values"]["labels"]["values"]["labels"] == [255]
    assert void["void"]["settings"] == [{"name": "void", "value": [255]}]
    assert void["no-class"]["values"]["labels"] == [7]
    assert void["no-class"]["settings"] == [{"name": "void", "value": [7]}]
    assert [place["file"].rpartition("/")[2] for place in void["no-class"]["files"]] == ["im2.png"]
    assert found(truths=labels)["no-class"]["settings"] == [{"name": "void", "value": [7, 255]}]
    assert found(truths=labels, options=["--void", "7,255"]) == {}


def test_a_run_warns_in_a_line_for_all_classes(segbench, tmp_path):
    labels, soft = stripes_and_scores()
    gt = write_folder(tmp_path / "gt", labels)
    pred = write_folder(tmp_path / "p", {name.replace("png", "npy"): 1 - stack for name, stack in soft.items()})
    answer = segbench("pixels", gt, pred, *CLASSES)
    assert answer.code == 0
    assert answer.err.count("higher on negatives") == 1
