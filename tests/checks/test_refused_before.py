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


MASKS = [np.pad(np.ones((8, 8), bool), [(row, 16 - row), (4, 20)]) for row in (2, 6, 10)]
SOFT = [np.where(mask, 0.8, 0.1) + 0.1 * RNG.random(SHAPE) for mask in MASKS]
REFUSED = {
    "not-finite": (segbench.Contours(at=0.5), MASKS, [np.where(soft > 0.85, np.nan, soft) for soft in SOFT]),
    "range": (segbench.Boundaries(), MASKS, [100 * soft for soft in SOFT]),
    "labels": (segbench.Boundaries(), [mask + np.arange(32) % 2 for mask in MASKS], SOFT),
    "grey-ground-truth": (segbench.Pixels(), [mask * 230 + np.arange(32) % 19 for mask in MASKS], SOFT),
    "void": (segbench.Pixels(), [mask + 255 * (np.arange(32) > 28) for mask in MASKS], SOFT),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_wrong_with_files_is_said_in_the_words_of_the_run(folders, kind):
    protocol, truths, predictions = REFUSED[kind]
    where = folders(numbered([truth.astype(np.uint8) for truth in truths]), numbered(predictions, "npy"))
    (error,) = segbench.check(*where, protocol, sample=None).errors
    with pytest.warns(segbench.FailedImages):
        failed = segbench.evaluate(*where, protocol).failed
    assert error.kind == kind
    assert error.images == tuple(failed)
    for place, reason in zip(error.places, failed.values(), strict=True):
        assert str(reason).startswith(f"{place}; ")


@pytest.mark.parametrize(
    "protocol",
    [
        segbench.Contours(spacing=(2.5, 0.7, 0.7)),
        segbench.Contours(spacing={"000": (0.5, 0.7)}),
        segbench.Contours(spacing="header"),
        segbench.Objects(kind="components", min_size=2, spacing=(2.5, 0.7, 0.7)),
    ],
)
def test_a_spacing_that_fits_no_image_is_said_before(folders, protocol):
    masks = numbered([mask.astype(np.uint8) for mask in MASKS])
    where = folders(masks, masks)
    refused = [image for error in segbench.check(*where, protocol, sample=None).errors for image in error.images]
    with pytest.warns(segbench.FailedImages):
        assert refused == [*segbench.evaluate(*where, protocol).failed]
