"""Where the bytes of one file are, so that nothing else knows folders from archives and URLs."""

from __future__ import annotations

from typing import Protocol


class Source(Protocol):
    """Where the bytes of one file are, fit to be sent to a worker; its text is what people are shown.

    `pathlib.Path` is one; `TarMember`, `ZipMember` and `Remote` are the others.
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
