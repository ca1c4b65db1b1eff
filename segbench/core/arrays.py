"""Checks of arrays that callers pass, whose masks are never dropped silently; and integer arrays of counts."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from segbench.core.errors import ArgumentError
from segbench.core.messages import Message


def as_array(values: Any, name: str) -> NDArray[Any]:  # noqa: ANN401  whatever NumPy can read
    """Return numbers as an array, see `_as_array`; refuse anything else."""
    array = _as_array(values, name)
    if array.dtype.kind not in "biuf":
        received = type(values).__name__ + (f" of {array.dtype}" if array.ndim else "")
        raise ArgumentError(
            Message(
                "no-array",
                "{argument} is {found}, expected an array or a tensor of numbers",
                argument=name,
                found=received,
            )
        )
    return array


def _as_array(values: Any, name: str) -> NDArray[Any]:  # noqa: ANN401  as above
    """Return an array in native byte order, without a copy where possible; refuse a mask that hides values."""
    if type(values) is np.ndarray and values.dtype.isnative:
        return values
    plain, hidden = split_mask(values, name)
    if hidden is not None:
        raise ArgumentError(
            Message(
                "masked-values",
                "{argument} masks {masked} of {total} values, expected none masked here; "
                "replace them, for instance with .filled(0)",
                argument=name,
                masked=int(np.count_nonzero(hidden)),
                total=hidden.size,
            )
        )
    try:
        array = np.asarray(plain)
    except Exception as error:  # of whatever library it is, each of which raises its own
        why = " ".join(str(error).split())
        tensor = "tensor.detach().cpu()" + (".float()" if "BFloat16" in why else "")  # which NumPy lacks
        lists = isinstance(error, ValueError)
        fix = "give lists of one length" if lists else f"give a NumPy array; for a PyTorch tensor, {tensor}"
        raise ArgumentError(_unreadable(name, why, fix)) from error
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _unreadable(name: str, why: str, fix: str) -> Message:
    """Say that a library makes no array of an argument."""
    return Message(
        "no-array", "{argument} cannot be read as an array ({reason}); {fix}", argument=name, reason=why, fix=fix
    )


def as_floats(values: Any, name: str) -> NDArray[np.float64]:  # noqa: ANN401  as above
    """Return numbers as float64, as `as_array` does."""
    array = _as_array(values, name)
    with suppress(TypeError, ValueError, OverflowError):  # of arrays of Python objects
        if array.dtype.kind in "biufO":
            return array.astype(np.float64, copy=False)
    raise ArgumentError(
        Message(
            "no-numbers",
            "{argument} is of type {dtype}, expected numbers: found {found}",
            argument=name,
            dtype=str(array.dtype),
            found=f"{values!r:.80}",
        )
    )


def split_mask(values: Any, name: str) -> tuple[Any, NDArray[np.bool_] | None]:  # noqa: ANN401  as above
    """Take the mask off a masked array, or a list of them: plain values, and where masked, with None for nowhere."""
    if isinstance(values, (list, tuple)) and any(isinstance(part, np.ma.MaskedArray) for part in values):
        try:
            values = np.ma.stack([np.ma.asanyarray(part) for part in values])
        except ValueError as error:
            raise ArgumentError(_unreadable(name, str(error), "give arrays of one shape")) from error
    if not isinstance(values, np.ma.MaskedArray):
        return values, None
    return values.data, np.ma.getmaskarray(values) if np.ma.is_masked(values) else None


def without_hidden(counted: NDArray[np.bool_] | None, *hidden: NDArray[np.bool_] | None) -> NDArray[np.bool_] | None:
    """Leave out masked pixels, too; None where all pixels count."""
    for mask in hidden:
        if mask is not None:
            counted = ~mask if counted is None else counted & ~mask
    return counted


Array = NDArray[Any]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

LARGEST_TOTAL = 2**56
"""Of pixels counted together."""

MEAN_UNITS = 2**36
"""Units in 1, or in a bit, of values that are averaged over annotators or images: as whole numbers they add exactly."""

_BEYOND_INT64 = 2.0**63
_FEW = 2**9  # numbers that Python adds up before NumPy has begun


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view of the array that cannot be written through."""
    view = array.view()
    view.flags.writeable = False
    return view


def mean_of_defined(values: FloatArray) -> FloatArray:
    """Average along the second axis over the values that are not nan; nan where all are."""
    defined = ~np.isnan(values)
    with np.errstate(invalid="ignore"):  # 0 / 0
        mean: FloatArray = np.where(defined, values, 0).sum(axis=1) / defined.sum(axis=1)
    return mean


def is_whole(array: NDArray[Any]) -> bool:
    """Return whether all values are whole numbers; most soft maps of floats are recognised by a few pixels."""
    if array.dtype.kind != "f":
        return True
    flat = array.reshape(-1)
    sampled = flat[:: max(1, flat.size // 1024)]
    with np.errstate(invalid="ignore"):  # a signalling NaN is found like any other
        return bool(np.array_equal(sampled, np.rint(sampled)) and np.array_equal(flat, np.rint(flat)))


def distinct(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return the distinct values of an array, rising."""
    if values.dtype in (np.uint8, np.uint16):
        flat = values.reshape(-1)
        begun = flat[1:][np.flatnonzero(flat[1:] != flat[:-1])]  # where runs begin: a tenth of the time for label maps
        return np.flatnonzero(np.bincount(np.append(begun, flat[:1]), minlength=1)).astype(np.float64)
    return np.unique(values).astype(np.float64)


def as_counts(values: ArrayLike, name: str) -> NDArray[Any]:
    """Check a list of counts: whole numbers of up to 64 bits, not negative; int32, which halves long curves, stays."""
    array = _as_array(values, name)
    if array.ndim != 1:
        raise ArgumentError(
            Message(
                "wrong-shape",
                "{argument} has shape ({shape}), expected one dimension",
                argument=name,
                shape=array.shape,
            )
        )
    if array.size and array.dtype not in (np.int32, np.int64):
        numbers = as_floats(array, name)
        if not np.all(np.isfinite(numbers) & (numbers == np.rint(numbers))):
            raise ArgumentError(
                Message(
                    "not-whole",
                    "{argument} holds values that are not whole numbers; counts are integers",
                    argument=name,
                )
            )
        if numbers.max() >= _BEYOND_INT64 or numbers.min() < -_BEYOND_INT64:
            largest = numbers[np.abs(numbers).argmax()]
            raise ArgumentError(
                Message(
                    "beyond-int64", "{argument} holds {value:g}, beyond 64-bit integers", argument=name, value=largest
                )
            )
    array = array.astype(np.int64, copy=False) if array.dtype != np.int32 else array
    if array.size and array.min() < 0:
        raise ArgumentError(
            Message(
                "negative", "{argument} holds {value}; counts are not negative", argument=name, value=int(array.min())
            )
        )
    return frozen(array)


def within_total(total: int, name: str) -> int:
    """Refuse a total of pixels beyond which sums and products of totals could leave 64 bits."""
    if total > LARGEST_TOTAL:
        raise ArgumentError(
            Message(
                "too-many-pixels",
                "{argument} add up to {total}, expected at most 2**56; count fewer images together",
                argument=name,
                total=total,
            )
        )
    return total


def total_of(counts: NDArray[Any]) -> int:
    """Add counts up, in their own type where that does, which is quickest, else in integers of any size."""
    if counts.size <= _FEW:
        return sum(counts.tolist())
    most = int(counts.max(initial=0)) * counts.size
    if most >= _BEYOND_INT64:
        return sum(counts.tolist())
    return int(counts.sum(dtype=counts.dtype if most <= np.iinfo(counts.dtype).max else np.int64))


def added(counts: Sequence[IntArray], name: str) -> IntArray:
    """Add counts of the same shape entry by entry, none of which is negative."""
    stack = np.array(counts)
    may_leave = int(stack.max(initial=0)) * len(stack) >= _BEYOND_INT64
    if may_leave and stack.astype(object).sum(axis=0).max() >= _BEYOND_INT64:
        raise ArgumentError(
            Message(
                "too-many-pixels",
                "{argument} add up to more than 64-bit integers hold; count fewer images together",
                argument=name,
            )
        )
    total: IntArray = stack.sum(axis=0, dtype=np.int64)
    return total


@cache
def keep_freed_memory() -> None:
    """Have glibc keep the memory of one image for the next, instead of having all its pages cleared and mapped again.

    It raises its limits to the largest block freed so far, up to 32 MB; this one is never touched. Decoding takes a
    fifth less, and where another allocator is used nothing changes.
    """
    np.empty(2**25 - 2**16, np.uint8)
