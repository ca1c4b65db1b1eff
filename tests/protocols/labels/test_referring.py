"""Metrics of referring segmentation: a sample is an image with an expression, which may have no target."""

import math
from fractions import Fraction

import numpy as np
import pytest

from segbench import Labels, count

MASKS = Labels(positive=1)
AT = ("0.5", "0.6", "0.7", "0.8", "0.9")


def row(text):
    return np.array([[int(mark) for mark in text]], np.uint8)


def summary(samples):
    """Return the metrics of pairs of masks."""
    return MASKS.table({str(number): count(*pair, MASKS) for number, pair in enumerate(samples)}).summary()


def peer(samples):
    """Compute the metrics sample by sample, in fractions, as the page defines them."""
    with_target, without, giou = [], [], []
    for truth, predicted in samples:
        if truth.any():
            iou = Fraction(int((truth & predicted).sum()), int((truth | predicted).sum()))
            with_target.append((iou, predicted.any()))
            giou.append(iou)
        else:
            without.append(not predicted.any())
            giou.append(Fraction(not predicted.any()))

    def share(values):
        return float(Fraction(sum(values)) / len(values)) if values else math.nan

    metrics = {f"p@{at}": share([int(iou >= Fraction(at)) for iou, _ in with_target]) for at in AT}
    metrics["t_acc"] = share([int(predicted) for _, predicted in with_target])
    return metrics | {"n_acc": share([int(right) for right in without]), "giou": share(giou)}


def drawn_samples(rng):
    """Draw pairs of masks, some without target and some without prediction, with many IoUs exactly at thresholds."""
    samples = []
    for _ in range(rng.integers(1, 12)):
        truth, predicted = (np.zeros((1, 12), np.uint8) for _ in range(2))
        truth[0, : rng.choice([0, 5, 10])] = 1
        start = rng.integers(0, 3)
        predicted[0, start : start + rng.choice([0, 3, 5, 8, 9, 10])] = 1
        samples.append((truth, predicted))
    return samples


def test_a_drawing_worked_by_hand():
    samples = [
        (row("1111111111"), row("1111111110")),  # 9/10
        (row("1111100000"), row("0011100000")),  # 3/5
        (row("1111100000"), row("0000000000")),  # 0, nothing predicted
        (row("0000000000"), row("0000000000")),  # right
        (row("0000000000"), row("1000000000")),  # wrong
    ]
    found = summary(samples)
    expected = {"p@0.5": 2 / 3, "p@0.6": 2 / 3, "p@0.7": 1 / 3, "p@0.8": 1 / 3, "p@0.9": 1 / 3}
    expected |= {"giou": (0.9 + 0.6 + 0 + 1 + 0) / 5, "n_acc": 1 / 2, "t_acc": 2 / 3}
    assert {key: found[key] for key in expected} == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("seed", range(40))
def test_sample_by_sample(seed):
    samples = drawn_samples(np.random.default_rng(seed))
    found, expected = summary(samples), peer(samples)
    assert {key: found[key] for key in expected} == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_a_note_counts_the_samples_at_a_threshold():
    notes = summary([(row("1111100000"), row("0011100000")), (row("11"), row("11"))]).notes
    (note,) = (note for note in notes if note.kind == "exactly-at-threshold")
    assert note.message.values["count"] == 1
    assert [key for key, _ in note.metrics] == ["p@0.6"]


def test_without_targets_and_with_targets_alone():
    without = summary([(row("00"), row("00"))])
    assert without["giou"] == without["n_acc"] == 1
    assert without.undefined["p@0.5"].kind == without.undefined["t_acc"].kind == "no-positives"
    assert summary([(row("11"), row("10"))]).undefined["n_acc"].kind == "all-positive"


def test_a_sample_that_is_void_everywhere_is_in_no_mean():
    protocol = Labels(positive=1, void=255)
    pairs = {"void": (row("00") + np.uint8(255), row("00")), "wrong": (row("00"), row("11"))}
    table = protocol.table({name: count(*pair, protocol) for name, pair in pairs.items()})
    assert table.summary()["giou"] == table.summary()["n_acc"] == 0


def test_classes_have_none_of_them():
    assert not {"giou", "p@0.5"} & {metric.key for metric in Labels(classes=2).metrics()}
