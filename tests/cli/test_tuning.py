import json

import numpy as np
import pytest
from cases import write_folder
from methods import write_methods
from refusing import insist

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
    insist(answer.error, "no-tuning-run", missing=("c",), found=("a", "b"))


def test_other_settings_are_refused(segbench, sets, tuned):
    answer = segbench("pixels", *sets[1], "--void", "3", "--tuning-results", tuned)
    assert answer.code == 2
    insist(answer.error, "no-tuning-run", missing=("a", "b"), found=("none",))


def masks(tmp_path, truth):
    inside = np.arange(12 * 17).reshape(12, 17) % 3 > 0
    names = [path.name for path in truth.iterdir()]
    return write_folder(tmp_path / "masks" / truth.parent.name, dict.fromkeys(names, inside * np.uint8(255)))


@pytest.mark.parametrize(("there", "here"), [("without", "with"), ("with", "without")])
def test_a_field_of_view_that_only_one_of_the_runs_has_is_refused(segbench, sets, tmp_path, there, here):
    kept = tmp_path / "tune.segbench"
    for word, (truth, found, _), options in (
        (there, sets[0], ["-o", kept]),
        (here, sets[1], ["--tuning-results", kept]),
    ):
        field = ["--field", masks(tmp_path, truth)] if word == "with" else []
        answer = segbench("pixels", truth, found, *options, *field)
    assert answer.code == 2
    insist(answer.error, "no-tuning-run", missing=("a",), found=("none",))


def test_thresholds_within_a_field_of_view(segbench, sets, tmp_path):
    kept = tmp_path / "tune.segbench"
    (tune_truth, tune_a, _), (truth, a, _) = sets
    tune_field, field = masks(tmp_path, tune_truth), masks(tmp_path, truth)
    segbench("pixels", tune_truth, tune_a, "--field", tune_field, "-o", kept)
    answer = segbench("pixels", truth, a, "--field", field, "--tuning-results", kept, "--format", "json")
    hull = thresholds_from(evaluate(tune_truth, tune_a, field=tune_field).pooled)
    assert run_of(answer)["summary"]["auc_pr"] == pr_curve(evaluate(truth, a, field=field).pooled.at(hull)).area


def test_some_images_of_a_set_may_tune_the_others(segbench, sets, tmp_path):
    kept, (truth, a, _) = tmp_path / "tune.segbench", sets[0]
    names = sorted(path.stem for path in truth.iterdir())
    for at, images in enumerate((names[:2], names[2:])):
        (tmp_path / f"{at}.txt").write_text("\n".join(images))
    assert segbench("pixels", truth, a, "--images", tmp_path / "0.txt", "-o", kept).code == 0
    answer = segbench("pixels", truth, a, "--images", tmp_path / "1.txt", "--tuning-results", kept)
    assert (answer.code, "thresholds:tuning set of 2 images" in answer.out) == (0, True), answer


def test_the_same_set_twice_is_said_to_be_optimistic(segbench, sets, tuned):
    run = run_of(segbench("pixels", *sets[0], "--tuning-results", tuned, "--format", "json"))
    assert "tuned-on-test" in [note["kind"] for note in run["notes"]]


def test_the_results_file_keeps_the_thresholds(segbench, sets, tuned, tmp_path):
    kept = tmp_path / "r.segbench"
    first = run_of(segbench("pixels", *sets[1], "--tuning-results", tuned, "-o", kept, "--format", "json"))
    assert run_of(segbench("show", kept, "--format", "json")) == first


def test_a_counted_run_is_measured_at_the_thresholds_of_a_tuning_set_and_without(
    segbench, sets, tuned, counts_nothing, tmp_path
):
    kept = tmp_path / "r.segbench"
    plain = run_of(segbench("pixels", *sets[1], "-o", kept, "--format", "json"))
    measured = run_of(segbench("show", kept, "--tuning-results", tuned, "--format", "json"))
    counts_nothing()
    again = segbench("pixels", *sets[1], "--tuning-results", tuned, "-o", kept, "--format", "json")
    assert run_of(again)["summary"] == measured["summary"]
    assert run_of(segbench("show", kept, "--format", "json"))["signature"] == measured["signature"]
    assert run_of(segbench("show", kept, "--tuning-results", "none", "--format", "json")) == plain


def test_a_tuning_run_may_be_measured_at_other_thresholds(segbench, sets, tuned):
    answer = segbench("pixels", *sets[1], "--tuning-results", tuned, "--at", "0.3", "--format", "json")
    plain = segbench("pixels", *sets[1], "--at", "0.3", "--format", "json")
    assert run_of(answer)["summary"]["precision@0.3"] == run_of(plain)["summary"]["precision@0.3"]


@pytest.mark.parametrize(
    ("options", "code", "kind", "values"),
    [
        (["--tuning-results", "gone.segbench"], 1, "not-found", {"path": "gone.segbench"}),
        (
            ["--classes", "0,1", "--no-check", "--tuning-results", "a"],
            2,
            "not-of-protocol",
            {"protocol": "classes"},
        ),
    ],
)
def test_wrong_options(segbench, sets, options, code, kind, values):
    answer = segbench("pixels", *sets[1], *options)
    assert answer.code == code
    insist(answer.error, kind, **values)
