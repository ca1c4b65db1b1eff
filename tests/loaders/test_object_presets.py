"""Every preset of the objects protocol on a miniature made in its layout."""

import json

import imageio.v3 as iio
import numpy as np
import pytest
from click.testing import CliRunner
from refusing import within

import segbench
from segbench.cli.commands import app

CELLS = np.kron(np.array([[1, 1, 0, 2, 2], [0, 3, 3, 0, 4]]), np.ones((20, 20), int)).astype(np.uint16)
RNG = np.random.default_rng(3)


def write(path, values):
    path.parent.mkdir(parents=True, exist_ok=True)
    iio.imwrite(path, values)


def with_json(folder, file, name, *, truth):
    """Write a map of ids with its JSON, a crowd among them: three cars, the road and a pixel of void."""
    ids = CELLS.astype(int) * 70000
    ids[0, 0] = 0
    write(folder / file, np.stack([ids % 256, ids // 256 % 256, ids // 65536], -1).astype(np.uint8))
    segments = [
        {"id": 70000 * k, "category_id": 7 if k == 1 else 26, "iscrowd": int(truth and k == 4)} for k in (1, 2, 3, 4)
    ]
    if truth:
        for one in segments:
            one["area"] = int((ids == one["id"]).sum())
    content = {"annotations": [{"image_id": name, "file_name": file, "segments_info": segments}]}
    if truth:
        content["categories"] = [{"id": 7, "name": "road", "isthing": 0}, {"id": 26, "name": "car", "isthing": 1}]
    folder.with_suffix(".json").write_text(json.dumps(content))


def coco(root, predictions):
    with_json(root / "annotations/panoptic_val2017", "000000000139.png", 139, truth=True)
    with_json(predictions, "000000000139.png", 139, truth=False)


def cityscapes(root, predictions):
    name = "frankfurt_000000_000294"
    with_json(root / "gtFine/cityscapes_panoptic_val", f"{name}_gtFine_panoptic.png", name, truth=True)
    with_json(predictions, f"{name}.png", name, truth=False)


def cityscapes_ids(root, predictions):
    ids = np.array([0, 7, 26000, 26001, 26], np.uint16)[CELLS]
    ids[0, 0] = 4  # static, which is not evaluated
    write(root / "gtFine/val/frankfurt/frankfurt_000000_000294_gtFine_instanceIds.png", ids)
    write(predictions / "frankfurt/frankfurt_000000_000294.png", np.where(ids == 26, 26002, ids).astype(np.uint16))


def dsb2018(root, predictions):
    for place in (root / "test/masks", predictions):
        write(place / "0bda515e370294ed94efd36bd53782288acacb040c171df2ed97fd691fc9d8fe.tif", CELLS)
    write(root / "test/images/0bda515e370294ed94efd36bd53782288acacb040c171df2ed97fd691fc9d8fe.tif", CELLS)


def cellpose(root, predictions):
    write(root / "test/000_img.png", np.zeros((40, 100, 3), np.uint8))
    write(root / "test/000_masks.png", CELLS)
    write(predictions / "000.png", CELLS)


def smiyc(root, predictions):
    truth = (CELLS > 0).astype(np.uint8)
    truth[:, -1] = 255
    write(root / "labels_masks/validation0000_labels_semantic.png", truth)
    predictions.mkdir()
    np.save(predictions / "validation0000.npy", (truth == 1) * 0.5 + RNG.random(truth.shape).astype(np.float32) * 0.4)


def infrared(*place):
    def made(root, predictions):
        truth = np.zeros((40, 60), np.uint8)
        truth[5:7, 8:10] = truth[30:33, 40:42] = 255
        write(root.joinpath(*place), truth)
        write(predictions / place[-1], np.where(truth == 0, 40, 200).astype(np.uint8))

    return made


HALVES = ["0 0 0 0.5 0 0.5 1 0 1", "1 0.5 0 1 0 1 1 0.5 1"]
"""Lines of YOLO."""


def coco_instances(root, predictions):
    squares = [[[x, 0, x + 5, 0, x + 5, 5, x, 5]] for x in (0, 10)]
    annotations = [
        {"id": k + 1, "image_id": 139, "category_id": k + 1, "segmentation": square, "iscrowd": 0}
        for k, square in enumerate(squares)
    ]
    images = [{"id": 139, "file_name": "000000000139.jpg", "height": 20, "width": 20}]
    categories = [{"id": k, "name": str(k)} for k in (1, 2)]
    (root / "annotations").mkdir(parents=True)
    content = {"images": images, "categories": categories, "annotations": annotations}
    (root / "annotations/instances_val2017.json").write_text(json.dumps(content))
    results = [{**annotation, "score": 0.5} for annotation in annotations]
    predictions.with_suffix(".json").write_text(json.dumps(results))


def cityscapes_instances(root, predictions):
    cityscapes_ids(root, predictions / "unused")
    name = "frankfurt_000000_000294"
    lines = []
    for k, number in enumerate((2, 3)):
        write(predictions / f"{name}_leftImg8bit_{k}_car.png", np.uint8(number == CELLS) * 255)
        lines.append(f"{name}_leftImg8bit_{k}_car.png 26 0.{k + 5}\n")
    (predictions / f"{name}_leftImg8bit_pred.txt").write_text("".join(lines))


def yolo(root, predictions):
    write(root / "images/val/a.jpg", np.zeros((20, 40), np.uint8))
    (root / "labels/val").mkdir(parents=True)
    predictions.mkdir()
    (root / "labels/val/a.txt").write_text("\n".join(HALVES))
    (predictions / "a.txt").write_text("\n".join(f"{line} 0.5" for line in HALVES))


INSTANCE_SETS = {"cityscapes-instances": cityscapes_instances, "coco-instances": coco_instances, "yolo": yolo}


@pytest.mark.parametrize("name", sorted(INSTANCE_SETS))
def test_a_preset_of_instances_fits_its_layout(name, tmp_path):
    INSTANCE_SETS[name](tmp_path / "root", tmp_path / "pred")
    predictions = tmp_path / ("pred.json" if name == "coco-instances" else "pred")
    places = [tmp_path / "root", predictions, "-o", tmp_path / "r.segbench"]
    ended = CliRunner().invoke(app, ["run", name, *map(str, places)])
    assert ended.exit_code == 0, ended.output
    (result,) = segbench.load_results(tmp_path / "r.segbench")
    assert (result.failed, result.protocol) == ({}, "scored")
    assert result.summary["coco_ap"] == pytest.approx(1, abs=1e-12)
    assert result.summary["true_objects"] == 2


SETS = {  # and what is 1 for predictions that are the ground truth
    "cellpose": (cellpose, ("f1@0.5", "aji", "pq"), 4),
    "cityscapes-instanceids": (cityscapes_ids, ("pq_things", "pq_stuff"), 3),
    "cityscapes-panoptic": (cityscapes, ("pq_things", "pq_stuff"), 3),
    "coco-panoptic": (coco, ("pq_things", "pq_stuff"), 3),
    "dsb2018": (dsb2018, ("f1@0.5", "aji", "pq"), 4),
    "irstd-1k": (infrared("IRSTD1k_Label", "XDU0.png"), ("pd", "component_f1"), 2),
    "nuaa-sirst": (infrared("masks", "Misc_1.png"), ("pd", "component_f1"), 2),
    "smiyc-components": (smiyc, ("component_f1", "lesion_f1"), 1),
    "smiyc-obstacles": (smiyc, ("component_f1", "lesion_f1"), 1),
}


@pytest.mark.parametrize("name", sorted(SETS))
def test_a_preset_of_objects_fits_its_layout(name, tmp_path):
    make, perfect, objects = SETS[name]
    make(tmp_path / "root", tmp_path / "pred")
    places = [tmp_path / "root", tmp_path / "pred", "-o", tmp_path / "r.segbench"]
    ended = CliRunner().invoke(app, ["run", name, *map(str, places)])
    assert ended.exit_code == 0, ended.output
    result = segbench.load_results(tmp_path / "r.segbench")[-1]
    assert not result.failed
    assert [result.summary[key] for key in perfect] == [1] * len(perfect)
    assert result.summary["true_objects"] == objects


def test_a_file_for_each_nucleus_is_read_by_a_pattern(tmp_path):
    for number in range(2):
        write(tmp_path / f"stage1_train/image0/masks/nucleus{number}.png", np.uint8(number + 1 == CELLS) * 255)
    write(tmp_path / "stage1_train/image0/images/image0.png", CELLS)  # the photograph
    write(tmp_path / "pred/image0.png", CELLS)
    places = [str(tmp_path / "stage1_train"), str(tmp_path / "pred")]
    ended = CliRunner().invoke(app, ["run", "dsb2018", *places])
    assert within(ended.exception, "file-for-each-object") == {"file": "image0/masks/nucleus0"}
    pattern = within(ended.exception, "fix")["pattern"]
    CliRunner().invoke(app, ["objects", *places, "--gt-pattern", pattern.value, "-o", str(tmp_path / "r.segbench")])
    (result,) = segbench.load_results(tmp_path / "r.segbench")
    assert result.summary["true_objects"] == 2
