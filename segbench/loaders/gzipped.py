"""The unpacked bytes of a gzip file at any place, in memory only."""

from __future__ import annotations

import zlib
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from zlib import _Decompress

SPACING = 2**24
"""Unpacked bytes from mark to mark: what a jump unpacks at most, against 40 KB of memory a mark."""
_CHUNK = 2**16
_LONGEST = 2**20
_GZIP = 31


@dataclass
class _Mark:
    """A place from which unpacking can go on."""

    unpacked: int
    packed: int
    inflater: _Decompress

    def copy(self) -> _Mark:
        return _Mark(self.unpacked, self.packed, self.inflater.copy())


class GzipReader:
    """A gzip file that remembers how far it was unpacked.

    Reading forward unpacks every byte once. While it does, a copy of the decompressor is kept every `SPACING` bytes,
    so that going back costs no more than unpacking from the mark before: the order of reading never makes the whole
    file be unpacked again. No file is held open.

    Parameters
    ----------
    path : str
        The file; several gzip streams one after another are one.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._lock = Lock()
        self._here = _Mark(0, 0, zlib.decompressobj(_GZIP))
        self._marks = [self._here.copy()]

    def read_at(self, offset: int, size: int) -> bytes:
        """Give `size` unpacked bytes from `offset` on, fewer at the end of the file."""
        with self._lock, open(self._path, "rb") as file:  # noqa: PTH123  a str, since it is opened for every image
            self._jump(offset)
            file.seek(self._here.packed)
            try:
                while self._here.unpacked < offset:
                    if not self._step(file, min(_CHUNK, offset - self._here.unpacked)):
                        return b""
                return b"".join(self._steps(file, size))
            except BaseException:
                self._here = self._marks[0].copy()  # what was being unpacked is lost
                raise

    def _steps(self, file: BinaryIO, size: int) -> Iterator[bytes]:
        while size and (part := self._step(file, min(_LONGEST, size))):
            size -= len(part)
            yield part

    def _jump(self, offset: int) -> None:
        """Go to the mark nearest before a place, unless going on from here is nearer."""
        mark = self._marks[bisect_right(self._marks, offset, key=lambda mark: mark.unpacked) - 1]
        if not mark.unpacked <= self._here.unpacked <= offset:
            self._here = mark.copy()

    def _step(self, file: BinaryIO, most: int) -> bytes:
        """Unpack the next bytes, at most `most`; none at the end."""
        here = self._here
        while True:
            if here.inflater.eof:
                after = here.packed - len(here.inflater.unused_data)
                file.seek(after)
                if not file.read(_CHUNK).strip(b"\0"):
                    return b""
                here.packed = file.seek(after)
                here.inflater = zlib.decompressobj(_GZIP)
            packed = here.inflater.unconsumed_tail
            if not packed:
                packed = file.read(_CHUNK)
                if not packed:
                    raise EOFError("the file ends too early")
                here.packed += len(packed)
            part = here.inflater.decompress(packed, most)
            if part:
                here.unpacked += len(part)
                if here.unpacked - self._marks[-1].unpacked >= SPACING:
                    self._marks.append(here.copy())
                return part
