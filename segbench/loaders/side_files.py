"""Files that users name beside images, such as lists, presets and palettes: none is read without a bound."""

from __future__ import annotations

import os
import stat
import time
from os import PathLike, fspath

from segbench.core.errors import DataError
from segbench.loaders.decoded import shown

_PATIENCE = 5.0
"""Seconds for which a pipe that has a name may have no writer."""
_PAUSE = 0.02
_OPENED_BY_SHELL = ("/dev/", "/proc/")


def read_bounded(place: str | PathLike[str], most: int, expected: str, hint: str) -> bytes:
    """Read a file, or what comes through a pipe, of at most so many bytes; `OSError` where it cannot be read."""
    name = shown(place)
    with open(place, "rb", buffering=0, opener=_open_at_once) as file:
        status = os.fstat(file.fileno())
        regular = stat.S_ISREG(status.st_mode)
        if regular and status.st_size > most:
            raise DataError(name, f"has {status.st_size} bytes, expected {expected}", hint)
        data = b""
        if not regular:
            if stat.S_ISFIFO(status.st_mode) and not os.path.abspath(fspath(place)).startswith(_OPENED_BY_SHELL):  # noqa: PTH100
                data = _first_byte(file.fileno(), name)
            os.set_blocking(file.fileno(), True)
        parts = [data]
        left = most + 1 - len(data)
        while left and (part := file.read(left)):
            parts.append(part)
            left -= len(part)
        if not left:
            raise DataError(name, f"goes on after {most} bytes, expected {expected}", hint)
    return b"".join(parts)


def _open_at_once(place: str, flags: int) -> int:
    """Open a file; a pipe without waiting for its writer."""
    return os.open(place, flags | getattr(os, "O_NONBLOCK", 0))


def _first_byte(pipe: int, name: str) -> bytes:
    """Wait until a pipe has a writer; give its first byte, or nothing if it has written none as yet."""
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        try:
            if byte := os.read(pipe, 1):
                return byte
        except BlockingIOError:
            return b""
        time.sleep(_PAUSE)
    what = f"is a pipe to which nothing was written for {_PATIENCE:g} s"
    raise DataError(name, what, "start the program that writes to it, or give a file")
