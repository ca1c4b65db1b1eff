"""What counting itself can see of wrong scores and labels is in notes of the result, and in one warning of it."""

import copy
import warnings

import numpy as np
import pytest
from cases import write_folder

from segbench import Accumulator, Centerlines, Classes, Contours, Labels, Objects, Pixels, Saliency, evaluate

RNG = np.random.default_rng(3)
MASK = (RNG.random((12, 14)) < 0.4).astype(np.uint8)
LOGITS = (RNG.normal(size=MASK.shape) * 2 + 4 * MASK - 2).astype(np.float32)
SHARES = 1 / (1 + np.exp(-LOGITS))
BESIDE = r"scores outside 0 to 1 beside at=\(?0.5,?\)?: apply a sigmoid to logits"
DOUBTS = {
    "pixels": (Pixels(at=(0.5,)), LOGITS, BESIDE),
    "pixels inverted": (Pixels(at=(0.5,), invert=True), LOGITS, BESIDE),
    "classes": (Classes(labels=(0, 1), at=(0.5,)), np.stack([-LOGITS, LOGITS]), BESIDE),
    "contours": (Contours(at=0.5), LOGITS, BESIDE),
    "centerlines": (Centerlines(at=0.5), LOGITS, BESIDE),
    "components": (Objects(kind="components", at=0.5), LOGITS, BESIDE),
    "saliency": (Saliency(positive=1), LOGITS, "scores like logits: .*; apply a sigmoid"),
    "labels": (Labels(classes=2), MASK * 3, "prediction: labels outside the classes count as wrong"),
    "wide integers": (Pixels(positive=1), MASK.astype(np.int64) * 9 + 1, "int64 values are levels"),
}
FINE = {
    "shares": (Pixels(at=(0.5,)), SHARES),
    "logits without a threshold": (Pixels(), LOGITS),
    "a threshold of logits": (Pixels(at=(0,)), LOGITS),
    "saliency": (Saliency(positive=1), SHARES),
    "labels": (Labels(classes=2), MASK),
}


def by_arrays(protocol, images, _root):
    return evaluate(images, protocol=protocol)


def by_accumulator(protocol, images, _root):
    accumulator = Accumulator(protocol)
    for name, (labels, scores) in images.items():
        accumulator.update(labels, scores, name=name)
    return copy.deepcopy(accumulator).compute()  # as pickles copy it


def by_merging(protocol, images, _root):
    accumulator = Accumulator(protocol)
    for name, (labels, scores) in images.items():
        other = Accumulator(protocol)
        other.update(labels, scores, name=name)
        accumulator.merge(other)
    return accumulator.compute()


def by_files(protocol, images, root):
    places = [write_folder(root / side, {f"{name}.npy": pair[k] for name, pair in images.items()}) for k, side in SIDES]
    return evaluate(*places, protocol, results=root / "results.segbench")


SIDES = (0, "gt"), (1, "pred")
WAYS = (by_arrays, by_accumulator, by_merging, by_files)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", DOUBTS)
def test_doubts_are_noted_and_one_warning_tells_them(tmp_path, kind, way):
    protocol, prediction, text = DOUBTS[kind]
    with pytest.warns(UserWarning, match=text) as warned:
        result = way(protocol, {"a": (MASK, prediction), "b": (MASK, prediction * 2)}, tmp_path)
    assert len(warned) == 1
    (note,) = (note for note in result.notes if str(warned[0].message) in note)
    assert note


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", FINE)
def test_nothing_is_said_of_what_fits(tmp_path, kind, way):
    protocol, prediction = FINE[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert way(protocol, {"a": (MASK, prediction)}, tmp_path).notes == ()


def test_tensors_that_are_counted_on_their_device_are_doubted_too():
    torch = pytest.importorskip("torch")
    accumulator = Accumulator(Pixels(at=(0.5,)), count_on="device")
    accumulator.update(torch.from_numpy(MASK), torch.from_numpy(LOGITS), name="a")
    with pytest.warns(UserWarning, match=BESIDE):
        accumulator.compute()


def test_scores_after_a_sigmoid_give_the_right_number():
    accumulator = Accumulator(Pixels(at=(0.5,)))
    accumulator.update(MASK, SHARES, name="a")
    predicted = LOGITS >= 0
    union = np.count_nonzero(predicted | (MASK == 1))
    assert accumulator.compute().summary["iou@0.5"] == pytest.approx(np.count_nonzero(predicted & (MASK == 1)) / union)


@pytest.mark.parametrize("take", [by_arrays, by_accumulator])
def test_the_warning_names_the_line_that_asked_for_the_result(take):
    images = {"a": (MASK, MASK.astype(np.int64))}
    with pytest.warns(UserWarning, match="int64 values are levels") as warned:
        take(Pixels(positive=1), images, None)
    assert [warning.filename for warning in warned] == [__file__]


def test_several_predictions_are_warned_of_once_a_run(tmp_path):
    scores = {"gt": MASK, "first": LOGITS, "second": LOGITS, "fine": SHARES}
    for place, array in scores.items():
        write_folder(tmp_path / place, {"a.npy": array, "b.npy": array})
    with pytest.warns(UserWarning, match=BESIDE) as warned:
        results = evaluate(
            tmp_path / "gt", [tmp_path / "first", tmp_path / "second", tmp_path / "fine"], Pixels(at=0.5)
        )
    assert len(warned) == 2
    assert [bool(result.notes) for result in results] == [True, True, False]
    assert {warning.filename for warning in warned} == {__file__}
