"""Runs with --bins: every value that bins can move is shown with its bounds, and nothing they leave open is decided."""

import csv
import io
import json
import math

import numpy as np
import pytest
from methods import write_methods

from segbench.core.bins import bin_of

FEW = ("--replicates", "20")
BOUNDED = ("ods_f", "ods_precision", "ods_recall", "ods_threshold", "ois_f", "ois_precision", "ois_recall")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A ground truth, a method, the same method with tiny changes, and a poor one."""
    root = tmp_path_factory.mktemp("bins")
    truth, good, poor = write_methods(root, {"good": 2, "poor": 0.5}, images=4, levels=False, shape=(90, 120))
    twin = root / "twin"
    twin.mkdir()
    rng = np.random.default_rng(1)
    for path in sorted(good.iterdir()):
        scores = np.load(path)
        np.save(twin / path.name, np.clip(scores + rng.normal(0, 1e-3, scores.shape), 0, 1))
    return truth, good, twin, poor


@pytest.fixture
def results(counted_once, folders):
    return counted_once("b.segbench", *folders, "--bins")


@pytest.fixture
def exact(counted_once, folders):
    return counted_once("e.segbench", *folders)


def runs_of(answer):
    return {run["method"]: run for run in json.loads(answer.out)["runs"]}


def rows_of(answer):
    return list(csv.DictReader(io.StringIO(answer.out)))


def test_json_holds_bounds_of_the_summary_and_of_each_image(segbench, results, exact):
    binned = runs_of(segbench("show", results, "--per-image", "--format", "json"))
    truth = runs_of(segbench("show", exact, "--per-image", "--format", "json"))
    assert all(run["bounds"] == {} and run["image_bounds"] == {} for run in truth.values())
    for method, run in binned.items():
        assert set(BOUNDED) <= set(run["bounds"])
        for key, (low, high) in run["bounds"].items():
            assert low <= truth[method]["summary"][key] <= high
        for image, bounds in run["image_bounds"].items():
            assert {"f", "precision", "recall", "threshold"} <= set(bounds)
            for key, (low, high) in bounds.items():
                assert low <= truth[method]["per_image"][image][key] <= high


@pytest.mark.parametrize("lines", [[], ["--per-image"]])
def test_csv_has_columns_of_bounds_where_there_are_any(segbench, results, exact, lines):
    key = "f" if lines else "ods_f"
    for row in rows_of(segbench("show", results, "--format", "csv", *lines)):
        assert float(row[f"{key}_bound_low"]) <= float(row[key]) <= float(row[f"{key}_bound_high"])
        cells = {title: text for title, text in row.items() if "_bound_" in title}
        assert all(math.isfinite(float(text)) for text in cells.values())
    assert not any("_bound_" in title for title in rows_of(segbench("show", exact, "--format", "csv", *lines))[0])


@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
@pytest.mark.parametrize("lines", [[], ["--per-image"], ["--intervals", "95", "--replicates", "50"]])
def test_every_table_shows_bounds(segbench, results, form, lines):
    out = segbench("show", results, "--format", form, *lines).out
    sign = "$\\pm$" if form == "latex" else "±"
    (line, *_) = [line for line in out.splitlines() if line.lstrip("| ").startswith("poor")]
    assert line.count(sign) >= 7
    assert "certain bounds of the exact value" in out


@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
def test_a_method_that_bins_may_make_second_is_never_best(segbench, results, exact, form):
    marks = {"table": "", "markdown": "**", "latex": "\\textbf"}
    out = segbench("show", results, "--format", form).out
    assert "open: good, twin" in out
    if marks[form]:
        assert marks[form] not in out
        assert "underline" not in out
        assert marks[form] in segbench("show", exact, "--format", form).out


def test_a_method_that_is_certainly_best_is_marked(segbench, folders, tmp_path):
    path = tmp_path / "two.segbench"
    truth, good, _, poor = folders
    segbench("pixels", truth, good, poor, "--bins", "-o", path)
    out = segbench("show", path, "--format", "markdown").out
    assert "| good     | **" in out
    assert "leave the order" not in out


def test_the_best_threshold_is_not_marked_where_it_is_open(segbench, results, exact):
    out = segbench("show", results, "--per-threshold", "--format", "markdown").out
    assert "**" not in out
    assert "rows are edges of bins; the exact best F is" in out
    assert "**" in segbench("show", exact, "--per-threshold", "--format", "markdown").out


def test_a_comparison_shows_bounds_and_undecided_images(segbench, results, exact):
    out = segbench("compare", results, "--all", *FEW).out
    assert "losses undecided" in out
    assert "±" in next(line for line in out.splitlines() if line.startswith("ods_f "))
    assert "p-values and rank shares are those of the binned values" in out
    assert "undecided" not in segbench("compare", exact, "--all", *FEW).out
    found, truth = (
        [
            row
            for each in json.loads(segbench("compare", kept, *FEW, "--format", "json").out)["answers"]
            for row in each["differences"]
        ]
        for kept in (results, exact)
    )
    for row, known in zip(found, truth, strict=True):
        assert row["bounds"][0] <= known["difference"] <= row["bounds"][1]
        assert known["bounds"] is None
        assert (row["wins"], row["losses"]) <= (known["wins"], known["losses"])
    row = rows_of(segbench("compare", results, *FEW, "--format", "csv"))[0]
    assert float(row["difference_bound_low"]) <= float(row["difference"]) <= float(row["difference_bound_high"])


def test_intervals_say_that_they_are_those_of_binned_values(segbench, results):
    assert (
        "intervals are those of binned values"
        in segbench("show", results, "--intervals", "95", "--replicates", "50").out
    )


def test_means_over_classes_have_bounds(segbench, tmp_path):
    rng = np.random.default_rng(0)
    for folder in ("gt", "pred/0", "pred/1"):
        (tmp_path / folder).mkdir(parents=True)
    for k in range(3):
        labels = rng.integers(0, 2, (60, 80)).astype(np.uint8)
        np.save(tmp_path / f"gt/{k}.npy", labels)
        for label in (0, 1):
            np.save(tmp_path / f"pred/{label}/{k}.npy", 1 / (1 + np.exp(-rng.normal(labels == label, 1))))
    arguments = ("pixels", tmp_path / "gt", tmp_path / "pred", "--classes", "0-1", "--format", "json")
    binned, exact = (runs_of(segbench(*arguments, *more))["pred"] for more in (["--bins"], []))
    keys = {"macro_ods_f", "macro_average_precision", "micro_ods_f", "micro_ods_threshold", "micro_ods_precision"}
    assert keys <= set(binned["bounds"])
    for key, (low, high) in binned["bounds"].items():
        assert low <= exact["summary"][key] <= high
    assert "±" in segbench(*arguments[:-2], "--bins", "--per-class").out


def test_the_fixture_crowds_bins(folders):
    scores = np.load(next(folders[1].iterdir()))
    assert np.unique(bin_of(scores)).size < np.unique(scores).size
