"""What a run refuses, `check` says before, whatever files hold: of damaged ones also where few images are looked at."""

import numpy as np
import pytest
from cases import write_folder
from refusing import within

import segbench

SHAPE = (24, 32)
RNG = np.random.default_rng(5)


def numbered(drawn, extension="png"):
    """Name arrays by their number."""
    return {f"{number:03}.{extension}": array for number, array in enumerate(drawn)}


@pytest.fixture
def folders(tmp_path):
    """Write ground truth and predictions."""

    def write(truths, predictions):
        return write_folder(tmp_path / "gt", truths), write_folder(tmp_path / "pred", predictions)

    return write


@pytest.mark.parametrize("dtype", ["U3", "S3", "V3", [("score", "f4")], complex, "M8[s]"])
def test_an_array_of_no_numbers_is_found_among_many(folders, dtype):
    masks = [RNG.random(SHAPE) < 0.3 for _ in range(40)]
    predictions = numbered([mask + 0.5 * RNG.random(SHAPE) for mask in masks], "npy")
    predictions["004.npy"] = np.zeros(SHAPE, dtype)  # between the images that are looked at
    where = folders(numbered([mask * np.uint8(255) for mask in masks]), predictions)
    (error,) = segbench.check(*where).errors
    assert (error.kind, error.images) == ("unreadable", ("004",))
    assert within(error.places[0].detail, "wrong-type")["dtype"] == str(np.dtype(dtype))
    with pytest.warns(segbench.FailedImages):
        assert [*segbench.evaluate(*where).failed] == ["004"]
