"""MetaImage files, ``.mha``, and ``.mhd`` with the data in a second file, as ITK writes them.

The header is text, of which the digits of a spacing are taken as they are written. ITK itself (5.4) is not used: where
a packed file holds less than its header announces, it returns what happened to be in memory.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from segbench.core.errors import DataError
from segbench.core.geometry import Affine, Geometry
from segbench.core.messages import Message
from segbench.loaders.decoded import Format
from segbench.loaders.source import METAIMAGE
from segbench.loaders.volumes import Stored, TextFormat, affine_of_axes, convert_it, shape_of_volume

LONGEST = 2**16
LOCAL = "LOCAL"
_TYPES = {
    "MET_CHAR": "i1",
    "MET_UCHAR": "u1",
    "MET_SHORT": "i2",
    "MET_USHORT": "u2",
    "MET_INT": "i4",
    "MET_UINT": "u4",
    "MET_LONG_LONG": "i8",
    "MET_ULONG_LONG": "u8",
    "MET_FLOAT": "f4",
    "MET_DOUBLE": "f8",
}
_LINE = re.compile(rb"\s*([^\s=:][^=:\r\n]*?)[ \t]*[=:][ \t]*([^\r\n]*?)[ \t]*\r?\n")
_PATIENT = (-1.0, -1.0, 1.0)
"""ITK's positions rise to the left and to the back, those of `Geometry` to the right and to the front."""


def _fields_of(start: bytes) -> tuple[dict[str, str], int]:
    """Return the fields of a header, which ends with that of its data file, and where data follow."""
    fields: dict[str, str] = {}
    at = 0
    while "ElementDataFile" not in fields:
        line = _LINE.match(start, at, min(len(start), LONGEST))
        if line is None:
            raise ValueError("its header has no line ElementDataFile")
        fields[line[1].decode("latin-1")] = line[2].decode("latin-1")
        at = line.end()
    return fields, at


def _data_file(fields: Mapping[str, str]) -> str:
    """Return the name of the file with the data; empty if they follow the header."""
    name = fields["ElementDataFile"]
    return "" if name.upper() == LOCAL else name


def _stored(fields: Mapping[str, str], path: str) -> Stored:
    """Say what lies behind a header, and refuse what cannot be read."""
    extents = _whole_numbers(fields, "DimSize")
    if int(fields.get("NDims", "0")) != len(extents):
        raise ValueError(f"NDims is {fields.get('NDims')}, and DimSize has {len(extents)} numbers")
    shape = shape_of_volume(extents, path)
    channels = int(fields.get("ElementNumberOfChannels", "1"))
    kind = fields.get("ElementType", "")
    if channels != 1 or kind not in _TYPES:
        problem = Message(
            "wrong-type",
            "values of type {dtype}{channels}, expected integers or floats of up to 64 bits",
            dtype=kind or "none",
            channels=f" in {channels} channels" if channels != 1 else "",
        )
        raise DataError(path, problem, "save labels or scores, as one number for each voxel")
    if not _is_true(fields, "BinaryData") or int(fields.get("HeaderSize", "0")) != 0:
        problem = Message("unsupported-encoding", "holds its values as text, or behind a header of another format")
        raise DataError(path, problem, convert_it(path))
    big = _is_true(fields, "BinaryDataByteOrderMSB") or _is_true(fields, "ElementByteOrderMSB")
    dtype: np.dtype[Any] = np.dtype(f"{'>' if big else '<'}{_TYPES[kind]}")
    return Stored(shape, dtype, _is_true(fields, "CompressedData"), _geometry(fields, len(extents), len(shape)))


def _geometry(fields: Mapping[str, str], dimensions: int, axes: int) -> Geometry | None:
    """Return spacing and positions; None if the header tells no spacing."""
    spacing = _numbers(fields, "ElementSpacing", "ElementSize")
    if spacing is None:
        return None
    if len(spacing) != dimensions:
        raise ValueError(f"a spacing of {len(spacing)} numbers, expected {dimensions}")
    return Geometry(tuple(spacing[axes - 1 :: -1]), _affine(fields, spacing, axes)).checked()


def _affine(fields: Mapping[str, str], spacing: list[float], axes: int) -> Affine | None:
    """Return where voxels lie; None if the header does not tell."""
    dimensions = len(spacing)
    directions = _numbers(fields, "TransformMatrix", "Rotation", "Orientation")
    origin = _numbers(fields, "Offset", "Origin", "Position")
    if directions is None and origin is None:
        return None
    if directions is None:
        directions = np.eye(dimensions).reshape(-1).tolist()
    origin = [0.0] * dimensions if origin is None else origin
    if len(directions) != dimensions**2 or len(origin) != dimensions:
        raise ValueError(f"TransformMatrix or Offset have other numbers than those of {dimensions} dimensions")
    vectors = [
        [spacing[axis] * directions[axis * dimensions + row] for row in range(min(dimensions, 3))]
        for axis in range(axes)
    ]
    return affine_of_axes(vectors, origin, _PATIENT)


def _numbers(fields: Mapping[str, str], *names: str) -> list[float] | None:
    """Return the numbers of a field that has several names; None where it is missing."""
    text = next((fields[name] for name in names if name in fields), None)
    return None if text is None else [float(word) for word in text.split()]


def _whole_numbers(fields: Mapping[str, str], name: str) -> list[int]:
    """Return the whole numbers of a field."""
    numbers = _numbers(fields, name) or []
    if not all(math.isfinite(number) and number.is_integer() for number in numbers):
        raise ValueError(f"{name} is {fields[name]!r}")
    return [int(number) for number in numbers]


def _is_true(fields: Mapping[str, str], name: str) -> bool:
    return fields.get(name, "").lower() in ("true", "t", "1")


HEADER = TextFormat(LONGEST, b"\n", _fields_of, _stored, _data_file)
FORMAT = Format("MetaImage", METAIMAGE, (b"ObjectType", b"NDims"), HEADER.decode, HEADER.header)
