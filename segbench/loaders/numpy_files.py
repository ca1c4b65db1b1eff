"""NPY and NPZ files: arrays of plain numbers, never Python objects, which could run code when read."""

from __future__ import annotations

import io
import math
import zipfile
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from segbench.core.errors import DataError
from segbench.loaders.decoded import MAX_PIXELS, Format, Header, Role, shown, variable_of
from segbench.loaders.maps import as_map, as_stack, squeezed

_HEAD = 4096
"""Bytes in which the header of a plain array lies."""


def decode_stack(data: bytes, path: str, role: Role) -> NDArray[Any]:
    """Decode a file that may hold several soft maps in one array."""
    is_npy = data.startswith(NPY.magic)
    return as_stack(_read_npy(data, path) if is_npy else _read_npz(data, path, role), path, role)


def _npy_header(file: BinaryIO, _role: Role) -> Header:
    head = io.BytesIO(file.read(_HEAD))
    shape, _, dtype = _start(head, "")
    values = file.seek(0, io.SEEK_END) - head.tell()
    header = _as_header(shape, dtype)
    return Header(header.shape, header.dtype, odd=header.odd or values < math.prod(shape) * dtype.itemsize)


def _npz_header(file: BinaryIO, role: Role) -> Header:
    with zipfile.ZipFile(file) as archive, archive.open(_member(archive, role, "")) as member:
        shape, _, dtype = _start(io.BytesIO(member.read(_HEAD)), "")
    return _as_header(shape, dtype)


def _as_header(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Header:
    shape = squeezed(shape)
    plane = (shape[0], shape[1]) if len(shape) == 2 or (len(shape) == 3 and shape[2] in (3, 4)) else None
    return Header(plane, dtype.newbyteorder("=").name, odd=plane is None or dtype.hasobject)


def _start(stream: io.BytesIO, path: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Read an NPY file up to its first value: shape, whether in Fortran's order, and dtype."""
    version = np.lib.format.read_magic(stream)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(stream)
    if version == (2, 0):
        return np.lib.format.read_array_header_2_0(stream)
    raise DataError(path, f"NPY version {version[0]}.{version[1]}, expected 1.0 or 2.0", "save it with numpy.save")


def _read_npy(data: bytes, path: str) -> NDArray[Any]:
    """Give the array of an NPY file without copying its values."""
    stream = io.BytesIO(data)
    shape, fortran, dtype = _start(stream, path)
    if dtype.hasobject:
        raise DataError(
            path, "contains Python objects, which could run code when loaded", "save a plain array of numbers"
        )
    if min(shape, default=0) < 0:
        raise DataError(path, f"damaged: its header declares the shape {shape}", "write the file again")
    count, left = math.prod(shape), len(data) - stream.tell()
    if left < count * dtype.itemsize:
        stored = left // max(dtype.itemsize, 1)
        raise DataError(path, f"truncated: {stored} of {count} values are there", "write the file again")
    flat = np.frombuffer(data, dtype, count, stream.tell())
    return flat.reshape(shape[::-1]).T if fortran else flat.reshape(shape)


def _read_npz(data: bytes, path: str, role: Role) -> NDArray[Any]:
    """Give the one array of an NPZ file, or the one named after its role."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        info = _member(archive, role, path)
        if info.file_size > MAX_PIXELS * 8:
            raise DataError(path, f"unpacks to {info.file_size} bytes", "cut it into parts")
        with archive.open(info) as member:
            # A member may unpack to more than it declares; reading no further keeps a bomb from going off.
            unpacked = member.read(info.file_size)
    return _read_npy(unpacked, path)


def _member(archive: zipfile.ZipFile, role: Role, path: str) -> zipfile.ZipInfo:
    """Find the one array of an NPZ file, or the one named after its role."""
    wanted = variable_of(role)
    members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
    if len(members) != 1 and wanted not in members:
        names = shown(", ".join(sorted(members))) or "none"
        raise DataError(path, f"{len(members)} arrays ({names}), expected one", f"name the one to read {wanted!r}")
    return members[wanted] if wanted in members else next(iter(members.values()))


NPY = Format(
    "NPY",
    (".npy",),
    (b"\x93NUMPY",),
    lambda data, path, role: as_map(_read_npy(data, path), path, role),
    _npy_header,
)
NPZ = Format(
    "NPZ (or another zip archive)",
    (".npz",),
    (b"PK",),
    lambda data, path, role: as_map(_read_npz(data, path, role), path, role),
    _npz_header,
)
