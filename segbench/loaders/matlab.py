"""What the field keeps in .mat files: BSDS500 ground truth, ultrametric contour maps, segmentations, single maps.

BSDS500 ground truth is a cell ``groundTruth`` of one struct an annotator, with ``Boundaries`` (0 or 1) and
``Segmentation`` (labels from 1); CrackForest has a struct in place of the cell. ``ucm2`` is a contour map at twice the
resolution, of (2 h + 1) x (2 w + 1) pixels; ``segs`` a cell of label maps, one per threshold.
"""

from __future__ import annotations

import math
from typing import Any, BinaryIO, Literal

import numpy as np
from numpy.typing import NDArray

from segbench.core.errors import DataError
from segbench.loaders.decoded import Decoded, Format, Header, Role, Source, shown, size, variable_of
from segbench.loaders.maps import as_map
from segbench.loaders.mat5 import BadMatError, Value, outline, read_variables

_HDF5 = (b"MATLAB 7.3", b"\x89HDF")
"""How files of version 7.3 begin."""
_SAVE = "save it with -v7 in MATLAB, or scipy.io.savemat"
Part = Literal["Boundaries", "Segmentation"]


def read_mat(data: bytes, path: Source | str) -> dict[str, Value]:
    """Read the variables of a .mat file."""
    name = shown(path)
    if data.startswith(_HDF5):
        raise DataError(name, "is a MAT-file of version 7.3 (HDF5), expected version 5", "save it with -v7 in MATLAB")
    if 0 in data[:4] and any(data[:20]):  # a number below 5000, where version 5 has text
        raise DataError(name, "is a MAT-file of version 4, expected version 5", _SAVE)
    try:
        found = read_variables(data)
    except MemoryError:
        raise DataError(name, "does not fit into memory", "cut it into parts") from None
    except BadMatError as error:
        raise DataError(name, f"damaged or truncated MAT file, or not of version 5 ({error})", _SAVE) from None
    except Exception as error:
        raise DataError(name, f"damaged or truncated MAT file ({error})", "save it again") from error
    if not found:
        raise DataError(name, "holds no variable", "save it again")
    return found


def annotators(contents: dict[str, Value], path: Source | str, part: Part) -> tuple[NDArray[Any], ...]:
    """Give one part of a BSDS ground truth, one map per annotator."""
    cell = contents.get("groundTruth")
    if not isinstance(cell, list):
        raise _lacks("groundTruth", contents, path)
    maps = []
    for number, item in enumerate(cell, start=1):
        annotator = item[0] if isinstance(item, list) and len(item) == 1 else item
        array = annotator.get(part) if isinstance(annotator, dict) else None
        if not isinstance(array, np.ndarray):
            raise DataError(shown(path), f"annotator {number} has no map {part}", "expected a struct as in BSDS500")
        maps.append(as_map(array, f"{shown(path)}, annotator {number}", "ground truth").array)
    return _same_size(maps, path, "annotators")


def categories(contents: dict[str, Value], path: Source | str) -> tuple[NDArray[Any], ...]:
    """Give the boundaries of an SBD ground truth ``GTcls``, one map per category."""
    struct = contents.get("GTcls")
    first = struct[0] if isinstance(struct, list) and struct else None
    cell = first.get("Boundaries") if isinstance(first, dict) else None
    found = [item for item in cell if isinstance(item, np.ndarray)] if isinstance(cell, list) else []
    if not isinstance(cell, list) or not found or len(found) != len(cell):
        raise DataError(
            shown(path), "GTcls has no cell Boundaries of one map per category", "expected a struct as in SBD"
        )
    maps = [as_map(one != 0, f"{shown(path)}, category {k}", "ground truth").array for k, one in enumerate(found, 1)]
    return _same_size(maps, path, "categories")


def ucm2(contents: dict[str, Value], path: Source | str) -> NDArray[Any]:
    """Give the ultrametric contour map at twice the resolution."""
    array = contents.get("ucm2")
    if not isinstance(array, np.ndarray):
        raise _lacks("ucm2", contents, path)
    found = as_map(array, shown(path), "prediction").array
    if not (found.shape[0] % 2 and found.shape[1] % 2):
        what = f"ucm2 is {size(found.shape)}, expected odd sides, 2 h + 1 and 2 w + 1"
        raise DataError(shown(path), what, "write the map at twice the resolution")
    return found


def segs(contents: dict[str, Value], path: Source | str) -> tuple[NDArray[Any], ...]:
    """Give the label maps of a set of segmentations."""
    cell = contents.get("segs")
    if not isinstance(cell, list) or not cell:
        raise _lacks("segs", contents, path)
    maps = []
    for number, array in enumerate(cell, start=1):
        if not isinstance(array, np.ndarray):
            raise DataError(shown(path), f"segs {{{number}}} is not a label map", "expected a cell of label maps")
        maps.append(as_map(array, f"{shown(path)}, segmentation {number}", "ground truth").array)
    return _same_size(maps, path, "segmentations")


def one_map(contents: dict[str, Value], path: Source | str, role: Role) -> Decoded:
    """Give the only map among the variables, or the one named after its role."""
    wanted = variable_of(role)
    arrays = {name: value for name, value in contents.items() if isinstance(value, np.ndarray)}
    maps = {name: value for name, value in arrays.items() if value.size > 1} or arrays
    if wanted not in maps and len(maps) != 1:
        names = ", ".join(sorted(shown(name) for name in contents))
        what = f"{len(maps)} of the variables ({names}) are maps, expected one"
        hint = "choose the boundaries or regions protocol" if contents.keys() & {"groundTruth", "segs"} else ""
        raise DataError(shown(path), what, hint or f"name the one to read {wanted!r}")
    return as_map(maps[wanted] if wanted in maps else next(iter(maps.values())), shown(path), role)


def _header(file: BinaryIO, role: Role) -> Header:
    """Give the size of the map that would be read, from the heads of the variables."""
    found = {variable.name: variable for variable in outline(file)}
    if role == "prediction" and "ucm2" in found:
        height, width = found["ucm2"].shape
        return Header((height, width), doubled=True)
    maps = {name: each.shape for name, each in found.items() if each.numbers and math.prod(each.shape) > 1}
    shapes = [maps[wanted]] if (wanted := variable_of(role)) in maps else list(maps.values())
    if len(shapes) != 1 or len(shapes[0]) != 2:
        return Header()
    return Header((shapes[0][0], shapes[0][1]))


def _same_size(maps: list[NDArray[Any]], path: Source | str, what: str) -> tuple[NDArray[Any], ...]:
    sizes = sorted({array.shape for array in maps})
    if len(sizes) != 1:
        found = " and ".join(size(shape) for shape in sizes) or "none"
        raise DataError(shown(path), f"{len(maps)} {what} of the sizes {found}, expected one size", "save it again")
    return tuple(maps)


def _lacks(wanted: str, contents: dict[str, Value], path: Source | str) -> DataError:
    names = ", ".join(sorted(shown(name) for name in contents))
    return DataError(shown(path), f"has no {wanted}, only {names}", "check that this is the file meant")


FORMAT = Format(
    "MAT",
    (".mat",),
    (b"MATLAB 5.0",),
    lambda data, path, role: one_map(read_mat(data, path), path, role),
    _header,
)
