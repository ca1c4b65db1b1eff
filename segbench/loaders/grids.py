"""Ground truth as grids of digits in text files."""

from __future__ import annotations

import io
from typing import BinaryIO

import numpy as np

from segbench.loaders.decoded import Decoded, Format, Header, Role


def _decode(data: bytes, path: str, _role: Role) -> Decoded:
    return Decoded(np.loadtxt(io.BytesIO(data), dtype=np.uint8, ndmin=2))


def _header(file: BinaryIO, _role: Role) -> Header:
    return Header(_decode(file.read(), "", _role).array.shape, "uint8")


FORMAT = Format("text grid", (".txt",), (), _decode, _header)
