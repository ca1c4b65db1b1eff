"""Metrics of all images at once are those of each image alone."""

import numpy as np
import pytest

from segbench import Anomalies, Boundaries, Centerlines, Contours, Labels, Pixels, Regions, Saliency, evaluate

SOFT = {
    "pixels": Pixels(),
    "blocks": Pixels(at=(0.25, 0.5), calibration=True),
    "boundaries": Boundaries(thresholds=4, max_dist=0.05),
    "saliency": Saliency(positive=">=1"),
    "centerlines": Centerlines(thresholds=4),
    "anomalies": Anomalies(),
}
MAPS = {"labels": Labels(classes=2), "contours": Contours(), "regions": Regions()}


def noisy_masks():
    """Draw masks with noisy scores in [0, 1], the last without a positive pixel."""
    rng = np.random.default_rng(5)
    truths = [np.kron(rng.random((3, 4)) < 0.5, np.ones((5, 5))).astype(np.uint8) for _ in range(6)]
    truths[-1][:] = 0
    return {name: (truth, np.round((truth + rng.random(truth.shape)) / 2, 1)) for name, truth in enumerate(truths)}


def assert_alike(result):
    keys = [metric.image_key for metric in result.rules.metrics() if metric.image_key]
    assert keys
    for key in keys:
        np.testing.assert_array_equal(result.per_image.column(key), [one[key] for one in result.per_image.values()])


@pytest.mark.parametrize("protocol", SOFT.values(), ids=SOFT)
def test_of_soft_maps(protocol):
    assert_alike(evaluate({f"im{name}": pair for name, pair in noisy_masks().items()}, protocol=protocol))


@pytest.mark.parametrize("protocol", MAPS.values(), ids=MAPS)
def test_of_label_maps(protocol):
    pairs = {f"im{name}": (truth, (soft > 0.4).astype(np.uint8)) for name, (truth, soft) in noisy_masks().items()}
    assert_alike(evaluate(pairs, protocol=protocol))


def test_of_means_over_groups():
    result = evaluate({f"{name % 2}/{name}": pair for name, pair in noisy_masks().items()}, protocol="pixels")
    assert_alike(result.parts("group", "folder").mean)
