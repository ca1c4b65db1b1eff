"""One file within an archive, read where it lies: nothing is unpacked to disk, and names never touch the file system.

A member knows its archive, and where in it its bytes begin, so a worker reads it without a look at the archive's
directory. What it holds is checked: length, and in zip archives the checksum.
"""

from __future__ import annotations

import os
import struct
import zlib
from dataclasses import dataclass
from functools import lru_cache

from segbench.core.errors import DataError
from segbench.loaders.decoded import MAX_PIXELS, shown
from segbench.loaders.entries import split_extension
from segbench.loaders.gzipped import GzipReader

MAX_BYTES = 8 * MAX_PIXELS + 2**16
"""What one member may unpack to: the largest image, in 64-bit numbers, with a header."""

_GZIPPED = (".tar.gz", ".tgz")
_LOCAL_HEADER = struct.Struct("<4s22xHH")
_REPACK = "pack it anew"


@dataclass(frozen=True)
class Archive:
    """An archive as it was when it was listed.

    Parameters
    ----------
    path : str
        Where it lies.
    modified, size : int
        Time in nanoseconds and length in bytes: if either differs, places noted of its members may be wrong.
    """

    path: str
    modified: int
    size: int

    @classmethod
    def at(cls, path: str) -> Archive:
        """Look at an archive."""
        status = os.stat(path)  # noqa: PTH116  a str, as it is opened
        return cls(path, status.st_mtime_ns, status.st_size)

    @property
    def gzipped(self) -> bool:
        """Whether it is packed as a whole, so that it is read from its beginning."""
        return self.path.lower().endswith(_GZIPPED)

    def read_at(self, offset: int, size: int) -> bytes:
        """Give bytes of the (unpacked) archive, fewer where it ends."""
        if self != Archive.at(self.path):
            raise DataError(shown(self.path), "has changed since the run began", "repeat the run")
        if self.gzipped:
            try:
                return _gzip_reader(self, os.getpid()).read_at(offset, size)
            except (EOFError, zlib.error) as error:
                what = f"damaged or truncated gzip file ({error})"
                raise DataError(shown(self.path), what, _REPACK) from None
        with open(self.path, "rb") as file:  # noqa: PTH123  a str, since it is opened for every image
            file.seek(offset)
            return file.read(size)


@lru_cache(maxsize=16)
def _gzip_reader(archive: Archive, process: int) -> GzipReader:  # noqa: ARG001  a fork must not share its parent's
    return GzipReader(archive.path)


@dataclass(frozen=True)
class TarMember:
    """A file in a tar archive.

    Parameters
    ----------
    archive : Archive
        Where it lies.
    inside : str
        Its name there.
    offset, size : int
        Where its bytes begin in the unpacked archive, and their number.
    """

    archive: Archive
    inside: str
    offset: int
    size: int

    def __str__(self) -> str:
        return f"{self.archive.path}/{self.inside}"

    @property
    def name(self) -> str:
        """The last part of its name."""
        return self.inside.rpartition("/")[2]

    @property
    def suffix(self) -> str:
        """Its extension, in lower case."""
        return split_extension(self.inside)[1]

    def read_bytes(self) -> bytes:
        """Give its content."""
        data = self.archive.read_at(self.offset, self.size)
        if len(data) != self.size:
            raise DataError(shown(self), f"truncated: {len(data)} of {self.size} bytes are there", _REPACK)
        return data


@dataclass(frozen=True)
class ZipMember(TarMember):
    """A file in a zip archive; its `offset` is that of its header.

    Parameters
    ----------
    packed : int
        Bytes it takes in the archive.
    deflated : bool
        Whether these are deflated, or the content itself.
    checksum : int
        CRC-32 of the content.
    """

    packed: int
    deflated: bool
    checksum: int

    def read_bytes(self) -> bytes:
        """Give its content, checked; it is unpacked no further than its stated size."""
        header = self.archive.read_at(self.offset, _LOCAL_HEADER.size)
        if len(header) != _LOCAL_HEADER.size or not header.startswith(b"PK\3\4"):
            raise DataError(shown(self), "is not where the archive's directory says", _REPACK)
        _, name, extra = _LOCAL_HEADER.unpack(header)
        data = self.archive.read_at(self.offset + _LOCAL_HEADER.size + name + extra, self.packed)
        if self.deflated:
            inflater = zlib.decompressobj(-zlib.MAX_WBITS)
            try:
                data = inflater.decompress(data, self.size + 1)
            except zlib.error as error:
                raise DataError(shown(self), f"damaged in the archive ({error})", _REPACK) from None
        if len(data) != self.size or zlib.crc32(data) != self.checksum:
            raise DataError(shown(self), "damaged in the archive: length or checksum differs", _REPACK)
        return data
