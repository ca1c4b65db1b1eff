"""Stored values of a prediction to scores, in another way than by the type they are stored in."""

from __future__ import annotations

import math
from typing import Any, Literal, TypeAlias, cast, get_args

import numpy as np
from numpy.typing import NDArray

from segbench.core.errors import ArgumentError, DataError
from segbench.core.interface import setting

_Named: TypeAlias = Literal["minmax", "sigmoid"]
Scale: TypeAlias = float | _Named


def as_scale(scale: float | str) -> Scale:
    """Read a scale: a number above 0, or the name of one."""
    if isinstance(scale, str) and scale in get_args(_Named):
        return cast("_Named", scale)
    try:
        number = math.nan if isinstance(scale, (bool, np.bool_)) else float(scale)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not 0 < number < math.inf:
        shown = f"{setting('--scale ', 'scale=')}{scale!r:.60}"
        raise ArgumentError(f"{shown} is not a scale; give a number above 0 (as 255), minmax or sigmoid")
    return number


def scaled(stored: NDArray[Any], scale: Scale, name: str) -> tuple[NDArray[Any], tuple[str, ...]]:
    """Turn stored values into scores, in double precision."""
    kind = stored.dtype.kind
    if kind == "b":
        return stored, ()
    if scale == "sigmoid":
        from scipy.special import expit

        if kind != "f":
            raise DataError(name, f"{stored.dtype} values, but logits are floats", "save them as floats")
        logits: NDArray[Any] = expit(stored.astype(np.float64))
        return logits, ("prediction: score = 1 / (1 + exp(-value))",)
    if scale == "minmax":
        require_finite(stored, name, "so the map has no minimum and maximum")
        lowest, highest = float(stored.min()), float(stored.max())
        if lowest == highest:
            return stored, ()
        stretched = (stored.astype(np.float64) - lowest) / (highest - lowest)
        return stretched, (f"prediction stretched to its own minimum and maximum [{lowest:g} to {highest:g}]",)
    if scale == (1 if kind == "f" else np.iinfo(stored.dtype).max):
        return stored, ()
    return stored.astype(np.float64) / scale, (f"prediction: score = value / {f'{scale}'.removesuffix('.0')}",)


def require_finite(stored: NDArray[Any], name: str, why: str) -> None:
    """Refuse NaN and infinite values where they would touch others."""
    bad = stored.size - int(np.isfinite(stored).sum())
    if bad:
        raise DataError(name, f"{bad} NaN and infinite scores, {why}", "write finite scores")
