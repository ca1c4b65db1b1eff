"""What is said of names that do not pair: it pairs them, all of them, and says so where there are several ways."""

from dataclasses import replace

import numpy as np
import pytest
from cases import write_folder
from noted import advised, values_of
from refusing import parts_of, refused

from segbench.core.errors import DataError
from segbench.core.messages import Message
from segbench.loaders.pairing import Inputs, methods_below, pair, pairing_hint

MASK = np.zeros((4, 5), np.uint8)


def hint(tmp_path, truths, predictions, **patterns):
    gt, pred = (
        write_folder(tmp_path / kind, {f"{name}.png" if "." not in name else name: MASK for name in names})
        for kind, names in (("gt", truths), ("pred", predictions))
    )
    return pairing_hint(pair(Inputs(ground_truth=str(gt), prediction=str(pred), **patterns)))


def patterns_of(said):
    """Return the settings that a hint advises, in its order."""
    return [(advice.name, advice.value) for advice in said.settings]


def kinds_of(said):
    """Return the kinds of a hint and of what stands in it."""
    return {part.kind for part in parts_of(said, Message)}


STEMS = [f"img_{k:03}" for k in range(1, 13)]


def each(*forms):
    return [form.format(stem) for stem in STEMS for form in forms]


def test_every_pattern_that_pairs_all_images_is_named(tmp_path):
    said = hint(tmp_path, STEMS, each("{}-pred", "{}-edge"))
    assert said.kind == "alternatives"
    assert patterns_of(said) == [("pred_pattern", "*-edge"), ("pred_pattern", "*-pred")]


def test_a_suffix_of_a_few_files_is_not_named(tmp_path):
    said = hint(tmp_path, STEMS, [*each("{}-pred"), "img_003-old", "img_004-old"])
    assert patterns_of(said) == [("pred_pattern", "*-pred")]


def test_masks_beside_photographs_that_pair(tmp_path):
    said = hint(tmp_path, each("{}.jpg", "{}_mask.png"), STEMS)
    assert patterns_of(said) == [("gt_pattern", "*_mask"), ("allow_missing", True)]


def test_maps_of_edges_beside_predictions_that_pair(tmp_path):
    assert patterns_of(hint(tmp_path, STEMS, each("{}", "{}-edge"))) == [("pred_pattern", "*-edge"), ("images", ...)]


def test_a_pattern_is_put_into_the_one_given(tmp_path):
    said = hint(tmp_path, each("a_{}_gt"), each("b_{}_x"), gt_pattern="a_*", pred_pattern="b_*")
    assert patterns_of(said) == [("gt_pattern", "a_*_gt"), ("pred_pattern", "b_*_x")]


@pytest.mark.parametrize(("gt_pattern", "pred_pattern"), [("*", "*"), ("img_0*", "img_*")])
def test_numbers_padded_differently_have_no_pattern(tmp_path, gt_pattern, pred_pattern):
    predictions = [f"img_{k}" for k in range(1, 13)]
    said = hint(tmp_path, STEMS, predictions, gt_pattern=gt_pattern, pred_pattern=pred_pattern)
    assert "other-padding" in kinds_of(said)
    assert patterns_of(said) == [("pairs", ...)]


@pytest.mark.parametrize("swapped", [False, True])
def test_folders_on_one_side_alone_have_no_pattern(tmp_path, swapped):
    """As in Cityscapes, whose ground truth has a folder for each city and many predictions none."""
    names = [f"{'ab'[k % 2]}/{stem}" for k, stem in enumerate(STEMS)], STEMS[1:]
    said = hint(tmp_path, *(names[::-1] if swapped else names))
    assert said.kind == "other-folders"
    assert patterns_of(said) == [("pairs", ...)]
    in_one_folder = hint(tmp_path / "one", [f"a/{stem}" for stem in STEMS], STEMS)
    assert patterns_of(in_one_folder) == [("gt_pattern", "a/img_*"), ("pred_pattern", "img_*")]


@pytest.mark.parametrize("lower", ["ground truth", "predictions"])
def test_numbers_that_start_from_0_and_from_1(tmp_path, lower):
    names = [f"im_{k}" for k in range(12)], [f"im_{k}" for k in range(1, 13)]
    said = hint(tmp_path, *(names if lower == "ground truth" else names[::-1]))
    assert said.values["otherwise"].kind == "one-lower"
    assert said.values["otherwise"].values["lower"] == lower
    assert patterns_of(said) == [("pairs", ...)]


def test_a_missing_first_and_a_missing_last_image_are_not_a_shift(tmp_path):
    names = [f"im_{k}" for k in (0, 1, 2, 4, 7, 11)]
    assert "one-lower" not in kinds_of(hint(tmp_path, names[1:], names[:-1]))


def numbered(form, count=4):
    return [form.format(k) for k in range(count)]


@pytest.mark.parametrize("outer", ["png", "npy"])
@pytest.mark.parametrize("inner", [".jpg", ".JPG", ".npy", "_mask.png", "_gt.tiff"])
@pytest.mark.parametrize("side", ["gt", "pred"])
def test_patterns_for_two_extensions_name_the_last_one(tmp_path, side, inner, outer):
    twice, plain = numbered(f"{{}}{inner}.{outer}"), numbered("{}.png")
    said = hint(tmp_path, *((twice, plain) if side == "gt" else (plain, twice)))
    assert patterns_of(said) == [(f"{side}_pattern", f"*{inner}.{outer}")]
    inputs = Inputs(ground_truth=str(tmp_path / "gt"), prediction=str(tmp_path / "pred"))
    pairing = pair(replace(inputs, **{f"{side}_pattern": f"*{inner}.{outer}"}))
    assert [files.name for files in pairing.files] == numbered("{}")


def test_two_extensions_of_several_kinds_need_a_list(tmp_path):
    said = hint(tmp_path, numbered("{}.png"), ["0.jpg.png", "1.jpg.png", "2.jpg.npy", "3.jpg.npy"])
    assert patterns_of(said) == [("gt_pattern", ...), ("pred_pattern", ...), ("pairs", ...)]


def test_masks_of_the_field_of_view_with_two_extensions(tmp_path):
    for side, form in (("gt", "{}.png"), ("pred", "{}.png"), ("fov", "{}_fov.tif.png")):
        write_folder(tmp_path / side, dict.fromkeys(numbered(form), MASK))
    places = Inputs(ground_truth=str(tmp_path / "gt"), prediction=str(tmp_path / "pred"), field=str(tmp_path / "fov"))
    assert patterns_of(pairing_hint(pair(places))) == [("field_pattern", "*_fov.tif.png")]


@pytest.mark.parametrize(("given", "right"), [("*.jpg", "*.jpg.png"), ("*_mask.png", "*_mask.png.png")])
def test_a_pattern_that_means_the_first_of_two_extensions(tmp_path, given, right):
    names = numbered(given.replace("*", "{}") + ".png")
    with refused("unfit-pattern", DataError, pattern=given) as caught:
        hint(tmp_path, numbered("{}"), names, pred_pattern=given)
    assert right in values_of(caught.value.hint).values()


def test_a_pattern_that_pairs_everything_comes_before_numbers_that_are_one_lower(tmp_path):
    said = hint(tmp_path, numbered("img{}_1"), numbered("img{}_2"))
    assert patterns_of(said) == [("gt_pattern", "*_1"), ("pred_pattern", "*_2")]


def test_what_both_suffixes_begin_with_is_part_of_the_name(tmp_path):
    said = hint(tmp_path, numbered("x{}_19_gt"), numbered("x{}_19_pred"))
    assert patterns_of(said) == [("gt_pattern", "*_gt"), ("pred_pattern", "*_pred")]


@pytest.mark.parametrize(
    ("truths", "predictions"),
    [("IMG{}", "img{}"), ("a/Img{}", "a/img{}"), ("Bottle/{}", "bottle/{}")],
)
def test_names_that_differ_in_case_need_a_list(tmp_path, truths, predictions):
    said = hint(tmp_path, numbered(truths), numbered(predictions))
    assert said.values["otherwise"].kind == "other-case"
    assert patterns_of(said) == [("pairs", ...)]


def test_case_beside_a_suffix(tmp_path):
    said = hint(tmp_path, numbered("IMG{}_mask"), numbered("img{}"))
    assert said.values["otherwise"].kind == "also-other-case"


@pytest.mark.parametrize(
    ("truths", "predictions", "patterns", "folders"),
    [
        ("bot/0{}", "cab/0{}", ("bot/*", "cab/*"), ("bot", "cab")),
        ("val/{}_gt", "test/{}", ("val/*_gt", "test/*"), ("val", "test")),
        ("a/b/{}", "a/c/{}", ("a/b/*", "a/c/*"), ("a/b", "a/c")),
    ],
)
def test_a_pattern_that_joins_two_folders_comes_with_its_condition(tmp_path, truths, predictions, patterns, folders):
    said = hint(tmp_path, numbered(truths), numbered(predictions))
    assert patterns_of(said) == [*zip(("gt_pattern", "pred_pattern"), patterns, strict=True)]
    assert (values_of(said)["truth"], values_of(said)["prediction"]) == folders


def test_folders_may_be_annotators_or_sequences(tmp_path):
    said = hint(tmp_path, [*numbered("bear/{}"), *numbered("camel/{}")], numbered("{}"))
    assert patterns_of(said) == [("gt_pattern", pattern) for pattern in ("#/*", "bear/*", "camel/*")]
    assert values_of(said)["condition"] == "if bear, camel are annotators of the same images"


@pytest.mark.parametrize(
    ("truths", "predictions", "settings"),
    [
        ("{}", ("deeplab/{}_p", "ours/{}_p"), {"pred_pattern": "*_p"}),
        ("{}", ("deeplab/{}.jpg.png", "ours/{}.jpg.png"), {"pred_pattern": "*.jpg.png"}),
        ("{}_gt", ("deeplab/{}", "ours/{}"), {"gt_pattern": "*_gt"}),
        ("{}", ("deeplab/{}", "ours/{}_q"), {"pred_pattern": "*_q"}),
    ],
)
def test_methods_in_sub_folders_are_named_with_the_pattern_that_they_need(tmp_path, truths, predictions, settings):
    names = [name for form in predictions for name in numbered(form)]
    hint(tmp_path, numbered(truths), names)
    places = Inputs(ground_truth=str(tmp_path / "gt"), prediction=str(tmp_path / "pred"))
    with refused("several-methods", DataError, count=2, folders=("deeplab", "ours"), settings=settings) as caught:
        pair(places).require_complete()
    methods = caught.value.hint.values.get("methods", ())
    own = [advised(method.settings) for method in methods]
    assert own == ([{}, settings] if "_q" in predictions[1] else [])


def test_folders_of_other_categories_are_no_methods(tmp_path):
    said = hint(tmp_path, numbered("bottle/{}"), [*numbered("cable/{}"), *numbered("hazelnut/{}")])
    assert [
        (advised(pattern.settings), pattern.values["truth"], pattern.values["prediction"])
        for pattern in said.values["patterns"]
    ] == [
        ({"gt_pattern": "bottle/*", "pred_pattern": f"{other}/*"}, "bottle", other) for other in ("cable", "hazelnut")
    ]
    places = Inputs(ground_truth=str(tmp_path / "gt"), prediction=str(tmp_path / "pred"))
    assert not methods_below(pair(places), pair)
