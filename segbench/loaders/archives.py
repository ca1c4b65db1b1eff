"""The members of archives, read in place; names are only names, and nothing is written under them.

``.zip`` and ``.tar`` are gone through once; each member notes where its bytes lie, so that a worker reads it without
the archive's directory. ``.tar.gz`` and ``.tgz`` have no such places: each is unpacked once into a temporary ``.tar``,
which is deleted when the program ends, or after a kill when another one is unpacked; a worker on another machine makes
its own. Nothing else is written.
"""

from __future__ import annotations

import atexit
import gzip
import io
import os
import shutil
import stat
import struct
import tarfile
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import IO, NamedTuple, Self

from segbench.core.errors import DataError
from segbench.core.messages import Message
from segbench.core.temporary import lock, remove_left_behind
from segbench.loaders.decoded import MAX_PIXELS
from segbench.loaders.endings import extension_of
from segbench.loaders.images import EXTENSIONS, OF_VOLUMES
from segbench.loaders.source import (
    CLUTTER,
    refuse_pointer,
    shown,
)
from segbench.loaders.volumes import MAX_BYTES_OF_VOLUMES

MAX_BYTES = 8 * MAX_PIXELS + 2**16
"""What one member may unpack to, unless it is a volume: the largest image, in 64-bit numbers, with a header."""
MAX_UNPACKED = 2**37
"""What a ``.tar.gz`` may unpack to, besides half of what is free in the temporary folder."""

_GZIPPED = (".tar.gz", ".tgz")
_PREFIX = "segbench-unpacked-"
_PIECE = 2**20
_HEAD = 64
_LONGEST_HEADER = 2**16
"""Python's reader takes the square of a header's length where it is damaged."""
_LOCAL_HEADER = struct.Struct("<4s22xHH")
_REPACK = "pack it again"


@dataclass(frozen=True)
class Archive:
    """An archive as it was when it was listed: if its time or size differs, places of its members may be wrong."""

    path: str
    modified: int
    size: int
    unpacked: str = field(default="", compare=False)
    """The file that places refer to, where it is not the archive itself."""

    @property
    def is_zip(self) -> bool:
        """Whether it has a directory of its members."""
        return self.path.lower().endswith(".zip")

    @classmethod
    def at(cls, path: str) -> Archive:
        """Look at an archive."""
        status = os.stat(path)  # noqa: PTH116  a str, as it is opened
        return cls(path, status.st_mtime_ns, status.st_size)

    def unpacked_here(self) -> Archive:
        """Return an archive whose members can be read in place: a gzip file is unpacked; a pointer is refused."""
        with Path(self.path).open("rb") as file:
            refuse_pointer(file.read(_HEAD), shown(self.path))
        return replace(self, unpacked=_unpacked_here(self)) if self.path.lower().endswith(_GZIPPED) else self

    def read_at(self, offset: int, size: int) -> bytes:
        """Read bytes of the archive as it was, fewer where it ends."""
        if self != Archive.at(self.path):
            raise DataError(shown(self.path), Message("changed", "has changed since the run began"), "repeat the run")
        path = self.unpacked or self.path
        if self.unpacked and not os.path.exists(path):  # noqa: PTH110  a str, as below
            path = _unpacked_here(self)  # this worker runs on another machine
        with open(path, "rb") as file:  # noqa: PTH123  a str, since it is opened for every image
            file.seek(offset)
            return file.read(size)


class Member(NamedTuple):
    """A file in an archive; the last three are of a zip alone, where `offset` is that of its header."""

    archive: Archive
    inside: str
    offset: int  # in the (unpacked) archive
    size: int
    packed: int = -1
    deflated: int = 0
    checksum: int = 0  # the CRC-32 of its content

    def __str__(self) -> str:
        return f"{self.archive.path}/{self.inside}"

    @property
    def name(self) -> str:
        """The last part of its name."""
        return self.inside.rpartition("/")[2]

    @property
    def suffix(self) -> str:
        """Its extension, in lower case."""
        return extension_of(self.inside)

    def read_bytes(self) -> bytes:
        """Read its content."""
        if self.packed >= 0:
            return self._unzipped()
        data = self.archive.read_at(self.offset, self.size)
        if len(data) != self.size:
            problem = Message(
                "damaged", "truncated: {found} of {expected} bytes are there", found=len(data), expected=self.size
            )
            raise DataError(shown(self), problem, _REPACK)
        return data

    def _unzipped(self) -> bytes:
        """Read the content of a member of a zip, checked; it is unpacked no further than its stated size."""
        header = self.archive.read_at(self.offset, _LOCAL_HEADER.size)
        if len(header) != _LOCAL_HEADER.size or not header.startswith(b"PK\3\4"):
            raise DataError(shown(self), Message("damaged", "is not where the archive's directory says"), _REPACK)
        _, name, extra = _LOCAL_HEADER.unpack(header)
        data = self.archive.read_at(self.offset + _LOCAL_HEADER.size + name + extra, self.packed)
        if self.deflated:
            try:
                data = zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, self.size + 1)
            except zlib.error as error:
                problem = Message("damaged", "damaged in the archive ({reason})", reason=str(error))
                raise DataError(shown(self), problem, _REPACK) from None
        if len(data) != self.size or zlib.crc32(data) != self.checksum:
            problem = Message("damaged", "damaged in the archive: length or checksum differs")
            raise DataError(shown(self), problem, _REPACK)
        return data


def inner_name(name: str) -> str | None:
    r"""Return a name found in an archive as a path that stays inside; None for clutter.

    Leading slashes and ``..`` go, as archivers drop them: nothing may be written outside by such a name.
    """
    parts = [part for part in name.replace(os.sep, "/").split("/") if part not in ("", ".", "..")]
    return None if not parts or any(map(CLUTTER.fullmatch, parts)) else "/".join(parts)


def members_of(archive: Archive, others: Counter[str], faults: list[Message]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the path and the location of every member, see `Member`; count and list those that cannot be read."""
    try:
        yield from _zip_members(archive, faults) if archive.is_zip else _tar_members(archive, others, faults)
    except (DataError, OSError):
        raise
    except Exception as error:
        reason = shown(" ".join(str(error).split()) or type(error).__name__)
        problem = Message("damaged", "damaged or truncated archive ({reason})", reason=reason)
        raise DataError(shown(archive.path), problem, _REPACK) from error


def _tar_members(
    archive: Archive, others: Counter[str], faults: list[Message]
) -> Iterable[tuple[str, tuple[int, ...]]]:
    with _Headers(archive.unpacked or archive.path) as file, tarfile.TarFile(fileobj=file, tarinfo=_File) as tar:
        for info in tar:
            tar.members.clear()  # type: ignore[attr-defined]  # typeshed lacks it; else all headers stay in memory
            if info.size < 0:
                raise tarfile.ReadError(f"a member of {info.size} bytes")
            inside = inner_name(info.name)
            if inside is None or info.isdir():
                continue
            known = extension_of(inside) in EXTENSIONS
            if known and (info.issym() or info.islnk()):
                target = shown(info.linkname)
                faults.append(Message("link", "{member} is a link to {target}", member=shown(info.name), target=target))
            elif known and info.issparse():
                faults.append(Message("sparse", "{member} is stored as a sparse file", member=shown(info.name)))
            elif known and info.isreg() and info.size > _most_bytes(inside):
                faults.append(_too_large(info.name, info.size))
            elif info.isreg():
                yield inside, (info.offset_data, info.size)
            else:
                others["links" if info.issym() or info.islnk() else "pipes and devices"] += 1
        file.seek(tar.offset)
        if file.read(tarfile.BLOCKSIZE).strip(b"\0"):
            raise tarfile.ReadError(f"no header at byte {tar.offset}")


class _Headers(io.FileIO):
    """A file of which no more is read at once than a header can hold, whatever the header says."""

    def seek(self, position: int, whence: int = os.SEEK_SET, /) -> int:
        if position < 0:
            raise tarfile.ReadError(f"a header at byte {position}")
        return super().seek(position, whence)

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or not 0 <= size <= _LONGEST_HEADER:  # newer Pythons read long ones in parts of 1 MiB
            raise tarfile.ReadError("a header of impossible length")
        return super().read(size)


class _File(tarfile.TarInfo):
    """A member of which no more is read than its name and size, where it is a file with a short name."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        # Python's reader takes twice as long, most of it for owners, times and the like, and there may be millions.
        if len(buf) == tarfile.BLOCKSIZE and buf[156:157] == tarfile.REGTYPE and not buf[345]:
            name, size, checksum = (bytes(part).partition(b"\0")[0] for part in (buf[:100], buf[124:136], buf[148:156]))
            with suppress(ValueError):  # numbers of other kinds
                if sum(buf) - sum(buf[148:156]) + 8 * ord(" ") == int(checksum, 8):
                    info = cls(name.decode(encoding, errors))
                    info.size = int(size, 8)
                    return info
        return super().frombuf(buf, encoding, errors)


def _zip_members(archive: Archive, faults: list[Message]) -> Iterable[tuple[str, tuple[int, ...]]]:
    with zipfile.ZipFile(archive.path) as zipped:
        for info in zipped.infolist():
            inside = inner_name(info.filename)
            if inside is None or info.is_dir():
                continue
            fault = _zip_fault(info) if extension_of(inside) in EXTENSIONS else None
            if fault:
                faults.append(fault)
                continue
            deflated = info.compress_type == zipfile.ZIP_DEFLATED
            yield inside, (info.header_offset, info.file_size, info.compress_size, deflated, info.CRC)


def _zip_fault(info: zipfile.ZipInfo) -> Message | None:
    name = shown(info.filename)
    if stat.S_ISLNK(info.external_attr >> 16):
        return Message("link", "{member} is a link", member=name)
    if info.flag_bits & 1:
        return Message("encrypted", "{member} is encrypted", member=name)
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return Message(
            "other-compression",
            "{member} is packed by method {method}, expected 0 (stored) or 8 (deflated)",
            member=name,
            method=info.compress_type,
        )
    return _too_large(info.filename, info.file_size) if info.file_size > _most_bytes(info.filename) else None


def _most_bytes(member: str) -> int:
    """Return what a member may unpack to."""
    return MAX_BYTES_OF_VOLUMES if extension_of(member) in OF_VOLUMES else MAX_BYTES


def _too_large(member: str, size: int) -> Message:
    """Say that a member unpacks to more than the largest image."""
    return Message(
        "too-large",
        "{member} unpacks to {bytes} bytes, more than {most}",
        member=shown(member),
        bytes=size,
        most=_most_bytes(member),
    )


_unpacking = Lock()
_unpacked: dict[Archive, str] = {}


def _unpacked_here(archive: Archive) -> str:
    """Return the temporary file to which this process, or the one it was forked from, unpacked a gzip file."""
    with _unpacking:
        path = _unpacked.get(archive)
        if path is None or not os.path.exists(path):  # noqa: PTH110  a str, as it is opened for every image
            path = _unpacked[archive] = _unpack(archive.path)
        return path


def _unpack(source: str) -> str:
    """Unpack a gzip file into a temporary one, which is removed when the process ends."""
    remove_left_behind(Path(tempfile.gettempdir()), f"{_PREFIX}*.tar")
    most = min(MAX_UNPACKED, shutil.disk_usage(tempfile.gettempdir()).free // 2)
    with ExitStack() as undo:
        file = undo.enter_context(tempfile.NamedTemporaryFile(prefix=_PREFIX, suffix=".tar", delete=False))
        remove = undo.callback(partial(_remove, file, os.getpid()))
        with suppress(OSError):  # a file system without locks
            lock(file.fileno())
        try:
            with gzip.open(source) as packed:
                while file.tell() <= most and (piece := packed.read(_PIECE)):
                    file.write(piece)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            problem = Message("damaged", "damaged or truncated gzip file ({reason})", reason=str(error))
            raise DataError(shown(source), problem, _REPACK) from None
        if file.tell() > most:
            problem = Message(
                "too-large",
                "unpacks to more than {most} bytes, the limit in {folder}",
                most=most,
                folder=tempfile.gettempdir(),
            )
            raise DataError(shown(source), problem, "unpack it first, or set TMPDIR")
        file.flush()
        undo.pop_all()
    atexit.register(remove)
    return file.name


def _remove(file: IO[bytes], process: int) -> None:
    """Remove an unpacked file, which was open to keep its lock, unless this is a fork of the process that uses it."""
    if process == os.getpid():
        with suppress(OSError):
            file.close()
        with suppress(OSError):  # also where the disk was full
            os.unlink(file.name)  # noqa: PTH108  as it was made
