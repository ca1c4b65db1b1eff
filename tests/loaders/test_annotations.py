"""Instances in JSON files of COCO's format: drawings worked by hand, what pairs, and what strangers write."""

from __future__ import annotations

import copy
import json
import runpy
from pathlib import Path

import numpy as np
import pytest

import segbench as sb
from segbench.core.errors import DataError
from segbench.loaders.mask_codes import runs_of_polygons, runs_of_texts

pytestmark = pytest.mark.filterwarnings("ignore::segbench.aggregator.benchmark.FailedImages")
SQUARE = [[1, 1, 5, 1, 5, 5, 1, 5]]
TRUTH = {
    "images": [
        {"id": 7, "file_name": "a.jpg", "height": 10, "width": 10},
        {"id": 9, "file_name": "sub/b.png", "height": 10, "width": 10},
    ],
    "categories": [{"id": 1, "name": "cell"}],
    "annotations": [
        {"id": 1, "image_id": 7, "category_id": 1, "segmentation": SQUARE, "area": 16, "iscrowd": 0},
        {"id": 2, "image_id": 9, "category_id": 1, "segmentation": {"size": [10, 10], "counts": [10, 20, 70]}},
    ],
}
DETECTION = {"image_id": 7, "category_id": 1, "segmentation": SQUARE, "score": 0.5}


def mask_of(polygons, size=(6, 6)):
    ends = np.cumsum([len(polygon) for polygon in polygons])
    runs, _ = runs_of_polygons(np.concatenate(polygons).astype(float), ends, np.array([len(polygons)]), *size)
    return np.repeat(np.arange(runs.size) % 2, runs).reshape(size[::-1]).T


@pytest.fixture
def evaluate(tmp_path):
    def run(detections, truth=TRUTH, **settings):
        for name, content in (("gt", truth), ("ours", detections)):
            text = content if isinstance(content, bytes) else json.dumps(content).encode()
            (tmp_path / f"{name}.json").write_bytes(text)
        return sb.evaluate(tmp_path / "gt.json", tmp_path / "ours.json", sb.Objects(**settings))

    return run


def test_polygons_are_drawn_as_coco_draws_them():
    """A square from corner to corner of pixels covers what lies between; recorded with pycocotools 2.0.11."""
    expected = np.zeros((6, 6))
    expected[1:4, 1:4] = 1
    assert np.array_equal(mask_of([[1, 1, 4, 1, 4, 4, 1, 4]]), expected)


def test_several_polygons_are_joined():
    left, right = [0, 0, 2, 0, 2, 6, 0, 6], [4, 0, 6, 0, 6, 6, 4, 6]
    assert mask_of([left, right]).tolist() == [[1, 1, 0, 0, 1, 1]] * 6
    assert mask_of([left, left]).tolist() == [[1, 1, 0, 0, 0, 0]] * 6


def test_polygons_are_cut_off_at_the_image():
    assert mask_of([[-9, -9, 90, -9, 90, 90, -9, 90]]).all()
    assert not mask_of([[20, 20, 30, 20, 30, 30]]).any()


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        (b"41", [4, 1]),
        (b"P1", [32]),  # two digits: 0, and 1 of the next five bits
        (b"3230", [3, 2, 3, 2]),  # from the fourth on a difference to the last but one
        (b"323O", [3, 2, 3, 1]),  # of -1
    ],
)
def test_compressed_runs(text, runs):
    assert runs_of_texts([text])[0].tolist() == runs


@pytest.mark.parametrize("text", [b"P", b"\x00", b"o" * 30, b"O", b"\xff"])
def test_damaged_runs_are_marked_and_others_are_read(text):
    runs, ends = runs_of_texts([b"41", text, b"55"])
    assert runs.tolist() == [4, 1, -1, 5, 5]
    assert ends.tolist() == [2, 3, 5]


@pytest.mark.filterwarnings("ignore:__array__:DeprecationWarning")  # of the peer
def test_polygons_equal_those_of_pycocotools():
    pytest.importorskip("pycocotools")
    script = runpy.run_path(str(Path(__file__).parents[2] / "scripts/checks/check_polygons.py"))
    random = np.random.default_rng(5)
    sizes = [(int(random.integers(1, 60)), int(random.integers(1, 60))) for _ in range(300)]
    assert not any(script["differs"](script["random_polygons"](random, size), size) for size in sizes)


def test_a_json_is_counted_as_scored_objects(evaluate):
    """One of two objects is found: precision 1 up to a recall of .5, which are 51 of 101 recalls."""
    result = evaluate([DETECTION])
    assert result.summary["coco_ap"] == pytest.approx(51 / 101, abs=1e-12)
    assert list(result.counts) == ["a", "sub/b"]
    assert result.protocol == "scored"


def test_images_without_detections_are_empty_predictions(evaluate):
    assert evaluate([]).summary["coco_ap"] == 0


def test_order_of_annotations_is_that_of_the_file(evaluate):
    """Annotations of an image may lie anywhere in the file."""
    other = {**DETECTION, "image_id": 9, "segmentation": {"size": [10, 10], "counts": "::d1"}, "score": 0.2}
    found = {**other, "segmentation": TRUTH["annotations"][1]["segmentation"]}
    for detections in ([DETECTION, other, found], [found, DETECTION, other]):
        assert evaluate(detections).summary["coco_ar_100"] == 1


def test_boxes_are_enough_where_boxes_are_compared(evaluate):
    boxes = [{"image_id": 7, "category_id": 1, "bbox": [1, 1, 4, 4], "score": 0.5}]
    assert evaluate(boxes, kind="scored", overlap="box").summary["coco_ap_50"] == pytest.approx(51 / 101)
    failure = evaluate(boxes, kind="scored").failed["a"]
    assert [(setting.name, setting.value) for setting in failure.settings] == [("overlap", "box")]


@pytest.mark.parametrize(("width", "share"), [(1.25, 0.5), (32.25, 1)])
def test_boxes_without_masks_have_their_own_areas(evaluate, width, share):
    """A false box of 32.25 x 32 pixels is medium, though fewer pixels are in the image, and no small one is false."""
    false = {"image_id": 7, "category_id": 1, "bbox": [5, 5, width, 32], "score": 0.9}
    right = {"image_id": 7, "category_id": 1, "bbox": [1, 1, 4, 4], "score": 0.5}
    alone, both = (evaluate(boxes, kind="scored", overlap="box").summary for boxes in ([right], [false, right]))
    assert both["coco_ap_small"] == pytest.approx(share * alone["coco_ap_small"])


def test_images_restrict_the_run(tmp_path):
    (tmp_path / "gt.json").write_text(json.dumps(TRUTH))
    (tmp_path / "ours.json").write_text(json.dumps([DETECTION]))
    result = sb.evaluate(tmp_path / "gt.json", tmp_path / "ours.json", "objects", images=["a"])
    assert result.summary["coco_ap"] == pytest.approx(1, abs=1e-12)


def test_a_json_of_both_sides_takes_scores(evaluate):
    scored = copy.deepcopy(TRUTH)
    for annotation in scored["annotations"]:
        annotation["score"] = 0.9
    assert evaluate(scored).summary["coco_ap"] == pytest.approx(1, abs=1e-12)


WRONG = {
    "score": [("0.5", "wrong-score"), (True, "wrong-score"), (10**400, "wrong-score"), (None, "no-scores")],
    "category_id": [("1", "wrong-class"), (-1, "wrong-class"), (10**20, "wrong-class"), (1.5, "wrong-class")],
    "bbox": [([1, 2, 3], "wrong-box"), ("abcd", "wrong-box"), ([1, 2, 3, None], "wrong-box")],
    "segmentation": [
        (None, "no-mask"),
        ([1, 2, 3, 4, 5, 6], "short-polygon"),
        ([[1, 1, 5, 1]], "short-polygon"),
        ([[1, 1, 5, 1, 5]], "short-polygon"),
        ([[1, 1, 5, 1, 5, None]], "wrong-polygon"),
        ([[1e300] * 6], "wrong-polygon"),
        ({"size": [10, 20], "counts": [200]}, "other-size"),
        ({"size": [10**9, 10**9], "counts": [1]}, "other-size"),
        ({"size": [10, 10], "counts": [1, 2]}, "wrong-runs"),
        ({"size": [10, 10], "counts": [-1, 101]}, "wrong-counts"),
        ({"size": [10, 10], "counts": [2**63]}, "wrong-counts"),
        ({"size": [10, 10], "counts": "oooooooooooooooo"}, "wrong-runs"),
        ({"size": [10, 10], "counts": ""}, "wrong-runs"),
        ([[-1e7, -1e7, 1e7, 1e7, -1e7, 1e7] * 20], "wrong-runs"),
    ],
}


def kinds_in(message):
    """Return the kinds of a message and of all within it."""
    kinds = {message.kind}
    for value in message.values.values():
        for part in value if isinstance(value, tuple) else (value,):
            kinds |= kinds_in(part) if hasattr(part, "kind") else set()
    return kinds


@pytest.mark.parametrize(("key", "value", "kind"), [(key, *case) for key, cases in WRONG.items() for case in cases])
def test_wrong_values_fail_their_image_alone(evaluate, key, value, kind):
    result = evaluate([{**DETECTION, key: value}])
    assert list(result.failed) == ["a"]
    assert list(result.counts) == ["sub/b"]
    assert kind in kinds_in(result.failed["a"].what)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (b"[" * 100_000, "not-json"),
        (b"[] []", "not-json"),
        (b"[}", "not-json"),
        (b'[{"image_id": 7}', "not-json"),
        (b"[1, 2]", "no-annotations"),
        (b"[[1]]", "no-annotations"),
        (b'[{"image_id": 7} {"image_id": 7}]', "no-annotations"),
        (b'{"a": 1}', "no-annotations"),
        (b'[{"image_id": 5}]', "unknown-image-ids"),
        (b'[{"image_id": "7"}]', "unknown-image-ids"),
        (b'[{"image_id": 1000000000000000000000000000}]', "unknown-image-ids"),
        (b'[{"category_id": 7}]', "no-image-id"),
        (b'[{"image_id": 7, "image_id": 9}]', "no-image-id"),
    ],
)
def test_files_that_are_no_results_are_refused(evaluate, text, kind):
    with pytest.raises(DataError) as caught:
        evaluate(text)
    assert caught.value.kind == kind


@pytest.mark.parametrize(
    "text",
    [
        b'[{"image_id": 7, "category_id": 1, "segmentation": [[1,1,5,1,5,5]], "score": NaN}]',
        b'[{"image_id": 7, "score": 2, "category_id": 1, "segmentation": [[1,1,5,1,5,5]], "score": 1}]',
        b'[{"image_id": 7, "x": "\xff", "category_id": 1, "segmentation": [[1,1,5,1,5,5]], "score": 1}]',
        b'[{"image_id": 7, "category_id": 1, "segmentation": [[1,1,5,1,5,5]], "score": ' + b"1" * 5000 + b"}]",
    ],
)
def test_what_is_no_json_fails_its_image(evaluate, text):
    assert evaluate(text).failed["a"].kind == "not-json"


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"images": TRUTH["images"] * 2}, "wrong-images"),
        ({"images": [{"id": 7, "height": 10**6, "width": 10**6}]}, "wrong-images"),
        ({"images": [{"id": 7, "height": -1, "width": 1}]}, "wrong-images"),
        ({"images": [1]}, "no-images"),
        ({"images": {"a": 1}}, "no-images"),
        ({"categories": TRUTH["categories"] * 2}, "wrong-category"),
        ({"annotations": 3}, "no-annotations"),
    ],
)
def test_ground_truth_that_is_none_is_refused(evaluate, change, kind):
    with pytest.raises(DataError) as caught:
        evaluate([DETECTION], truth={**TRUTH, **change})
    assert caught.value.kind == kind


def test_names_stay_inside_whatever_they_are(evaluate):
    images = [
        {"id": 7, "file_name": "../../etc/a", "height": 10, "width": 10},
        {**TRUTH["images"][1], "file_name": "/"},
    ]
    assert list(evaluate([DETECTION], truth={**TRUTH, "images": images}).counts) == ["9", "etc/a"]


def test_images_of_the_same_file_are_told_apart_by_their_ids(evaluate):
    images = [{**image, "file_name": "a.jpg"} for image in TRUTH["images"]]
    assert list(evaluate([DETECTION], truth={**TRUTH, "images": images}).counts) == ["a_7", "a_9"]


def test_label_maps_of_a_json_are_refused(evaluate):
    with pytest.raises(sb.ArgumentError) as caught:
        evaluate([DETECTION], min_size=3)
    settings = [(setting.name, setting.value) for setting in caught.value.settings]
    assert settings == [("kind", "scored"), ("kind", "instances")]


@pytest.fixture
def check(tmp_path):
    def run(detections, truth=TRUTH):
        (tmp_path / "gt.json").write_text(json.dumps(truth))
        (tmp_path / "ours.json").write_text(json.dumps(detections))
        return sb.check(tmp_path / "gt.json", tmp_path / "ours.json", "objects")

    return run


@pytest.mark.parametrize(
    ("changed", "kind"),
    [
        ({"category_id": 0}, "classes-shifted"),
        ({"category_id": 2}, "classes-shifted"),
        ({"category_id": 40}, "classes-unknown"),
        ({"segmentation": [[0.1, 0.1, 0.4, 0.1, 0.4, 0.4]]}, "empty-instances"),
        ({"segmentation": [[5, 5, 50, 5, 50, 50]]}, "outside-image"),
    ],
)
def test_check_finds_detections_that_do_not_fit(check, changed, kind):
    found = {finding.kind for finding in check([{**DETECTION, **changed}]).findings}
    assert found - {"no-areas"} == {kind}


@pytest.mark.parametrize(
    ("ids", "labels", "kind", "advice"),
    [
        ((1, 2, 5), (0, 2), "classes-numbered", ("1 for 0", "5 for 2")),
        ((1, 2, 5), (0, 4), "classes-shifted", None),  # there are three categories, so that 4 is no place among them
        ((1, 2, 3), (0, 2), "classes-shifted", None),
        ((0, 7, 9), (0, 9), None, None),
        ((3, 7, 9), (1,), "classes-numbered", ("7 for 1",)),
    ],
)
def test_check_finds_categories_that_are_numbered_without_gaps(check, ids, labels, kind, advice):
    categories = [{"id": number, "name": str(number)} for number in ids]
    annotations = [{**annotation, "category_id": ids[0]} for annotation in TRUTH["annotations"]]
    truth = {**TRUTH, "categories": categories, "annotations": annotations}
    detections = [{**DETECTION, "category_id": label} for label in labels]
    found = {finding.kind: finding for finding in check(detections, truth).findings}
    assert found.keys() - {"no-areas"} == ({kind} if kind else set())
    assert advice is None or found[kind].fix.values["examples"] == advice


@pytest.mark.parametrize(("corners", "is_found"), [(True, True), (False, False)])
def test_check_finds_boxes_that_are_given_by_corners(check, corners, is_found):
    boxes = [[2 + k % 4, 3, 9 if corners else 3, 9 if corners else 3] for k in range(12)]
    detections = [{**DETECTION, "bbox": box, "score": 0.1 + k / 20} for k, box in enumerate(boxes)]
    assert ("boxes-as-corners" in {finding.kind for finding in check(detections).findings}) == is_found


@pytest.mark.parametrize("image_id", ["7", "a", "sub/b"])
def test_ids_of_another_type_and_names_in_place_of_ids_are_said(check, image_id):
    (error,) = check([{**DETECTION, "image_id": image_id}]).errors
    assert "as the ground truth does" in str(error.fix) if image_id == "7" else "names of images" in str(error.fix)


def test_check_finds_an_annotation_of_id_0(check):
    truth = copy.deepcopy(TRUTH)
    truth["annotations"][0]["id"] = 0
    assert {finding.kind for finding in check([DETECTION], truth).findings} == {"annotation-zero", "no-areas"}


def test_check_finds_what_a_run_refuses(check):
    unknown = check([{**DETECTION, "image_id": 1}])
    assert [finding.whole for finding in unknown.errors] == [True]
    assert check([{**DETECTION, "score": None}]).errors


def many_images(number, annotated, detected, scores, crowd=0):
    """Return ground truth and results of images, some of them with an object, or with a detection."""
    images = [{"id": k, "file_name": f"{k:03}.jpg", "height": 10, "width": 10} for k in range(number)]
    annotations = [{**TRUTH["annotations"][0], "id": k + 1, "image_id": k, "iscrowd": crowd} for k in range(annotated)]
    detections = [{**DETECTION, "image_id": k, "score": scores[k % len(scores)]} for k in range(detected)]
    return detections, {**TRUTH, "images": images, "annotations": annotations}


@pytest.mark.parametrize(
    ("set_of", "kinds"),
    [
        ((12, 12, 12, (0.1, 0.2)), set()),
        ((12, 5, 12, (0.1, 0.2)), {"images-without-annotations"}),
        ((12, 12, 5, (0.1, 0.2)), {"images-without-detections"}),
        ((12, 12, 12, (1.0,)), {"one-score"}),
        ((12, 12, 12, (0.1, 0.2), 1), {"mostly-crowds"}),
    ],
)
def test_check_finds_sets_that_are_one_sided(check, set_of, kinds):
    assert {finding.kind for finding in check(*many_images(*set_of)).findings} == kinds
