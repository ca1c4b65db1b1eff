"""What a folder holds: the files that could be images or arrays, and what was left out and why."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from segbench.errors import DataError
from segbench.loaders.decoded import shown
from segbench.loaders.images import EXTENSIONS

CLUTTER = frozenset({"thumbs.db", "desktop.ini", "__macosx", "ehthumbs.db", "$recycle.bin"})


@dataclass(frozen=True)
class Entry:
    """One file of a folder.

    Parameters
    ----------
    stem : str
        Its path within the folder, posix, without extension.
    extension : str
        In lower case.
    path : str
        Where it lies.
    """

    stem: str
    extension: str
    path: str


@dataclass(frozen=True)
class Listing:
    """The files of a folder and its sub-folders, in order of their stems.

    Parameters
    ----------
    entries : tuple of Entry
        Files with a known extension. Dotfiles and what file managers leave behind are passed over in silence.
    notes : tuple of str
        What else was left out.
    """

    entries: tuple[Entry, ...]
    notes: tuple[str, ...]


def list_folder(folder: Path) -> Listing:
    """List a folder and its sub-folders.

    Parameters
    ----------
    folder : Path
        An existing folder. Links to folders are followed, each folder once.

    Returns
    -------
    Listing
        At least one entry.

    Raises
    ------
    DataError
        Where there is no such folder, it may not be read, or holds no file with a known extension.
    """
    name = shown(folder)
    others: Counter[str] = Counter()
    entries = []
    known = frozenset(EXTENSIONS)
    for prefix, file in _walk(str(folder), others):
        stem, dot, extension = file.name.rpartition(".")
        extension = (dot + extension).lower()
        if extension in known and stem:
            entries.append(Entry(prefix + stem, extension, file.path))
        else:
            others[shown(extension) if stem else "no extension"] += 1
    left_out = ", ".join(f"{kind} ({count})" for kind, count in sorted(others.items()))
    if not entries:
        what = f"has no image or array in it, only {left_out}" if left_out else "is an empty folder"
        raise DataError(name, what, f"files may end in {' '.join(EXTENSIONS)}")
    entries.sort(key=lambda entry: (entry.stem, entry.extension))
    notes = (f"{name}: {others.total()} other files left out: {left_out}",) if others else ()
    return Listing(tuple(entries), notes)


def _walk(root: str, others: Counter[str]) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Give every file with the sub-folder it lies in; a list of folders, not recursion, so depth has no limit."""
    seen: set[tuple[int, int]] = set()
    waiting = [("", root)]
    while waiting:
        prefix, folder = waiting.pop()
        try:
            status = os.stat(folder)  # noqa: PTH116  a Path for each of 100 000 names takes longer than the listing
            if (status.st_dev, status.st_ino) in seen:
                others["links to folders already listed"] += 1
                continue
            seen.add((status.st_dev, status.st_ino))
            with os.scandir(folder) as found:
                files = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            raise _unreadable(folder, error) from None
        for file in files:
            if file.name.startswith(".") or file.name.lower() in CLUTTER:
                continue
            kind = _kind(file)
            if kind == "folder":
                waiting.append((f"{prefix}{file.name}/", file.path))
            elif kind == "file":
                yield prefix, file
            else:
                others[kind] += 1


def _kind(entry: os.DirEntry[str]) -> str:
    try:
        if entry.is_dir():
            return "folder"
        if entry.is_file():
            return "file"
    except OSError:
        pass
    # A dead link to an image is listed, so that reading it says what is wrong instead of the image going missing.
    return "file" if entry.is_symlink() and not os.path.exists(entry.path) else "pipes and devices"  # noqa: PTH110


def _unreadable(folder: str, error: OSError) -> DataError:
    name = shown(folder)
    if isinstance(error, FileNotFoundError):
        return DataError(name, "there is no such folder", "check the path")
    if isinstance(error, NotADirectoryError):
        return DataError(name, "is a file, expected a folder", "give two files or two folders")
    return DataError(name, f"cannot be listed ({error.strerror})", "change its permissions")
