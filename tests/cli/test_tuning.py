import json

import pytest
from methods import write_methods

from segbench import Pixels, evaluate, pr_curve, thresholds_from


@pytest.fixture
def sets(tmp_path):
    """A tuning set and a test set, each with ground truth and two methods."""
    return [
        write_methods(tmp_path / name, {"a": 2, "b": 1}, images=count) for name, count in (("tune", 4), ("test", 3))
    ]


def run_of(answer, method="a"):
    assert answer.code == 0, answer.err
    (run,) = (run for run in json.loads(answer.out)["runs"] if run["method"] == method)
    return run


@pytest.fixture
def tuned(segbench, sets, tmp_path):
    kept = tmp_path / "tune.segbench"
    assert segbench("pixels", *sets[0], "-o", kept).code == 0
    return kept


def test_each_method_has_its_own_thresholds(segbench, sets, tuned):
    answer = segbench("pixels", *sets[1], "--tuning-results", tuned, "--format", "json")
    for method, folder in zip("ab", sets[1][1:], strict=True):
        own = thresholds_from(evaluate(sets[0][0], sets[0][0].parent / method, Pixels()).pooled)
        expected = pr_curve(evaluate(sets[1][0], folder).pooled.at(own)).area
        assert run_of(answer, method)["summary"]["auc_pr"] == expected


def test_a_method_that_was_not_tuned_is_refused(segbench, sets, tuned):
    answer = segbench("pixels", sets[1][0], f"c={sets[1][1]}", "--tuning-results", tuned)
    assert answer.code == 2
    assert "no run of c" in answer.err
    assert "with them: a, b" in answer.err


def test_other_settings_are_refused(segbench, sets, tuned):
    answer = segbench("pixels", *sets[1], "--void", "3", "--tuning-results", tuned)
    assert answer.code == 2
    assert "with them: none" in answer.err


def test_the_same_set_twice_is_said_to_be_optimistic(segbench, sets, tuned):
    assert "the tuning set is the test set" in segbench("pixels", *sets[0], "--tuning-results", tuned).out


def test_the_results_file_keeps_the_thresholds(segbench, sets, tuned, tmp_path):
    kept = tmp_path / "r.segbench"
    first = run_of(segbench("pixels", *sets[1], "--tuning-results", tuned, "-o", kept, "--format", "json"))
    assert run_of(segbench("show", kept, "--format", "json")) == first


def test_a_tuned_and_an_untuned_run_are_told_apart(segbench, sets, tuned, tmp_path):
    kept = tmp_path / "r.segbench"
    segbench("pixels", *sets[1], "-o", kept)
    segbench("pixels", *sets[1], "--tuning-results", tuned, "-o", kept)
    text = segbench("show", kept).out
    assert "a (thresholds:none)" in text
    assert "a (thresholds:tuning set of 4 images, data" in text


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--tuning-results", "gone.segbench"], 1, "no such results file"),
        (["--classes", "0,1", "--no-check", "--tuning-results", "a"], 2, "only the pixels protocol"),
    ],
)
def test_wrong_options(segbench, sets, options, code, message):
    answer = segbench("pixels", *sets[1], *options)
    assert answer.code == code
    assert message in answer.err
