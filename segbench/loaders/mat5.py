"""MATLAB files of version 5, as their elements are laid down: every length is checked before it is believed.

Source: "MAT-File Format", The MathWorks. SciPy's reader is not used, since damaged bytes make it read outside its
memory and end the process; values agree with those of ``scipy.io.loadmat(mat_dtype=True)``.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from segbench.loaders.decoded import MAX_PIXELS

Value: TypeAlias = "NDArray[Any] | list[Value] | list[dict[str, Value]] | None"
"""Numbers as an array; a cell as a list; a struct array as a list of dicts; None for text and all else."""

MAX_BYTES = 16 * MAX_PIXELS
"""What all variables of a file may unpack to together."""

_HEADER = 128
_DEEPEST = 32
_OUTLINE = 4096
_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_INT8, _INT32, _UINT32, _MATRIX, _COMPRESSED = 1, 5, 6, 14, 15
_CELL, _STRUCT, _OBJECT, _CHAR, _SPARSE = 1, 2, 3, 4, 5
_CLASSES = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}
_FUNCTION, _OPAQUE = 16, 17
_LOGICAL, _COMPLEX = 2, 8


class BadMatError(Exception):
    """What is wrong with the bytes of a .mat file."""


@dataclass(frozen=True)
class Variable:
    """The head of a variable: its name, dimensions, and whether it is made of numbers."""

    name: str
    shape: tuple[int, ...]
    numbers: bool


@dataclass
class _Bytes:
    """Bytes of a file or an element, read from front to back, and what may still be unpacked."""

    data: memoryview
    order: str
    left: list[int] = field(default_factory=lambda: [MAX_BYTES])
    at: int = 0

    def element(self) -> tuple[int, memoryview]:
        """Read the next element: its type and its bytes."""
        tag = self._take(8)
        kind, size = struct.unpack(f"{self.order}II", tag)
        if kind >> 16:  # a small one, within its tag
            kind, size = kind & 0xFFFF, kind >> 16
            if size > 4:
                raise BadMatError(f"a small element of {size} bytes")
            return kind, tag[4 : 4 + size]
        body = self._take(size)
        if kind != _COMPRESSED:
            self.at = min(len(self.data), self.at + -size % 8)
        return kind, body

    def of(self, *kinds: int) -> memoryview:
        """Read the next element, which must be of one of these types."""
        kind, body = self.element()
        if kind not in kinds:
            raise BadMatError(f"an element of type {kind}, expected {' or '.join(map(str, kinds))}")
        return body

    def within(self, body: memoryview) -> _Bytes:
        """Read what lies in an element."""
        return _Bytes(body, self.order, self.left)

    def spend(self, size: int) -> None:
        """Count what is unpacked, and refuse too much of it."""
        self.left[0] -= size
        if self.left[0] < 0:
            raise BadMatError(f"unpacks to more than {MAX_BYTES} bytes")

    def numbers(self) -> NDArray[Any]:
        """Read the next element, which must be numbers."""
        kind, body = self.element()
        if kind not in _NUMBERS:
            raise BadMatError(f"numbers of type {kind}")
        return np.frombuffer(body, f"{self.order}{_NUMBERS[kind]}")

    def _take(self, size: int) -> memoryview:
        if size > len(self.data) - self.at:
            raise BadMatError(f"{len(self.data) - self.at} bytes where {size} are declared")
        self.at += size
        return self.data[self.at - size : self.at]


def read_variables(data: bytes) -> dict[str, Value]:
    """Read every variable of a file of version 5."""
    source = _Bytes(memoryview(data)[_HEADER:], _order(data))
    found = {}
    while source.at < len(source.data):
        kind, body = source.element()
        if kind == _COMPRESSED:
            unpacked = _unpacked(body, source.left[0])
            source.spend(len(unpacked))
            body = source.within(memoryview(unpacked)).of(_MATRIX)
        elif kind != _MATRIX:
            raise BadMatError(f"a variable of type {kind}")
        name, value = _matrix(source.within(body), 0)
        if name and not name.startswith("__"):
            found[name] = value
    return found


def outline(file: BinaryIO) -> Iterator[Variable]:
    """Give the heads of the variables of a file of version 5; of each no more than its beginning is read."""
    head = file.read(_HEADER)
    order = _order(head)
    while tag := file.read(8):
        kind, size = struct.unpack(f"{order}II", tag)
        after = file.tell() + size
        start = file.read(min(size, _OUTLINE))
        if kind == _COMPRESSED:
            start = zlib.decompressobj().decompress(start, _OUTLINE)[8:]
        elif kind != _MATRIX:
            raise BadMatError(f"a variable of type {kind}")
        yield _head(_Bytes(memoryview(start), order))[0]
        file.seek(after)


def _order(data: bytes) -> str:
    mark = data[126:128]
    if mark not in (b"IM", b"MI"):
        raise BadMatError(f"its header ends in {mark!r}")
    return "<" if mark == b"IM" else ">"


def _unpacked(body: memoryview, most: int) -> bytes:
    inflater = zlib.decompressobj()
    try:
        data = inflater.decompress(body, most)
    except zlib.error as error:
        raise BadMatError(str(error)) from None
    if not inflater.eof:
        raise BadMatError(
            "packed bytes that are cut short" if not inflater.unconsumed_tail else "it unpacks to too much"
        )
    return data


def _head(source: _Bytes) -> tuple[Variable, int, int]:
    """Read what every matrix begins with; give it with its class and its flags."""
    flags = source.of(_UINT32)
    if len(flags) != 8:
        raise BadMatError(f"{len(flags)} bytes of flags")
    (word,) = struct.unpack(f"{source.order}I", flags[:4])
    kind, marks = word & 0xFF, word >> 8 & 0xFF
    if kind == _OPAQUE:
        return Variable("", (), numbers=False), kind, marks
    shape = tuple(np.frombuffer(source.of(_INT32), f"{source.order}i4").tolist())
    name = bytes(source.of(_INT8)).decode("latin-1")
    if len(shape) < 2 or min(shape) < 0 or math.prod(shape) > MAX_PIXELS:
        raise BadMatError(f"variable {name!r} of dimensions {shape}")
    return Variable(name, shape, numbers=kind == _SPARSE or kind in _CLASSES), kind, marks


def _matrix(source: _Bytes, depth: int) -> tuple[str, Value]:
    """Read a matrix: its name and its value."""
    if depth > _DEEPEST:
        raise BadMatError(f"cells nested more than {_DEEPEST} deep")
    if not source.data:
        return "", np.empty((0, 0))
    variable, kind, marks = _head(source)
    value: Value = None
    if kind in _CLASSES:
        value = _array(source, variable, np.dtype(np.bool_ if marks & _LOGICAL else _CLASSES[kind]), marks)
    elif kind == _SPARSE:
        value = _sparse(source, variable, marks)
    elif kind == _CELL:
        value = [_inner(source, depth) for _ in range(_count(source, variable, 1))]
    elif kind in (_STRUCT, _OBJECT):
        value = _structs(source, variable, depth, named=kind == _OBJECT)
    elif kind not in (_CHAR, _FUNCTION, _OPAQUE):
        raise BadMatError(f"a variable of class {kind}")
    return variable.name, value


def _inner(source: _Bytes, depth: int) -> Value:
    return _matrix(source.within(source.of(_MATRIX)), depth + 1)[1]


def _count(source: _Bytes, variable: Variable, each: int) -> int:
    """Give how many matrices follow, of which each takes 8 bytes at least."""
    count = math.prod(variable.shape) * each
    if count * 8 > len(source.data) - source.at:
        raise BadMatError(f"{variable.name!r} of dimensions {variable.shape}, cut short")
    return count


def _structs(source: _Bytes, variable: Variable, depth: int, *, named: bool) -> list[dict[str, Value]]:
    if named:
        source.of(_INT8)
    (width,) = np.frombuffer(source.of(_INT32), f"{source.order}i4").tolist() or (0,)
    text = bytes(source.of(_INT8))
    if (width < 1 and text) or (text and len(text) % width):
        raise BadMatError(f"field names of {width} letters")
    starts = range(0, len(text), width) if text else ()
    names = [text[at : at + width].partition(b"\0")[0].decode("latin-1") for at in starts]
    count = _count(source, variable, len(names)) // len(names) if names else 0
    return [{name: _inner(source, depth) for name in names} for _ in range(count)]


def _array(source: _Bytes, variable: Variable, dtype: np.dtype[Any], marks: int) -> NDArray[Any]:
    if marks & _COMPLEX:
        raise BadMatError("complex numbers, expected real ones")
    stored = source.numbers()
    if stored.size != math.prod(variable.shape):
        raise BadMatError(f"{stored.size} values for the dimensions {variable.shape}")
    source.spend(stored.size * dtype.itemsize)
    with np.errstate(invalid="ignore", over="ignore"):
        return stored.astype(dtype).reshape(variable.shape, order="F")


def _sparse(source: _Bytes, variable: Variable, marks: int) -> NDArray[Any]:
    """Read a sparse matrix, and fill it."""
    if marks & _COMPLEX:
        raise BadMatError("complex numbers, expected real ones")
    rows, starts, values = source.numbers(), source.numbers(), source.numbers()
    if rows.dtype.kind not in "iu" or starts.dtype.kind not in "iu" or len(variable.shape) != 2:
        raise BadMatError("a sparse matrix of another layout")
    height, width = variable.shape
    if starts.size != width + 1 or starts[0] != 0 or np.any(starts[1:] < starts[:-1]):
        raise BadMatError("a sparse matrix with impossible columns")
    used = int(starts[-1])
    if used > min(rows.size, values.size) or (used and not 0 <= rows[:used].min() <= rows[:used].max() < height):
        raise BadMatError("a sparse matrix with impossible rows")
    source.spend(height * width * values.dtype.itemsize)
    filled = np.zeros((height, width), values.dtype.newbyteorder("="))
    columns = np.repeat(np.arange(width), starts[1:] - starts[:-1])
    np.add.at(filled, (rows[:used].astype(np.int64), columns), values[:used])
    return filled
