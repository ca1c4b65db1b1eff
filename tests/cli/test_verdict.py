"""Runs of several methods end with how ``segbench compare`` answers."""

import shutil

import pytest
from methods import write_methods

VERBS = {
    "pixels": (),
    "labels": ("--gt-map", "255=1", "--predicted-positive", ">=128"),
    "contours": ("--at", "0.5"),
    "saliency": (),
    "objects": ("--kind", "components", "--at", "0.5"),
    "anomalies": (),
}
LED = {"pixels", "labels", "saliency", "anomalies"}
"""Verbs by whose metrics the scattered pixels of good and fair differ."""


@pytest.fixture
def folders(tmp_path):
    return write_methods(tmp_path, {"good": 3, "fair": 1})


def ending(answer):
    """Return the lines after the signature, in which words tell nothing of the run."""
    assert answer.code == 0, answer.err
    _, _, end = answer.out.rpartition("|segbench:")
    return end.splitlines()[1:]


def verdict_of(segbench, results, *options):
    """Return the sentences with which a comparison begins."""
    text = segbench("compare", results, *options).out
    return text.split("\n\n")[0].splitlines()


@pytest.mark.parametrize(("verb", "options"), VERBS.items(), ids=[*VERBS])
def test_a_run_ends_with_the_verdict_of_compare(segbench, folders, tmp_path, verb, options):
    kept = tmp_path / "r.segbench"
    blank, *lines = ending(segbench(verb, *folders, *options, "-o", kept))
    verdict = verdict_of(segbench, kept)
    assert blank == ""
    assert lines[: len(verdict)] == verdict
    assert ("good leads fair by " in verdict[0]) is (verb in LED)


def test_it_is_at_the_level_of_the_intervals(segbench, tmp_path):
    folders = write_methods(tmp_path, {"good": 1.5, "fair": 1.3}, images=8)
    kept, verdicts = tmp_path / "r.segbench", {}
    for level in ("60", "99"):
        _, *lines = ending(segbench("pixels", *folders, "--intervals", level, "-o", kept))
        verdicts[level] = verdict_of(segbench, kept, "--intervals", level)
        assert lines[: len(verdicts[level])] == verdicts[level]
    assert verdicts["60"] != verdicts["99"]


def test_it_is_over_units_and_runs(segbench, folders, tmp_path):
    truth, good, fair = folders
    again = shutil.copytree(fair, tmp_path / "again")
    kept = tmp_path / "r.segbench"
    methods = f"good={good}", f"fair@1={fair}", f"fair@2={again}"
    units = tmp_path / "units.csv"
    units.write_text("name,patient\n" + "".join(f"im{k:02},p{k % 3}\n" for k in range(12)))
    _, *lines = ending(segbench("pixels", truth, *methods, "--unit", f"{units}:patient", "-o", kept))
    assert lines[0] == verdict_of(segbench, kept)[0]
    assert "without a test (3 patients" in lines[0]
    _, *lines = ending(segbench("pixels", truth, *methods, "-o", kept))
    assert "1 run of good, 2 of fair" in lines[0]


def test_it_is_of_the_mean_over_groups(segbench, folders, tmp_path):
    kept = tmp_path / "r.segbench"
    groups = tmp_path / "groups.csv"
    groups.write_text("name,kind\n" + "".join(f"im{k:02},{'ab'[k % 2]}\n" for k in range(12)))
    _, *lines = ending(segbench("pixels", *folders, "--group-by", f"{groups}:kind", "-o", kept))
    assert lines[0] == verdict_of(segbench, kept)[0]


def test_its_notes_stand_below_it_and_none_twice(segbench, tmp_path):
    folders = write_methods(tmp_path, {"good": 3, "fair": 1}, images=8)
    few = "8 images: intervals over fewer than 10 are unreliable"
    assert few in ending(segbench("pixels", *folders))
    with_intervals = segbench("pixels", *folders, "--intervals", "95").out
    assert with_intervals.count(few) == 1


def test_so_many_scores_that_it_takes_seconds_have_it_only_beside_intervals(segbench, folders, monkeypatch):
    monkeypatch.setattr("segbench.cli.printing._LARGEST", 100)
    _, line = ending(segbench("pixels", *folders))
    assert line.startswith("not compared here, as that takes long")
    assert "good leads fair by" in segbench("pixels", *folders, "--intervals", "95").out


def test_one_method_has_none(segbench, folders):
    truth, good, _ = folders
    assert ending(segbench("pixels", truth, good)) == []


@pytest.mark.parametrize("form", ["json", "csv", "markdown", "latex"])
def test_other_formats_have_none(segbench, folders, form):
    assert "leads" not in segbench("pixels", *folders, "--format", form).out


def test_what_cannot_be_compared_says_why(segbench, folders):
    truth, good, fair = folders
    next(fair.iterdir()).unlink()
    _, line = ending(segbench("pixels", truth, good, fair, "--allow-missing"))
    assert line.startswith("not compared: good, fair: methods are compared on the same images and ground truth")


def test_of_human_annotators_nothing_is_said(segbench, tmp_path):
    truth, good = write_methods(tmp_path, {"good": 3}, images=3)
    answer = segbench("boundaries", truth, good, "--human", "--thresholds", "3")
    assert "human" in answer.out
    assert "compared" not in answer.out + answer.err
