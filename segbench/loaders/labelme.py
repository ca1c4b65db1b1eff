"""LabelMe's JSON files: one for each image, with shapes that people drew.

Conventions
-----------
1. Shapes are drawn as LabelMe itself draws them: polygons and rectangles with their outline, circles, and masks. Or
   they become polygons as in its labelme2coco.py, which are drawn as those of COCO.
   Lines and points are no objects and are left out, and a note says how many.
2. Shapes of one label and ``group_id`` are one object.
3. Classes are numbered from 1 in the alphabetical order of the labels of the ground truth; those that only predictions
   have follow. Beside ground truth with names of its own, predictions take its ids.
4. A shape may have a ``score``; of a group that of its best shape counts.

References
----------
Wada: LabelMe: image polygonal annotation with Python (labelme 6.3.1, `utils/shape.py`: ``shape_to_mask``;
`examples/instance_segmentation/labelme2coco.py`).
"""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import FloatArray
from segbench.core.errors import DataError
from segbench.core.instances import decode_mask
from segbench.core.messages import Message, Note
from segbench.core.sample import Maps, Rasterise
from segbench.loaders.annotations import begins_as_json
from segbench.loaders.decoded import MAX_PIXELS
from segbench.loaders.drawn_instances import as_maps, instances_of_masks
from segbench.loaders.instance_sources import ImageSizes, InstanceFormat, InstanceSource, Size, read_at_most, size_of
from segbench.loaders.json_index import JsonIndex, index_json, parsed
from segbench.loaders.listing import Entries, Listing, NamedFiles, once
from segbench.loaders.mask_codes import LARGEST_COORDINATE, runs_of_polygons
from segbench.loaders.source import LocalFile, Source, shown

_NO_AREAS = frozenset(("line", "linestrip", "point", "points"))
_CORNERS = {"rectangle": (2, 2), "circle": (2, 2), "oriented_rectangle": (4, 4), "polygon": (3, 2**20), "mask": (2, 2)}
_MOST_BYTES = 2**28
_MOST_SHAPES = 10_000
_FEWEST_CORNERS = 12
"""Of a circle that becomes a polygon."""
_HALF = 0.5
_EXPECTED = "expected LabelMe's shapes: polygon, rectangle, circle or mask, each with a label and points"


def _recognises(files: Sequence[Source]) -> bool:
    """Return whether files are LabelMe's."""
    return begins_as_json(files[0]) and "shapes" in _index(files[0]).keys


def _index(file: Source) -> JsonIndex:
    """Find the shapes in a file."""
    return index_json(str(file), None if isinstance(file, LocalFile) else file.read_bytes())


class LabelMeFile(InstanceSource):
    """The file of one image."""

    def __init__(self, path: str, stem: str, file: Source, sized_as: Size | Source | None, ids: Mapping[str, int]):
        super().__init__(path, stem)
        self._file, self._sized_as, self._ids = file, sized_as, ids

    @property
    def class_names(self) -> Mapping[int, str]:
        """The labels by the ids of classes."""
        return {number: label for label, number in self._ids.items()}

    def read_bytes(self) -> bytes:
        """Return the file."""
        return read_at_most(self._file, _MOST_BYTES, "leave imageData out of it")

    def size(self) -> Size | None:
        """Return the size that the file states, or another one."""
        return self._size(parsed(self.read_bytes(), str(self)))

    def _size(self, content: dict[str, Any]) -> Size:
        """Return height and width of the image."""
        size = content.get("imageHeight"), content.get("imageWidth")
        if size == (None, None):
            return size_of(self._sized_as, self)
        height, width = size
        if type(height) is not int or type(width) is not int or min(height, width) < 1 or height * width > MAX_PIXELS:
            template = "states no height and width of an image of at most {most} pixels"
            problem = Message("wrong-size", template, most=MAX_PIXELS)
            raise DataError(shown(self), problem, _EXPECTED)
        return height, width

    def instances(
        self, data: bytes, *, predicted: bool, boxes_only: bool = False, rasterise: Rasterise = "labelme"
    ) -> Maps:
        """Draw the shapes."""
        del boxes_only
        content = parsed(data, str(self))
        shapes = content.get("shapes") if isinstance(content, dict) else None
        if not isinstance(shapes, list) or len(shapes) > _MOST_SHAPES:
            raise DataError(shown(self), Message("no-shapes", "has no list of shapes, or a very long one"), _EXPECTED)
        size = self._size(content)
        masks: dict[object, NDArray[np.bool_]] = {}
        labels: dict[object, int] = {}
        scores: dict[object, float] = {}
        lines = 0
        for number, shape in enumerate(shapes, start=1):
            where = f"{shown(self)}, shape {number}"
            label, kind = _label_of(shape, where), shape.get("shape_type") or "polygon"
            if kind in _NO_AREAS:
                lines += 1
                continue
            group = shape.get("group_id")
            key = number if group is None else (label, json.dumps(group))
            drawn = _drawn(shape, kind, size, where, rasterise)
            masks[key] = masks[key] | drawn if key in masks else drawn
            labels[key] = self._ids.get(label, 0)
            scores[key] = max(scores.get(key, -math.inf), _score_of(shape, where))
        blank = [np.zeros(size, np.bool_)] if not masks else []
        classes = np.array(list(labels.values()), np.int64)
        confidences = np.array(list(scores.values()), np.float64) if predicted else None
        confidences = None if confidences is None else np.where(np.isinf(confidences), np.nan, confidences)
        maps = instances_of_masks([*masks.values(), *blank], classes, confidences, self.class_names)
        if blank:
            maps = _without_any(maps)
        if not lines:
            return maps
        detail = Message("detail", "{shapes:many shape}", shapes=lines)
        note = Note(Message("lines-left-out", "lines and points are no objects, and are left out"), detail=detail)
        return as_maps(maps.about, (note,))


def _without_any(maps: Maps) -> Maps:
    """Return no instances in an image of the same size."""
    from dataclasses import replace

    nothing = np.zeros(0, np.int64)
    blank = {"crowds": nothing.astype(np.bool_), "areas": np.zeros(0), "boxes": np.zeros((0, 4))}
    return as_maps(replace(maps.about, runs=nothing, ends=nothing, **blank))


def _label_of(shape: Any, where: str) -> str:  # noqa: ANN401  what JSON holds
    """Return the label of a shape."""
    label = shape.get("label") if isinstance(shape, dict) else None
    if not isinstance(label, str):
        raise DataError(where, Message("no-label", "has no label"), _EXPECTED)
    return label


def _score_of(shape: Mapping[str, Any], where: str) -> float:
    """Return the score of a shape; minus infinity where it has none."""
    score = shape.get("score")
    if score is None:
        return -math.inf
    if type(score) not in (int, float) or not abs(score) < math.inf:
        raise DataError(where, Message("wrong-score", "score is no finite number"), "write scores as numbers")
    return float(score)


def _drawn(
    shape: Mapping[str, Any], kind: object, size: Size, where: str, rasterise: Rasterise = "labelme"
) -> NDArray[np.bool_]:
    """Return a shape as a mask."""
    from PIL import Image, ImageDraw

    fewest, most = _CORNERS.get(str(kind), (1, 0))
    points = shape.get("points")
    if not isinstance(points, list) or not fewest <= len(points) <= most:
        problem = Message("wrong-shape", "is {kind} of a wrong number of points", kind=f"{kind!r:.40}")
        raise DataError(where, problem, _EXPECTED)
    for point in points:
        pair = isinstance(point, list) and len(point) == 2 and all(type(value) in (int, float) for value in point)
        if not pair or not max(map(abs, point)) <= LARGEST_COORDINATE:
            raise DataError(where, Message("wrong-point", "has a point that is no pair of coordinates"), _EXPECTED)
    corners = [(float(x), float(y)) for x, y in points]
    if kind == "mask":
        return _placed(shape.get("mask"), corners, size, where)
    if rasterise == "coco":
        return _drawn_as_coco(_polygon_of(kind, corners), size, where)
    image = Image.new("L", size[::-1])
    draw = ImageDraw.Draw(image)
    if kind == "circle":
        (x, y), (edge_x, edge_y) = corners
        radius = math.hypot(x - edge_x, y - edge_y)
        draw.ellipse(((x - radius, y - radius), (x + radius, y + radius)), outline=1, fill=1)
    elif kind == "rectangle":
        (x, y), (other_x, other_y) = corners
        draw.rectangle(((min(x, other_x), min(y, other_y)), (max(x, other_x), max(y, other_y))), outline=1, fill=1)
    else:
        draw.polygon(corners, outline=1, fill=1)
    return np.asarray(image, np.bool_)


def _polygon_of(kind: object, corners: Sequence[tuple[float, float]]) -> FloatArray:
    """Return the corners of the polygon that labelme2coco makes of a shape."""
    if kind == "rectangle":
        (left, right), (top, bottom) = map(sorted, zip(*corners, strict=True))
        corners = ((left, top), (right, top), (right, bottom), (left, bottom))
    if kind == "circle":
        (x, y), (edge_x, edge_y) = corners
        radius = math.hypot(x - edge_x, y - edge_y)
        step = math.acos(1 - 1 / radius) if radius > _HALF else math.pi  # the polygon is a pixel within the circle
        angles = 2 * math.pi * np.arange(number := max(int(math.pi / step), _FEWEST_CORNERS)) / number
        return np.stack([x + radius * np.sin(angles), y + radius * np.cos(angles)], axis=1)
    return np.array(corners)


def _drawn_as_coco(polygon: FloatArray, size: Size, where: str) -> NDArray[np.bool_]:
    """Return a polygon as the mask that pycocotools makes of it."""
    ends = np.array([polygon.size])
    runs, _ = runs_of_polygons(np.ascontiguousarray(polygon).reshape(-1), ends, np.ones(1, np.int64), *size)
    if runs[0] < 0:
        problem = Message("wrong-shape", "has edges too long to be drawn")
        raise DataError(where, problem, "give coordinates in pixels of the image")
    return decode_mask(runs, size)


def _placed(code: object, corners: Sequence[tuple[float, float]], size: Size, where: str) -> NDArray[np.bool_]:
    """Return a mask of the whole image with the one of a shape, a PNG, between its corners."""
    from segbench.loaders.images import decode

    try:
        data = base64.b64decode(code if isinstance(code, str) else "", validate=True)
    except binascii.Error:
        data = b""
    if not data:
        raise DataError(where, Message("no-mask", "has no mask in base64"), _EXPECTED)
    inside = decode(data, LocalFile(f"{where}.png"), role="ground truth").array != 0
    (left, top), (right, bottom) = ((int(x), int(y)) for x, y in corners)
    expected = bottom - top + 1, right - left + 1
    if inside.shape != expected or min(left, top) < 0 or bottom >= size[0] or right >= size[1]:
        problem = Message(
            "other-size", "has a mask of {size: x } pixels, expected {expected: x } inside of the image",
            size=inside.shape, expected=expected,
        )  # fmt: skip
        raise DataError(where, problem, _EXPECTED)
    mask = np.zeros(size, np.bool_)
    mask[top : bottom + 1, left : right + 1] = inside
    return mask


def _labels_in(file: Source) -> set[str]:
    """Return the labels of shapes in a file, which is read for them a single time."""

    def read(_: str) -> set[str]:
        index = _index(file)
        labels = (shape.get("label") for shape in index.objects("shapes")) if "shapes" in index.lists else ()
        return {label for label in labels if isinstance(label, str)}

    return once("labels", str(file), read)


def _list_images(path: str, files: Entries, truth: NamedFiles | None, sizes: ImageSizes) -> Listing:
    """List the files of images."""
    numbers = [k for k, file in enumerate(files) if file.extension == LabelMeFile.suffix]
    labels: set[str] = set()
    for k in numbers:
        try:
            labels |= _labels_in(files.source(k))
        except DataError:  # which reading it says
            continue
    known = truth.entries.source(0) if truth is not None and len(truth.entries) else None
    ids = {name: number for number, name in known.class_names.items()} if isinstance(known, InstanceSource) else {}
    for label in sorted(labels - ids.keys()):
        ids[label] = max(ids.values(), default=0) + 1

    def source_at(inside: str, k: int) -> LabelMeFile:
        stem = inside.removesuffix(LabelMeFile.suffix)
        return LabelMeFile(path, stem, files.source(k), sizes.of(stem, truth), ids)

    entries = Entries(source_at, 1)
    for k in numbers:
        entries.add(files.stems[k] + LabelMeFile.suffix, k)
    entries.keep(range(len(entries)))
    return Listing(entries, ())


FORMAT = InstanceFormat("LabelMe's JSON", _recognises, _list_images)
