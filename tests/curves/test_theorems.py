"""Identities on the demo's images, one side recomputed in whole numbers, by brute force or by hand."""

import math
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
