"""`check --all` counts every image, so that what stops a run stops the check, in the words of the run."""

import json

import numpy as np
import pytest
from cases import write_folder
from refusing import insist, parts_of, within

import segbench as library
from segbench.core.messages import Message, Setting

DRAWN = np.zeros((20, 24), bool)
DRAWN[4:12, 5:15] = True
EMPTY = np.zeros_like(DRAWN)
NAMES = ("a", "b", "c")


def folder(kind, images=(DRAWN,) * 3):
    """Store three masks as 0 and 255, 0 and 1, both, 64-bit integers, colours, or negative numbers."""
    colours = np.array([[9, 80, 7], [200, 30, 90]], np.uint8)
    stored = {
        "m255": lambda mask, _: np.uint8(255) * mask,
        "m1": lambda mask, _: np.uint8(1) * mask,
        "mixed": lambda mask, k: np.uint8(1 if k else 255) * mask,
        "i64": lambda mask, _: np.int64(1) * mask,
        "rgb": lambda mask, _: colours[mask.astype(int)],
        "negative": lambda mask, _: np.int16(-1) * mask,
    }[kind]
    suffix = "npy" if kind in ("i64", "negative") else "png"
    return {f"{name}.{suffix}": stored(mask, k) for k, (name, mask) in enumerate(zip(NAMES, images, strict=True))}


@pytest.fixture
def both(segbench, tmp_path):
    """Run a command and check its files; return the answer of the run, and the findings that are errors."""

    def answers(verb, gt, pred, *options):
        where = write_folder(tmp_path / "gt", gt), write_folder(tmp_path / "pred", pred)
        run = segbench(verb, *where, *options, "--progress", "none")
        checked = segbench("check", verb, *where, *options, "--all", "--format", "json")
        (report,) = json.loads(checked.out)["reports"]
        assert checked.code == int(report["errors"])
        return run, [finding for finding in report["findings"] if finding["severity"] == "error"]

    return answers


@pytest.mark.parametrize(
    ("verb", "gt", "pred", "options"),
    [
        ("labels", "mixed", "m255", ()),
        ("labels", "m255", "m255", ("--classes", "0-1")),
        ("contours", "m255", "m1", ("--at", "0.5")),
        ("centerlines", "m255", "mixed", ("--at", "0.5")),
        ("objects", "m255", "m1", ("--kind", "components", "--at", "0.5")),
    ],
)
def test_a_set_that_a_run_refuses(both, verb, gt, pred, options):
    run, (error,) = both(verb, folder(gt), folder(pred), *options)
    assert run.code == 1
    assert error["kind"] == "not-countable"
    insist(run.error, "check-failed", findings=("not-countable",))  # before anything is counted
    said = within(run.error, "finding")
    assert [said[part].written("options") for part in ("message", "fix")] == [error["text"], error["fix"]]


@pytest.mark.parametrize(("verb", "gt", "pred"), [("boundaries", "m255", "i64"), ("regions", "m255", "rgb")])
def test_images_that_cannot_be_counted(both, verb, gt, pred):
    run, (error,) = both(verb, folder(gt), folder(pred))
    assert run.code == 1
    assert (error["kind"], error["images"], error["side"]) == ("not-countable", list(NAMES), "prediction")
    assert error["files"][0]["detail"] in run.err
    assert error["fix"] in run.err


def test_one_image_among_others_that_cannot_be_counted(both):
    run, (error,) = both("regions", folder("m255"), folder("m255") | {"b.png": folder("rgb")["b.png"]})
    assert run.code == 1
    assert error["images"] == ["b"]


def test_the_best_threshold_of_a_set_without_positives(both):
    gt = folder("m255", (EMPTY,) * 3)
    run, (error,) = both("objects", gt, folder("m255"), "--kind", "components", "--at", "best", "--positive", "255")
    assert run.code == 1
    insist(run.error, "undefined", path="the best threshold", settings={"at": 0.5})
    assert run.error.written("options") == "; ".join((error["text"], error["fix"]))
    assert error["values"]["error"] == "undefined"
    assert error["values"]["path"] == "the best threshold"


def test_the_best_threshold_of_images_that_all_fail(segbench, tmp_path):
    where = write_folder(tmp_path / "gt", folder("m255")), write_folder(tmp_path / "pred", folder("negative"))
    run = segbench("objects", *where, "--kind", "components", "--at", "best", "--no-check", "--progress", "none")
    assert run.code == 1
    insist(run.error, "failed-images", path="pred", failed=3, images=3)
    assert run.error.values["first"].values["what"].values == {"smallest": -1}
    assert run.error.values["first"].kind == "negative-levels"


def test_no_metric_is_defined(both):
    nothing = folder("m255", (EMPTY,) * 3)
    run, (error,) = both("boundaries", nothing, nothing)
    assert run.code == 1
    assert error["kind"] == "undefined"
    reason = error["values"]["reasons"]["values"]["reason"]
    assert reason["kind"] == "no-boundaries"
    assert reason["text"] in run.err


def test_python_names_arguments(tmp_path):
    where = write_folder(tmp_path / "gt", folder("m255")), write_folder(tmp_path / "pred", folder("m1"))
    (error,) = library.check(*where, library.Contours(at=0.5), sample=None).errors
    assert Setting("at", 0.5) in [part.values.get("given") for part in parts_of(error.fix, Message)]


def test_what_is_counted_passes(both):
    run, errors = both("contours", folder("m255"), folder("m1"))
    assert (run.code, errors) == (0, [])
