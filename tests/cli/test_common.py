"""``compare --common``: methods that lack images, each others, are compared on those that all have."""

import csv
import io
import json
from dataclasses import asdict

import numpy as np
import pytest
from PIL import Image
from refusing import insist, refused, within

from segbench import Contours, DataError, Labels, Pixels, compare, compare_results, evaluate
from segbench.aggregator.comparing import on_common_images

IMAGES = 12


def square(size):
    mask = np.zeros((24, 24), np.uint8)
    mask[2 : 2 + size, 2 : 2 + size] = 1
    return mask


def pairs(sizes, names=None):
    """Predict a square of each size, of the truth 20 wide; None for an image that is not there."""
    names = names or [f"{k:02}" for k in range(len(sizes))]
    return {name: (square(20), square(size)) for name, size in zip(names, sizes, strict=True) if size is not None}


def result_of(sizes, method, protocol=None, names=None):
    return evaluate(pairs(sizes, names), protocol=protocol or Contours(), method=method)


@pytest.fixture
def crashed(segbench, tmp_path):
    """Return a results file of two methods, of which one has a prediction of another size in three images."""
    for folder in ("gt", "far", "near"):
        (tmp_path / folder).mkdir()
    for k in range(IMAGES):
        Image.fromarray(255 * square(20)).save(tmp_path / f"gt/{k:02}.png")
        Image.fromarray(255 * square(18 - k % 2)).save(tmp_path / f"far/{k:02}.png")
        near = square(19)[: 20 if k < 3 else 24]
        Image.fromarray(255 * near).save(tmp_path / f"near/{k:02}.png")
    file = tmp_path / "r.segbench"
    assert segbench("contours", tmp_path / "gt", tmp_path / "far", tmp_path / "near", "-o", file).code == 1
    return file


def test_without_it_the_error_names_the_option_and_the_option_works(segbench, crashed):
    without = segbench("compare", crashed)
    assert without.code == 1
    insist(without.error, "other-images", path="far, near")
    lacking = within(without.error, "lacking-images")
    assert (lacking["absent"], lacking["present"], lacking["names"]) == ("near", "far", "00, 01, 02")
    assert without.error.hint.kind == "common-images"
    told = segbench("compare", crashed, "--common")
    assert told.code == 0
    assert "near leads far by " in told.out
    note = "compared on the 9 of 12 images that all methods have; 3 left out, which are missing in near: 00, 01, 02"
    assert note in told.out.splitlines()


def test_every_format_says_what_is_left_out(segbench, crashed):
    found = json.loads(segbench("compare", crashed, "--common", "--format", "json").out)
    assert found["images"] == 9
    first = found["notes"][0]
    assert (first["kind"], first["values"]["missing"]) == ("common-images", "near: 00, 01, 02")
    number = first["values"]["number"]["values"]
    assert (number["count"], number["total"]) == (9, IMAGES)
    assert "|images:9|" in found["signature"]
    note = first["text"]
    for form in ("markdown", "latex"):
        assert note in segbench("compare", crashed, "--common", "--format", form).out
    table = segbench("compare", crashed, "--common", "--format", "csv")
    assert note in table.err
    rows = [row for row in csv.DictReader(io.StringIO(table.out)) if row["metric"] == "dice"]
    assert [row["both"] for row in rows] == ["9"]
    checked = segbench("compare", crashed, "--common", "--against", "far", "--fail-if-worse", "1", "--format", "json")
    assert checked.code == 0
    check = json.loads(checked.out)["check"]
    (outcome,) = check["outcomes"]
    assert (check["baseline"], check["margin"]) == ("far", 1)
    assert (outcome["method"], outcome["metric"], outcome["outcome"]) == ("near", "hd95", "not worse")


def test_it_is_what_a_run_on_the_common_images_gives(segbench, crashed, tmp_path):
    (tmp_path / "common.txt").write_text("".join(f"{k:02}\n" for k in range(3, IMAGES)))
    again = tmp_path / "again.segbench"
    folders = tmp_path / "gt", tmp_path / "far", tmp_path / "near"
    assert segbench("contours", *folders, "--images", tmp_path / "common.txt", "-o", again).code == 0
    restricted, counted = (
        json.loads(segbench("compare", file, *options, "--format", "json").out)
        for file, options in ((crashed, ["--common"]), (again, []))
    )
    assert restricted["answers"] == counted["answers"]
    data = (text.split("|data:")[1].split("|")[0] for text in (restricted["signature"], counted["signature"]))
    assert len(set(data)) == 1


def test_each_may_lack_others():
    results = [result_of([None, 18, 17] + [18, 17, 18] * 3, "far"), result_of([19] * 11 + [None], "near")]
    with refused("other-images", DataError, methods=("far", "near")) as raised:
        compare_results(results)
    assert raised.value.hint.kind == "common-images"
    comparison = compare_results(results, common=True)
    assert comparison.images == 10
    note = comparison.notes[0]
    number = note.values["number"].values
    assert (note.kind, number["count"], number["total"]) == ("common-images", 10, 12)
    assert (note.values["left_out"], note.values["missing"]) == (2, "far: 00; near: 11")
    assert compare({"a": results[0], "b": results[1]}, common=True).images == 10
    by_counts = compare({"a": results[0].counts, "b": results[1].counts}, common=True)
    assert by_counts.images == 10
    assert by_counts.rows("hd95")[0].difference == comparison.rows("hd95")[0].difference


def test_where_all_have_the_same_nothing_changes():
    results = [result_of([18, 17] * 6, "far"), result_of([19, 18] * 6, "near")]
    one, other = compare_results(results), compare_results(results, common=True)
    assert (one.notes, one.rows("hd95")) == (other.notes, other.rows("hd95"))


def test_methods_without_a_common_image_are_refused():
    results = [result_of([18] * 3, "far", names=["a", "b", "c"]), result_of([19] * 3, "near", names=["d", "e", "f"])]
    with refused("no-common-image", DataError, had="far has a, b, c; near has d, e, f"):
        compare_results(results, common=True)


def test_the_ground_truth_of_common_images_must_be_the_same():
    far = result_of([18] * 8, "far")
    moved = {name: (np.roll(gt, 1, axis=0), pred) for name, (gt, pred) in pairs([19] * 7).items()}
    with refused("other-ground-truth", DataError):
        compare_results([far, evaluate(moved, protocol=Contours(), method="near")], common=True)
    other_elsewhere = pairs([19] * 7) | {"elsewhere": (square(5), square(5))}
    near = evaluate(other_elsewhere, protocol=Contours(), method="near")
    assert compare_results([far, near], common=True).images == 7


def test_sequences_are_left_out_as_a_whole():
    names = [f"{video}/{k}" for video in "xyz" for k in range(4)]
    protocol = Contours(convention="davis")
    every, some = (
        result_of([18] * 12, "every", protocol, names),
        result_of([17] * 5 + [None] + [17] * 6, "some", protocol, names),
    )
    restricted, (note,) = on_common_images([every, some])
    assert [list(result.counts) for result in restricted] == [[name for name in names if name[0] != "y"]] * 2
    assert (note.values["number"].values["count"], note.values["left_out"]) == (8, 4)


def test_means_over_groups_and_classes_follow():
    names = [f"{group}/{k}" for group in "xy" for k in range(6)]
    every, some = (
        result_of([18, 17] * 6, "every", None, names),
        result_of([19, 18] * 5 + [None, 19], "some", None, names),
    )
    means = [result.parts("group", by="folder").mean for result in (every, some)]
    found = compare_results(means, common=True)
    assert found.images == 11
    before = [restricted.parts("group", by="folder").mean for restricted in on_common_images([every, some])[0]]
    for row, expected in zip(found.rows("hd95"), compare_results(before).rows("hd95"), strict=True):
        assert asdict(row) == pytest.approx(asdict(expected), abs=0, nan_ok=True)


@pytest.mark.parametrize("protocol", [Pixels(), Labels(classes=2)])
def test_results_of_files_stay_packed(tmp_path, protocol):
    gt, one, two = (tmp_path / name for name in ("gt", "one", "two"))
    for k in range(8):
        for folder, mask in ((gt, square(20)), (one, square(18 - k % 3)), (two, square(19 - k % 2))):
            folder.mkdir(exist_ok=True)
            if folder != two or k:
                Image.fromarray(mask).save(folder / f"{k}.png")
    results = [evaluate(gt, pred, protocol, allow_missing=True) for pred in (one, two)]
    assert compare_results(results, common=True).images == 7
