"""Arguments that do not fit: errors say which, and the fix that they name is right for them."""

import dataclasses
import re

import numpy as np
import pytest

import segbench
from segbench import (
    Accumulator,
    Anomalies,
    ArgumentError,
    Boundaries,
    Contours,
    DataError,
    Labels,
    Objects,
    Pixels,
    Saliency,
    count,
    evaluate,
)

RANDOM = np.random.default_rng(0)
LABELS = RANDOM.integers(0, 2, (8, 6, 5))


@pytest.mark.parametrize(
    ("labels", "scores", "fix"),
    [
        (
            (8, 6, 5),
            (8, 2, 6, 5),
            r"take the channel of the positive class, such as scores\[:, 1\] if that is channel 1",
        ),
        ((8, 6, 5), (8, 6, 5, 2), r"such as scores\[..., 1\] if that is channel 1"),
        ((6, 5), (2, 6, 5), r"such as scores\[1\] if that is channel 1; a map for each class is for Labels"),
        ((8, 6, 5), (8, 1, 6, 5), r"take scores\[:, 0\]\)"),
        ((8, 1, 6, 5), (8, 6, 5), r"take labels\[:, 0\]\)"),
        ((1, 6, 5), (6, 5), r"take labels\[0\], or scores\[None\] for a batch of one"),
        ((6, 5), (1, 6, 5), r"take scores\[0\], or labels\[None\] for a batch of one"),
        ((8, 3, 6, 5), (8, 6, 5), "several annotators are a list of arrays"),
        ((6, 5), (5, 6), "nothing is resized"),
        ((6, 5), (8, 4, 5), "nothing is resized"),
    ],
)
def test_a_further_axis(labels, scores, fix):
    with pytest.raises(ArgumentError, match=fix):
        Accumulator().update(np.zeros(labels), np.zeros(scores))


@pytest.mark.parametrize("given", [None, {"a": 1}, "scores.npy"])
@pytest.mark.parametrize("protocol", [Pixels(), Contours(at=0.5)])
def test_what_is_no_array(protocol, given):
    kind = type(given).__name__
    with pytest.raises(ArgumentError, match=f"scores is {kind}, expected an array or a tensor"):
        Accumulator(protocol).update(LABELS[0], given, name="a")
    with pytest.raises(ArgumentError, match=f"labels is {kind}, expected an array or a tensor"):
        Accumulator(protocol).update(given, LABELS[0], name="a")


@pytest.mark.parametrize("given", [[[None, 1]], [["a", "b"]], np.zeros((1, 2), "datetime64[s]"), [[1j, 0]]])
@pytest.mark.parametrize("protocol", [Pixels(), Contours(at=0.5), Labels()])
def test_arrays_of_anything_but_numbers(protocol, given):
    array, kind = np.array(given), np.array(given).dtype
    for arrays, name in (((array, [[0.2, 0.9]]), "labels"), ((np.array([[0, 1]]), array), "scores")):
        with pytest.raises(ArgumentError, match=rf"{name} is ndarray of {re.escape(str(kind))}, expected an array"):
            Accumulator(protocol).update(*arrays, name="a")
    with pytest.raises(ArgumentError, match="ground_truth is ndarray of"):
        segbench.count(array, [[0, 1]], "contours")
    with pytest.raises(ArgumentError, match="ground_truth is ndarray of"):
        segbench.count(array, [[0.0, 1.0]], "boundaries")


@pytest.mark.parametrize("protocol", ["boundaries", "regions"])
@pytest.mark.parametrize("given", [None, 3, np.array(3)])
def test_what_is_no_map(protocol, given):
    with pytest.raises(ArgumentError, match=r"ground_truth (is NoneType|has shape)"):
        segbench.count(given, [[0.0, 1.0]], protocol)


class TestArraysWithoutPixels:
    EMPTY, MASK = np.zeros((0, 5)), np.eye(5)

    @pytest.mark.parametrize("protocol", [Boundaries(), Contours(), Labels(classes=2), Saliency(), Objects()])
    def test_of_one_image(self, protocol):
        for arrays in ((self.EMPTY, self.EMPTY), (self.MASK, self.EMPTY), (self.EMPTY, self.MASK)):
            with pytest.raises(ArgumentError, match="expected at least one pixel in each image"):
                Accumulator(protocol).update(*arrays, name="a")
        with pytest.raises(ArgumentError, match=r"scores has shape \(\), expected \(height, width\) for one image"):
            Accumulator(protocol).update(self.MASK, 0.5, name="a")
        with pytest.raises(ArgumentError, match="labels is an empty list"):
            Accumulator(protocol).update([], self.MASK, name="a")

    def test_of_a_batch(self):
        accumulator = Accumulator(Contours())
        accumulator.update(np.zeros((0, 5, 5)), np.zeros((0, 5, 5)), names=[])
        with pytest.raises(ArgumentError, match="expected at least one pixel in each image"):
            accumulator.update(np.zeros((1, 0, 5)), np.zeros((1, 0, 5)), names=["a"])


def test_background_alone():
    accumulator = Accumulator()
    accumulator.update(0 * LABELS, LABELS / 2)
    with pytest.raises(DataError, match="; say which value is positive in the whole: positive=1 for 0 and 1") as raised:
        accumulator.compute()
    assert "images=" not in str(raised.value)


class TestLabelsWithChannels:
    MAPS = RANDOM.integers(0, 3, (4, 6, 5))
    ONE_HOT = np.moveaxis(np.eye(3, dtype=int)[MAPS], 3, 1)
    LOGITS = RANDOM.normal(size=ONE_HOT.shape)

    @pytest.mark.parametrize("labels", [ONE_HOT, ONE_HOT > 0, ONE_HOT.astype(float)])
    @pytest.mark.parametrize("predicted", [MAPS, LOGITS, ONE_HOT])
    def test_one_hot(self, labels, predicted):
        with pytest.raises(DataError, match=r"labels of '0': the ground truth has shape \(3, 6, 5\).*labels.argmax"):
            Accumulator(Labels(classes=3)).update(labels, predicted, names=range(4))

    def test_swapped(self):
        with pytest.raises(DataError, match=r"the ground truth has shape .*mind the order"):
            Accumulator(Labels(classes=3)).update(self.LOGITS, self.MAPS, names=range(4))

    def test_volumes_are_no_channels(self):
        volumes = RANDOM.integers(0, 3, (2, 3, 6, 5))
        accumulator = Accumulator(Labels(classes=3))
        accumulator.update(volumes, volumes, names=[0, 1])
        assert accumulator.compute().summary["miou"] == 1


def test_methods_are_not_merged():
    one, other = Accumulator(method="unet"), Accumulator(method="deeplab")
    other.update([0, 1], [0.2, 0.4], name="a")
    with pytest.raises(ArgumentError, match="counts of one method; 'unet' here, 'deeplab' there"):
        one.merge(other)
    assert "0 images" in repr(one)


@pytest.mark.parametrize("protocol", [Saliency(), Anomalies()])
@pytest.mark.parametrize("levels", [1, 255])
def test_swapped_maps_and_masks(protocol, levels):
    scores = RANDOM.random((2, 40, 50))
    masks = scores > 0.8
    given = scores if levels == 1 else np.rint(scores * levels).astype(np.uint8)
    with pytest.raises(DataError, match="ground truth comes first, predictions second"):
        evaluate(zip(given, masks * np.uint8(levels), strict=True), protocol=protocol)
    evaluate(zip(masks * np.uint8(255), given, strict=True), protocol=protocol)
    named = dataclasses.replace(protocol, positive=">=0.7" if levels == 1 else ">=180")
    evaluate(zip(given, masks * np.uint8(levels), strict=True), protocol=named)


class TestCounts:
    COUNTS = count([0, 1], [0.2, 0.4])

    def test_they_add_up(self):
        assert sum([self.COUNTS, self.COUNTS]) == self.COUNTS + self.COUNTS
        for other in (1, None, 0.5):
            with pytest.raises(TypeError, match="unsupported operand"):
                other + self.COUNTS

    def test_arrays_are_not_counts(self):
        for measure in (segbench.auc_pr, segbench.pr_curve, segbench.roc_curve, segbench.best_f):
            with pytest.raises(ArgumentError, match=r"is ndarray, .*count arrays first: count\(ground_truth, scores\)"):
                measure(LABELS)

    def test_intervals_are_of_one_result(self):
        with pytest.raises(ArgumentError, match="found a list of ScoreCounts, expected a list of runs"):
            segbench.intervals([self.COUNTS, self.COUNTS])


@pytest.mark.parametrize("images", [[(LABELS[0], LABELS[0])], "gt"])
def test_thresholds_of_ones_own_are_settings(images):
    with pytest.raises(ArgumentError, match=r"thresholds is \[0.5\], .* are a setting of the protocol: Pixels\(at="):
        segbench.evaluate(images, thresholds=[0.5])


def test_images_on_different_scales_are_noted():
    accumulator = Accumulator()
    accumulator.update([0, 1, 1], [0.1, 0.9, 0.5], name="a")
    assert accumulator.compute().summary.notes == ()
    accumulator.update([0, 1], [51.0, 204.0], name="b")
    assert accumulator.compute().summary.notes == (
        "scores of some images are from 0 to 1, and those of others go far beyond; give all on one scale",
    )
