import csv
import io
import json

import numpy as np
import pytest
from cases import write_folder
from methods import write_methods
from refusing import insist, refuse_constant


def runs_of(answer, code=0):
    assert answer.code == code, answer.err
    return json.loads(answer.out, parse_constant=refuse_constant)["runs"]


@pytest.fixture
def results(segbench, tmp_path):
    path = tmp_path / "r.segbench"
    assert segbench("pixels", *write_methods(tmp_path, {"a": 2, "b": 1}), "-o", path).code == 0
    return path


class TestShow:
    def test_json_holds_an_interval_of_every_figure_and_how_it_was_made(self, segbench, results):
        for run in runs_of(segbench("show", results, "--intervals", "90", "--format", "json")):
            low, high = run["intervals"]["ods_f"]
            assert low < run["summary"]["ods_f"] < high
            assert set(run["intervals"]) == set(run["summary"]) - {"positives", "negatives", "ignored"}
            assert run["signature"].endswith("|intervals:jackknife-90|resamples:2000-0")
            assert run["sampling"]["standard_errors"]["ods_f"] > 0
            assert 2 <= run["sampling"]["freedom"]["ods_f"] <= 11
            assert "from 30 images on" in run["sampling"]["undefined"]["ods_precision"]

    def test_table_csv_and_papers_hold_the_same_ends(self, segbench, results):
        (run, _) = runs_of(segbench("show", results, "--intervals", "95", "--format", "json"))
        low, high = run["intervals"]["auc_roc"]
        (row, _) = csv.DictReader(io.StringIO(segbench("show", results, "--intervals", "95", "--format", "csv").out))
        assert (float(row["auc_roc_low"]), float(row["auc_roc_high"])) == (low, high)
        written = f"[{low:.4f}, {high:.4f}]".replace("0.", ".")
        for form in ("markdown", "latex"):
            paper = ("--metrics", "auc_roc,auc_pr_achievable", "--format", form)
            assert written in segbench("show", results, "--intervals", "95", *paper).out
            assert "optimistic" in segbench("show", results, *paper).out
        table = segbench("show", results, "--intervals", "95").out
        assert f"{low:.4f}".lstrip("0") in table
        assert "95 % low" in table

    @pytest.mark.parametrize(
        ("options", "kind", "values"),
        [
            (["--intervals", "0.95"], "wrong-value", {"value": 0.95}),
            (["--intervals", "nan"], "wrong-value", {}),
            (["--intervals", "95", "--per-image"], "excluding-options", {"option": "--per-image"}),
            (["--only", "nothing"], "matches-nothing", {"typed": "nothing", "methods": ("a", "b")}),
        ],
    )
    def test_options_that_make_no_sense_are_refused(self, segbench, results, options, kind, values):
        answer = segbench("show", results, *options)
        assert answer.code == 2
        insist(answer.error, kind, **values)


class TestDegenerate:
    def test_one_image_has_null_with_a_reason(self, segbench, tmp_path):
        folders = write_methods(tmp_path, {"a": 2}, images=1)
        (run,) = runs_of(segbench("pixels", *folders, "--intervals", "95", "--format", "json"))
        assert {tuple(ends) for ends in run["intervals"].values()} == {(None, None)}
        assert run["sampling"]["undefined"]["ods_f"] == "1 image: an interval needs at least two"
        text = segbench("pixels", *folders, "--intervals", "95", "--format", "markdown").out
        assert "[" not in text
        (row,) = csv.DictReader(io.StringIO(segbench("pixels", *folders, "--intervals", "95", "--format", "csv").out))
        assert row["ods_f_low"] == ""

    def test_one_score_everywhere_predicts_every_pixel(self, segbench, tmp_path):
        folders = write_methods(tmp_path, {"a": 2}, images=10)
        write_folder(folders[1], {path.name: np.full((12, 17), 9, np.uint8) for path in folders[1].iterdir()})
        (run,) = runs_of(segbench("pixels", *folders, "--intervals", "95", "--format", "json"))
        assert run["intervals"]["auc_roc"] == [None, None]
        assert run["sampling"]["undefined"]["auc_roc"] == "two-valued predictions"
        low, high = run["intervals"]["ods_f"]
        assert low < run["summary"]["ods_f"] < high  # the share of positives differs from image to image


class TestPlot:
    def test_bands_are_drawn_beside_the_curves(self, segbench, results, tmp_path):
        plain, shaded = tmp_path / "plain.svg", tmp_path / "shaded.svg"
        assert segbench("plot", results, "-o", plain).code == 0
        answer = segbench("plot", results, "-o", shaded, "--intervals", "95")
        assert answer.code == 0
        assert "95" in answer.err.split()
        areas = [drawing.read_text().count("FillBetweenPolyCollection") for drawing in (plain, shaded)]
        assert areas == [0, 2]

    def test_differences_are_not_said_to_be_resampled(self, segbench, results, tmp_path):
        answer = segbench("plot", results, "-o", tmp_path / "p.svg", "--kind", "comparison", "--intervals", "90")
        assert answer.code == 0
        assert "resamples" not in answer.err


@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
def test_a_metric_without_an_interval_says_why(segbench, results, form):
    metrics = ("--metrics", "ods_f,ods_precision,ods_threshold")  # more than the columns of LaTeX by default
    text = segbench("show", results, *metrics, "--intervals", "95", "--format", form).out.replace("\\", "")
    assert "no interval (12 images: this metric has intervals from 30 images on): ods_precision, ods_threshold" in text
