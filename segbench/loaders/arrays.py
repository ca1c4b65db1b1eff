"""Any array to one map of plain numbers: its shape and type, colour to grey, transparency, palettes; NPY and NPZ files.

Colour becomes grey as ``skimage.color.rgb2gray`` does it: the luma of ITU-R 709 over values divided by the type's
maximum, in float64. Where all channels are equal nothing is computed and the dtype stays. Arrays in files are plain
numbers, never Python objects, which could run code when read.
"""

from __future__ import annotations

import io
import math
import zipfile
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import distinct
from segbench.core.errors import DataError
from segbench.core.levels import refuse_inexact
from segbench.core.messages import Either, Message, Note
from segbench.loaders.decoded import (
    AS_VOLUME,
    COLOUR_MAPS,
    LABEL_MAPS,
    LABELS,
    MAX_PIXELS,
    Decoded,
    Format,
    Header,
    Role,
    too_large,
    variable_of,
)
from segbench.loaders.palettes import note_on_indices, notes_on_levels
from segbench.loaders.source import CUT, WRITE_AGAIN, shown

LUMA = (0.2125, 0.7154, 0.0721)
COLOUR = 0xFF000000
"""What packed colours are raised by, so that none looks like a label."""
TURNED_TO_GREY = Message("turned-to-grey", "colour turned to grey (ITU-R 709 luma, 0..1)")
OPAQUE_HINT = "flatten it onto a background, or save it without transparency"


class StackError(DataError):
    """A prediction is a stack of several maps, of a `shape`, where one is expected."""


def as_map(array: NDArray[Any], path: str, role: Role) -> Decoded:
    """Check that an array is one map of plain numbers and bring it into a form that all else can rely on."""
    array, notes = _flat(array, path, role)
    if array.size > MAX_PIXELS:
        raise too_large(path, array.shape)
    require_numbers(array, path, role)
    kind, width = array.dtype.kind, array.dtype.itemsize
    if kind == "f" and width == 2:
        width = 4
    return Decoded(np.ascontiguousarray(array, np.dtype(f"{kind}{width}")), notes)


def as_stack(array: NDArray[Any], path: str, role: Role, *, as_volume: bool = False) -> NDArray[Any]:
    """Check that an array is a map, or a stack of maps, of plain numbers that can be scores, or labels.

    A map has two axes, or three `as_volume`.
    """
    axes = 3 if as_volume else 2
    while array.ndim > axes + 1 and array.shape[0] == 1:
        array = array[0]
    if as_volume and array.ndim not in (3, 4):
        problem = Message("wrong-shape", "shape ({shape}), expected (z, y, x) or (classes, z, y, x)", shape=array.shape)
        raise DataError(path, problem, "save one array per volume")
    if array.ndim not in (axes, axes + 1):
        problem = Message(
            "wrong-shape",
            "shape ({shape}), expected (classes, height, width) or (height, width, classes)",
            shape=array.shape,
        )
        raise DataError(path, problem, "save one array per image")
    require_numbers(array, path, role)
    if array.dtype.kind == "i" and role not in LABELS:
        return array.astype(f"u{array.dtype.itemsize}")
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def squeezed(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Drop first and last axes of one entry as long as there are more than two axes."""
    while len(shape) > 2 and 1 in (shape[-1], shape[0]):
        shape = shape[:-1] if shape[-1] == 1 else shape[1:]
    return shape


def _are_plain_numbers(dtype: np.dtype[Any]) -> bool:
    """Return whether values may be scores or labels."""
    return dtype.kind in "biuf" and dtype.itemsize <= 8


def require_numbers(array: NDArray[Any], path: str, role: Role) -> None:
    """Refuse an array without values, of values that are not plain numbers, and levels below 0."""
    if array.size == 0:
        raise DataError(path, Message("no-pixels", "no pixels: shape ({shape})", shape=array.shape), WRITE_AGAIN)
    kind = array.dtype.kind
    if not _are_plain_numbers(array.dtype):
        problem = Message(
            "wrong-type",
            "values of type {dtype}, expected booleans, integers or floats of up to 64 bits",
            dtype=str(array.dtype),
        )
        raise DataError(path, problem)
    if role == "prediction":
        refuse_inexact(path, array)  # before the advice to save floats, in which scores would be rounded
    if kind == "i" and role not in LABELS and array.min() < 0:
        problem = Message(
            "negative-levels",
            "negative integers (smallest {smallest}), expected levels from 0",
            smallest=int(array.min()),
        )
        raise DataError(path, problem, "save scores as floats or as unsigned integers")


def _flat(array: NDArray[Any], path: str, role: Role) -> tuple[NDArray[Any], tuple[Note, ...]]:
    array = array.reshape(squeezed(array.shape))
    if array.ndim == 2:
        return array, ()
    coloured = array.ndim == 3 and array.shape[2] in (3, 4) and array.dtype in (np.uint8, np.uint16) and array.size > 0
    if array.ndim == 3 and role in LABELS and array.size and not (coloured and _may_be_colours(array)):
        _refuse_planes(array, path)
    if coloured:
        decoded = one_channel(array, path, role)
        return decoded.array, decoded.notes
    problem = Message(
        "several-maps",
        "shape ({shape}) and type {dtype}, expected one {role} of shape (H, W)",
        shape=array.shape,
        dtype=str(array.dtype),
        role=role,
    )
    if array.ndim == 3 and role == "prediction":
        protocols = Either("Labels(classes=...) or Classes(...)", "segbench labels or segbench pixels with --classes")
        hint = Message(
            "fix",
            "for one map per class use {protocols}; {volume}; otherwise save one map per file",
            protocols=protocols,
            volume=AS_VOLUME,
        )
        raise StackError(path, problem, hint)
    raise DataError(path, problem, "save one map per file; " + AS_VOLUME)


def _may_be_colours(array: NDArray[Any]) -> bool:
    """Return whether channels hold levels of colours, and alpha if there are four, rather than zeros and ones."""
    return bool(array.max() > 1) and (array.shape[2] == 3 or bool((array[..., 3] == np.iinfo(array.dtype).max).all()))


def _refuse_planes(array: NDArray[Any], path: str) -> None:
    """Refuse labels that have a plane for each class or object, and say how these become one label per pixel."""
    highest = array.max()
    if array.dtype.kind not in "biuf" or not ((array == 0) | (array == highest)).all():
        return
    for axis, others in ((0, (1, 2)), (-1, (0, 1))):
        marked = np.count_nonzero(array, axis=axis)
        if marked.max() != 1 or np.count_nonzero(array.any(axis=others)) < 2:
            continue
        label_map = f"labels.argmax(axis={axis})"
        kind = "one-hot labels"
        if marked.min() == 0:
            kind, label_map = "masks", f"labels.any(axis={axis}) * ({label_map} + 1)"
        problem = Message(
            "label-planes",
            "shape ({shape}) has {found} in {planes} planes, expected one label per pixel",
            shape=array.shape,
            found=kind,
            planes=array.shape[axis],
        )
        raise DataError(path, problem, Message("fix", "save a label map: {code}", code=label_map))


def one_channel(image: NDArray[Any], path: str, role: Role) -> Decoded:
    """Turn an image of one to four channels into a map; a label map in colour into packed colours."""
    channels = image.shape[2]
    if channels in (2, 4):
        require_opaque(image[..., -1], np.iinfo(image.dtype).max, path)
    first = image[..., 0]
    if role == "ids" and channels > 2:
        red, green, blue = (image[..., k].astype(np.uint32) for k in range(3))
        return Decoded(red | green << np.uint32(8) | blue << np.uint32(16))
    in_grey = channels < 3 or (np.array_equal(first, image[..., 1]) and np.array_equal(first, image[..., 2]))
    if in_grey and not (channels > 2 and role in COLOUR_MAPS):
        return Decoded(np.ascontiguousarray(first))
    if role in LABEL_MAPS:
        return Decoded(_packed(image, path))
    return Decoded(luma(image[..., :3]), (Note(TURNED_TO_GREY),))


def _packed(image: NDArray[Any], path: str) -> NDArray[np.uint32]:
    """Turn 8-bit colours into numbers: `COLOUR` + 65536 r + 256 g + b."""
    if image.dtype != np.uint8:
        problem = Message("unsupported-colour", "is in colour with 16 bits, expected 8 bits as palettes have")
        raise DataError(path, problem, "save labels, not colours")
    wide = image.astype(np.uint32)
    return np.asarray(COLOUR | wide[..., 0] << 16 | wide[..., 1] << 8 | wide[..., 2], np.uint32)


def luma(rgb: NDArray[Any]) -> NDArray[np.float64]:
    """Compute ``skimage.color.rgb2gray`` of an 8- or 16-bit image of shape (H, W, 3)."""
    scaled = np.multiply(rgb, 1.0 / np.iinfo(rgb.dtype).max, dtype=np.float64)
    grey: NDArray[np.float64] = scaled @ np.array(LUMA)
    return grey


def require_opaque(alpha: NDArray[Any], opaque: int, path: str) -> None:
    """Refuse an image with an alpha value below `opaque`."""
    see_through = int(np.count_nonzero(alpha != opaque))
    if see_through:
        problem = Message(
            "transparent",
            "{count} of {total} pixels are not opaque, so their value is unknown",
            count=see_through,
            total=alpha.size,
        )
        raise DataError(path, problem, OPAQUE_HINT)


def through_palette(indices: NDArray[np.uint8], palette: NDArray[np.uint8], role: Role, path: str) -> Decoded:
    """Turn the indices of a palette image into a map."""
    grey = bool((palette[:, :1] == palette[:, 1:]).all())
    used = distinct(indices).astype(np.intp)
    if role in LABELS and not grey:
        return Decoded(np.ascontiguousarray(indices), (note_on_indices(used, palette),))
    if used[-1] >= len(palette):
        problem = Message(
            "outside-palette",
            "palette index {index} in a palette of {colours} colours",
            index=int(used[-1]),
            colours=len(palette),
        )
        raise DataError(path, problem, "save it again")
    colours = palette[used]
    decoded = Decoded(colours[:, 0]) if grey else one_channel(colours[None], path, role)
    levels = decoded.array.reshape(-1)
    table = np.zeros(int(used[-1]) + 1, levels.dtype)
    table[used] = levels
    return Decoded(table[indices], notes_on_levels(used, levels) if role in LABELS else decoded.notes)


_HEAD = 4096
"""Bytes in which the header of a plain array lies."""


def decode_stack(data: bytes, path: str, role: Role, *, as_volume: bool = False) -> NDArray[Any]:
    """Decode a file that may hold several soft maps in one array."""
    return as_stack(read_array(data, path, role), path, role, as_volume=as_volume)


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
    return Header(plane, dtype.newbyteorder("=").name, odd=plane is None or not _are_plain_numbers(dtype))


def _start(stream: io.BytesIO, path: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Read an NPY file up to its first value: shape, whether in Fortran's order, and dtype."""
    version = np.lib.format.read_magic(stream)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(stream)
    if version == (2, 0):
        return np.lib.format.read_array_header_2_0(stream)
    problem = Message("other-version", "NPY version {version:.}, expected 1.0 or 2.0", version=version)
    raise DataError(path, problem, "save it with numpy.save")


def _read_npy(data: bytes, path: str) -> NDArray[Any]:
    """Read the array of an NPY file without copying its values."""
    stream = io.BytesIO(data)
    shape, fortran, dtype = _start(stream, path)
    if dtype.hasobject:
        problem = Message("python-objects", "contains Python objects, which could run code when loaded")
        raise DataError(path, problem, "save a plain array of numbers")
    if min(shape, default=0) < 0:
        problem = Message("damaged", "damaged: its header declares the shape ({shape})", shape=shape)
        raise DataError(path, problem, WRITE_AGAIN)
    count, bytes_left = math.prod(shape), len(data) - stream.tell()
    if bytes_left < count * dtype.itemsize:
        stored = bytes_left // max(dtype.itemsize, 1)
        problem = Message("damaged", "truncated: {found} of {expected} values are there", found=stored, expected=count)
        raise DataError(path, problem, WRITE_AGAIN)
    flat = np.frombuffer(data, dtype, count, stream.tell())
    return flat.reshape(shape[::-1]).T if fortran else flat.reshape(shape)


def _read_npz(data: bytes, path: str, role: Role) -> NDArray[Any]:
    """Read the one array of an NPZ file, or the one named after its role."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        info = _member(archive, role, path)
        if info.file_size > MAX_PIXELS * 8:
            raise DataError(path, Message("too-large", "unpacks to {bytes} bytes", bytes=info.file_size), CUT)
        with archive.open(info) as member:
            # A member may unpack to more than it declares; reading no further keeps a bomb from going off.
            unpacked = member.read(info.file_size)
    return _read_npy(unpacked, path)


def read_array(data: bytes, path: str, role: Role) -> NDArray[Any]:
    """Read the array of an NPY or NPZ file, of any shape."""
    return _read_npy(data, path) if data.startswith(NPY.magic) else _read_npz(data, path, role)


def _member(archive: zipfile.ZipFile, role: Role, path: str) -> zipfile.ZipInfo:
    """Find the one array of an NPZ file, or the one named after its role."""
    variable = variable_of(role)
    members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
    if len(members) != 1 and variable not in members:
        names = [*map(shown, sorted(members))] or "none"
        problem = Message("several-arrays", "{count} arrays ({names}), expected one", count=len(members), names=names)
        raise DataError(path, problem, Message("fix", "name the one to read {name!r}", name=variable))
    return members[variable] if variable in members else next(iter(members.values()))


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
