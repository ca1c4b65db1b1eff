"""MATLAB files of version 4: a head of five numbers, a name and the values, one variable after another.

Source: "MAT-File Format", The MathWorks, "Level 4". SciPy's reader is not used for them, since it goes on
without end where a damaged head leads back; values agree with those of ``scipy.io.loadmat``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from segbench.loaders.decoded import MAX_PIXELS
from segbench.loaders.mat5 import MAX_BYTES, BadMatError, Value, Variable

_HEAD = 20
_NUMBERS = ("f8", "f4", "i4", "i2", "u2", "u1")
_FULL, _TEXT, _SPARSE = 0, 1, 2


@dataclass(frozen=True)
class _Head:
    name: str
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    kind: int
    imaginary: bool

    @property
    def size(self) -> int:
        """Bytes of its values."""
        return self.shape[0] * self.shape[1] * self.dtype.itemsize * (2 if self.imaginary else 1)


def read_variables(file: BinaryIO) -> dict[str, Value]:
    """Read every variable of a file of version 4."""
    left = MAX_BYTES
    found: dict[str, Value] = {}
    for head, data in _heads(file):
        if head.imaginary:
            raise BadMatError("complex numbers, which no map is made of")
        stored = np.frombuffer(data, head.dtype).reshape(head.shape, order="F")
        if head.kind == _TEXT:
            found[head.name] = "".join(map(chr, stored.T.astype(np.uint8).ravel().tolist()))
            continue
        value = _filled(stored) if head.kind == _SPARSE else stored.astype(stored.dtype.newbyteorder("="))
        left -= value.nbytes
        if left < 0:
            raise BadMatError(f"unpacks to more than {MAX_BYTES} bytes")
        found[head.name] = value
    return found


def outline(file: BinaryIO) -> Iterator[Variable]:
    """Give the heads of the variables of a file of version 4; of a sparse one the dimensions of its list."""
    for head, _ in _heads(file):
        yield Variable(head.name, head.shape, numbers=head.kind == _FULL)


def _heads(file: BinaryIO) -> Iterator[tuple[_Head, bytes]]:
    while start := file.read(_HEAD):
        head = _head(start, file)
        data = file.read(head.size)
        if len(data) != head.size:
            raise BadMatError(f"{len(data)} bytes of {head.name!r} where {head.size} are declared")
        yield head, data


def _head(start: bytes, file: BinaryIO) -> _Head:
    if len(start) != _HEAD:
        raise BadMatError(f"{len(start)} bytes of a head")
    order = "<" if 0 <= int.from_bytes(start[:4], "little") < 5000 else ">"
    kind, rows, columns, imaginary, letters = struct.unpack(f"{order}5i", start)
    machine, reserved, number, shape_kind = (kind // 1000 % 10, kind // 100 % 10, kind // 10 % 10, kind % 10)
    if not 0 <= kind < 5000 or machine > 1 or reserved or number >= len(_NUMBERS) or shape_kind > _SPARSE:
        raise BadMatError(f"a variable of type {kind}")
    if min(rows, columns) < 0 or rows * columns > MAX_PIXELS or not 0 < letters < 2**10 or imaginary not in (0, 1):
        raise BadMatError(f"a variable of dimensions {(rows, columns)} with a name of {letters} letters")
    name = file.read(letters).partition(b"\0")[0].decode("latin-1")
    return _Head(name, (rows, columns), np.dtype(f"{order}{_NUMBERS[number]}"), shape_kind, bool(imaginary))


def _filled(rows: NDArray[Any]) -> NDArray[Any]:
    """Fill a sparse matrix, given by rows of row, column and value, the last of which is its dimensions."""
    if rows.shape[1] != 3 or not len(rows):
        raise BadMatError("a sparse matrix built otherwise")
    places = rows[:, :2]
    if not np.all((places == np.rint(places)) & (places >= 0) & (places <= MAX_PIXELS)):
        raise BadMatError("a sparse matrix with impossible places")
    (height, width), inside = places[-1].astype(int).tolist(), places[:-1].astype(int) - 1
    if height * width > MAX_PIXELS or np.any((inside < 0) | (inside >= (height, width))):
        raise BadMatError("a sparse matrix with impossible places")
    filled = np.zeros((height, width))
    np.add.at(filled, (inside[:, 0], inside[:, 1]), rows[:-1, 2])
    return filled
