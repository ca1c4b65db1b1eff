"""Intervals hold what they promise, in small simulations; `scripts/checks/check_statistics.py` has the large ones."""

from dataclasses import replace

import numpy as np
import pytest
from checks.check_statistics import POPULATIONS, simulate
from scipy import stats
from scipy.special import expit, logit

import segbench
from segbench import LabelCounts, ScoreCounts


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


def of_curves(sums):
    """Metrics of sums of rows: TP and FP from the highest level down, and those of each image at its own best F."""
    tp, fp = np.hsplit(sums[:, :-3], 2)
    own_tp, own_fp, positives = sums[:, -3:].T
    found, false = (np.insert(part, 0, 0, axis=1) for part in (tp, fp))
    return {
        "ods_f": (2 * tp / (positives[:, None] + tp + fp)).max(1),
        "auc_roc": (np.diff(false) * (found[:, 1:] + found[:, :-1])).sum(1) / 2 / positives / fp[:, -1],
        "average_precision": (np.diff(found) * tp / (tp + fp)).sum(1) / positives,
        "ois_f": 2 * own_tp / (positives + own_tp + own_fp),
    }


def of_labels(sums):
    """Metrics of confusion matrices."""
    matrix = sums.reshape(-1, 3, 3)
    found = np.diagonal(matrix, axis1=1, axis2=2)
    iou = found / (matrix.sum(1) + matrix.sum(2) - found)
    return {"miou": iou.mean(1), "pixel_accuracy": found.sum(1) / matrix.sum((1, 2))}


def curves(rng, sizes):
    """Counts of images at 12 levels, and their rows."""
    tp, fp = (
        np.array([rng.multinomial(times * size, rng.dirichlet(shape)) for size in sizes]).cumsum(1)
        for times, shape in ((1, np.linspace(6, 1, 12)), (4, np.linspace(1, 6, 12)))
    )
    at = np.arange(len(sizes)), (2 * tp / (sizes[:, None] + tp + fp)).argmax(1)
    levels = np.arange(12)[::-1]
    counts = [ScoreCounts(levels, *np.diff(pair, axis=1, prepend=0)) for pair in zip(tp, fp, strict=True)]
    return counts, np.column_stack([tp, fp, tp[at], fp[at], sizes]).astype(float)


def labels(rng, sizes):
    """Counts of images of three classes, a third of the pixels each, and their confusion matrices as rows."""
    matrices = np.array(
        [[rng.multinomial(size // 3, rng.dirichlet(1 + 5 * row)) for row in np.eye(3)] for size in sizes]
    )
    counts = [LabelCounts("0-2", np.pad(matrix, ((0, 0), (0, 1)))) for matrix in matrices]
    return counts, matrices.reshape(len(sizes), -1).astype(float)


@pytest.mark.parametrize(("draw", "metrics"), [(curves, of_curves), (labels, of_labels)])
@pytest.mark.parametrize("images", [7, 40])
class TestTheRule:
    """The rule in NumPy and SciPy alone: pseudo-values, effective number of images, kurtosis and logits."""

    def methods(self, draw, metrics, images):
        """Counts of two methods, their metrics with pseudo-values, and e - 1."""
        rng = np.random.default_rng(images)
        sizes = 3 * rng.integers(5, 60, images)
        methods, found = {}, {}
        for name in "ab":
            counts, rows = draw(rng, sizes)
            methods[name] = {f"{k:02}": one for k, one in enumerate(counts)}
            whole, without = metrics(rows.sum(0)[None]), metrics(rows.sum(0) - rows)
            pseudo = {key: images * whole[key] - (images - 1) * without[key] for key in whole}
            found[name] = {key: (whole[key][0], pseudo[key]) for key in whole}
        return methods, found, np.clip(sizes.sum() ** 2 / (sizes**2).sum() - 1, 2, images - 1)

    def test_of_own_intervals(self, draw, metrics, images):
        methods, expected, effective = self.methods(draw, metrics, images)
        found = segbench.intervals(methods["a"])
        for key, (estimate, pseudo) in expected["a"].items():
            freedom = np.clip(2 * images / (stats.kurtosis(pseudo, fisher=False) - 1), 2, effective)
            reach = stats.t.ppf(0.975, freedom) * stats.sem(pseudo) / (estimate * (1 - estimate))
            ends = expit(np.array([logit(estimate) - reach, logit(estimate) + reach]))
            assert found[key] == pytest.approx(tuple(ends), abs=1e-12), key

    def test_of_differences(self, draw, metrics, images):
        methods, expected, effective = self.methods(draw, metrics, images)
        comparison = segbench.compare(methods)
        for key, (estimate, pseudo) in expected["a"].items():
            other, other_pseudo = expected["b"][key]
            (found,) = comparison.rows(key)
            error, difference = stats.sem(pseudo - other_pseudo), estimate - other
            reach = stats.t.ppf(0.975, effective) * error
            p = 2 * stats.t.sf(abs(difference) / error, effective)
            expected_row = (difference - reach, difference + reach, p)
            assert (found.low, found.high, found.p_value) == pytest.approx(expected_row, abs=1e-12), key
