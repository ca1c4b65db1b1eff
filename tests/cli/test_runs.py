"""Runs of a method (trainings, folds) on the command line: masks of four pixels, with values worked out by hand."""

import csv
import io
import json
import shutil

import numpy as np
import pytest
from noted import of_kind, values_of
from refusing import insist, refused

from segbench import Accumulator, compare, compare_results, evaluate, join_runs, load_results
from segbench.core.errors import ArgumentError, DataError

TRUTH = [1, 1, 0, 0]
RUNS = {  # the IoU of all images is 3/4, 2/4 and 4/4: mean .75, standard deviation .25
    "7": {"a": [1, 1, 0, 0], "b": [1, 0, 0, 0]},
    "64": {"a": [1, 0, 0, 0], "b": [1, 0, 0, 0]},
    "512": {"a": [1, 1, 0, 0], "b": [1, 1, 0, 0]},
}


def write(folder, images):
    folder.mkdir(parents=True)
    for name, row in images.items():
        np.save(folder / f"{name}.npy", np.array([row], bool))
    return folder


@pytest.fixture
def gt(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write(tmp_path / "gt", {"a": TRUTH, "b": TRUTH})


@pytest.fixture
def net(tmp_path, gt):  # noqa: ARG001  for its files
    """Three trainings in folders, and another method."""
    for run, images in RUNS.items():
        write(tmp_path / "net" / f"seed{run}", images)
    return write(tmp_path / "plain", {"a": TRUTH, "b": [1, 0, 0, 0]}).parent / "net"


@pytest.fixture
def kept(segbench, net):  # noqa: ARG001  for its files
    answer = segbench("labels", "gt", "net@=net/seed*", "plain", "-o", "r.segbench")
    assert answer.code == 0, answer.err
    return "r.segbench"


def rows_of(answer):
    return list(csv.DictReader(io.StringIO(answer.out)))


def runs_of(answer):
    return json.loads(answer.out)["runs"]


@pytest.mark.usefixtures("net")
def test_a_glob_names_runs_by_what_its_star_stands_for(segbench):
    assert segbench("labels", "gt", "net@=net/seed*", "plain", "-o", "r.segbench").code == 0
    results = load_results("r.segbench")
    assert [(result.method, result.run) for result in results] == [
        ("net", "7"),
        ("net", "64"),
        ("net", "512"),
        ("plain", ""),
    ]
    assert [result.summary["iou"] for result in results] == [0.75, 0.5, 1.0, 0.75]


@pytest.mark.usefixtures("net")
def test_runs_that_are_named_one_by_one(segbench):
    answer = segbench("labels", "gt", "net@x=net/seed7", "net@y=net/seed64", "--format", "json")
    assert [(run["run"], run["summary"]["iou"]) for run in runs_of(answer)] == [("x", 0.75), ("y", 0.5), (None, 0.625)]


def test_an_at_sign_in_the_name_of_a_folder_makes_no_run(segbench, tmp_path, net):
    (net / "seed7").rename(tmp_path / "net@512")
    answer = segbench("labels", "gt", "net@512", "--format", "json")
    (run,) = runs_of(answer)
    assert (run["method"], run["run"]) == ("net@512", None)
    (tmp_path / "net@512").rename(tmp_path / "net@1=x")
    (run,) = runs_of(segbench("labels", "gt", "net@1=x", "--format", "json"))
    assert (run["method"], run["run"]) == ("net@1=x", None)


@pytest.mark.usefixtures("net")
@pytest.mark.parametrize(
    ("given", "kind", "values", "said"),
    [
        (
            ["net@1=net/seed7", "net=net/seed64"],
            "run-and-method",
            {"method": "net", "runs": ("1",)},
            "net@2=net/seed64",
        ),
        (["net@1=net/seed7", "net@1=net/seed64"], "same-name", {"name": "net@1"}, "net@other=net/seed64"),
        (["net@=net/x*"], "matches-nothing", {"typed": "net@=net/x*"}, "'net@=net/*'"),
        (["net@=no/x*"], "matches-nothing", {"typed": "net@=no/x*"}, "no folder no"),
        (["net@=net/seed7"], "not-one-star", {"stars": 0, "method": "net"}, "net@1=FOLDER1"),
        (["net@=*/seed*"], "not-one-star", {"stars": 2, "method": "net"}, "net@1=FOLDER1"),
        (["@1=net/seed7"], "half-a-name", {"run": "1", "path": "net/seed7"}, "ours@1=net/seed7"),
    ],
)
def test_what_to_write_instead(segbench, given, kind, values, said):
    answer = segbench("labels", "gt", *given)
    assert answer.code == 2
    insist(answer.error, kind, **values)
    assert said in answer.err


def test_a_folder_and_an_archive_of_one_run(segbench, net):
    shutil.make_archive(str(net / "seed7"), "zip", net / "seed7")
    answer = segbench("labels", "gt", "net@=net/seed*")
    assert answer.code == 2
    insist(answer.error, "same-name", plural="runs", name="net@7")
    shutil.rmtree(net / "seed7")
    unpacked = runs_of(segbench("labels", "gt", "net@=net/seed*", "--format", "json"))
    assert [run["run"] for run in unpacked] == ["7", "64", "512", None]


@pytest.mark.usefixtures("net")
def test_a_folder_of_runs_and_a_glob_without_an_at_sign(segbench):
    folder = segbench("labels", "gt", "net@=net")
    assert folder.code == 2
    insist(folder.error, "not-one-star", stars=0, example="'net@=net/*'")
    assert segbench("labels", "gt", "net@=net/*").err.startswith("3 runs of net: seed7, seed64, seed512")
    several = segbench("labels", "gt", "net=net/seed*")
    assert several.code == 2
    insist(several.error, "several-folders", as_runs="'net@=net/seed*'")


def test_folds_without_the_option_that_they_take(segbench, tmp_path, gt):  # noqa: ARG001  for its files
    for fold, image in enumerate("ab"):
        write(tmp_path / "cv" / f"fold{fold}", {image: TRUTH})
    answer = segbench("labels", "gt", "cv@=cv/fold*")
    assert answer.code == 2
    insist(answer.error, "perhaps-folds", runs=2, method="cv", settings={"allow_missing": True})
    assert segbench("labels", "gt", "cv@=cv/fold*", "--allow-missing").code == 0


def test_copies_are_no_trainings(segbench, net):
    shutil.copytree(net / "seed7", net / "seed8")
    answer = segbench("labels", "gt", "net@=net/seed*", "--format", "json")
    (note,) = (note for note in runs_of(answer)[-1]["notes"] if note["kind"] == "same-predictions")
    assert (note["values"]["first"], note["values"]["second"]) == ("7", "8")


@pytest.mark.usefixtures("net")
def test_the_advice_of_a_method_beside_its_runs_is_right(segbench):
    answer = segbench("labels", "gt", "net@1=net/seed7", "net@2=net/seed64", "--format", "json")
    assert runs_of(answer)[-1]["summary"]["iou"] == 0.625


def test_tables_print_mean_and_standard_deviation(segbench, kept):
    text = segbench("show", kept, "--metrics", "iou").out
    assert ".7500 ± .2500" in text
    assert "net: mean ± SD over 3 runs" in text
    assert ".7500 ± .2500" in segbench("show", kept, "--metrics", "iou", "--format", "markdown").out
    assert r".7500 $\pm$ .2500" in segbench("show", kept, "--metrics", "iou", "--format", "latex").out
    net, plain = rows_of(segbench("show", kept, "--metrics", "iou", "--format", "csv"))
    assert [float(net[key]) for key in ("iou", "iou_sd", "runs")] == [0.75, 0.25, 3]
    assert (plain["iou"], plain["iou_sd"], plain["runs"]) == ("0.75", "", "")


def test_json_has_an_entry_for_each_run_and_one_for_their_mean(segbench, kept):
    *runs, mean, plain = runs_of(segbench("show", kept, "--format", "json"))
    assert [(run["method"], run["run"]) for run in runs] == [("net", "7"), ("net", "64"), ("net", "512")]
    assert [run["summary"]["iou"] for run in runs] == [0.75, 0.5, 1.0]
    assert "mean_over" not in runs[0]
    assert (mean["run"], mean["mean_over"], mean["summary"]["iou"]) == (None, "runs", 0.75)
    assert mean["sd"]["iou"] == 0.25
    assert mean["settings"]["runs"] == "3"
    assert plain["run"] is None
    assert plain.keys().isdisjoint({"mean_over", "sd"})


def test_show_runs_lists_runs_and_what_adds_to_the_error_of_their_mean(segbench, kept):
    rows = rows_of(segbench("show", kept, "--runs", "--metrics", "iou", "--format", "csv"))
    values = {(row["method"], row["run"]): float(row["iou"]) for row in rows}
    assert values["net", "64"] == 0.5
    assert values["net", "mean of 3 runs"] == 0.75
    assert values["net", "standard error, trainings"] == pytest.approx(0.25 / 3**0.5)
    assert values["plain", "one run"] == 0.75
    *_, mean, _ = runs_of(segbench("show", kept, "--runs", "--format", "json"))
    assert mean["standard_errors"]["trainings"]["iou"] == pytest.approx(0.25 / 3**0.5)
    assert segbench("show", kept, "--runs", "--per-image").code == 2


@pytest.mark.usefixtures("gt")
def test_classes_and_images_are_joined_too(segbench, tmp_path):
    for run, images in RUNS.items():
        write(tmp_path / "net" / run, images)
    segbench("labels", "gt", "net@=net/*", "--classes", "0-1", "-o", "r.segbench")
    rows = rows_of(segbench("show", "r.segbench", "--per-class", "--format", "csv"))
    by_class = {row["class"]: row for row in rows}
    assert (float(by_class["1"]["iou"]), float(by_class["1"]["iou_sd"])) == (0.75, 0.25)
    images = rows_of(segbench("show", "r.segbench", "--per-image", "--metrics", "pixel_accuracy", "--format", "csv"))
    assert [float(row["pixel_accuracy"]) for row in images] == pytest.approx([(1 + 3 / 4 + 1) / 3, (3 / 4 * 2 + 1) / 3])


@pytest.fixture
def folds(segbench, tmp_path, gt):
    """Two folds: one of the images a and c, one of b."""
    write(tmp_path / "more", {"c": TRUTH})
    (tmp_path / "more" / "c.npy").rename(gt / "c.npy")
    write(tmp_path / "cv" / "1", {"a": [1, 1, 0, 0], "c": [1, 1, 0, 0]})
    write(tmp_path / "cv" / "2", {"b": [1, 0, 0, 0]})
    answer = segbench("labels", "gt", "cv@=cv/*", "--allow-missing", "-o", "r.segbench")
    assert answer.code == 0, answer.err
    return answer


@pytest.mark.usefixtures("folds")
def test_folds_are_pooled_and_their_mean_stands_below(segbench):
    # Of 6 pixels 5 are found: 5/6 of all images, and (4/4 + 1/2) / 2 over folds.
    pooled, mean = rows_of(segbench("show", "r.segbench", "--metrics", "iou", "--format", "csv"))
    assert float(pooled["iou"]) == pytest.approx(5 / 6)
    assert pooled["method"] == "cv"
    assert mean["method"] == "cv, mean of 2 folds"
    assert (float(mean["iou"]), float(mean["iou_sd"])) == (0.75, pytest.approx(0.5 / 2**0.5))
    text = segbench("show", "r.segbench", "--metrics", "iou").out
    assert "all images of 2 folds pooled" in text
    assert "mean of 2 folds: mean ± SD over folds" in text
    first, second, pooled, mean = runs_of(segbench("show", "r.segbench", "--format", "json"))
    assert (first["summary"]["iou"], second["summary"]["iou"]) == (1, 0.5)
    assert "mean_over" not in pooled
    assert (mean["mean_over"], mean["summary"]["iou"]) == ("folds", 0.75)


@pytest.mark.usefixtures("segbench", "folds")
def test_folds_are_the_images_of_a_method_counted_at_once(tmp_path):
    write(tmp_path / "whole", {"a": [1, 1, 0, 0], "b": [1, 0, 0, 0], "c": [1, 1, 0, 0]})
    whole = evaluate("gt", "whole", "labels")
    (cv,) = join_runs(load_results("r.segbench"))
    assert cv.data == whole.data
    assert "missing" not in cv.settings
    assert dict(cv.counts) == dict(whole.counts)
    assert cv.summary["iou"] == whole.summary["iou"]
    assert [row.difference for row in compare_results([cv, whole]).rows("iou")] == [0]


@pytest.mark.usefixtures("gt")
def test_runs_that_share_some_images_are_refused_before_counting(segbench, tmp_path):
    write(tmp_path / "net" / "1", {"a": [1, 1, 0, 0]})
    write(tmp_path / "net" / "2", {"a": [1, 1, 0, 0], "b": [1, 0, 0, 0]})
    answer = segbench("labels", "gt", "net@=net/*", "--allow-missing", "-o", "r.segbench")
    assert answer.code == 1
    insist(answer.error, "overlapping-runs", path="net", run="1", other="2", shared=1, settings={"images": ("a",)})
    assert not (tmp_path / "r.segbench").exists()
    assert segbench("check", "labels", "gt", "net@=net/*", "--allow-missing").code == 1
    advised = segbench("labels", "gt", "net@=net/*", "--images", "a", "--format", "json")
    assert runs_of(advised)[-1]["summary"]["iou"] == 1
    (tmp_path / "net" / "2" / "a.npy").unlink()
    pooled = runs_of(segbench("labels", "gt", "net@=net/*", "--allow-missing", "--format", "json"))[2]
    assert pooled["summary"]["iou"] == 0.75


def test_an_image_that_fails_in_one_run(segbench, told, net):
    (net / "seed64" / "b.npy").write_bytes(b"no array")
    answer = segbench("labels", "gt", "net@=net/seed*", "--no-check", "-o", "r.segbench")
    assert answer.code == 1
    (note,) = of_kind(told, "not-joined")
    reason = values_of(note.message)
    assert (reason["image"], reason["run"]) == ("b", "net@64")
    assert "net@512" in answer.out
    shown = segbench("show", "r.segbench")
    assert shown.code == 1
    insist(shown.error, "failed-in-run", path="net", image="b", run="net@64")
    assert shown.error.values["failure"].kind == "other-format"
    runs = rows_of(segbench("show", "r.segbench", "--runs", "--metrics", "iou", "--format", "csv"))
    assert [row["method"] for row in runs] == ["net@7", "net@64", "net@512"]


@pytest.mark.usefixtures("net")
def test_a_run_of_which_every_image_fails(segbench, told, net):
    for image in ("a", "b"):
        (net / "seed64" / f"{image}.npy").write_bytes(b"no array")
    answer = segbench("labels", "gt", "net@=net/seed*", "--no-check", "-o", "r.segbench")
    assert answer.code == 1
    (note,) = of_kind(told, "not-joined")
    reason = values_of(note.message)
    assert (reason["image"], reason["run"]) == ("a", "net@64")
    assert "net@512" in answer.out
    assert segbench("show", "r.segbench", "--runs").code == 0


def test_a_folder_where_nothing_stands_for_the_star(segbench, net):
    (net / "seed7").rename(net / "seed")
    answer = segbench("labels", "gt", "net@=net/seed*")
    assert answer.code == 2
    insist(answer.error, "nothing-for-star", named_run="net@0=net/seed")
    named = segbench("labels", "gt", "net@0=net/seed", "net@1=net/seed64", "--format", "json")
    assert runs_of(named)[-1]["summary"]["iou"] == 0.625


@pytest.mark.usefixtures("net")
def test_a_results_file_holds_a_method_with_runs_or_without(segbench):
    assert segbench("labels", "gt", "net=net/seed7", "-o", "r.segbench").code == 0
    answer = segbench("labels", "gt", "net@2=net/seed64", "-o", "r.segbench")
    assert answer.code == 1
    insist(answer.error, "run-and-method", path="r.segbench", method="net", run="net@2")
    assert segbench("labels", "gt", "net@1=net/seed7", "-o", "s.segbench").code == 0
    answer = segbench("labels", "gt", "net=net/seed64", "-o", "s.segbench")
    assert answer.code == 1
    insist(answer.error, "run-and-method", path="s.segbench", method="net", runs=("1",))
    assert "net@2=" in answer.err
    merged = segbench("merge", "r.segbench", "s.segbench", "-o", "both.segbench")
    assert merged.code == 1
    insist(merged.error, "run-and-method", path="both.segbench", method="net", run="net@1")


def test_merge_puts_runs_together_run_by_run(segbench, net):
    segbench("labels", "gt", "net@7=net/seed7", "-o", "a.segbench", "--images", "a")
    segbench("labels", "gt", "net@7=net/seed7", "net@64=net/seed64", "-o", "b.segbench", "--images", "b")
    segbench("labels", "gt", "net@64=net/seed64", "-o", "c.segbench", "--images", "a")
    answer = segbench("merge", "a.segbench", "b.segbench", "c.segbench", "-o", "all.segbench")
    assert answer.code == 0, answer.err
    results = load_results("all.segbench")
    assert [(result.run, len(result.counts)) for result in results] == [("7", 2), ("64", 2)]
    (net,) = join_runs(results)
    assert net.summary["iou"] == 0.625


@pytest.mark.usefixtures("net")
def test_check_reports_each_run(segbench):
    answer = segbench("check", "labels", "gt", "net@=net/seed*", "plain", "--format", "json")
    reports = json.loads(answer.out)["reports"]
    found = [(report["method"], report["run"]) for report in reports]
    assert found == [("net", "7"), ("net", "64"), ("net", "512"), ("plain", None)]
    assert "net@512: 2 images" in segbench("check", "labels", "gt", "net@=net/seed*").out


def test_only_and_export_name_single_runs(segbench, kept):
    (run,) = runs_of(segbench("show", kept, "--only", "net@64", "--format", "json"))
    assert (run["run"], run["summary"]["iou"]) == ("64", 0.5)
    *_, mean = runs_of(segbench("show", kept, "--only", "net", "--format", "json"))
    assert mean["summary"]["iou"] == 0.75


@pytest.mark.usefixtures("net")
def test_runs_of_other_images_in_python():
    whole = evaluate("gt", "net/seed7", "labels", method="net", run="7")
    part = evaluate("gt", "net/seed64", "labels", method="net", run="64", images=["a"])
    with refused("overlapping-runs", DataError, shared=1):
        join_runs([whole, part])


def test_runs_in_python():
    def images(run):
        return {name: (np.array([TRUTH], bool), np.array([row], bool)) for name, row in RUNS[run].items()}

    results = [evaluate(images(run), protocol="labels", method="net", run=run) for run in RUNS]
    accumulator = Accumulator("labels", method="net", run="64")
    for name, (labels, scores) in images("64").items():
        accumulator.update(labels, scores, name=name)
    assert accumulator.compute().run == "64"
    (net,) = join_runs(results)
    assert repr(net).startswith("Result('net', labels, 2 images, 3 runs, ")
    assert (net.summary["iou"], net.sd["iou"]) == (0.75, 0.25)
    assert net.parts("run").mean is net
    assert net.parts("run").pooled is None
    assert "training of its own" in net.parts("run").undefined["pooled"]
    assert net.parts("run")["64"].summary["iou"] == 0.5
    with refused("no-parts", ArgumentError, parts="runs"):
        results[0].parts("run")
    with refused("run-and-method", ArgumentError):
        join_runs([*results, evaluate(images("7"), protocol="labels", method="net")])
    with refused("same-run", ArgumentError, run="7", method="net"):
        join_runs([results[0], results[0]])


def test_another_ground_truth_in_one_run():
    prediction = np.array([TRUTH], bool)
    first = evaluate({"a": (prediction, prediction)}, protocol="labels", method="net", run="1")
    other = evaluate({"a": (~prediction, prediction)}, protocol="labels", method="net", run="2")
    with refused("other-ground-truth", DataError):
        join_runs([first, other])


@pytest.mark.usefixtures("net")
def test_settings_of_measuring_apply_to_all_runs(segbench):
    segbench("pixels", "gt", "net@=net/seed*", "-o", "r.segbench")
    *_, mean = runs_of(segbench("show", "r.segbench", "--at", 0.5, "--format", "json"))
    assert mean["summary"]["iou@0.5"] == 0.75
    assert mean["sd"]["iou@0.5"] == 0.25
    (joined,) = join_runs(load_results("r.segbench"))
    assert joined.with_settings(at=0.5).summary["iou@0.5"] == 0.75
    assert joined.with_settings(at=0.5).parts("run")["64"].summary["iou@0.5"] == 0.5


@pytest.mark.usefixtures("net")
def test_groups_are_joined(segbench):
    answer = segbench("labels", "gt", "net@=net/seed*", "-o", "r.segbench")
    assert answer.code == 0
    (joined,) = join_runs(load_results("r.segbench"))
    parts = joined.parts("group", by={"a": "x", "b": "y"})
    assert parts["x"].summary["iou"] == pytest.approx((1 + 0.5 + 1) / 3)
    assert parts.mean.summary["iou"] == pytest.approx(((1 + 0.5 + 1) / 3 + (0.5 + 0.5 + 1) / 3) / 2)
    assert parts.pooled.summary["iou"] == 0.75


@pytest.mark.usefixtures("gt")
def test_plots_and_the_report_take_runs(segbench, tmp_path):
    for run, images in RUNS.items():
        write(tmp_path / "net" / run, images)
    segbench("labels", "gt", "net@=net/*", "--classes", "0-1", "-o", "r.segbench")
    for kind in ("images", "classes"):
        assert segbench("plot", "r.segbench", "--kind", kind, "-o", f"{kind}.svg").code == 0
    one = segbench("plot", "r.segbench", "--kind", "confusion", "--only", "net@64", "-o", "confusion.svg")
    assert one.code == 0, one.err
    answer = segbench("report", "r.segbench", "-o", "r.html")
    assert answer.code == 0, answer.err
    page = (tmp_path / "r.html").read_text("utf-8")
    assert "mean ± SD over 3 runs" in page
    assert "of methods with several runs they are those of net@7" in page


def test_units_of_runs(segbench, kept):
    table = segbench("show", kept, "--runs", "--metrics", "iou,dice_units", "--unit", "*#").out
    assert "standard error, units" in table
    # Dice of a and of b: 1 and 2/3, 2/3 and 2/3, 1 and 1.
    *_, mean, _ = runs_of(segbench("show", kept, "--unit", "*#", "--format", "json"))
    assert mean["summary"]["dice_units"] == pytest.approx((5 / 6 + 2 / 3 + 1) / 3)
    assert mean["sd"]["dice_units"] == pytest.approx(1 / 6)


def test_a_comparison_joins_runs(segbench, kept):
    results = load_results(kept)
    comparison = compare_results(results)
    assert comparison.methods == ("net", "plain")
    (row,) = comparison.rows("iou")
    assert (row.estimate_a, row.estimate_b) == (0.75, 0.75)
    by_list = compare({"ours": results[:3], "theirs": results[3]})
    assert by_list.methods == ("ours", "theirs")
    assert by_list.rows("iou")[0].p_value == pytest.approx(row.p_value, nan_ok=True)
    table = segbench("compare", kept, "--format", "latex", "--metrics", "iou").out
    assert r".7500 $\pm$ .2500" in table


@pytest.mark.usefixtures("kept")
def test_a_row_of_a_unit_is_the_mean_over_trainings(segbench):
    rows = rows_of(segbench("show", "r.segbench", "--unit", "#", "--per-unit", "--metrics", "iou", "--format", "csv"))
    found = {(row["method"], row["unit"]): float(row["iou"]) for row in rows}
    of_net = {("net", "a"): (1 + 0.5 + 1) / 3, ("net", "b"): (0.5 + 0.5 + 1) / 3}
    assert found == pytest.approx({**of_net, ("plain", "a"): 1, ("plain", "b"): 0.5})


def test_one_image_decides_a_mean_over_groups_of_runs(segbench, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    truth = np.zeros((1, 100), bool)
    truth[0, 0] = True  # one pixel, so that distances are shifts
    for image in range(16):
        near = 1 + image % 3
        for folder, shift in (("gt", 0), ("net1", near if image else 80), ("net2", near if image else 70)):
            place = tmp_path / folder / "ab"[image % 2]
            place.mkdir(parents=True, exist_ok=True)
            np.save(place / f"{image:02}.npy", np.roll(truth, shift, axis=1))
    counted = segbench("contours", "gt", "net@1=net1", "net@2=net2", "--group-by", "folder", "-o", "r.segbench")
    assert counted.code == 0, counted.err
    *_, mean, _ = runs_of(segbench("show", "r.segbench", "--intervals", 95, "--metrics", "hd95", "--format", "json"))
    # Group a has shifts by 80 (or 70), 3, 2, 1, 3, 2, 1 and 3, with a mean of 90/8 or, without the first, 15/7; b 15/8.
    assert mean["summary"]["hd95"] == 6.5625
    (note,) = (note for note in mean["sampling"]["notes"] if note["kind"] == "deciding-image")
    assert note["values"]["images"] == ["a/00"]
    instead = {key: values for key, *values in note["values"]["instead"]}
    assert instead["hd95"] == [pytest.approx((15 / 7 + 15 / 8) / 2), 6.5625]
    assert "hd95" in note["metrics"]
