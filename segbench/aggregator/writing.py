"""Output files: complete or not written at all, and never in place of what the program reads."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from segbench.aggregator.store import is_results_file, writable
from segbench.core.errors import ArgumentError, DataError
from segbench.loaders.decoded import Source, shown
from segbench.loaders.source import LocalFile

_NOT_REPLACEABLE = frozenset({errno.EACCES, errno.EPERM, errno.EBUSY})
"""Errors of a folder, or a mounted file, that lets a file be written but not replaced."""


def write_file(path: Path, data: bytes, *, hint: str, make_folder: bool = False) -> None:
    """Write a file by way of a temporary one beside it, so that a failure leaves an existing file as it was.

    Links still point to the same file, which keeps its permissions. Pipes and devices are written directly, and so are
    files in folders that do not take a temporary one.
    """
    refuse_results_file(path)
    try:
        if make_folder:
            path.parent.mkdir(parents=True, exist_ok=True)
        _write(path, data)
    except UnicodeEncodeError as error:
        what = f"the file system's encoding, {error.encoding}, has no such name"
        raise DataError(shown(path), what, "set a UTF-8 locale: LC_ALL=C.UTF-8") from error
    except OSError as error:
        raise DataError(shown(path), f"cannot be written ({error.strerror or error})", hint) from error


def refuse_results_file(path: Path) -> None:
    """Refuse to write over a results file, whatever its name."""
    if is_results_file(path):
        raise ArgumentError(f"{shown(path)} is a results file of segbench, which is not overwritten; give another name")


def refuse_place(path: Path) -> None:
    """Refuse, before the work is done, to write where no file can be made, or over one that others wrote."""
    refuse_results_file(path)
    if not path.parent.is_dir():
        raise DataError(shown(path), "its folder does not exist", "make the folder first, or give another file name")
    if not path.exists() and not writable(path.parent):
        raise DataError(shown(path), "may not be made in its folder", "check permissions, or give another file name")
    if path.is_file() and path.stat().st_size and b"segbench" not in path.read_bytes():
        raise ArgumentError(f"{shown(path)} was not written by segbench and is kept; name another file")


def refuse_inputs(targets: Iterable[Path], sources: Iterable[Source]) -> None:
    """Refuse to write over files that are read, also by another path or where upper and lower case are one."""
    existing = [(target, known) for target in targets if (known := identity_of(target))]
    read = {identity_of(source) for source in sources if isinstance(source, LocalFile)} if existing else set()
    for target, known in existing:
        if known in read:
            raise ArgumentError(f"{shown(target)} is one of the files to read; write to another folder")


def identity_of(path: str | Path) -> tuple[int, int] | None:
    """Say which file a path leads to, however it is spelt; None if there is none."""
    try:
        status = os.stat(path)  # noqa: PTH116  a str for each of many thousands
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _write(path: Path, data: bytes) -> None:
    target = Path(os.path.realpath(path))
    old = None
    with suppress(FileNotFoundError):
        old = path.stat()
    if old is None:
        _replace(target, data, None)
        return
    # A deleted file that is still open, as in /dev/fd, is not where its resolved path leads.
    replaceable = stat.S_ISREG(old.st_mode) and identity_of(target) == (old.st_dev, old.st_ino)
    if replaceable:
        target.open("r+b").close()  # a write-protected file is not replaced either
        try:
            _replace(target, data, old)
        except OSError as error:
            replaceable = error.errno not in _NOT_REPLACEABLE
            if replaceable:
                raise
    if not replaceable:
        path.write_bytes(data)


def _replace(target: Path, data: bytes, old: os.stat_result | None) -> None:
    temporary = target.with_name(f".segbench-{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(data)
        if old is not None:
            if hasattr(os, "chown"):
                with suppress(OSError):  # only root may give a file to others
                    os.chown(temporary, old.st_uid, old.st_gid)
            temporary.chmod(stat.S_IMODE(old.st_mode))
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
