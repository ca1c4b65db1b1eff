"""Results of Cityscapes' instance benchmark: for each image a text file with a line ``mask.png class score`` an object.

Masks are whatever is not 0 in images of the size of the ground truth, with paths from the folder of the text file.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from segbench.core.errors import DataError
from segbench.core.messages import Message
from segbench.core.sample import Maps, Rasterise
from segbench.loaders.instance_sources import ImageSizes, InstanceFormat, InstanceSource, head_of
from segbench.loaders.listing import Entries, Listing, NamedFiles
from segbench.loaders.source import LocalFile, Source, read_bytes, shown

if TYPE_CHECKING:
    from segbench.loaders.decoded import Decoded

_MOST_OBJECTS = 10_000
_LARGEST_CLASS = 2**31 - 1
_EXPECTED = "expected 'mask.png class score' in each line"


def _recognises(files: Sequence[Source]) -> bool:
    """Return whether a file names masks, beside it in a folder; those of images without objects may be blank."""
    for file in files if isinstance(files[0], LocalFile) else ():
        line = head_of(file).lstrip().split(b"\n", 1)[0]
        if line:
            try:
                mask, *numbers = line.decode().rsplit(maxsplit=2)
                return mask.lower().endswith(".png") and len([float(number) for number in numbers]) == 2
            except ValueError:
                return False
    return False


class ScoredMasksOfImage(InstanceSource):
    """The text file of an image with the masks that it names."""

    suffix: ClassVar[str] = ".txt"

    def __init__(self, path: str, stem: str, file: LocalFile) -> None:
        super().__init__(path, stem)
        self._file = file

    def read_bytes(self) -> bytes:
        """Return the lines, and behind them the masks with the length of each."""
        rows = [self._row(line, number) for number, line in enumerate(self._lines(), start=1) if line.strip()]
        masks = [read_bytes(LocalFile(path)) for path, _, _ in rows]
        names = [os.path.basename(path) for path, _, _ in rows]  # noqa: PTH119  a str is enough
        listed = [[name, *row[1:], len(mask)] for name, row, mask in zip(names, rows, masks, strict=True)]
        return json.dumps(listed).encode() + b"\n" + b"".join(masks)

    def _lines(self) -> list[str]:
        lines = self._file.read_bytes().decode("utf-8", "replace").split("\n")
        if len(lines) > _MOST_OBJECTS:
            template = "has {lines} lines, expected at most {most}"
            problem = Message("too-large", template, lines=len(lines), most=_MOST_OBJECTS)
            raise DataError(shown(self), problem, _EXPECTED)
        return lines

    def _row(self, line: str, number: int) -> tuple[str, int, float]:
        """Read the mask's path, the class and the score in a line."""
        where = f"{shown(self)}, line {number}"
        try:
            mask, label, score = line.rsplit(maxsplit=2)
            values = int(label), float(score)
        except ValueError:
            raise DataError(where, Message("wrong-line", "is no mask with a class and a score"), _EXPECTED) from None
        if not 0 <= values[0] <= _LARGEST_CLASS or not math.isfinite(values[1]):
            problem = Message("wrong-line", "has a class below 0, or a score that is no number")
            raise DataError(where, problem, _EXPECTED)
        folder = os.path.dirname(self._file)  # noqa: PTH120  as above
        path = os.path.normpath(os.path.join(folder, mask.strip()))  # noqa: PTH118  as above
        if os.path.isabs(mask.strip()) or ".." in mask.replace("\\", "/").split("/"):  # noqa: PTH117  as above
            problem = Message("outside-folder", "names a mask outside of the folder")
            raise DataError(where, problem, "put masks below the text files")
        return path, *values

    def instances(
        self, data: bytes, *, predicted: bool, boxes_only: bool = False, rasterise: Rasterise = "labelme"
    ) -> Maps:
        """Decode the masks."""
        del predicted, boxes_only, rasterise
        import numpy as np

        from segbench.loaders.drawn_instances import instances_of_masks

        head, _, masks_behind = data.partition(b"\n")
        listed: list[Any] = json.loads(head)
        masks, begin = [], 0
        for name, _, _, length in listed:
            masks.append(self._mask(masks_behind[begin : begin + length], name).array != 0)
            begin += length
        sizes = {mask.shape for mask in masks}
        if len(sizes) > 1:
            several = [str(size) for size in sizes]
            problem = Message("other-size", "its masks have several sizes, {sizes}", sizes=several)
            raise DataError(shown(self), problem, "save masks in the size of the image")
        labels = np.array([label for _, label, _, _ in listed], np.int64)
        return instances_of_masks(masks, labels, np.array([score for _, _, score, _ in listed], np.float64))

    def _mask(self, data: bytes, name: str) -> Decoded:
        """Decode a mask."""
        from segbench.loaders.images import decode

        return decode(data, LocalFile(f"{self}: {name}"), role="ground truth")


def _list_images(path: str, files: Entries, truth: NamedFiles | None, sizes: ImageSizes) -> Listing:
    """List the text files."""
    del truth, sizes
    numbers = [k for k, file in enumerate(files) if file.extension == ScoredMasksOfImage.suffix]

    def source(inside: str, k: int) -> ScoredMasksOfImage:
        return ScoredMasksOfImage(path, inside.removesuffix(ScoredMasksOfImage.suffix), files.source(k))  # type: ignore[arg-type]  # a local file

    entries = Entries(source, 1)
    for k in numbers:
        entries.add(files.stems[k] + ScoredMasksOfImage.suffix, k)
    entries.keep(range(len(entries)))
    return Listing(entries, ())


FORMAT = InstanceFormat("Cityscapes' results", _recognises, _list_images, with_masks=True)
