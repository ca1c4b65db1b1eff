"""NRRD files, ``.nrrd`` and ``.seg.nrrd``, and ``.nhdr`` with the data in a second file.

The header is text, of which the digits of a spacing are taken as they are written. Segments of 3D Slicer that overlap
have a layer each, which is refused; those in one layer are a label map.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from segbench.core.errors import DataError
from segbench.core.geometry import Affine, Geometry, shortest_decimal
from segbench.core.messages import Message
from segbench.loaders.decoded import Format
from segbench.loaders.source import NRRD
from segbench.loaders.volumes import Stored, TextFormat, affine_of_axes, convert_it, shape_of_volume

LONGEST = 2**20
"""Bytes of a header: those of 3D Slicer describe each segment."""
_END = re.compile(rb"\r?\n\r?\n")
_WORDS = {
    "i1": "signed char|int8|int8_t",
    "u1": "uchar|unsigned char|uint8|uint8_t",
    "i2": "short|short int|signed short|signed short int|int16|int16_t",
    "u2": "ushort|unsigned short|unsigned short int|uint16|uint16_t",
    "i4": "int|signed int|int32|int32_t",
    "u4": "uint|unsigned int|uint32|uint32_t",
    "i8": "longlong|long long|long long int|signed long long|signed long long int|int64|int64_t",
    "u8": "ulonglong|unsigned long long|unsigned long long int|uint64|uint64_t",
    "f4": "float",
    "f8": "double",
}
_TYPES = {word: kind for kind, words in _WORDS.items() for word in words.split("|")}
_TO_RAS = {
    "right-anterior-superior": (1.0, 1.0, 1.0),
    "ras": (1.0, 1.0, 1.0),
    "left-anterior-superior": (-1.0, 1.0, 1.0),
    "las": (-1.0, 1.0, 1.0),
    "left-posterior-superior": (-1.0, -1.0, 1.0),
    "lps": (-1.0, -1.0, 1.0),
}
"""Directions of positions in spaces of patients; those of other spaces are taken as they are."""
_PACKED = {"raw": False, "gzip": True, "gz": True}
_VECTOR = re.compile(r"\(([^()]*)\)|none")


def _fields_of(start: bytes) -> tuple[dict[str, str], int]:
    """Return the fields of a header by their names in lower case, and where data follow."""
    if not start.startswith(b"NRRD"):
        raise ValueError("it does not begin with NRRD")
    end = _END.search(start, 0, min(len(start), LONGEST))
    if end is None:
        raise ValueError("no empty line ends its header")
    fields: dict[str, str] = {}
    for line in start[: end.start()].decode("utf-8", "replace").splitlines()[1:]:
        name, colon, value = line.partition(":")
        if colon and not line.startswith("#") and not value.startswith("="):
            fields[name.strip().lower()] = value.strip()
    return fields, end.end()


def _data_file(fields: Mapping[str, str]) -> str:
    """Return the name of the file with the data; empty if they follow the header."""
    return fields.get("data file", fields.get("datafile", ""))


def _stored(fields: Mapping[str, str], path: str) -> Stored:
    """Say what lies behind a header, and refuse what cannot be read."""
    sizes = [int(word) for word in fields.get("sizes", "").split()]
    kinds = fields.get("kinds", "").lower().split() or ["domain"] * len(sizes)
    if int(fields.get("dimension", "0")) != len(sizes) or len(kinds) != len(sizes):
        raise ValueError(f"dimension is {fields.get('dimension')}, and sizes has {len(sizes)} numbers")
    axes = [axis for axis, kind in enumerate(kinds) if kind in ("domain", "space", "???", "none")]
    layers = [axis for axis in range(len(sizes)) if axis not in axes and sizes[axis] != 1]
    if layers:
        several = Message("layers", "{count} layers of segments that overlap", count=sizes[layers[0]])
        other = Message("vectors", "{count} values a voxel ({kind})", count=sizes[layers[0]], kind=kinds[layers[0]])
        problem = Message(
            "several-layers",
            "holds {found}, expected one number a voxel",
            found=several if kinds[layers[0]] == "list" else other,
        )
        raise DataError(path, problem, "save a label map: in 3D Slicer, export the segmentation to a labelmap")
    shape = shape_of_volume([sizes[axis] for axis in axes], path)
    kind = fields.get("type", "").lower()
    if kind not in _TYPES:
        problem = Message(
            "wrong-type", "values of type {dtype}, expected integers or floats of up to 64 bits", dtype=kind or "none"
        )
        raise DataError(path, problem, "save labels or scores, as one number for each voxel")
    encoding = fields.get("encoding", "").lower()
    skipped = [name for name in ("line skip", "byte skip", "lineskip", "byteskip") if fields.get(name, "0") != "0"]
    if encoding not in _PACKED or skipped:
        problem = Message(
            "unsupported-encoding",
            "has the encoding {encoding}{skipped}, expected raw or gzip",
            encoding=encoding,
            skipped="".join(f", with {name}" for name in skipped),
        )
        raise DataError(path, problem, convert_it(path))
    order = ">" if fields.get("endian", "little").lower() == "big" else "<"
    dtype: np.dtype[Any] = np.dtype(order + _TYPES[kind])
    return Stored(shape, dtype, _PACKED[encoding], _geometry(fields, axes[: len(shape)], len(sizes)))


def _geometry(fields: Mapping[str, str], axes: list[int], dimensions: int) -> Geometry | None:
    """Return spacing and positions; None if the header tells no spacing."""
    if "space directions" in fields:
        vectors = [_vector(match[1]) for match in _VECTOR.finditer(fields["space directions"])]
        if len(vectors) != dimensions or any(not vectors[axis] for axis in axes):
            raise ValueError("space directions do not have a vector for each axis")
        of_axes = [vectors[axis] for axis in axes]
        spacing = tuple(_length(vector) for vector in reversed(of_axes))
        return Geometry(spacing, _affine(fields, of_axes)).checked()
    words = fields.get("spacings", "").split()
    if not words:
        return None
    if len(words) != dimensions:
        raise ValueError(f"{len(words)} spacings, expected {dimensions}")
    return Geometry(tuple(float(words[axis]) for axis in reversed(axes))).checked()


def _affine(fields: Mapping[str, str], vectors: list[list[float]]) -> Affine:
    """Return where voxels lie."""
    origin = next((_vector(match[1]) for match in _VECTOR.finditer(fields.get("space origin", ""))), [])
    origin = origin or [0.0] * len(vectors[0])
    if any(len(vector) != len(origin) for vector in vectors):
        raise ValueError("space directions and space origin have other dimensions")
    space = fields.get("space", "").lower()
    return affine_of_axes(vectors, origin, _TO_RAS.get(space, (1.0, 1.0, 1.0)))


def _vector(text: str | None) -> list[float]:
    """Read a vector; none is empty."""
    return [float(word) for word in text.split(",")] if text else []


def _length(vector: list[float]) -> float:
    """Return the length of a vector: along an axis as it is written, else as the shortest decimal of a float32."""
    others = [number for number in vector if number]
    if len(others) == 1:
        return abs(others[0])
    return shortest_decimal(float(np.sqrt(np.square(vector).sum())))


HEADER = TextFormat(LONGEST, b"\n\n", _fields_of, _stored, _data_file)
FORMAT = Format("NRRD", NRRD, (b"NRRD",), HEADER.decode, HEADER.header)
