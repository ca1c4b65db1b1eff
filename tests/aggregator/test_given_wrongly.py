"""Arguments that do not fit: errors say which, and the fix that they name is right for them."""

import dataclasses

import numpy as np
import pytest
from noted import kinds
from refusing import refused

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
from segbench.core.messages import Setting
from segbench.inputs.label_rules import MIND_THE_ORDER

RANDOM = np.random.default_rng(0)
LABELS = RANDOM.integers(0, 2, (8, 6, 5))


@pytest.mark.parametrize(
    ("labels", "scores", "hint", "values"),
    [
        ((8, 6, 5), (8, 2, 6, 5), "axis-of-channels", {"taken": "scores[:, 1]"}),
        ((8, 6, 5), (8, 6, 5, 2), "axis-of-channels", {"taken": "scores[..., 1]"}),
        ((6, 5), (2, 6, 5), "axis-of-channels", {"taken": "scores[1]"}),
        ((8, 6, 5), (8, 1, 6, 5), "axis-of-one", {"taken": "scores[:, 0]"}),
        ((8, 1, 6, 5), (8, 6, 5), "axis-of-one", {"taken": "labels[:, 0]"}),
        ((1, 6, 5), (6, 5), "batch-of-one", {"taken": "labels[0]", "other": "scores"}),
        ((6, 5), (1, 6, 5), "batch-of-one", {"taken": "scores[0]", "other": "labels"}),
        ((8, 3, 6, 5), (8, 6, 5), "axis-of-annotators", {"taken": "labels[:, 1]"}),
        ((6, 5), (5, 6), "permuted-axes", {"code": "image.transpose(1, 0)"}),
        ((6, 5), (8, 4, 5), "other-pixels", {}),
    ],
)
def test_a_further_axis(labels, scores, hint, values):
    with refused("other-shape", ArgumentError, shape=labels, expected=scores) as raised:
        Accumulator().update(np.zeros(labels), np.zeros(scores))
    found = raised.value.values["hint"]
    assert (found.kind, found.values) == (hint, values)


@pytest.mark.parametrize("given", [None, {"a": 1}, "scores.npy"])
@pytest.mark.parametrize("protocol", [Pixels(), Contours(at=0.5)])
def test_what_is_no_array(protocol, given):
    kind = type(given).__name__
    with refused("no-array", ArgumentError, argument="scores", found=kind):
        Accumulator(protocol).update(LABELS[0], given, name="a")
    with refused("no-array", ArgumentError, argument="labels", found=kind):
        Accumulator(protocol).update(given, LABELS[0], name="a")


@pytest.mark.parametrize("given", [[[None, 1]], [["a", "b"]], np.zeros((1, 2), "datetime64[s]"), [[1j, 0]]])
@pytest.mark.parametrize("protocol", [Pixels(), Contours(at=0.5), Labels()])
def test_arrays_of_anything_but_numbers(protocol, given):
    array = np.array(given)
    kind = f"ndarray of {array.dtype}"
    for arrays, name in (((array, [[0.2, 0.9]]), "labels"), ((np.array([[0, 1]]), array), "scores")):
        with refused("no-array", ArgumentError, argument=name, found=kind):
            Accumulator(protocol).update(*arrays, name="a")
    with refused("no-array", ArgumentError, argument="ground_truth", found=kind):
        segbench.count(array, [[0, 1]], "contours")
    with refused("no-array", ArgumentError, argument="ground_truth", found=kind):
        segbench.count(array, [[0.0, 1.0]], "boundaries")


@pytest.mark.parametrize("protocol", ["boundaries", "regions"])
@pytest.mark.parametrize(
    ("given", "kind", "values"),
    [
        (None, "no-array", {"argument": "ground_truth", "found": "NoneType"}),
        (3, "other-shape", {"name": "ground_truth", "shape": ()}),
        (np.array(3), "other-shape", {"name": "ground_truth", "shape": ()}),
    ],
)
def test_what_is_no_map(protocol, given, kind, values):
    with refused(kind, ArgumentError, **values):
        segbench.count(given, [[0.0, 1.0]], protocol)


class TestArraysWithoutPixels:
    EMPTY, MASK = np.zeros((0, 5)), np.eye(5)

    @pytest.mark.parametrize("protocol", [Boundaries(), Contours(), Labels(classes=2), Saliency(), Objects()])
    def test_of_one_image(self, protocol):
        for arrays in ((self.EMPTY, self.EMPTY), (self.MASK, self.EMPTY), (self.EMPTY, self.MASK)):
            with refused("no-pixels", ArgumentError):
                Accumulator(protocol).update(*arrays, name="a")
        with refused("other-shape", ArgumentError, name="scores", shape=()):
            Accumulator(protocol).update(self.MASK, 0.5, name="a")
        with refused("empty", ArgumentError, name="labels"):
            Accumulator(protocol).update([], self.MASK, name="a")

    def test_of_a_batch(self):
        accumulator = Accumulator(Contours())
        accumulator.update(np.zeros((0, 5, 5)), np.zeros((0, 5, 5)), names=[])
        with refused("no-pixels", ArgumentError):
            accumulator.update(np.zeros((1, 0, 5)), np.zeros((1, 0, 5)), names=["a"])


def test_background_alone():
    accumulator = Accumulator()
    accumulator.update(0 * LABELS, LABELS / 2)
    with refused("several-values", DataError, count=1, values=(0,)) as raised:
        accumulator.compute()
    assert raised.value.settings == (Setting("positive", 1), Setting("positive", 255))


class TestLabelsWithChannels:
    MAPS = RANDOM.integers(0, 3, (4, 6, 5))
    ONE_HOT = np.moveaxis(np.eye(3, dtype=int)[MAPS], 3, 1)
    LOGITS = RANDOM.normal(size=ONE_HOT.shape)

    @pytest.mark.parametrize("labels", [ONE_HOT, ONE_HOT > 0, ONE_HOT.astype(float)])
    @pytest.mark.parametrize("predicted", [MAPS, LOGITS, ONE_HOT])
    def test_one_hot(self, labels, predicted):
        with refused("class-axis", DataError, path="labels of '0'", shape=(3, 6, 5)) as raised:
            Accumulator(Labels(classes=3)).update(labels, predicted, names=range(4))
        assert raised.value.hint.kind == "one-hot"

    def test_swapped(self):
        with refused("class-axis", DataError, shape=(3, 6, 5)) as raised:
            Accumulator(Labels(classes=3)).update(self.LOGITS, self.MAPS, names=range(4))
        assert raised.value.hint == MIND_THE_ORDER

    def test_volumes_are_no_channels(self):
        volumes = RANDOM.integers(0, 3, (2, 3, 6, 5))
        accumulator = Accumulator(Labels(classes=3))
        accumulator.update(volumes, volumes, names=[0, 1])
        assert accumulator.compute().summary["miou"] == 1


def test_methods_are_not_merged():
    one, other = Accumulator(method="unet"), Accumulator(method="deeplab")
    other.update([0, 1], [0.2, 0.4], name="a")
    with refused("other-method", ArgumentError, here="unet", there="deeplab"):
        one.merge(other)
    assert "0 images" in repr(one)


@pytest.mark.parametrize("protocol", [Saliency(), Anomalies()])
@pytest.mark.parametrize("levels", [1, 255])
def test_swapped_maps_and_masks(protocol, levels):
    scores = RANDOM.random((2, 40, 50))
    masks = scores > 0.8
    given = scores if levels == 1 else np.rint(scores * levels).astype(np.uint8)
    with refused("exchanged", DataError, path="labels of '0'"):
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
            with refused("no-counts", ArgumentError, argument="counts", found="ndarray", expected="ScoreCounts"):
                measure(LABELS)

    def test_intervals_are_of_one_result(self):
        with refused("not-results", ArgumentError, given="a list of ScoreCounts"):
            segbench.intervals([self.COUNTS, self.COUNTS])


@pytest.mark.parametrize("images", [[(LABELS[0], LABELS[0])], "gt"])
def test_thresholds_of_ones_own_are_settings(images):
    with refused("not-thresholds", ArgumentError, given="[0.5]"):
        segbench.evaluate(images, thresholds=[0.5])


def test_images_on_different_scales_are_noted():
    accumulator = Accumulator()
    accumulator.update([0, 1, 1], [0.1, 0.9, 0.5], name="a")
    assert accumulator.compute().summary.notes == ()
    accumulator.update([0, 1], [51.0, 204.0], name="b")
    assert kinds(accumulator.compute().summary.notes) == ["several-scales"]
