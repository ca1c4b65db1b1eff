"""The files of one image to a Sample: bytes are read once, for digests and decoding alike."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.levels import note_on_levels
from segbench.core.sample import Reading, Sample
from segbench.loaders.decoded import Source, shown
from segbench.loaders.images import decode
from segbench.loaders.pairing import SampleFiles
from segbench.loaders.reading import CLASS_MAPS
from segbench.loaders.repairs import ImageMaps, Repairs, repaired, require_doubled_size, require_same_size
from segbench.loaders.source import read_bytes


@dataclass(frozen=True, repr=False)
class RawFiles:
    """The files of one image with their bytes, not decoded."""

    files: SampleFiles
    contents: Mapping[Source, bytes]

    def digests(self) -> tuple[str, str]:
        """Give one digest for the ground truth and field of view of an image, and one for all its files."""
        files = self.files
        digest = {source: _digest(data) for source, data in self.contents.items()}
        field = None if files.field is None else digest[files.field]
        ground_truth = _joint(*map(digest.__getitem__, files.ground_truths), field)
        return ground_truth, _joint(ground_truth, *map(digest.__getitem__, (files.prediction, *files.scales)))


@cache
def keep_freed_memory() -> None:
    """Have glibc keep the memory of one image for the next, instead of having all its pages cleared and mapped again.

    It raises its limits to the largest block freed so far, up to 32 MB; this one is never touched. Decoding takes a
    fifth less, and where another allocator is used nothing changes.
    """
    np.empty(2**25 - 2**16, np.uint8)


def read(files: SampleFiles) -> RawFiles:
    """Read every file of an image once."""
    return RawFiles(files, {source: read_bytes(source) for source in files.sources})


def decode_sample(raw: RawFiles, reads: Reading, repairs: Repairs = Repairs()) -> Sample:
    """Decode what `read` gave, and make the requested repairs."""
    files, contents = raw.files, raw.contents
    notes: dict[str, None] = {}
    truths: list[tuple[str, NDArray[Any]]] = []
    categories = False
    for path in files.ground_truths:
        drawn = reads.truths(contents[path], path)
        truths += ((shown(path), array) for array in drawn.maps)
        categories = drawn.form == "categories"
        notes |= dict.fromkeys(f"ground truth: {note}" for note in drawn.notes)
    predicted = reads.predictions(files, contents)
    predictions, said, form = predicted.maps, predicted.notes, predicted.form
    if form == "soft" and repairs.scale is None:
        said += note_on_levels(predictions[0].dtype)
    notes |= dict.fromkeys(f"prediction: {note}" for note in said)
    if not truths:
        truths.append((shown(files.prediction), np.zeros(predictions[0].shape, np.uint8)))
        notes |= dict.fromkeys(repairs.without_truth(predictions[0].shape))
    sizes = [(name, array.shape) for name, array in truths]
    field = None
    if files.field is not None:
        mask = decode(contents[files.field], files.field, role="field")
        notes |= dict.fromkeys(f"field: {note}" for note in mask.notes)
        field = mask.array != 0
        sizes.append((shown(files.field), field.shape))
    require_same_size(sizes)
    if form == "ucm2":
        require_doubled_size((shown(files.prediction), predictions[0].shape), sizes[0])
    names = map(shown, (files.prediction, *files.scales) if files.scales else repeat(files.prediction))
    fitted = ImageMaps(truths, list(zip(names, predictions)), form, field)  # noqa: B905  segs share a file
    if form == "stack":
        # The axes of a stack are identified by the protocol, which knows how many classes there are.
        require_same_size([*sizes, *((name, one.shape) for name, one in fitted.predictions if one.ndim == 2)])
    else:
        fitted = repaired(fitted, repairs)
    return Sample(
        files.name,
        tuple(array for _, array in fitted.truths),
        tuple(array for _, array in fitted.predictions),
        fitted.field,
        (*notes, *fitted.notes),
        tuple(name for name, _ in truths),
        shown(files.prediction),
        labels_predicted=form == "labels",
        categories_drawn=categories,
        without_truth=not files.ground_truths,
    )


def decode_truth(files: SampleFiles) -> NDArray[Any] | None:
    """Decode the first ground truth of an image by itself; None where there is none."""
    if not files.ground_truths:
        return None
    path = files.ground_truths[0]
    return CLASS_MAPS.truths(read_bytes(path), path).maps[0]


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _joint(*digests: str | None) -> str:
    return _digest(",".join(map(str, digests)).encode())
