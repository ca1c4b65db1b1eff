"""What counting itself can see of wrong scores and labels is in notes of the result, and in one warning of it."""

import copy
import warnings
from contextlib import contextmanager

import numpy as np
import pytest
from cases import write_folder
from noted import kinds

from segbench import Accumulator, Centerlines, Classes, Contours, Labels, Objects, Pixels, Saliency, evaluate
from segbench.core.messages import Setting

RNG = np.random.default_rng(3)
MASK = (RNG.random((12, 14)) < 0.4).astype(np.uint8)
LOGITS = (RNG.normal(size=MASK.shape) * 2 + 4 * MASK - 2).astype(np.float32)
SHARES = 1 / (1 + np.exp(-LOGITS))
DOUBTS = {
    "pixels": (Pixels(at=(0.5,)), LOGITS, "scores-outside"),
    "pixels inverted": (Pixels(at=(0.5,), invert=True), LOGITS, "scores-outside"),
    "classes": (Classes(labels=(0, 1), at=(0.5,)), np.stack([-LOGITS, LOGITS]), "scores-outside"),
    "contours": (Contours(at=0.5), LOGITS, "scores-outside"),
    "centerlines": (Centerlines(at=0.5), LOGITS, "scores-outside"),
    "components": (Objects(kind="components", at=0.5), LOGITS, "scores-outside"),
    "saliency": (Saliency(positive=1), LOGITS, "logits-stretched"),
    "labels": (Labels(classes=2), MASK * 3, "labels-outside"),
    "wide integers": (Pixels(positive=1), MASK.astype(np.int64) * 9 + 1, "wide-levels"),
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


@contextmanager
def every_warning():
    """Record warnings, whatever they say: notes of the result are compared."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", UserWarning)
        yield warned


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", DOUBTS)
def test_doubts_are_noted_and_one_warning_tells_them(tmp_path, case, way):
    protocol, prediction, kind = DOUBTS[case]
    with every_warning() as warned:
        result = way(protocol, {"a": (MASK, prediction), "b": (MASK, prediction * 2)}, tmp_path)
    assert len(warned) == 1
    (doubt,) = (note for note in result.notes if note.doubt)
    assert doubt.kind == kind
    assert str(warned[0].message) in str(doubt)
    if kind == "scores-outside":
        assert doubt.values["given"] == Setting("at", protocol.at)


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
    with every_warning() as warned:
        (note,) = accumulator.compute().notes
    assert (note.kind, note.doubt) == ("scores-outside", True)
    assert [str(warning.message) for warning in warned] == [str(note)]


def test_scores_after_a_sigmoid_give_the_right_number():
    accumulator = Accumulator(Pixels(at=(0.5,)))
    accumulator.update(MASK, SHARES, name="a")
    predicted = LOGITS >= 0
    union = np.count_nonzero(predicted | (MASK == 1))
    assert accumulator.compute().summary["iou@0.5"] == pytest.approx(np.count_nonzero(predicted & (MASK == 1)) / union)


@pytest.mark.parametrize("take", [by_arrays, by_accumulator])
def test_the_warning_names_the_line_that_asked_for_the_result(take):
    images = {"a": (MASK, MASK.astype(np.int64))}
    with every_warning() as warned:
        take(Pixels(positive=1), images, None)
    assert [warning.filename for warning in warned] == [__file__]


def test_several_predictions_are_warned_of_once_a_run(tmp_path):
    scores = {"gt": MASK, "first": LOGITS, "second": LOGITS, "fine": SHARES}
    for place, array in scores.items():
        write_folder(tmp_path / place, {"a.npy": array, "b.npy": array})
    with every_warning() as warned:
        results = evaluate(
            tmp_path / "gt", [tmp_path / "first", tmp_path / "second", tmp_path / "fine"], Pixels(at=0.5)
        )
    assert len(warned) == 2
    assert [kinds(result.notes) for result in results] == [["scores-outside"], ["scores-outside"], []]
    assert {warning.filename for warning in warned} == {__file__}
