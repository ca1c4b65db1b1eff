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


def test_a_file_for_each_nucleus_is_refused_with_a_pointer(tmp_path):
    for number in range(2):
        write(tmp_path / f"stage1_train/image0/masks/nucleus{number}.png", np.uint8(number + 1 == CELLS) * 255)
    write(tmp_path / "stage1_train/image0/images/image0.png", CELLS)  # the photograph
    write(tmp_path / "pred/image0.png", CELLS)
    ended = CliRunner().invoke(app, ["run", "dsb2018", str(tmp_path / "stage1_train"), str(tmp_path / "pred")])
    assert within(ended.exception, "file-for-each-object") == {"file": "image0/masks/nucleus0"}
    assert within(ended.exception, "fix")["address"].endswith("stardist/releases/download/0.1.0/dsb2018.zip")
