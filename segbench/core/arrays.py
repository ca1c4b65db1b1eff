"""Arrays that callers give, as NumPy arrays in native byte order; masks are never dropped silently."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.errors import ArgumentError


def as_array(values: Any, name: str) -> NDArray[Any]:  # noqa: ANN401  whatever NumPy can read
    """Give an array in native byte order, without a copy where possible; refuse a mask that hides values."""
    plain, hidden = split_mask(values, name)
    if hidden is not None:
        raise ArgumentError(
            f"{name} masks {np.count_nonzero(hidden)} of {hidden.size} values, expected none masked here; "
            "replace them, for instance with .filled(0)"
        )
    try:
        array = np.asarray(plain)
    except ValueError as error:
        raise ArgumentError(f"{name} cannot be read as an array ({error}); give lists of one length") from error
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def as_floats(values: Any, name: str) -> NDArray[np.float64]:  # noqa: ANN401  as above
    """Give numbers as float64, as `as_array` does."""
    array = as_array(values, name)
    with suppress(TypeError, ValueError, OverflowError):  # of arrays of Python objects
        if array.dtype.kind in "biufO":
            return array.astype(np.float64, copy=False)
    raise ArgumentError(f"{name} is of type {array.dtype}, expected numbers: found {values!r:.80}")


def split_mask(values: Any, name: str) -> tuple[Any, NDArray[np.bool_] | None]:  # noqa: ANN401  as above
    """Take the mask off a masked array, or a list of them: plain values, and where masked, with None for nowhere."""
    if isinstance(values, (list, tuple)) and any(isinstance(part, np.ma.MaskedArray) for part in values):
        try:
            values = np.ma.stack([np.ma.asanyarray(part) for part in values])
        except ValueError as error:
            raise ArgumentError(f"{name} cannot be read as an array ({error}); give arrays of one shape") from error
    if not isinstance(values, np.ma.MaskedArray):
        return values, None
    return values.data, np.ma.getmaskarray(values) if np.ma.is_masked(values) else None


def where_counted(
    valid: Any,  # noqa: ANN401  as above
    shapes: tuple[tuple[int, ...], ...],
    hidden: Iterable[NDArray[np.bool_] | None],
) -> NDArray[np.bool_] | None:
    """Give where pixels count: where `valid` says so, and no array is masked; None for everywhere."""
    counted = None if valid is None else as_array(valid, "valid")
    if counted is not None and (counted.shape not in shapes or counted.dtype != np.bool_):
        found = f"valid has shape {counted.shape} and dtype {counted.dtype}"
        raise ArgumentError(f"{found}, expected {shapes[0]} and bool")
    return without_hidden(counted, *hidden)


def without_hidden(counted: NDArray[np.bool_] | None, *hidden: NDArray[np.bool_] | None) -> NDArray[np.bool_] | None:
    """Leave out masked pixels, too; None where all pixels count."""
    for mask in hidden:
        if mask is not None:
            counted = ~mask if counted is None else counted & ~mask
    return counted
