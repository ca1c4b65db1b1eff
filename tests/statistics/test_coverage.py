"""Intervals hold what they promise, in small simulations; `scripts/checks/check_statistics.py` has the large ones."""

from dataclasses import replace

import numpy as np
import pytest
from checks.check_statistics import POPULATIONS, simulate

import segbench


@pytest.fixture(scope="module")
def simulated():
    population = replace(POPULATIONS["paired"], size=800)
    images = population.images()
    tables = [population.protocol.table({str(k): counts for k, counts in enumerate(each)}) for each in images]
    truth = np.array([table.estimates for table in tables])
    return simulate(population, truth, images, 10, repeats=100, replicates=1, own=False)


@pytest.mark.parametrize("metric", ["ods_f", "ois_f", "auc_roc", "average_precision", "mean_image_f"])
class TestTenImages:
    def test_own_intervals_hold_the_metric_of_the_population(self, simulated, metric):
        assert simulated.share(metric, "held") > 0.9  # quantiles of resamples: .85

    def test_equally_good_methods_are_seldom_told_apart(self, simulated, metric):
        assert 0 < simulated.share(metric, "equal_rejected") < 0.1

    def test_intervals_and_p_values_agree(self, simulated, metric):
        assert not simulated.values(metric, "contradictions").any()


@pytest.mark.parametrize(
    ("name", "jump"),
    [
        ("paired", {"ods_recall", "fpr_at_95_tpr"}),
        ("rare_classes", {"miou_images_5", "miou_classes_5"}),
        ("saliency_24", {"f_max_threshold"}),
        ("boundaries_24", set()),
        ("regions_24", {"covering_of_prediction", "pri_ods_threshold"}),
    ],
)
def test_metrics_whose_quantiles_seldom_hold_them_have_no_interval(name, jump):
    population = replace(POPULATIONS[name], size=30)
    images = {str(k): counts for k, counts in enumerate(population.images()[0])}
    undefined = segbench.intervals(population.protocol.table(images), replicates=50).undefined
    assert {key for key, reason in undefined.items() if "it jumps" in reason} == jump


@pytest.mark.parametrize(("name", "has_one"), [("calibrated", False), ("probabilities_1.4", True)])
def test_calibration_errors_have_an_interval_where_they_are_more_than_chance(name, has_one):
    population = replace(POPULATIONS[name], size=40)
    images = {str(k): counts for k, counts in enumerate(population.images()[0])}
    found = segbench.intervals(population.protocol.table(images))
    assert np.isfinite(found["ece"]).all() == has_one
    assert ("6 standard errors" in found.undefined.get("ece", "")) != has_one
