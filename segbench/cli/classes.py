"""The classes that ``--classes`` names: as text, or in a file."""

from __future__ import annotations

import re
from pathlib import Path

from segbench.core.errors import ArgumentError, DataError
from segbench.protocols.pixels.class_names import read_classes

_LARGEST_BYTES = 2**20


def classes_of(text: str) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Read ``0-18``, ``road=0,car=13``, or a file whose lines are a label and a name, into labels and names.

    Raises
    ------
    ArgumentError
        If the text names no classes.
    DataError
        If it names a file that cannot be read, or a line of it is another.
    """
    path = Path(text)
    try:
        is_file = path.is_file()
    except (OSError, ValueError):
        is_file = False
    if not is_file:
        if path.suffix and "=" not in text:
            raise DataError(text, "there is no such file of classes", "write a label and a name a line, as in: 13 car")
        return read_classes(text)
    return _read_file(path, text)


def _read_file(path: Path, text: str) -> tuple[tuple[int, ...], tuple[str, ...]]:
    try:
        if path.stat().st_size > _LARGEST_BYTES:
            raise DataError(text, f"has {path.stat().st_size} bytes, expected a label and a name a line")
        lines = path.read_text("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise DataError(text, "is no plain text, expected a label and a name a line") from None
    except OSError as error:
        raise DataError(text, f"cannot be read ({error.strerror})", "check the file") from error
    labels, names = [], []
    for place, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        found = re.fullmatch(r"\s*([0-9]{1,9})(?:\s*[,:;\t]\s*|\s+)(\S.*?)\s*", line)
        if not found:
            raise DataError(
                text,
                f"line {place} is {line.strip()[:60]!r}, expected a label and a name",
                "write lines such as: 13 car",
            )
        labels.append(int(found[1]))
        names.append(found[2])
    if not labels:
        raise ArgumentError(f"{text} names no class; write a label and a name a line, as in: 13 car")
    return tuple(labels), tuple(names)
