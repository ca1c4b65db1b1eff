"""Temporary files that outlive no process for long: each is locked while its process lives.

A process that is killed leaves its files behind without a lock, and the next one removes them.
"""

from __future__ import annotations

import hashlib
import os
import platform
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

# Not all network disks share locks, so that each machine removes its own files only.
_PREFIX = f".segbench-{hashlib.sha256(platform.node().encode()).hexdigest()[:8]}-"
_HOUR = 3600.0
_PARTS = ("-db", "-db-wal", "-db-shm", "-db-journal", "")
"""Endings of a temporary file and of the database that may be written beside it."""


@contextmanager
def temporary_file(folder: Path) -> Iterator[BinaryIO]:
    """Open a new locked file; in the end, remove it, and a database whose name is that of the file with -db."""
    path = folder / f"{_PREFIX}{secrets.token_hex(8)}.tmp"
    with path.open("xb") as file:
        try:
            with suppress(OSError):  # a file system without locks
                lock(file.fileno())
            yield file
        finally:
            _remove(path)


def remove_left_behind(folder: Path, pattern: str = f"{_PREFIX}*.tmp") -> None:
    """Remove what killed processes left in a folder: their locks ended with them and their forks."""
    for path in folder.glob(pattern):
        with suppress(OSError), path.open("rb") as file:  # another user's, or locked
            status = os.fstat(file.fileno())  # before it is locked, a file is new and empty
            if (status.st_size or time.time() - status.st_mtime > _HOUR) and lock(file.fileno()):
                _remove(path)


def lock(file: int) -> bool:
    """Lock a file until it is closed; False where systems have no such locks."""
    try:
        import fcntl
    except ImportError:  # on Windows
        return False
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return True


def _remove(path: Path) -> None:
    for ending in _PARTS:
        with suppress(OSError):  # it was never made, or was moved where it belongs
            path.with_name(f"{path.name}{ending}").unlink()
