"""Runs of very many distinct float scores: exact, and quick to show again."""

import json
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from cases import write_folder, write_papers
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score

import segbench
from segbench import compare, count, evaluate, load_results
from segbench.aggregator.codec import encode
from segbench.core import pooling
from segbench.core.metric import Metric
from segbench.protocols.pixels import metrics
from segbench.report.documents import json_document
from segbench.report.tables import TableSettings, threshold_table


@pytest.fixture
def folders(tmp_path):
    rng = np.random.default_rng(5)
    truths = {f"{k}": rng.random((150, 160)) < 0.1 + 0.05 * k for k in range(4)}
    maps = {name: (rng.normal(size=truth.shape) + truth).astype(np.float32) for name, truth in truths.items()}
    gt = write_folder(tmp_path / "gt", {f"{name}.png": truth * np.uint8(255) for name, truth in truths.items()})
    pred = write_folder(tmp_path / "net", {f"{name}.npy": soft for name, soft in maps.items()})
    return gt, pred, np.concatenate([*map(np.ravel, truths.values())]), np.concatenate([*map(np.ravel, maps.values())])


def test_metrics_equal_those_of_scikit_learn(folders):
    gt, pred, labels, scores = folders
    summary = evaluate(gt, pred).summary
    precision, recall, thresholds = precision_recall_curve(labels, scores)
    f = 2 * precision * recall / np.maximum(precision + recall, 1e-300)
    best = int(np.argmax(f))
    assert summary["average_precision"] == pytest.approx(average_precision_score(labels, scores), abs=1e-9)
    assert summary["auc_roc"] == pytest.approx(roc_auc_score(labels, scores), abs=1e-9)
    found = [summary[f"ods_{key}"] for key in ("f", "precision", "recall", "threshold")]
    assert found == pytest.approx([f[best], precision[best], recall[best], thresholds[best]], abs=1e-9)


def test_the_summary_does_not_depend_on_how_much_fits_in_memory(folders, monkeypatch):
    whole = evaluate(*folders[:2])
    for at_once in (1000, 40_000):
        monkeypatch.setattr(pooling, "SCORES_AT_ONCE", at_once)
        by_range = evaluate(*folders[:2])
        assert dict(by_range.summary) == dict(whole.summary)
        assert by_range.reduced == whole.reduced


def test_a_perfect_method_wins_although_its_scores_are_many():
    rng = np.random.default_rng(0)
    perfect, poor = {}, {}
    for k in range(12):
        labels = rng.random((120, 120)) < 0.2
        perfect[str(k)] = count(labels, labels / 2 + rng.random(labels.shape) * 0.4999)
        poor[str(k)] = count(labels, np.round(rng.random(labels.shape) * 0.4 + labels * 0.1, 2))
    comparison = compare({"perfect": perfect, "poor": poor}, replicates=50)
    row = next(row for row in comparison.differences if row.metric == "ods_f")
    assert (row.estimate_a, row.wins, row.ties, row.losses) == (1.0, 12, 0, 0)


class TestResultsFile:
    def test_packed_counts_are_smaller_than_the_predictions(self, folders):
        gt, pred, *_ = folders
        counts = evaluate(gt, pred).counts
        assert all(len(encode(counts[path.stem])) < 0.75 * path.stat().st_size for path in pred.iterdir())

    @pytest.mark.parametrize("at_once", [50_000, 2**24])
    def test_it_keeps_a_reduced_curve_and_what_the_summary_is_computed_from(
        self, folders, tmp_path, monkeypatch, at_once
    ):
        monkeypatch.setattr(pooling, "SCORES_AT_ONCE", at_once)
        result = evaluate(*folders[:2], results=tmp_path / "r.segbench")
        monkeypatch.setattr("segbench.curves.pooled.ScorePool", None)  # nothing is pooled again
        (again,) = load_results(tmp_path / "r.segbench")
        assert dict(again.summary) == dict(result.summary)
        assert again.summary.optimistic == result.summary.optimistic
        assert again.reduced == result.reduced
        assert "scores" in again.drawn.threshold_source
        segbench.plot_pr(again)

    def test_what_it_keeps_is_not_that_of_other_images(self, folders, tmp_path):
        gt, pred, *_ = folders
        evaluate(gt, pred, results=tmp_path / "r.segbench")
        np.save(pred / "0.npy", np.load(pred / "0.npy") / 2)
        changed = evaluate(gt, pred, results=tmp_path / "r.segbench")
        (again,) = load_results(tmp_path / "r.segbench")
        assert dict(again.summary) == dict(changed.summary)

    def test_a_merged_file_keeps_it_too(self, folders, tmp_path):
        gt, pred, *_ = folders
        result = evaluate(gt, pred, results=tmp_path / "r.segbench")
        (merged,) = segbench.merge_results([tmp_path / "r.segbench"], tmp_path / "m.segbench")
        assert merged.kept is not None
        assert dict(merged.summary) == dict(result.summary)

    def test_a_comparison_takes_the_pool_from_it(self, folders, tmp_path, monkeypatch):
        gt, pred, *_ = folders
        other = tmp_path / "other"
        other.mkdir()
        for path in pred.iterdir():
            np.save(other / path.name, np.load(path) + np.random.default_rng(0).normal(size=(150, 160)))
        fresh = [evaluate(gt, folder, results=tmp_path / "r.segbench") for folder in (pred, other)]
        pooled_anew = compare(fresh, replicates=20)
        assert pooled_anew.differences
        monkeypatch.setattr("segbench.curves.pooled.ScorePool", None)  # nothing is pooled again
        again = compare(load_results(tmp_path / "r.segbench"), replicates=20)
        assert str(again.differences) == str(pooled_anew.differences)

    @pytest.mark.parametrize(
        "change",
        [
            "numbers = replace(numbers, 'ods', 'odd')",
            "numbers = replace(numbers, '0.', '1.')",
            "numbers = 7",
            "counts = (SELECT counts FROM images LIMIT 1)",
            "counts = x'00'",
            "digest = 'no'",
        ],
    )
    def test_what_was_changed_is_derived_again(self, folders, tmp_path, change):
        file = tmp_path / "r.segbench"
        result = evaluate(*folders[:2], results=file)
        with closing(sqlite3.connect(file)) as database, database:
            database.execute(f"UPDATE pooled SET {change}")  # noqa: S608  of this list
        (again,) = load_results(file)
        assert dict(again.summary) == dict(result.summary)
        assert again.reduced == result.reduced

    @pytest.mark.parametrize(
        "changed",
        [
            {"ods": [5]},
            {"ods": 5},
            {"areas": None},
            {"areas": {"auc_roc": 0.5}},
            {"f": ["high"]},
            {"ois": [[1, 2, 3, 4]]},
            {"images with positives": [None]},
        ],
    )
    def test_forged_numbers_are_damage(self, folders, tmp_path, segbench, changed):
        file = tmp_path / "r.segbench"
        result = evaluate(*folders[:2], results=file)
        with closing(sqlite3.connect(file)) as database, database:
            numbers, counts = database.execute("SELECT numbers, counts FROM pooled").fetchone()
            forged = json.dumps(json.loads(numbers) | changed)
            database.execute("UPDATE pooled SET numbers = ?, digest = ?", (forged, result.digest_of(forged, counts)))
        answer = segbench("show", file)
        assert answer.code == 1
        assert (answer.error.kind, answer.error.path, answer.error.values["run"]) == ("damaged-run", str(file), "net")
        assert answer.error.values["reason"].kind == "damaged-counts"


def test_what_is_listed_by_threshold_says_that_thresholds_were_chosen(folders, tmp_path):
    evaluate(*folders[:2], results=tmp_path / "r.segbench")
    (loaded,) = load_results(tmp_path / "r.segbench")
    for result in (evaluate(*folders[:2]), loaded):
        note = threshold_table([result]).notes[0]
        assert (note.kind, note.values["points"]) == ("some-thresholds", f", at {result.chosen_points}")
        assert result.chosen_points.startswith(f"{result.reduced.scores.size} of ")
        (run,) = json.loads(json_document([result], TableSettings(rows="threshold")))["runs"]
        (note,) = (note for note in run["notes"] if note["kind"] == "chosen-points")
        assert note["values"] == {"points": result.chosen_points}


def test_of_very_many_images_the_same_follows_from_what_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("segbench.protocols.pixels.metrics._MANY_IMAGES", 1)
    gt, pred = write_papers(tmp_path)
    file = tmp_path / "r.segbench"
    counted = evaluate(gt, pred, results=file)
    evaluate(gt, gt, method="masks", results=file)
    loaded, masks = load_results(file)
    assert loaded.kept
    assert dict(loaded.summary) == dict(counted.summary)
    assert loaded.chosen_points == ""
    assert loaded.curve.area == counted.curve.area
    assert str(loaded.intervals(replicates=50)) == str(counted.intervals(replicates=50))
    assert str(masks.summary) == str(evaluate(gt, gt).summary)
    monkeypatch.undo()
    plain = compare([counted, evaluate(gt, gt, method="masks")], replicates=50)
    assert str(compare([loaded, masks], replicates=50)) == str(plain)


def test_a_metric_that_is_added_later_is_measured_of_what_was_kept_before(folders, tmp_path, monkeypatch):
    evaluate(*folders[:2], results=tmp_path / "r.segbench")
    added = (*metrics.METRICS, Metric(key="specificity", range=(0, 1), image_key="specificity"))
    formulas = metrics.PixelTable.formulas
    monkeypatch.setattr(metrics, "METRICS", added)
    monkeypatch.setattr(metrics.PixelTable, "metrics", added)
    monkeypatch.setattr(
        metrics.PixelTable, "formulas", lambda self, of: {**formulas(self, of), "specificity": of["best"].specificity}
    )
    (stored,) = load_results(tmp_path / "r.segbench")
    assert stored.kept is not None
    assert "specificity" in stored.summary
    assert dict(stored.summary) == dict(evaluate(*folders[:2]).summary)
