"""Panoptic quality: drawings worked by hand for every rule, and JSON files of COCO's format."""

import json
import os
import shutil
from pathlib import Path

import imageio.v3 as iio
import numpy as np
import pytest
from noted import values_of
from PIL import Image
from refusing import refused

from segbench import (
    Accumulator,
    DataError,
    FailedImages,
    Objects,
    check,
    count,
    evaluate,
    export_overlays,
    load_results,
    plot_classes,
    plot_images,
    process_pool,
)
from segbench.core.messages import Setting

CLASSES = {"classes": "road=7,person=24,car=26", "things": "person,car", "divisor": 1000, "void": (0,)}


def lettered(*rows, **values):
    """Return a map drawn in letters, of which `values` says what they are."""
    return np.array([[values.get(letter, 0) for letter in row] for row in rows])


def counts(truth, predicted, valid=None, **letters):
    return count(lettered(*truth, **letters), lettered(*predicted, **letters), Objects(**CLASSES), valid)


def table(found):
    """Return true, predicted, ignored and matched objects by class."""
    numbers = np.hstack([found.objects, found.sizes[:, :1]])
    return dict(zip(found.names, map(tuple, numbers.tolist()), strict=True))


LETTERS = {"r": 7, "a": 26000, "b": 26001, "c": 26002, "C": 26, "p": 24000}


def test_one_of_two_objects_is_found():
    found = counts(["aaa.bbb"], ["aaa...."], **LETTERS)
    assert table(found) == {"car": (2, 1, 0, 1)}
    assert found.metrics()["pq"] == 2 / 3


def test_classes_are_means_of_their_own_and_absent_ones_are_left_out():
    found = counts(["rraabb"], ["rraaac"], **LETTERS).metrics()
    # road: 1, 1, 1; car: a of 2/3, b by one pixel of two (half is too little): TP 1, FP 1, FN 1
    assert found["pq_stuff"] == 1
    assert found["pq_things"] == pytest.approx((2 / 3) / 2)
    assert found["rq"] == (1 + 1 / 2) / 2
    assert found["sq"] == pytest.approx((1 + 2 / 3) / 2)
    assert found["pq"] == pytest.approx((1 + 1 / 3) / 2)


def test_objects_of_all_classes_are_counted_at_thresholds_of_iou():
    letters = np.array([list("rrrraaaappp")]), np.array([list("rrrraaa.pp.")])  # 1, 3/4 and 2/3
    truth, predicted = (np.vectorize((LETTERS | {".": 0}).get)(each) for each in letters)
    protocol = Objects(iou=(0.5, 0.75), **CLASSES)
    found = evaluate({"a": (truth, predicted)}, protocol=protocol).summary
    assert (found["f1@0.5"], found["f1@0.75"], found["threat_score@0.75"]) == (1, 2 / 3, 2 / 4)
    assert protocol.signature_fields()["iou"] == "0.5,0.75"


def test_a_class_without_matches_has_quality_0_and_counts():
    found = counts(["rraa"], ["rr.."], **LETTERS).metrics()
    assert (found["pq"], found["sq"], found["rq"]) == (1 / 2, 1 / 2, 1 / 2)


def test_other_classes_do_not_match():
    found = counts(["aaa"], ["ppp"], **LETTERS)
    assert table(found) == {"person": (0, 1, 0, 0), "car": (1, 0, 0, 0)}


def test_void_is_removed_from_the_union():
    found = counts(["aa.."], ["aaa."], **LETTERS)
    assert (found.shared.tolist(), found.whole.tolist()) == ([2], [2])


@pytest.mark.parametrize(
    ("truth", "ignored"),
    [
        ("...aaaaaaa", 1),  # 3 of 4 pixels in void
        ("..aaaaaaaa", 0),  # exactly half is not more than half
        (".CCaaaaaaa", 1),  # void and crowd together
        ("CCCaaaaaaa", 1),  # a crowd of its class
        ("PPPaaaaaaa", 0),  # a crowd of another class
    ],
)
def test_a_prediction_mostly_in_void_or_crowds_of_its_class_is_not_false(truth, ignored):
    found = counts([truth], ["bbbb......"], **LETTERS, P=24)
    assert table(found)["car"] == (1, 1, ignored, 0)


def test_crowds_are_no_misses_and_take_no_match():
    found = counts(["CCCC"], ["...."], **LETTERS)
    assert found.names == ()
    found = counts(["CCCC"], ["bbbb"], **LETTERS)
    assert table(found) == {"car": (0, 1, 1, 0)}
    assert np.isnan(found.metrics()["pq"])


def test_an_id_below_the_divisor_is_one_segment_of_a_prediction():
    found = counts(["aaa"], ["CCC"], **LETTERS)
    assert table(found) == {"car": (1, 1, 0, 1)}


def test_pixels_predicted_void_stay_in_the_union():
    found = counts(["aaaa"], ["aaa."], **LETTERS)
    assert found.whole.tolist() == [4]


def test_pixels_outside_the_field_are_void():
    valid = np.array([[True, True, False, False]])
    found = counts(["aa.."], ["aaaa"], valid, **LETTERS)
    assert found.whole.tolist() == [2]


@pytest.mark.parametrize(
    ("divisor", "labels"),
    [(100, "class 260 (value 26001)"), (100000, "class 26001")],
)
def test_a_wrong_divisor_is_refused(divisor, labels):
    maps = lettered("rrb", **LETTERS)
    with refused("no-class", DataError, path="ground_truth", labels=labels, classes=3) as raised:
        count(maps, maps, Objects(**CLASSES | {"divisor": divisor}))
    assert values_of(raised.value.hint)["divisor"] == divisor


def test_a_wrong_divisor_without_classes_is_refused():
    with refused("no-class", DataError, label=26001, most=4096) as raised:
        count(np.array([[26001]]), np.array([[26001]]), Objects(divisor=100000))
    assert values_of(raised.value.hint)["divisor"] == 100000


def write(folder, name, maps, *, classes=None, info=None):
    """Write maps of ids with a JSON beside them: all ids are cars, or as `info` says."""
    (folder / name).mkdir(parents=True)
    annotations = []
    for image, rows in maps.items():
        ids = np.array(rows)
        colours = np.stack([ids % 256, ids // 256 % 256, ids // 65536], axis=-1).astype(np.uint8)
        iio.imwrite(folder / name / f"{image}.png", colours)
        held = [number for number in np.unique(ids).tolist() if number]
        segments = [{"id": number, "category_id": 3, "iscrowd": 0} | (info or {}).get(number, {}) for number in held]
        annotations.append({"image_id": image, "file_name": f"{image}.png", "segments_info": segments})
    content = {"annotations": annotations} | ({"categories": classes} if classes else {})
    (folder / f"{name}.json").write_text(json.dumps(content))
    return folder / name


CATEGORIES = [{"id": 1, "name": "sky, clouds", "isthing": 0}, {"id": 3, "name": "car", "isthing": 1}]
IDS = {"one": [[5, 5, 5, 0, 2**24 - 1, 2**24 - 1], [5, 5, 5, 0, 70000, 70000]], "two": [[9, 9, 9, 9]]}
INFO = {70000: {"category_id": 1}}


def edited(path, change):
    """Change the content of a JSON."""
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


@pytest.fixture
def folders(tmp_path):
    truth = write(tmp_path, "truth", IDS, classes=CATEGORIES, info=INFO)
    return truth, write(tmp_path, "predicted", IDS, info=INFO)


def failures(folders, **settings):
    with pytest.warns(FailedImages):
        return evaluate(*folders, Objects(kind="panoptic"), **settings).failed


def test_maps_with_a_json_beside_their_folder(folders):
    result = evaluate(*folders, Objects(kind="panoptic"))
    assert result.summary["pq"] == 1
    assert result.summary["true_objects"] == 4
    assert list(result.parts("class")) == ["sky; clouds", "car"]


def test_a_json_stands_for_its_folder_and_may_lie_in_it(folders, tmp_path):
    truth, predicted = folders
    found = evaluate(truth.with_suffix(".json"), predicted.with_suffix(".json"), Objects(kind="panoptic"))
    assert found.summary["pq"] == 1
    (tmp_path / "method").mkdir()
    predicted.rename(tmp_path / "method" / "maps")
    (tmp_path / "predicted.json").rename(tmp_path / "method" / "maps.json")
    assert evaluate(truth, tmp_path / "method", Objects(kind="panoptic")).summary["pq"] == 1
    (tmp_path / "method" / "maps.json").rename(tmp_path / "method" / "maps" / "results.json")
    assert evaluate(truth, tmp_path / "method" / "maps", Objects(kind="panoptic")).summary["pq"] == 1


def test_what_the_json_says_is_counted_again_when_it_changes(folders, tmp_path):
    truth, predicted = folders
    results = tmp_path / "r.segbench"
    run = {"protocol": Objects(kind="panoptic"), "results": results}
    assert evaluate(truth, predicted, **run).summary["pq"] == 1
    assert evaluate(truth, predicted, **run).reused == 2
    edited(tmp_path / "predicted.json", lambda c: c["annotations"][1]["segments_info"][0].update(category_id=1))
    changed = evaluate(truth, predicted, **run)
    assert changed.reused == 1
    assert changed.summary["pq"] < 1


def test_workers_are_given_what_the_json_says(folders):
    with process_pool(2) as executor:
        spread = evaluate(*folders, Objects(kind="panoptic"), executor=executor)
    assert spread.summary == evaluate(*folders, Objects(kind="panoptic")).summary
    assert not spread.failed


def test_predictions_in_an_archive_have_no_json(folders, tmp_path):
    truth, predicted = folders
    place = shutil.make_archive(str(tmp_path / "packed"), "zip", predicted)
    with refused("no-json", DataError, path=place, file=f"{place}.json", inside=0):
        evaluate(truth, place, Objects(kind="panoptic"))


def test_overlays_of_panoptic_maps_are_drawn_from_the_files(folders, tmp_path):
    truth, predicted = folders
    edited(tmp_path / "predicted.json", lambda c: c["annotations"][1]["segments_info"][0].update(category_id=1))
    evaluate(truth, predicted, Objects(kind="panoptic"), results=tmp_path / "r.segbench")
    export_overlays(load_results(tmp_path / "r.segbench"), tmp_path / "out")
    states = np.asarray(Image.open(tmp_path / "out/predicted/one.png"))
    assert states.tolist() == [
        [0, 0, 1, 8, 1, 1],
        [0, 0, 1, 8, 1, 1],
    ]  # matched outlines, hatched void


def test_classes_are_drawn_by_their_quality(folders):
    result = evaluate(*folders, Objects(kind="panoptic"))
    axes = plot_classes(result)
    assert axes.get_xlabel() == "PQ"
    assert len(axes.patches) == 2


def test_check_of_soft_maps_names_ids_of_segments_in_colours(folders):
    found = next(finding for finding in check(*folders).findings if finding.kind == "label-map")
    assert found.fix.values["objects"].python == "Objects(kind='panoptic')"


def test_crowds_of_a_json(folders, tmp_path):
    edited(tmp_path / "truth.json", lambda c: c["annotations"][1]["segments_info"][0].update(iscrowd=1))
    result = evaluate(*folders, Objects(kind="panoptic"))
    assert result.summary["pq"] == 1
    assert result.counts["two"].objects.tolist() == [[0, 1, 1]]


def broken(side, change, kind, **values):
    return pytest.param(side, change, kind, values, id=kind)


@pytest.mark.parametrize(
    ("side", "change", "kind", "values"),
    [
        broken("truth", lambda c: c.pop("categories"), "no-categories"),
        broken("truth", lambda c: c.pop("annotations"), "no-annotations"),
        broken("truth", lambda c: c["categories"][0].pop("name"), "wrong-categories", most=999999999),
        broken("truth", lambda c: c["categories"][0].update(id=-1), "wrong-categories"),
        broken("truth", lambda c: c["categories"][0].update(id=float("inf")), "wrong-categories"),
        broken("truth", lambda c: c.update(categories=[7]), "wrong-categories"),
        broken(
            "predicted",
            lambda c: c["annotations"][0]["segments_info"][0].update(id=10**400),
            "wrong-segment",
            image="one.png",
        ),
        broken(
            "predicted", lambda c: c["annotations"][0]["segments_info"].append(None), "wrong-segment", image="one.png"
        ),
        broken("predicted", lambda c: c["annotations"].clear(), "no-annotation", images="one.png, two.png"),
        broken("predicted", lambda c: c["annotations"].pop(), "no-annotation", images="two.png"),
        broken("predicted", lambda c: c["annotations"][0].pop("file_name"), "wrong-annotations", count=1, total=2),
        broken(
            "predicted",
            lambda c: c["annotations"][1].update(file_name="one.png"),
            "doubled-annotation",
            image="one.png",
        ),
        broken(
            "predicted",
            lambda c: c["annotations"][0]["segments_info"][0].update(id=2**24),
            "wrong-segment",
            most=2**24 - 1,
        ),
        broken(
            "predicted",
            lambda c: c["annotations"][0]["segments_info"].append(c["annotations"][0]["segments_info"][0]),
            "doubled-segment",
            image="one.png",
            id=5,
        ),
        broken(
            "predicted",
            lambda c: [a["segments_info"][0].update(category_id=77) for a in c["annotations"]],
            "unknown-category",
            label=77,
            image="two.png",
        ),
        broken(
            "predicted",
            lambda c: c.update(annotations=[{"image_id": 1, "bbox": [0, 0, 1, 1]}] * 2),
            "detections",
            objects=2,
        ),
        broken("truth", lambda c: c.update(annotations=[{"id": 1}] * 40), "wrong-annotations", count=40, total=40),
        broken("truth", lambda c: c["categories"][1].update(id=1), "doubled-category", shared="the id 1"),
        broken(
            "truth",
            lambda c: c["categories"][1].update(name="sky; clouds"),
            "doubled-category",
            shared="the name sky; clouds",
        ),
        broken("truth", lambda c: c["categories"][1].update(isthing="false"), "wrong-categories"),
    ],
)
def test_what_is_wrong_with_a_json_is_said_at_once(folders, tmp_path, side, change, kind, values):
    edited(tmp_path / f"{side}.json", change)
    with pytest.raises(DataError) as caught:
        evaluate(*folders, Objects(kind="panoptic"))
    assert caught.value.path == str(tmp_path / f"{side}.json")
    faults = caught.value.values.get("problems", [caught.value.what])
    assert [(fault.kind, values.items() <= fault.values.items()) for fault in faults] == [(kind, True)]


def problems_of(error):
    """Return file and kind of each problem of an error that has several."""
    problems = [problem.values for problem in error.values["problems"]]
    return [(Path(problem["file"]).name, problem["problem"].kind) for problem in problems]


def test_what_is_wrong_with_both_sides_is_said_together(folders, tmp_path):
    (tmp_path / "truth.json").write_text("{")
    edited(tmp_path / "predicted.json", lambda c: c["annotations"][0].pop("file_name"))
    with refused("wrong-jsons", DataError, path="JSON files", count=2) as raised:
        evaluate(*folders, Objects(kind="panoptic"))
    assert problems_of(raised.value) == [("truth.json", "not-json"), ("predicted.json", "wrong-annotations")]


def test_images_without_segments_and_unknown_categories_are_said_together(folders, tmp_path):
    def change(content):
        content["annotations"].pop()["segments_info"]
        content["annotations"][0]["segments_info"][0]["category_id"] = 77

    edited(tmp_path / "predicted.json", change)
    with refused("wrong-jsons", DataError, path="JSON files", count=2) as raised:
        evaluate(*folders, Objects(kind="panoptic"))
    assert problems_of(raised.value) == [("predicted.json", "no-annotation"), ("predicted.json", "unknown-category")]


def test_files_of_another_format_than_the_json_names_are_shown_beside_one_it_names(folders):
    for file in folders[1].iterdir():
        np.save(file.with_suffix(".npy"), np.zeros((2, 6)))
        file.unlink()
    with refused("no-annotation", DataError, images="one.npy, two.npy") as raised:
        evaluate(*folders, Objects(kind="panoptic"))
    assert raised.value.hint.values == {"file": "one.png"}


def test_several_json_files_in_a_folder_are_counted(folders, tmp_path):
    (tmp_path / "predicted.json").rename(folders[1] / "a.json")
    shutil.copy(folders[1] / "a.json", folders[1] / "b.json")
    with refused("no-json", DataError, path=str(folders[1]), file=f"{folders[1]}.json", inside=2):
        evaluate(*folders, Objects(kind="panoptic"))


@pytest.mark.parametrize(
    ("name", "kind"),
    [("predicted_results.json", "no-images"), ("missing.json", "missing")],
    ids=["other", "missing"],
)
def test_a_json_that_describes_no_folder_is_refused_as_what_was_given(folders, tmp_path, name, kind):
    (tmp_path / "predicted.json").rename(tmp_path / "predicted_results.json")
    with refused(kind, DataError, path=str(tmp_path / name)):
        evaluate(folders[0], tmp_path / name, Objects(kind="panoptic"))


@pytest.mark.parametrize("settings", [{"classes": [1, 3]}, {"things": (3,)}, {"void": (1,)}])
def test_settings_that_a_json_decides_are_refused(folders, settings):
    with pytest.warns(FailedImages):
        failed = evaluate(*folders, Objects(kind="panoptic", **settings)).failed
    assert {failure.kind for failure in failed.values()} == {"json-and-settings"}
    given = values_of(failed["one"].hint)["given"]
    assert [setting.name for setting in given] == ["classes", "things", "void"]


def test_text_that_is_no_json_is_refused(folders, tmp_path):
    (tmp_path / "truth.json").write_text('{"annotations": [')
    with refused("not-json", DataError, path=str(tmp_path / "truth.json")):
        evaluate(*folders, Objects(kind="panoptic"))


def test_predictions_without_a_json_are_refused(folders, tmp_path):
    (tmp_path / "predicted.json").unlink()
    with refused("no-json", DataError, path=str(folders[1]), file=f"{folders[1]}.json", inside=0):
        evaluate(*folders, Objects(kind="panoptic"))


def test_ground_truth_without_a_json_says_what_is_needed(folders, tmp_path):
    (tmp_path / "truth.json").unlink()
    failure = failures(folders)["one"]
    assert (failure.kind, failure.settings) == (
        "no-segments",
        (Setting("divisor", 1000), Setting("gt_pattern", "*_#")),
    )


def test_ids_and_json_must_agree_and_every_image_says_how_not(folders, tmp_path):
    def change(content):
        content["annotations"][0]["segments_info"][0]["id"] = 6
        content["annotations"][1]["segments_info"][0]["id"] = 8

    edited(tmp_path / "predicted.json", change)
    found = failures(folders)
    assert (found["one"].kind, found["one"].path) == ("other-segments", str(folders[1] / "one.png"))
    ids = {name: [problem.values["ids"] for problem in failure.values["problems"]] for name, failure in found.items()}
    assert ids == {"one": ["6", "5"], "two": ["8", "9"]}


def test_segments_that_overlap_have_fewer_pixels_than_their_json_says(folders, tmp_path):
    edited(tmp_path / "truth.json", lambda c: c["annotations"][0]["segments_info"][0].update(area=9))
    (problem,) = failures(folders)["one"].values["problems"]
    assert (problem.kind, problem.values) == ("overlap", {"id": 5, "pixels": 6, "area": 9})


def test_two_files_per_image(tmp_path):
    classes, instances = lettered("rraabb", r=7, a=26, b=26), lettered("rraabb", a=1, b=2)
    for side in ("gt", "pred"):
        (tmp_path / side).mkdir()
        iio.imwrite(tmp_path / side / "im_semantic.png", classes.astype(np.uint8))
        iio.imwrite(tmp_path / side / "im_instance.png", instances.astype(np.uint8))
    patterns = {"gt_pattern": "*_#", "pred_pattern": "*_#"}
    settings = {key: value for key, value in CLASSES.items() if key != "divisor"}
    result = evaluate(tmp_path / "gt", tmp_path / "pred", Objects(kind="panoptic", **settings), **patterns)
    assert table(result.counts["im"]) == {"road": (1, 1, 0, 1), "car": (2, 2, 0, 2)}
    assert (result.summary["pq_things"], result.summary["pq_stuff"]) == (1, 1)


def test_arrays_files_and_workers_give_the_same(tmp_path):
    rng = np.random.default_rng(5)
    accumulator = Accumulator(Objects(**CLASSES), method="m")
    for name in "abcdef":
        maps = rng.choice([0, 7, 26, 24000, 26000, 26001], (2, 4, 5)).repeat(3, axis=1).repeat(3, axis=2)
        for side, values in zip(("gt", "pred"), maps, strict=True):
            (tmp_path / side).mkdir(exist_ok=True)
            iio.imwrite(tmp_path / side / f"{name}.png", values.astype(np.uint16))
        accumulator.update(*maps, name=name)
    files = evaluate(tmp_path / "gt", tmp_path / "pred", Objects(**CLASSES))
    assert accumulator.compute().summary == files.summary


@pytest.mark.skipif("SEGBENCH_PANOPTIC" not in os.environ, reason="SEGBENCH_PANOPTIC does not name COCO's examples")
def test_coco_s_own_examples():
    folder = Path(os.environ["SEGBENCH_PANOPTIC"]) / "panoptic_examples"
    result = evaluate(folder, folder, Objects(kind="panoptic"))
    assert {result.summary[key] for key in result.summary if key.startswith(("pq", "sq", "rq"))} == {1.0}
    assert all(part.summary["pq"] == 1 for part in result.parts("class").values())
    assert result.summary["true_objects"] == 47


def test_the_problems_of_both_jsons_are_one_list(segbench, folders, tmp_path):
    """Six segments of each side without an id: the lines that are shown and those that are not add up."""
    nameless = [{"file_name": f"{k}.png", "segments_info": [None]} for k in range(6)]
    for side in ("truth", "predicted"):
        edited(tmp_path / f"{side}.json", lambda c: c["annotations"].extend(nameless))
    answer = segbench("objects", *folders, "--kind", "panoptic")
    assert answer.code == 1
    report = json.loads(segbench("check", "objects", *folders, "--kind", "panoptic", "--format", "json").out)
    (finding,) = report["reports"][0]["findings"]
    lines = [line for line in answer.err.splitlines() if line.startswith("  /")]
    hidden = [int(line.split()[1]) for line in answer.err.splitlines() if line.startswith("  and ")]
    assert len(lines) + sum(hidden) == finding["count"] == finding["values"]["reason"]["values"]["count"] == 12
    assert answer.err.count("->") == 1


def test_a_class_is_drawn_and_not_taken_apart_again():
    maps = lettered("rraabb", **LETTERS), lettered("rraaac", **LETTERS)
    car = evaluate({"x": maps, "y": maps}, protocol=Objects(**CLASSES)).parts("class")["car"]
    assert car.axes == ()
    assert plot_images(car).get_title() == ""
