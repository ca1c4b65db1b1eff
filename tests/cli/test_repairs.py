"""Annotators and repairs on the command line."""

import json

import numpy as np
import pytest
from cases import FIRST_SCORES, FIRST_TRUTH, SECOND_SCORES, SECOND_TRUTH, write_folder
from refusing import insist


@pytest.fixture
def folders(tmp_path):
    truths = {"first.1.png": FIRST_TRUTH * 255, "first.2.png": SECOND_TRUTH * 255, "second.1.png": SECOND_TRUTH * 255}
    return (
        write_folder(tmp_path / "gt", truths),
        write_folder(tmp_path / "pred", {"first.npy": FIRST_SCORES, "second.npy": SECOND_SCORES}),
        "--gt-pattern",
        "*.#",
    )


def the_run(answer):
    assert answer.code == 0, answer.err
    (run,) = json.loads(answer.out)["runs"]
    return run


def noted(run):
    return [(note["side"], note["kind"], note["values"]) for note in run["notes"]]


def test_repairs_reach_the_run(segbench, folders):
    write_folder(folders[1], {"second.npy": np.pad(SECOND_SCORES * 100, ((0, 1), (0, 2)))})
    write_folder(folders[1], {"first.npy": FIRST_SCORES * 100})
    run = the_run(segbench("pixels", *folders, "--annotators", "any", "--crop", "--scale", "100", "--format", "json"))
    assert (run["settings"]["crop"], run["settings"]["scale"]) == ("lower right", "100")
    assert noted(run) == [
        ("prediction", "scaled", {"scale": 100, "images": 2, "total": 2}),
        ("prediction", "cropped", {"images": 1, "total": 2}),
    ]
    assert run["summary"]["positives"] == 12
    run = the_run(
        segbench("pixels", *folders, "--annotators", "all", "--resize-predictions", "bilinear", "--format", "json")
    )
    assert "|resize:bilinear|" in run["signature"]
    assert noted(run) == [("prediction", "resized", {"how": "bilinear", "images": 1, "total": 2})]


def test_a_tuning_set_is_repaired_alike(segbench, folders, tmp_path):
    smaller = write_folder(
        tmp_path / "other", {"first.npy": FIRST_SCORES[::2, ::2], "second.npy": SECOND_SCORES[::2, ::2]}
    )
    options = [*folders[2:], "--annotators", "any", "--resize-predictions", "nearest"]
    kept = tmp_path / "tuned.segbench"
    segbench("pixels", folders[0], f"m={smaller}", *options, "-o", kept)
    assert segbench("pixels", folders[0], f"m={smaller}", *options, "--tuning-results", kept).code == 0
    other = [*options[:-1], "bilinear"]
    answer = segbench("pixels", folders[0], f"m={smaller}", *other, "--tuning-results", kept)
    assert answer.code == 2
    insist(answer.error, "no-tuning-run", missing=("m",), found=("none",))


def test_the_human_point_stands_beside_repaired_predictions(segbench, folders, tmp_path):
    smaller = write_folder(
        tmp_path / "other", {"first.npy": FIRST_SCORES[::2, ::2], "second.npy": SECOND_SCORES[::2, ::2]}
    )
    answer = segbench(
        "boundaries", folders[0], smaller, *folders[2:], "--thresholds", "3", "--human",
        "--resize-predictions", "nearest", "--format", "json",
    )  # fmt: skip
    runs = json.loads(answer.out)["runs"]
    assert [run["settings"].get("resize") for run in runs] == ["nearest", None]


@pytest.mark.parametrize(
    ("arguments", "kind", "values"),
    [
        (["boundaries", "--annotators", "any"], "option-of-others", {"typed": "--annotators"}),
        (["regions", "--annotators", "any"], "option-of-others", {"typed": "--annotators"}),
        (["regions", "--resize-predictions", "bilinear"], "unfit-repairs", {"repair": "bilinear"}),
    ],
)
def test_what_a_protocol_cannot_do_is_refused(segbench, folders, arguments, kind, values):
    verb, *options = arguments
    answer = segbench(verb, *folders, *options)
    assert (answer.code, answer.out) == (2, "")
    insist(answer.error, kind, **values)
    assert kind != "option-of-others" or answer.error.values["commands"][0] == "pixels"
