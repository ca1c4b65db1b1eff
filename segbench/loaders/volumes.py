"""What all formats of volumes share: bounds, checks of what a header announces, and labels that are stored as floats.

A header is checked before anything of the size that it announces is allocated or unpacked.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.errors import DataError
from segbench.core.messages import Message
from segbench.loaders.arrays import require_numbers
from segbench.loaders.decoded import CUT, LABELS, WRITE_AGAIN, Role

MAX_VOXELS = 2**29
"""The largest volume that is decoded, of 1024 x 1024 x 512 or 512 x 512 x 2048 voxels; in 64-bit floats it is 4 GiB."""
WHOLE = 1e-4
"""How far labels that are stored as floats may be from whole numbers, as factors in headers have 24 bits."""
GZIP = b"\x1f\x8b"
_GZIPPED = 31
"""How zlib is told to expect a header of gzip."""


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
            "has {axes} axes ({extents}), expected 3: width x height x depth",
            axes=len(kept),
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
    require_numbers(stored, path, role)
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
    few = 0 <= round(lowest) and round(highest) <= np.iinfo(np.uint8).max
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
    """Return the whole content of a file, gzipped or not, which must have so many bytes: no more than these are unpacked.

    Files may be put together of several members, as bgzip writes them.
    """
    if not data.startswith(GZIP):
        require_length(len(data), size, path)
        return memoryview(data)
    parts: list[bytes] = []
    left, packed = size + 1, data
    while packed and left > 0:
        member = zlib.decompressobj(_GZIPPED)
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
    problem = Message("damaged", "damaged or truncated gzip file ({reason})", reason=reason)
    return DataError(path, problem, WRITE_AGAIN)


def require_length(found: int, expected: int, path: str, *, more: str = "") -> None:
    """Refuse a file that does not have the bytes that its header announces."""
    if found != expected:
        problem = Message(
            "other-length",
            "header and data disagree: the header announces {expected} bytes, and the file has {more}{found}",
            expected=expected,
            more=more,
            found=found - 1 if more else found,
        )
        raise DataError(path, problem, WRITE_AGAIN)
