import json

import numpy as np
import pytest
from cases import write_folder
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


def listed(folder):
    return sorted(path.name for path in folder.iterdir())


class TestTuningSet:
    def test_the_same_set_twice_is_said_to_be_optimistic(self, segbench, sets):
        truth, a, _ = sets[0]
        answer = segbench("pixels", truth, a, "--tuning-set", truth, a)
        assert "the tuning set is the test set" in answer.out

    def test_the_results_file_keeps_the_thresholds(self, segbench, sets, tmp_path):
        (tune_truth, tune_a, _), (truth, a, _) = sets
        kept = tmp_path / "r.segbench"
        first = run_of(segbench("pixels", truth, a, "--tuning-set", tune_truth, tune_a, "-o", kept, "--format", "json"))
        assert run_of(segbench("show", kept, "--format", "json")) == first

    def test_a_tuned_and_an_untuned_run_are_told_apart(self, segbench, sets, tmp_path):
        (tune_truth, tune_a, _), (truth, a, _) = sets
        kept = tmp_path / "r.segbench"
        segbench("pixels", truth, a, "-o", kept)
        segbench("pixels", truth, a, "--tuning-set", tune_truth, tune_a, "-o", kept)
        text = segbench("show", kept).out
        assert "a (thresholds:none)" in text
        assert "a (thresholds:tuning set of 4 images, data" in text

    def test_a_field_of_view_is_for_both_sets(self, segbench, sets, tmp_path):
        (tune_truth, tune_a, _), (truth, a, _) = sets
        inside = np.arange(12 * 17).reshape(12, 17) % 3 > 0
        for folder in (tune_truth, truth):
            write_folder(
                tmp_path / "fields" / folder.parent.name, dict.fromkeys(listed(folder), inside * np.uint8(255))
            )
        tune_field, field = tmp_path / "fields" / "tune", tmp_path / "fields" / "test"
        tuned = ["--tuning-set", tune_truth, tune_a]
        run = run_of(
            segbench("pixels", truth, a, "--field", field, *tuned, "--tuning-field", tune_field, "--format", "json")
        )
        hull = thresholds_from(evaluate(tune_truth, tune_a, field=tune_field).pooled)
        assert run["summary"]["auc_pr"] == pr_curve(evaluate(truth, a, field=field).pooled.at(hull)).area
        twice = segbench("pixels", truth, a, "--field", field, "--tuning-set", truth, a, "--tuning-field", field)
        assert "the tuning set is the test set" in twice.out
        for wrong, said in (
            ([*tuned, "--field", field], "test set is with a field of view, the tuning set without"),
            ([*tuned, "--tuning-field", tune_field], "test set is without a field of view, the tuning set with"),
            (["--tuning-field", tune_field], "only used with --tuning-set"),
        ):
            answer = segbench("pixels", truth, a, *wrong)
            assert (answer.code, said in " ".join(answer.err.split())) == (2, True)
        place = tmp_path / "list.csv"
        rows = [f"{n},{truth}/{n},{a}/{n},{field}/{n}" for n in listed(truth)]
        place.write_text("\n".join(["name,ground_truth,prediction,field", *rows]))
        assert "--tuning-field" in segbench("pixels", "--pairs", place, *tuned).err

    @pytest.mark.parametrize(
        ("options", "code", "message"),
        [
            (["--tuning-results", "gone.segbench"], 1, "no such results file"),
            (["--classes", "0,1", "--no-check"], 2, "only the pixels protocol"),
        ],
    )
    def test_wrong_options(self, segbench, sets, options, code, message):
        (tune_truth, tune_a, _), (truth, a, _) = sets
        given = [] if "--tuning-results" in options else ["--tuning-set", tune_truth, tune_a]
        answer = segbench("pixels", truth, a, *given, *options)
        assert answer.code == code
        assert message in answer.err

    def test_what_is_wrong_with_the_tuning_set_is_said_of_it(self, segbench, sets):
        (tune_truth, tune_a, _), (truth, a, _) = sets
        answer = segbench("pixels", truth, a, "--tuning-set", tune_truth, tune_a / "gone")
        assert answer.code == 1
        assert f"tuning set, {tune_a / 'gone'}: there is no such folder" in answer.err
        next(tune_a.iterdir()).write_bytes(b"no picture")
        answer = segbench("pixels", truth, a, "--tuning-set", tune_truth, tune_a)
        assert answer.code == 1
        assert "tuning set: 1 image failed; the first: " in answer.err


class TestTuningResults:
    @pytest.fixture
    def tuned(self, segbench, sets, tmp_path):
        kept = tmp_path / "tune.segbench"
        assert segbench("pixels", *sets[0], "-o", kept).code == 0
        return kept

    def test_each_method_has_its_own_thresholds(self, segbench, sets, tuned):
        answer = segbench("pixels", *sets[1], "--tuning-results", tuned, "--format", "json")
        for method, folder in zip("ab", sets[1][1:], strict=True):
            own = thresholds_from(evaluate(sets[0][0], sets[0][0].parent / method, Pixels()).pooled)
            expected = pr_curve(evaluate(sets[1][0], folder).pooled.at(own)).area
            assert run_of(answer, method)["summary"]["auc_pr"] == expected

    def test_a_method_that_was_not_tuned_is_refused(self, segbench, sets, tuned):
        answer = segbench("pixels", sets[1][0], f"c={sets[1][1]}", "--tuning-results", tuned)
        assert answer.code == 2
        assert "no run of c" in answer.err
        assert "with them: a, b" in answer.err

    def test_other_settings_are_refused(self, segbench, sets, tuned):
        answer = segbench("pixels", *sets[1], "--void", "3", "--tuning-results", tuned)
        assert answer.code == 2
        assert "with them: none" in answer.err

    def test_a_field_of_view_that_only_one_of_them_has_is_refused(self, segbench, sets, tuned, tmp_path):
        truth, a, _ = sets[1]
        masks = write_folder(tmp_path / "masks", dict.fromkeys(listed(truth), np.ones((12, 17), np.uint8)))
        answer = segbench("pixels", truth, a, "--field", masks, "--tuning-results", tuned)
        assert answer.code == 2
        assert "a was tuned without a field of view, and this run is with a field of view" in " ".join(
            answer.err.split()
        )

    def test_folders_are_for_one_method(self, segbench, sets, tuned):
        answer = segbench("pixels", *sets[1], "--tuning-set", *sets[0][:2])
        assert answer.code == 2
        assert "--tuning-results" in answer.err
        assert segbench("pixels", *sets[1], "--tuning-set", *sets[0][:2], "--tuning-results", tuned).code == 2
