"""PBM, PGM, PPM and PFM files, levels as stored.

Source: the Netpbm format pages, http://netpbm.sourceforge.net/doc/. Difference from Pillow: levels are never spread
to 0..255 or 0..65535 where the file declares another maximum, and 16-bit colour keeps all its bits.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.errors import DataError
from segbench.loaders.channels import one_channel
from segbench.loaders.decoded import MAX_PIXELS, Decoded, size

EXTENSIONS = (".pbm", ".pgm", ".ppm", ".pnm", ".pfm")
TOKEN = rb"(?:\s|#[^\r\n]*[\r\n])+([-+.0-9eE]{1,20})"
# Exactly one white-space character parts a raw header from its pixels, which may themselves look like white space.
HEADER = {count: re.compile(rb"P([1-7fF])" + TOKEN * count + rb"(?:#[^\r\n]*)?(\s)") for count in (2, 3)}
CHANNELS = {"1": 1, "2": 1, "3": 3, "4": 1, "5": 1, "6": 3, "f": 1}


def decode_netpbm(data: bytes, path: str) -> Decoded:
    """Decode a Netpbm file."""
    kind = data[1:2].decode("latin-1")
    if data[:1] != b"P" or kind not in CHANNELS:
        raise DataError(path, f"starts with {data[:2]!r}, expected P1 to P6 or Pf", "convert the file")
    bits = kind in "14"
    header = HEADER[2 if bits else 3].match(data)
    if header is None:
        raise DataError(path, "damaged header, expected width, height and maximum", "write the file anew")
    width, height = int(header[2]), int(header[3])
    if not 0 < width * height <= MAX_PIXELS or width < 0:
        raise DataError(path, f"{size((height, width))}, expected 1 to {MAX_PIXELS} pixels", "cut it into parts")
    body = data[header.end() :]
    shape = (height, width, CHANNELS[kind])
    if kind == "f":
        little = float(header[4]) < 0
        return Decoded(np.flipud(_raw(body, shape, "<f4" if little else ">f4", path)[..., 0]).astype(np.float32))
    if bits:
        black = _digits(body, shape, path) if kind == "1" else _packed(body, shape, path)
        return Decoded(~black)
    maximum = int(header[4])
    if not 0 < maximum < 65536:
        raise DataError(path, f"declares the maximum {maximum}, expected 1 to 65535", "write the file anew")
    stored = "u1" if maximum < 256 else ">u2"
    pixels = _numbers(body, shape, path) if kind in "23" else _raw(body, shape, stored, path)
    if int(pixels.max()) > maximum:
        raise DataError(path, f"level {pixels.max()} above the declared maximum {maximum}", "write the file anew")
    pixels = pixels.astype(np.uint8 if maximum < 256 else np.uint16, copy=False)
    notes: tuple[str, ...] = ()
    if maximum not in (255, 65535):
        notes = (f"declares the maximum {maximum}; levels are kept as stored",)
    decoded = one_channel(pixels, path)
    return Decoded(decoded.array, notes + decoded.notes)


def dimensions(head: bytes) -> tuple[int, int]:
    """Read height and width from the first bytes of a file; ValueError where they are not there."""
    header = HEADER[2 if head[1:2] in b"14" else 3].match(head)
    if header is None:
        raise ValueError("no header of a Netpbm file")
    return int(header[3]), int(header[2])


def _raw(body: bytes, shape: tuple[int, int, int], dtype: str, path: str) -> NDArray[Any]:
    count = shape[0] * shape[1] * shape[2]
    expected = count * np.dtype(dtype).itemsize
    _require_length(len(body), expected, path)
    if body[expected:].lstrip():
        raise DataError(path, f"{len(body) - expected} bytes after the image, expected one", "save one file an image")
    return np.frombuffer(body, dtype, count).reshape(shape)


def _packed(body: bytes, shape: tuple[int, int, int], path: str) -> NDArray[np.bool_]:
    row = -(-shape[1] // 8)
    packed = _raw(body, (shape[0], row, 1), "u1", path)[..., 0]
    return np.unpackbits(packed, axis=1, count=shape[1]).astype(bool)


def _digits(body: bytes, shape: tuple[int, int, int], path: str) -> NDArray[np.bool_]:
    """Read the 0 and 1 of a plain PBM, between which white space may be missing."""
    digits = np.frombuffer(b"".join(_words(body)), np.uint8)
    _require_length(digits.size, shape[0] * shape[1], path)
    black: NDArray[np.bool_] = digits[: shape[0] * shape[1]] == ord("1")
    return black.reshape(shape[:2])


def _numbers(body: bytes, shape: tuple[int, int, int], path: str) -> NDArray[Any]:
    numbers = np.array(_words(body), np.int64)
    count = shape[0] * shape[1] * shape[2]
    _require_length(numbers.size, count, path)
    if numbers[:count].min() < 0:
        raise DataError(path, "holds negative levels", "write the file anew")
    return numbers[:count].reshape(shape)


def _words(body: bytes) -> list[bytes]:
    return re.sub(rb"#[^\r\n]*", b"", body).split()


def _require_length(found: int, expected: int, path: str) -> None:
    if found < expected:
        raise DataError(path, f"truncated: {found} of {expected} values are there", "write the file anew")
