"""Simulations of intervals and tests give what they gave; `scripts/checks/check_statistics.py` has the large ones."""

import json
from pathlib import Path

import numpy as np
import populations
import pytest
from check_statistics import RARE, SMALL, first_p_values
from scipy.special import expit

import segbench

RECORDED = json.loads(Path(__file__).with_name("p_values.json").read_text())


@pytest.mark.parametrize("cell", SMALL)
def test_p_values_of_the_first_hundred_sets_are_those_recorded(cell):
    assert first_p_values(cell) == pytest.approx(RECORDED[cell], rel=1e-6, nan_ok=True)


def one_by_one(draw):
    """Draw 30 images of the first method, each counted from a drawing."""
    random = np.random.default_rng(0)
    return [draw(random)[0] for _ in range(30)]


def together(population, **options):
    """Draw 30 images of the first method."""
    return population(np.random.default_rng(0), np.arange(30), **options)[0]


@pytest.mark.parametrize(
    ("drawn", "jump"),
    [
        (together(populations.pixels), {"ods_recall", "fpr_at_95_tpr"}),
        (together(populations.classes, present=RARE), {"miou_images_5", "miou_classes_5"}),
        (together(populations.boundaries), set()),
        (one_by_one(populations.saliency_map), {"f_max_threshold"}),
        (one_by_one(populations.segmentation), {"covering_of_prediction", "pri_ods_threshold"}),
    ],
    ids=["pixels", "labels", "boundaries", "saliency", "regions"],
)
def test_metrics_whose_quantiles_seldom_hold_them_have_no_interval(drawn, jump):
    images = {str(image): counts for image, counts in enumerate(drawn)}
    undefined = segbench.intervals(images, replicates=50).undefined
    assert {key for key, reason in undefined.items() if reason.kind == "jumps"} == jump


def probabilities(slope, offset):
    """Draw 40 maps of probabilities whose log odds are too large by a factor, with an offset of each image."""
    random, images = np.random.default_rng(0), {}
    for image in range(40):
        odds = random.normal(-0.5, 1.5, int(np.exp(random.normal(6, 0.7))) + 10)
        truth = random.random(odds.size) < expit(odds + offset * random.normal(0, 0.3))
        level = (expit(slope * (odds + offset * random.normal(0, 0.2))) * 256).astype(int)
        positives, negatives = (np.bincount(level[part], minlength=256)[::-1] for part in (truth, ~truth))
        images[str(image)] = segbench.ScoreCounts((np.arange(256)[::-1] + 0.5) / 256, positives, negatives)
    return images


@pytest.mark.parametrize(("slope", "offset", "has_one"), [(1, 0, False), (1.4, 1, True)])
def test_calibration_errors_have_an_interval_where_they_are_more_than_chance(slope, offset, has_one):
    table = segbench.Pixels(calibration=True).table(probabilities(slope, offset))
    intervals = segbench.intervals(table)
    assert np.isfinite(intervals["ece"]).all() == has_one
    assert ("ece" in intervals.undefined and intervals.undefined["ece"].kind == "by-chance") != has_one
