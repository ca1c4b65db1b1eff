import re

import numpy as np
import pytest
from methods import write_methods
from refusing import refused

from segbench import (
    ArgumentError,
    Boundaries,
    DataError,
    FailedImages,
    Pixels,
    Thresholds,
    evaluate,
    load_results,
    tuned_thresholds,
)


@pytest.fixture
def sets(tmp_path):
    return [write_methods(tmp_path / name, {"a": 1.5}, images=count) for name, count in (("tune", 4), ("test", 3))]


def test_thresholds_name_the_set_they_were_chosen_on(sets):
    tuning = evaluate(*sets[0])
    thresholds = tuned_thresholds(tuning)
    assert thresholds.source == f"tuning set of 4 images, data {tuning.data}"
    signed = tuning.with_thresholds(thresholds).settings["thresholds"]
    assert re.fullmatch(rf"{thresholds.source}, thresholds [0-9a-f]{{8}}", signed)


def test_the_curve_is_that_of_images_cut_at_the_thresholds(sets):
    thresholds = tuned_thresholds(evaluate(*sets[0]))
    plain, tuned = evaluate(*sets[1]), evaluate(*sets[1], thresholds=thresholds)
    assert tuned.pooled == plain.pooled.at(thresholds)
    assert tuned.counts == plain.counts  # measuring otherwise changes no counts
    assert tuned.curve.threshold_source == thresholds.source
    assert not tuned.curve.optimistic
    assert tuned.summary["auc_pr"] <= plain.summary["auc_pr_achievable"]


def test_other_thresholds_of_one_source_replace_those_kept(sets, tmp_path):
    kept = tmp_path / "r.segbench"
    for values in ([0.5], [0.25]):
        evaluate(*sets[1], thresholds=Thresholds(values, "by hand"), results=kept)
    (run,) = load_results(kept)
    assert run.pooled.scores.tolist() == [0.25, -np.inf]


def test_metrics_at_fixed_thresholds_are_measured_on_all_scores(sets):
    thresholds = tuned_thresholds(evaluate(*sets[0]))
    settings = Pixels(at=0.3, calibration=True)
    tuned, plain = (evaluate(*sets[1], settings, thresholds=cut) for cut in (thresholds, None))
    keys = [key for key in plain.summary if "@" in key or key in ("brier", "ece", "mce", "ace")]
    assert [tuned.summary[key] for key in keys] == [plain.summary[key] for key in keys]
    assert tuned.summary["auc_pr"] != plain.summary["auc_pr"]


def test_boundaries_have_no_scores_to_tune(sets):
    with refused("other-protocol", ArgumentError, protocol="boundaries"):
        tuned_thresholds(evaluate(*sets[0], Boundaries(thresholds=2)))


def test_a_tuning_set_with_failed_images_is_refused(sets):
    next(sets[0][1].iterdir()).write_bytes(b"no picture")
    with pytest.warns(FailedImages):
        tuning = evaluate(*sets[0])
    with refused("failed-images", DataError, path="tuning set", failed=1):
        tuned_thresholds(tuning)


def test_a_tuned_result_that_found_no_threshold_is_refused(sets):
    tuned = evaluate(*sets[0], thresholds=Thresholds([9.0], "too high"))
    with refused("no-finite-threshold", ArgumentError):
        tuned_thresholds(tuned)
