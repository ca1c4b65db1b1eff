"""What all formats of volumes share: bounds, checks of what a header announces, and labels that are stored as floats.

A header is checked before anything of the size that it announces is allocated or unpacked.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segbench.core.errors import DataError
from segbench.core.geometry import Affine, Geometry
from segbench.core.messages import Message
from segbench.loaders import arrays
from segbench.loaders.decoded import LABELS, Decoded, Header, Role
from segbench.loaders.source import CUT, WRITE_AGAIN, split_suffix

MAX_VOXELS = 2**29
"""The largest volume that is decoded, of 1024 x 1024 x 512 or 512 x 512 x 2048 voxels; in 64-bit floats it is 4 GiB."""
MAX_BYTES_OF_VOLUMES = 8 * MAX_VOXELS + 2**20
"""The largest file of a volume: 64-bit numbers, with a header."""
WHOLE = 1e-4
"""How far labels that are stored as floats may be from whole numbers, as factors in headers have 24 bits."""
GZIP = b"\x1f\x8b"
_GZIPPED, _PACKED = 31, 47
"""How zlib is told to expect a header of gzip, or one of its own, too."""


class Stored(NamedTuple):
    """What a header says of the data behind it."""

    shape: tuple[int, ...]  # of the array
    dtype: np.dtype[Any]
    packed: bool
    geometry: Geometry | None

    @property
    def size(self) -> int:
        """Bytes of the data, unpacked."""
        return math.prod(self.shape) * self.dtype.itemsize


@dataclass(frozen=True)
class TextFormat:
    """A format whose header is text, before the data or alone in its file, which then names the one that holds them."""

    longest: int  # bytes of a header, at most
    end: bytes  # of a header, before the data
    fields_of: Callable[[bytes], tuple[dict[str, str], int]]  # the fields of a header, and where data follow
    stored: Callable[[Mapping[str, str], str], Stored]  # of fields, what lies behind; the path is for errors
    data_file: Callable[[Mapping[str, str]], str]  # of fields, the name of the file with the data; empty if they follow

    def fields_alone(self, header: bytes) -> dict[str, str]:
        """Return the fields of a header that may be without its end."""
        return self.fields_of(header + self.end)[0]

    def with_data(self, header: bytes, data: bytes) -> bytes:
        """Put data behind a header that names another file."""
        return header.rstrip() + self.end + data

    def decode(self, data: bytes, path: str, role: Role) -> Decoded:
        """Decode a file whose data follow the header."""
        fields, at = self.fields_of(data)
        return _decoded_volume(self.stored(fields, path), memoryview(data)[at:], path, role)

    def header(self, file: BinaryIO, _role: Role) -> Header:
        """Read what the header announces."""
        stored = self.stored(self.fields_alone(file.read(self.longest)), "")
        return Header(dtype=stored.dtype.name, geometry=stored.geometry).of_shape(stored.shape)


def _decoded_volume(stored: Stored, data: bytes | memoryview, path: str, role: Role) -> Decoded:
    """Decode the data behind a header."""
    if stored.packed:
        content: bytes | memoryview = _inflated(data, stored.size, path, _PACKED)
    else:
        require_length(len(data), stored.size, path)
        content = data
    array = np.frombuffer(content, stored.dtype).reshape(stored.shape)
    return Decoded(as_volume(array, path, role), volume=array.ndim == 3, geometry=stored.geometry)


def decode_array(data: bytes, path: str, role: Role) -> Decoded:
    """Decode an NPY or NPZ file that holds a volume; one of two axes is an image."""
    array = arrays.read_array(data, path, role)
    if array.ndim == 2:
        return arrays.as_map(array, path, role)
    array = array.reshape(shape_of_volume(array.shape[::-1], path))
    return Decoded(as_volume(array, path, role), volume=True)


def convert_it(path: str) -> Message:
    """Say how a file of an encoding that is not read is converted."""
    name = PurePath(path).name
    return Message(
        "fix",
        "convert it with SimpleITK (pip install SimpleITK): {code}",
        code=f'SimpleITK.WriteImage(SimpleITK.ReadImage("{name}"), "{split_suffix(name)[0]}.nii.gz")',
    )


def affine_of_axes(
    axis_steps: Sequence[Sequence[float]], origin: Sequence[float], ras_signs: Sequence[float]
) -> Affine:
    """Return the affine of a file: from the step along each of its axes, width first, and the first voxel's position.

    Positions in two dimensions get 0 as their third coordinate. `ras_signs`, 1 or -1 for each coordinate, turn the
    directions of the file to those of `Geometry`, which lists the width last.
    """
    columns = [*reversed(axis_steps), origin]
    return tuple(
        tuple(ras_signs[row] * column[row] if row < len(column) else 0.0 for column in columns) for row in range(3)
    )


def shape_of_volume(extents: Sequence[int], path: str) -> tuple[int, ...]:
    """Return the shape of the array of a file, (D, H, W) or (H, W), by its extents as headers have them, width first.

    Trailing axes of one entry are dropped; what is too large, or has more axes, is refused.
    """
    kept = list(extents)
    while len(kept) > 3 and kept[-1] == 1:
        kept.pop()
    written = " x ".join(map(str, extents))
    if len(kept) not in (2, 3):
        problem = Message(
            "other-dimensions",
            "has the size {extents}, expected three dimensions: width x height x depth",
            extents=written,
        )
        raise DataError(path, problem, "save each volume, such as each channel or moment, as a file of its own")
    if min(kept) < 1:
        problem = Message("damaged", "announces the size {extents}, in which nothing lies", extents=written)
        raise DataError(path, problem, WRITE_AGAIN)
    if math.prod(kept) > MAX_VOXELS:
        problem = Message("too-large", "announces {extents} voxels, more than {most}", extents=written, most=MAX_VOXELS)
        raise DataError(path, problem, CUT)
    return tuple(reversed(kept))


def as_volume(stored: NDArray[Any], path: str, role: Role) -> NDArray[Any]:
    """Bring an array of plain numbers into a form that all else can rely on; labels of floats become whole numbers."""
    arrays.require_numbers(stored, path, role)
    kind, width = stored.dtype.kind, stored.dtype.itemsize
    if kind == "f" and role in LABELS and (labels := _whole(stored)) is not None:
        return labels
    width = 4 if kind == "f" and width == 2 else width
    return np.ascontiguousarray(stored, np.dtype(f"{kind}{width}"))


def _whole(stored: NDArray[Any]) -> NDArray[Any] | None:
    """Return floats that are whole numbers but for `WHOLE` as integers; None of others, which inputs refuse or cut."""
    lowest, highest = float(stored.min()), float(stored.max())
    limits = np.iinfo(np.int32)
    if not (limits.min <= lowest and highest <= limits.max):  # NaN, too
        return None
    few = round(lowest) >= 0 and round(highest) <= np.iinfo(np.uint8).max
    labels = np.empty(stored.shape, np.uint8 if few else np.int32)
    for values, whole in zip(stored, labels, strict=True):  # slice by slice, for less memory
        nearest = np.rint(values)
        if not (np.abs(values - nearest) <= WHOLE).all():
            return None
        whole[...] = nearest
    return labels


def packed_start(data: bytes, size: int) -> bytes:
    """Unpack no more than the first bytes of a gzip file, or take those of any other."""
    if not data.startswith(GZIP):
        return bytes(data[:size])
    return zlib.decompressobj(_GZIPPED).decompress(data, size)


def unpacked(data: bytes, size: int, path: str) -> bytes | memoryview:
    """Return the whole content of a file, gzipped or not, which must have so many bytes.

    Files may be put together of several members, as bgzip writes them.
    """
    if not data.startswith(GZIP):
        require_length(len(data), size, path)
        return memoryview(data)
    return _inflated(data, size, path, _GZIPPED)


def _inflated(data: bytes | memoryview, size: int, path: str, form: int) -> bytes:
    """Unpack data, which must have so many bytes, and no more than these."""
    parts: list[bytes] = []
    left, packed = size + 1, data
    while packed and left > 0:
        member = zlib.decompressobj(form)
        try:
            part = member.decompress(packed, left)
        except zlib.error as error:
            raise _damaged_gzip(path, str(error)) from None
        parts.append(part)
        left -= len(part)
        if left > 0 and not member.eof:
            raise _damaged_gzip(path, "it is cut short")
        packed = member.unused_data.lstrip(b"\0")  # padding, as on tapes
    whole = parts[0] if len(parts) == 1 else b"".join(parts)
    require_length(len(whole), size, path, more="more than " if left <= 0 else "")
    return whole


def _damaged_gzip(path: str, reason: str) -> DataError:
    problem = Message("damaged", "damaged or truncated packed data ({reason})", reason=reason)
    return DataError(path, problem, WRITE_AGAIN)


def require_length(length: int, expected: int, path: str, *, more: str = "") -> None:
    """Refuse a file that does not have the bytes that its header announces."""
    if length != expected:
        problem = Message(
            "other-length",
            "header and data disagree: the header announces {expected} bytes, and the file has {more}{found}",
            expected=expected,
            more=more,
            found=length - 1 if more else length,
        )
        raise DataError(path, problem, WRITE_AGAIN)
