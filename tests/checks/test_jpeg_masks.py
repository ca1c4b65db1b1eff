"""Predicted masks saved as JPEG, whose noise would count as scores."""

import json

import numpy as np
import pytest
from broken_folders import blobs
from PIL import Image

import segbench as library


@pytest.fixture
def saved(tmp_path):
    """Save ground truth, and predictions in a format; give the folders."""

    def save(maps, extension):
        made = blobs()
        (truth,) = made.write(tmp_path)[:1]
        folder = tmp_path / extension
        folder.mkdir()
        for name, scores in made.scores.items():
            Image.fromarray(maps(scores)).save(folder / f"{name}.{extension}", quality=75)
        return truth, folder

    return save


def as_mask(scores):
    return (scores >= 128).astype(np.uint8) * 255


def test_are_found_before_a_run(segbench, saved):
    said = segbench("pixels", *saved(as_mask, "jpg")).err
    assert "jpeg-masks: predictions look like masks saved as JPEG" in said


def test_the_advice_gives_the_number_of_the_masks(segbench, saved):
    labels = library.Labels(predicted_positive=">=128")
    of_jpeg, of_png = ([*saved(as_mask, extension)] for extension in ("jpg", "png"))
    (report,) = json.loads(segbench("check", *of_jpeg, "--format", "json").out)["reports"]
    flags = {finding["key"]: finding["flag"] for finding in report["findings"]}
    assert flags["jpeg-masks"].endswith("segbench labels GT PRED --predicted-positive '>=128'")
    assert library.evaluate(*of_jpeg, labels).summary == library.evaluate(*of_png, library.Labels()).summary


@pytest.mark.parametrize(("maps", "extension"), [(np.asarray, "jpg"), (as_mask, "png")], ids=["soft maps", "PNG"])
def test_others_are_not(saved, maps, extension):
    assert "jpeg-masks" not in {finding.key for finding in library.check(*saved(maps, extension)).findings}
