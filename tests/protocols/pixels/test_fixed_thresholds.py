"""Pixels at fixed thresholds: `Pixels(at=...)` and ``--at``."""

import json
import math

import numpy as np
import pytest
from methods import write_methods
from refusing import refused

import segbench
from segbench import ArgumentError, Pixels, ScoreCounts

KEYS = ("precision", "recall", "f", "iou", "specificity", "accuracy", "mcc")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return write_methods(tmp_path_factory.mktemp("data"), {"one": 0.5, "two": 2}, images=6, shape=(20, 31))


def same(value, expected):
    return value == pytest.approx(expected, rel=1e-12, abs=1e-12, nan_ok=True)


def test_they_are_those_of_the_operating_point_pooled_and_image_by_image(folders):
    gt, one, _ = folders
    result = segbench.evaluate(gt, one, Pixels(at=(0.7, 0.25)))
    plain = segbench.evaluate(gt, one)
    for threshold in (0.25, 0.7):
        for counts, values in [
            (result.pooled, result.summary),
            *zip(result.counts.values(), result.per_image.values(), strict=True),
        ]:
            point = counts.operating_point(threshold)
            assert all(same(values[f"{key}@{threshold:g}"], getattr(point, key)) for key in KEYS)
    assert {key: value for key, value in result.summary.items() if "@" not in key} == dict(plain.summary)
    assert "at:0.25,0.7" in result.signature
    assert "at:" not in plain.signature


def test_a_drawing_by_hand():
    counts = segbench.count([1, 1, 1, 0, 0, 0, 0, 0], [0.9, 0.5, 0.4, 0.6, 0.4, 0.3, 0.2, 0.1])
    summary = Pixels(at=(0.5, 2.0)).table({"image": counts}).summary()
    hand = {"precision": 2 / 3, "recall": 2 / 3, "f": 2 / 3, "iou": 1 / 2, "specificity": 4 / 5, "accuracy": 6 / 8}
    assert all(same(summary[f"{key}@0.5"], value) for key, value in hand.items())
    assert same(summary["mcc@0.5"], (2 * 4 - 1) / math.sqrt(3 * 3 * 5 * 5))
    assert (summary["recall@2"], summary["f@2"], summary["specificity@2"]) == (0, 0, 1)
    assert summary.undefined["precision@2"].kind == "none-predicted"
    assert summary.undefined["mcc@2"].kind == "predicted-alike"


def test_means_over_images_stand_beside_pooled_values(folders):
    gt, one, _ = folders
    result = segbench.evaluate(gt, one, Pixels(at=(0.25, 0.7)))
    for threshold in (0.25, 0.7):
        for key in KEYS:
            of_images = [image[f"{key}@{threshold:g}"] for image in result.per_image.values()]
            mean = result.summary[f"mean_image_{key}@{threshold:g}"]
            assert (
                mean == math.fsum(value for value in of_images if not math.isnan(value)) / np.isfinite(of_images).sum()
            )
    table = result.table
    again = table.score(np.asarray(table.rows.sum(axis=0)).reshape(1, -1))[0]
    np.testing.assert_allclose(again, table.estimates, rtol=1e-12)


def test_images_without_a_metric_are_in_no_mean():
    images = {"a": ScoreCounts([0.9, 0.1], [2, 1], [1, 0]), "b": ScoreCounts([0.9, 0.1], [0, 0], [1, 3])}
    images["c"] = ScoreCounts([0.4, 0.1], [1, 0], [0, 3])
    summary = Pixels(at=(0.5, 2)).table(images).summary()
    assert summary["mean_image_recall@0.5"] == pytest.approx((2 / 3 + 0) / 2, abs=1e-10)
    assert summary["mean_image_precision@0.5"] == pytest.approx((2 / 3 + 0) / 2, abs=1e-10)  # c predicts nothing
    assert summary["mean_image_accuracy@0.5"] == pytest.approx((2 / 4 + 3 / 4 + 3 / 4) / 3, abs=1e-10)
    reason = summary.undefined["mean_image_precision@2"]
    assert (reason.kind, reason.values) == ("undefined-everywhere", {"of": "image"})
    pooled = Pixels(at=(0.5,)).table({}, rest=images["a"]).summary()
    assert pooled["f@0.5"] == 2 / 3
    assert pooled.undefined["mean_image_f@0.5"].kind == "unnamed"


def test_without_positives_specificity_and_accuracy_are_known():
    summary = Pixels(at=(0.5,)).table({"image": ScoreCounts([0.9, 0.1], [0, 0], [1, 3])}).summary()
    assert (summary["specificity@0.5"], summary["accuracy@0.5"], summary["precision@0.5"]) == (0.75, 0.75, 0)
    assert math.isnan(summary["f@0.5"])


def test_masks_have_them_at_the_mask():
    counts = ScoreCounts([1.0, 0.0], [3, 1], [1, 5])
    summary = Pixels(at=(0.5,)).table({"a": counts, "b": counts}).summary()
    assert summary["f@0.5"] == summary["ods_f"] == 0.75


def test_resamples_and_comparisons_hold_them(folders):
    gt, one, two = folders
    protocol = Pixels(at=(0.5,))
    results = [segbench.evaluate(gt, method, protocol) for method in (one, two)]
    low, high = results[0].intervals(replicates=200)["f@0.5"]
    assert low <= results[0].summary["f@0.5"] <= high
    comparison = segbench.compare_results(results, replicates=50)
    (row,) = (row for row in comparison.differences if row.metric == "iou@0.5")
    assert same(row.difference, results[0].summary["iou@0.5"] - results[1].summary["iou@0.5"])


def test_on_the_command_line(folders, segbench):
    gt, one, _ = folders
    runs = json.loads(segbench("pixels", gt, one, "--at", "0.5", "--format", "json").out)["runs"]
    assert 0 < runs[0]["summary"]["mcc@0.5"] < 1
    assert segbench("pixels", gt, one, "--at", "half").code == 2


@pytest.mark.parametrize("wrong", [{"at": ("half",)}, {"quantize": 9}, {"at": (math.nan,)}])
def test_wrong_settings_are_refused(wrong):
    with refused("wrong-value", ArgumentError, settings=dict.fromkeys(wrong)):
        Pixels(**wrong)


@pytest.mark.parametrize(
    ("scores", "kind", "values"),
    [
        ([-3.0, -1.5, 2.0], "other-scale", {"lowest": "-3.0000", "highest": "2.0000"}),
        ([3.0, 150.0, 0.25], "other-scale", {"lowest": ".2500", "highest": "150.0000"}),
        ([-1.0, -0.2, 1.0], "other-scale", {"lowest": "-1.0000", "highest": "1.0000"}),
        ([-0.2, 0.6, 1.0], None, {}),
        ([-0.05, 0.6, 1.0], None, {}),
        ([-3.0, -1.5, 0.25], "above-all-scores", {"highest": ".2500"}),
        ([3.0, 1.5, 0.5], "below-all-scores", {"lowest": ".5000"}),
        (np.array([0, 1, 1], np.uint8), "above-all-scores", {"highest": ".0039"}),
    ],
)
def test_a_threshold_outside_the_scores_is_noted(scores, kind, values):
    counts = segbench.count([0, 1, 1], scores)
    table = segbench.Pixels(at=(0.5,)).table({"a": counts})
    found = [(note.kind, note.values) for note in table.notes if "at" in note.values]
    assert found == ([(kind, {"at": 0.5} | values)] if kind else [])
