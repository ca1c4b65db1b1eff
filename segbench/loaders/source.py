"""Where the bytes of one file are, so that nothing else knows folders from archives and URLs."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Protocol


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
        return Path(self.path).read_bytes()

    def within(self, folder: Path) -> LocalFile:
        """Give the same file with an absolute path, where it is relative to a folder."""
        return LocalFile(os.path.join(folder, self.path))  # noqa: PTH118  as said
