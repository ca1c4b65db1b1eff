"""nnU-Net's summary.json, written and read: from folders in its layout, beside its published definition."""

import json
import math

import nibabel
import numpy as np
import pytest
from refusing import refused
from volumes_written import write_cases

import segbench
from segbench import ArgumentError, DataError, Labels, export_nnunet, import_nnunet

LABELS = {"background": 0, "liver": 1, "tumour": 2, "absent": 3, "ignore": 4}
REGIONS = {"background": 0, "whole": [1, 2, 3], "core": [2, 3], "enhancing": 3, "ignore": 4}
CASES = 6


def volumes(seed):
    """Draw volumes of truth, with an ignored corner, and of two predictions; some cases lack label 2, or all labels."""
    rng = np.random.default_rng(seed)
    for case in range(CASES):
        truth = rng.choice([0, 0, 1, 2] if case % 3 else [0, 0, 1], (4, 5, 6)).astype(np.uint8)
        truth[0] = truth[0] * (case != 1)
        truth[:2, :2, :2] = 4
        if case == 4:
            truth[truth < 4] = 0
        wrong = rng.choice(3 if case else 1, truth.shape).astype(np.uint8)
        kept = np.where(truth == 4, 1, truth)
        yield truth, *(np.where(rng.random(truth.shape) < share, wrong, kept) for share in (0.3, 0.5))


@pytest.fixture(params=[LABELS, REGIONS], ids=["labels", "regions"])
def layout(request, tmp_path):
    """Write labelsTs, two folders of predictions and dataset.json as nnU-Net has them."""
    truths, first, second = zip(*volumes(3), strict=True)
    write_cases(tmp_path / "labelsTs", truths)
    write_cases(tmp_path / "a", first)
    write_cases(tmp_path / "b", second)
    description = {"labels": request.param, "file_ending": ".nii.gz", "regions_class_order": [1, 2, 3]}
    (tmp_path / "dataset.json").write_text(json.dumps(description))
    return tmp_path


def published(layout, predictions):
    """Compute a summary as nnU-Net's `compute_metrics_on_folder` defines it, from the files."""
    labels = json.loads((layout / "dataset.json").read_text())["labels"]
    keys = [tuple(label) if isinstance(label, list) else label for name, label in labels.items() if label]
    keys.remove(labels["ignore"])
    cases = []
    for path in sorted(predictions.glob("*.nii.gz")):
        reference = layout / "labelsTs" / path.name
        truth, predicted = (np.asarray(nibabel.load(file).dataobj) for file in (reference, path))
        used = truth != labels["ignore"]
        metrics = {}
        for key in keys:
            true, found = np.isin(truth, key), np.isin(predicted, key)
            tp, fp = int((true & found & used).sum()), int((~true & found & used).sum())
            fn, tn = int((true & ~found & used).sum()), int((~true & ~found & used).sum())
            empty = tp + fp + fn == 0
            metrics[str(key)] = {
                "Dice": math.nan if empty else 2 * tp / (2 * tp + fp + fn),
                "IoU": math.nan if empty else tp / (tp + fp + fn),
                "FP": fp,
                "TP": tp,
                "FN": fn,
                "TN": tn,
                "n_pred": fp + tp,
                "n_ref": fn + tp,
            }
        cases.append({"reference_file": str(reference), "prediction_file": str(path), "metrics": metrics})
    mean = {
        str(key): {
            name: float(np.mean(values)) if values else math.nan
            for name in ("Dice", "IoU", "FP", "TP", "FN", "TN", "n_pred", "n_ref")
            if (values := [v for case in cases if not math.isnan(v := case["metrics"][str(key)][name])]) is not None
        }
        for key in keys
    }
    foreground = {name: float(np.mean([of_class[name] for of_class in mean.values()])) for name in mean[str(keys[0])]}
    return {"metric_per_case": cases, "mean": mean, "foreground_mean": foreground}


def flat(summary):
    """Return every number and text of a summary by its place; nan as text, which is equal to itself."""
    text = json.dumps(summary, sort_keys=True)
    return json.loads(text, parse_constant=str)


def evaluated(layout, name):
    """Count a folder of predictions."""
    rules = Labels(classes=str(layout / "dataset.json"), background=0)
    return segbench.evaluate(layout / "labelsTs", layout / name, rules, method=name)


def test_it_is_written_as_published(layout):
    result = evaluated(layout, "a")
    export_nnunet(result, layout / "out.json")
    written = json.loads((layout / "out.json").read_text())
    assert flat(written) == flat(published(layout, layout / "a"))
    regions = "(1, 2, 3)" in written["mean"]
    assert math.isnan(written["foreground_mean"]["Dice"])  # label 3 is in no case
    absent = "3"
    assert math.isnan(written["mean"][absent]["Dice"])
    defined = [of_class["Dice"] for key, of_class in written["mean"].items() if key != absent]
    assert result.summary["mean_dice_cases"] == pytest.approx(np.mean(defined))
    name = "whole" if regions else "liver"
    of_class = written["mean"]["(1, 2, 3)" if regions else "1"]
    part = result.parts("class")[name].summary
    assert (part["dice_cases"], part["iou_cases"]) == pytest.approx((of_class["Dice"], of_class["IoU"]))


def test_read_back_it_gives_the_same(layout):
    file = layout / "r.segbench"
    classes = str(layout / "dataset.json")
    counted, imported = [], []
    for name in "ab":
        counted.append(evaluated(layout, name))
        (layout / name / "summary.json").write_text(json.dumps(published(layout, layout / name)))
        imported.append(import_nnunet(layout / name, classes=classes, results=file))
        assert imported[-1].method == name
    for ours, theirs in zip(counted, imported, strict=True):
        assert list(theirs.counts) == list(ours.counts)
        shared = theirs.summary.keys()
        assert {"miou", "miou_images", "mean_dice", "mean_dice_cases", "mean_accuracy"} <= shared
        assert {*ours.summary} - {*shared} <= {"pixel_accuracy", "kappa", "ignored", "outside"}
        assert dict(theirs.summary) == pytest.approx({key: ours.summary[key] for key in shared}, nan_ok=True)
        for key, interval in theirs.intervals().items():
            assert ours.intervals()[key] == pytest.approx(interval, nan_ok=True)
        for name, part in theirs.parts("class").items():
            of_class = ours.parts("class")[name].summary
            keys = [key for key in part.summary if key != "ignored"]
            expected = [of_class[key] for key in keys]
            assert [part.summary[key] for key in keys] == pytest.approx(expected, nan_ok=True)
    for metric in ("mean_dice_cases", "miou"):
        (ours,), (theirs,) = (segbench.compare_results(results).rows(metric) for results in (counted, imported))
        assert 0 < ours.p_value < 1
        assert (ours.difference, ours.p_value) == pytest.approx((theirs.difference, theirs.p_value))
    loaded = segbench.load_results(file)
    assert [result.signature for result in loaded] == [result.signature for result in imported]
    assert "source:imported" in loaded[0].signature
    assert imported[0].data == imported[1].data  # the same ground truth


class TestCommands:
    def test_both_ways(self, layout, segbench):
        file, again = layout / "r.segbench", layout / "again.segbench"
        folders = [layout / name for name in ("labelsTs", "a", "b")]
        segbench("labels", *folders, "--classes", layout / "dataset.json", "--background", "0", "-o", file)
        assert segbench("show", file, "--format", "nnunet").error.kind == "several-methods"
        for name in "ab":
            answer = segbench("show", file, "--format", "nnunet", "--only", name)
            assert flat(json.loads(answer.out)) == flat(published(layout, layout / name))
            (layout / f"{name}.json").write_text(answer.out)
        places = [f"{name}={layout / name}.json" for name in "ab"]
        ran = segbench("import", *places, "--classes", layout / "dataset.json", "-o", again)
        assert ran.code == 0
        keys = ("--metrics", "miou,mean_dice_cases,mean_iou_cases", "--intervals", "95", "--format", "markdown")
        tables = [segbench("show", path, *keys).out.splitlines()[:4] for path in (file, again)]
        assert tables[0] == tables[1]
        rows = [f"case_{case},{'abc'[case // 2]}" for case in range(CASES)]
        (layout / "units.csv").write_text("\n".join(["name,patient", *rows]))
        by_unit = ("--unit", f"{layout}/units.csv:patient", "--metrics", "mean_dice_cases", "--format", "csv")
        answers = [segbench("compare", path, *by_unit).out for path in (file, again)]
        assert answers[0] == answers[1] != ""
        assert segbench("show", again, "--format", "nnunet", "--only", "a").code == 0
        assert segbench("plot", again, "--kind", "confusion", "--only", "a").error.kind == "no-plot"

    def test_folds(self, layout, segbench):
        """Each fold has cases of its own."""
        whole = published(layout, layout / "a")
        for fold in range(3):
            folder = layout / f"fold_{fold}" / "validation"
            folder.mkdir(parents=True)
            part = {"metric_per_case": whole["metric_per_case"][fold::3]}
            (folder / "summary.json").write_text(json.dumps(part))
        file = layout / "folds.segbench"
        ran = segbench("import", f"net@={layout}/fold_*/validation/summary.json", "-o", file)
        assert ran.code == 0
        shown = segbench("show", file, "--format", "json")
        pooled = next(run for run in json.loads(shown.out)["runs"] if run["images"] == CASES)
        counted = evaluated(layout, "a")
        assert pooled["summary"]["mean_dice_cases"] == pytest.approx(counted.summary["mean_dice_cases"])


COUNTS = {"TP": 6, "FP": 2, "FN": 1, "TN": 91}


def written(path, cases, **more):
    path.write_text(json.dumps({"metric_per_case": cases, **more}))
    return path


@pytest.mark.parametrize(
    ("cases", "kind"),
    [
        ([], "no-cases"),
        ({}, "no-cases"),
        ([1], "no-metrics"),
        ([{"metrics": {}}], "no-metrics"),
        ([{"metrics": {"liver": COUNTS}}], "wrong-class"),
        ([{"metrics": {"1": COUNTS, "(1,)": COUNTS}}], "doubled-class"),
        ([{"metrics": {"1": COUNTS | {"TP": 1.5}}}], "wrong-counts"),
        ([{"metrics": {"1": COUNTS | {"TP": -1}}}], "wrong-counts"),
        ([{"metrics": {"1": COUNTS | {"TP": 2**70}}}], "wrong-counts"),
        ([{"metrics": {"1": {"Dice": 0.5}}}], "wrong-counts"),
        ([{"metrics": {"1": COUNTS, "2": COUNTS | {"TN": 0}}}], "contradiction"),
        ([{"metrics": {"1": COUNTS}}, {"metrics": {"2": COUNTS}}], "other-classes"),
        ([{"metrics": {"1": COUNTS}, "prediction_file": "a/1.nii.gz"}] * 2, "doubled-case"),
    ],
)
def test_what_is_no_summary_is_refused(tmp_path, cases, kind):
    with refused(kind, DataError):
        import_nnunet(written(tmp_path / "summary.json", cases))


@pytest.mark.parametrize("text", ["", "[", "[" * 100_000, "\0"])
def test_what_is_no_json_is_refused(tmp_path, text):
    (tmp_path / "summary.json").write_text(text)
    with refused("not-json", DataError):
        import_nnunet(tmp_path)


@pytest.mark.parametrize(
    ("path", "name", "volumes"),
    [
        ("/data/a/case_7.nii.gz", "case_7", 1),
        ("C:\\data\\case_7.nrrd", "case_7", 1),
        ("case.7.png", "case.7", 0),
        ("/", "case_1", 0),
        (None, "case_1", 0),
        ("a/x\x1b[31m.nii", None, 1),
    ],
)
def test_cases_are_called_as_their_files(tmp_path, path, name, volumes):
    result = import_nnunet(written(tmp_path / "summary.json", [{"metrics": {"1": COUNTS}, "prediction_file": path}]))
    ((found, counts),) = result.counts.items()
    assert found == name or (name is None and "\x1b" not in found)
    assert counts.volumes == volumes


def test_names_of_other_classes_are_refused(tmp_path):
    file = written(tmp_path / "summary.json", [{"metrics": {"1": COUNTS, "(1, 2)": COUNTS}}])
    assert import_nnunet(file, classes="a=1,b=1+2").settings["classes"] == "a=1,b=1+2"
    assert import_nnunet(file, classes="rest=0,b=1+2,a=1").settings["classes"] == "b=1+2,a=1"
    assert import_nnunet(file).settings["classes"] == "1,1+2"
    for classes in ("a=1", "a=1,b=1+2,c=3"):
        with refused("other-classes", DataError):
            import_nnunet(file, classes=classes)


def test_of_two_foreground_classes_none_is_positive(tmp_path):
    (truth, *_), *_ = volumes(3)
    write_cases(tmp_path / "gt", [truth % 3])
    result = segbench.evaluate(tmp_path / "gt", tmp_path / "gt", Labels(classes=3, background=0))
    export_nnunet(result, tmp_path / "summary.json")
    imported = import_nnunet(tmp_path / "summary.json")
    assert {"miou", "mean_dice_cases"} <= imported.summary.keys()
    assert not {"iou", "dice", "dice_cases", "recall"} & imported.summary.keys()
    assert imported.parts("class")["1"].summary["dice_cases"] == 1


def test_the_page_of_what_was_read(tmp_path):
    file = written(tmp_path / "summary.json", [{"metrics": {"1": COUNTS}, "prediction_file": f"{k}"} for k in "ab"])
    segbench.export_report([import_nnunet(file)], tmp_path / "r.html")
    assert "Dice" in (tmp_path / "r.html").read_text("utf-8")


def test_results_that_have_none_are_refused(tmp_path):
    image = np.array([[0, 1]])
    soft = segbench.evaluate({"a": (image, image / 2)})
    result = segbench.evaluate({"a": (image, image)}, protocol=Labels(classes=2))
    for other in (soft, result.parts("class")["1"]):
        with refused("no-summary", ArgumentError):
            export_nnunet(other, tmp_path / "summary.json")
    assert not (tmp_path / "summary.json").exists()
