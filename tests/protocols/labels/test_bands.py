"""Bands along the borders between classes: left out, or counted alone."""

import json
import math

import imageio.v3 as iio
import numpy as np
import pytest
from refusing import insist, refused
from scipy.ndimage import distance_transform_edt

from segbench import Accumulator, ArgumentError, FailedImages, Labels, Repairs, count, evaluate

VOID = 255


def near(truth, radius, *, void=None, field=None, void_is_a_class=False):
    """Mark pixels near another class by a distance transform for each class."""
    known = np.ones(truth.shape, bool) if field is None else field
    if void is not None and not void_is_a_class:
        known = known & (truth != void)
    marked = np.zeros(truth.shape, bool)
    for label in np.unique(truth[known]):
        others = known & (truth != label)
        if others.any():
            marked |= known & (truth == label) & (distance_transform_edt(~others) <= radius)
    return marked


def peer(truth, predicted, classes, *, void_band=0, only_band=0, field=None):
    """Return the confusion matrix of an image, without predictions outside the classes."""
    if void_band:
        counted = ~near(truth, void_band, void=VOID, field=field)
    else:
        counted = near(truth, only_band, void=VOID, field=field, void_is_a_class=True)
    counted &= truth != VOID
    if field is not None:
        counted &= field
    pairs = truth[counted].astype(int) * classes + predicted[counted]
    return np.bincount(pairs, minlength=classes**2).reshape(classes, classes)


def drawn_maps(rng):
    """Draw label maps of blocks, some of them void, and predictions that are shifted and noisy."""
    classes = int(rng.integers(2, 6))
    blocks = rng.integers(0, classes, (5, 6))
    blocks[rng.random(blocks.shape) < rng.choice([0, 0.15])] = VOID
    blocks[0, :2] = 0, 1
    truth = np.kron(blocks, np.ones(rng.integers(3, 8, 2), int)).astype(np.uint8)
    predicted = np.roll(np.where(truth == VOID, 0, truth), rng.integers(-2, 3, 2), (0, 1))
    noise = rng.random(truth.shape) < 0.05
    predicted[noise] = rng.integers(0, classes, np.count_nonzero(noise))
    field = rng.random(truth.shape) < 0.95 if rng.random() < 0.3 else None
    radius = float(rng.choice([1, 1.5, 2, 3, 5, 40]))
    return truth, predicted.astype(np.uint8), classes, field, radius


def miou(matrix):
    union = matrix.sum(axis=0) + matrix.sum(axis=1) - np.diag(matrix)
    return float(np.mean(np.diag(matrix)[union > 0] / union[union > 0])) if union.any() else math.nan


def test_a_drawing_worked_by_hand():
    truth = np.array([[0, 0, 0, 1, 1, 1, 1]])
    wrong_in_the_middle = np.array([[0, 0, 1, 1, 1, 1, 0]])
    without = count(truth, wrong_in_the_middle, Labels(classes=2, void_band=1))
    assert without.matrix[:, :2].tolist() == [[2, 0], [1, 2]]  # without the two pixels beside the border
    assert without.ignored == 2
    alone = count(truth, wrong_in_the_middle, Labels(classes=2, only_band=1))
    assert alone.matrix[:, :2].tolist() == [[0, 1], [0, 1]]
    assert alone.metrics()["pixel_accuracy"] == 1 / 2


def test_distances_are_those_of_a_disk():
    truth = np.zeros((9, 9), np.uint8)
    truth[4, 4] = 1
    disk = count(truth, truth, Labels(classes=2, only_band=3))
    rows, columns = np.mgrid[-4:5, -4:5]
    assert disk.pixels == np.count_nonzero(rows**2 + columns**2 <= 9)
    assert count(truth, truth, Labels(classes=2, only_band=1.4)).pixels == 5
    assert count(truth, truth, Labels(classes=2, only_band=1.5)).pixels == 9  # the square root of 2 is less


def test_the_border_of_the_image_is_none():
    truth = np.zeros((5, 5), np.uint8)
    assert count(truth, truth, Labels(classes=2, void_band=3)).ignored == 0


def test_beside_void_there_is_a_band_where_it_counts_alone():
    truth = np.array([[0, 0, VOID, 1, 1, 1]])
    assert count(truth, truth, Labels(classes=2, void_band=1)).ignored == 1
    assert count(truth, truth, Labels(classes=2, void_band=2)).ignored == 3  # classes two pixels apart, across void
    assert count(truth, truth, Labels(classes=2, only_band=1)).pixels == 2


@pytest.mark.parametrize("seed", range(60))
def test_class_by_class(seed):
    truth, predicted, classes, field, radius = drawn_maps(np.random.default_rng(seed))
    for setting in ("void_band", "only_band"):
        counts = count(truth, predicted, Labels(classes=classes, **{setting: radius}), field)
        expected = peer(truth, predicted, classes, field=field, **{setting: radius})
        assert counts.matrix[:, :classes].tolist() == expected.tolist()
        assert counts.metrics()["miou"] == pytest.approx(miou(expected), abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("setting", ["void_band", "only_band"])
def test_masks_have_bands(setting):
    truth, predicted = np.zeros((2, 12, 14), np.uint8)
    truth[3:9, 4:11] = predicted[4:10, 4:10] = 1
    truth[0, :5] = VOID
    counts = count(truth, predicted, Labels(positive=1, void=VOID, **{setting: 2}))
    assert counts.matrix[:, :2].tolist() == peer(truth, predicted, 2, **{setting: 2}).tolist()


def test_values_are_replaced_before():
    truth = np.array([[7, 7, 8, 9, 9, 9]])
    protocol = Labels(classes=2, gt_map="7-8=0,9=1", pred_map="7-8=0,9=1", void_band=1)
    assert count(truth, truth, protocol).ignored == 2


def test_a_batch_is_counted_image_by_image():
    truth = np.zeros((3, 4, 5), np.uint8)
    truth[1] = 1
    assert count(truth, truth, Labels(classes=2, void_band=2)).ignored == 0


def test_settings_that_do_not_fit():
    with refused("exclusive-settings", ArgumentError):
        Labels(classes=2, void_band=1, only_band=2)
    with refused("wrong-value", ArgumentError):
        Labels(classes=2, void_band=-1)
    with refused("no-tiles", ArgumentError):
        Accumulator(Labels(classes=2, void_band=1), repeated="add")


def test_volumes_have_no_bands(tmp_path):
    np.save(tmp_path / "a.npy", np.eye(5, dtype=np.uint8)[np.newaxis].repeat(4, axis=0))
    with pytest.warns(FailedImages):
        result = evaluate(tmp_path, tmp_path, Labels(classes=2, only_band=2), repairs=Repairs(volumes=True))
    insist(result.failed["a"], "other-dimensions", settings={"only_band": 2.0})


def test_the_signature_tells_bands():
    assert Labels(classes=2, void_band=3).signature_fields()["void_band"] == "3"
    assert "only_band" not in Labels(classes=2, void_band=3).signature_fields()


def test_from_the_command_line(segbench, tmp_path):
    truth = np.repeat(np.uint8([[0] * 10 + [1] * 10]), 12, axis=0)
    for folder, shift in (("gt", 0), ("pred", 2)):
        (tmp_path / folder).mkdir()
        iio.imwrite(tmp_path / folder / "a.png", np.roll(truth, shift, axis=1))
    folders = (tmp_path / "gt", tmp_path / "pred", "--classes", "0-1", "--format", "json")
    whole, without = (
        json.loads(segbench("labels", *folders, *option).out)["runs"][0]["summary"]
        for option in ((), ("--void-band", "2"))
    )
    assert whole["pixel_accuracy"] == 16 / 20  # two columns beside the border are wrong, and two at the left
    assert without["pixel_accuracy"] == 14 / 16
