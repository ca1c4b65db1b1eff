"""Counts as a few hundred bytes: how they travel between processes, wait in memory and lie in the results file.

A JSON header names the arrays, their types follow in one block, and zlib packs the whole. Scores that are levels (k,
k / 255, k / 65535, k / (thresholds + 1)) are written as the whole numbers k when that gives back every bit. Counts of
several classes are packed class by class behind a line of JSON, so that one class is unpacked alone. Reading never
unpickles, and believes nothing: a results file may come from anywhere.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import accumulate
from types import UnionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.counts import BoundaryCounts, ClassCounts, RegionCounts, ScoreCounts
from segbench.curves.boundary import BoundaryCurve
from segbench.curves.published import PublishedCurve
from segbench.curves.published_regions import PublishedRegions
from segbench.errors import DataError
from segbench.loaders.decoded import shown

Counts = ScoreCounts | BoundaryCounts | RegionCounts | ClassCounts

_KINDS: dict[str, type[ScoreCounts | BoundaryCounts | RegionCounts]] = {
    "scores": ScoreCounts,
    "boundaries": BoundaryCounts,
    "regions": RegionCounts,
}
_COUNTED: dict[str, type[Counts] | UnionType] = {
    "pixels": ScoreCounts,
    "classes": ClassCounts,
    "boundaries": BoundaryCounts,
    "regions": RegionCounts,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}
_LEVEL = 3
_LITTLE, _MOST_SHRUNK = 2**24, 64
"""What any counts may unpack to, and how many times their packed size where that is more."""
_NUMBERS = re.compile(r"[<>|=]?[biuf][1248]")
_SCALARS: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "bool": (bool,),
    "str": (str,),
    "FloatArray | None": (type(None),),
}
_DAMAGED = "the results file was changed or damaged: count again with --fresh"
_CLASSES = b"{"  # no zlib stream begins so


def encode(counts: Counts) -> bytes:
    """Pack counts into bytes; the same counts always give the same bytes."""
    if isinstance(counts, ClassCounts):
        parts = [encode(part) for part in counts.counts]
        sizes = dict(zip(counts.names, map(len, parts), strict=True))
        return b"".join([json.dumps(sizes, separators=(",", ":")).encode(), b"\n", *parts])
    header: dict[str, Any] = {"kind": _NAMES[type(counts)]}
    arrays: dict[str, list[Any]] = {}
    blocks = []
    for field in dataclasses.fields(counts):
        value = getattr(counts, field.name)
        if isinstance(value, np.ndarray):
            packed, scale = _whole_levels(value)
            packed = _smallest(packed)
            arrays[field.name] = [packed.dtype.str, value.dtype.str, scale, value.size]
            blocks.append(packed.tobytes())
        else:
            header[field.name] = value
    header["arrays"] = arrays
    return zlib.compress(b"".join([json.dumps(header, separators=(",", ":")).encode(), b"\n", *blocks]), _LEVEL)


def decode(data: bytes) -> Counts:
    """Unpack what `encode` packed.

    Raises
    ------
    DataError
        For any other bytes.
    """
    if data.startswith(_CLASSES):
        packed = packed_classes(data)
        return ClassCounts(tuple(packed), tuple(map(_decode_scores, packed.values())))
    try:
        return _decode_one(data)
    except Exception as error:
        raise _damaged(error) from error


def _decode_one(data: bytes) -> ScoreCounts | BoundaryCounts | RegionCounts:
    header, _, block = _unpacked(data).partition(b"\n")
    values: dict[str, Any] = json.loads(header)
    kind = _KINDS[values.pop("kind")]
    arrays: dict[str, list[Any]] = values.pop("arrays")
    types = {field.name: str(field.type) for field in dataclasses.fields(kind)}
    for name, value in values.items():
        if type(value) not in _SCALARS[types[name]] or (isinstance(value, int) and value.bit_length() > 63):
            raise ValueError(f"{name} of another type")
    offset = 0
    for name, (stored, dtype, scale, size) in arrays.items():
        if not (_NUMBERS.fullmatch(stored) and _NUMBERS.fullmatch(dtype)):
            raise ValueError(f"{name} of another type")
        array: NDArray[Any] = np.frombuffer(block, np.dtype(stored), size, offset)
        offset += array.nbytes
        with np.errstate(all="raise", under="ignore"):
            values[name] = (array / scale if scale else array).astype(dtype)
    return kind(**values)


def _unpacked(data: bytes) -> bytes:
    inflater = zlib.decompressobj()
    block = inflater.decompress(data, max(_LITTLE, _MOST_SHRUNK * len(data)))
    if not inflater.eof:
        raise ValueError("cut short, or unpacks to more than counts do")
    return block


def _damaged(error: Exception) -> DataError:
    reason = shown(" ".join(str(error).split()) or type(error).__name__)[:200]
    return DataError("packed counts", f"cannot be unpacked ({reason})", _DAMAGED)


def packed_classes(data: bytes) -> dict[str, bytes]:
    """Take packed counts of several classes apart, each still packed.

    Raises
    ------
    DataError
        For any other bytes.
    """
    try:
        header, _, block = data.partition(b"\n")
        sizes: dict[str, int] = json.loads(header)
        ends = dict(zip(sizes, accumulate(sizes.values()), strict=True))
        return {name: block[end - sizes[name] : end] for name, end in ends.items()}
    except Exception as error:
        raise _damaged(error) from error


def _decode_scores(data: bytes) -> ScoreCounts:
    counts = decode(data)
    if not isinstance(counts, ScoreCounts):
        raise DataError("packed counts", "are no counts of scores, as those of a class are", _DAMAGED)
    return counts


_ROWS = ("thresholds", "covering", "rand_index", "voi")


def encode_published(published: PublishedCurve | PublishedRegions) -> str:
    """Write a published curve, or published region figures, as JSON; nan becomes null."""
    if isinstance(published, PublishedRegions):
        rows = {
            name: [None if math.isnan(value) else value for value in getattr(published, name).tolist()]
            for name in _ROWS
        }
        return json.dumps({"regions": dict(published.printed), **rows})
    curve = published.curve
    fields = {
        "thresholds": curve.thresholds.tolist() if published.thresholds_known else None,
        "recall": curve.recall.tolist(),
        "precision": curve.precision.tolist(),
        "printed": dict(published.printed),
        "best_only": published.best_only,
    }
    return json.dumps(fields)


def decode_published(text: str) -> PublishedCurve | PublishedRegions:
    """Read what `encode_published` wrote."""
    fields: dict[str, Any] = json.loads(text)
    if "regions" in fields:
        return PublishedRegions(fields["regions"], *(np.array(fields[name], dtype=np.float64) for name in _ROWS))
    recall = np.array(fields["recall"], dtype=np.float64)
    thresholds = fields["thresholds"] or np.full(recall.size, np.nan)
    return PublishedCurve(
        BoundaryCurve(np.asarray(thresholds), recall, np.array(fields["precision"])),
        fields["printed"],
        fields["best_only"],
    )


class EncodedCounts(Mapping[str, Counts]):
    """Counts by image name, kept packed and unpacked when asked for; names are in sorted order.

    Parameters
    ----------
    packed : mapping of image name to bytes
        As `encode` gives them.
    protocol : str
        Whose counts they are; of a protocol of one's own they may be of any kind.
    file : str
        The results file that they come from, if any, which errors name.
    """

    def __init__(self, packed: Mapping[str, bytes], protocol: str, file: str = "") -> None:
        self._packed = dict(sorted(packed.items()))
        self._protocol = protocol
        self._kind = _COUNTED.get(protocol, Counts)
        self.file = file
        self._first: tuple[str, tuple[Any, ...]] | None = None

    def in_file(self, file: str) -> EncodedCounts:
        """Give the same counts, of which errors name the file they come from."""
        return EncodedCounts(self._packed, self._protocol, file)

    def of_class(self, name: str) -> EncodedCounts:
        """Give the counts of one of several classes.

        Raises
        ------
        DataError
            If an image has none of this class.
        """
        parts = {}
        for image, data in self._packed.items():
            with self._naming(image):
                parts[image] = packed_classes(data)
                if name not in parts[image]:
                    raise DataError(image, f"holds no counts of the class {name}", _DAMAGED)
        return EncodedCounts({image: each[name] for image, each in parts.items()}, "pixels", self.file)

    def __getitem__(self, name: str) -> Counts:
        """Unpack the counts of one image; a `DataError` where they are none of the protocol."""
        packed = self._packed[name]
        with self._naming(name):
            counts = decode(packed)
            if not isinstance(counts, self._kind):
                raise DataError(name, "holds counts of another protocol", _DAMAGED)
            self._require_alike(name, counts)
        return counts

    def _require_alike(self, name: str, counts: Counts) -> None:
        """Refuse counts of a file that do not add to those of its other images."""
        if not self.file or isinstance(counts, ScoreCounts):
            return
        classes = isinstance(counts, ClassCounts)
        levels = counts.names if isinstance(counts, ClassCounts) else tuple(counts.thresholds.tolist())
        first, expected = self._first = self._first or (name, levels)
        if levels != expected:
            what = f"has other {'classes' if classes else 'thresholds'} than {first!r}"
            raise DataError(name, what, "count all images of a run with the same settings, into a new file")

    @contextmanager
    def _naming(self, image: str) -> Iterator[None]:
        try:
            yield
        except DataError as error:
            if self.file:
                raise DataError(self.file, f"image {image!r} {error.what}", error.hint) from error
            raise DataError(image, error.what, error.hint) from error

    def __repr__(self) -> str:
        """Say how many there are."""
        return f"<counts of {len(self)} image{'s'[: len(self) != 1]} by name>"

    def __iter__(self) -> Iterator[str]:
        """Give the names of the images, sorted."""
        return iter(self._packed)

    def __len__(self) -> int:
        """Count the images."""
        return len(self._packed)


def _whole_levels(array: NDArray[Any]) -> tuple[NDArray[Any], float]:
    if array.dtype.kind != "f" or not array.size or not np.isfinite(array).all() or np.abs(array).max() > 2**31:
        return array, 0.0
    for scale in (1.0, 255.0, 65535.0, array.size + 1.0):
        levels = np.rint(array * scale)
        if np.array_equal((levels / scale).astype(array.dtype), array):
            return levels.astype(np.int64), scale
    return array, 0.0


def _smallest(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.kind != "i":
        return array
    lowest, highest = (int(array.min()), int(array.max())) if array.size else (0, 0)
    return array.astype(np.result_type(np.min_scalar_type(lowest), np.min_scalar_type(highest)))
