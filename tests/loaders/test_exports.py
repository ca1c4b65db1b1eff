"""Folders and archives of instances as tools write them: miniatures in the layouts that these publish."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from PIL import Image

import segbench as sb
from segbench.core.errors import DataError
from segbench.loaders.source import LocalFile
from segbench.loaders.yolo import _described_names

HEIGHT, WIDTH = 40, 60
OBJECTS = ((5, 1), (30, 2))
"""Where the squares of an image begin, and their classes."""


def square(left):
    return [left, 5, left + 10, 5, left + 10, 17, left, 17]


def line(left, label, *more):
    shares = [f"{value / (WIDTH, HEIGHT)[k % 2]:.7f}" for k, value in enumerate(square(left))]
    return " ".join([str(label), *shares, *more])


@pytest.fixture
def write(tmp_path):
    def run(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            Image.fromarray(np.zeros((HEIGHT, WIDTH, 3), np.uint8)).save(path)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    return run


@pytest.fixture
def roboflow_coco(tmp_path, write):
    """Sets of three images with two objects each; category 0 is the group of all, and annotations count from 0."""
    names = [f"image{k}_jpg.rf.{k:032x}" for k in range(3)]
    annotations = [
        {"id": 2 * k + n, "image_id": k, "category_id": label, "segmentation": [square(left)], "iscrowd": 0,
         "bbox": [left, 5, 10, 12], "area": 120}
        for k in range(3) for n, (left, label) in enumerate(OBJECTS)
    ]  # fmt: skip
    names_of_classes = enumerate(("objects", "cell", "debris"))
    content = {
        "info": {"description": "Exported from roboflow.com"},
        "categories": [{"id": k, "name": name, "supercategory": "none"} for k, name in names_of_classes],
        "images": [
            {"id": k, "file_name": f"{name}.jpg", "height": HEIGHT, "width": WIDTH} for k, name in enumerate(names)
        ],
        "annotations": annotations,
    }
    for part in ("train", "valid", "test"):
        write(f"export/{part}/_annotations.coco.json", content)
        for name in names:
            write(f"export/{part}/{name}.jpg", None)
    write("export/README.roboflow.txt", "This dataset was exported via roboflow.com")
    write("results.json", [{**annotation, "score": 0.9 - annotation["id"] / 20} for annotation in annotations])
    return tmp_path / "export"


@pytest.fixture
def roboflow_yolo(tmp_path, write):
    for name in "ab":
        for part in ("train", "valid"):
            write(f"export/{part}/images/{name}.jpg", None)
            write(f"export/{part}/labels/{name}.txt", "\n".join(line(left, label - 1) for left, label in OBJECTS))
        write(f"ours/{name}.txt", "\n".join(line(left, label - 1, "0.9") for left, label in OBJECTS))
    write("export/data.yaml", "train: ../train/images\nval: ../valid/images\n\nnc: 2\nnames: ['cell', 'debris']\n")
    write("export/README.dataset.txt", "# cells")
    return tmp_path / "export"


def test_a_set_of_roboflow_in_coco_s_format(roboflow_coco, tmp_path):
    result = sb.evaluate(roboflow_coco / "valid", tmp_path / "results.json", "objects")
    assert (len(result.counts), result.summary["coco_ap"]) == (3, pytest.approx(1, abs=1e-12))
    assert list(result.parts("class")) == ["cell", "debris"]
    assert "read-within" in {note.kind for note in result.notes}


def test_a_set_of_roboflow_in_yolo_s_format(roboflow_yolo, tmp_path):
    result = sb.evaluate(roboflow_yolo / "valid", tmp_path / "ours", "objects")
    assert (len(result.counts), result.summary["coco_ap"]) == (2, pytest.approx(1, abs=1e-12))
    assert list(result.parts("class")) == ["cell", "debris"]


@pytest.mark.parametrize("export", ["roboflow_coco", "roboflow_yolo"])
def test_several_sets_are_refused(export, request, tmp_path):
    folder = request.getfixturevalue(export)
    with pytest.raises(DataError) as caught:
        sb.evaluate(folder, tmp_path / ("results.json" if export == "roboflow_coco" else "ours"), "objects")
    assert caught.value.kind == "several-sets"
    assert caught.value.what.values["sets"][-1] == "valid"


def test_masks_in_folders_of_those_names_are_masks(tmp_path):
    mask = np.zeros((10, 10), np.uint8)
    mask[:4] = 255
    for part in ("train", "valid"):
        for folder in ("gt", "ours"):
            (tmp_path / folder / part / "labels").mkdir(parents=True)
            Image.fromarray(mask).save(tmp_path / folder / part / "labels/a.png")
            (tmp_path / folder / "notes.txt").write_text("0 1 2 3 4 5 6")
    assert sb.evaluate(tmp_path / "gt", tmp_path / "ours", "labels").summary["dice"] == 1


def test_classes_that_yolo_numbers_from_0_are_not_those_of_roboflow_s_json(roboflow_coco, write, tmp_path):
    for k in range(3):
        write(f"ours/image{k}_jpg.rf.{k:032x}.txt", "\n".join(line(left, label - 1, "0.9") for left, label in OBJECTS))
    report = sb.check(roboflow_coco / "valid", tmp_path / "ours", "objects")
    (shifted,) = [finding for finding in report.findings if finding.kind == "classes-shifted"]
    assert shifted.message.values["verb"] == "add"


def test_the_folder_of_a_prediction_by_ultralytics(roboflow_yolo, tmp_path, write):
    """Photographs with drawn objects lie beside the labels."""
    for name in "ab":
        write(f"predict/{name}.jpg", None)
    shutil.move(tmp_path / "ours", tmp_path / "predict/labels")
    result = sb.evaluate(roboflow_yolo / "valid", tmp_path / "predict", "objects")
    assert result.summary["coco_ap"] == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("nc: 2\nnames: ['cell', 'debris of x']\nroboflow:\n  workspace: x\n", {0: "cell", 1: "debris of x"}),
        ('names: [cell, "a, b"]  # two', {0: "cell", 1: "a, b"}),
        ("names: [\n 'a',\n 'b'\n]\n", {0: "a", 1: "b"}),
        ("names: {0: a, 3: 'b c'}", {0: "a", 3: "b c"}),
        ("names:\n- cell\n- 'x y'\nnc: 2\n", {0: "cell", 1: "x y"}),
        ("names:\r\n  - a\r\n  - b\r\n", {0: "a", 1: "b"}),
        ("path: x\nnames:\n  0: person\n  1: traffic light  # c\n\ndownload: |\n  names: no\n",
         {0: "person", 1: "traffic light"}),
        ("nc: 3\n", {}),
        (f"names:\n  {'9' * 5000}: a\n", {}),
    ],
)  # fmt: skip
def test_names_of_classes_in_yaml(write, text, names):
    assert _described_names(LocalFile(write("data.yaml", text))) == names


def test_names_beside_the_files_come_first(roboflow_yolo, write, tmp_path):
    write("export/valid/labels/classes.txt", "nucleus\nfibre\n")
    result = sb.evaluate(roboflow_yolo / "valid", tmp_path / "ours", "objects")
    assert list(result.parts("class")) == ["nucleus", "fibre"]


@pytest.mark.parametrize("form", ["zip", "tar", "gztar"])
def test_archives_of_yolo_are_their_folders(roboflow_yolo, tmp_path, form):
    expected = sb.evaluate(roboflow_yolo / "valid/labels", tmp_path / "ours", "objects")
    truth = shutil.make_archive(str(tmp_path / "gt"), form, roboflow_yolo / "valid/labels")
    predicted = shutil.make_archive(str(tmp_path / "packed"), form, tmp_path / "ours")
    result = sb.evaluate(truth, predicted, "objects", sizes=roboflow_yolo / "valid/images")
    assert list(result.counts) == ["a", "b"]
    assert result.summary["coco_ap"] == expected.summary["coco_ap"] == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("form", ["zip", "tar"])
def test_archives_of_labelme_are_their_folders(write, tmp_path, form):
    def labelled(*shapes):
        return {"version": "6.0.0", "shapes": shapes, "imageHeight": HEIGHT, "imageWidth": WIDTH}

    def shape(left, **more):
        points = np.reshape(square(left), (4, 2)).tolist()
        return {"label": "cell", "points": points, "shape_type": "polygon", "group_id": None, **more}

    for name in "ab":
        write(f"gt/{name}.json", labelled(shape(5), shape(30)))
        write(f"ours/{name}.json", labelled(shape(5, score=0.5)))
    archives = [shutil.make_archive(str(tmp_path / side), form, tmp_path / side) for side in ("gt", "ours")]
    assert sb.evaluate(*archives, "objects").summary["coco_ap"] == pytest.approx(51 / 101, abs=1e-12)


@pytest.mark.parametrize("content", ["", "\n"])
def test_a_model_that_finds_nothing_has_an_ap_of_0(roboflow_yolo, write, tmp_path, content):
    for name in "ab":
        write(f"nothing/{name}.txt", content)
    result = sb.evaluate(roboflow_yolo / "valid", tmp_path / "nothing", "objects")
    assert (result.protocol, result.summary["coco_ap"], result.summary["coco_ar_100"]) == ("scored", 0, 0)
    assert not result.failed
    assert not sb.check(roboflow_yolo / "valid", tmp_path / "nothing", "objects").errors


def test_methods_that_find_nothing_do_not_decide_what_is_measured(roboflow_yolo, write, tmp_path, segbench):
    for name in "ab":
        write(f"nothing/{name}.txt", "")
        write(f"unscored/{name}.txt", line(5, 0))
    printed = segbench("objects", roboflow_yolo / "valid", tmp_path / "nothing", tmp_path / "unscored").out
    assert "protocol:objects|kind:instances" in printed


def test_empty_folders_and_other_texts_are_refused(roboflow_yolo, write, tmp_path):
    write("nothing/a.txt", "see the other folder")
    for folder in ("nothing", "empty"):
        (tmp_path / folder).mkdir(exist_ok=True)
        with pytest.raises(DataError) as caught:
            sb.evaluate(roboflow_yolo / "valid", tmp_path / folder, "objects")
        assert caught.value.kind == "no-images"


def test_detections_of_classes_that_no_object_has_are_said(roboflow_yolo, write, tmp_path):
    for name in "ab":
        write(f"foreign/{name}.txt", f"{line(5, 0, '0.9')}\n{line(30, 7, '0.9')}")
    result = sb.evaluate(roboflow_yolo / "valid", tmp_path / "foreign", "objects")
    (note,) = [note for note in result.summary.notes if note.kind == "foreign-detections"]
    assert note.message.values == {"detections": "2 of 4 detections", "classes": "7"}
    assert not result.parts("class")["cell"].summary.notes
