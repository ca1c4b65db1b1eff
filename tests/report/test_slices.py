"""Slices of volumes: which are chosen, and pictures with square pixels."""

import numpy as np
import pytest
from PIL import Image
from volumes_written import write_nifti

import segbench
from segbench.protocols.states import State
from segbench.report.slices import largest_error, slices_of_errors

SPACING = (3.0, 1.0, 1.0)


def drawn():
    """Draw a found voxel, a false one 4 to its right, and one 2 above it, which is farther by the spacing."""
    states = np.zeros((5, 6, 8), np.uint8)
    states[2, 3, 1] = State.TRUE
    states[2, 3, 5] = states[4, 3, 1] = State.FALSE
    return states


def test_largest_error_is_measured_by_the_spacing():
    assert largest_error(drawn()) == (2, 3, 5)
    assert largest_error(drawn(), SPACING) == (4, 3, 1)
    assert largest_error(np.zeros((2, 2, 2), np.uint8)) is None


def test_pixels_are_square_and_only_repeated():
    axial, coronal, sagittal, _ = slices_of_errors(drawn(), SPACING)
    assert [plane.cut(drawn()).shape for plane in (axial, coronal, sagittal)] == [(6, 8), (15, 8), (15, 6)]
    np.testing.assert_array_equal(coronal.cut(drawn()), drawn()[:, 3].repeat(3, axis=0))


def test_slices_of_a_patient_have_the_head_above_and_the_right_on_the_left():
    affine = ((0, 0, 1, 0), (0, 1, 0, 0), (1, 0, 0, 0))  # all axes rise: RAS
    _, coronal, _, _ = slices_of_errors(drawn(), None, affine)
    np.testing.assert_array_equal(coronal.cut(drawn()), drawn()[::-1, 3, ::-1])


@pytest.mark.parametrize("photograph_shape", [(5, 6, 8), (4, 6, 8), (5, 6, 9)])
@pytest.mark.parametrize("dtype", [np.int16, np.float32])
def test_overlay_and_page_of_a_volume(tmp_path, photograph_shape, dtype):
    truth = np.zeros((5, 6, 8), np.uint8)
    truth[1:4, 2:5, 2:6] = 1
    write_nifti(tmp_path / "gt" / "a.nii.gz", truth)
    write_nifti(tmp_path / "pred" / "a.nii.gz", np.roll(truth, 1, axis=1))
    photograph = np.arange(np.prod(photograph_shape)).reshape(photograph_shape) - 100.0
    write_nifti(tmp_path / "photos" / "a_0000.nii.gz", photograph.astype(dtype))
    result = segbench.evaluate(tmp_path / "gt", tmp_path / "pred", segbench.Labels(positive=">0"))
    assert segbench.export_overlays(result, tmp_path / "out") == []
    with Image.open(tmp_path / "out" / "pred" / "a.png") as picture:
        assert picture.mode == "RGB"
    page = tmp_path / "page.html"
    assert segbench.export_report(result, page, images=tmp_path / "photos") == ()
    text = page.read_text("utf-8")
    assert "slice_shown" in text
    assert ('"photos":' in text) == (photograph_shape == truth.shape)
    assert ("another shape" in text) == (photograph_shape != truth.shape)
