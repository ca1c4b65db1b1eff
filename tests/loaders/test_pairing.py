"""Which files pair, and what is said when some do not."""

import os
from pathlib import Path

import pytest
from noted import noted
from refusing import refused

from segbench.core.errors import ArgumentError, DataError
from segbench.core.messages import Setting
from segbench.loaders import pairing as found
from segbench.loaders.pairing import Inputs
from segbench.loaders.source import LocalFile


def make(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
    folder.mkdir(exist_ok=True)
    return folder


def inputs(ground_truth: Path, prediction: Path, field: Path | None = None, **patterns: str) -> Inputs:
    places = {"ground_truth": str(ground_truth), "prediction": str(prediction), "field": field and str(field)}
    return Inputs(**places, **patterns)


def pair(*places, **options):
    return found.pair(inputs(*places, **options)).require_complete()


def names(pairing):
    return [file.name for file in pairing.files]


def test_pairs_by_stem_and_keeps_subfolders(tmp_path):
    gt = make(tmp_path / "gt", "b.png", "city/a.PNG", "a.png")
    pred = make(tmp_path / "pred", "a.npy", "b.tif", "city/a.jpg")
    pairing = pair(gt, pred)
    assert names(pairing) == ["a", "b", "city/a"]
    assert pairing.files[2].ground_truths == (LocalFile(str(gt / "city/a.PNG")),)
    assert pairing.files[2].prediction == LocalFile(str(pred / "city/a.jpg"))
    assert pairing.files[0].field is None
    assert pairing.notes == ()


def test_two_files_pair_whatever_their_names(tmp_path):
    gt, pred = make(tmp_path, "left.png") / "left.png", make(tmp_path, "right.npy") / "right.npy"
    (file,) = pair(gt, pred).files
    assert (file.name, file.ground_truths, file.prediction) == ("left", (LocalFile(str(gt)),), LocalFile(str(pred)))


@pytest.mark.parametrize(
    ("gt_names", "pattern", "expected"),
    [
        (["01_manual1.gif", "02_manual1.gif"], "*_manual1", {"01": ["01_manual1.gif"], "02": ["02_manual1.gif"]}),
        (["x/01_manual1.gif"], "*_manual1.gif", {"x/01": ["x/01_manual1.gif"]}),
        (
            ["4680_left_0170.10.png", "4680_left_0170.6.png", "4680_left_0170.9.png"],
            "*.#",
            {"4680_left_0170": ["4680_left_0170.6.png", "4680_left_0170.9.png", "4680_left_0170.10.png"]},
        ),
        (
            ["ah/im1.ppm", "vk/im1.ppm", "vk/im2.ppm"],
            "#/*",
            {"im1": ["ah/im1.ppm", "vk/im1.ppm"], "im2": ["vk/im2.ppm"]},
        ),
        (["a/1.png", "a/2.png"], "*/#", {"a": ["a/1.png", "a/2.png"]}),
        (
            ["Image_01L_1stHO.png", "Image_01L_2ndHO.png"],
            "*_#",
            {"Image_01L": ["Image_01L_1stHO.png", "Image_01L_2ndHO.png"]},
        ),
    ],
)
def test_patterns_tell_names_from_tags(tmp_path, gt_names, pattern, expected):
    gt = make(tmp_path / "gt", *gt_names)
    pred = make(tmp_path / "pred", *(f"{name}.png" for name in expected))
    pairing = pair(gt, pred, gt_pattern=pattern)
    found = {f.name: [Path(p).relative_to(gt).as_posix() for p in f.ground_truths] for f in pairing.files}
    assert found == expected


@pytest.mark.parametrize("pattern", ["", "name", "**", "*_#_#", ".png"])
def test_impossible_patterns_are_refused(tmp_path, pattern):
    folder = make(tmp_path / "gt", "a.png")
    with refused("wrong-pattern", ArgumentError, given=Setting("gt_pattern", pattern)):
        pair(folder, folder, gt_pattern=pattern)


def test_predictions_come_one_a_scale_in_natural_order_and_masks_do_not(tmp_path):
    gt = make(tmp_path / "gt", "a.png")
    scales = make(tmp_path / "pred", "a/1.png", "a/10.png", "a/2.png")
    (files,) = pair(gt, scales, pred_pattern="*/#").files
    assert [path.name for path in (files.prediction, *files.scales)] == ["1.png", "2.png", "10.png"]
    with refused("wrong-pattern", ArgumentError, count=1, expected="none: there is one mask per image"):
        pair(gt, gt, field=gt, field_pattern="*.#")


def test_files_that_do_not_fit_are_counted(tmp_path):
    gt = make(tmp_path / "gt", "a_mask.png", "a.png", "b.png")
    pred = make(tmp_path / "pred", "a.png")
    pairing = pair(gt, pred, gt_pattern="*_mask")
    assert names(pairing) == ["a"]
    assert noted(pairing.notes) == [("", "files-unmatched", {"place": str(gt), "files": 2, "pattern": "*_mask"})]


def test_a_pattern_that_fits_nothing_shows_a_name(tmp_path):
    gt = make(tmp_path / "gt", "a.png")
    with refused("unfit-pattern", DataError, files=1, pattern="*_mask", first="a"):
        pair(gt, gt, gt_pattern="*_mask")


def test_clutter_is_passed_over_and_unknown_extensions_are_listed(tmp_path):
    gt = make(
        tmp_path / "gt", "a.png", "Thumbs.db", ".DS_Store", "desktop.ini", "__MACOSX/a.png", ".git/b.png",
        "readme.txt", "list.txt", "Makefile",
    )  # fmt: skip
    pred = make(tmp_path / "pred", "a.png")
    pairing = pair(gt, pred)
    assert names(pairing) == ["a"]
    left_out = {"place": str(gt), "files": 3, "endings": (".txt (2)", "no extension (1)")}
    assert noted(pairing.notes) == [("", "other-files", left_out)]


def test_of_many_kinds_of_other_files_the_rare_ones_are_summed_up(tmp_path):
    gt = make(tmp_path / "gt", "a.png", "a.log", "b.log", *(f"a.z{k}" for k in range(10)))
    endings = (".log (2)", *(f".z{k} (1)" for k in range(7)), "3 other kinds (3)")
    left_out = {"place": str(gt), "files": 12, "endings": endings}
    assert noted(pair(gt, gt).notes)[0] == ("", "other-files", left_out)


def test_two_files_of_one_name_are_refused_and_both_listed(tmp_path):
    gt = make(tmp_path / "gt", "a.png", "a.jpg", "b.png")
    with refused("repeated-names", DataError, count=2) as caught:
        pair(gt, gt)
    assert caught.value.values["problems"] == (f"{gt}/a.jpg", f"{gt}/a.png")
    assert names(pair(gt, gt, gt_pattern="*.png", pred_pattern="*.png")) == ["a", "b"]


def test_all_that_does_not_pair_is_listed(tmp_path):
    gt = make(tmp_path / "gt", *(f"img{i:03}.png" for i in range(300)), "only_here.png")
    pred = make(tmp_path / "pred", *(f"img{i:03}.png" for i in range(7, 300)), "only_there.png", "imgO01.png")
    missing, extra = (*(f"img{i:03}" for i in range(7)), "only_here"), ("imgO01", "only_there")
    advice = {"allow_missing": True, "images": ...}
    with refused("unpaired", DataError, missing=missing, extra=extra, settings=advice) as caught:
        pair(gt, pred)
    lists = [(part.values["said"].values, part.values["names"]) for part in caught.value.values["lists"]]
    (of_missing, named), (of_extra, others) = lists
    assert (of_missing["count"], of_missing["total"], of_extra["count"]) == (8, 301, 2)
    assert [name.split(" ")[0] for name in named] == [*missing]
    assert "img001 (nearest: imgO01)" in named
    assert others == extra
    surveyed = found.pair(inputs(gt, pred))
    assert len(surveyed.files) == 293
    assert (surveyed.missing, surveyed.extra) == (missing, extra)


@pytest.mark.parametrize(
    ("gt_name", "pred_name", "patterns"),
    [
        ("{}_manual1.gif", "{}.png", {"gt_pattern": "*_manual1"}),
        ("{}.png", "{}_pred.png", {"pred_pattern": "*_pred"}),
        ("{}_manual1.gif", "{}_test.png", {"gt_pattern": "*_manual1", "pred_pattern": "*_test"}),
        ("{}.png", "out/{}.png", {"pred_pattern": "out/*"}),
        ("{}.png", "sal_{}.png", {"pred_pattern": "sal_*"}),
    ],
)
def test_the_patterns_that_pair_names_are_found_and_pair_them(tmp_path, gt_name, pred_name, patterns):
    stems = [f"{i}1" for i in range(12)]
    gt = make(tmp_path / "gt", *(gt_name.format(stem) for stem in stems))
    pred = make(tmp_path / "pred", *(pred_name.format(stem) for stem in stems))
    with refused("unpaired", DataError, settings=patterns):
        pair(gt, pred)
    assert names(pair(gt, pred, **patterns)) == sorted(stems)


def test_folders_with_nothing_in_common_are_refused_in_bounded_effort(tmp_path):
    gt = make(tmp_path / "gt", *(f"a{i:05}.png" for i in range(3000)))
    pred = make(tmp_path / "pred", *(f"z{i * 7:06}y.png" for i in range(3000)))
    with pytest.raises(DataError) as caught:
        pair(gt, pred)
    assert str(caught.value).count("\n  ") == 2 * 11  # ten each, and how many more


def test_field_masks_pair_too(tmp_path):
    gt = make(tmp_path / "gt", "01.gif", "02.gif")
    field = make(tmp_path / "mask", "01_test_mask.gif", "02_test_mask.gif", "03_test_mask.gif")
    pairing = pair(gt, gt, field=field, field_pattern="*_test_mask")
    assert [Path(f.field).name for f in pairing.files] == ["01_test_mask.gif", "02_test_mask.gif"]
    with refused("unpaired", DataError, without_field=("01", "02"), settings={"field_pattern": "*_test_mask"}):
        pair(gt, gt, field=field)
    with refused("unpaired", DataError, without_field=("01", "02"), settings={"field_pattern": "*_test_mask"}):
        pair(gt, gt, field=field, field_pattern="*_mask")
    with refused("unpaired", DataError, without_field=("01", "02"), settings={"field_pattern": ...}):
        pair(gt, gt, field=make(tmp_path / "others", "a.gif", "b.gif"))
    one = field / "01_test_mask.gif"
    assert [Path(f.field) for f in pair(gt, gt, field=one).files] == [one, one]


def test_folders_that_cannot_be_used(tmp_path):
    good = make(tmp_path / "good", "a.png")
    empty = make(tmp_path / "empty")
    hidden = make(tmp_path / "hidden", ".a.png")
    texts = make(tmp_path / "texts", "a.log")
    archives = (".zip", ".tar", ".tar.gz", ".tgz")
    for folder, kind, values in [
        (tmp_path / "none", "missing", {"expected": "folder"}),
        (empty, "no-images", {}),
        (hidden, "no-images", {}),
        (texts, "no-images", {"listed": (".log (1)",)}),
        (good / "a.png", "not-a-folder", {"extensions": archives}),
        (make(tmp_path / "packed", "a.tar.xz") / "a.tar.xz", "not-a-folder", {"extensions": archives}),
    ]:
        for gt, pred in [(folder, good), (good, folder)]:
            with refused(kind, DataError, path=str(folder), **values):
                pair(gt, pred)


@pytest.mark.skipif(os.name == "nt", reason="Windows forbids these names")
def test_hostile_names_and_links(tmp_path):
    odd = [
        "with space.png",
        "quote'\".png",
        "two\nlines.png",
        "\udcff\udcfe.png",
        "..png",
        "...png",
        "ünï.png",
        "-x.png",
    ]
    gt = make(tmp_path / "gt", *(name for name in odd if not name.startswith(".")))
    (gt / "loop").symlink_to(gt)
    (gt / "self").symlink_to("self")
    (gt / "dead.png").symlink_to("nowhere.png")
    os.mkfifo(gt / "pipe.png")
    (gt / "to-pipe.png").symlink_to("pipe.png")
    pairing = pair(gt, gt)
    assert sorted(names(pairing)) == sorted(
        ["with space", "quote'\"", r"two\nlines", r"\udcff\udcfe", "ünï", "-x", "dead"]
    )
    "".join(names(pairing)).encode("utf-8")
    assert {"links to folders already listed (1)", "pipes and devices (2)"} <= {*pairing.notes[0].values["endings"]}
    other = make(tmp_path / "pred", "a.png")
    with pytest.raises(DataError) as caught:
        pair(gt, other)
    str(caught.value).encode("utf-8")
    assert r"two\nlines" in caught.value.values["missing"]


def test_composed_and_decomposed_letters_are_one_name(tmp_path):
    gt = make(tmp_path / "gt", "u\u0308.png")
    pred = make(tmp_path / "pred", "\u00fc.png")
    assert names(pair(gt, pred)) == ["\u00fc"]


def test_the_mend_of_a_list_of_names_has_a_line_of_its_own(tmp_path):
    gt, pred = make(tmp_path / "gt", "a.png", "b.png"), make(tmp_path / "pred", "a.png", "c.png", "notes.txt")
    with pytest.raises(DataError) as caught:
        pair(gt, pred)
    last = str(caught.value).splitlines()[-1]
    assert last.startswith("-> add or remove files")
    assert last.endswith("images=... restricts the run to the images named, here those with a ground truth")
    assert "\n\n" not in str(caught.value)
    left_out = {"place": str(pred), "files": 1, "endings": (".txt (1)",)}
    assert noted(pair(pred, pred).notes)[0] == ("", "other-files", left_out)


def test_of_many_names_the_first_are_listed(tmp_path):
    gt = make(tmp_path / "gt", "same.png", *(f"{k}_a.png" for k in range(150)))
    pred = make(tmp_path / "pred", "same.png", *(f"{k}_b.png" for k in range(150)))
    with refused("unpaired", DataError, settings={"gt_pattern": "*_a", "pred_pattern": "*_b"}) as caught:
        pair(gt, pred)
    assert str(caught.value).count("and 140 more") == 2


def test_several_predictions_of_each_image_are_a_choice(tmp_path):
    gt = make(tmp_path / "gt", "a.png", "b.png", "c.png")
    pred = make(tmp_path / "pred", *(f"{name}-{what}.png" for name in "abc" for what in ("edge", "pred")))
    with refused(
        "unpaired",
        DataError,
        missing=("a", "b", "c"),
        extra=("a-edge", "a-pred", "b-edge", "b-pred", "c-edge", "c-pred"),
        settings={"pred_pattern": "*-pred"},
    ):
        pair(gt, pred)
