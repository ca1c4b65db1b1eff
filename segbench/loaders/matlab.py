"""What the field keeps in .mat files: BSDS500 ground truth, ultrametric contour maps, segmentations, single maps.

BSDS500 ground truth is a cell ``groundTruth`` of one struct an annotator, with ``Boundaries`` (0 or 1) and
``Segmentation`` (labels from 1); CrackForest has a struct in place of the cell. ``ucm2`` is a contour map at twice the
resolution, of (2 h + 1) x (2 w + 1) pixels; ``segs`` a cell of label maps, one per threshold.

Files of version 5 are read as their elements are laid down ("MAT-File Format", The MathWorks), and every length is
checked before it is believed: damaged bytes make SciPy's reader read outside its memory and end the process. Values
agree with those of ``scipy.io.loadmat(mat_dtype=True)``.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from segbench.core.errors import DataError
from segbench.core.messages import Message
from segbench.core.numbers import many
from segbench.loaders.arrays import as_map
from segbench.loaders.decoded import MAX_PIXELS, Decoded, Format, Header, Role, variable_of
from segbench.loaders.source import CUT, Source, shown

Value: TypeAlias = "NDArray[Any] | list[Value] | list[dict[str, Value]] | None"
"""Numbers as an array; a cell as a list; a struct array as a list of dicts; None for text and all else."""

MAX_BYTES = 16 * MAX_PIXELS
"""What all variables of a file may unpack to together."""

_HEADER = 128
_DEEPEST = 32
_OUTLINE = 4096
_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_INT8, _INT32, _UINT32, _MATRIX, _COMPRESSED = 1, 5, 6, 14, 15
_CELL, _STRUCT, _SPARSE, _OPAQUE = 1, 2, 5, 17
_CLASSES = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}
_NUMERIC = {_SPARSE, *_CLASSES}
_LOGICAL, _COMPLEX = 2, 8
_HDF5 = (b"MATLAB 7.3", b"\x89HDF")
"""How files of version 7.3 begin."""
_SAVE = "save it with -v7 in MATLAB, or scipy.io.savemat"
Part = Literal["Boundaries", "Segmentation"]


def read_mat(data: bytes, path: Source | str) -> dict[str, Value]:
    """Read the variables of a .mat file."""
    name = shown(path)
    if data.startswith(_HDF5):
        problem = Message(
            "other-version", "is a MAT-file of version {version}, expected version 5", version="7.3 (HDF5)"
        )
        raise DataError(name, problem, "save it with -v7 in MATLAB")
    if 0 in data[:4] and any(data[:20]):  # a number below 5000, where version 5 has text
        problem = Message("other-version", "is a MAT-file of version {version}, expected version 5", version="4")
        raise DataError(name, problem, _SAVE)
    try:
        variables = _variables(data)
    except MemoryError:
        raise DataError(name, Message("no-memory", "does not fit into memory"), CUT) from None
    except Exception as error:
        problem = Message("damaged", "damaged or truncated MAT file, or not of version 5 ({reason})", reason=str(error))
        raise DataError(name, problem, _SAVE) from error
    if not variables:
        raise DataError(name, Message("missing-variable", "holds no variable"), "save it again")
    return variables


def annotators(contents: dict[str, Value], path: Source | str, part: Part) -> tuple[NDArray[Any], ...]:
    """Return one part of a BSDS ground truth, one map per annotator."""
    cell = contents.get("groundTruth")
    if not isinstance(cell, list):
        raise _lacks("groundTruth", contents, path)
    structs = [
        annotation[0] if isinstance(annotation, list) and len(annotation) == 1 else annotation for annotation in cell
    ]
    maps = [struct.get(part) if isinstance(struct, dict) else None for struct in structs]
    otherwise = Message("no-map", "has no map {part}", part=part)
    return _maps(maps, path, "annotator", otherwise, "expected a struct as in BSDS500")


def categories(contents: dict[str, Value], path: Source | str) -> tuple[NDArray[Any], ...]:
    """Return the boundaries of an SBD ground truth ``GTcls``, one map per category."""
    struct = contents.get("GTcls")
    first = struct[0] if isinstance(struct, list) and struct else None
    cell = first.get("Boundaries") if isinstance(first, dict) else None
    hint = "expected a struct as in SBD"
    if not isinstance(cell, list) or not cell:
        problem = Message(
            "missing-variable", "GTcls has no cell {variable} of one map per category", variable="Boundaries"
        )
        raise DataError(shown(path), problem, hint)
    maps = [boundaries != 0 if isinstance(boundaries, np.ndarray) else boundaries for boundaries in cell]
    otherwise = Message("no-map", "is none: GTcls has no cell {part} of maps", part="Boundaries")
    return _maps(maps, path, "category", otherwise, hint)


def ucm2(contents: dict[str, Value], path: Source | str) -> NDArray[Any]:
    """Return the ultrametric contour map at twice the resolution."""
    array = contents.get("ucm2")
    if not isinstance(array, np.ndarray):
        raise _lacks("ucm2", contents, path)
    contour_map = as_map(array, shown(path), "prediction").array
    if not (contour_map.shape[0] % 2 and contour_map.shape[1] % 2):
        problem = Message(
            "even-sides",
            "ucm2 is {shape: x } (height x width), expected odd sides, 2 h + 1 and 2 w + 1",
            shape=contour_map.shape,
        )
        raise DataError(shown(path), problem, "write the map at twice the resolution")
    return contour_map


def segs(contents: dict[str, Value], path: Source | str) -> tuple[NDArray[Any], ...]:
    """Return the label maps of a set of segmentations."""
    cell = contents.get("segs")
    if not isinstance(cell, list) or not cell:
        raise _lacks("segs", contents, path)
    otherwise = Message("no-map", "is not a label map")
    return _maps(cell, path, "segmentation", otherwise, "expected a cell of label maps")


def one_map(contents: dict[str, Value], path: Source | str, role: Role) -> Decoded:
    """Return the only map among the variables, or the one named after its role."""
    variable = variable_of(role)
    arrays = {name: value for name, value in contents.items() if isinstance(value, np.ndarray)}
    maps = {name: value for name, value in arrays.items() if value.size > 1} or arrays
    if variable not in maps and len(maps) != 1:
        problem = Message(
            "several-arrays",
            "{count} of the variables ({names}) are maps, expected one",
            count=len(maps),
            names=sorted(map(shown, contents)),
        )
        hint: Message | str = Message("fix", "name the one to read {name!r}", name=variable)
        if contents.keys() & {"groundTruth", "segs"}:
            hint = "choose the boundaries or regions protocol"
        if role == "prediction" and "groundTruth" in contents:
            hint = "it is ground truth of BSDS500: give ground truth first, and predictions second"
        raise DataError(shown(path), problem, hint)
    return as_map(maps[variable] if variable in maps else next(iter(maps.values())), shown(path), role)


def _header(file: BinaryIO, role: Role) -> Header:
    """Read the size of the map that would be read, from the heads of the variables."""
    variables = {variable.name: variable for variable in _outline(file)}
    if role == "prediction" and "ucm2" in variables:
        height, width = variables["ucm2"].shape
        return Header((height, width), doubled=True)
    maps = {
        name: variable.shape
        for name, variable in variables.items()
        if variable.kind in _NUMERIC and math.prod(variable.shape) > 1
    }
    shapes = [maps[wanted]] if (wanted := variable_of(role)) in maps else list(maps.values())
    if len(shapes) != 1 or len(shapes[0]) != 2:
        return Header()
    return Header((shapes[0][0], shapes[0][1]))


def _maps(
    candidates: Sequence[object], path: Source | str, noun: str, otherwise: Message, hint: str
) -> tuple[NDArray[Any], ...]:
    """Return maps of one size; refuse what is not a map, which errors name by `noun` and number."""
    maps = []
    for number, array in enumerate(candidates, start=1):
        if not isinstance(array, np.ndarray):
            problem = Message("no-map", "{each} {number} {otherwise}", each=noun, number=number, otherwise=otherwise)
            raise DataError(shown(path), problem, hint)
        maps.append(as_map(array, f"{shown(path)}, {noun} {number}", "ground truth").array)
    sizes = sorted({array.shape for array in maps})
    if len(sizes) != 1:
        problem = Message(
            "several-sizes",
            "{maps} of the sizes {sizes: and }, expected one size",
            maps=many(len(maps), noun),
            sizes=[Message("size", "{shape: x } (height x width)", shape=shape) for shape in sizes] or ["none"],
        )
        raise DataError(shown(path), problem, "save it again")
    return tuple(maps)


def _lacks(wanted: str, contents: dict[str, Value], path: Source | str) -> DataError:
    problem = Message(
        "missing-variable", "has no {variable}, only {names}", variable=wanted, names=sorted(map(shown, contents))
    )
    return DataError(shown(path), problem, "check that this is the file meant")


class _Variable(NamedTuple):
    """The head of a variable."""

    name: str
    shape: tuple[int, ...]
    kind: int
    marks: int


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
                raise ValueError(f"a small element of {size} bytes")
            return kind, tag[4 : 4 + size]
        body = self._take(size)
        if kind != _COMPRESSED:
            self.at = min(len(self.data), self.at + -size % 8)
        return kind, body

    def of(self, *kinds: int) -> memoryview:
        """Read the next element, which must be of one of these types."""
        kind, body = self.element()
        if kind not in kinds:
            raise ValueError(f"an element of type {kind}, expected {' or '.join(map(str, kinds))}")
        return body

    def within(self, body: memoryview) -> _Bytes:
        """Read what lies in an element."""
        return _Bytes(body, self.order, self.left)

    def spend(self, size: int) -> None:
        """Count what is unpacked, and refuse too much of it."""
        self.left[0] -= size
        if self.left[0] < 0:
            raise ValueError(f"unpacks to more than {MAX_BYTES} bytes")

    def numbers(self) -> NDArray[Any]:
        """Read the next element, which must be numbers."""
        kind, body = self.element()
        if kind not in _NUMBERS:
            raise ValueError(f"numbers of type {kind}")
        return np.frombuffer(body, f"{self.order}{_NUMBERS[kind]}")

    def _take(self, size: int) -> memoryview:
        if size > len(self.data) - self.at:
            raise ValueError(f"{len(self.data) - self.at} bytes where {size} are declared")
        self.at += size
        return self.data[self.at - size : self.at]


def _variables(data: bytes) -> dict[str, Value]:
    """Read every variable of a file of version 5."""
    source = _Bytes(memoryview(data)[_HEADER:], _order(data))
    variables = {}
    while source.at < len(source.data):
        kind, body = source.element()
        if kind == _COMPRESSED:
            unpacked = _unpacked(body, source.left[0])
            source.spend(len(unpacked))
            body = source.within(memoryview(unpacked)).of(_MATRIX)
        elif kind != _MATRIX:
            raise ValueError(f"a variable of type {kind}")
        name, value = _matrix(source.within(body), 0)
        if name and not name.startswith("__"):
            variables[name] = value
    return variables


def _outline(file: BinaryIO) -> Iterator[_Variable]:
    """Yield the heads of the variables of a file of version 5; of each no more than its beginning is read."""
    head = file.read(_HEADER)
    order = _order(head)
    while tag := file.read(8):
        kind, size = struct.unpack(f"{order}II", tag)
        after = file.tell() + size
        start = file.read(min(size, _OUTLINE))
        if kind == _COMPRESSED:
            start = zlib.decompressobj().decompress(start, _OUTLINE)[8:]
        elif kind != _MATRIX:
            raise ValueError(f"a variable of type {kind}")
        yield _head(_Bytes(memoryview(start), order))
        file.seek(after)


def _order(data: bytes) -> str:
    mark = data[126:128]
    if mark not in (b"IM", b"MI"):
        raise ValueError(f"its header ends in {mark!r}")
    return "<" if mark == b"IM" else ">"


def _unpacked(body: memoryview, most: int) -> bytes:
    inflater = zlib.decompressobj()
    try:
        data = inflater.decompress(body, most)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if not inflater.eof:
        raise ValueError(
            "packed bytes that are cut short" if not inflater.unconsumed_tail else "it unpacks to too much"
        )
    return data


def _head(source: _Bytes) -> _Variable:
    """Read what every matrix begins with."""
    (word,) = struct.unpack(f"{source.order}I4x", source.of(_UINT32))
    kind, marks = word & 0xFF, word >> 8 & 0xFF
    if kind == _OPAQUE:
        return _Variable("", (), kind, marks)
    shape = tuple(np.frombuffer(source.of(_INT32), f"{source.order}i4").tolist())
    name = bytes(source.of(_INT8)).decode("latin-1")
    if len(shape) < 2 or min(shape) < 0 or math.prod(shape) > MAX_PIXELS:
        raise ValueError(f"variable {name!r} of dimensions {shape}")
    if marks & _COMPLEX and kind in _NUMERIC:
        raise ValueError("complex numbers, expected real ones")
    return _Variable(name, shape, kind, marks)


def _matrix(source: _Bytes, depth: int) -> tuple[str, Value]:
    """Read a matrix: its name and its value."""
    if depth > _DEEPEST:
        raise ValueError(f"cells nested more than {_DEEPEST} deep")
    if not source.data:
        return "", np.empty((0, 0))
    name, shape, kind, marks = _head(source)
    value: Value = None
    if kind in _CLASSES:
        value = _array(source, shape, np.dtype(np.bool_ if marks & _LOGICAL else _CLASSES[kind]))
    elif kind == _SPARSE:
        value = _sparse(source, shape)
    elif kind == _CELL:
        value = [_inner(source, depth) for _ in range(_count(source, shape, 1))]
    elif kind == _STRUCT:
        value = _structs(source, shape, depth)
    return name, value


def _inner(source: _Bytes, depth: int) -> Value:
    return _matrix(source.within(source.of(_MATRIX)), depth + 1)[1]


def _count(source: _Bytes, shape: tuple[int, ...], matrices_per_element: int) -> int:
    """Return how many matrices follow, of which each takes 8 bytes at least."""
    count = math.prod(shape) * matrices_per_element
    if count * 8 > len(source.data) - source.at:
        raise ValueError(f"dimensions {shape}, cut short")
    return count


def _structs(source: _Bytes, shape: tuple[int, ...], depth: int) -> list[dict[str, Value]]:
    (width,) = np.frombuffer(source.of(_INT32), f"{source.order}i4").tolist() or (0,)
    text = bytes(source.of(_INT8))
    if text and (width < 1 or len(text) % width):
        raise ValueError(f"field names of {width} letters")
    names = [text[at : at + width].partition(b"\0")[0].decode("latin-1") for at in range(0, len(text), max(width, 1))]
    count = _count(source, shape, len(names)) // len(names) if names else 0
    return [{name: _inner(source, depth) for name in names} for _ in range(count)]


def _array(source: _Bytes, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    stored = source.numbers()
    if stored.size != math.prod(shape):
        raise ValueError(f"{stored.size} values for the dimensions {shape}")
    source.spend(stored.size * dtype.itemsize)
    with np.errstate(invalid="ignore", over="ignore"):
        return stored.astype(dtype).reshape(shape, order="F")


def _sparse(source: _Bytes, shape: tuple[int, ...]) -> NDArray[Any]:
    """Read a sparse matrix, and fill it; not with SciPy, which crashes where columns do not rise."""
    rows, starts, values = source.numbers(), source.numbers(), source.numbers()
    if rows.dtype.kind not in "iu" or starts.dtype.kind not in "iu" or len(shape) != 2:
        raise ValueError("a sparse matrix of another layout")
    height, width = shape
    if starts.size != width + 1 or starts[0] != 0 or np.any(starts[1:] < starts[:-1]):
        raise ValueError("a sparse matrix with impossible columns")
    used = int(starts[-1])
    if used > min(rows.size, values.size) or (used and not 0 <= rows[:used].min() <= rows[:used].max() < height):
        raise ValueError("a sparse matrix with impossible rows")
    source.spend(height * width * values.dtype.itemsize)
    filled = np.zeros((height, width), values.dtype.newbyteorder("="))
    columns = np.repeat(np.arange(width), starts[1:] - starts[:-1])
    np.add.at(filled, (rows[:used].astype(np.int64), columns), values[:used])
    return filled


FORMAT = Format(
    "MAT",
    (".mat",),
    (b"MATLAB 5.0",),
    lambda data, path, role: one_map(read_mat(data, path), path, role),
    _header,
)
