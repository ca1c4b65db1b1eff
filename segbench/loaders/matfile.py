"""The variables of a MATLAB file in plain Python, read by SciPy.

SciPy believes what a file declares: a flipped bit in a size makes it allocate gigabytes before it notices. So what is
declared is looked at first, and a sparse matrix is checked before it is filled.
"""

from __future__ import annotations

import io
import math
import warnings
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from segbench.loaders.decoded import MAX_PIXELS

Value: TypeAlias = "NDArray[Any] | str | list[Value] | list[dict[str, Value]] | None"
"""Numbers as an array; text; a cell as a list; a struct array as a list of dicts; None for what is not read."""


class BadMatError(Exception):
    """What is wrong with the bytes of a .mat file."""


def variables(data: bytes) -> dict[str, Value]:
    """Read every variable of a file of version 4 or 5.

    Parameters
    ----------
    data : bytes
        The whole file.

    Returns
    -------
    dict
        From name to value; numbers have the type MATLAB showed them in, logicals are bool.

    Raises
    ------
    BadMatError
        For a variable larger than `MAX_PIXELS`, an impossible one, or one of complex numbers.
    Exception
        Whatever SciPy raises on damaged bytes.
    """
    from scipy.io import loadmat, whosmat

    for name, shape, _ in whosmat(io.BytesIO(data)):
        if min(shape, default=0) < 0 or math.prod(shape) > MAX_PIXELS:
            raise BadMatError(f"variable {name!r} of dimensions {shape}")
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        try:
            found = loadmat(io.BytesIO(data), mat_dtype=True)
        except np.exceptions.ComplexWarning:
            raise BadMatError("complex numbers, which no map is made of") from None
    return {name: _plain(value) for name, value in found.items() if not name.startswith("__")}


def _plain(value: Any) -> Value:  # noqa: ANN401  whatever SciPy makes of MATLAB's types
    from scipy.sparse import issparse

    if issparse(value):
        return _filled(value)
    if not isinstance(value, np.ndarray):
        return None
    if value.dtype.names:
        return [{name: _plain(item[name]) for name in value.dtype.names} for item in value.ravel(order="F")]
    if value.dtype == object:
        return [_plain(item) for item in value.ravel(order="F")]
    if value.dtype.kind == "U":
        return "".join(value.ravel())
    return value.astype(value.dtype.newbyteorder("="), copy=False) if value.dtype.kind in "biuf" else None


def _filled(matrix: Any) -> NDArray[Any]:  # noqa: ANN401  SciPy is untyped
    if math.prod(matrix.shape) > MAX_PIXELS:
        raise BadMatError(f"a sparse matrix of dimensions {matrix.shape}")
    matrix.check_format(full_check=True)
    filled: NDArray[Any] = matrix.toarray()
    return filled
