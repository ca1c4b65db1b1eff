"""Folders the wrong way round, which every protocol of masks tells before advice on the values of the files."""

import numpy as np
import pytest
from broken_folders import NAMES, blobs, each
from cases import write_folder

COMMANDS = [
    "pixels",
    "labels",
    "boundaries",
    "centerlines",
    "centerlines --at 0.5",
    "contours",
    "contours --at 0.5",
    "objects",
    "objects --kind components",
    "objects --kind components --at 0.5",
]


@pytest.fixture
def keys(check_findings):
    """Check two folders by a command; return the fix of each finding by its key, and whether a run is refused."""

    def check(command, *places):
        verb, *options = command.split()
        code, findings = check_findings(verb, *places, *options)
        return {key: finding["fix"] for key, finding in findings.items()}, code

    return check


@pytest.mark.parametrize("command", COMMANDS)
def test_folders_the_wrong_way_round_are_named(keys, tmp_path, command):
    made = blobs()
    made.truth["ape"][...] = 0  # nothing to find
    truth, scores = made.write(tmp_path)
    found, code = keys(command, scores, truth)
    assert (found.keys(), code) == ({"exchanged"}, 1)
    assert found["exchanged"].startswith("ground truth comes first, predictions second")
    assert "exchanged" not in keys(command, truth, scores)[0]


def test_soft_maps_of_very_many_values(keys, tmp_path):
    values = np.random.default_rng(0).random((len(NAMES), 80, 80))
    truth = write_folder(tmp_path / "soft", {f"{name}.npy": one for name, one in zip(NAMES, values, strict=True)})
    masks = write_folder(
        tmp_path / "masks", {f"{name}.npy": one > 0.5 for name, one in zip(NAMES, values, strict=True)}
    )
    assert keys("labels", truth, masks)[0].keys() == {"exchanged"}


@pytest.mark.parametrize("command", [each for each in COMMANDS if "--at" not in each and each[0] in "lco"])
def test_numbered_objects_beside_masks_are_in_order(keys, tmp_path, command):
    numbers = np.kron(np.arange(48).reshape(6, 8), np.ones((8, 8))).astype(np.uint8)
    truth = write_folder(tmp_path / "numbers", {f"{name}.png": numbers for name in NAMES})
    made = blobs()
    each("scores", lambda scores: np.where(scores > 128, 255, 0).astype(np.uint8))(made)
    _, masks = made.write(tmp_path)
    assert "exchanged" not in keys(command, truth, masks)[0]
