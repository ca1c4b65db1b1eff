"""Correctness, completeness and quality of roads within a buffer."""

import math

import numpy as np
import pytest
from scipy import ndimage

from segbench import Contours, count

KEYS = ("buffer_precision@2", "buffer_recall@2", "buffer_quality@2")
CROSS = ndimage.generate_binary_structure(2, 1)


def peer(truth, predicted, tolerance):
    """Compute the metrics of a pair by distance transforms of the contours."""
    contours = [mask & ~ndimage.binary_erosion(mask, CROSS) for mask in (truth, predicted)]
    true, right = contours
    if not true.any() and not right.any():
        return [math.nan] * 3
    if not true.any() or not right.any():
        return [0.0 if right.any() else math.nan, 0.0 if true.any() else math.nan, 0.0]
    distances = [ndimage.distance_transform_edt(~contour) for contour in contours]
    found = np.count_nonzero(distances[1][true] <= tolerance)
    hits = np.count_nonzero(distances[0][right] <= tolerance)
    return [hits / right.sum(), found / true.sum(), hits / (right.sum() + true.sum() - found)]


def drawn_pair(rng):
    """Draw roads: lines of one pixel, some of which are shifted, lost or added; sometimes none."""
    truth, predicted = np.zeros((2, 24, 30), bool)
    for line in rng.choice(24, rng.integers(0, 4), replace=False):
        truth[line, : rng.integers(1, 30)] = True
        if rng.random() < 0.8:
            predicted[np.clip(line + rng.integers(-4, 5), 0, 23), rng.integers(0, 10) :] = True
    predicted[:, 7] |= rng.random() < 0.2
    return truth, predicted


def test_a_drawing_worked_by_hand():
    road, predicted = np.zeros((2, 20, 30), bool)
    road[10, :20] = True
    predicted[12, 10:25] = True  # of 15 pixels, 10 lie two rows below the road; 5 are farther, as are 10 of the road
    metrics = count(road, predicted, Contours(nsd=2)).metrics()
    assert [metrics[key] for key in KEYS] == [10 / 15, 10 / 20, 10 / 25]


@pytest.mark.parametrize("seed", range(40))
def test_pair_by_pair(seed):
    rng = np.random.default_rng(seed)
    pairs = [drawn_pair(rng) for _ in range(3)]
    tolerance = float(rng.choice([0, 1, 1.5, 2, 3]))
    protocol = Contours(nsd=tolerance)
    table = protocol.table({str(number): count(*pair, protocol) for number, pair in enumerate(pairs)})
    expected = np.array([peer(*pair, tolerance) for pair in pairs])
    summary = table.summary()
    for key, values in zip(KEYS, expected.T, strict=True):
        defined = values[~np.isnan(values)]
        mean = defined.mean() if defined.size else math.nan
        assert summary[key.replace("@2", f"@{tolerance:g}")] == pytest.approx(mean, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize(
    ("empty", "expected"),
    [("prediction", [math.nan, 0, 0]), ("ground truth", [0, math.nan, 0]), ("both", [math.nan] * 3)],
)
def test_empty_masks(empty, expected):
    line = np.eye(4, dtype=bool)
    truth, predicted = (line & (empty not in (side, "both")) for side in ("ground truth", "prediction"))
    counts = count(truth, predicted, "contours")
    assert [counts.metrics()[key] for key in KEYS] == pytest.approx(expected, nan_ok=True)
    if empty == "both":
        assert [counts.metrics(Contours(empty="diagonal"))[key] for key in KEYS] == [1, 1, 1]


def test_volumes_have_none():
    volume = np.zeros((3, 4, 5), bool)
    volume[1, 1:3, 1:3] = True
    assert not [key for key in count(volume, volume, "contours").metrics() if key.startswith("buffer")]
