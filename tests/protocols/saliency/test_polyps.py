"""Metrics of polyps: Dice, IoU, sensitivity and specificity over thresholds, as the code of PraNet has them."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose

from segbench import Saliency, count

AS_STORED = Saliency(positive=1, stretch=False)
KEYS = (
    *("mean_dice", "dice_max", "mean_iou", "iou_max"),
    *("sensitivity_mean", "specificity_mean", "specificity_max"),
)


def summary(images):
    return AS_STORED.table({str(number): count(*pair, AS_STORED) for number, pair in enumerate(images)}).summary()


def peer(images):
    """Compute the metrics of masks and maps of levels threshold by threshold, in fractions."""
    curves = {name: [Fraction(0)] * 256 for name in ("dice", "iou", "sensitivity", "specificity")}
    for truth, levels in images:
        for threshold in range(256):
            predicted = levels >= threshold
            tp = int(np.sum(predicted & truth))
            if tp:
                negatives = int(np.sum(~truth))
                union = int(np.sum(predicted | truth))
                tn = int(np.sum(~predicted & ~truth))
                curves["dice"][threshold] += Fraction(2 * tp, int(predicted.sum() + truth.sum()))
                curves["iou"][threshold] += Fraction(tp, union)
                curves["sensitivity"][threshold] += Fraction(tp, int(truth.sum()))
                curves["specificity"][threshold] += Fraction(tn, negatives) if negatives else 0
    means = {f"{name}_mean": float(sum(curve) / 256 / len(images)) for name, curve in curves.items()}
    maxima = {f"{name}_max": float(max(curve) / len(images)) for name, curve in curves.items()}
    values = means | maxima
    return {key: values[{"mean_dice": "dice_mean", "mean_iou": "iou_mean"}.get(key, key)] for key in KEYS}


def drawn_images(rng):
    """Draw masks and maps that agree more or less; some masks are empty or full, some maps miss the object."""
    images = []
    for _ in range(rng.integers(1, 6)):
        truth = rng.random((9, 11)) < rng.choice([0, 0.1, 0.4, 1])
        noise = rng.integers(0, 256, truth.shape)
        levels = np.where(rng.random(truth.shape) < 0.7, 200 * truth, noise)
        images.append((truth, (levels * (rng.random() < 0.9)).astype(np.uint8)))
    return images


def test_a_drawing_worked_by_hand():
    truth, levels = np.array([[True, True, False, False]]), np.array([[255, 51, 102, 0]], np.uint8)
    found = summary([(truth, levels)])
    # Everything is found at 0; three of four pixels up to 51; then one true and one false up to 102; then one true.
    steps = np.array([1, 51, 51, 153]) / 256
    assert_allclose(found["mean_dice"], steps @ [4 / 6, 4 / 5, 2 / 4, 2 / 3], atol=1e-12)
    assert_allclose(found["mean_iou"], steps @ [2 / 4, 2 / 3, 1 / 3, 1 / 2], atol=1e-12)
    assert_allclose([found["dice_max"], found["iou_max"]], [4 / 5, 2 / 3], atol=1e-12)
    assert_allclose(found["sensitivity_mean"], steps @ [1, 1, 1 / 2, 1 / 2], atol=1e-12)
    assert_allclose(found["specificity_mean"], steps @ [0, 1 / 2, 1 / 2, 1], atol=1e-12)
    assert found["specificity_max"] == 1


@pytest.mark.parametrize("seed", range(40))
def test_threshold_by_threshold(seed):
    images = drawn_images(np.random.default_rng(seed))
    found = summary(images)
    assert {key: found[key] for key in KEYS} == pytest.approx(peer(images), abs=1e-12)


def test_maxima_are_those_of_the_mean_curve():
    truth = np.array([[True, False]])
    images = [(truth, np.array([[255, 254]], np.uint8)), (truth, np.array([[100, 99]], np.uint8))]
    assert summary(images)["dice_max"] < 1 == min(summary([image])["dice_max"] for image in images)


def test_an_image_without_a_true_positive_is_0_everywhere():
    truth = np.eye(2, dtype=bool)
    found = summary([(truth, np.zeros((2, 2), np.uint8))])
    # At threshold 0 everything is predicted, and no negative is right.
    assert found["specificity_max"] == 0
    assert found["sensitivity_mean"] == pytest.approx(1 / 256)
    assert not any(summary([(~truth & truth, np.zeros((2, 2), np.uint8))])[key] for key in KEYS)
