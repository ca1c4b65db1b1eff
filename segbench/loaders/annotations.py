"""Annotations and results in COCO's instance format, as an archive whose members are images.

What a JSON says of an image is the content of a member, which has the name of the image's file: so images pair, are
chosen, spread over workers and counted again as files are. Results, which know images by their ids alone, take names
and sizes from the ground truth; an image without detections is an empty prediction.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import posixpath
import sys
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import FloatArray, IntArray
from segbench.core.errors import DataError
from segbench.core.instances import Instances
from segbench.core.messages import Message, Note, Setting, joined
from segbench.core.names import first_names
from segbench.core.numbers import of_all
from segbench.core.sample import Maps, Rasterise
from segbench.loaders.decoded import MAX_PIXELS, Header
from segbench.loaders.instance_sources import ImageSizes, InstanceFormat, InstanceSource, Size, head_of
from segbench.loaders.json_index import OTHER, WHOLE, JsonIndex, ListedObjects, index_json, parsed
from segbench.loaders.listing import Entries, Listing, NamedFiles, once
from segbench.loaders.mask_codes import LARGEST_COORDINATE, covered_pixels, runs_of_polygons, runs_of_texts
from segbench.loaders.source import ANNOTATIONS, Source, shown, split_suffix

_NAMED = 5
_LARGEST_CLASS = 2**31 - 1
_LARGEST_NUMBER = sys.float_info.max
_LISTED = 1000
_NUMBERS = frozenset((int, float))
_MOST_BYTES = 2**28
_SPARSE = 4
"""Annotations of an image are read in one piece unless that is so many times longer than they are."""
_HINT = "see 'Files of instances' in docs/objects.md"
_RESULTS = "[{image_id, category_id, segmentation, score}, ..]"
_EXPECTED = Message(
    "fix",
    "expected COCO's format: of ground truth images, annotations and categories, of predictions {results}; {see}",
    results=_RESULTS,
    see=_HINT,
)


def _recognises(files: Sequence[Source]) -> bool:
    """Return whether a file is a JSON of several images."""
    return begins_as_json(files[0]) and "shapes" not in _index(str(files[0])).keys


def begins_as_json(file: Source) -> bool:
    """Return whether a file begins as a JSON."""
    return head_of(file).removeprefix(BOM_UTF8).lstrip()[:1] in (b"[", b"{")


def _index(path: str) -> JsonIndex:
    return once("json", path, index_json)


class AnnotatedImage(InstanceSource):
    """What a JSON says of one image: of its size, and of objects whose texts lie in several places of the file."""

    def __init__(self, path: str, stem: str, head: bytes, spans: NDArray[np.int64], stamp: tuple[int, int]) -> None:
        super().__init__(path, stem)
        self.path, self._head, self._spans, self._stamp = path, head, spans, stamp

    def header(self) -> Header:
        """Return the size of the image."""
        return Header(self.size())

    def scored(self) -> bool | None:
        """Return whether annotations have scores, as those of results always should."""
        return True if "images" not in _index(self.path).lists else super().scored()

    def __str__(self) -> str:
        return f"{self.path}/{self._stem}"

    @property
    def class_names(self) -> Mapping[int, str]:
        """The names of categories by their ids."""
        return _names_of(json.loads(self._head)["names"])

    def size(self) -> Size | None:
        """Return height and width, if the JSON states them."""
        size = json.loads(self._head)["size"]
        return None if size is None else (size[0], size[1])

    def instances(
        self, data: bytes, *, predicted: bool, boxes_only: bool = False, rasterise: Rasterise = "labelme"
    ) -> Maps:
        """Decode the annotations of the image."""
        del rasterise
        content = parsed(data, str(self))
        image, annotations = content["image"], content["annotations"]
        size = image["size"] or _size_of_masks(annotations)
        if size is None:
            problem = Message("unknown-size", "has no height and width of the image {image}", image=str(image["id"]))
            raise DataError(shown(self), problem, "give each of the images its height and width")
        names = _names_of(image["names"])
        return read_annotations(
            annotations, (size[0], size[1]), names, str(self), predicted=predicted, boxes_only=boxes_only
        )

    def read_bytes(self) -> bytes:
        """Return the JSON of an object with the image and its annotations."""
        if _stamp(self.path) != self._stamp:
            raise DataError(shown(self.path), Message("changed", "has changed since the run began"), "repeat the run")
        return b'{"image":%b,"annotations":[%b]}' % (self._head, b",".join(self._texts()))

    def _texts(self) -> list[bytes]:
        """Read the annotations of the image."""
        length = int((self._spans[:, 1] - self._spans[:, 0]).sum())
        if length > _MOST_BYTES:
            problem = Message(
                "too-large",
                "has {count} annotations of {bytes} bytes, expected at most {most} bytes an image",
                count=len(self._spans),
                bytes=length,
                most=_MOST_BYTES,
            )
            raise DataError(shown(self), problem, "check image_id: all annotations of a set may have the same")
        spans: list[list[int]] = self._spans.tolist()
        if not spans:
            return []
        first, last = spans[0][0], spans[-1][1]
        with open(self.path, "rb") as file:  # noqa: PTH123  a str, as it is opened for every image
            if last - first <= _SPARSE * length:
                file.seek(first)
                piece = file.read(last - first)
                return [piece[start - first : end - first] for start, end in spans]
            texts = []
            for start, end in spans:
                file.seek(start)
                texts.append(file.read(end - start))
            return texts


def _stamp(path: str) -> tuple[int, int]:
    """Return time and size of a file."""
    status = os.stat(path)  # noqa: PTH116  a str, as it is opened
    return status.st_mtime_ns, status.st_size


@dataclass(frozen=True, eq=False)
class _Images:
    """The images of a JSON: ids, names without extension, and for each what its member begins with."""

    ids: Mapping[Any, int]
    stems: Sequence[str]
    heads: Sequence[bytes]


def _list_images(given_path: str, _files: Entries, truth: NamedFiles | None, _sizes: ImageSizes) -> Listing:
    """List the images of a JSON; those of results that know images by ids alone are the images of the ground truth."""
    path = known_path = os.path.abspath(given_path)  # noqa: PTH100  workers may be in another folder
    index = _index(path)
    if "images" not in index.lists:
        source = truth.entries.source(0) if truth is not None else None
        if not isinstance(source, AnnotatedImage):
            raise _without_images(index, path, as_truth=truth is None)
        known_path = source.path
    images = once("images of annotations", known_path, lambda _: _images_of(_index(known_path)))
    key = next((key for key in ("annotations", "") if key in index.lists), None)
    if key is None or not index.lists[key].whole:
        raise DataError(shown(path), Message("no-annotations", "has no list of annotations"), _EXPECTED)
    listed = index.lists[key]
    spans, ends = _by_image(index, listed, images, known_path)
    stamp = _stamp(path)
    starts = [0, *ends]

    def member(_: str, k: int) -> AnnotatedImage:
        return AnnotatedImage(path, images.stems[k], images.heads[k], spans[starts[k] : starts[k + 1]], stamp)

    entries = Entries(member, 1)
    for k, stem in enumerate(images.stems):
        entries.add(stem + ANNOTATIONS, k)
    entries.keep(range(len(entries)))
    return Listing(entries, ())


def _without_images(index: JsonIndex, path: str, *, as_truth: bool) -> DataError:
    """Return the error for a JSON without a list of images, which results need not have beside a JSON that has it."""
    if "" not in index.lists:
        return DataError(shown(path), Message("no-images", "has no list of images"), _EXPECTED)
    problem = Message("images-by-id", "is a list of results, which know images by their ids alone")
    fix = "give the JSON that lists these images as the ground truth"
    return DataError(shown(path), problem, f"{fix}, and this one as the prediction" if as_truth else fix)


def _images_of(index: JsonIndex) -> _Images:
    """Read the images of a JSON, and the names of its categories."""
    problems: Counter[str] = Counter()
    names = json.dumps(_categories(index))  # as a text, which is parsed once for all images
    ids: dict[Any, int] = {}
    stems: list[str] = []
    heads: list[bytes] = []
    if not index.lists["images"].whole or not len(index.lists["images"]):
        raise DataError(shown(index.path), Message("no-images", "has no list of images"), _EXPECTED)
    for image in index.objects("images"):
        image_id = image.get("id")
        if type(image_id) not in (int, str):
            problems["images without an id"] += 1
            continue
        if image_id in ids:
            problems[f"images of the id {shown(image_id)}"] += 1
        ids[image_id] = len(stems)
        file = image.get("file_name", str(image_id))
        parts = [part for part in str(file).replace("\\", "/").split("/") if part not in ("", ".", "..")]
        size: list[Any] = [image.get(side) for side in ("height", "width")]
        known = all(type(side) is int and side > 0 for side in size)
        if any(size) and not known:
            problems["images whose height or width is no whole number above 0"] += 1
        elif known and math.prod(size) > MAX_PIXELS:
            problems[f"images of more than {MAX_PIXELS} pixels"] += 1
        stems.append(split_suffix("/".join(parts) or str(image_id))[0])
        heads.append(json.dumps({"id": image_id, "size": size if known else None, "names": names}).encode())
    if problems:
        problem = Message("wrong-images", "has {wrong}", wrong=[f"{count} {kind}" for kind, count in problems.items()])
        raise DataError(shown(index.path), problem, _EXPECTED)
    times = Counter(stems)  # referring segmentation has an entry for each object, of the same photograph
    names_of_images = [
        f"{stem}_{image_id}" if times[stem] > 1 else stem for stem, image_id in zip(stems, ids, strict=True)
    ]
    return _Images(ids, names_of_images, heads)


def _categories(index: JsonIndex) -> dict[int, str]:
    """Return the names of categories by their ids."""
    names: dict[int, str] = {}
    for category in index.objects("categories") if "categories" in index.lists else ():
        label, name = category.get("id"), category.get("name", category.get("id"))
        if type(label) is not int or not 0 <= label <= _LARGEST_CLASS or label in names:
            problem = Message("wrong-category", "has a category of the id {label}", label=shown(repr(label))[:60])
            fix = "give each category an id of its own, a whole number of at least 0"
            raise DataError(shown(index.path), problem, fix)
        names[label] = str(name)
    return names


def _by_image(
    index: JsonIndex, listed: ListedObjects, images: _Images, known_path: str
) -> tuple[NDArray[np.int64], IntArray]:
    """Return where annotations begin and end, image by image in the order of the file, and where those of each end."""
    numbers = np.full(len(listed), -1, np.int64)
    whole = listed.kinds == WHOLE
    if whole.any():
        unique, inverse = np.unique(listed.image_ids[whole], return_inverse=True)
        numbers[whole] = np.array([images.ids.get(image_id, -1) for image_id in unique.tolist()], np.int64)[inverse]
    lacking = []
    for k in np.flatnonzero(~whole).tolist():
        image_id = _image_id(index, listed, k)
        if type(image_id) in (int, str):
            numbers[k] = images.ids.get(image_id, -1)
        else:
            lacking.append(f"annotation {k + 1}")
            if len(lacking) == _NAMED:
                break
    if lacking:
        problem = Message("no-image-id", "has annotations without one image_id: {names}", names=lacking)
        raise DataError(shown(index.path), problem, "give each the id of its image")
    unknown = np.flatnonzero(numbers < 0)
    if unknown.size:
        ids = {_image_id(index, listed, k): None for k in unknown[:_LISTED].tolist()}
        problem = Message(
            "unknown-image-ids",
            "{annotations} of images that {where} does not list: {ids}; it lists {known}",
            annotations=of_all(int(unknown.size), len(listed), "annotation", "are"),
            where=shown(known_path),
            ids=first_names([f"image_id {image_id!r:.40}" for image_id in ids], _NAMED),
            known=first_names([f"{image_id!r:.40}" for image_id in images.ids], _NAMED),
        )
        fix = "give the results of the images of this ground truth, by the same ids"
        if {str(image_id) for image_id in ids} & {*map(str, images.ids)}:
            fix = "write ids as the ground truth does: numbers as numbers, texts as texts"
        elif {str(image_id) for image_id in ids} & {*images.stems, *map(posixpath.basename, images.stems)}:
            fix = "these are names of images: write their ids"
        raise DataError(shown(index.path), problem, fix)
    del unknown, whole
    order = np.argsort(numbers, kind="stable")
    spans = np.stack([listed.starts[order], listed.ends[order]], axis=1)
    return spans, np.cumsum(np.bincount(numbers, minlength=len(images.stems)))


def _image_id(index: JsonIndex, listed: ListedObjects, k: int) -> Any:  # noqa: ANN401  what JSON holds
    """Return the image_id of an annotation; None where it has none, or several."""
    if listed.kinds[k] == WHOLE:
        return int(listed.image_ids[k])
    start = int(listed.starts[k])
    text = index.text(start, int(listed.ends[k]) - start)
    return parsed(text, index.path).get("image_id") if listed.kinds[k] == OTHER else None


class _FaultError(Exception):
    """What is wrong with an annotation, and how to correct it."""

    def __init__(self, message: Message, fix: Message | str = _HINT) -> None:
        super().__init__()
        self.message, self.fix = message, fix


def read_annotations(
    annotations: Sequence[Any],
    size: Size,
    names: Mapping[int, str],
    path: str,
    *,
    predicted: bool,
    boxes_only: bool = False,
) -> Maps:
    """Read the annotations of an image, with a blank map of its size; all that is wrong with them is said at once."""
    height, width = size
    codes = _Codes()
    masks: list[IntArray | int] = []  # runs, or the number of a code
    numbers: list[tuple[float, ...]] = []
    faults: dict[tuple[Message, Message | str], list[str]] = {}
    for number, annotation in enumerate(annotations, start=1):
        try:
            numbers.append(_numbers(annotation, predicted=predicted))
            masks.append(_mask(annotation, (height, width), codes, boxes_only=boxes_only))
        except _FaultError as fault:
            faults.setdefault((fault.message, fault.fix), []).append(_called(annotation, number))
    if faults:
        raise _faulty(path, faults)
    if masks and len(codes.texts) == len(masks):  # as of most results and most ground truths, which need no parting
        runs, ends = runs_of_texts(codes.texts)
    elif masks and len(codes.ends) == len(masks):
        runs, ends = codes.drawn((height, width))
    else:
        decoded = codes.decoded((height, width))
        listed = [decoded[mask] if isinstance(mask, int) else mask for mask in masks]
        runs = np.concatenate([np.zeros(0, np.int64), *listed])
        ends = np.cumsum([mask.size for mask in listed], dtype=np.int64)
    covered = covered_pixels(runs, ends, height * width)
    wrong = [_called(annotations[k], k + 1) for k in np.flatnonzero(covered < 0).tolist()]
    if wrong:
        problem = Message(
            "wrong-runs",
            "the runs of its mask do not add up to the image, {height} x {width}",
            height=height,
            width=width,
        )
        raise _faulty(path, {(problem, "encode the masks again, in the size of the image"): wrong})
    table = np.array(numbers, np.float64).reshape(-1, 8)
    instances = Instances(
        size=(height, width),
        runs=runs,
        ends=ends,
        classes=table[:, 0].astype(np.int64),
        scores=table[:, 1].copy() if predicted else None,
        crowds=table[:, 2] != 0,
        areas=table[:, 3].copy(),
        boxes=table[:, 4:].copy(),
        names=names,
    )
    notes = _notes(annotations, instances, int(np.count_nonzero(covered == 0)), codes.farthest((height, width)))
    return Maps((_blank(size),), notes, about=instances)


def _notes(annotations: Sequence[Any], instances: Instances, empty: int, outside: float) -> tuple[Note, ...]:
    """Say what is odd about instances that count all the same."""
    notes = []
    if empty:
        detail = Message("detail", "{masks:many mask}", masks=empty)
        notes.append(Note(Message("empty-instances", "some masks have no pixel in the image"), detail=detail))
    if outside > 1:
        detail = Message("detail", "by {pixels:.0f} pixels", pixels=outside)
        shapes = "polygons" if any(annotation.get("segmentation") for annotation in annotations) else "boxes"
        message = Message("outside-image", "{shapes} leave the image, and are cut off", shapes=shapes)
        notes.append(Note(message, detail=detail))
    if instances.scores is None:
        if np.isnan(instances.areas).any():
            notes.append(Note(Message("no-areas", "objects have no area, so that masks decide which are small")))
        if any(annotation.get("id") == 0 for annotation in annotations):
            zero = "an annotation has the id 0: pycocotools counts what is matched with it as false"
            notes.append(Note(Message("annotation-zero", zero)))
    return tuple(notes)


@lru_cache(maxsize=8)
def _blank(size: Size) -> NDArray[np.uint8]:
    """Return a blank map that takes no memory."""
    return np.broadcast_to(np.uint8(0), size)


@lru_cache(maxsize=8)
def _names_of(text: str) -> Mapping[int, str]:
    """Return the names of classes by their ids; those of all images of a file are the same."""
    return {int(label): name for label, name in json.loads(text).items()}


class _Codes:
    """The masks of an image that are to be decoded: compressed texts, and polygons by object."""

    def __init__(self) -> None:
        self.texts: list[bytes] = []
        self.polygons: list[FloatArray] = []
        self.ends: list[int] = []  # of objects in `polygons`

    def add_text(self, text: str) -> int:
        """Add a compressed mask and return its number."""
        self.texts.append(text.encode("utf-8", "replace"))
        return len(self.texts) - 1

    def add_polygons(self, polygons: Iterable[FloatArray]) -> int:
        """Add the polygons of an object and return its number, counted from the end of all."""
        self.polygons += polygons
        self.ends.append(len(self.polygons))
        return -len(self.ends)

    def farthest(self, size: tuple[int, int]) -> float:
        """Return how far polygons leave an image, in pixels."""
        if not self.polygons:
            return 0.0
        corners = np.concatenate(self.polygons).reshape(-1, 2)
        height, width = size
        return float(max(-corners.min(), *(corners.max(axis=0) - (width, height))))

    def decoded(self, size: tuple[int, int]) -> list[IntArray]:
        """Return the runs of each, by the numbers that were returned."""
        runs: list[IntArray] = []
        if self.texts:
            runs = _parted(*runs_of_texts(self.texts))
        return runs + _parted(*self.drawn(size))[::-1] if self.ends else runs

    def drawn(self, size: tuple[int, int]) -> tuple[IntArray, IntArray]:
        """Return the runs of objects that are polygons, and where those of each end."""
        lengths = np.cumsum([polygon.size for polygon in self.polygons], dtype=np.int64)
        return runs_of_polygons(np.concatenate(self.polygons), lengths, np.array(self.ends, np.int64), *size)


def _parted(runs: IntArray, ends: IntArray) -> list[IntArray]:
    """Return the runs of each mask."""
    limits = [0, *ends.tolist()]
    return [runs[start:end] for start, end in itertools.pairwise(limits)]


def _faulty(path: str, faults: Mapping[tuple[Message, Message | str], Sequence[str]]) -> DataError:
    """Return the error for annotations that cannot be read."""
    lines = [
        Message("fault", "{annotations}: {fault}", annotations=first_names(names, _NAMED), fault=message)
        for (message, _), names in faults.items()
    ]
    problem = Message("wrong-annotations", "{faults:; }", faults=lines)
    return DataError(shown(path), problem, joined(dict.fromkeys(fix for _, fix in faults)))


def _called(annotation: object, number: int) -> str:
    """Name an annotation by its id, else by its number among those of the image."""
    known = annotation.get("id") if isinstance(annotation, dict) else None
    return f"annotation {number}" if type(known) is not int else f"the annotation of id {known}"


def _size_of_masks(annotations: Sequence[Any]) -> tuple[int, int] | None:
    """Return the size that masks state, where that of the image is not known."""
    for annotation in annotations:
        mask = annotation.get("segmentation")
        size: Any = mask.get("size") if isinstance(mask, dict) else None
        if _is_size(size):
            return int(size[0]), int(size[1])
    return None


def _is_size(size: object) -> bool:
    """Return whether something is height and width of an image."""
    whole = isinstance(size, list) and len(size) == 2 and all(type(side) is int and side > 0 for side in size)
    return whole and math.prod(cast("list[int]", size)) <= MAX_PIXELS


def _is_number(value: object) -> bool:
    """Return whether something is a finite number that a float holds."""
    return type(value) in _NUMBERS and abs(cast("float", value)) <= _LARGEST_NUMBER


def _are_numbers(values: Sequence[Any], most: float = _LARGEST_NUMBER) -> bool:
    """Return whether all are numbers of at most this size."""
    return _NUMBERS.issuperset(map(type, values)) and max(map(abs, values)) <= most


def _numbers(annotation: dict[str, Any], *, predicted: bool) -> tuple[float, ...]:
    """Return class, score, crowd, area and box of an annotation; NaN of those that it does not state.

    What is a box alone has the area of that, which need not be whole.
    """
    label = annotation.get("category_id")
    if type(label) is not int or not 0 <= label <= _LARGEST_CLASS:
        raise _FaultError(
            Message("wrong-class", "category_id is no whole number of at least 0"), "give each the id of a category"
        )
    score = annotation.get("score") if predicted else None
    if score is not None and not _is_number(score):
        raise _FaultError(Message("wrong-score", "score is no finite number"), "write scores as numbers")
    crowd, area, box = (annotation.get(key) for key in ("iscrowd", "area", "bbox"))
    if crowd not in (None, 0, 1):
        raise _FaultError(Message("wrong-crowd", "iscrowd is neither 0 nor 1"))
    if area is not None and not (_is_number(area) and area >= 0):
        raise _FaultError(Message("wrong-area", "area is no number of at least 0"))
    if box is not None and not (isinstance(box, list) and len(box) == 4 and _are_numbers(box)):
        raise _FaultError(Message("wrong-box", "bbox is no list of four numbers"), "expected x, y, width and height")
    stated = math.nan if area is None or predicted else area
    if box and math.isnan(stated) and not annotation.get("segmentation"):
        stated = box[2] * box[3]
    return (
        label,
        math.nan if score is None else score,
        float(bool(crowd) and not predicted),
        stated,
        *(box or (math.nan,) * 4),
    )


def _mask(annotation: dict[str, Any], size: tuple[int, int], codes: _Codes, *, boxes_only: bool) -> IntArray | int:
    """Return the runs of a mask, or the number of its code, which is added."""
    mask = annotation.get("segmentation")
    if not mask:
        box = annotation.get("bbox")
        if not box:
            raise _FaultError(Message("no-mask", "has no segmentation"), "give each a mask: polygons or RLE")
        if not boxes_only:
            raise _FaultError(
                Message("boxes-only", "has a box, and no segmentation"),
                Message("fix", "give each a mask, or compare boxes: {overlap}", overlap=Setting("overlap", "box")),
            )
        x, y, width, height = box
        mask = [[x, y, x, y + height, x + width, y + height, x + width, y]]
    if isinstance(mask, list):
        return codes.add_polygons([_polygon(polygon) for polygon in mask])
    counts, stated = (mask.get("counts"), mask.get("size")) if isinstance(mask, dict) else (None, None)
    if stated != list(size):
        stated_size = Message("size", "{size: x }", size=stated) if _is_size(stated) else "of no size"
        problem = Message(
            "other-size", "its mask is {found}, and the image {expected: x } pixels", found=stated_size, expected=size
        )
        raise _FaultError(problem, "expected height and width of the image; nothing is resized")
    if isinstance(counts, str):
        return codes.add_text(counts)
    if isinstance(counts, list) and all(type(run) is int and 0 <= run <= MAX_PIXELS for run in counts):
        return np.array(counts, np.int64)
    raise _FaultError(Message("wrong-counts", "counts is neither a text nor a list of lengths of at least 0"))


def _polygon(polygon: object) -> FloatArray:
    """Return the coordinates of a polygon."""
    if isinstance(polygon, list) and len(polygon) >= 6 and len(polygon) % 2 == 0:  # three corners
        if _are_numbers(polygon, LARGEST_COORDINATE):
            return np.array(polygon, np.float64)
        raise _FaultError(Message("wrong-polygon", "its polygon holds what is no coordinate"))
    raise _FaultError(
        Message("short-polygon", "its polygon is no list of x0, y0, x1, y1, .. of three corners or more"),
        "expected a list of polygons, each a list of numbers",
    )


FORMAT = InstanceFormat("COCO's JSON", _recognises, _list_images, whole_set=True)
