"""What a listing holds, whatever was listed: files that could be images or arrays, and what was left out and why."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from segbench.core.errors import DataError
from segbench.core.numbers import many
from segbench.loaders.decoded import shown
from segbench.loaders.images import EXTENSIONS
from segbench.loaders.source import LocalFile, Source

CLUTTER = frozenset({"thumbs.db", "desktop.ini", "__macosx", "ehthumbs.db", "$recycle.bin"})
KNOWN = frozenset(EXTENSIONS)
"""The extensions of files that are listed."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of a folder, an archive or a place on the net."""

    stem: str  # its path within the folder, posix, without extension
    extension: str  # in lower case
    source: Source


@dataclass(frozen=True)
class Listing:
    """The files of a folder and its sub-folders with a known extension, by stem; notes say what else was left out."""

    entries: tuple[Entry, ...]
    notes: tuple[str, ...]


def listing_of(place: str, files: Iterable[tuple[str, str | Source]], others: Counter[str]) -> Listing:
    """Keep the files with a known extension, in order, and say what the others are."""
    entries = []
    for inside, where in files:
        stem, extension = split_extension(inside)
        if extension in KNOWN:
            entries.append(Entry(stem, extension, LocalFile(where) if isinstance(where, str) else where))
        else:
            others[shown(extension) or "no extension"] += 1
    left_out = ", ".join(f"{kind} ({count})" for kind, count in sorted(others.items()))
    if not entries:
        what = f"contains no image or array, only {left_out}" if left_out else "is an empty folder"
        raise DataError(place, what, f"files may end in {' '.join(EXTENSIONS)}")
    entries.sort(key=lambda entry: (entry.stem, entry.extension))
    files_left = many(others.total(), "other file")
    notes = (f"{place}: {files_left} left out: {left_out}",) if others else ()
    return Listing(tuple(entries), notes)


def split_extension(name: str) -> tuple[str, str]:
    """Part a path from its extension, which is given in lower case; a name that is only dot and letters has none."""
    stem, dot, extension = name.rpartition(".")
    if not stem or stem.endswith("/") or "/" in extension:
        return name, ""
    return stem, (dot + extension).lower()


def is_clutter(name: str) -> bool:
    """Whether a file or folder is one that people do not see."""
    return name.startswith(".") or name.lower() in CLUTTER


def inner_name(name: str) -> str | None:
    r"""Give a name found in an archive or on a server as a path that stays inside; None for clutter.

    Leading slashes and ``..`` go, as archivers drop them: nothing may be written outside by such a name.
    """
    parts = [part for part in name.replace(os.sep, "/").split("/") if part not in ("", ".", "..")]
    return None if not parts or any(map(is_clutter, parts)) else "/".join(parts)
