"""NIfTI files, ``.nii`` and ``.nii.gz``: nibabel reads the header, and the data are taken as they are stored.

Differences from ``nibabel.load(...).get_fdata()``: the array is turned to (z, y, x); its type stays unless the header
scales values; data of another length than the header announces are refused, as are complex numbers, colours and what
lies in a second file (``.hdr`` and ``.img``).
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segbench.core.errors import DataError
from segbench.core.geometry import Affine, Geometry, shortest_decimal
from segbench.core.messages import Message
from segbench.loaders.decoded import Decoded, Format, Header, Role
from segbench.loaders.source import NIFTI, WRITE_AGAIN
from segbench.loaders.volumes import GZIP, as_volume, packed_start, shape_of_volume, unpacked

_SIZES = {348: 1, 540: 2}
"""The size of a header, which is its first number, and the version that it tells."""
_MM_PER_UNIT = {1: Decimal(1000), 3: Decimal("0.001")}
"""What headers in metres and in micrometres are multiplied by; those without a unit are in mm."""
_AS_STORED = (1.0, 0.0)
"""The factor and the addend of values that are as they are stored."""
_NAMES = {
    1: "single bits",
    32: "complex64",
    128: "RGB colours",
    1536: "float128",
    1792: "complex128",
    2048: "complex256",
    2304: "RGBA colours",
}
"""Types that are not read."""
_SINGLE, _PAIR = (b"n+1", b"n+2"), (b"ni1", b"ni2")
_LONGEST = 540
_FURTHEST = 2**28
"""Bytes before the data, at most: extensions of headers hold texts."""
_START = 2**17
"""Packed bytes in which a header lies."""


class _Head(NamedTuple):
    """What a header announces."""

    shape: tuple[int, ...]  # of the array
    dtype: np.dtype[Any]
    offset: int  # of the data
    scale: tuple[float, float]  # factor and addend of stored values; 1 and 0 where they are as they are
    geometry: Geometry

    @property
    def size(self) -> int:
        """Bytes of the whole file."""
        return self.offset + math.prod(self.shape) * self.dtype.itemsize


def _decode(data: bytes, path: str, role: Role) -> Decoded:
    """Decode a NIfTI file."""
    head = _head(packed_start(data, _LONGEST), path)
    content = unpacked(data, head.size, path)
    stored = np.frombuffer(content, head.dtype, math.prod(head.shape), head.offset).reshape(head.shape)
    factor, addend = head.scale
    if head.scale != _AS_STORED:
        stored = stored * np.float64(factor) + addend
    return Decoded(as_volume(stored, path, role), volume=len(head.shape) == 3, geometry=head.geometry)


def _header(file: BinaryIO, _role: Role) -> Header:
    """Read what the header announces."""
    start = file.read(_START)
    head = _head(packed_start(start, _LONGEST), "")
    short = not start.startswith(GZIP) and file.seek(0, 2) < head.size
    dtype = head.dtype.newbyteorder("=").name if head.scale == _AS_STORED else "float64"
    header = Header(dtype=dtype, odd=short, geometry=head.geometry)
    return header.of_shape(head.shape)


def _head(start: bytes, path: str) -> _Head:
    """Read a header, and refuse what cannot be."""
    import nibabel

    sizes = int.from_bytes(start[:4], "little"), int.from_bytes(start[:4], "big")
    version = next((_SIZES[size] for size in sizes if size in _SIZES), 0)
    if not version or len(start) < 348:
        raise ValueError("no header of NIfTI")
    kind: Any = nibabel.Nifti1Header if version == 1 else nibabel.Nifti2Header
    header = kind(start[: kind.sizeof_hdr], check=False)
    magic = bytes(header["magic"].item())[:3]
    if magic in _PAIR:
        problem = Message("detached", "is the header of a pair of files, whose data lie in another one (.img)")
        raise DataError(path, problem, "save both as one file, .nii or .nii.gz")
    if magic not in _SINGLE:
        raise ValueError(f"magic {magic!r}, expected n+1 or n+2")
    dims = header["dim"].tolist()
    if not 1 <= dims[0] <= 7:
        raise ValueError(f"{dims[0]} dimensions")
    extents = dims[1 : dims[0] + 1]
    shape = shape_of_volume(extents, path)
    axes = len(shape)
    first = kind.single_vox_offset
    offset = float(header["vox_offset"]) or float(first)
    if not (first <= offset <= _FURTHEST and offset.is_integer()):
        problem = Message(
            "damaged",
            "says that its data begin at byte {offset:g}, expected {first} or more",
            offset=offset,
            first=first,
        )
        raise DataError(path, problem, WRITE_AGAIN)
    mm_per_unit = _MM_PER_UNIT.get(int(header["xyzt_units"]) & 7, Decimal(1))
    extents_of_voxels = header["pixdim"][axes:0:-1].tolist()
    spacing = tuple(float(Decimal(repr(shortest_decimal(extent))) * mm_per_unit) for extent in extents_of_voxels)
    affine = None
    if header["sform_code"] > 0 or header["qform_code"] > 0:
        affine = tuple(tuple(number * float(mm_per_unit) for number in row) for row in _affine(header, axes))
    return _Head(shape, _dtype(header, path), int(offset), _scale(header, path), Geometry(spacing, affine).checked())


def _dtype(header: Any, path: str) -> np.dtype[Any]:  # noqa: ANN401  nibabel's
    """Return the type of the values, which must be plain numbers."""
    code = int(header["datatype"])
    try:
        dtype: np.dtype[Any] = header.get_data_dtype()
    except Exception:  # noqa: BLE001  nibabel's own, of a code that there is not
        dtype = np.dtype("V1")
    if dtype.kind not in "iuf" or dtype.itemsize > 8:
        problem = Message(
            "wrong-type",
            "values of type {dtype}, expected integers or floats of up to 64 bits",
            dtype=_NAMES.get(code, f"{code}, which is unknown"),
        )
        raise DataError(path, problem, "save labels or scores, as one number for each voxel")
    bits = int(header["bitpix"])
    if bits not in (0, 8 * dtype.itemsize):  # 0 where a writer left out what the type tells anyway
        problem = Message(
            "damaged",
            "says that values are {dtype}, and that they have {bits} bits, expected {expected}",
            dtype=dtype.newbyteorder("=").name,
            bits=bits,
            expected=8 * dtype.itemsize,
        )
        raise DataError(path, problem, WRITE_AGAIN)
    return dtype


def _scale(header: Any, path: str) -> tuple[float, float]:  # noqa: ANN401  as above
    """Return the factor and the addend of stored values; a factor of 0 or NaN means that there is none.

    So nibabel and the reference library read NaN, which nibabel's new headers hold.
    """
    factor, addend = float(header["scl_slope"]), float(header["scl_inter"])
    if math.isnan(factor) or factor == 0:
        return _AS_STORED
    if not math.isfinite(factor) or not math.isfinite(addend):
        problem = Message(
            "wrong-scale",
            "says that values are multiplied by {factor:g} and raised by {addend:g}, expected finite numbers",
            factor=factor,
            addend=addend,
        )
        raise DataError(path, problem, WRITE_AGAIN)
    return (factor, addend)


def _affine(header: Any, axes: int) -> Affine:  # noqa: ANN401  as above
    """Return where voxels lie, with columns in the order of the array's axes; NaN where the header has no sense."""
    try:
        affine = np.asarray(header.get_best_affine(), np.float64)
    except Exception:  # noqa: BLE001  nibabel's own, of a quaternion that is none
        affine = np.full((4, 4), math.nan)
    columns: NDArray[np.float64] = affine[:3, [*range(axes - 1, -1, -1), 3]]
    return tuple(map(tuple, columns.tolist()))


FORMAT = Format(
    "NIfTI",
    NIFTI,
    (b"\x5c\x01\x00\x00", b"\x00\x00\x01\x5c", b"\x1c\x02\x00\x00", b"\x00\x00\x02\x1c", GZIP),
    _decode,
    _header,
)
