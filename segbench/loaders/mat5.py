"""The container format of MATLAB's .mat files, version 5 (what MATLAB saves as -v6 and -v7).

Source: MathWorks, *MAT-File Format*, R2023b. Reads numbers, logicals, sparse matrices, text, cells and structs; leaves
out function handles and objects. Read here rather than by ``scipy.io.loadmat`` because a file may declare
any size: there a flipped bit in a cell's dimensions fills the memory, here no element outgrows its bytes.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from segbench.loaders.decoded import MAX_PIXELS

Value: TypeAlias = "NDArray[Any] | str | list[Value] | list[dict[str, Value]] | None"
"""Numbers as an array; text; a cell as a list; a struct array as a list of dicts; None for what is not read."""

NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
CLASSES = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}
TEXT = {1: "utf-8", 2: "utf-8", 16: "utf-8", 4: "utf-16", 17: "utf-16", 18: "utf-32"}
CELL, STRUCT, CHAR, SPARSE = 1, 2, 4, 5
MATRIX, COMPRESSED = 14, 15
LOGICAL, COMPLEX = 0x02, 0x08
MAX_DEPTH = 16
MAX_BYTES = 8 * MAX_PIXELS


class BadMatError(Exception):
    """What is wrong with the bytes of a .mat file."""


@dataclass
class Elements:
    """The data elements that follow one another in some bytes.

    Parameters
    ----------
    data : memoryview
        The bytes.
    order : str
        ``<`` or ``>``, the byte order.
    position : int
        Where the next element starts.
    """

    data: memoryview
    order: str
    position: int = 0

    def next(self) -> tuple[int, memoryview]:
        """Give the next element's type and content."""
        start = self.position
        if start + 8 > len(self.data):
            raise BadMatError("truncated")
        first, size = struct.unpack_from(f"{self.order}II", self.data, start)
        if first >> 16:  # the small form: size and type share four bytes, the content follows in the next four
            first, size, start, stop = first & 0xFFFF, first >> 16, start + 4, start + 8
            if size > 4:
                raise BadMatError(f"a small element of {size} bytes")
        else:
            start += 8
            # Elements are padded to eight bytes, compressed ones are not.
            stop = start + (size if first == COMPRESSED else -(-size // 8) * 8)
        if start + size > len(self.data):
            raise BadMatError("truncated")
        self.position = stop
        return first, self.data[start : start + size]

    def numbers(self) -> NDArray[Any]:
        """Give the next element as numbers."""
        kind, content = self.next()
        if kind not in NUMBERS:
            raise BadMatError(f"element type {kind} where numbers are expected")
        dtype = np.dtype(self.order + NUMBERS[kind])
        return np.frombuffer(content, dtype, len(content) // dtype.itemsize).astype(dtype.newbyteorder("="), copy=False)

    def text(self) -> str:
        """Give the next element as text."""
        kind, content = self.next()
        if kind not in TEXT:
            raise BadMatError(f"element type {kind} where text is expected")
        encoding = TEXT[kind] if TEXT[kind] == "utf-8" else TEXT[kind] + ("-le" if self.order == "<" else "-be")
        return bytes(content).decode(encoding, "replace")


def variables(data: bytes) -> dict[str, Value]:
    """Read every variable of a version 5 file.

    Parameters
    ----------
    data : bytes
        The whole file.

    Returns
    -------
    dict
        From name to value.

    Raises
    ------
    BadMatError
        For bytes that are no such file.
    """
    order = {b"IM": "<", b"MI": ">"}.get(data[126:128])
    if order is None or struct.unpack(f"{order}H", data[124:126])[0] >> 8 != 1:
        raise BadMatError("no header of a MATLAB 5 file")
    found = {}
    for content in _matrices(data, order):
        name, value = _matrix(content, order, 0)
        if name:
            found[name] = value
    return found


def _matrices(data: bytes, order: str) -> Iterator[memoryview]:
    """Give the content of each variable, unpacked, but never more than `MAX_BYTES` of them all."""
    elements = Elements(memoryview(data), order, 128)
    budget = MAX_BYTES
    while elements.position < len(data):
        kind, content = elements.next()
        if kind == COMPRESSED:
            packed = zlib.decompressobj()
            unpacked = packed.decompress(content, budget)
            if packed.unconsumed_tail:
                raise BadMatError(f"unpacks to more than {MAX_BYTES} bytes")
            if not packed.eof:
                raise BadMatError("truncated")
            budget = max(budget - len(unpacked), 1)
            kind, content = Elements(memoryview(unpacked), order).next()
        if kind == MATRIX:
            yield content


def _matrix(content: memoryview, order: str, depth: int) -> tuple[str, Value]:
    """Read one array of any class: its name and value."""
    if not len(content):
        return "", np.empty((0, 0))
    if depth > MAX_DEPTH:
        raise BadMatError(f"cells nested more than {MAX_DEPTH} deep")
    parts = Elements(content, order)
    word = int(parts.numbers()[0])
    kind, flags = word & 0xFF, word >> 8 & 0xFF
    if kind not in CLASSES and kind not in (CELL, STRUCT, CHAR, SPARSE):
        return "", None
    shape = tuple(int(extent) for extent in parts.numbers())
    name = parts.text()
    if len(shape) < 2 or min(shape) < 0:
        raise BadMatError(f"dimensions {shape}")
    return name, _value(parts, kind, flags, shape, depth)


def _value(parts: Elements, kind: int, flags: int, shape: tuple[int, ...], depth: int) -> Value:
    count = math.prod(shape)
    if kind == CELL:
        return [_nested(parts, depth) for _ in range(count)]
    if kind == STRUCT:
        return _struct(parts, count, depth)
    if kind == CHAR:
        return parts.text() if count else ""
    return None if flags & COMPLEX else _numeric(parts, kind, shape, logical=bool(flags & LOGICAL))


def _numeric(parts: Elements, kind: int, shape: tuple[int, ...], *, logical: bool) -> NDArray[Any]:
    if kind == SPARSE:
        return _sparse(parts, shape, logical=logical)
    values = parts.numbers()
    if values.size != math.prod(shape):
        raise BadMatError(f"{values.size} values for dimensions {shape}")
    dtype = np.dtype(bool if logical else CLASSES[kind])
    return values.astype(dtype, copy=False).reshape(shape, order="F")


def _nested(parts: Elements, depth: int) -> Value:
    kind, content = parts.next()
    if kind != MATRIX:
        raise BadMatError(f"element type {kind} where an array is expected")
    return _matrix(content, parts.order, depth + 1)[1]


def _struct(parts: Elements, count: int, depth: int) -> list[dict[str, Value]]:
    width = int(parts.numbers()[0])
    names = bytes(parts.next()[1])
    if not 0 < width <= 64:
        raise BadMatError(f"field names of {width} bytes")
    fields = [names[i : i + width].partition(b"\0")[0].decode("latin-1") for i in range(0, len(names), width)]
    if not fields:
        return []
    return [{field: _nested(parts, depth) for field in fields} for _ in range(count)]


def _sparse(parts: Elements, shape: tuple[int, ...], *, logical: bool) -> NDArray[Any]:
    """Read a sparse matrix as a full one."""
    if len(shape) != 2 or math.prod(shape) > MAX_PIXELS:
        raise BadMatError(f"a sparse matrix of dimensions {shape}")
    rows, starts, values = parts.numbers(), parts.numbers(), parts.numbers()
    per_column = np.diff(starts)
    if len(starts) != shape[1] + 1 or starts[0] != 0 or per_column.min(initial=0) < 0:
        raise BadMatError("a sparse matrix without order")
    stored = int(starts[-1])
    if stored > min(rows.size, values.size):
        raise BadMatError("truncated")
    rows = rows[:stored]
    if stored and not 0 <= rows.min() <= rows.max() < shape[0]:
        raise BadMatError("a sparse matrix with rows beyond its size")
    full = np.zeros(shape, bool if logical else np.float64)
    full[rows, np.repeat(np.arange(shape[1]), per_column)] = values[:stored]
    return full
