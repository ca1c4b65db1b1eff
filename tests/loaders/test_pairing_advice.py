"""What is said of names that do not pair: it pairs them, all of them, and says so where there are several ways."""

import numpy as np
import pytest
from cases import write_folder

from segbench.loaders.pairing import Inputs, pair, pairing_hint

MASK = np.zeros((4, 5), np.uint8)


def hint(tmp_path, truths, predictions, **patterns):
    gt, pred = (
        write_folder(tmp_path / kind, {f"{name}.png" if "." not in name else name: MASK for name in names})
        for kind, names in (("gt", truths), ("pred", predictions))
    )
    return pairing_hint(pair(Inputs(ground_truth=str(gt), prediction=str(pred), **patterns)))


STEMS = [f"img_{k:03}" for k in range(1, 13)]


def each(*forms):
    return [form.format(stem) for stem in STEMS for form in forms]


def test_every_pattern_that_pairs_all_images_is_named(tmp_path):
    assert hint(tmp_path, STEMS, each("{}-pred", "{}-edge")) == (
        "name the files that are meant: pred_pattern='*-edge', or pred_pattern='*-pred'"
    )


def test_a_suffix_of_a_few_files_is_not_named(tmp_path):
    assert hint(tmp_path, STEMS, [*each("{}-pred"), "img_003-old", "img_004-old"]) == "try pred_pattern='*-pred'"


def test_masks_beside_photographs_that_pair(tmp_path):
    said = hint(tmp_path, each("{}.jpg", "{}_mask.png"), STEMS)
    assert said == (
        "if the files without a partner are those meant, gt_pattern='*_mask'; "
        "allow_missing=True leaves out images without a prediction"
    )


def test_maps_of_edges_beside_predictions_that_pair(tmp_path):
    assert "are those meant, pred_pattern='*-edge'; " in hint(tmp_path, STEMS, each("{}", "{}-edge"))


def test_a_pattern_is_put_into_the_one_given(tmp_path):
    said = hint(tmp_path, each("a_{}_gt"), each("b_{}_x"), gt_pattern="a_*", pred_pattern="b_*")
    assert said == "try gt_pattern='a_*_gt', pred_pattern='b_*_x'"


@pytest.mark.parametrize(("gt_pattern", "pred_pattern"), [("*", "*"), ("img_0*", "img_*")])
def test_numbers_padded_differently_have_no_pattern(tmp_path, gt_pattern, pred_pattern):
    predictions = [f"img_{k}" for k in range(1, 13)]
    said = hint(tmp_path, STEMS, predictions, gt_pattern=gt_pattern, pred_pattern=pred_pattern)
    assert "padded differently: rename the files" in said
    assert "pairs=..." in said


@pytest.mark.parametrize("swapped", [False, True])
def test_folders_on_one_side_alone_have_no_pattern(tmp_path, swapped):
    """As in Cityscapes, whose ground truth has a folder for each city and many predictions none."""
    names = [f"{'ab'[k % 2]}/{stem}" for k, stem in enumerate(STEMS)], STEMS[1:]
    said = hint(tmp_path, *(names[::-1] if swapped else names))
    assert said == (
        "names differ in their folders alone: put the files of both sides into the same folders, or list which belong "
        "together: pairs=..."
    )
    assert hint(tmp_path / "one", [f"a/{stem}" for stem in STEMS], STEMS).startswith("try gt_pattern='a/")


@pytest.mark.parametrize("lower", ["ground truth", "predictions"])
def test_numbers_that_start_from_0_and_from_1(tmp_path, lower):
    names = [f"im_{k}" for k in range(12)], [f"im_{k}" for k in range(1, 13)]
    said = hint(tmp_path, *(names if lower == "ground truth" else names[::-1]))
    assert f"the numbers of {lower} seem to be one lower" in said
    assert "allow_missing" not in said


def test_a_missing_first_and_a_missing_last_image_are_not_a_shift(tmp_path):
    names = [f"im_{k}" for k in (0, 1, 2, 4, 7, 11)]
    assert "one lower" not in hint(tmp_path, names[1:], names[:-1])
