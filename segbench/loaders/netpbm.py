"""PBM, PGM, PPM and grey PFM files through Pillow, levels as stored.

Left to itself, Pillow spreads levels to 0..255 or 0..65535 where a file declares another maximum, and keeps 8 bits of
16-bit colour. Here its decoder runs with the raw mode that keeps each value; levels above the maximum are refused.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from segbench.core.errors import DataError
from segbench.loaders.decoded import Decoded, Format, Header, Role
from segbench.loaders.maps import one_channel
from segbench.loaders.raster import decoded_as, open_image

if TYPE_CHECKING:
    from PIL.ImageFile import ImageFile

_FULL = (255, 65535)


def _decode(data: bytes, path: str, role: Role) -> Decoded:
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
    wide, colour = _maximum(image) > 255, image.mode == "RGB"
    if image.tile[0].codec_name == "ppm_plain":
        if wide and colour:
            raise DataError(path, "16-bit colour in plain text", "save it as PNG")
        pixels = decoded_as(data, "PPM", codec_name="ppm_plain", args=(image.mode, _FULL[wide]))
    elif wide and colour:
        upper, lower = (decoded_as(data, "PPM", codec_name="raw", args=rawmode) for rawmode in ("RGB;16B", "RGB;16L"))
        pixels = upper.astype(np.uint16) << 8 | lower
    else:
        pixels = decoded_as(data, "PPM", codec_name="raw", args="I;16B" if wide else image.mode)
    return pixels.astype(np.uint16, copy=False) if wide else pixels


def _header(file: BinaryIO, _role: Role) -> Header:
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


FORMAT = Format(
    "Netpbm",
    (".pbm", ".pgm", ".ppm", ".pnm", ".pfm"),
    (b"P1", b"P2", b"P3", b"P4", b"P5", b"P6", b"Pf"),
    _decode,
    _header,
)
