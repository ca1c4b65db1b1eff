"""Options that messages name exist for the command that prints them, and are not those just typed."""

import json

import numpy as np
import pytest
from advised import wrong_advice
from cases import write_folder
from noted import advised
from refusing import insist, within

HOLE = np.zeros((16, 16), np.uint8)
HOLE[4:9, 3:9] = 255
WITHOUT_NEGATIVES = {
    "labels": ("dice",),
    "contours": ("dice",),
    "objects": ("lesion_f1", "--kind", "components"),
    "regions": ("covering_ods",),
}


@pytest.mark.parametrize(
    ("arguments", "message", "wrong"),
    [
        (("labels", "gt", "pred"), "try --negatives 'good/*'", 1),
        (("labels", "gt", "pred"), "segbench pixels GT PRED --negatives 'good/*' counts them", 0),
        (("labels", "gt", "pred", "--palette", "p.csv"), "for colours give --palette FILE", 1),
        (("labels", "gt", "pred", "--void", "255"), "-> --void 255", 1),
        (("labels", "gt", "pred", "--void", "255"), "perhaps --void 255 left out every other value; give another", 0),
        (("show", "r.segbench"), "count again with the command of the run and --fresh", 0),
        (("check", "gt", "pred"), "-> --annotators majority", 0),
        (("check", "labels", "gt", "pred"), "-> --annotators majority", 1),
    ],
)
def test_what_the_runner_of_tests_refuses(arguments, message, wrong):
    assert len(wrong_advice(arguments, message)) == wrong


@pytest.fixture
def normal(tmp_path):
    """Three images with a defect, and three without, of which there is no ground truth."""
    pred = {f"hole/{k}.png": HOLE for k in range(3)} | {f"good/{k}.png": 0 * HOLE for k in range(3)}
    return write_folder(tmp_path / "gt", {f"hole/{k}.png": HOLE for k in range(3)}), write_folder(
        tmp_path / "pred", pred
    )


@pytest.mark.parametrize("verb", WITHOUT_NEGATIVES)
def test_images_without_ground_truth_where_nothing_counts_as_negative(segbench, normal, verb):
    key, *options = WITHOUT_NEGATIVES[verb]
    refused = segbench(verb, *normal, *options)
    assert refused.code == 1
    by_names = {"gt_pattern": ..., "pred_pattern": ..., "pairs": ...}
    insist(refused.error, "check-failed", findings=("unpaired",), settings=by_names | {"images": ("!good/*",)})
    assert within(refused.error, "without-ground-truth") == {"without_ground_truth": 3}
    answer = segbench(verb, *normal, *options, "--images", "!good/*", "--format", "json")
    assert json.loads(answer.out)["runs"][0]["summary"][key] == 1
    write_folder(normal[0], {f"good/{k}.png": 0 * HOLE for k in range(3)})
    answer = segbench(verb, *normal, *options, "--format", "json")
    assert json.loads(answer.out)["runs"][0]["summary"][key] == 1


def test_images_without_ground_truth_of_several_categories(segbench, tmp_path):
    images = {f"{category}/{kind}/0.png": HOLE for category in ("bottle", "cable") for kind in ("hole", "good")}
    gt = write_folder(tmp_path / "gt", {name: hole for name, hole in images.items() if "hole" in name})
    pred = write_folder(tmp_path / "pred", images)
    refused = segbench("pixels", gt, pred)
    settings = advised(refused.error.settings)
    assert (settings["negatives"], settings["images"]) == ("*/good/*", ("!*/good/*",))
    answer = segbench("pixels", gt, pred, "--negatives", "*/good/*", "--format", "json")
    assert json.loads(answer.out)["runs"][0]["summary"]["negatives"] == 2 * (16 * 16 - 30) + 2 * 16 * 16


def test_a_folder_of_which_some_images_have_ground_truth_is_not_negative(segbench, tmp_path):
    gt = write_folder(tmp_path / "gt", {"a/0.png": HOLE, "a/1.png": HOLE})
    pred = write_folder(tmp_path / "pred", {f"a/{k}.png": HOLE for k in range(3)})
    refused = segbench("pixels", gt, pred)
    assert refused.code == 1
    assert "negatives" not in advised(refused.error.settings)


def test_colours_in_an_array_beside_a_palette(segbench, tmp_path):
    colours = np.array([[0, 0, 0], [255, 0, 0], [0, 255, 0]], np.uint8)
    labels = np.add.outer(np.arange(8), np.arange(8)) % 3
    palette = tmp_path / "palette.csv"
    palette.write_text("0,0,0,0,road\n255,0,0,1,car\n0,255,0,2,tree\n")
    gt = write_folder(tmp_path / "gt", {"a.png": labels.astype(np.uint8)})
    pred = write_folder(tmp_path / "pred", {"a.npy": colours[labels]})
    options = ("--classes", "0-2", "--palette", palette)
    refused = segbench("labels", gt, pred, *options)
    assert refused.code == 1
    insist(refused.error, "check-failed", findings=("not-countable",))
    assert within(refused.error, "colour-or-scores") == {"shape": (8, 8, 3), "classes": 3}
    (pred / "a.npy").unlink()
    write_folder(pred, {"a.png": colours[labels]})
    answer = segbench("labels", gt, pred, *options, "--format", "json")
    assert json.loads(answer.out)["runs"][0]["summary"]["miou"] == 1
