"""The whole command line on hard masks of the demo's objects, in every form that masks are saved in."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from sklearn.metrics import f1_score, jaccard_score, precision_score, recall_score

from segbench import evaluate, load_results

OBJECTS = Path(__file__).parents[2] / "datasets/demo/objects"
TRUTH = OBJECTS / "ground_truth"
NAMES = ("camera", "coins", "horse", "rocket")
FORMS = ("0 and 255", "0 and 1", "1 bit", "bool")
AREAS = ("auc_roc", "auc_pr", "auc_pr_achievable", "average_precision", "ois_f", "fpr_at_95_tpr")


def mask_of(name, method="random_walker"):
    return np.asarray(Image.open(OBJECTS / f"predictions/{method}/{name}.png").convert("L")) >= 128


def save(mask, folder, name, form):
    folder.mkdir(parents=True, exist_ok=True)
    if form == "bool":
        np.save(folder / f"{name}.npy", mask)
    elif form == "1 bit":
        Image.fromarray(mask).convert("1").save(folder / f"{name}.png")
    else:
        Image.fromarray(mask.astype(np.uint8) * (255 if form == "0 and 255" else 1)).save(folder / f"{name}.png")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Return ground truth and a folder of masks for each form; that of coins is empty."""
    root = tmp_path_factory.mktemp("masks")
    truth = root / "gt"
    truth.mkdir()
    for name in NAMES:
        (truth / f"{name}.png").write_bytes((TRUTH / f"{name}.png").read_bytes())
        for form in FORMS:
            save(mask_of(name) & (name != "coins"), root / form, name, form)
        save(mask_of(name, "soft_otsu"), root / "otsu", name, "0 and 255")
    return truth, {form: root / form for form in (*FORMS, "otsu")}


@pytest.fixture(scope="module")
def results(folders, tmp_path_factory):
    """Count the masks in every form, and those of another method."""
    truth, masks = folders
    file = tmp_path_factory.mktemp("results") / "r.segbench"
    for name, folder in masks.items():
        evaluate(truth, folder, method=name, results=file)
    return file


def pooled():
    truths = [np.asarray(Image.open(TRUTH / f"{name}.png")) > 0 for name in NAMES]
    masks = [mask_of(name) & (name != "coins") for name in NAMES]
    return [np.concatenate([one.ravel() for one in some]) for some in (truths, masks)]


@pytest.mark.parametrize("form", FORMS)
def test_a_run_gives_what_scikit_learn_gives(segbench, folders, form):
    truth, masks = folders
    answer = segbench("pixels", truth, masks[form], "--format", "json", "--intervals", "95")
    assert answer.code == 0
    (run,) = json.loads(answer.out)["runs"]
    assert "at-the-mask" in [note["kind"] for note in run["notes"]]
    summary, expected = run["summary"], pooled()
    assert summary["ods_f"] == pytest.approx(f1_score(*expected), rel=1e-12)
    assert summary["iou"] == pytest.approx(jaccard_score(*expected), rel=1e-12)
    assert summary["ods_precision"] == pytest.approx(precision_score(*expected), rel=1e-12)
    assert summary["ods_recall"] == pytest.approx(recall_score(*expected), rel=1e-12)
    assert summary["ods_threshold"] == (1 / 255 if form == "0 and 1" else 1)
    for key in AREAS:
        assert summary[key] is None
        assert run["undefined"][key] == "two-valued predictions"
        assert run["intervals"][key] == [None, None]
    assert run["intervals"]["iou"][0] < summary["iou"] < run["intervals"]["iou"][1]
    assert "at-the-mask" in [note["kind"] for note in run["notes"]]


def test_the_table_has_the_iou_and_says_what_it_is_of(segbench, results):
    answer = segbench("show", results, "--only", "bool")
    header, row = answer.out.replace("mean F", "mean_F").replace("OIS F", "OIS_F").splitlines()[1:3]
    found = dict(zip(header.split(), row.split(), strict=True))
    assert float(found["IoU"]) == pytest.approx(jaccard_score(*pooled()), abs=5e-5)
    assert found["OIS_F"] == found["AUC-PR"] == found["FPR95"] == "-"
    assert "undefined (two-valued predictions): ois_f, ois_precision, ois_recall, auc_pr" in answer.out
    for form in ("markdown", "latex"):
        assert "two-valued predictions" in segbench("show", results, "--format", form).out


def test_masks_have_one_threshold(segbench, results):
    (run,) = json.loads(segbench("show", results, "--only", "bool", "--per-threshold", "--format", "json").out)["runs"]
    assert run["per_threshold"]["threshold"] == [1.0]
    assert run["per_threshold"]["f"] == pytest.approx([run["summary"]["ods_f"]])


def test_compare_leaves_areas_out_and_says_why(segbench, results):
    answer = segbench("compare", results, "--methods", "0 and 1,otsu", "--replicates", "50", "--all")
    assert answer.code == 0
    assert not [line for line in answer.out.splitlines() if line.startswith("auc_pr ")]
    reason = "0 and 1, otsu: undefined (two-valued predictions): ois_f, "
    assert [line for line in answer.out.splitlines() if line.startswith(reason)]
    same = segbench("compare", results, "--methods", "0 and 1,bool", "--format", "json", "--replicates", "50")
    rows = {each["metric"]: each["differences"][0] for each in json.loads(same.out)["answers"]}
    assert rows["ods_f"]["difference"] == 0
    assert rows["iou"]["ties"] == 4


def test_the_report_takes_masks(segbench, results, tmp_path):
    page = tmp_path / "report.html"
    assert segbench("report", results, "-o", page, "--images", OBJECTS.parent / "images").code == 0
    text = page.read_text()
    assert "undefined (two-valued predictions): OIS F, AUC-PR, hull*, AP, AUC-ROC, FPR95<" in text
    assert "those at the mask" in text


def test_the_results_file_keeps_what_decides(results, tmp_path):
    from segbench import merge_results

    merge_results([results], tmp_path / "merged.segbench")
    for run in load_results(tmp_path / "merged.segbench"):
        assert run.pooled.two_valued
        assert all(counts.of_predictions for counts in run.counts.values())
