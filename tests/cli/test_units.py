"""Distances in mm and in pixels do not share a table, nor a picture."""

import numpy as np
import pytest
from refusing import insist
from skimage.io import imsave

from segbench.core.messages import Setting


@pytest.fixture
def in_two_units(segbench, tmp_path):
    for folder, size in (("gt", 9), ("pred", 7)):
        for k in range(2):
            mask = np.zeros((16, 16), np.uint8)
            mask[2 + k : 2 + size, 2 : 2 + size] = 255
            (tmp_path / folder).mkdir(exist_ok=True)
            imsave(tmp_path / folder / f"{k}.png", mask, check_contrast=False)
    file = tmp_path / "runs.segbench"
    for name, *spacing in (("inmm", "--spacing", "0.5"), ("inpixels",)):
        segbench("contours", tmp_path / "gt", f"{name}={tmp_path / 'pred'}", *spacing, "-o", file)
    return file


def test_each_unit_has_a_table_of_its_own(segbench, in_two_units):
    shown = segbench("show", in_two_units, "--metrics", "hd95").out
    headings = [line.split() for line in shown.splitlines() if line.startswith("method")]
    assert headings == [["method", "HD95"], ["method", "HD95", "(mm)"]]


def test_a_picture_is_in_one_unit(segbench, in_two_units, tmp_path):
    said = segbench("plot", in_two_units, "--kind", "images", "-o", tmp_path / "images.png")
    assert said.code == 2
    insist(said.error, "several-protocols")
    assert said.error.settings == (Setting("spacing", "0.5"), Setting("spacing", "1"))
    for spacing in ("0.5", "1"):
        picture = tmp_path / f"{spacing}.png"
        assert segbench("plot", in_two_units, "--kind", "images", "--spacing", spacing, "-o", picture).code == 0
        assert picture.exists()
