"""Where the objects of a large JSON lie: it is gone through once, and only what is needed is parsed.

A file of annotations is a list of objects, or an object of such lists. Of each object the places of its first and last
byte are kept and its ``image_id``, so that those of one image can be read alone, whatever the size of the file.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import IntArray
from segbench.core.compiling import int64, kernel
from segbench.core.errors import DataError
from segbench.core.messages import Message
from segbench.loaders.source import WRITE_AGAIN, LocalFile, empty, refuse_endless, refuse_pointer, shown

_LARGEST_FILE = 2**36
_DEEPEST = 64
_MOST_KEYS = 256
_PIECE = 2**24
_MOST_DIGITS = 18
_NO_ID, WHOLE, OTHER, _DOUBLED = range(4)

_FAULTS = {
    1: "it ends before its last bracket",
    2: "a bracket does not fit",
    3: f"more than {_DEEPEST} brackets within each other",
    4: "something follows its last bracket",
    5: f"more than {_MOST_KEYS} keys",
}


@dataclass(frozen=True, eq=False)
class ListedObjects:
    """Objects in one list of a JSON, in the order of the file."""

    starts: IntArray
    ends: IntArray
    kinds: IntArray
    """Whether each has an ``image_id``: none, a whole number, something else, or several."""
    image_ids: IntArray
    """These, where they are whole numbers; else where they begin."""
    whole: bool = True
    """Whether the list holds nothing but objects, with commas between them."""

    def __len__(self) -> int:
        return self.starts.size


@dataclass(frozen=True, eq=False)
class JsonIndex:
    """The lists of a JSON by key; of a list by itself the key is empty."""

    path: str
    lists: Mapping[str, ListedObjects]
    keys: frozenset[str]
    content: bytes | None = None
    """That of a member of an archive, which cannot be opened."""

    def objects(self, key: str) -> Iterator[dict[str, Any]]:
        """Parse the objects of a list, one after the other."""
        listed = self.lists[key]
        with self._open() as file:
            for start, end in zip(listed.starts.tolist(), listed.ends.tolist(), strict=True):
                file.seek(start)
                yield parsed(file.read(end - start), self.path)

    def text(self, start: int, length: int) -> bytes:
        """Read some bytes."""
        with self._open() as file:
            file.seek(start)
            return file.read(length)

    def _open(self) -> IO[bytes]:
        return open(self.path, "rb") if self.content is None else io.BytesIO(self.content)  # noqa: PTH123  a str is enough


def parsed(text: bytes, path: str) -> Any:  # noqa: ANN401  what JSON holds
    """Parse JSON in which keys are unique and all numbers are numbers."""
    try:
        return _DECODER.decode(text.decode(json.detect_encoding(text), "surrogatepass"))
    except (ValueError, RecursionError) as error:
        problem = Message("not-json", "is not JSON ({why})", why=shown(str(error)))
        raise DataError(shown(path), problem, WRITE_AGAIN) from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object, in which no key may come twice."""
    content = dict(pairs)
    if len(content) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)!r:.60} comes twice in one object")
    return content


def _refuse_constant(constant: str) -> None:
    """Refuse what Python's reader takes for a number although it is no JSON."""
    raise ValueError(f"it holds {constant}")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse_constant)


def index_json(path: str, content: bytes | None = None) -> JsonIndex:
    """Find the objects of a JSON, by its content if this is known; a `DataError` says where its brackets do not fit."""
    if content is None:
        refuse_endless(path)
    size = os.stat(path).st_size if content is None else len(content)  # noqa: PTH116  as above
    if not size:
        raise empty(LocalFile(path))
    if size > _LARGEST_FILE:
        problem = Message("too-large", "has {bytes} bytes, expected at most {most}", bytes=size, most=_LARGEST_FILE)
        raise DataError(shown(path), problem, "split it by images")
    data = np.memmap(path, np.uint8, "r") if content is None else np.frombuffer(content, np.uint8)
    refuse_pointer(data[:256].tobytes(), shown(path))
    objects = sum(int(np.count_nonzero(data[k : k + _PIECE] == ord("{"))) for k in range(0, size, _PIECE))
    rows, keys = np.empty((objects, 5), np.int64), np.zeros((_MOST_KEYS, 5), np.int64)
    fault, byte, number, named = _index(data, rows, keys)
    if fault:
        problem = Message("not-json", "is not JSON ({why})", why=f"{_FAULTS[fault]}, at byte {byte}")
        raise DataError(shown(path), problem, WRITE_AGAIN)
    names = [_key(data[start:end].tobytes(), path) for start, end in keys[:named, :2].tolist()] or [""]
    doubled = next((name for name in names if names.count(name) > 1), None)
    if doubled is not None:
        problem = Message("doubled-key", "has the key {key!r} twice", key=shown(doubled))
        raise DataError(shown(path), problem, "keep one of both")
    lists = {}
    limits = np.searchsorted(rows[:number, 0], np.arange(len(names) + 1))
    for section, name in enumerate(names):
        if named == 0 or data[keys[section, 2]] == ord("["):
            listed = ListedObjects(*rows[limits[section] : limits[section + 1], 1:].T)
            commas, strange = keys[section, 3:]
            lists[name] = replace(listed, whole=not strange and commas == max(len(listed) - 1, 0))
    return JsonIndex(path, lists, frozenset(names), content)


def _key(text: bytes, path: str) -> str:
    """Return a key as text."""
    return str(parsed(b'"' + text + b'"', path))


@kernel
def _index(  # noqa: C901, PLR0912, PLR0915 - one pass over all bytes
    data: NDArray[np.uint8], rows: NDArray[np.int64], keys: NDArray[np.int64]
) -> tuple[int, int, int, int]:
    """Fill in the objects in lists and the keys of the outermost object; return a fault, its place, and both numbers.

    A row is the number of the list's key, start, end, kind and value of ``image_id``; that of a key its start, its end,
    the start of its value, and of a list how many commas it has and whether it holds anything but objects.
    """
    size = data.size
    brackets = np.zeros(_DEEPEST + 2, np.uint8)
    depth = number = named = 0
    key_start = key_end = int64(0)
    position = int64(0)
    if size >= 3 and data[0] == 0xEF and data[1] == 0xBB and data[2] == 0xBF:
        position += 3
    finished = False
    while position < size:
        byte = data[position]
        if byte in (32, 9, 10, 13):
            position += 1
            continue
        if finished:
            return 4, position, number, named
        outer = 2 if brackets[1] == 91 else 3
        in_list = depth == outer - 1 and brackets[depth] == 91
        if in_list:
            keys[max(named - 1, 0), 3] += byte == 44
            keys[max(named - 1, 0), 4] |= byte not in (44, 93, 123)
        if byte == 34:  # a string
            start = position + 1
            position += 1
            while position < size and data[position] != 34:
                position += 2 if data[position] == 92 else 1
            key_start, key_end = start, position
        elif byte in (91, 123):
            depth += 1
            if depth > _DEEPEST:
                return 3, position, number, named
            brackets[depth] = byte
            if byte == 123 and in_list:
                rows[number, 0] = max(named - 1, 0)
                rows[number, 1] = position
                rows[number, 3] = _NO_ID
                rows[number, 4] = 0
        elif byte in (93, 125):
            if depth == 0 or brackets[depth] != byte - 2:
                return 2, position, number, named
            if byte == 125 and depth == outer and brackets[depth - 1] == 91:
                rows[number, 2] = position + 1
                number += 1
            depth -= 1
            finished = depth == 0
        elif byte == 58:  # a colon
            value = position + 1
            while value < size and data[value] in (32, 9, 10, 13):
                value += 1
            if depth == 1 and brackets[1] == 123:
                if named == _MOST_KEYS:
                    return 5, position, number, named
                keys[named, 0], keys[named, 1], keys[named, 2] = key_start, key_end, min(value, size - 1)
                named += 1
            elif depth == outer and brackets[depth - 1] == 91 and _is_image_id(data, key_start, key_end):
                _read_id(data, value, rows[number])
        elif depth == 0:
            return 2, position, number, named
        position += 1
    return (0 if finished else 1), position, number, named


@kernel
def _is_image_id(data: NDArray[np.uint8], start: int, end: int) -> bool:
    """Return whether a key is ``image_id``."""
    if end - start != 8:
        return False
    same = True
    for k, byte in enumerate((105, 109, 97, 103, 101, 95, 105, 100)):
        same &= data[start + k] == byte
    return same


@kernel
def _read_id(data: NDArray[np.uint8], start: int, row: NDArray[np.int64]) -> None:
    """Read the value of an ``image_id``."""
    if row[3] != _NO_ID:
        row[3] = _DOUBLED
        return
    row[3], row[4] = OTHER, start
    position = start
    negative = position < data.size and data[position] == 45
    if negative:
        position += 1
    first, value = position, int64(0)
    while position < data.size and 48 <= data[position] <= 57 and position - first < _MOST_DIGITS:
        value = 10 * value + data[position] - 48
        position += 1
    if position > first and position < data.size and data[position] in (32, 9, 10, 13, 44, 125):
        row[3], row[4] = WHOLE, -value if negative else value
