"""Instances as detectors return them in Python: stand-ins for the outputs of libraries that are not installed."""

from types import SimpleNamespace

import numpy as np
import pytest

import segbench as sb
from segbench import Objects, count

SCORED = Objects(kind="scored")
MASKS = np.zeros((3, 12, 16), bool)
MASKS[0, :6, :6] = MASKS[1, 6:, 6:] = MASKS[2, :3, 10:] = True
LABELS, SCORES = np.array([1, 1, 2]), np.array([0.9, 0.8, 0.3])
CORNERS = np.array([[0, 0, 6, 6], [6, 6, 16, 12], [10, 0, 16, 3]], np.float32)
TRUTH = {"masks": MASKS[:2], "labels": [1, 1]}
EXPECTED = count(TRUTH, {"masks": MASKS, "labels": LABELS, "scores": SCORES}, SCORED)


class Tensor:
    """A tensor as far as it is read: it gives NumPy's arrays by DLPack."""

    def __init__(self, values):
        self.values = np.asarray(values)
        self.shape, self.ndim = self.values.shape, self.values.ndim

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


class Fields:
    """Instances of detectron2: fields that are asked for by `has`, of which others are errors."""

    def __init__(self, image_size, **fields):
        self.image_size, self._fields = image_size, fields

    def has(self, name):
        return name in self._fields

    def __getattr__(self, name):
        try:
            return self.__dict__["_fields"][name]
        except KeyError:
            raise AttributeError(name) from None


def torchvision():
    masks = Tensor(np.where(MASKS, 0.7, 0.2).astype(np.float32)[:, None])
    return {"boxes": Tensor(CORNERS), "labels": Tensor(LABELS), "scores": Tensor(SCORES), "masks": masks}


def detectron2():
    boxes = SimpleNamespace(tensor=Tensor(CORNERS))
    fields = {"pred_masks": Tensor(MASKS.astype(np.uint8)), "pred_classes": Tensor(LABELS), "scores": Tensor(SCORES)}
    return {"instances": Fields((12, 16), pred_boxes=boxes, **fields)}


def mmdetection():
    fields = SimpleNamespace(
        masks=Tensor(MASKS.astype(np.uint8)), labels=Tensor(LABELS), scores=Tensor(SCORES), bboxes=Tensor(CORNERS)
    )
    return SimpleNamespace(pred_instances=fields, ori_shape=(12, 16))


def ultralytics():
    boxes = SimpleNamespace(cls=Tensor(LABELS.astype(np.float32)), conf=Tensor(SCORES), xyxy=Tensor(CORNERS))
    return SimpleNamespace(
        boxes=boxes, masks=SimpleNamespace(data=Tensor(MASKS.astype(np.float32))), orig_shape=(12, 16)
    )


def segments():
    return [
        {"id": k, "label_id": int(label), "score": float(score)}
        for k, (label, score) in enumerate(zip(LABELS, SCORES, strict=True), 1)
    ]


def hugging_face():
    numbers = np.zeros((12, 16), np.int32)
    for k, mask in enumerate(MASKS, 1):
        numbers[mask] = k
    return {"segmentation": Tensor(numbers), "segments_info": segments()}


def runs(mask):
    changes = np.flatnonzero(np.diff(mask.ravel(order="F").astype(int), prepend=0)).tolist()
    ends = [*changes, mask.size]
    return [end - start for start, end in zip([0, *changes], ends, strict=True)]


def hugging_face_runs():
    return {"segmentation": [runs(mask) for mask in MASKS], "segments_info": segments()}


def coco_results():
    return [
        {"category_id": int(label), "score": float(score), "segmentation": {"size": [12, 16], "counts": runs(mask)}}
        for mask, label, score in zip(MASKS, LABELS, SCORES, strict=True)
    ]


OUTPUTS = [torchvision, detectron2, mmdetection, ultralytics, hugging_face, hugging_face_runs, coco_results]


@pytest.mark.parametrize("output", OUTPUTS, ids=lambda output: output.__name__)
def test_outputs_of_libraries(output):
    assert count(TRUTH, output(), SCORED) == EXPECTED


def test_boxes_are_corners():
    truth = {**TRUTH, "boxes": CORNERS[:2]}
    counts = count(truth, torchvision(), Objects(kind="scored", overlap="box"))
    assert np.all(counts.matched[:2] & 1023 == 1023)


def test_ground_truth_of_libraries():
    of_coco = [
        {"category_id": 1, "iscrowd": 0, "area": 36.0, "segmentation": {"size": [12, 16], "counts": runs(mask)}}
        for mask in MASKS[:2]
    ]
    boxes = SimpleNamespace(tensor=Tensor(CORNERS[:2]))
    masks = SimpleNamespace(tensor=Tensor(MASKS[:2]))
    of_detectron2 = Fields((12, 16), gt_masks=masks, gt_classes=Tensor(LABELS[:2]), gt_boxes=boxes)
    bitmaps = SimpleNamespace(masks=MASKS[:2])
    of_mmdetection = SimpleNamespace(gt_instances=SimpleNamespace(masks=bitmaps, labels=Tensor(LABELS[:2])))
    for truth in (of_coco, of_detectron2, of_mmdetection):
        assert count(truth, coco_results(), SCORED) == EXPECTED


def test_nothing_detected():
    empty = SimpleNamespace(cls=np.zeros(0), conf=np.zeros(0), xyxy=np.zeros((0, 4)))
    nothing = SimpleNamespace(boxes=empty, masks=None, orig_shape=(12, 16))
    for predicted in (nothing, {"masks": [], "labels": [], "scores": []}, {"segmentation": None, "segments_info": []}):
        assert count(TRUTH, predicted, SCORED).metrics()["coco_ap"] == 0
    with pytest.raises(sb.ArgumentError, match="no size"):
        count({"masks": [], "labels": []}, {"masks": [], "labels": [], "scores": []}, SCORED)


def test_batches_are_lists():
    accumulator = sb.Accumulator(SCORED)
    accumulator.update([TRUTH, TRUTH], [torchvision(), mmdetection()], names=["a", "b"])
    accumulator.update(TRUTH, hugging_face(), name="c")
    result = accumulator.compute()
    assert [counts == EXPECTED for counts in result.counts.values()] == [True] * 3
    with pytest.raises(sb.ArgumentError, match="2 names"):
        accumulator.update([TRUTH], [torchvision()], names=["d", "e"])
    with pytest.raises(sb.ArgumentError, match="name="):
        accumulator.update(TRUTH, torchvision())


DETECTIONS = {"masks": MASKS, "labels": LABELS, "scores": SCORES}
REFUSED = {
    "scores": ({"masks": MASKS, "labels": LABELS}, "has no scores"),
    "labels": ({"masks": MASKS, "scores": SCORES}, "has no labels"),
    "masks": ({"labels": LABELS, "scores": SCORES}, "no masks"),
    "number": ({**DETECTIONS, "scores": SCORES[:2]}, "2 scores for 3 masks"),
    "nan": ({**DETECTIONS, "scores": [0.1, np.nan, 0.2]}, "without a score"),
    "size": ({**DETECTIONS, "masks": MASKS[:, :5]}, "nothing is resized"),
    "fractions": ({**DETECTIONS, "labels": [0.5, 1, 2]}, "whole numbers"),
    "axes": ({**DETECTIONS, "masks": MASKS[0]}, "instances, height, width"),
    "polygons": ([{**result, "segmentation": [[0, 0, 4, 0, 4, 4]]} for result in coco_results()], "polygons"),
    "runs": (
        [{**result, "segmentation": {"size": [12, 16], "counts": [5, 3]}} for result in coco_results()],
        "another size",
    ),
    "text": (
        [
            {**result, "segmentation": {"size": [12, 16], "counts": "oooooooooooooooooooooo"}}
            for result in coco_results()
        ],
        "another size",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_is_refused(case):
    predicted, words = REFUSED[case]
    with pytest.raises(sb.SegbenchError, match=words):
        count(TRUTH, predicted, SCORED)
