import csv
import io
import json
import re
import shlex

import numpy as np
import pytest
from cases import write_folder
from methods import write_methods
from refusing import insist

from segbench import evaluate, load_results


@pytest.fixture
def kept(segbench, tmp_path):
    folders = write_methods(tmp_path, {"good": 3.0, "poor": 1.0, "a|b_c": 2.0}, images=3)
    assert segbench("pixels", *folders, "-o", tmp_path / "my results.segbench").code == 0
    return tmp_path / "my results.segbench"


def test_digits(segbench, kept):
    (row,) = [
        line for line in segbench("show", kept, "--format", "latex", "--digits", 2).out.splitlines() if "good" in line
    ]
    assert len(row.split("&")[1].strip()) == len(r"\textbf{.93}")
    assert segbench("compare", kept, "--format", "markdown", "--digits", 2).out.count("|") > 20
    for verb in ("show", "compare"):
        refused = segbench(verb, kept, "--format", "csv", "--digits", 2)
        assert refused.code == 2
        insist(refused.error, "other-form", form="csv")


@pytest.mark.parametrize("first", "=+-@")
def test_csv_quotes_names_that_are_formulas(segbench, tmp_path, first):
    gt, pred = write_methods(tmp_path, {"a": 3.0}, images=2)
    name, image = f"{first}HYPERLINK('x')", f"{first}2+cmd"
    for folder in (gt, pred):
        (folder / "im00.png").rename(folder / f"{image}.png")
    evaluate(gt, pred, method=name, results=tmp_path / "r")
    rows = list(csv.DictReader(io.StringIO(segbench("show", tmp_path / "r", "--per-image", "--format", "csv").out)))
    assert (rows[0]["method"], rows[0]["image"]) == (f"'{name}", f"'{image}")
    assert not any(text.startswith("'") for row in rows for key, text in row.items() if key not in ("method", "image"))


def test_per_threshold(segbench, kept):
    table = segbench("show", kept, "--per-threshold").out
    assert "thresholds; --format csv and json list all" in table
    rows = list(csv.DictReader(io.StringIO(segbench("show", kept, "--per-threshold", "--format", "csv").out)))
    (run, *_) = json.loads(segbench("show", kept, "--per-threshold", "--format", "json").out)["runs"]
    mine = [row for row in rows if row["method"] == run["method"]]
    assert [float(row["f"]) for row in mine] == run["per_threshold"]["f"]
    assert run["per_threshold"]["threshold"][0] is None
    assert max(run["per_threshold"]["f"]) == pytest.approx(run["summary"]["ods_f"])
    for form in ("markdown", "latex"):
        assert segbench("show", kept, "--per-threshold", "--format", form).code == 0
    assert segbench("show", kept, "--per-threshold", "--per-image").code == 2
    refused = segbench("show", kept, "--per-threshold", "--intervals", 95)
    insist(refused.error, "excluding-options", option="--per-threshold")


def test_thresholds_are_listed_in_all_digits(segbench, tmp_path):
    places = write_methods(tmp_path, {"one": 3.0}, images=2)
    results = tmp_path / "edges.segbench"
    assert segbench("boundaries", *places, "--positive", "255", "-o", results).code == 0
    used = np.linspace(0.01, 0.99, 99).tolist()
    (run,) = json.loads(segbench("show", results, "--per-threshold", "--format", "json").out)["runs"]
    assert run["per_threshold"]["threshold"] == used
    assert run["summary"]["ods_threshold"] == load_results(results)[0].summary["ods_threshold"]
    printed = segbench("show", results, "--per-threshold", "--format", "csv").out
    assert [float(row["threshold"]) for row in csv.DictReader(io.StringIO(printed))] == used
    table = segbench("show", results, "--per-threshold").out
    assert "thresholds are rounded here; --format csv and json list them with all digits" in " ".join(table.split())


def test_a_folder_is_told_from_a_missing_file(segbench, tmp_path):
    insist(segbench("show", tmp_path).error, "folder", path=str(tmp_path))
    insist(segbench("show", tmp_path / "none").error, "not-found", path=str(tmp_path / "none"))


def test_the_hint_after_a_run_can_be_typed(segbench, kept, tmp_path):
    err = segbench("pixels", tmp_path / "gt", tmp_path / "good", "-o", kept).err
    hint = err.split("segbench report ")[1].split(", segbench compare ")[0]
    assert shlex.split(hint) == [str(kept)]


def test_a_size_is_in_inches(segbench, kept, tmp_path):
    assert segbench("plot", kept, "-o", tmp_path / "a.svg", "--kind", "images", "--size", "3.5x3").code == 0
    width, height = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', (tmp_path / "a.svg").read_text()).groups()
    assert (float(width), float(height)) == pytest.approx((3.5 * 72, 3 * 72), abs=0.05)


def test_tables_and_plots_say_alike_which_methods_compete(segbench, tmp_path):
    gt, all_of_them, fewer = write_methods(tmp_path, {"all": 1, "fewer": 3}, images=4)
    (fewer / "im01.png").unlink()
    file = tmp_path / "f.segbench"
    assert segbench("pixels", gt, all_of_them, fewer, "--allow-missing", "-o", file).code == 0
    note = "the best is marked only among those that do: all (4 images); fewer (3 images)"
    assert note in segbench("show", file).out
    assert note in segbench("plot", file, "-o", tmp_path / "f.svg").err
    texts = (tmp_path / "f.svg").read_text()
    assert texts.index("] all (4 images)") < texts.index("] fewer (3 images)")


@pytest.mark.parametrize("size", ["3", "0x3", "3.5x", "axb", "1.2.3x4", "999x3", "84x70mm"])
def test_a_size_that_is_none_is_refused(segbench, kept, tmp_path, size):
    answer = segbench("plot", kept, "-o", tmp_path / "a.svg", "--size", size)
    assert answer.code == 2
    insist(answer.error, "wrong-value", value=size)


def test_bands_are_refused_where_there_are_none(segbench, kept, tmp_path):
    answer = segbench("plot", kept, "-o", tmp_path / "a.svg", "--kind", "images", "--intervals", 95)
    assert answer.code == 2
    insist(answer.error, "no-bands")
    assert answer.error.values["kind"] == "images"


class TestMetrics:
    @pytest.fixture
    def results(self, segbench, tmp_path):
        file = tmp_path / "r.segbench"
        assert segbench("pixels", *write_methods(tmp_path, {"one": 1, "two": 2}), "-o", file).code == 0
        return file

    def test_are_selected_and_ordered_in_every_format(self, segbench, results):
        def shown(form):
            return segbench("show", results, "--metrics", "auc_pr,ods_f", "--format", form).out

        assert shown("table").split()[:3] == ["method", "AUC-PR", "ODS"]
        assert [one.strip() for one in shown("markdown").split("\n")[0].split("|")[1:4]] == [
            "method",
            "AUC-PR",
            "ODS F",
        ]
        assert r"AUC-PR $\uparrow$ & ODS F $\uparrow$" in re.sub(" +", " ", shown("latex"))
        assert shown("csv").startswith("method,auc_pr,ods_f,images,failed,signature\n")
        assert list(json.loads(shown("json"))["runs"][0]["summary"]) == ["auc_pr", "ods_f"]

    def test_that_are_unknown_are_named_with_those_there_are(self, segbench, results):
        shown = segbench("show", results, "--metrics", "ods_f,lpips")
        assert shown.code == 2
        insist(shown.error, "unknown-metric", option="--metrics", unknown=("lpips",))
        assert shown.error.values["advice"].kind == "not-measured"
        assert shown.error.values["known"].startswith("ods_f, ")

    def test_of_the_set_mean_those_of_images(self, segbench, results):
        of_set, of_image = (segbench("show", results, "--per-image", "--metrics", key) for key in ("ods_f", "f"))
        assert (of_set.code, of_set) == (0, of_image)


class TestWorstImages:
    def order(self, segbench, kept, key):
        rows = csv.DictReader(io.StringIO(segbench("show", kept, "--per-image", "--sort", key, "--format", "csv").out))
        return [float(row[key]) if row[key] else None for row in rows]

    def test_come_first(self, segbench, kept):
        found = self.order(segbench, kept, "f")
        assert len(found) == 9
        assert found == sorted(found)

    def test_are_the_highest_where_lower_is_better(self, segbench, tmp_path):
        folders = write_methods(tmp_path, {"good": 3.0, "poor": 1.0}, images=4)
        assert segbench("saliency", *folders, "-o", tmp_path / "r").code == 0
        found = self.order(segbench, tmp_path / "r", "mae")
        assert found == sorted(found, reverse=True)

    def test_undefined_ones_come_last(self, segbench, tmp_path):
        gt, one = write_methods(tmp_path, {"one": 1.0}, images=3)
        write_folder(gt, {"im00.png": np.zeros((12, 17), np.uint8)})
        assert segbench("pixels", gt, one, "--positive", "255", "-o", tmp_path / "r").code == 0
        found = self.order(segbench, tmp_path / "r", "auc_roc")
        assert found[2] is None
        assert found[:2] == sorted(found[:2])

    def test_come_first_in_json_and_in_the_terminal(self, segbench, kept):
        runs = json.loads(segbench("show", kept, "--per-image", "--sort", "f", "--format", "json").out)["runs"]
        for run in runs:
            values = [image["f"] for image in run["per_image"].values()]
            assert values == sorted(values)
        assert segbench("show", kept, "--per-image", "--sort", "f").out.splitlines()[1].startswith("poor ")

    @pytest.mark.parametrize(
        ("options", "kind", "values"),
        [
            (["--sort", "f"], "needs-option", {"settings": {"per_image": True, "per_unit": True}}),
            (["--sort", "g", "--per-image"], "unknown-metric", {"option": "--sort", "unknown": ("g",)}),
        ],
    )
    def test_a_sort_that_cannot_be_is_refused(self, segbench, kept, options, kind, values):
        refused = segbench("show", kept, *options)
        assert refused.code == 2
        insist(refused.error, kind, **values)


def test_groups_of_methods_that_lack_images(segbench, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("gt", "all", "fewer"):
        for image in ("a/1", "a/2", "b/1"):
            (tmp_path / folder / image[0]).mkdir(parents=True, exist_ok=True)
            np.save(tmp_path / folder / f"{image}.npy", np.array([[True, False]]))
    (tmp_path / "fewer" / "a" / "2.npy").unlink()
    answer = segbench("labels", "gt", "all", "fewer", "--group-by", "folder", "--allow-missing")
    assert answer.code == 0, answer.err
    numbers = {tuple(line.split()[:2]): line.split()[-1] for line in answer.out.splitlines()[2:6]}
    assert numbers == {("a", "all"): "2", ("a", "fewer"): "1", ("b", "all"): "1", ("b", "fewer"): "1"}
