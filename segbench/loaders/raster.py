"""PNG, JPEG, BMP, GIF, WebP and Netpbm (PBM, PGM, PPM) through Pillow, without what Pillow would change.

Differences from ``numpy.asarray(PIL.Image.open(...))``: palettes and transparency are resolved; several frames, colour
PNGs of 16 bits (Pillow gives 8), and Netpbm files of other maxima than 255 or 65535 (Pillow spreads them) are refused.
EXIF orientation is not applied, and a note says so.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from segbench.core.errors import DataError
from segbench.core.messages import Message, Note
from segbench.loaders.arrays import OPAQUE_HINT, one_channel, through_palette
from segbench.loaders.decoded import (
    LABEL_MAPS,
    MAX_PIXELS,
    ORIENTATION,
    UPRIGHT,
    Decoded,
    Format,
    Header,
    Role,
    too_large,
)
from segbench.loaders.source import CUT, WRITE_AGAIN

if TYPE_CHECKING:
    from PIL import Image
    from PIL.ImageFile import ImageFile

_KINDS: Mapping[str, tuple[str, tuple[str, ...], tuple[bytes, ...]]] = {
    "PNG": ("PNG", (".png", ".apng"), (b"\x89PNG\r\n\x1a\n",)),
    "JPEG": ("JPEG", (".jpg", ".jpeg", ".jpe", ".jfif"), (b"\xff\xd8\xff",)),
    "BMP": ("BMP", (".bmp", ".dib"), (b"BM",)),
    "GIF": ("GIF", (".gif",), (b"GIF8",)),
    "WEBP": ("WebP", (".webp",), (b"RIFF",)),
    "PPM": ("Netpbm", (".pbm", ".pgm", ".ppm", ".pnm"), (b"P1", b"P2", b"P3", b"P4", b"P5", b"P6")),
}
PILLOW_NAMES = {extension: form for form, (_, extensions, _) in _KINDS.items() for extension in extensions}
"""Pillow's name of the format of each extension."""

_LAST = {"PNG": b"IEND\xaeB`\x82", "JPEG": b"\xff\xd9"}
"""What whole files end with, but for padding."""
_PADDING = 64
WEBP_LOSSY, WEBP_LOSSLESS = b"VP8 ", b"VP8L"
"""The chunk of a WebP file that holds its pixels."""
SPREAD = {2: 85, 4: 17}
"""What levels of 2- and 4-bit grey PNGs are multiplied by to fill 8 bits."""
MULTICHANNEL = ("RGB", "RGBA", "LA")


def open_image(file: BinaryIO, form: str, path: str) -> ImageFile:
    """Open an image of a bounded size by Pillow, which decodes nothing yet."""
    from PIL import Image

    try:
        image = Image.open(file, formats=(form,))
    except Image.DecompressionBombError:
        raise DataError(path, Message("too-large", "has more than {most} pixels", most=MAX_PIXELS), CUT) from None
    if image.width * image.height > MAX_PIXELS:  # where a program has switched off Pillow's own limit
        raise too_large(path, image.size[::-1])
    return image


def _decode(data: bytes, path: str, role: Role, *, form: str) -> Decoded:
    """Decode an image that Pillow reads."""
    image = open_image(io.BytesIO(data), form, path)
    frames = getattr(image, "n_frames", 1)
    if frames != 1:
        problem = Message("several-images", "{images} frames, expected one image", images=frames)
        raise DataError(path, problem, "save one file per image")
    if form == "PNG":
        _check_png(data, path)
    decoded = _pixels(image, data, form, path, role)
    notes = (*decoded.notes, *notes_on_orientation(_orientation(image, whole=True)))
    return decoded._replace(notes=notes, lossy=_lossy(io.BytesIO(data), form))


def _header(file: BinaryIO, _role: Role, *, form: str) -> Header:
    """Read what Pillow knows of an image before it decodes it."""
    from PIL import Image

    image = Image.open(file, formats=(form,))
    dtype = {"1": "bool", "I": "uint16"}.get(image.mode, "uint16" if ";16" in f"{image.mode} {image.tile}" else "uint8")
    orientation, lossy = _orientation(image), _lossy(file, form)
    file.seek(max(0, file.seek(0, io.SEEK_END) - _PADDING))
    odd = _LAST.get(form, b"") not in file.read()
    return Header(image.size[::-1], dtype, odd=odd, orientation=orientation, lossy=lossy)


def _lossy(file: BinaryIO, form: str) -> str:
    """Name the lossy compression of a file; a WebP file has a chunk of pixels with loss or without."""
    if form == "JPEG":
        return "JPEG"
    if form != "WEBP":
        return ""
    file.seek(12)  # past the name of the format and the length of the file
    head = file.read(8)
    while len(head) == 8:
        kind, length = struct.unpack("<4sI", head)
        if kind in (WEBP_LOSSY, WEBP_LOSSLESS):
            return "lossy WebP" if kind == WEBP_LOSSY else ""
        file.seek(length + length % 2, io.SEEK_CUR)
        head = file.read(8)
    return ""


def _orientation(image: Image.Image, *, whole: bool = False) -> int:
    """Read the orientation of an image; what follows the pixels of a PNG counts only if they are decoded (`whole`)."""
    from PIL import Image as Images

    with suppress(Exception):  # damaged metadata do not make pixels invalid
        exif = image.getexif() if whole else Images.Image.getexif(image)
        return orientation_of(exif.get(ORIENTATION))
    return UPRIGHT


def _pixels(image: ImageFile, data: bytes, form: str, path: str, role: Role) -> Decoded:
    mode = image.mode
    if mode == "P":
        return _palette(image, role, path)
    if form == "PNG" and data[24] == 16 and mode in MULTICHANNEL:
        problem = Message("unsupported-colour", "colour or transparency in {bits} bits", bits=16)
        raise DataError(path, problem, "save it in grey, or with 8 bits")
    if mode == "1":
        pixels = np.asarray(image).view(np.uint8) != 0  # Pillow stores True as 255, which counts as 255 where added
    elif mode in MULTICHANNEL or mode in ("L", "I") or mode.startswith("I;16"):
        _require_full_range(image, path)
        pixels = np.asarray(image).astype(np.uint16) if mode == "I" else np.asarray(image)
    else:
        problem = Message("unsupported-colour", "colour space {space}, expected grey or RGB", space=mode)
        raise DataError(path, problem, "convert it to grey")
    spread = SPREAD.get(data[24], 1) if form == "PNG" and mode == "L" else 1
    if "transparency" in image.info:
        _require_unused(pixels, np.multiply(image.info["transparency"], spread), path)
    if pixels.ndim == 3:
        return one_channel(pixels, path, role)
    if role in LABEL_MAPS:
        return Decoded(pixels // spread if spread != 1 else pixels)
    if spread == 1:
        return Decoded(pixels)
    message = Message("grey-spread", "{bits}-bit grey spread to 0..255, as PNG defines it", bits=data[24])
    return Decoded(pixels, (Note(message),))


def _require_full_range(image: ImageFile, path: str) -> None:
    """Refuse a Netpbm file of another maximum, whose levels Pillow would spread or, in colour, cut to 8 bits."""
    arguments: Any = image.tile[0].args if image.format == "PPM" else ""
    if isinstance(arguments, tuple) and arguments not in (("L", 255), ("L", 65535), ("RGB", 255)):
        problem = Message(
            "other-maximum", "declares the maximum {maximum}, expected 255, or 65535 in grey", maximum=arguments[1]
        )
        raise DataError(path, problem, "save it as PNG")


def _check_png(data: bytes, path: str) -> None:
    """Refuse a PNG with a damaged or missing chunk of pixels.

    Pillow checks every other chunk; for these it relies on the checksum of the stream, which it may not reach.
    """
    view = memoryview(data)
    position, kind = 8, b""
    while kind != b"IEND" and position + 12 <= len(data):
        (length,) = struct.unpack_from(">I", data, position)
        kind = data[position + 4 : position + 8]
        stop = position + 8 + length
        if kind == b"IDAT" and zlib.crc32(view[position + 4 : stop]).to_bytes(4, "big") != data[stop : stop + 4]:
            problem = Message("damaged", "damaged or truncated PNG (at byte {byte})", byte=position)
            raise DataError(path, problem, WRITE_AGAIN)
        position = stop + 4


def _palette(image: ImageFile, role: Role, path: str) -> Decoded:
    indices = np.asarray(image)
    palette = np.array(image.getpalette("RGB"), np.uint8).reshape(-1, 3)
    decoded = through_palette(indices, palette, role, path)
    transparency = image.info.get("transparency")
    if transparency is None or decoded.array is indices:
        return decoded
    if isinstance(transparency, bytes):
        see_through = np.flatnonzero(np.frombuffer(transparency, np.uint8) < 255)
    else:
        see_through = np.array([transparency])
    count = int(np.isin(indices, see_through).sum())
    if count:
        problem = Message(
            "transparent",
            "{count} of {total} pixels have a transparent palette colour",
            count=count,
            total=indices.size,
        )
        raise DataError(path, problem, OPAQUE_HINT)
    return decoded


def _require_unused(pixels: NDArray[Any], key: NDArray[Any], path: str) -> None:
    """Refuse an image that uses the value it declares transparent."""
    hit = pixels == key.astype(pixels.dtype)
    count = int(np.count_nonzero(hit if hit.ndim == 2 else hit.all(axis=2)))
    if count:
        total = pixels.shape[0] * pixels.shape[1]
        problem = Message(
            "transparent",
            "{count} of {total} pixels have the colour declared transparent",
            count=count,
            total=total,
        )
        raise DataError(path, problem, OPAQUE_HINT)


def orientation_of(tag: object) -> int:
    """Return the value of an orientation tag, and 1 for whatever has no meaning."""
    return int(tag) if isinstance(tag, int) and UPRIGHT < tag <= 8 else UPRIGHT


def notes_on_orientation(value: int) -> tuple[Note, ...]:
    """Say that an EXIF orientation, which viewers apply, was not applied."""
    if value == UPRIGHT:
        return ()
    message = Message(
        "orientation", "EXIF orientation {orientation} was not applied: pixels are read as stored", orientation=value
    )
    return (Note(message),)


FORMATS = tuple(
    Format(name, extensions, magic, partial(_decode, form=form), partial(_header, form=form))
    for form, (name, extensions, magic) in _KINDS.items()
)
