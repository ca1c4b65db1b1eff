"""Counts as a few hundred bytes: how they travel between processes, wait in memory and lie in the results file.

A JSON header names the arrays, their types follow in one block, and zlib packs the whole. Scores that are levels (k,
k / 255, k / 65535, k / (thresholds + 1)) are written as the whole numbers k when that gives back every bit. Counts of
several classes are packed class by class behind a line of JSON, so that one class is unpacked alone. Reading never
unpickles.
"""

from __future__ import annotations

import dataclasses
import json
import math
import zlib
from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.counts import BoundaryCounts, ClassCounts, RegionCounts, ScoreCounts
from segbench.curves.boundary import BoundaryCurve
from segbench.curves.published import PublishedCurve
from segbench.curves.published_regions import PublishedRegions

Counts = ScoreCounts | BoundaryCounts | RegionCounts | ClassCounts

_KINDS: dict[str, type[ScoreCounts | BoundaryCounts | RegionCounts]] = {
    "scores": ScoreCounts,
    "boundaries": BoundaryCounts,
    "regions": RegionCounts,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}
_LEVEL = 3
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
    """Unpack what `encode` packed."""
    if data.startswith(_CLASSES):
        packed = packed_classes(data)
        return ClassCounts(tuple(packed), tuple(map(_decode_scores, packed.values())))
    header_line, _, block = zlib.decompress(data).partition(b"\n")
    values: dict[str, Any] = json.loads(header_line)
    kind = _KINDS[values.pop("kind")]
    offset = 0
    for name, (stored, dtype, scale, size) in values.pop("arrays").items():
        array: NDArray[Any] = np.frombuffer(block, np.dtype(stored), size, offset)
        offset += array.nbytes
        values[name] = (array / scale if scale else array).astype(dtype)
    return kind(**values)


def packed_classes(data: bytes) -> dict[str, bytes]:
    """Take packed counts of several classes apart, each still packed."""
    header, _, block = data.partition(b"\n")
    ends = dict(zip(sizes := json.loads(header), accumulate(sizes.values()), strict=True))
    return {name: block[end - sizes[name] : end] for name, end in ends.items()}


def _decode_scores(data: bytes) -> ScoreCounts:
    counts = decode(data)
    if not isinstance(counts, ScoreCounts):
        raise TypeError(type(counts))
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
    """Counts by image name, kept packed and unpacked when asked for; names are in sorted order."""

    def __init__(self, packed: Mapping[str, bytes]) -> None:
        self._packed = dict(sorted(packed.items()))

    def of_class(self, name: str) -> EncodedCounts:
        """Give the counts of one of several classes."""
        return EncodedCounts({image: packed_classes(data)[name] for image, data in self._packed.items()})

    def __getitem__(self, name: str) -> Counts:
        """Unpack the counts of one image."""
        return decode(self._packed[name])

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
