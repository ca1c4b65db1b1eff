"""Sizes and types of files without decoding them, as the libraries that open each format say."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

from segbench.loaders.decoded import Header, Role, Source
from segbench.loaders.images import BY_EXTENSION, quiet
from segbench.loaders.remote import Remote
from segbench.loaders.source import LocalFile, empty, not_readable, refuse_endless


def read_header(path: Source, role: Role) -> Header:
    """Read the header of an image or array file; that of a file at a URL is left open."""
    if isinstance(path, Remote):
        return Header()
    try:
        with opened(path) as file:
            size = file.seek(0, io.SEEK_END)
            file.seek(0)
            if not size:
                raise empty(path)
            try:
                with quiet():
                    header = BY_EXTENSION[path.suffix.lower()].header(file, role)
            except Exception:  # noqa: BLE001  whatever a library makes of damaged bytes
                header = Header(odd=True)
            return replace(header, size=size)
    except (OSError, ValueError) as error:
        raise not_readable(path, error) from None


def opened(source: Source) -> io.BufferedReader | io.BytesIO:
    """Open a local file, or the bytes of a member of an archive."""
    if not isinstance(source, LocalFile):
        return io.BytesIO(source.read_bytes())
    refuse_endless(source)
    return Path(source).open("rb")
