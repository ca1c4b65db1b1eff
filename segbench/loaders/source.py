"""Where the bytes of one file are, and which places are URLs; nothing else knows folders from archives and URLs."""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Protocol
from urllib.parse import unquote

from segbench.core.errors import DataError
from segbench.loaders.decoded import shown

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(?:::[A-Za-z][A-Za-z0-9+.-]+)*://")
_USER = re.compile(r"(?<=://)[^/?#\s'\"]*@")
_QUERY = re.compile(r"(://[^\s?#'\"]*)[?#][^\s'\")]*")


def is_url(place: str) -> bool:
    """Whether a place is a URL (``s3://bucket/gt``, or ``zip://::https://host/gt.zip``), not a path."""
    return bool(_SCHEME.match(place))


def masked(text: str) -> str:
    """Hide user, password, query and fragment of every URL in a text: they may be keys to it."""
    return _QUERY.sub(r"\1?***", _USER.sub("***@", text))


def url_path(url: str) -> str:
    """Give the path of a URL, of a chain that of its last part, without query."""
    return unquote(re.split(r"[?#]", url.rpartition("://")[2], maxsplit=1)[0])


def last_name(place: str) -> str:
    """Give the last part of a path or URL."""
    return url_path(place).rstrip("/").rpartition("/")[2] if is_url(place) else Path(place).absolute().name


class Source(Protocol):
    """Where the bytes of one file are, fit to be sent to a worker; its text is what people are shown.

    `LocalFile`, `TarMember`, `ZipMember` and `Remote` are the ones that are listed; `pathlib.Path` is one, too.
    """

    def __hash__(self) -> int:
        """Identify files, as keys."""

    @property
    def name(self) -> str:
        """The last part of its path."""

    @property
    def suffix(self) -> str:
        """The extension, with its dot."""

    def read_bytes(self) -> bytes:
        """Give the whole content; an `OSError` or a `DataError` says why not."""


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file on disk; a `Path` takes a third of a kilobyte more, and a million of them are slow to make."""

    path: str

    def __str__(self) -> str:
        return self.path

    def __fspath__(self) -> str:
        return self.path

    @property
    def name(self) -> str:
        """The last part of its path."""
        return os.path.basename(self.path)  # noqa: PTH119  as said

    @property
    def suffix(self) -> str:
        """The extension, with its dot."""
        return PurePath(self.path).suffix

    def read_bytes(self) -> bytes:
        """Give the whole content."""
        refuse_endless(self.path)
        return Path(self.path).read_bytes()

    def within(self, folder: Path) -> LocalFile:
        """Give the same file with an absolute path, where it is relative to a folder."""
        return LocalFile(os.path.join(folder, self.path))  # noqa: PTH118  as said


def refuse_endless(path: str) -> None:
    """Refuse a pipe or a device in place of an image or a folder: it may have no end, and is read only once."""
    with suppress(OSError, ValueError):  # of a file that cannot be opened either
        mode = os.stat(path).st_mode  # noqa: PTH116  a Path takes longer, and this is done for every image
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            kind = "pipe" if stat.S_ISFIFO(mode) else "device"
            raise DataError(shown(path), f"is a {kind}, expected a file or a folder", "save its content as a file")
