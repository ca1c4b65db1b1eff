"""Predictions that are turned, or paired with the next images, rank pixels by chance; only these are told so."""

import numpy as np
import pytest
from broken_folders import NAMES, Folders, each, lines
from broken_folders import blobs as blobs_of
from noted import of_kind
from scipy.ndimage import gaussian_filter

import segbench as library

TURNS = {
    "upside down": (lambda soft: soft[::-1], "[::-1]"),
    "mirrored left to right": (lambda soft: soft[:, ::-1], "[:, ::-1]"),
    "turned by 180 degrees": (lambda soft: soft[::-1, ::-1], "[::-1, ::-1]"),
}


SHAPE = (120, 160)


def blobs(seed=0, names=NAMES):
    """Draw more than a few blobs an image, so that images differ in what is where."""
    return blobs_of(seed, SHAPE, names)


@pytest.fixture
def found(check_findings, tmp_path):
    """Check folders; return the findings on geometry by key."""

    def check(made, command="pixels"):
        verb, *options = command.split()
        _, told = check_findings(verb, *made.write(tmp_path), *options)
        return {key: told[key] for key in told if key in ("turned", "exchanged-images")}

    return check


def as_masks(made):
    each("scores", lambda scores: (scores > 128).astype(np.uint8) * 255)(made)
    return made


def moved(made, step):
    """Assign each image the prediction of another one."""
    maps = list(made.scores.values())
    made.scores = {name: maps[(place + step) % len(maps)] for place, name in enumerate(NAMES)}
    return made


@pytest.mark.parametrize("turn", TURNS)
class TestTurned:
    def test_soft_maps(self, segbench, found, warned_of, turn, tmp_path):
        made = blobs()
        right = library.evaluate(*made.write(tmp_path)).summary
        each("scores", TURNS[turn][0])(made)
        finding = found(made)["turned"]
        assert finding["values"]["turn"] == turn
        gain = finding["values"]["gain"]["values"]
        assert gain["count"] == 6
        assert gain["auc"] < 0.6
        assert gain["auc_then"] > 0.9
        assert segbench("pixels", tmp_path / "gt", tmp_path / "pred").err
        (said,) = of_kind(warned_of, "turned")
        assert (said.message.values["turn"], said.fix.values["turn"]) == (turn, TURNS[turn][1])
        each("scores", TURNS[turn][0])(made)
        assert library.evaluate(*made.write(tmp_path)).summary == right

    @pytest.mark.parametrize("command", ["labels", "contours", "centerlines", "objects --kind components", "pixels"])
    def test_masks(self, found, turn, command):
        made = as_masks(blobs())
        each("scores", TURNS[turn][0])(made)
        assert found(made, command)["turned"]["values"]["turn"] == turn

    def test_thin_lines(self, found, turn):
        made = blobs()
        for name, mask in made.truth.items():
            made.truth[name] = np.uint8(255) * library.label_boundaries(mask)
            made.scores[name] = np.roll(made.truth[name], 1, axis=1)
        each("scores", TURNS[turn][0])(made)
        assert found(made, "boundaries")["turned"]["values"]["turn"] == turn


def test_beside_scores_that_are_not_finite(found):
    made = blobs()
    each("scores", lambda scores: np.where(scores[::-1] == 7, np.nan, scores[::-1] / 255), extension=".npy")(made)
    assert found(made)["turned"]["values"]["turn"] == "upside down"


@pytest.mark.parametrize(("step", "steps", "way"), [(1, 1, "after"), (-2, 2, "before")])
def test_predictions_of_other_images(found, step, steps, way):
    finding = found(moved(blobs(), -step))["exchanged-images"]
    assert finding["severity"] == "warning"
    assert (finding["values"]["steps"], finding["values"]["way"]) == (steps, way)
    assert finding["values"]["gain"]["values"]["auc_then"] > 0.9
    assert finding["settings"] == [{"name": "pairs"}]


def test_predictions_of_other_images_among_many(found):
    names = tuple(f"im{k:02}" for k in range(40))
    made = blobs(names=names)
    maps = list(made.scores.values())
    made.scores = dict(zip(names, [*maps[1:], maps[0]], strict=True))
    values = found(made)["exchanged-images"]["values"]
    assert (values["steps"], values["way"]) == (1, "before")


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("size", [0, 3, 12])
def test_weak_predictions_have_no_finding(found, seed, size):
    rng = np.random.default_rng(seed)
    made = blobs(seed)
    each("scores", lambda scores: gaussian_filter(rng.normal(size=scores.shape), size), extension=".npy")(made)
    assert found(made) == {}


def test_sound_predictions_and_constant_ones_have_no_finding(found):
    assert found(blobs()) == found(lines(), "boundaries") == {}
    assert found(as_masks(blobs()), "labels") == {}
    made = Folders(blobs().truth, dict.fromkeys(NAMES, np.full(SHAPE, 9, np.uint8)))
    assert found(made) == {}
