"""NumPy files, and the checks that make any array a map."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.errors import DataError
from segbench.loaders.channels import one_channel
from segbench.loaders.decoded import MAX_PIXELS, Decoded, Role, shown, size


def decode_npy(data: bytes, path: str) -> NDArray[Any]:
    """Decode an NPY file without copying its values."""
    stream = io.BytesIO(data)
    try:
        shape, fortran, dtype = npy_header(stream)
    except UnknownVersionError as error:
        raise DataError(path, f"NPY version {error}, expected 1.0 or 2.0", "save it with numpy.save") from None
    if dtype.hasobject:
        raise DataError(path, "holds Python objects, which could run code when read", "save a plain array of numbers")
    if min(shape, default=0) < 0:
        raise DataError(path, f"damaged: its header declares the shape {shape}", "write the file anew")
    count = 1
    for extent in shape:
        count *= extent
    if len(data) - stream.tell() < count * dtype.itemsize:
        stored = (len(data) - stream.tell()) // max(dtype.itemsize, 1)
        raise DataError(path, f"truncated: {stored} of {count} values are there", "write the file anew")
    flat = np.frombuffer(data, dtype, count, stream.tell())
    return flat.reshape(shape[::-1]).T if fortran else flat.reshape(shape)


def member_named(archive: zipfile.ZipFile, role: Role, path: str = "") -> zipfile.ZipInfo:
    """Find the one array of an NPZ file, or the one named after its role."""
    wanted = role.replace(" ", "_")
    members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
    if len(members) != 1 and wanted not in members:
        names = shown(", ".join(sorted(members))) or "none"
        raise DataError(path, f"{len(members)} arrays ({names}), expected one", f"name the one to read {wanted!r}")
    return members[wanted] if wanted in members else next(iter(members.values()))


class UnknownVersionError(Exception):
    """An NPY file of a version that is not read; the text is the version."""


def npy_header(stream: io.BytesIO) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Read the header of an NPY file, up to its first value: shape, whether in Fortran's order, and dtype."""
    version = np.lib.format.read_magic(stream)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(stream)
    if version == (2, 0):
        return np.lib.format.read_array_header_2_0(stream)
    raise UnknownVersionError(f"{version[0]}.{version[1]}")


def map_shape(shape: tuple[int, ...]) -> tuple[int, int] | None:
    """Give height and width of an array that may be a map; None where it cannot be one."""
    while len(shape) > 2 and 1 in (shape[-1], shape[0]):
        shape = shape[:-1] if shape[-1] == 1 else shape[1:]
    if len(shape) == 2 or (len(shape) == 3 and shape[2] in (3, 4)):
        return shape[0], shape[1]
    return None


def decode_npz(data: bytes, path: str, role: Role) -> NDArray[Any]:
    """Decode the one array of an NPZ file, or the one named after its role."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        info = member_named(archive, role, path)
        if info.file_size > MAX_PIXELS * 8:
            raise DataError(path, f"unpacks to {info.file_size} bytes", "cut it into parts")
        with archive.open(info) as member:
            # A member may unpack to more than it declares; reading no further keeps a bomb from going off.
            unpacked = member.read(info.file_size)
    return decode_npy(unpacked, path)


def as_map(array: NDArray[Any], path: str, role: Role) -> Decoded:
    """Check that an array is one map of plain numbers and bring it into a form that all else can rely on."""
    array, notes = _flat(array, path, role)
    if array.size > MAX_PIXELS:
        raise DataError(path, f"{size(array.shape)} is more than {MAX_PIXELS} pixels", "cut it into parts")
    _require_numbers(array, path, role)
    kind, width = array.dtype.kind, array.dtype.itemsize
    if kind == "f" and width == 2:
        width = 4
    return Decoded(np.ascontiguousarray(array, np.dtype(f"{kind}{width}")), notes)


def as_stack(array: NDArray[Any], path: str, role: Role = "prediction") -> NDArray[Any]:
    """Check that an array is a map, or a stack of maps, of plain numbers that can be scores."""
    while array.ndim > 3 and array.shape[0] == 1:
        array = array[0]
    if array.ndim not in (2, 3):
        what = f"shape {array.shape}, expected (classes, height, width) or (height, width, classes)"
        raise DataError(path, what, "save one array an image")
    _require_numbers(array, path, role)
    if array.dtype.kind == "i" and role == "prediction":
        return array.astype(f"u{array.dtype.itemsize}")
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _require_numbers(array: NDArray[Any], path: str, role: Role) -> None:
    """Refuse an array without values, of values that are no plain numbers, and levels below 0."""
    if array.size == 0:
        raise DataError(path, f"no pixels: shape {array.shape}", "write the file anew")
    kind = array.dtype.kind
    if kind not in "biuf" or array.dtype.itemsize > 8:
        raise DataError(path, f"values of type {array.dtype}, expected booleans, integers or floats of up to 64 bits")
    if kind == "i" and role != "ground truth" and array.min() < 0:
        raise DataError(
            path,
            f"negative integers (smallest {array.min()}), expected levels from 0",
            "save scores as floats or as unsigned integers",
        )


def _flat(array: NDArray[Any], path: str, role: Role) -> tuple[NDArray[Any], tuple[str, ...]]:
    while array.ndim > 2 and 1 in (array.shape[-1], array.shape[0]):
        array = array[..., 0] if array.shape[-1] == 1 else array[0]
    if array.ndim == 2:
        return array, ()
    if array.ndim == 3 and array.shape[2] in (3, 4) and array.dtype in (np.uint8, np.uint16) and array.size:
        decoded = one_channel(array, path)
        return decoded.array, decoded.notes
    raise DataError(
        path,
        f"shape {array.shape} and type {array.dtype}, expected one {role} of shape (H, W)",
        "save one map a file",
    )
