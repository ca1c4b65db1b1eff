"""How the kernels are compiled: once on a machine, without the interpreter's lock, helpers folded into their callers.

Only kernels called from Python are kept between processes; each holds all the helpers it calls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from segbench.core.compiling import compiled, dispatcher_of

Function = TypeVar("Function", bound=Callable[..., object])

# Conversions inside kernels, where NumPy's scalars and Python's integers are one.
int64: Any = np.int64
uint64: Any = np.uint64
# For indices in inner loops: of signed ones, Numba tests whether they count from the end.
index: Any = np.uint32


def kernel(function: Function) -> Function:
    """Compile a function that Python calls; the result is kept on disk."""
    return compiled()(function)


def helper(function: Function) -> Function:
    """Compile a function that only kernels call, that makes no arrays, and fold it into them."""
    return _without_counting(function, forceinline=True)


def part(function: Function) -> Function:
    """Compile as `helper`, for a function too large to fold into its callers."""
    return _without_counting(function, forceinline=False)


def _without_counting(function: Function, *, forceinline: bool) -> Function:
    # Counting references to arrays, which live as long as the kernel runs anyway, doubles the time of the matching.
    options: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}
    return dispatcher_of(function, nogil=True, forceinline=forceinline, **options)
