"""PNG, JPEG, BMP, GIF, WebP and Netpbm (PBM, PGM, PPM, grey PFM) through Pillow, without what Pillow would change.

Differences from ``numpy.asarray(PIL.Image.open(...))``: colour PNGs of 16 bits keep all 16 (Pillow gives 8), palettes
and transparency are resolved, several frames are refused. EXIF orientation is not applied, and a note says so. Levels
of a Netpbm file that declares another maximum than 255 or 65535 are kept (Pillow spreads them).
"""

from __future__ import annotations

import io
import struct
import zlib
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from segbench.core.errors import DataError
from segbench.loaders.arrays import OPAQUE_HINT, one_channel, through_palette
from segbench.loaders.decoded import LABEL_MAPS, MAX_PIXELS, ORIENTATION, UPRIGHT, Decoded, Format, Header, Role, size

if TYPE_CHECKING:
    from PIL import Image
    from PIL.ImageFile import ImageFile

_KINDS = {
    "PNG": ((".png", ".apng"), b"\x89PNG\r\n\x1a\n"),
    "JPEG": ((".jpg", ".jpeg", ".jpe", ".jfif"), b"\xff\xd8\xff"),
    "BMP": ((".bmp", ".dib"), b"BM"),
    "GIF": ((".gif",), b"GIF8"),
    "WEBP": ((".webp",), b"RIFF"),
}
PILLOW_NAMES = {extension: form for form, (extensions, _) in _KINDS.items() for extension in extensions}
"""Pillow's name of the format of each extension."""

_LAST = {"PNG": b"IEND\xaeB`\x82", "JPEG": b"\xff\xd9"}
"""What whole files end with, but for padding."""
_PADDING = 64
SPREAD = {2: 85, 4: 17}
"""What levels of 2- and 4-bit grey PNGs are multiplied by to fill 8 bits."""
MULTICHANNEL = ("RGB", "RGBA", "LA")


def open_image(file: BinaryIO, form: str, path: str) -> ImageFile:
    """Open an image of a bounded size by Pillow, which decodes nothing yet."""
    from PIL import Image

    try:
        image = Image.open(file, formats=(form,))
    except Image.DecompressionBombError:
        raise DataError(path, f"has more than {MAX_PIXELS} pixels", "cut it into parts") from None
    if image.width * image.height > MAX_PIXELS:  # where a program has switched off Pillow's own limit
        raise DataError(path, f"{size(image.size[::-1])} is more than {MAX_PIXELS} pixels", "cut it into parts")
    return image


def _decode(data: bytes, path: str, role: Role, *, form: str) -> Decoded:
    """Decode an image that Pillow reads."""
    image = open_image(io.BytesIO(data), form, path)
    frames = getattr(image, "n_frames", 1)
    if frames != 1:
        raise DataError(path, f"{frames} frames, expected one image", "save one file per image")
    exif = _check_png(data, path) if form == "PNG" else False
    notes = _notes_on_frame(image)
    decoded = _pixels(image, data, form, path, role)
    return decoded._replace(notes=(*decoded.notes, *notes, *notes_on_orientation(_orientation(image, whole=exif))))


def _header(file: BinaryIO, _role: Role, *, form: str) -> Header:
    """Give what Pillow knows of an image before it decodes it."""
    from PIL import Image

    image = Image.open(file, formats=(form,))
    dtype = "bool" if image.mode == "1" else "uint16" if ";16" in f"{image.mode} {image.tile}" else "uint8"
    orientation = _orientation(image)
    file.seek(max(0, file.seek(0, io.SEEK_END) - _PADDING))
    return Header(image.size[::-1], dtype, odd=_LAST.get(form, b"") not in file.read(), orientation=orientation)


def _notes_on_frame(image: ImageFile) -> tuple[str, ...]:
    """Say that the frame of a GIF, not decoded as yet, is smaller than its screen."""
    if image.format != "GIF" or not image.tile or image.tile[0].extents in (None, (0, 0, *image.size)):
        return ()
    filled = f"colour {image.info.get('transparency', 0)} of its palette"
    return (f"GIF frame smaller than its screen: pixels outside the frame are read as {filled}",)


def _orientation(image: Image.Image, *, whole: bool = False) -> int:
    """Give the orientation of an image; of a PNG, what follows the pixels counts only if they are decoded (`whole`)."""
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
        pixels = _sixteen_bits(data, colour_type=data[25])
    elif mode == "1":
        pixels = np.asarray(image).view(np.uint8) != 0  # Pillow stores True as 255, which counts as 255 where added
    elif mode in MULTICHANNEL or mode == "L" or mode.startswith("I;16"):
        pixels = np.asarray(image)
    else:
        raise DataError(path, f"colour space {mode}, expected grey or RGB", "convert it to grey")
    spread = SPREAD.get(data[24], 1) if form == "PNG" and mode == "L" else 1
    if "transparency" in image.info:
        _require_unused(pixels, np.multiply(image.info["transparency"], spread), path)
    if pixels.ndim == 3:
        return one_channel(pixels, path, role)
    if role in LABEL_MAPS:
        return Decoded(pixels // spread if spread != 1 else pixels)
    notes = () if spread == 1 else (f"{data[24]}-bit grey spread to 0..255, as PNG defines it",)
    return Decoded(pixels, notes)


def _check_png(data: bytes, path: str) -> bool:
    """Refuse a PNG with a damaged or missing chunk of pixels, and return whether it has EXIF data.

    Pillow checks every other chunk; for these it relies on the checksum of the stream, which it may not reach.
    """
    view = memoryview(data)
    position, kind, exif = 8, b"", False
    while kind != b"IEND" and position + 12 <= len(data):
        (length,) = struct.unpack_from(">I", data, position)
        kind = data[position + 4 : position + 8]
        stop = position + 8 + length
        exif |= kind == b"eXIf"
        if kind == b"IDAT" and zlib.crc32(view[position + 4 : stop]).to_bytes(4, "big") != data[stop : stop + 4]:
            raise DataError(path, f"damaged or truncated PNG (at byte {position})", "write the file again")
        position = stop + 4
    return exif


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
        raise DataError(path, f"{count} of {indices.size} pixels have a transparent palette colour", OPAQUE_HINT)
    return decoded


def _sixteen_bits(data: bytes, colour_type: int) -> NDArray[np.uint16]:
    """Decode a 16-bit PNG with several channels, of which Pillow would keep the upper eight bits only.

    Pillow's decoder runs twice, unpacking the upper bytes ("16B") and, by the raw mode for the other byte order,
    the lower bytes ("16L"). Grey with alpha has no such pair but the layout of 8-bit RGBA, and is read as that.
    """
    if colour_type == 4:
        raw = decoded_as(data, "PNG", args="RGBA")
        return np.ascontiguousarray(raw).view(">u2").astype(np.uint16, order="C")
    mode = "RGBA" if colour_type == 6 else "RGB"
    pixels = decoded_as(data, "PNG", args=f"{mode};16B").astype(np.uint16)
    pixels <<= 8
    pixels |= decoded_as(data, "PNG", args=f"{mode};16L")
    return pixels


def decoded_as(data: bytes, form: str, **tile: Any) -> NDArray[Any]:  # noqa: ANN401  fields of Pillow's
    """Decode with a raw mode, a codec or a maximum of our choice."""
    from PIL import Image

    image = Image.open(io.BytesIO(data), formats=(form,))
    image.tile = [each._replace(**tile) for each in image.tile]
    return np.asarray(image)


def _require_unused(pixels: NDArray[Any], key: NDArray[Any], path: str) -> None:
    """Refuse an image that uses the value it declares transparent."""
    hit = pixels == key.astype(pixels.dtype)
    count = int(np.count_nonzero(hit if hit.ndim == 2 else hit.all(axis=2)))
    if count:
        total = pixels.shape[0] * pixels.shape[1]
        raise DataError(path, f"{count} of {total} pixels have the colour declared transparent", OPAQUE_HINT)


def orientation_of(tag: object) -> int:
    """Give the value of an orientation tag, and 1 for whatever has no meaning."""
    return int(tag) if isinstance(tag, int) and UPRIGHT < tag <= 8 else UPRIGHT


def notes_on_orientation(value: int) -> tuple[str, ...]:
    """Say that an EXIF orientation, which viewers apply, was not applied."""
    return (f"EXIF orientation {value} was not applied: pixels are read as stored",) * (value != UPRIGHT)


_FULL = (255, 65535)


def _decode_netpbm(data: bytes, path: str, role: Role) -> Decoded:
    """Decode a Netpbm file."""
    image = open_image(io.BytesIO(data), "PPM", path)
    _require_length(data, image, path)
    if image.mode == "1":
        return Decoded(np.asarray(image).view(np.uint8) != 0)
    if image.mode == "F":
        return Decoded(np.asarray(image))
    maximum = _maximum(image)
    pixels = _levels(data, image, path)
    notes: tuple[str, ...] = ()
    if maximum not in _FULL:
        if int(pixels.max()) > maximum:
            raise DataError(path, f"level {pixels.max()} above the declared maximum {maximum}", "write the file again")
        notes = (f"declares the maximum {maximum}; levels are used as stored",)
    decoded = one_channel(np.atleast_3d(pixels), path, role)
    return Decoded(decoded.array, notes + decoded.notes)


def _require_length(data: bytes, image: ImageFile, path: str) -> None:
    """Refuse a file that is cut short, before memory is taken for its pixels, or that holds further images."""
    plain = image.tile[0].codec_name == "ppm_plain"
    bits = {"1": 1, "L": 8, "I": 16, "F": 32, "RGB": 48 if _maximum(image) > 255 else 24}[image.mode]
    expected = image.width * image.height if plain else -(-image.width * bits // 8) * image.height
    body = memoryview(data)[image.tile[0].offset :]
    if len(body) < expected:
        raise DataError(path, f"truncated: {len(body)} bytes of pixels, expected {expected}", "write the file again")
    if not plain and bytes(body[expected:]).strip():
        raise DataError(path, f"{len(body) - expected} bytes after the image", "save one image per file")


def _levels(data: bytes, image: ImageFile, path: str) -> NDArray[Any]:
    """Decode levels as they are stored."""
    wide = _maximum(image) > 255
    if wide and image.mode == "RGB":
        raise DataError(path, "16-bit colour", "save it as PNG")
    if image.tile[0].codec_name == "ppm_plain":
        pixels = decoded_as(data, "PPM", codec_name="ppm_plain", args=(image.mode, _FULL[wide]))
    else:
        pixels = decoded_as(data, "PPM", codec_name="raw", args="I;16B" if wide else image.mode)
    return pixels.astype(np.uint16, copy=False) if wide else pixels


def _netpbm_header(file: BinaryIO, _role: Role) -> Header:
    """Give what Pillow knows of a file before it decodes it."""
    image = open_image(file, "PPM", "")
    dtype = {"1": "bool", "F": "float32"}.get(image.mode, "uint16" if _maximum(image) > 255 else "uint8")
    return Header(image.size[::-1], dtype)


def _maximum(image: ImageFile) -> int:
    """Give the highest level that a file declares, 1 where it declares none."""
    if image.mode in ("1", "F"):
        return 1
    arguments: Any = image.tile[0].args
    return int(arguments[1]) if isinstance(arguments, tuple) else _FULL[image.mode == "I"]


FORMATS = (
    *(
        Format(
            "WebP" if form == "WEBP" else form,
            extensions,
            (magic,),
            partial(_decode, form=form),
            partial(_header, form=form),
        )
        for form, (extensions, magic) in _KINDS.items()
    ),
    Format(
        "Netpbm",
        (".pbm", ".pgm", ".ppm", ".pnm", ".pfm"),
        (b"P1", b"P2", b"P3", b"P4", b"P5", b"P6", b"Pf"),
        _decode_netpbm,
        _netpbm_header,
    ),
)
