"""YOLO's text files, of segmentation or of boxes: a file for each image, and a line for each object.

Conventions
-----------
1. A line is ``class x0 y0 x1 y1 ..`` of a polygon, or ``class x y width height`` of a box by its centre, in shares of
   the width and height of the image. One value more is a confidence. After it may follow the id of a track, a whole
   number above 1, which is left out.
2. Polygons are drawn as those of COCO. Files do not tell the size of the image: it is that of the ground truth or of
   the photograph of the same name, beside the file or in the folder ``images`` where the path has ``labels``.
3. Images without a file hold no object: of photographs those without a ground truth, and of images of the ground truth
   those without a prediction, since no file is written for these.
4. Classes are numbered from 0, and are called as in a ``classes.txt`` beside the files, else by the ``names`` of the
   ``data.yaml`` of the data set, at most two folders above.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from segbench.core.errors import DataError
from segbench.core.messages import Message, Note
from segbench.core.sample import Maps, Rasterise
from segbench.loaders.images import EXTENSIONS
from segbench.loaders.instance_sources import (
    ImageSizes,
    InstanceFormat,
    InstanceSource,
    Size,
    head_of,
    read_at_most,
    size_of,
)
from segbench.loaders.listing import Entries, Listing, NamedFiles, list_place
from segbench.loaders.source import LocalFile, Source, read_bytes, shown, split_suffix

_LABELS, _IMAGES = "labels", "images"
_NAMES = frozenset(("classes", "obj"))
"""Files of class names, beside those of images."""
_DESCRIPTIONS = ("data.yaml", "data.yml", "dataset.yaml")
_ABOVE = 2
"""Folders from the labels to the data set: ``labels/val``, ``valid/labels``."""
_LIST_IN_BRACKETS = re.compile(r"""^names\s*:\s*[\[{]((?:'[^']*'|"[^"]*"|[^\]}'"])*)[\]}]""", re.MULTILINE)
_NAME_IN_BRACKETS = re.compile(r"""(?:(\d{1,9})\s*:\s*)?('[^']*'|"[^"]*"|[^\s,'"][^,\n]*)""")
_LIST_OF_LINES = re.compile(r"^names\s*:[ \t]*(?:#.*)?\n((?:[ \t]*(?:-|\d{1,9}[ \t]*:)[ \t].*(?:\n|$))+)", re.MULTILINE)
_NAME_IN_LINE = re.compile(r"""^[ \t]*(?:-|(\d{1,9})[ \t]*:)[ \t]+('[^']*'|"[^"]*"|.*?)[ \t]*(?:#.*)?$""", re.MULTILINE)
"""The names of a YAML file, as a list or by number; no other parts of the language are read."""
_FARTHEST = 2.0
"""Shares further out are no shares, but pixels: models predict a little outside of the image."""
_MOST_BYTES = 2**26
_BOX = 4
_EXPECTED = (
    "expected 'class x0 y0 x1 y1 .. [confidence]' or 'class x y width height [confidence]', in shares of the image"
)


def _recognises(files: Sequence[Source]) -> bool:
    """Return whether a file holds a line of objects; those of images without any may be blank."""
    for file in files:
        line = head_of(file).lstrip().split(b"\n", 1)[0]
        if line and not _is_of_names(file):
            try:
                return len([float(word) for word in line.split()]) > _BOX
            except ValueError:
                return False
    return False


def _is_of_names(file: Source) -> bool:
    """Return whether a file lists names of classes."""
    return split_suffix(file.name)[0] in _NAMES


class YoloFile(InstanceSource):
    """The file of an image, or none of an image without objects."""

    suffix: ClassVar[str] = ".txt"
    first_label: ClassVar[int] = 1

    def __init__(
        self, path: str, stem: str, file: Source | None, sized_as: Size | Source | None, names: Mapping[int, str]
    ) -> None:
        super().__init__(path, stem)
        self._file, self._sized_as, self._names = file, sized_as, names

    @property
    def class_names(self) -> Mapping[int, str]:
        """The names in a file beside those of images."""
        return self._names

    def size(self) -> Size | None:
        """Return the size that other files tell."""
        return size_of(self._sized_as, self)

    def read_bytes(self) -> bytes:
        """Return the size and the lines."""
        lines = b"" if self._file is None else read_at_most(self._file, _MOST_BYTES, _EXPECTED)
        return json.dumps(self.size()).encode() + b"\n" + lines

    def instances(
        self, data: bytes, *, predicted: bool, boxes_only: bool = False, rasterise: Rasterise = "labelme"
    ) -> Maps:
        """Decode the lines."""
        del rasterise
        from segbench.loaders.annotations import read_annotations

        head, _, lines = data.partition(b"\n")
        height, width = json.loads(head)
        annotations = [
            _annotation(line.split(), (height, width), f"{shown(self)}, line {number}", predicted=predicted)
            for number, line in enumerate(lines.splitlines(), start=1)
            if line.strip()
        ]
        maps = read_annotations(
            annotations, (height, width), self._names, str(self), predicted=predicted, boxes_only=boxes_only
        )
        notes = tuple(note for note in maps.notes if note.kind != "no-areas")  # which the format has not
        return replace(maps, notes=notes)


def _annotation(words: Sequence[bytes], size: Size, where: str, *, predicted: bool) -> dict[str, Any]:
    """Read a line as an annotation of COCO's format, in pixels."""
    try:
        label, *values = map(float, words)
    except ValueError:
        raise DataError(where, Message("not-numbers", "holds a word that is no number"), _EXPECTED) from None
    if not (label.is_integer() and label >= 0):
        raise DataError(where, Message("wrong-class", "begins with {label}, which is no class", label=label), _EXPECTED)
    if len(values) > _BOX and values[-1] > 1 and values[-1].is_integer():
        values.pop()  # the id of a track
    score = values.pop() if len(values) % 2 else None
    if len(values) < _BOX:
        problem = Message("short-line", "has {values:many value} after the class", values=len(values))
        raise DataError(where, problem, _EXPECTED)
    outside = next((value for value in values if not abs(value) <= _FARTHEST), None)
    if outside is not None:
        problem = Message("not-normalised", "has the coordinate {value:g}, expected shares from 0 to 1", value=outside)
        raise DataError(where, problem, "divide x by the width and y by the height of the image")
    if score is not None and not predicted:
        problem = Message("scored-truth", "has a confidence, which ground truth has not")
        raise DataError(where, problem, "give predictions as the second path")
    height, width = size
    scaled = [value * side for value, side in zip(values, (width, height) * (len(values) // 2), strict=True)]
    annotation: dict[str, Any] = {"category_id": int(label)}
    if len(scaled) == _BOX:
        x, y, box_width, box_height = scaled
        annotation["bbox"] = [x - box_width / 2, y - box_height / 2, box_width, box_height]
    else:
        annotation["segmentation"] = [scaled]
    return annotation if score is None or math.isnan(score) else annotation | {"score": score}


def _photographs(path: str, files: Entries, sizes: ImageSizes) -> Mapping[str, Source]:
    """Return the images themselves by their names: those given, beside the files, or where the training finds them."""
    if sizes.folder is not None:
        return sizes.photographs
    beside = {file.stem: file.source for file in files if file.extension in EXTENSIONS}
    above, labels, below = os.path.abspath(path).rpartition(os.sep + _LABELS)  # noqa: PTH100  a str is enough
    folder = Path(above) / _IMAGES / below.lstrip(os.sep)
    if beside or not labels or not folder.is_dir():
        return beside
    return {file.stem: file.source for file in list_place(str(folder)).entries}


def _class_names(path: str, files: Entries) -> dict[int, str]:
    """Read what a file beside those of images calls the classes, or the description of the data set."""
    for file in files:
        if file.extension == YoloFile.suffix and _is_of_names(file.source):
            lines = read_bytes(file.source).decode("utf-8", "replace").split("\n")
            return {number: line.strip() for number, line in enumerate(lines) if line.strip()}
    beside = (file.source for file in files if file.source.name in _DESCRIPTIONS)
    folders = Path(path).absolute().parents[:_ABOVE]
    above = (LocalFile(folder / name) for folder in folders for name in _DESCRIPTIONS if (folder / name).is_file())
    return next(map(_described_names, (*beside, *above)), {})


def _described_names(file: Source) -> dict[int, str]:
    """Read the names of classes in the description of a data set."""
    text = read_at_most(file, _MOST_BYTES, "expected names of classes").decode("utf-8-sig", "replace")
    text = text.replace("\r\n", "\n")
    in_brackets, lines = _LIST_IN_BRACKETS.search(text), _LIST_OF_LINES.search(text)
    listed: list[tuple[str, str]] = []
    if in_brackets:
        listed = _NAME_IN_BRACKETS.findall(in_brackets[1])
    elif lines:
        listed = _NAME_IN_LINE.findall(lines[1])
    return {int(number or k): name.strip().strip("'\"") for k, (number, name) in enumerate(listed)}


def _list_images(path: str, files: Entries, truth: NamedFiles | None, sizes: ImageSizes) -> Listing:
    """List the files of images, and the images without one."""
    photographs, names = _photographs(path, files, sizes), _class_names(path, files)
    numbers = {
        file.stem: k
        for k, file in enumerate(files)
        if file.extension == YoloFile.suffix and not _is_of_names(file.source)
    }
    listed = truth.numbers.keys() if truth is not None else photographs.keys()
    without = [stem for stem in listed if stem not in numbers]
    if len(without) == len(listed):  # other names, which pairing says
        without = []
    notes: tuple[Note, ...] = ()
    if without:
        template = "{place}: {images} of {total:many image} {images:verb have} no file, and so no object"
        message = Message("images-without-file", template, place=shown(path), images=len(without), total=len(listed))
        notes = (Note(message),)

    def source(inside: str, k: int) -> YoloFile:
        stem = inside.removesuffix(YoloFile.suffix)
        sized_as = sizes.of(stem, truth) or photographs.get(stem)
        return YoloFile(path, stem, files.source(k) if k >= 0 else None, sized_as, names)

    entries = Entries(source, 1)
    for stem in (*numbers, *without):
        entries.add(stem + YoloFile.suffix, numbers.get(stem, -1))
    entries.keep(range(len(entries)))
    return Listing(entries, notes)


FORMAT = InstanceFormat("YOLO's text files", _recognises, _list_images)
