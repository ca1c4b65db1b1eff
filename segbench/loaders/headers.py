"""Sizes and types of files from their first bytes, without decoding them.

What a header leaves open is left open, and whatever looks odd is only marked as such: the decoders are the judges.
"""

from __future__ import annotations

import io
import math
import struct
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from segbench.core.errors import DataError
from segbench.loaders import matlab, netpbm, tiff
from segbench.loaders.arrays import map_shape, member_named, npy_header
from segbench.loaders.decoded import Role, shown
from segbench.loaders.images import EMPTY, not_readable
from segbench.loaders.matfile import heads
from segbench.loaders.orientation import SIDEWAYS, TAG, UPRIGHT, known, orientation_of
from segbench.loaders.quiet import quiet
from segbench.loaders.raster import FORMATS
from segbench.loaders.remote import Remote
from segbench.loaders.source import Source

_HEAD = 4096
_PNG = b"\x89PNG\r\n\x1a\n"
_PNG_END = b"IEND\xaeB`\x82"
_JPEG_END = b"\xff\xd9"
_STRIP_OFFSETS, _STRIP_BYTES = 273, 279


@dataclass(frozen=True)
class Header:
    """What is known of a file before it is decoded.

    Parameters
    ----------
    size : int
        Length of the file in bytes; 0 where it was not looked at.
    shape : tuple of int, optional
        (H, W) of the map; None where only decoding tells.
    dtype : str
        NumPy's name of the type of its values; empty where only decoding tells.
    doubled : bool
        Whether it is a ``ucm2``, of (2 h + 1) x (2 w + 1) pixels.
    odd : bool
        Whether it looks damaged, and decoding it will tell.
    orientation : int
        Of its EXIF data, 1 to 8, as far as they come before the pixels.
    """

    size: int
    shape: tuple[int, int] | None = None
    dtype: str = ""
    doubled: bool = False
    odd: bool = False
    orientation: int = UPRIGHT


def read_header(path: Source, role: Role) -> Header:
    """Read the header of an image or array file."""
    if isinstance(path, Remote):
        return Header(0)
    try:
        with opened(path) as file:
            size = file.seek(0, io.SEEK_END)
            file.seek(0)
            head = file.read(_HEAD)
            if not head:
                raise DataError(shown(path), EMPTY, "write the file anew")
            return _understood(file, head, size, path.suffix.lower(), role)
    except (OSError, ValueError) as error:
        raise not_readable(path, error) from None


def opened(source: Source) -> io.BufferedReader | io.BytesIO:
    """Open a local file, or the bytes of a member of an archive."""
    return source.open("rb") if isinstance(source, Path) else io.BytesIO(source.read_bytes())


def _understood(file: BinaryIO, head: bytes, size: int, extension: str, role: Role) -> Header:
    try:
        return _header(file, head, size, extension, role)
    except Exception:  # noqa: BLE001  whatever a library, or ours, makes of damaged bytes
        return Header(size, odd=True)


def _header(file: BinaryIO, head: bytes, size: int, extension: str, role: Role) -> Header:
    file.seek(0)
    if extension in FORMATS:
        form = FORMATS[extension]
        return _png(file, head, size) if form == "PNG" else _by_pillow(file, size, form)
    if extension in tiff.EXTENSIONS:
        return _tiff(file, size)
    if extension in netpbm.EXTENSIONS:
        return Header(size, netpbm.dimensions(head))
    if extension in matlab.EXTENSIONS:
        return _mat(file, head, size, role)
    if extension == ".npz":
        with zipfile.ZipFile(file) as archive, archive.open(member_named(archive, role)) as member:
            return _npy(member.read(_HEAD), size, None)
    return _npy(head, size, size)


def _png(file: BinaryIO, head: bytes, size: int) -> Header:
    """Read the first chunk, which every PNG begins with, and look whether the last one is there."""
    width, height, bits, colour_type = struct.unpack(">IIBB", head[16:26])
    file.seek(max(0, size - len(_PNG_END)))
    whole = head.startswith(_PNG) and head[12:16] == b"IHDR" and file.read() == _PNG_END
    dtype = "uint16" if bits == 16 else "bool" if (bits, colour_type) == (1, 0) else "uint8"
    orientation = UPRIGHT
    if b"eXIf" in head or b"Raw profile type exif" in head or b"rientation" in head:
        from PIL import Image

        file.seek(0)
        with quiet(), Image.open(file, formats=("PNG",)) as image:
            orientation = orientation_of(image)
    return Header(size, (height, width), dtype, odd=not whole, orientation=orientation)


def _by_pillow(file: BinaryIO, size: int, form: str) -> Header:
    from PIL import Image

    with quiet(), Image.open(file, formats=(form,)) as image:
        shape, dtype = image.size[::-1], "bool" if image.mode == "1" else "uint8"
        orientation = orientation_of(image)
    odd = False
    if form == "JPEG":
        # Some writers pad what follows the end.
        file.seek(max(0, size - 64))
        odd = _JPEG_END not in file.read()
    return Header(size, shape, dtype, odd=odd, orientation=orientation)


def _tiff(file: BinaryIO, size: int) -> Header:
    from PIL import Image, UnidentifiedImageError

    try:
        with quiet(), Image.open(file, formats=("TIFF",)) as image:
            tags: Mapping[int, Any] = getattr(image, "tag_v2", {})
            ends = map(sum, zip(tags[_STRIP_OFFSETS], tags[_STRIP_BYTES], strict=True)) if _STRIP_BYTES in tags else ()
            orientation = known(tags.get(TAG))
            # Pillow gives the size of the turned image.
            shape = image.size if orientation in SIDEWAYS else image.size[::-1]
            return Header(size, shape, odd=any(end > size for end in ends), orientation=orientation)
    except UnidentifiedImageError:
        import tifffile

        file.seek(0)
        with quiet(), tifffile.TiffFile(file) as pages:
            page: Any = pages.pages[0]
            shape = (int(page.imagelength), int(page.imagewidth))
            return Header(size, shape, str(page.dtype), orientation=known(page.tags.valueof(TAG)))


def _mat(file: BinaryIO, head: bytes, size: int, role: Role) -> Header:
    if head.startswith(matlab.HDF5):
        return Header(size, odd=True)
    with quiet():
        found = {variable.name: variable for variable in heads(file)}
    if role == "prediction" and "ucm2" in found:
        height, width = found["ucm2"].shape
        return Header(size, (height, width), doubled=True)
    maps = {name: each.shape for name, each in found.items() if each.numbers and math.prod(each.shape) > 1}
    shapes = [maps[wanted]] if (wanted := role.replace(" ", "_")) in maps else list(maps.values())
    if len(shapes) != 1 or len(shapes[0]) != 2:
        return Header(size)
    return Header(size, (shapes[0][0], shapes[0][1]))


def _npy(head: bytes, size: int, length: int | None) -> Header:
    """Read the header of an array; `length` is that of the file, where what is left of it must hold the values."""
    stream = io.BytesIO(head)
    shape, _, dtype = npy_header(stream)
    short = length is not None and length - stream.tell() < math.prod(shape) * dtype.itemsize
    plane = map_shape(shape)
    return Header(size, plane, dtype.newbyteorder("=").name, odd=short or plane is None or dtype.hasobject)
