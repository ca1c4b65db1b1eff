"""One file to one map: which decoder reads it, and one kind of error whatever is wrong with it.

Nothing is rescaled, clipped or resized here, and NaN is let through: the protocols check values. A name's extension
says how a file is read, upper or lower case. Any damage ends in a `DataError` that names the file.
"""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from numpy.typing import NDArray

from segbench.core.errors import DataError
from segbench.loaders import matlab, netpbm, tiff
from segbench.loaders.arrays import as_map, as_stack, decode_npy, decode_npz
from segbench.loaders.decoded import Decoded, Role, shown
from segbench.loaders.quiet import quiet
from segbench.loaders.raster import FORMATS, decode_raster
from segbench.loaders.source import Source

EXTENSIONS = (*FORMATS, *tiff.EXTENSIONS, *netpbm.EXTENSIONS, *matlab.EXTENSIONS, ".npy", ".npz")
"""Every extension that `decode` reads, in lower case."""

STACKS = (".npy", ".npz")
"""Extensions of files that can hold the maps of several classes in one array."""
EMPTY = "is empty (0 bytes)"
Answer = TypeVar("Answer")

MAGIC = {
    b"\x89PNG\r\n\x1a\n": "PNG",
    b"\xff\xd8\xff": "JPEG",
    b"BM": "BMP",
    b"GIF8": "GIF",
    b"RIFF": "WebP",
    b"II*\x00": "TIFF",
    b"MM\x00*": "TIFF",
    b"II+\x00": "TIFF",
    b"MM\x00+": "TIFF",
    b"\x93NUMPY": "NPY",
    b"PK": "NPZ (or another zip archive)",
    b"MATLAB 5.0": "MAT",
    b"MATLAB 7.3": "MAT 7.3",
    b"\x89HDF": "HDF5",
    b"\x80": "a Python pickle",
    b"%PDF": "PDF",
    b"\x1f\x8b": "gzip",
    b"version https://git-lfs": "a Git LFS pointer, not the file itself",
    b"<": "HTML or XML",
}


def read_bytes(path: Source) -> bytes:
    """Read a whole file."""
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        raise not_readable(path, error) from None
    if not data:
        raise DataError(shown(path), EMPTY, "write the file anew")
    return data


def not_readable(path: Source, error: OSError | ValueError) -> DataError:
    """Say why a file cannot be opened or read."""
    name = shown(path)
    if isinstance(error, FileNotFoundError):
        return DataError(name, "there is no such file", "check the path")
    # Windows answers the reading of a folder with a lack of permission.
    if isinstance(error, IsADirectoryError) or (
        isinstance(error, PermissionError) and isinstance(path, Path) and path.is_dir()
    ):
        return DataError(name, "is a folder, expected a file", "give the file, or folders on both sides")
    if isinstance(error, PermissionError):
        return DataError(name, "may not be read (permission denied)", "change its permissions")
    if isinstance(error, OSError):
        hint = "the links lead in a circle" if error.errno == errno.ELOOP else "check the path and the disk"
        return DataError(name, f"cannot be read ({error.strerror})", hint)
    return DataError(name, "is no name a file can have", "check the path")


def decode(data: bytes, path: Source, *, role: Role, colours: bool = False) -> Decoded:
    """Decode the bytes of one image or array file; `colours` keeps those of images, see `packed_colours`."""
    return _guarded(data, path, lambda: _decode(data, path, role, colours=colours))


def decode_stack(data: bytes, path: Source, *, role: Role = "prediction") -> NDArray[Any]:
    """Decode an NPY or NPZ file that may hold several soft maps in one array."""
    name = shown(path)
    is_npy = path.suffix.lower() == ".npy"
    return _guarded(
        data,
        path,
        lambda: as_stack(decode_npy(data, name) if is_npy else decode_npz(data, name, "prediction"), name, role),
    )


def _guarded(data: bytes, path: Source, decoding: Callable[[], Answer]) -> Answer:
    """Let no exception out of a decoder but ours."""
    name = shown(path)
    try:
        with quiet():
            return decoding()
    except DataError:
        raise
    except MemoryError:
        raise DataError(name, "does not fit into memory", "cut it into parts") from None
    except Exception as error:
        raise _damaged(data, path, error) from error


def _decode(data: bytes, path: Source, role: Role, *, colours: bool) -> Decoded:
    extension, name = path.suffix.lower(), shown(path)
    if extension in FORMATS:
        return decode_raster(data, FORMATS[extension], name, role, colours=colours)
    if extension in tiff.EXTENSIONS:
        return tiff.decode_tiff(data, name, role)
    if extension in netpbm.EXTENSIONS:
        return netpbm.decode_netpbm(data, name)
    if extension in matlab.EXTENSIONS:
        return matlab.one_map(matlab.read_mat(data, path), path, role)
    if extension == ".npy":
        return as_map(decode_npy(data, name), name, role)
    if extension == ".npz":
        return as_map(decode_npz(data, name, role), name, role)
    raise DataError(name, f"extension {shown(extension)!r}, expected one of {' '.join(EXTENSIONS)}", "convert the file")


def _damaged(data: bytes, path: Source, error: Exception) -> DataError:
    """Say in one sentence why a decoder gave up."""
    expected = path.suffix.lower().removeprefix(".").upper()
    looks = next((form for magic, form in MAGIC.items() if data.startswith(magic)), "")
    if looks and not _same_form(looks, path.suffix.lower()):
        return DataError(shown(path), f"looks like {looks} although its name says {expected}", "rename or convert it")
    if not looks and path.suffix.lower() not in (".pbm", ".pgm"):
        return DataError(shown(path), f"is no {expected} file (starts with {data[:8]!r})", "write the file anew")
    reason = shown(" ".join(str(error).split()) or type(error).__name__)
    return DataError(shown(path), f"damaged or truncated {expected} file ({reason})", "write the file anew")


def _same_form(looks: str, extension: str) -> bool:
    form: Any = FORMATS.get(extension, extension.removeprefix("."))
    return looks.split(maxsplit=1)[0].upper().startswith(form.upper())
