"""Identities on the demo's images, one side recomputed in whole numbers, by brute force or by hand."""

import math
from fractions import Fraction
from functools import reduce
from operator import add
from pathlib import Path

import numpy as np
import pytest

import segbench as sb

DEMO = Path(__file__).parents[2] / "datasets" / "demo"
OBJECTS, EDGES = DEMO / "objects", DEMO / "edges"
RUNS = {
    "pixels": (OBJECTS / "ground_truth", OBJECTS / "predictions" / "soft_otsu", sb.Pixels(), "*"),
    "boundaries": (EDGES / "ground_truth", EDGES / "predictions" / "gradient", sb.Boundaries(thresholds=9), "*.#"),
    # Any image of whole numbers is a label map: here each grey level is a region.
    "regions": (OBJECTS / "ground_truth", OBJECTS / "predictions" / "border_colours", sb.Regions(), "*"),
}


@pytest.fixture(scope="module", params=sorted(path.name for path in (OBJECTS / "predictions").iterdir()))
def counts(request):
    return sb.evaluate(OBJECTS / "ground_truth", OBJECTS / "predictions" / request.param).pooled


def steps(counts):
    return zip(counts.positives.tolist(), counts.negatives.tolist(), strict=True)


def test_auc_roc_is_the_wilcoxon_mann_whitney_statistic(counts):
    twice, below = 0, counts.total_negatives
    for positives, negatives in steps(counts):
        below -= negatives
        twice += positives * (2 * below + negatives)
    share = Fraction(twice, 2 * counts.total_positives * counts.total_negatives)
    assert sb.auc_roc(counts) == pytest.approx(float(share), rel=0, abs=1e-12)


def test_average_precision_is_the_sum_of_its_steps(counts):
    area, tp, fp = Fraction(0), 0, 0
    for positives, negatives in steps(counts):
        tp, fp = tp + positives, fp + negatives
        area += positives * Fraction(tp, tp + fp)
    assert sb.average_precision(counts) == pytest.approx(float(area / counts.total_positives), rel=0, abs=1e-12)


def test_auc_pr_is_an_integral(counts):
    curve = sb.pr_curve(counts)
    tp = (np.arange(1_000_000) + 0.5) / 1_000_000 * curve.positives
    assert np.mean(tp / (tp + np.interp(tp, curve.tp, curve.fp))) == pytest.approx(sb.auc_pr(counts), rel=0, abs=1e-7)


def test_auc_pr_stays_when_every_pixel_stands_for_a_thousand(counts):
    many = sb.ScoreCounts(counts.scores, counts.positives * 1000, counts.negatives * 1000)
    assert sb.auc_pr(many) == pytest.approx(sb.auc_pr(counts), rel=0, abs=1e-12)


def test_the_best_f_lies_on_the_hull(counts):
    def best(curve):
        points = zip(curve.tp.tolist(), curve.fp.tolist(), strict=True)
        return max(Fraction(2 * tp, curve.positives + tp + fp) for tp, fp in points)

    assert best(sb.roc_hull(counts)) == best(sb.pr_curve(counts))


def test_pooled_ois_may_lie_below_ods():
    # Each image at its own best threshold pools below one threshold for both: OIS >= ODS is no law.
    images = {
        "a": (np.array([0, 1, 0]), np.array([0.0, 0.0, 1.0])),
        "b": (np.array([0, 1, 1]), np.array([0.0, 3.0, 3.0])),
    }
    summary = sb.evaluate({name: (labels[None], scores[None]) for name, (labels, scores) in images.items()}).summary
    assert (summary["ods_f"], summary["ois_f"]) == (pytest.approx(0.8), pytest.approx(0.75))


@pytest.mark.parametrize("name", RUNS)
def test_orders_and_groups_change_no_bit(name):
    *folders, protocol, pattern = RUNS[name]
    result = sb.evaluate(*folders, protocol, gt_pattern=pattern)
    every = list(result.counts.values())
    pool = protocol.counts.sum
    halves = pool(every[0::2]), pool(every[1::2])
    assert all(
        one == pool(every) for one in (pool(every[::-1]), reduce(add, every), pool(halves), halves[1] + halves[0])
    )
    backwards = protocol.table(dict(reversed(list(result.counts.items())))).summary()
    for key, value in result.summary.items():
        assert value == backwards[key] or (math.isnan(value) and math.isnan(backwards[key]))


@pytest.mark.parametrize(
    ("folder", "protocol", "pattern", "perfect"),
    [
        (OBJECTS, sb.Pixels(), "*", {"ods_f": 1, "iou": 1, "mean_image_f": 1}),
        (EDGES, sb.Boundaries(thresholds=1, thin=False), "*.1", {"ods_f": 1, "ois_f": 1}),
        (OBJECTS, sb.Regions(), "*", {"covering_ods": 1, "pri_ods": 1, "voi_ods": 0}),
    ],
    ids=["pixels", "boundaries", "regions"],
)
def test_the_ground_truth_as_its_own_prediction_is_perfect(folder, protocol, pattern, perfect):
    truth = folder / "ground_truth"
    summary = sb.evaluate(truth, truth, protocol, gt_pattern=pattern, pred_pattern=pattern).summary
    assert {key: summary[key] for key in perfect} == perfect
