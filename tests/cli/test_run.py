import json
import subprocess
import sys

import numpy as np
import pytest
from cases import FIRST_SCORES, FIRST_TRUTH, SECOND_SCORES, write_folder
from refusing import insist, parts_of, within

from segbench.core.messages import Setting


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
        assert "first.npy" in answer.out
        (run,) = json.loads(segbench("pixels", *papers, "--format", "json").out)["runs"]
        assert (run["images"], run["failed"]) == (1, 1)
        failure = run["failures"]["first"]
        assert (failure["kind"], failure["file"]) == ("other-format", str(papers[1] / "first.npy"))

    @pytest.mark.parametrize("form", ["table", "json", "csv", "markdown", "latex"])
    def test_the_reason_of_a_failed_image_is_on_standard_error_in_every_format(self, segbench, papers, form):
        (papers[1] / "first.npy").write_bytes(b"junk")
        (run,) = json.loads(segbench("pixels", *papers, "--no-check", "--format", "json").out)["runs"]
        answer = segbench("pixels", *papers, "--no-check", "--format", form)
        assert answer.code == 1
        assert (run["images"], run["failed"]) == (1, 1)
        reason = run["failures"]["first"]
        assert reason["text"] in answer.err
        assert "first.npy" in answer.err

    def test_the_reason_of_a_run_without_metrics_is_on_standard_error(self, segbench, papers):
        answer = segbench("pixels", *papers, "--positive", "7", "--format", "csv")
        assert answer.code == 1
        (run,) = json.loads(segbench("pixels", *papers, "--positive", "7", "--format", "json").out)["runs"]
        (reason,) = set(run["undefined"].values())
        assert reason in answer.err
        assert ", ".join(run["undefined"]) in answer.err

    def test_what_mends_several_failed_images_is_said_once(self, segbench, papers):
        small = {"first.npy": FIRST_SCORES[::2, ::2], "second.npy": SECOND_SCORES[::2, ::2]}
        write_folder(papers[1], small)
        out = segbench("pixels", *papers, "--no-check").out
        first, second, mend = out.split("images failed and are left out of all metrics:\n")[1].splitlines()[:3]
        assert "first.npy: 2 x 2" in first
        assert "second.npy: 2 x 2" in second
        assert mend.startswith("  -> --crop")
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
        (run,) = json.loads(segbench("pixels", *papers, "--negatives", "zz/*", "--format", "json").out)["runs"]
        (note,) = (note for note in run["notes"] if note["kind"] == "no-negatives")
        assert note["values"] == {"pattern": "zz/*"}


class TestWrongUse:
    @pytest.mark.parametrize(
        ("arguments", "kind", "values"),
        [
            ("pixels", "no-files", {"settings": {"pairs": None}}),
            ("pixels {gt}", "no-files", {"settings": {"pairs": None}}),
            ("pixels {gt} {pred} --frobnicate", "no-such-option", {"typed": "--frobnicate"}),
            ("voxels {gt} {pred}", "no-such-command", {"typed": "voxels"}),
            ("pixels {gt} {pred} -j 0", "unreadable-option", {"option": "--jobs"}),
            ("pixels {gt} {pred} -j two", "unreadable-option", {"option": "--jobs"}),
            ("pixels {gt} {pred} --intervals many", "unreadable-option", {"option": "--intervals"}),
            ("show r.segbench --format tabel", "unreadable-option", {"option": "--format"}),
            ("pixels {gt} {pred} --positive white", "wrong-rule", {"given": Setting("positive", "white")}),
            ("pixels {gt} {pred} --void sky", "wrong-option", {"option": "--void", "typed": "sky"}),
            ("pixels {gt} {pred} {pred}", "same-name", {"plural": "methods", "name": "pred"}),
            ("pixels {gt} {pred} --field-pattern *_m", "no-field-folder", {"settings": {"field": None}}),
            (
                "boundaries {gt} {pred} --max-dist 7",
                "wrong-value",
                {"argument": Setting("max_dist", None), "value": "7"},
            ),
            ("show x --intervals", "unreadable-option", {"option": "--intervals"}),
            ("boundaries {gt} {pred} --no-thin=3", "unreadable-option", {"option": "--no-thin"}),
        ],
    )
    def test_of_a_command_line_is_exit_code_2(self, segbench, papers, arguments, kind, values):
        gt, pred = papers
        answer = segbench(*arguments.format(gt=gt, pred=pred).split())
        assert (answer.code, answer.out) == (2, "")
        insist(answer.error, kind, **values)
        assert "Traceback" not in answer.err

    @pytest.mark.parametrize(
        ("arguments", "place", "error"),
        [
            ("pixels {gt} nowhere", "nowhere", "missing"),
            ("pixels nowhere {pred}", "nowhere", "missing"),
            ("pixels {gt} {empty}", "{empty}", "no-images"),
            ("pixels {empty} {pred}", "{empty}", "no-images"),
            ("pixels {gt}/first.png {pred}", "{gt}/first.png", "not-a-folder"),
        ],
    )
    def test_of_a_folder_is_exit_code_1(self, segbench, papers, tmp_path, arguments, place, error):
        places = {"gt": papers[0], "pred": papers[1], "empty": tmp_path / "empty"}
        places["empty"].mkdir()
        answer = segbench(*arguments.format(**places).split())
        assert (answer.code, answer.out) == (1, "")
        insist(answer.error, "check-failed", findings=("folder",))
        found = within(answer.error, "folder")
        assert (found["path"], found["error"]) == (place.format(**places), error)

    @pytest.mark.parametrize(
        ("arguments", "kind", "path"),
        [
            ("show nowhere.segbench", "not-found", "nowhere.segbench"),
            ("show {gt}/first.png", "not-a-results-file", "{gt}/first.png"),
            ("plot nowhere.segbench -o pr.pdf", "not-found", "nowhere.segbench"),
        ],
    )
    def test_of_a_results_file_is_exit_code_1(self, segbench, papers, arguments, kind, path):
        answer = segbench(*arguments.format(gt=papers[0]).split())
        assert (answer.code, answer.out) == (1, "")
        insist(answer.error, kind, path=path.format(gt=papers[0]))

    @pytest.mark.parametrize(("side", "kind"), [(1, "without-prediction"), (0, "without-ground-truth")])
    def test_of_a_folder_that_lacks_an_image_is_exit_code_1(self, segbench, papers, tmp_path, side, kind):
        folders = [*papers]
        folders[side] = write_folder(tmp_path / "short", {"first.npy": FIRST_SCORES})
        answer = segbench("pixels", *folders)
        assert (answer.code, answer.out) == (1, "")
        insist(answer.error, "check-failed")
        assert answer.error.values["findings"][0] == "unpaired"
        assert within(answer.error, kind)[kind.replace("-", "_")] == 1
        assert "second" in answer.err

    @pytest.mark.parametrize(
        ("arguments", "kind", "values"),
        [
            (["--intervals", "0.95"], "wrong-value", {"value": 0.95}),
            (["-o", "r.csv"], "not-a-database", {"name": "r.segbench"}),
            (["-o", "r.HTML"], "not-a-database", {"name": "r.segbench"}),
        ],
    )
    def test_is_found_before_an_image_is_looked_at(self, segbench, tmp_path, monkeypatch, arguments, kind, values):
        monkeypatch.chdir(tmp_path)
        answer = segbench("pixels", "no-gt", "no-pred", *arguments)
        assert (answer.code, answer.out) == (2, "")
        insist(answer.error, kind, **values)
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("option", ["--void", "--field"])
    def test_what_leaves_out_every_positive_is_named(self, segbench, tmp_path, option):
        names = [f"{k}.png" for k in range(5)]
        gt = write_folder(tmp_path / "gt", dict.fromkeys(names, FIRST_TRUTH * 255))
        pred = write_folder(tmp_path / "pred", dict.fromkeys(names, (FIRST_SCORES * 255).astype(np.uint8)))
        leaves_out = 255 if option == "--void" else str(gt)
        answer = segbench("pixels", gt, pred, option, leaves_out)
        assert answer.code == 1
        insist(answer.error, "check-failed", findings=("no-positives",))
        assert within(answer.error, "no-positives")["values"] == ((0,) if option == "--void" else (255,))
        assert [(said.name, said.value) for said in parts_of(answer.error, Setting)] == [(option[2:], leaves_out)]

    def test_values_that_occur_are_listed(self, segbench, papers):
        checked = segbench("check", "pixels", *papers, "--positive", "7", "--format", "json")
        (finding,) = json.loads(checked.out)["reports"][0]["findings"]
        assert (finding["kind"], finding["values"]["values"]) == ("no-positives", [0, 255])

    def test_three_values_show_the_flag_that_mends_it(self, segbench, papers):
        write_folder(papers[0], {"first.png": FIRST_TRUTH})
        answer = segbench("pixels", *papers)
        assert answer.code == 1
        insist(answer.error, "check-failed", findings=("mixed-ground-truth",), settings={"positive": ">=1"})
        assert within(answer.error, "mixed-ground-truth")["values"] == (0, 1, 255)


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
