"""The variables of a MATLAB file in plain Python, whichever version it is of."""

from __future__ import annotations

import io
from typing import BinaryIO

from segbench.loaders import mat4, mat5
from segbench.loaders.mat5 import Value, Variable


def variables(data: bytes) -> dict[str, Value]:
    """Read every variable of a file of version 4 or 5."""
    return mat4.read_variables(io.BytesIO(data)) if _is_version_4(data) else mat5.read_variables(data)


def heads(file: BinaryIO) -> list[Variable]:
    """Name the variables of a file, without reading what they hold where they are packed."""
    start = file.read(4)
    file.seek(0)
    return list(mat4.outline(file) if _is_version_4(start) else mat5.outline(file))


def _is_version_4(data: bytes) -> bool:
    """Tell the versions apart: one begins with a number below 5000, the other with text."""
    return 0 in data[:4]
