"""Files of instances as ground truth and predictions of every protocol: each counts them, or says what does."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image

import segbench as sb
from segbench.core.errors import DataError

pytestmark = pytest.mark.filterwarnings("ignore::segbench.aggregator.benchmark.FailedImages")
HEIGHT, WIDTH = 32, 48
SQUARES = ((2, 2, 8), (20, 4, 10))
"""Left, top and side of the objects of an image."""
CLASSES = {"one class": (1, 1), "two classes": (1, 2)}
NAMES = ("cell", "debris")


def corners(left, top, side):
    return [left, top, left + side, top, left + side, top + side, left, top + side]


@pytest.fixture(params=["COCO", "YOLO", "LabelMe"])
def form(request):
    return request.param


@pytest.fixture
def drawn(tmp_path):
    """Write two images of the squares in a format, or as maps in which an object has a value."""

    def write_coco(name, labels, *, scored):
        objects = [
            {"image_id": image, "category_id": label, "segmentation": [corners(*square)], "area": square[2] ** 2}
            | ({"score": 0.9 - k / 10} if scored else {"id": 2 * image + k})
            for image in (1, 2) for k, (square, label) in enumerate(zip(SQUARES, labels, strict=True))
        ]  # fmt: skip
        images = [{"id": k, "file_name": f"image{k}.jpg", "height": HEIGHT, "width": WIDTH} for k in (1, 2)]
        categories = [{"id": k, "name": name} for k, name in enumerate(NAMES, 1) if k in labels]
        content = {"images": images, "categories": categories, "annotations": objects}
        (tmp_path / f"{name}.json").write_text(json.dumps(objects if scored else content))
        return tmp_path / f"{name}.json"

    def write(name, labels, form, *, scored=False):
        if form == "COCO":
            return write_coco(name, labels, scored=scored)
        (tmp_path / name).mkdir()
        pairs = list(zip(SQUARES, labels, strict=True))
        for image in (1, 2):
            path = tmp_path / name / f"image{image}"
            if form == "YOLO":
                shares = [[value / (WIDTH, HEIGHT)[k % 2] for k, value in enumerate(corners(*s))] for s, _ in pairs]
                lines = [f"{label - 1} {' '.join(map(str, s))}" for s, (_, label) in zip(shares, pairs, strict=True)]
                path.with_suffix(".txt").write_text("\n".join(lines))
            elif form == "LabelMe":
                shapes = [
                    {"label": NAMES[label - 1], "points": np.reshape(corners(*square), (4, 2)).tolist()}
                    for square, label in pairs
                ]
                content = {"shapes": shapes, "imageHeight": HEIGHT, "imageWidth": WIDTH}
                path.with_suffix(".json").write_text(json.dumps(content))
            else:
                array = np.zeros((HEIGHT, WIDTH), np.uint8)
                for (left, top, side), label in pairs:
                    array[top : top + side, left : left + side] = label if form == "labels" else 255
                if form == "soft":
                    array[30:] = 99  # so that there are thresholds
                Image.fromarray(array).save(path.with_suffix(".png"))
        return tmp_path / name

    return write


@pytest.fixture
def evaluate():
    def run(truth, predicted, protocol):
        repairs = sb.Repairs(rasterise="coco")  # all formats then have the same masks
        return sb.evaluate(truth, predicted, protocol, sizes=f"{WIDTH}x{HEIGHT}", repairs=repairs)

    return run


@pytest.mark.parametrize(
    ("protocol", "key", "best"),
    [
        ("pixels", "ods_f", 1),
        ("labels", "dice", 1),
        ("contours", "hd", 0),
        ("centerlines", "cldice", 1),
        ("saliency", "f_max", 1),
        ("anomalies", "auc_roc", 1),
        ("regions", "covering_ods", None),  # the mask joins both objects
    ],
)
def test_objects_of_one_class_are_masks(drawn, evaluate, form, protocol, key, best):
    labels = CLASSES["one class"]
    maps = "soft" if protocol in ("pixels", "saliency", "anomalies") else "masks"
    result = evaluate(drawn("gt", labels, form), drawn("ours", labels, maps), protocol)
    assert not result.failed
    assert result.summary[key] == best if best is not None else 0 < result.summary[key] < 1


@pytest.mark.parametrize(
    ("protocol", "key", "best"),
    [
        (sb.Labels(classes="0,cell=1,debris=2", background=0), "miou", 1),
        (sb.Contours(classes="0,cell=1,debris=2", background=0), "hd", 0),
        (sb.Regions(), "covering_ods", 1),
        (sb.Objects(), "f1@0.9", 1),
    ],
)
def test_objects_of_several_classes_are_label_maps(drawn, evaluate, form, protocol, key, best):
    labels = CLASSES["two classes"]
    result = evaluate(drawn("gt", labels, form), drawn("ours", labels, "labels"), protocol)
    assert result.summary[key] == best


@pytest.mark.parametrize("protocol", ["saliency", "anomalies"])
def test_objects_of_any_class_are_salient_or_anomalous(drawn, evaluate, form, protocol):
    labels = CLASSES["two classes"]
    result = evaluate(drawn("gt", labels, form), drawn("ours", labels, "soft"), protocol)
    assert result.summary["f_max" if protocol == "saliency" else "auc_roc"] == 1


@pytest.mark.parametrize("protocol", ["pixels", "labels", "contours", "centerlines"])
def test_masks_of_several_classes_ask_for_one(drawn, evaluate, form, protocol):
    labels = CLASSES["two classes"]
    result = evaluate(drawn("gt", labels, form), drawn("ours", labels, "masks"), protocol)
    assert len(result.failed) == 2
    assert "positive" in {setting.name for setting in result.failed["image1"].settings}


def test_a_class_of_several_is_chosen_by_its_value(drawn, evaluate, form):
    labels = CLASSES["two classes"]
    result = evaluate(drawn("gt", labels, form), drawn("ours", labels, "masks"), sb.Pixels(positive="2"))
    assert result.summary["ods_recall"] == 1
    assert result.summary["ods_precision"] == 100 / 164


def test_boundaries_say_what_measures_instances(drawn, evaluate, form):
    labels = CLASSES["one class"]
    failure = evaluate(drawn("gt", labels, form), drawn("ours", labels, "masks"), "boundaries").failed["image1"]
    assert failure.kind == "needless-instances"
    assert "segbench objects GT PRED" in failure.hint.written("options")


def test_a_check_says_what_measures_instances(drawn, segbench):
    labels = CLASSES["two classes"]
    places = drawn("gt", labels, "COCO"), drawn("ours", labels, "COCO", scored=True)
    (finding,) = sb.check(*places).errors
    assert (finding.kind, finding.fix.values["part0"].values["objects"].python) == ("unreadable", "Objects()")
    assert not sb.check(*places, "objects").errors
    assert "segbench check objects GT PRED" in segbench("check", *places).out


def test_detections_of_several_classes_are_a_soft_map_for_each(drawn, evaluate):
    labels = CLASSES["two classes"]
    predicted = drawn("ours", labels, "COCO", scored=True)
    result = evaluate(drawn("gt", labels, "COCO"), predicted, sb.Classes(labels=[1, 2], names=NAMES))
    assert not result.failed
    parts = result.parts("class")
    assert [parts[name].summary["ods_threshold"] for name in NAMES] == [0.9, 0.8]
    assert [parts[name].counts["image1"].positives.tolist() for name in NAMES] == [[64, 0], [100, 0]]


def test_instances_without_scores_are_a_mask_for_each_class(drawn, evaluate, form):
    labels = CLASSES["two classes"]
    result = evaluate(drawn("gt", labels, form), drawn("ours", labels, form), sb.Classes(labels=[1, 2]))
    assert result.summary["macro_iou"] == 1


def test_instances_without_scores_are_a_mask(drawn, evaluate, form):
    labels = CLASSES["one class"]
    assert evaluate(drawn("gt", labels, form), drawn("ours", labels, form), "pixels").summary["ods_f"] == 1


def test_detections_of_any_class_are_anomalous(drawn, evaluate):
    labels = CLASSES["two classes"]
    result = evaluate(drawn("gt", labels, "COCO"), drawn("ours", labels, "COCO", scored=True), "anomalies")
    assert result.summary["auc_roc"] == 1


def test_a_soft_map_of_several_classes_is_refused(drawn, evaluate):
    labels = CLASSES["two classes"]
    result = evaluate(drawn("gt", labels, "COCO"), drawn("ours", labels, "COCO", scored=True), sb.Pixels(positive="1"))
    failure = result.failed["image1"]
    assert failure.kind == "several-classes"
    assert "--classes 1,2" in failure.hint.written("options")


@pytest.mark.parametrize("form", ["YOLO", "LabelMe", "masks"])
def test_results_need_the_json_that_lists_their_images(drawn, evaluate, form):
    labels = CLASSES["one class"]
    with pytest.raises(DataError) as caught:
        evaluate(drawn("gt", labels, form), drawn("ours", labels, "COCO", scored=True), "objects")
    assert caught.value.kind == "images-by-id"


def test_results_are_no_ground_truth(drawn, evaluate):
    labels = CLASSES["one class"]
    with pytest.raises(DataError) as caught:
        evaluate(drawn("ours", labels, "COCO", scored=True), drawn("gt", labels, "COCO"), "objects")
    assert caught.value.kind == "images-by-id"
    assert "as the prediction" in str(caught.value.hint)
