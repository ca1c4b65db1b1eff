"""Files of instances: what each image's source can do, and the formats that are read.

A format is a module of this package that defines an `InstanceFormat` called ``FORMAT``, and its name in `FORMATS`. It
lists the images at a place as sources; a source reads the bytes of all that belongs to its image and decodes them.
"""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from itertools import islice
from typing import ClassVar

from segbench.core.errors import DataError
from segbench.core.messages import Message, Note, Setting
from segbench.core.sample import Maps, Rasterise
from segbench.loaders.archives import Member
from segbench.loaders.decoded import Header
from segbench.loaders.images import EXTENSIONS, read_header
from segbench.loaders.listing import Entries, Listing, NamedFiles, all_files, list_place
from segbench.loaders.source import LocalFile, Source, extension_of, is_archive, shown

FORMATS: Mapping[str, tuple[str, ...]] = {
    ".json": ("annotations", "labelme"),
    ".txt": ("cityscapes_results", "yolo"),
}
"""The modules that read files of each extension."""

_LOOKED_AT = 1000
"""Files that are not empty, of which one has to show the format of a folder."""
_HEAD = 4096
_IN_EXPORTS = ("labels", "_annotations.coco.json")
"""Where exports have instances beside or below their photographs: of ultralytics and Roboflow."""
_SIZE = re.compile(r"([1-9][0-9]{0,5})x([1-9][0-9]{0,5})")

Size = tuple[int, int]


class InstanceSource(ABC):
    """What files say of the instances of one image."""

    suffix: ClassVar[str] = ".json"
    first_label: ClassVar[int] = 0
    """What is added to the classes of label maps, in which 0 is background: 1 where files number classes from 0."""

    def __init__(self, path: str, stem: str) -> None:
        self._path, self._stem = path, stem

    def __str__(self) -> str:
        return f"{self._path}/{self._stem}{self.suffix}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, InstanceSource) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash((self._path, self._stem))

    @property
    def name(self) -> str:
        """The last part of its name."""
        return self._stem.rpartition("/")[2] + self.suffix

    @property
    def class_names(self) -> Mapping[int, str]:
        """What the file calls classes, by their ids."""
        return {}

    @abstractmethod
    def read_bytes(self) -> bytes:
        """Return all that files say of the image, as `instances` takes it."""

    @abstractmethod
    def instances(
        self, data: bytes, *, predicted: bool, boxes_only: bool = False, rasterise: Rasterise = "labelme"
    ) -> Maps:
        """Decode the instances, which are `about` a blank map of the size of the image.

        Where boxes are compared, masks may be lacking. `rasterise` says how to draw shapes of LabelMe.
        """

    def size(self) -> Size | None:
        """Return height and width of the image as far as they are known without decoding masks."""
        return None

    def header(self) -> Header:
        """Return what is known before decoding."""
        return Header()

    def scored(self) -> bool | None:
        """Return whether its instances have scores; None where there are none."""
        instances = self.instances(self.read_bytes(), predicted=True, boxes_only=True).about
        return (
            None
            if not len(instances)
            else instances.scores is not None and bool((instances.scores == instances.scores).all())
        )


@dataclass(frozen=True)
class ImageSizes:
    """Where the sizes of images are that files of instances do not tell."""

    same_for_all: Size | None = None
    folder: str | None = None
    """That of the images themselves."""

    @cached_property
    def photographs(self) -> Mapping[str, Source]:
        """The images themselves, by their names without extension."""
        return {} if self.folder is None else {file.stem: file.source for file in list_place(self.folder).entries}

    def of(self, stem: str, truth: NamedFiles | None) -> Size | Source | None:
        """Return the size of an image, or a file that has it."""
        if self.same_for_all is not None:
            return self.same_for_all
        if truth is not None and stem in truth.numbers:
            return truth.entries.source(truth.numbers[stem][0])
        return self.photographs.get(stem)


def size_of(sized_as: Size | Source | None, path: object) -> Size:
    """Return a size, or read it from the header of a file; a `DataError` says how to tell it."""
    size: Size | None = None
    if isinstance(sized_as, tuple):
        size = sized_as
    elif isinstance(sized_as, InstanceSource):
        size = sized_as.size()
    elif sized_as is not None:
        size = read_header(sized_as, "ground truth").shape
    if size is None:
        problem = Message("unknown-size", "does not tell height and width of its image")
        folder, one_size = Setting("sizes", "IMAGES"), Setting("sizes", "640x480")
        fix = Message(
            "fix", "name the folder of the photographs, {folder}, or one size, {size}", folder=folder, size=one_size
        )
        raise DataError(shown(path), problem, fix)
    return size


def read_size(text: str) -> Size | None:
    """Read height and width of ``WIDTHxHEIGHT``; None of any other text."""
    matched = _SIZE.fullmatch(text)
    return None if matched is None else (int(matched[2]), int(matched[1]))


@dataclass(frozen=True)
class InstanceFormat:
    """A format of files of instances."""

    title: str
    recognises: Callable[[Sequence[Source]], bool]
    """Whether these files of a folder, or this single file, are of the format."""
    list_images: Callable[[str, Entries, NamedFiles | None, ImageSizes], Listing]
    """List the images at a place by its files, of predictions beside the ground truth's, by sizes they may not tell."""
    whole_set: bool = False
    """Whether a file is of all images, and not of one."""
    with_masks: bool = False
    """Whether images beside the files are masks that these name, and not photographs that are called as they are."""


def _load(module: str) -> InstanceFormat:
    known: InstanceFormat = import_module(f"segbench.loaders.{module}").FORMAT
    return known


def format_of(files: Sequence[Source], *, whole_set: bool) -> InstanceFormat | None:
    """Return the format of files by some of them, a single one if of a whole set; None of other files."""
    for extension, modules in FORMATS.items():
        of_extension = (file for file in files if extension_of(str(file)) == extension)
        written = list(islice((file for file in of_extension if bytes_of(file)), _LOOKED_AT))
        for known in map(_load, modules if written else ()):
            if known.whole_set <= whole_set and known.recognises(written):
                return known
    return None


def bytes_of(file: Source) -> int:
    """Return the size of a file; 1 of one that cannot be read, which reading it says."""
    if isinstance(file, Member):
        return file.size
    try:
        return os.path.getsize(str(file))  # noqa: PTH202  a str is enough
    except OSError:
        return 1


def head_of(file: Source) -> bytes:
    """Read what a file begins with; nothing of one that cannot be read, which reading it says."""
    try:
        if isinstance(file, Member):
            return file.read_bytes()[:_HEAD]
        with open(str(file), "rb") as opened:  # noqa: PTH123  a str is enough
            return opened.read(_HEAD)
    except (OSError, DataError):
        return b""


def read_at_most(file: Source, most: int, fix: str) -> bytes:
    """Read a file of one image unless it is too large."""
    if bytes_of(file) > most:
        raise DataError(shown(file), Message("too-large", "has more than {most} bytes", most=most), fix)
    return file.read_bytes()


def holds_whole_set(path: str) -> bool:
    """Return whether a file lists the instances of all images, so that it is read as a folder is."""
    if extension_of(path) not in FORMATS or not os.path.isfile(path):  # noqa: PTH113  a str, which may hold a null
        return False
    known = format_of([LocalFile(path)], whole_set=True)
    return known is not None and known.whole_set


def _format_of_nothing(files: Sequence[Source]) -> InstanceFormat | None:
    """Return the format of predictions without any object, which are empty text files."""
    text = ".txt"
    is_blank = all(extension_of(str(file)) == text and not head_of(file).strip() for file in files)
    return _load(FORMATS[text][-1]) if is_blank else None


def _list_export(path: str, truth: NamedFiles | None, sizes: ImageSizes) -> Listing | None:
    """List the instances in a folder of photographs, as annotation tools export them; None where there are none."""
    if not os.path.isdir(path):  # noqa: PTH112  as above
        return None
    read = _read_within(path, truth, sizes)
    if read is not None:
        return read
    folders = sorted(child.path for child in os.scandir(path) if child.is_dir())
    parts = [folder for folder in folders if _read_within(folder, truth, sizes) is not None]
    if len(parts) < 2:
        return None
    problem = Message("several-sets", "holds several sets: {sets}", sets=[os.path.basename(part) for part in parts])  # noqa: PTH119  as above
    raise DataError(shown(path), problem, Message("fix", "give one of them, as in {example}", example=shown(parts[-1])))


def _read_within(path: str, truth: NamedFiles | None, sizes: ImageSizes) -> Listing | None:
    """List the instances of an export of one set."""
    for name in _IN_EXPORTS:
        inside = os.path.join(path, name)  # noqa: PTH118  as above
        listing = list_instances(inside, truth, sizes) if os.path.exists(inside) else None  # noqa: PTH110  as above
        if listing is not None:
            template = "{place}: instances are those of {inside}"
            message = Message("read-within", template, place=shown(path), inside=shown(inside))
            return listing._replace(notes=(Note(message), *listing.notes))
    return None


def list_instances(path: str, truth: NamedFiles | None, sizes: ImageSizes) -> Listing | None:
    """List the images of a folder or a file of instances; None where it is none."""
    export = _list_export(path, truth, sizes)
    if export is not None:
        return export
    if os.path.isdir(path) or is_archive(path):  # noqa: PTH112  as above
        files = all_files(path)
        listed = [file for file in files if file.extension in FORMATS]
        known = format_of([file.source for file in listed], whole_set=False)
        images = {file.stem for file in files if file.extension in EXTENSIONS}
        if known is None and truth is not None and listed and not images:
            known = _format_of_nothing([file.source for file in listed])
        if known and images and not known.with_masks and images.isdisjoint(file.stem for file in listed):
            return None  # a list of numbers beside images is none of objects
    elif extension_of(path) in FORMATS and os.path.isfile(path):  # noqa: PTH113  as above
        file = LocalFile(os.path.abspath(path))  # noqa: PTH100  as above
        files = Entries(lambda _: file)
        files.add(file.name)
        known = format_of([file], whole_set=True)
    else:
        return None
    return None if known is None else known.list_images(path, files, truth, sizes)
