"""Instance maps whose background has a number, as watershed leaves them, on either side."""

import json

import numpy as np
import pytest
from cases import write_folder

SHAPE = (48, 64)


def squares(seed, shift=0):
    """Draw eleven numbered squares of 7 pixels on a background of 0."""
    rng = np.random.default_rng(seed)
    drawn = np.zeros(SHAPE, np.uint8)
    for number, place in enumerate(rng.choice(24, 11, replace=False), 1):
        row, column = divmod(int(place), 6)
        drawn[12 * row + 2 + shift : 12 * row + 9 + shift, 10 * column + 2 : 10 * column + 9] = number
    return drawn


def dense(seed, numbers=6):
    """Divide the image into regions without background."""
    return 1 + np.kron(np.random.default_rng(seed).permutation(12).reshape(3, 4) % numbers, np.ones((16, 16))).astype(
        np.uint8
    )


TRUTHS = {f"{k}.png": squares(k) for k in range(8)}
PREDICTIONS = {f"{k}.png": squares(k, shift=1) for k in range(8)}
BACKGROUNDS = {
    "first": (lambda labels: labels + 1, "number 1 of", "labels == 1"),
    "255": (lambda labels: np.where(labels, labels, 255).astype(np.uint8), "number 255 of", "labels == 255"),
    "last": (
        lambda labels: np.where(labels, labels, labels.max() + 1).astype(np.uint8),
        "number 12 of",
        "labels == 12",
    ),
}


@pytest.fixture
def check(segbench, tmp_path):
    """Check two sets of maps, and measure them; return the findings by key and a metric."""

    def run(truths, predictions, *options, key="aji"):
        where = write_folder(tmp_path / "gt", truths), write_folder(tmp_path / "pred", predictions)
        (report,) = json.loads(segbench("check", "objects", *where, *options, "--format", "json").out)["reports"]
        summary = json.loads(segbench("objects", *where, *options, "--format", "json").out)["runs"][0]["summary"]
        return {finding["kind"]: finding for finding in report["findings"]}, summary[key]

    return run


@pytest.mark.parametrize("side", ["ground truth", "prediction"])
@pytest.mark.parametrize("kind", BACKGROUNDS)
def test_the_number_is_named_and_the_advice_gives_the_aji(check, kind, side):
    change, named, advice = BACKGROUNDS[kind]
    changed = {name: change(labels) for name, labels in (TRUTHS if side == "ground truth" else PREDICTIONS).items()}
    sides = (changed, PREDICTIONS) if side == "ground truth" else (TRUTHS, changed)
    found, damaged = check(*sides)
    assert found["numbered-background"]["side"] == side
    assert named in found["numbered-background"]["text"]
    assert advice in found["numbered-background"]["fix"]
    number = int(advice.split()[-1])
    saved = {name: np.where(labels == number, 0, labels) for name, labels in changed.items()}
    found, mended = check(*((saved, PREDICTIONS) if side == "ground truth" else (TRUTHS, saved)))
    assert found == {}
    assert mended == check(TRUTHS, PREDICTIONS)[1]
    assert damaged < mended / 2


def test_numbers_that_change_from_image_to_image_are_listed(check):
    changed = {
        name: np.where(labels, labels, 20 + k).astype(np.uint8) for k, (name, labels) in enumerate(PREDICTIONS.items())
    }
    found, _ = check(TRUTHS, changed)
    assert found["numbered-background"]["values"]["numbers"] == [20, 21, 22, 23, 24, 25, 26, 27]
    assert "save it as 0: labels[labels == N] = 0" in found["numbered-background"]["fix"]


def test_void_is_offered_for_255_of_the_ground_truth(check):
    changed = {name: np.where(labels, labels, 255).astype(np.uint8) for name, labels in TRUTHS.items()}
    found, _ = check(changed, PREDICTIONS)
    assert found["numbered-background"]["settings"] == [{"name": "void", "value": [255]}]
    found, _ = check(changed, PREDICTIONS, "--void", "255")
    assert "numbered-background" not in found


def test_lines_of_watershed_may_be_zero(check):
    lines = {name: (labels + 1) * (np.arange(SHAPE[1]) % 10 > 0) for name, labels in PREDICTIONS.items()}
    found, _ = check(TRUTHS, {name: labels.astype(np.uint8) for name, labels in lines.items()})
    assert found["numbered-background"]["values"]["numbers"] == [1]
    assert found["numbered-background"]["values"]["maps"] == "predictions"


class TestNoAlarm:
    def test_where_both_sides_are_dense(self, check):
        maps = {f"{k}.png": dense(k) for k in range(8)}
        predicted = {f"{k}.png": np.roll(dense(k), 2, axis=1) for k in range(8)}
        assert "numbered-background" not in check(maps, predicted)[0]

    def test_where_a_few_images_have_a_large_false_object(self, check):
        false = {f"{k}.png": np.where(squares(k), squares(k), 30).astype(np.uint8) for k in range(3)}
        assert "numbered-background" not in check(TRUTHS, PREDICTIONS | false)[0]

    def test_where_nothing_is_predicted_beside_a_large_object(self, check):
        large = np.zeros(SHAPE, np.uint8)
        large[4:44, 4:60] = 1
        large[:3, :3] = 2
        nothing = np.zeros(SHAPE, np.uint8)
        nothing[10:14, 10:14] = 1
        nothing[:3, :3] = 2
        found, _ = check({f"{k}.png": large for k in range(8)}, {f"{k}.png": nothing for k in range(8)})
        assert "numbered-background" not in found

    def test_where_only_the_ground_truth_is_dense(self, check):
        maps = {f"{k}.png": dense(k, 12) for k in range(8)}
        predicted = {name: np.where(labels > 7, 0, labels).astype(np.uint8) for name, labels in maps.items()}
        assert "numbered-background" not in check(maps, predicted)[0]
