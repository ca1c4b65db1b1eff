import json
import subprocess
import sys

import numpy as np
import pytest
from cases import FIRST_SCORES, FIRST_TRUTH, SECOND_SCORES, write_folder, write_papers


@pytest.fixture
def papers(tmp_path):
    return write_papers(tmp_path)


class TestRun:
    def test_json_is_the_contract(self, segbench, papers):
        answer = segbench("pixels", *papers, "--format", "json")
        document = json.loads(answer.out)
        assert (answer.code, document["schema"]) == (0, 4)
        (run,) = document["runs"]
        assert set(run) >= {"method", "protocol", "signature", "images", "failed", "summary", "intervals"}
        assert run["summary"].keys() >= {"positives", "auc_roc", "auc_pr", "ods_f", "ods_threshold", "mean_image_f"}
        assert run["summary"]["ods_f"] == pytest.approx(0.7368421, abs=1e-7)
        assert run["summary"]["auc_pr_achievable"] == pytest.approx(0.7041736, abs=1e-7)
        assert (run["method"], run["images"], run["failed"]) == ("pred", 2, 0)

    def test_the_table_says_what_matters(self, segbench, papers):
        answer = segbench("pixels", *papers)
        assert ".7368" in answer.out
        assert "optimistic" in answer.out
        assert "protocol:pixels|positive:larger" in answer.out
        assert answer.err == ""

    def test_several_methods_in_one_file_best_first(self, segbench, papers, tmp_path):
        worse = write_folder(tmp_path / "worse", {"first.npy": 1 - FIRST_SCORES, "second.npy": 1 - SECOND_SCORES})
        file = tmp_path / "r.segbench"
        assert segbench("pixels", papers[0], f"bad={worse}", papers[1], "-o", file, "-j", 2).code == 0
        shown = segbench("show", file)
        assert shown.out.index("pred") < shown.out.index("bad")
        assert [run["method"] for run in json.loads(segbench("show", file, "--format", "json").out)["runs"]] == [
            "bad",
            "pred",
        ]

    def test_a_failed_image_is_listed_and_the_exit_code_says_so(self, segbench, papers):
        (papers[1] / "first.npy").write_bytes(b"junk")
        answer = segbench("pixels", *papers)
        assert answer.code == 1
        assert "1 of 2 images failed" in answer.out
        assert "first.npy" in answer.out

    @pytest.mark.parametrize("form", ["table", "json", "csv", "markdown", "latex"])
    def test_the_reason_of_a_failed_image_is_on_standard_error_in_every_format(self, segbench, papers, form):
        (papers[1] / "first.npy").write_bytes(b"junk")
        answer = segbench("pixels", *papers, "--no-check", "--format", form)
        assert answer.code == 1
        assert "pred: 1 of 2 images failed and is left out of all metrics:\n  " in answer.err
        assert "first.npy" in answer.err

    def test_the_reason_of_a_run_without_metrics_is_on_standard_error(self, segbench, papers):
        answer = segbench("pixels", *papers, "--positive", "7", "--format", "csv")
        assert answer.code == 1
        assert "undefined (no positive" in answer.err

    def test_what_mends_several_failed_images_is_said_once(self, segbench, papers):
        small = {"first.npy": FIRST_SCORES[::2, ::2], "second.npy": SECOND_SCORES[::2, ::2]}
        write_folder(papers[1], small)
        out = segbench("pixels", *papers, "--no-check").out
        first, second, mend = out.split("images failed and are left out of all metrics:\n")[1].splitlines()[:3]
        assert "first.npy: 2 x 2" in first
        assert "second.npy: 2 x 2" in second
        assert mend.startswith("  -> --crop cuts off excess rows and columns")
        assert out.count("--crop") == 1

    def test_undefined_figures_are_null_with_a_reason(self, segbench, papers):
        answer = segbench("pixels", *papers, "--positive", "7", "--format", "json")
        (run,) = json.loads(answer.out)["runs"]
        assert run["summary"]["ods_f"] is None
        assert "no positive" in run["undefined"]["ods_f"]
        assert "NaN" not in answer.out
        assert "undefined (no positive" in segbench("pixels", *papers, "--positive", "7").out

    def test_options_reach_the_protocol(self, segbench, papers, tmp_path):
        field = np.ones((4, 4), np.uint8)
        field[0] = 0
        masks = write_folder(tmp_path / "m", {"first_m.png": field, "second_m.png": field})
        answer = segbench(
            "pixels", *papers, "--positive", ">=128", "--void", "7,9", "--field", masks, "--field-pattern", "*_m",
            "--invert", "--quantize", "8", "--format", "json",
        )  # fmt: skip
        (run,) = json.loads(answer.out)["runs"]
        assert run["settings"] == {
            "positive": ">=128", "void": "7,9", "invert": "yes", "quantize": "8", "field": "yes",
        }  # fmt: skip
        assert run["summary"]["ignored"] == 8

    def test_negatives_that_fit_nothing_are_said(self, segbench, papers):
        assert "matches the negatives, 'zz/*'" in segbench("pixels", *papers, "--negatives", "zz/*").out


class TestWrongUse:
    @pytest.mark.parametrize(
        ("arguments", "code", "message"),
        [
            (["pixels"], 2, "give GT and PRED"),
            (["pixels", "{gt}"], 2, "give GT and PRED"),
            (["pixels", "{gt}", "{pred}", "--frobnicate"], 2, "No such option"),
            (["voxels", "{gt}", "{pred}"], 2, "voxels"),
            (["pixels", "{gt}", "{pred}", "-j", "0"], 2, "'--jobs': 0 is not in the range x>=1."),
            (["pixels", "{gt}", "{pred}", "-j", "two"], 2, "'--jobs': 'two' is not a valid whole number.\n"),
            (["pixels", "{gt}", "{pred}", "--intervals", "many"], 2, "'--intervals': 'many' is not a valid number.\n"),
            (["show", "r.segbench", "--format", "tabel"], 2, "'--format': 'tabel' is not one of 'table'"),
            (["pixels", "{gt}", "{pred}", "--positive", "white"], 2, "is not a rule"),
            (["pixels", "{gt}", "{pred}", "--void", "sky"], 2, "is not a list of numbers"),
            (["pixels", "{gt}", "{pred}", "{pred}"], 2, "two methods are called 'pred'"),
            (["pixels", "{gt}", "{pred}", "--field-pattern", "*_m"], 2, "name their folder with --field"),
            (["boundaries", "{gt}", "{pred}", "--max-dist", "7"], 2, "fraction of the diagonal"),
            (["pixels", "{gt}", "nowhere"], 1, "nowhere"),
            (["pixels", "nowhere", "{pred}"], 1, "nowhere"),
            (["pixels", "{gt}", "{empty}"], 1, "empty"),
            (["pixels", "{empty}", "{pred}"], 1, "empty"),
            (["pixels", "{gt}", "{short}"], 1, "second"),
            (["pixels", "{short}", "{pred}"], 1, "second"),
            (["pixels", "{gt}/first.png", "{pred}"], 1, "folder"),
            (["show", "nowhere.segbench"], 1, "not found; correct the path, or create the file"),
            (["show", "{gt}/first.png"], 1, "results file"),
            (["plot", "nowhere.segbench", "-o", "pr.pdf"], 1, "not found; correct the path, or create the file"),
            (["show", "x", "--intervals"], 2, "Option '--intervals' requires an argument.\n"),
            (["boundaries", "{gt}", "{pred}", "--no-thin=3"], 2, "'--no-thin' does not take a value.\n"),
        ],
    )
    def test_is_one_clear_sentence(self, segbench, papers, tmp_path, arguments, code, message):
        places = {"gt": papers[0], "pred": papers[1], "empty": tmp_path / "empty"}
        places["empty"].mkdir()
        places["short"] = write_folder(tmp_path / "short", {"first.npy": FIRST_SCORES})
        answer = segbench(*(argument.format(**places) for argument in arguments))
        assert answer.code == code
        assert message in answer.err
        assert "Traceback" not in answer.err
        assert answer.out == ""

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--intervals", "0.95"], "--intervals 0.95 is not a confidence level in percent; write 95"),
            (["-o", "r.csv"], "for other kinds of files see segbench show"),
            (["-o", "r.HTML"], "name it r.segbench"),
        ],
    )
    def test_is_found_before_an_image_is_looked_at(self, segbench, tmp_path, monkeypatch, arguments, message):
        monkeypatch.chdir(tmp_path)
        answer = segbench("pixels", "no-gt", "no-pred", *arguments)
        assert (answer.code, answer.out) == (2, "")
        assert message in answer.err
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("option", ["--void", "--field"])
    def test_what_leaves_out_every_positive_is_named(self, segbench, tmp_path, option):
        names = [f"{k}.png" for k in range(5)]
        gt = write_folder(tmp_path / "gt", dict.fromkeys(names, FIRST_TRUTH * 255))
        pred = write_folder(tmp_path / "pred", dict.fromkeys(names, (FIRST_SCORES * 255).astype(np.uint8)))
        given = "255" if option == "--void" else gt
        answer = segbench("pixels", gt, pred, option, given)
        assert answer.code == 1
        assert "nothing but" in answer.err.splitlines()[0]
        assert f"perhaps {option} {given} left out every other value" in answer.err
        assert "--positive" not in answer.err

    def test_values_that_occur_are_listed(self, segbench, papers):
        assert "--positive with a value that occurs: 0, 255" in segbench("pixels", *papers, "--positive", "7").err

    def test_three_values_show_the_flag_that_mends_it(self, segbench, papers):
        write_folder(papers[0], {"first.png": FIRST_TRUTH})
        answer = segbench("pixels", *papers)
        assert answer.code == 1
        assert "--positive '>=1'" in answer.err


class TestStartUp:
    def test_ctrl_c_is_answered_before_anything_is_imported(self):
        script = (
            "import sys, segbench.cli.main; print(sorted({'ast', 'enum', 'lazy_loader', 'click'} & {*sys.modules}))"
        )
        answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        assert answer.stdout.strip() == "[]"

    def test_version(self, segbench):
        import segbench as library

        assert segbench("--version").out.strip() == f"segbench {library.__version__}"

    def test_a_terminal_of_no_columns_gets_what_any_other_gets(self, segbench, papers, monkeypatch):
        monkeypatch.setenv("COLUMNS", "0")
        assert "pred" in segbench("pixels", *papers).out

    def test_output_cut_short_is_no_error(self, papers):
        command = f"{sys.executable} -m segbench pixels {papers[0]} {papers[1]} --format json | head -1"
        answer = subprocess.run(
            ["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True, check=False
        )
        assert answer.stdout == "{\n"
        assert "Traceback" not in answer.stderr
