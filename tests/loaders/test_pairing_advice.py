"""What is said of names that do not pair: it pairs them, all of them, and says so where there are several ways."""

import re
from dataclasses import replace

import numpy as np
import pytest
from cases import write_folder

from segbench.core.errors import DataError
from segbench.loaders.pairing import Inputs, methods_below, pair, pairing_hint

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


def numbered(form, count=4):
    return [form.format(k) for k in range(count)]


@pytest.mark.parametrize("outer", ["png", "npy"])
@pytest.mark.parametrize("inner", [".jpg", ".JPG", ".npy", "_mask.png", "_gt.tiff"])
@pytest.mark.parametrize("side", ["gt", "pred"])
def test_patterns_for_two_extensions_name_the_last_one(tmp_path, side, inner, outer):
    twice, plain = numbered(f"{{}}{inner}.{outer}"), numbered("{}.png")
    said = hint(tmp_path, *((twice, plain) if side == "gt" else (plain, twice)))
    assert said == f"try {side}_pattern='*{inner}.{outer}'"
    inputs = Inputs(ground_truth=str(tmp_path / "gt"), prediction=str(tmp_path / "pred"))
    pairing = pair(replace(inputs, **{f"{side}_pattern": f"*{inner}.{outer}"}))
    assert [files.name for files in pairing.files] == numbered("{}")


def test_two_extensions_of_several_kinds_need_a_list(tmp_path):
    said = hint(tmp_path, numbered("{}.png"), ["0.jpg.png", "1.jpg.png", "2.jpg.npy", "3.jpg.npy"])
    assert said.endswith("or list which belong together: pairs=...")


def test_masks_of_the_field_of_view_with_two_extensions(tmp_path):
    for side, form in (("gt", "{}.png"), ("pred", "{}.png"), ("fov", "{}_fov.tif.png")):
        write_folder(tmp_path / side, dict.fromkeys(numbered(form), MASK))
    places = Inputs(ground_truth=str(tmp_path / "gt"), prediction=str(tmp_path / "pred"), field=str(tmp_path / "fov"))
    assert pairing_hint(pair(places)) == "try field_pattern='*_fov.tif.png'"


@pytest.mark.parametrize(("given", "right"), [("*.jpg", "*.jpg.png"), ("*_mask.png", "*_mask.png.png")])
def test_a_pattern_that_means_the_first_of_two_extensions(tmp_path, given, right):
    names = numbered(given.replace("*", "{}") + ".png")
    with pytest.raises(DataError, match=re.escape(f"write {right!r}")):
        hint(tmp_path, numbered("{}"), names, pred_pattern=given)


def test_a_pattern_that_pairs_everything_comes_before_numbers_that_are_one_lower(tmp_path):
    said = hint(tmp_path, numbered("img{}_1"), numbered("img{}_2"))
    assert said == "try gt_pattern='*_1', pred_pattern='*_2'"


def test_what_both_suffixes_begin_with_is_part_of_the_name(tmp_path):
    assert (
        hint(tmp_path, numbered("x{}_19_gt"), numbered("x{}_19_pred")) == "try gt_pattern='*_gt', pred_pattern='*_pred'"
    )


@pytest.mark.parametrize(
    ("truths", "predictions"),
    [("IMG{}", "img{}"), ("a/Img{}", "a/img{}"), ("Bottle/{}", "bottle/{}")],
)
def test_names_that_differ_in_case_need_a_list(tmp_path, truths, predictions):
    said = hint(tmp_path, numbered(truths), numbered(predictions))
    assert said == (
        "names differ only in upper and lower case: rename the files of one side, or list which belong together: "
        "pairs=..."
    )


def test_case_beside_a_suffix(tmp_path):
    said = hint(tmp_path, numbered("IMG{}_mask"), numbered("img{}"))
    assert said.startswith("names differ in upper and lower case, too: ")


@pytest.mark.parametrize(
    ("truths", "predictions", "advice"),
    [
        ("bot/0{}", "cab/0{}", "gt_pattern='bot/*', pred_pattern='cab/*', if cab holds the predictions of bot"),
        ("val/{}_gt", "test/{}", "gt_pattern='val/*_gt', pred_pattern='test/*', if test holds the predictions of val"),
        ("a/b/{}", "a/c/{}", "gt_pattern='a/b/*', pred_pattern='a/c/*', if a/c holds the predictions of a/b"),
    ],
)  # fmt: skip
def test_a_pattern_that_joins_two_folders_comes_with_its_condition(tmp_path, truths, predictions, advice):
    assert hint(tmp_path, numbered(truths), numbered(predictions)) == f"try {advice}"


def test_folders_may_be_annotators_or_sequences(tmp_path):
    said = hint(tmp_path, [*numbered("bear/{}"), *numbered("camel/{}")], numbered("{}"))
    assert said == (
        "if bear, camel are annotators of the same images: gt_pattern='#/*'; otherwise name the files that are meant: "
        "gt_pattern='bear/*', or gt_pattern='camel/*'"
    )


@pytest.mark.parametrize(
    ("truths", "predictions", "advice"),
    [
        ("{}", ("deeplab/{}_p", "ours/{}_p"), "as in PRED/deeplab, with pred_pattern='*_p'"),
        ("{}", ("deeplab/{}.jpg.png", "ours/{}.jpg.png"), "as in PRED/deeplab, with pred_pattern='*.jpg.png'"),
        ("{}_gt", ("deeplab/{}", "ours/{}"), "as in PRED/deeplab, with gt_pattern='*_gt'"),
        ("{}", ("deeplab/{}", "ours/{}_q"), "own patterns: PRED/deeplab; PRED/ours pred_pattern='*_q'"),
    ],
)
def test_methods_in_sub_folders_are_named_with_the_pattern_that_they_need(tmp_path, truths, predictions, advice):
    names = [name for form in predictions for name in numbered(form)]
    hint(tmp_path, numbered(truths), names)
    places = Inputs(ground_truth=str(tmp_path / "gt"), prediction=str(tmp_path / "pred"))
    with pytest.raises(DataError, match="holds the predictions of 2 methods in sub-folders: deeplab, ours") as caught:
        pair(places).require_complete()
    assert caught.value.hint.replace(str(tmp_path / "pred"), "PRED").endswith(advice)


def test_folders_of_other_categories_are_no_methods(tmp_path):
    said = hint(tmp_path, numbered("bottle/{}"), [*numbered("cable/{}"), *numbered("hazelnut/{}")])
    assert said == (
        "name the files that are meant: "
        "gt_pattern='bottle/*', pred_pattern='cable/*', if cable holds the predictions of bottle, or "
        "gt_pattern='bottle/*', pred_pattern='hazelnut/*', if hazelnut holds the predictions of bottle"
    )
    places = Inputs(ground_truth=str(tmp_path / "gt"), prediction=str(tmp_path / "pred"))
    assert not methods_below(pair(places), pair)
