"""What a folder holds, wherever it is: on disk, in an archive, or in a folder of archives."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeVar

from segbench.core.errors import DataError
from segbench.core.messages import Message, Note
from segbench.loaders.archives import list_archive, list_shards, listed_members
from segbench.loaders.decoded import shown
from segbench.loaders.source import (
    KNOWN,
    Listing,
    LocalFile,
    empty,
    files_below,
    is_archive,
    listing_of,
    not_readable,
    read_bounded,
    refuse_endless,
)

LARGEST_LIST = 2**28
"""Bytes of a file list, or of a list of names: enough for a million images."""


def is_file(path: str) -> bool:
    """Whether a place is one image or array, not a folder or what is read as one."""
    is_single_file = os.path.exists(path) and not os.path.isdir(path)  # noqa: PTH110, PTH112  a str, which may hold a null
    return is_single_file and not is_archive(path)


Answer = TypeVar("Answer")
_LISTED: ContextVar[dict[tuple[str, str], Any] | None] = ContextVar("_LISTED", default=None)


@contextmanager
def listed_once() -> Iterator[None]:
    """List each place, and read each file list, once while open: what is checked is counted, and lists may be pipes."""
    known = _LISTED.get()
    token = _LISTED.set({} if known is None else known)
    try:
        yield
    finally:
        _LISTED.reset(token)


def forget_listings() -> None:
    """Forget what was listed, which can be listed again; texts stay, which may have come from a pipe."""
    known = _LISTED.get() or {}
    for key in [key for key in known if key[0] == "place"]:
        del known[key]
    listed_members.cache_clear()


def list_place(path: str) -> Listing:
    """List a folder with its sub-folders, an archive, or a folder of archives."""
    return once("place", path, _list)


def once(kind: str, path: str, read: Callable[[str], Answer]) -> Answer:
    """Return what a function reads at a path; while `listed_once` is open, read it a single time."""
    known = _LISTED.get()
    if known is None:
        return read(path)
    key = (kind, os.path.abspath(path))  # noqa: PTH100  a str is enough
    if key not in known:
        known[key] = read(path)
    answer: Answer = known[key]
    return answer


def read_text(file: str, expected: str) -> str:
    """Read a text file in UTF-8, a single time while `listed_once` is open."""

    def read(path: str) -> bytes:
        try:
            most = Message(
                "expected", "{expected} of at most {megabytes} MB", expected=expected, megabytes=LARGEST_LIST >> 20
            )
            data = read_bounded(path, LARGEST_LIST, most, "correct its path, or split the list")
        except (OSError, ValueError) as error:
            raise not_readable(LocalFile(path), error) from None
        if not data:
            raise empty(LocalFile(path))
        return data

    try:
        return once("text", file, read).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        problem = Message(
            "not-utf-8", "is not in UTF-8 (at byte {byte}), expected {expected}", byte=error.start, expected=expected
        )
        raise DataError(shown(file), problem, "save it as UTF-8") from None


def _list(path: str) -> Listing:
    if "://" in path and not os.path.lexists(path):
        problem = Message("url", "is a URL, expected a folder on disk")
        raise DataError(shown(path), problem, "download it or mount it first")
    refuse_endless(path)
    if is_archive(path) and not os.path.isdir(path):  # noqa: PTH112  as above
        return list_archive(os.path.abspath(path))  # noqa: PTH100  as above; workers may be in another folder
    return list_folder(Path(path))


def list_folder(folder: Path) -> Listing:
    """List a folder and its sub-folders; where these hold archives but no image, what the archives hold."""
    others: Counter[str] = Counter()
    entries = files_below(str(folder), others)
    shards = []
    if not any(suffix.lower() in KNOWN for suffix in set(entries.suffixes)):
        shards = [os.path.abspath(str(file.source)) for file in entries if is_archive(str(file.source))]  # noqa: PTH100  as above
    if shards:
        listing = list_shards(shown(folder), sorted(shards))
        beside = others.total() + len(entries) - len(shards)
        left_out = Message(
            "files-beside-archives",
            "{place}: left out {files:many file} beside archives",
            place=shown(folder),
            files=beside,
        )
        return listing._replace(notes=(*([Note(left_out)] if beside else []), *listing.notes))
    return listing_of(shown(folder), entries, others)
