"""Instances as arrays: what detectors return in Python, read as the instances of an image.

Conventions
-----------
1. A side is a mapping or an object with ``masks`` (N, H, W), or a list of masks (H, W) or of RLE of COCO; ``labels``,
   whole numbers; ``scores``, of predictions; and optionally ``boxes`` (N, 4), the corners x0, y0, x1, y1, ``iscrowd``
   and ``area`` of ground truth. A list of annotations or results of COCO will do, too.
2. Masks of floats are cut at .5, which belongs to the mask.
3. Without instances, an empty list has no size: then it is that of the other side.

The fields are called as in the outputs of torchvision (``labels``), detectron2 (``pred_masks``, ``pred_classes``,
``gt_masks``), MMDetection (``bboxes``), ultralytics (``masks.data``, ``boxes.cls``), and Hugging Face
(``segments_info``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.aggregator.batches import Batch, Called, Name, as_name, on_host
from segbench.core.arrays import FloatArray, IntArray
from segbench.core.errors import ArgumentError
from segbench.core.instances import Instances, Runs, encode_masks
from segbench.core.messages import Message
from segbench.loaders.mask_codes import runs_of_texts

_CUT = 0.5
_MASKS = ("masks", "pred_masks", "gt_masks", "segmentation")
_LABELS = ("labels", "pred_classes", "gt_classes", "category_id", "label_id")
_SCORES = ("scores", "score")
_CORNERS = ("boxes", "pred_boxes", "gt_boxes", "bboxes")
_EXPECTED = "expected masks and labels, and of predictions scores, as torchvision returns them"
_LARGEST_CLASS = 2**31

Size = tuple[int, int]


@dataclass(frozen=True, eq=False)
class InstanceBatch(Batch):
    """Instances of one image, or of several that `labels` and `scores` list as they were given."""

    called: Called = field(default_factory=Called)

    def images(self, names: Sequence[Name]) -> Iterator[tuple[str, Batch]]:
        """Go through the images of the lists."""
        truths, predictions = list(self.labels), list(self.scores)
        if not len(names) == len(truths) == len(predictions):
            raise ArgumentError(
                Message(
                    "other-length",
                    "{names:many name} for {images:many image} (scores) and {truths} (labels) along the first axis",
                    names=len(names),
                    images=len(predictions),
                    truths=len(truths),
                )
            )
        for name, truth, predicted in zip(names, truths, predictions, strict=True):
            yield as_name(name), as_instance_batch(truth, predicted, None, self.called)

    @property
    def notes(self) -> tuple[Any, ...]:
        """No notes: scores are of any range."""
        return ()


def as_instance_batch(truth: Any, predicted: Any, valid: Any, called: Called) -> InstanceBatch:  # noqa: ANN401  of any library
    """Read the instances of both sides of one image."""
    refuse_valid(valid)
    sides = [_fields(truth, "gt_instances"), _fields(predicted, "pred_instances")]
    sizes = [_size(side) for side in sides]
    known = next((size for size in sizes if size is not None), None)
    if known is None:
        raise ArgumentError(
            Message(
                "unknown-size",
                "{truth} and {predicted} hold no instance and no size; give masks as an array of shape (0, height, "
                "width)",
                truth=called.labels,
                predicted=called.scores,
            )
        )
    about = tuple(
        _as_instances(side, size or known, name) for side, size, name in zip(sides, sizes, called, strict=True)
    )
    if about[1].scores is None:
        raise ArgumentError(
            Message("no-scores", "{predicted} has no scores, {expected}", predicted=called.scores, expected=_EXPECTED)
        )
    blank = np.broadcast_to(np.uint8(0), known)
    return InstanceBatch(blank, blank, None, tensors=False, about=about)


def refuse_valid(valid: Any) -> None:  # noqa: ANN401  as above
    """Refuse pixels that are left out."""
    if valid is not None:
        raise ArgumentError(
            Message("no-field", "valid or masked pixels: {why}", why="crowds say where detections are neither")
        )


def _fields(side: Any, attribute: str) -> Any:  # noqa: ANN401  as above
    """Return what has the fields of a side: itself, or what it wraps."""
    if isinstance(side, Mapping) and "instances" in side:  # of detectron2
        return side["instances"]
    if isinstance(side, Mapping) and "segments_info" in side:  # of Hugging Face
        return _of_segments(side["segmentation"], side["segments_info"])
    if isinstance(side, (list, tuple)):
        return _of_annotations(side)
    if hasattr(side, attribute):  # of MMDetection
        shape = getattr(side, "ori_shape", None)
        return _Sized(getattr(side, attribute), None if shape is None else tuple(shape[:2]))
    if hasattr(getattr(side, "boxes", None), "conf"):  # of ultralytics
        masks = side.masks.data if side.masks is not None else []
        fields = {"masks": masks, "labels": side.boxes.cls, "scores": side.boxes.conf, "boxes": side.boxes.xyxy}
        return _Sized(fields, tuple(side.orig_shape))
    return side


@dataclass(frozen=True)
class _Sized:
    """Fields of a side, and the size of its image where the library tells it."""

    fields: Any
    image_size: Size | None


def _field(side: Any, names: Sequence[str]) -> Any:  # noqa: ANN401  as above
    """Return the first of some fields that a side has; None if it has none."""
    if isinstance(side, _Sized):
        return _field(side.fields, names)
    for name in names:
        if isinstance(side, Mapping):
            if side.get(name) is not None:
                return side[name]
        elif hasattr(side, "has") and not side.has(name):  # of detectron2, where others are errors
            continue
        elif getattr(side, name, None) is not None:
            return getattr(side, name)
    return None


def _of_annotations(annotations: Sequence[Any]) -> dict[str, Any]:
    """Return the fields of annotations or results of COCO."""
    if not all(isinstance(annotation, Mapping) for annotation in annotations):
        raise ArgumentError(
            Message(
                "no-instances",
                "a list holds {type}; {expected}",
                type=type(annotations[0]).__name__,
                expected=_EXPECTED,
            )
        )
    fields: dict[str, Any] = {
        "masks": [annotation.get("segmentation") for annotation in annotations],
        "labels": [annotation.get("category_id") for annotation in annotations],
        "iscrowd": [annotation.get("iscrowd", 0) for annotation in annotations],
    }
    for name in ("score", "area", "bbox"):
        if annotations and all(annotation.get(name) is not None for annotation in annotations):
            fields[name] = [annotation[name] for annotation in annotations]
    return fields


def _of_segments(segmentation: Any, segments: Sequence[Mapping[str, Any]]) -> dict[str, Any]:  # noqa: ANN401  as above
    """Return the fields of Hugging Face's instance segmentation: a map of ids, masks, or RLE."""
    masks: Any = [] if segmentation is None else segmentation
    if segmentation is not None and not isinstance(segmentation, list):
        numbers = on_host(segmentation, "segmentation")
        masks = numbers
        if numbers.ndim == 2:
            masks = np.array([numbers == segment["id"] for segment in segments], np.bool_).reshape(-1, *numbers.shape)
    return {
        "masks": masks,
        "labels": [segment["label_id"] for segment in segments],
        "scores": [segment["score"] for segment in segments],
    }


def _masks(side: Any) -> Any:  # noqa: ANN401  as above
    """Return the masks of a side: an array (N, H, W), or a list of masks or RLE."""
    masks = _field(side, _MASKS)
    if masks is None:
        raise ArgumentError(Message("no-instances", "there are no masks; {expected}", expected=_EXPECTED))
    for wrapped in ("tensor", "masks"):  # of BitMasks of detectron2, and of BitmapMasks of MMDetection
        masks = getattr(masks, wrapped, masks)
    if isinstance(masks, (list, tuple)):
        return list(masks)
    array = on_host(masks, "masks")
    if array.ndim == 4 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 3:
        raise ArgumentError(
            Message(
                "wrong-shape",
                "{argument} has shape ({shape}), expected (instances, height, width)",
                argument="masks",
                shape=array.shape,
            )
        )
    return array


def _size(side: Any) -> Size | None:  # noqa: ANN401  as above
    """Return height and width of the image of a side; None where it has neither masks nor a size."""
    if isinstance(side, Instances):
        return side.size
    masks = _masks(side)
    if not isinstance(masks, list):
        return int(masks.shape[1]), int(masks.shape[2])
    if masks:
        first = masks[0]
        size = first["size"] if isinstance(first, Mapping) and "size" in first else np.shape(first)
        return (int(size[0]), int(size[1])) if len(size) == 2 else None
    size = getattr(side, "image_size", None)
    return None if size is None else (int(size[0]), int(size[1]))


def _as_instances(side: Any, size: Size, name: str) -> Instances:  # noqa: ANN401  as above
    """Read a side."""
    if isinstance(side, Instances):
        return side
    masks = _encoded(_masks(side), size, name)
    number = masks.ends.size
    scores = _listed(side, _SCORES, number, name)
    classes = _listed(side, _LABELS, number, name)
    if classes is None:
        raise ArgumentError(Message("no-instances", "{name} has no labels, {expected}", name=name, expected=_EXPECTED))
    if np.any(classes != np.round(classes)) or np.any(classes < 0) or np.any(classes > _LARGEST_CLASS):
        raise ArgumentError(
            Message(
                "wrong-labels", "labels of {name} are no whole numbers of at least 0; give those of classes", name=name
            )
        )
    crowds, areas = _listed(side, ("iscrowd",), number, name), _listed(side, ("area",), number, name)
    return Instances(
        size=size,
        runs=masks.runs,
        ends=masks.ends,
        classes=classes.astype(np.int64),
        scores=scores,
        crowds=np.zeros(number, np.bool_) if crowds is None or scores is not None else crowds != 0,
        areas=np.full(number, np.nan) if areas is None or scores is not None else areas,
        boxes=_boxes(side, number, name),
    )


def _encoded(masks: Any, size: Size, name: str) -> Runs:  # noqa: ANN401  as above
    """Return the runs of masks, each of this size."""
    if not isinstance(masks, list):
        return encode_masks(_cut(masks))
    runs = [_runs(mask, size, name) for mask in masks]
    ends = np.cumsum([part.size for part in runs], dtype=np.int64)
    return Runs(np.concatenate([np.zeros(0, np.int64), *runs]), ends)


def _cut(masks: NDArray[Any]) -> NDArray[np.bool_]:
    """Return soft masks cut, and others as they are."""
    inside: NDArray[np.bool_] = masks >= _CUT if masks.dtype.kind == "f" else masks != 0
    return inside


def _runs(mask: Any, size: Size, name: str) -> IntArray:  # noqa: ANN401  as above
    """Return the runs of one mask: an array, RLE of COCO, or a list of runs as Hugging Face has it."""
    if isinstance(mask, Mapping):
        counts, shape = mask.get("counts"), tuple(mask.get("size", ()))
        text = counts.encode() if isinstance(counts, str) else counts
        runs = runs_of_texts([text])[0] if isinstance(text, bytes) else _whole(text)
    elif isinstance(mask, list) and all(isinstance(length, int) for length in mask):
        runs, shape = _whole(mask), size
    elif isinstance(mask, (list, tuple)) or mask is None:
        raise ArgumentError(
            Message("polygons", "{name} holds polygons or nothing for a mask; give masks as arrays or RLE", name=name)
        )
    else:
        array = on_host(mask, "masks")
        shape = array.shape
        runs = encode_masks([_cut(array)]).runs if array.ndim == 2 else np.zeros(0, np.int64)
    if shape != size or runs.sum() != size[0] * size[1] or np.any(runs < 0):
        raise ArgumentError(
            Message(
                "other-size",
                "a mask of {name} has another size than its image, {size}: found {shape}; nothing is resized",
                name=name,
                size=size,
                shape=shape,
            )
        )
    return runs


def _whole(counts: Any) -> IntArray:  # noqa: ANN401  as above
    """Return the lengths of runs."""
    runs = np.asarray([] if counts is None else counts)
    return runs.astype(np.int64) if runs.ndim == 1 and runs.dtype.kind in "iu" else np.zeros(0, np.int64)


def _listed(side: Any, names: Sequence[str], number: int, name: str) -> FloatArray | None:  # noqa: ANN401  as above
    """Return a number for each instance; None where a side has none."""
    values = _field(side, names)
    if values is None:
        return None
    array = on_host(values, names[0]).astype(np.float64).reshape(-1)
    if array.size != number:
        raise ArgumentError(
            Message(
                "other-length",
                "{name} has {found} {field} for {expected:many mask}",
                name=name,
                found=array.size,
                field=names[0],
                expected=number,
            )
        )
    return array


def _boxes(side: Any, number: int, name: str) -> FloatArray:  # noqa: ANN401  as above
    """Return the boxes that a side states as x, y, width and height, or nan."""
    corners, sides = _field(side, _CORNERS), _field(side, ("bbox",))
    values = sides if corners is None else getattr(corners, "tensor", corners)  # of detectron2
    if values is None:
        return np.full((number, 4), np.nan)
    boxes = on_host(values, "boxes").astype(np.float64).reshape(-1, 4)
    if len(boxes) != number:
        raise ArgumentError(
            Message(
                "other-length", "{name} has {found} boxes for {expected:many mask}",
                name=name, found=len(boxes), expected=number,
            )
        )  # fmt: skip
    return boxes if corners is None else np.hstack([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]])


def listed_batch(labels: Any, scores: Any, valid: Any, called: Called) -> InstanceBatch:  # noqa: ANN401  as above
    """Take several images, one after the other."""
    refuse_valid(valid)
    return replace(InstanceBatch(labels, scores, None, tensors=False), called=called)
