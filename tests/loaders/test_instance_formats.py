"""Files of instances beside COCO's, and instances as maps: drawings worked by hand, and hostile files."""

from __future__ import annotations

import base64
import io
import json

import numpy as np
import pytest
from PIL import Image

import segbench as sb
from segbench.core.errors import DataError
from tests.loaders.test_annotations import kinds_in

pytestmark = pytest.mark.filterwarnings("ignore::segbench.aggregator.benchmark.FailedImages")
LEFT, RIGHT = "0 0 0 0.5 0 0.5 1 0 1", "0 0.5 0 1 0 1 1 0.5 1"
"""The halves of an image, as polygons of YOLO."""


@pytest.fixture
def write(tmp_path):
    def run(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, np.ndarray):
            Image.fromarray(content).save(path)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    return run


@pytest.fixture
def yolo(tmp_path, write):
    """Evaluate lines of YOLO by image, in images of 10 rows and 20 columns."""

    def run(truth, predicted, protocol="objects", **arguments):
        for side, lines in (("gt", truth), ("ours", predicted)):
            (tmp_path / side).mkdir()
            for name, text in lines.items():
                write(f"{side}/{name}.txt", text)
        return sb.evaluate(tmp_path / "gt", tmp_path / "ours", protocol, **{"sizes": "20x10", **arguments})

    return run


def test_yolo_polygons_are_scored_objects(yolo):
    """One of two objects is found: precision 1 up to a recall of .5, which are 51 of 101 recalls."""
    result = yolo({"a": f"{LEFT}\n{RIGHT}\n"}, {"a": f"{LEFT} 0.9"})
    assert result.summary["coco_ap"] == pytest.approx(51 / 101, abs=1e-12)


@pytest.mark.parametrize("line", [f"{LEFT} 0.9", f"{LEFT} 0.9 7", "0 0.25 0.5 0.5 1 0.9", "0 0.25 0.5 0.5 1 0.9 7"])
def test_yolo_lines_with_confidences_and_tracks(yolo, line):
    result = yolo({"a": LEFT}, {"a": line}, sb.Objects(kind="scored", overlap="box"))
    assert result.summary["coco_ap"] == pytest.approx(1, abs=1e-12)


def test_yolo_lines_without_confidences_are_drawn_as_label_maps(yolo):
    result = yolo({"a": f"{LEFT}\n{RIGHT}"}, {"a": f"{LEFT}\n0 0.5 0 1 0 1 0.6 0.5 0.6"})
    assert result.protocol == "objects"
    assert result.summary["f1@0.5"] == 1
    assert result.summary["matched_iou"] == pytest.approx((1 + 0.6) / 2)


def test_classes_of_yolo_are_one_higher_in_label_maps(yolo):
    """Half of the image is class 0; all of it is predicted as that, or as background."""
    result = yolo({"a": LEFT}, {"a": "0 0 0 1 0 1 1 0 1"}, sb.Labels(classes="none=0,cell=1"))
    assert result.parts("class")["cell"].summary["iou"] == 0.5


def test_images_without_a_file_hold_no_object(yolo):
    result = yolo({"a": LEFT, "b": LEFT}, {"a": f"{LEFT} 0.9"})
    assert result.summary["coco_ar_100"] == 0.5
    assert [note.kind for note in result.notes].count("images-without-file") == 1


def test_other_names_do_not_become_empty_predictions(yolo):
    with pytest.raises(DataError) as caught:
        yolo({"a": LEFT, "b": LEFT}, {"c": f"{LEFT} 0.9"})
    assert caught.value.kind == "unpaired"


def test_sizes_are_those_of_photographs(yolo, write):
    photograph = write("photographs/a.png", np.zeros((10, 20), np.uint8))
    result = yolo({"a": LEFT}, {"a": LEFT}, "labels", sizes=photograph.parent)
    assert result.summary["dice"] == 1


def test_sizes_are_found_where_training_finds_photographs(tmp_path, write):
    write("labels/val/a.txt", LEFT)
    write("images/val/a.png", np.zeros((10, 20), np.uint8))
    write("images/val/b.png", np.zeros((10, 20), np.uint8))
    write("ours/a.txt", f"{LEFT} 0.9")
    write("ours/b.txt", f"{LEFT} 0.8")
    result = sb.evaluate(tmp_path / "labels/val", tmp_path / "ours", "objects")
    assert sorted(result.counts) == ["a", "b"]
    assert result.summary["predicted_objects"] == 2


def test_numbers_beside_images_are_no_objects(tmp_path, write):
    """A file of times or of a camera is no annotation of masks beside it."""
    for side in ("gt", "ours"):
        write(f"{side}/a.png", np.pad(np.full((4, 4), 255, np.uint8), 3))
        write(f"{side}/times.txt", "0 0.1 0.2 0.3 0.4 0.5 0.6")
    assert sb.evaluate(tmp_path / "gt", tmp_path / "ours", "labels").summary["dice"] == 1


def test_a_size_that_nothing_tells_is_asked_for(yolo):
    failure = yolo({"a": LEFT}, {"a": f"{LEFT} 0.9"}, sizes=None).failed["a"]
    assert failure.kind == "unknown-size"
    assert [setting.name for setting in failure.settings] == ["sizes", "sizes"]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("0 10 10 200 10 200 50", "not-normalised"),
        ("0 0.1 0.1 0.5 nan 0.5 0.5", "not-normalised"),
        ("0 0.1 0.1 0.5 1e400 0.5 0.5", "not-normalised"),
        ("-1 0.1 0.1 0.5 0.1 0.5 0.5", "wrong-class"),
        ("1.5 0.1 0.1 0.5 0.1 0.5 0.5", "wrong-class"),
        ("nan 0.1 0.1 0.5 0.1 0.5 0.5", "wrong-class"),
        ("1e300 0.1 0.1 0.5 0.1 0.5 0.5", "wrong-annotations"),
        ("cat 0.1 0.1 0.5 0.1 0.5 0.5", "not-numbers"),
        ("0 0.1 0.1", "short-line"),
        ("0", "short-line"),
        ("0 0.25 0.5 0.5 1", "wrong-annotations"),  # a box, where masks are compared
    ],
)
def test_wrong_lines_fail_their_image_alone(yolo, line, kind):
    result = yolo({"a": LEFT, "b": LEFT}, {"a": f"{LEFT} 0.9\n{line}", "b": f"{LEFT} 0.9"})
    assert {name: failure.kind for name, failure in result.failed.items()} == {"a": kind}


def test_confidences_in_ground_truth_are_refused(yolo):
    assert yolo({"a": f"{LEFT} 0.9"}, {"a": f"{LEFT} 0.9"}).failed["a"].kind == "scored-truth"


# Instances as maps


def coco(*instances, scored=False):
    """Return a JSON of one image of 10 x 10 with squares (x, y, side, class)."""
    annotations = [
        {
            "id": k,
            "image_id": 1,
            "category_id": label,
            "segmentation": [[x, y, x + side, y, x + side, y + side, x, y + side]],
        }
        | ({"score": 1 - k / 10} if scored else {})
        for k, (x, y, side, label) in enumerate(instances, start=1)
    ]
    images = [{"id": 1, "file_name": "a.png", "height": 10, "width": 10}]
    return {
        "images": images,
        "categories": [{"id": label, "name": "xy"[label - 1]} for label in sorted({label for *_, label in instances})],
        "annotations": annotations,
    }


OVERLAPPING = ((0, 0, 6, 1), (4, 0, 4, 2))


@pytest.mark.parametrize(
    ("on_top", "pixels"), [("first", [36, 8]), ("last", [28, 16]), ("smallest", [28, 16]), ("largest", [36, 8])]
)
def test_an_order_says_which_instance_lies_on_top(tmp_path, write, on_top, pixels):
    truth = write("gt.json", coco(*OVERLAPPING))
    predicted = np.zeros((10, 10), np.uint8)
    predicted[:6, :6], predicted[:4, 4:8] = 1, 2
    if on_top in ("first", "largest"):
        predicted[:6, :6] = 1
    write("ours/a.png", predicted)
    repairs = sb.Repairs(on_top=on_top)
    result = sb.evaluate(truth, tmp_path / "ours", sb.Labels(classes="0,1,2"), repairs=repairs)
    assert result.summary["miou"] == 1
    assert result.counts["a"].matrix.sum(axis=1).tolist()[1:] == pixels
    assert f"on_top:{on_top}" in result.signature


def test_overlapping_instances_are_refused_without_an_order(tmp_path, write):
    truth = write("gt.json", coco(*OVERLAPPING))
    write("ours/a.png", np.ones((10, 10), np.uint8))
    failure = sb.evaluate(truth, tmp_path / "ours", sb.Labels(classes="0,1,2")).failed["a"]
    assert failure.kind == "overlapping-instances"
    assert failure.what.values["pixels"] == 8
    assert [setting.name for setting in failure.settings] == ["on_top", "on_top"]


def test_instances_of_one_class_may_overlap_in_a_map_of_classes(tmp_path, write):
    truth = write("gt.json", coco((0, 0, 6, 1), (4, 0, 4, 1)))
    predicted = np.zeros((10, 10), np.uint8)
    predicted[:6, :6] = predicted[:4, 4:8] = 255
    write("ours/a.png", predicted)
    for protocol in ("labels", "contours", "pixels", "centerlines"):
        result = sb.evaluate(truth, tmp_path / "ours", protocol)
        assert not result.failed, protocol
    assert sb.evaluate(truth, tmp_path / "ours", "labels").summary["dice"] == 1
    assert sb.evaluate(truth, tmp_path / "ours", "objects").failed["a"].kind == "overlapping-instances"


def test_detections_become_soft_maps_of_their_highest_scores(write):
    truth = write("gt.json", coco((0, 0, 4, 1)))
    results = write("ours.json", coco((0, 0, 4, 1), (2, 0, 4, 1), scored=True))
    counts = sb.evaluate(truth, results, "pixels").counts["a"]
    assert (counts.scores.tolist(), counts.positives.tolist(), counts.negatives.tolist()) == (
        [0.9, 0.8, 0],
        [16, 0, 0],
        [0, 8, 76],
    )


def test_a_least_score_chooses_the_detections_of_maps(write):
    truth = write("gt.json", coco((0, 0, 4, 1)))
    results = write("ours.json", coco((0, 0, 4, 1), (5, 5, 4, 1), scored=True))
    unscored = sb.Objects(kind="instances")
    assert sb.evaluate(truth, results, unscored, repairs=sb.Repairs(min_score=0.85)).summary["f1@0.5"] == 1
    result = sb.evaluate(truth, results, unscored)
    assert result.summary["f1@0.5"] == pytest.approx(2 / 3)
    assert "all-scores" in {note.kind for note in result.notes}


def test_scores_say_which_detection_lies_on_top(write):
    truth = write("gt.json", coco((0, 0, 6, 1)))
    results = write("ours.json", coco((0, 0, 6, 1), (4, 0, 4, 2), scored=True))
    result = sb.evaluate(truth, results, sb.Labels(classes="0,1,2"), repairs=sb.Repairs(on_top="score"))
    assert not result.failed
    assert result.counts["a"].matrix.tolist() == [[56, 0, 8, 0], [0, 36, 0, 0], [0, 0, 0, 0]]


def test_crowds_are_no_single_objects(tmp_path, write):
    content = coco((0, 0, 4, 1))
    content["annotations"][0]["iscrowd"] = 1
    truth = write("gt.json", content)
    write("ours/a.png", np.ones((10, 10), np.uint8))
    assert sb.evaluate(truth, tmp_path / "ours", "objects").failed["a"].kind == "crowds"
    assert not sb.evaluate(truth, tmp_path / "ours", sb.Labels(classes="0,1")).failed


def test_maps_of_boundaries_are_not_made_of_instances(tmp_path, write):
    write("ours/a.png", np.ones((10, 10), np.uint8))
    result = sb.evaluate(write("gt.json", coco((0, 0, 4, 1))), tmp_path / "ours", "boundaries")
    assert result.failed["a"].kind == "needless-instances"


# Files for each object, stacks, Cityscapes


def squares():
    """Return two masks of squares."""
    masks = np.zeros((2, 10, 10), np.uint8)
    masks[0, :4, :4] = masks[1, 5:9, 5:9] = 255
    return masks


def test_files_of_an_object_each_are_numbered(tmp_path, write):
    for k, mask in enumerate(squares()):
        write(f"gt/a/masks/{k}.png", mask)
        write(f"ours/a/{k}.png", mask)
    patterns = {"gt_pattern": "*/masks/#", "pred_pattern": "*/#"}
    result = sb.evaluate(tmp_path / "gt", tmp_path / "ours", "objects", **patterns)
    assert (result.summary["true_objects"], result.summary["f1@0.9"]) == (2, 1)
    scored = sb.evaluate(tmp_path / "gt", tmp_path / "ours", sb.Objects(kind="scored"), **patterns)
    assert scored.failed["a"].kind == "no-scores"


def test_files_of_objects_that_overlap_need_an_order(tmp_path, write):
    for k in range(2):
        write(f"gt/a/{k}.png", np.full((10, 10), 255, np.uint8))
    write("ours/a.png", np.full((10, 10), 3, np.uint8))
    result = sb.evaluate(tmp_path / "gt", tmp_path / "ours", "objects", gt_pattern="*/#")
    assert result.failed["a"].kind == "overlapping-instances"


@pytest.mark.parametrize("form", ["npy", "npz", "tif"])
def test_stacks_are_objects(tmp_path, form):
    import tifffile

    masks = squares()
    for side in ("gt", "ours"):
        (tmp_path / side).mkdir()
        path = tmp_path / side / f"a.{form}"
        if form == "npy":
            np.save(path, masks > 0)
        elif form == "npz":
            np.savez(path, masks=masks / 255)
        else:
            tifffile.imwrite(path, masks, photometric="minisblack")
    result = sb.evaluate(tmp_path / "gt", tmp_path / "ours", "objects")
    assert not result.failed
    assert (result.summary["true_objects"], result.summary["f1@0.9"]) == (2, 1)


def test_stacks_with_scores_and_classes_are_scored_objects(tmp_path):
    for side in ("gt", "ours"):
        (tmp_path / side).mkdir()
    np.savez(tmp_path / "gt/a.npz", masks=squares(), classes=[1, 2])
    np.savez(tmp_path / "ours/a.npz", masks=squares()[::-1] / 255, labels=[2, 2], scores=[0.9, 0.4])
    result = sb.evaluate(tmp_path / "gt", tmp_path / "ours", sb.Objects(kind="scored"))
    assert result.summary["coco_ap"] == pytest.approx(0.5, abs=1e-12)


@pytest.mark.parametrize(
    "wrong",
    [
        {"scores": [0.9]},
        {"scores": ["a", "b"]},
        {"labels": [1.5, 2.5]},
        {"labels": [-1, 2]},
        {"masks": np.zeros((2, 10))},
        {"masks": np.full((2, 10, 10), np.nan)},
        {"masks": np.arange(200).reshape(2, 10, 10)},
        {"masks": np.array([None, None])},
        {"masks": np.zeros((0, 10, 10))},
    ],
)
def test_stacks_that_do_not_fit_are_refused(tmp_path, wrong):
    for side in ("gt", "ours"):
        (tmp_path / side).mkdir()
    np.savez(tmp_path / "gt/a.npz", masks=squares())
    np.savez(tmp_path / "ours/a.npz", **{"masks": squares(), "labels": [1, 1], "scores": [0.9, 0.4], **wrong})
    result = sb.evaluate(tmp_path / "gt", tmp_path / "ours", sb.Objects(kind="scored"))
    assert list(result.failed) == ["a"]


@pytest.fixture
def cityscapes(tmp_path, write):
    ids = np.zeros((10, 10), np.uint16)
    ids[:4, :4], ids[5:9, 5:9], ids[0, 9], ids[9] = 26000, 26001, 26, 7
    write("gt/ulm/ulm_1_gtFine_instanceIds.png", ids)
    for k, mask in enumerate(squares()):
        write(f"ours/ulm_1_{k}.png", mask)

    def run(lines):
        write("ours/ulm_1_pred.txt", lines)
        scored = sb.Objects(kind="scored", divisor=1000, classes="car=26")
        patterns = {"gt_pattern": "*_gtFine_instanceIds", "pred_pattern": "*_pred"}
        return sb.evaluate(tmp_path / "gt", tmp_path / "ours", scored, **patterns)

    return run


def test_results_of_cityscapes(cityscapes):
    result = cityscapes("ulm_1_0.png 26 0.9\nulm_1_1.png 26 0.5\n")
    assert result.summary["coco_ap"] == pytest.approx(1, abs=1e-12)
    assert result.summary["true_objects"] == 2  # without the crowd


def test_results_of_cityscapes_without_a_line_are_empty(cityscapes, write):
    write("gt/ulm/ulm_2_gtFine_instanceIds.png", np.full((10, 10), 26000, np.uint16))
    write("ours/ulm_2_pred.txt", "")
    assert cityscapes("ulm_1_0.png 26 0.9").summary["coco_ar_100"] == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("ulm_1_0.png 26", "wrong-line"),
        ("ulm_1_0.png car 0.9", "wrong-line"),
        ("ulm_1_0.png -1 0.9", "wrong-line"),
        ("ulm_1_0.png 26 nan", "wrong-line"),
        ("../gt/ulm/ulm_1_gtFine_instanceIds.png 26 0.9", "outside-folder"),
        ("/etc/passwd 26 0.9", "outside-folder"),
        ("missing.png 26 0.9", "missing"),
    ],
)
def test_wrong_results_of_cityscapes_are_refused(cityscapes, line, kind):
    result = cityscapes(f"ulm_1_0.png 26 0.9\n{line}\n")
    assert [failure.kind for failure in result.failed.values()] == [kind]


# LabelMe


def labelme(*shapes, height=10, width=10):
    """Return the content of a file of one image."""
    return {
        "version": "5.4.1",
        "shapes": list(shapes),
        "imagePath": "a.jpg",
        "imageHeight": height,
        "imageWidth": width,
    }


def shape(label="cell", kind="rectangle", points=((0, 0), (3, 3)), **others):
    return {"label": label, "shape_type": kind, "points": [list(point) for point in points], **others}


@pytest.fixture
def draw(tmp_path, write):
    def run(truth, predicted, protocol="objects", **arguments):
        write("gt/a.json", truth)
        write("ours/a.json", predicted)
        return sb.evaluate(tmp_path / "gt", tmp_path / "ours", protocol, **arguments)

    return run


def test_shapes_are_drawn_with_their_outline(draw):
    """A rectangle from 0, 0 to 3, 3 covers 16 pixels, that to 3, 2 covers 12."""
    result = draw(labelme(shape()), labelme(shape(points=((0, 0), (3, 2)))))
    assert result.protocol == "objects"
    assert result.summary["matched_iou"] == 12 / 16


def test_scores_of_shapes_make_scored_objects(draw):
    result = draw(labelme(shape(), shape("other")), labelme(shape(score=0.9)))
    assert result.summary["coco_ap"] == pytest.approx(0.5, abs=1e-12)
    assert list(result.parts("class")) == ["cell", "other"]


def test_shapes_of_a_group_are_one_object(draw):
    group = [shape(group_id=4), shape(points=((6, 6), (8, 8)), group_id=4)]
    result = draw(labelme(*group), labelme(*group))
    assert (result.summary["true_objects"], result.summary["f1@0.9"]) == (1, 1)


def test_lines_and_points_are_left_out_and_said(draw):
    result = draw(labelme(shape(), shape(kind="line"), shape(kind="point", points=[(1, 1)])), labelme(shape()))
    assert result.summary["f1@0.9"] == 1
    assert "lines-left-out" in {note.kind for note in result.notes}


def test_masks_of_shapes_lie_between_their_corners(draw):
    file = io.BytesIO()
    Image.fromarray(np.full((2, 3), 255, np.uint8)).save(file, "PNG")
    code = base64.b64encode(file.getvalue()).decode()
    result = draw(
        labelme(shape(points=((2, 1), (4, 2)))), labelme(shape(kind="mask", points=((2, 1), (4, 2)), mask=code))
    )
    assert result.summary["matched_iou"] == 1


def test_photographs_beside_files_are_passed_over(draw, write):
    write("gt/a.jpg", np.zeros((10, 10), np.uint8))
    assert draw(labelme(shape()), labelme(shape())).summary["f1@0.9"] == 1


def test_two_files_need_no_equal_names(write):
    truth, predicted = write("x.json", labelme(shape())), write("y.json", labelme(shape(score=1)))
    assert sb.evaluate(truth, predicted, "objects").summary["coco_ap"] == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (labelme(shape(points=((0, 0),))), "wrong-shape"),
        (labelme(shape(kind="star")), "wrong-shape"),
        (labelme(shape(points=(("a", 0), (1, 1)))), "wrong-point"),
        (labelme(shape(points=((1e300, 0), (1, 1)))), "wrong-point"),
        (labelme(shape(score="a")), "wrong-score"),
        (labelme(shape(label=None)), "no-label"),
        (labelme(shape(kind="mask")), "no-mask"),
        (labelme(shape(kind="mask", mask="!!!")), "no-mask"),
        (labelme(shape(kind="mask", mask=base64.b64encode(b"abc").decode())), "other-format"),
        (labelme(height=10**6, width=10**6), "wrong-size"),
        (labelme(height="10"), "wrong-size"),
        ({"shapes": 3, "imageHeight": 10, "imageWidth": 10}, "no-shapes"),
    ],
)
def test_wrong_shapes_fail_their_image(draw, content, kind):
    result = draw(labelme(shape()), content, sb.Objects(kind="scored"))
    assert kind in kinds_in(result.failed["a"].what)


def test_shapes_may_be_drawn_as_coco_draws_polygons(draw):
    """A rectangle from 0, 0 to 3, 3 covers 9 pixels, and 16 with its outline."""
    truth, predicted = labelme(shape()), labelme(shape(score=0.9))
    for repairs, pixels in ((sb.Repairs(), 16), (sb.Repairs(rasterise="coco"), 9)):
        masks = draw(truth, predicted, sb.Labels(classes="0,1"), repairs=repairs)
        assert masks.counts["a"].matrix.sum(axis=1)[1] == pixels
        scored = draw(truth, predicted, repairs=repairs)
        assert scored.protocol == "scored"
        assert ("rasterise:coco" in scored.signature) == (pixels == 9)
    assert sb.Repairs.from_fields(scored.settings).rasterise == "coco"


@pytest.mark.filterwarnings("ignore:__array__:DeprecationWarning")  # of the peer
def test_shapes_drawn_as_coco_draws_polygons_equal_those_of_pycocotools():
    codes = pytest.importorskip("pycocotools.mask")
    random = np.random.default_rng(3)
    from segbench.loaders.labelme import _drawn

    for kind, corners in (("polygon", 7), ("rectangle", 2), ("circle", 2), ("oriented_rectangle", 4)) * 50:
        points = random.uniform(-5, 45, (corners, 2))
        polygon = points
        if kind == "rectangle":
            (left, top), (right, bottom) = points.min(axis=0), points.max(axis=0)
            polygon = np.array([[left, top], [right, top], [right, bottom], [left, bottom]])
        elif kind == "circle":  # as in labelme2coco.py
            radius = np.linalg.norm(points[0] - points[1])
            number = max(int(np.pi / np.arccos(1 - 1 / radius)), 12)
            angles = 2 * np.pi / number * np.arange(number)
            polygon = points[0] + radius * np.stack([np.sin(angles), np.cos(angles)], axis=1)
        expected = codes.decode(codes.frPyObjects([polygon.reshape(-1).tolist()], 40, 30))[..., 0]
        drawn = _drawn(shape(kind=kind, points=points.tolist()), kind, (40, 30), "x", "coco")
        assert np.array_equal(drawn, expected)


def test_drawings_equal_those_of_labelme():
    utils = pytest.importorskip("labelme.utils")
    random = np.random.default_rng(3)
    from segbench.loaders.labelme import _drawn

    for kind, corners in (("polygon", 7), ("rectangle", 2), ("circle", 2), ("oriented_rectangle", 4)) * 50:
        points = random.uniform(-5, 45, (corners, 2)).tolist()
        expected = utils.shape_to_mask((40, 30), points, kind)
        assert np.array_equal(_drawn(shape(kind=kind, points=points), kind, (40, 30), "x"), expected)
