"""What an archive holds, or a folder of archives (shards).

``.zip``, ``.tar``, and ``.tar.gz`` or ``.tgz``, which is read from its beginning: each worker unpacks it, in memory, as
far as it must. An archive is gone through once; each member notes where its bytes lie.
"""

from __future__ import annotations

import stat
import sys
import tarfile
import zipfile
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from segbench.core.errors import DataError
from segbench.loaders.decoded import listed, shown
from segbench.loaders.entries import KNOWN, Entry, Listing, gathered, inner_name, split_extension
from segbench.loaders.images import not_readable
from segbench.loaders.members import MAX_BYTES, Archive, TarMember, ZipMember
from segbench.loaders.source import Source
from segbench.loaders.urls import last_name

EXTENSIONS = (".zip", ".tar", ".tar.gz", ".tgz")
_LONGEST_HEADER = 2**16
"""Python's reader takes the square of a header's length where it is damaged."""
_HINT = "pack the files themselves (tar --dereference --hard-dereference), stored or deflated, without a password"


def is_archive(name: str) -> bool:
    """Whether a file name is that of an archive."""
    return name.lower().endswith(EXTENSIONS)


def method_name(place: str) -> str:
    """Give the name of the method whose predictions lie in a folder, an archive, a file or at a URL."""
    name = last_name(place)
    ending = next((ending for ending in EXTENSIONS if name.lower().endswith(ending)), "")
    stem = name[: -len(ending)] if ending else name.rpartition(".")[0]
    return shown(stem or name)


def list_archive(path: str) -> Listing:
    """List an archive."""
    try:
        return _listed(Archive.at(path))
    except (OSError, ValueError) as error:
        raise not_readable(Path(path), error) from None


def list_shards(place: str, paths: Sequence[str]) -> Listing:
    """List several archives as one folder; what is wrong with any of them is said at once."""
    entries: list[Entry] = []
    notes: list[str] = []
    wrong: list[str] = []
    for path in paths:
        try:
            listing = list_archive(path)
        except DataError as error:
            wrong.append(str(error))
        else:
            entries += listing.entries
            notes += listing.notes
    if wrong:
        raise DataError(place, f"{len(wrong)} of {len(paths)} archives cannot be used:" + listed(wrong))
    entries.sort(key=lambda entry: (entry.stem, entry.extension))
    return Listing(tuple(entries), tuple(notes))


@lru_cache(maxsize=256)
def _listed(archive: Archive) -> Listing:
    """List an archive; kept, since each method of a run asks for the ground truth again."""
    others: Counter[str] = Counter()
    wrong: list[str] = []
    zipped = archive.path.lower().endswith(".zip")
    try:
        members = list(_zip_members(archive, wrong) if zipped else _tar_members(archive, others, wrong))
    except (DataError, OSError):
        raise
    except Exception as error:
        reason = shown(" ".join(str(error).split()) or type(error).__name__)
        raise DataError(shown(archive.path), f"damaged or truncated archive ({reason})", "pack it anew") from error
    if wrong:
        what = f"{len(wrong)} of its members cannot be read:{listed(wrong)}"
        raise DataError(shown(archive.path), what, _HINT)
    top = f"{method_name(archive.path)}/"
    cut = len(top) if all(inside.startswith(top) for inside, _ in members) else 0
    return gathered(shown(archive.path), ((inside[cut:], member) for inside, member in members), others)


def _tar_members(archive: Archive, others: Counter[str], wrong: list[str]) -> Iterable[tuple[str, Source]]:
    with tarfile.TarFile(fileobj=cast("Any", _Headers(archive))) as tar:
        for info in tar:
            if info.size < 0:
                raise tarfile.ReadError(f"a member of {info.size} bytes")
            inside = inner_name(info.name)
            if inside is None or info.isdir():
                continue
            known = split_extension(inside)[1] in KNOWN
            if known and (info.issym() or info.islnk()):
                wrong.append(f"{shown(info.name)} is a link to {shown(info.linkname)}")
            elif known and info.issparse():
                wrong.append(f"{shown(info.name)} is stored as a sparse file")
            elif known and info.isreg() and info.size > MAX_BYTES:
                wrong.append(f"{shown(info.name)} unpacks to {info.size} bytes, more than {MAX_BYTES}")
            elif info.isreg():
                yield inside, TarMember(archive, info.name, info.offset_data, info.size)
            else:
                others["links" if info.issym() or info.islnk() else "pipes and devices"] += 1
        if archive.read_at(tar.offset, tarfile.BLOCKSIZE).strip(b"\0"):
            raise tarfile.ReadError(f"no header at byte {tar.offset}")
        if archive.gzipped:
            archive.read_at(sys.maxsize, 1)  # to the end, where the checksum is


class _Headers:
    """A file as tarfile wants it, which reads no more at once than a header can hold, whatever the header says."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._position = 0

    def tell(self) -> int:
        return self._position

    def seek(self, position: int) -> None:
        if position < 0:
            raise tarfile.ReadError(f"a header at byte {position}")
        self._position = position

    def read(self, size: int) -> bytes:
        if not 0 <= size <= _LONGEST_HEADER:
            raise tarfile.ReadError(f"a header of {size} bytes")
        data = self._archive.read_at(self._position, size)
        self._position += len(data)
        return data


def _zip_members(archive: Archive, wrong: list[str]) -> Iterable[tuple[str, Source]]:
    with zipfile.ZipFile(archive.path) as zipped:
        for info in zipped.infolist():
            inside = inner_name(info.filename)
            if inside is None or info.is_dir():
                continue
            if split_extension(inside)[1] in KNOWN:
                fault = _zip_fault(info)
                if fault:
                    wrong.append(f"{shown(info.filename)} {fault}")
                    continue
            deflated = info.compress_type == zipfile.ZIP_DEFLATED
            yield (
                inside,
                ZipMember(
                    archive, info.filename, info.header_offset, info.file_size, info.compress_size, deflated, info.CRC
                ),
            )


def _zip_fault(info: zipfile.ZipInfo) -> str:
    if stat.S_ISLNK(info.external_attr >> 16):
        return "is a link"
    if info.flag_bits & 1:
        return "is encrypted"
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return f"is packed by method {info.compress_type}, expected 0 (stored) or 8 (deflated)"
    if info.file_size > MAX_BYTES:
        return f"unpacks to {info.file_size} bytes, more than {MAX_BYTES}"
    return ""
