"""Compiled loops, cached on disk where that is possible.

Imported only where one is called, because Numba is slow to load.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numba import njit
from numba.core import config
from numba.core.caching import FunctionCache
from numba.core.compiler_lock import global_compiler_lock
from numpy.typing import NDArray

Function = TypeVar("Function", bound=Callable[..., Any])

# Conversions inside kernels, where NumPy's scalars and Python's integers are one.
int64: Any = np.int64
uint64: Any = np.uint64
# For indices in inner loops: of signed ones, Numba tests whether they count from the end.
index: Any = np.uint32

_config: Any = config  # what it holds is set as Numba starts


class _Cache(FunctionCache):
    """A cache that a full disk, or a folder that others own, only makes useless."""

    def load_overload(self, *arguments: Any) -> Any:  # noqa: ANN401  Numba's own types
        """Load what was compiled before; None where it cannot be read."""
        try:
            return super().load_overload(*arguments)  # type: ignore[no-untyped-call]  # Numba is untyped
        except OSError:
            return None
        except AttributeError:  # it names a type of another version of this package
            self.flush()  # type: ignore[no-untyped-call]  # as above
            return None

    def save_overload(self, *arguments: Any) -> None:  # noqa: ANN401  as above
        """Keep what was compiled, if that can be."""
        try:
            super().save_overload(*arguments)  # type: ignore[no-untyped-call]  # as above
        except OSError:
            return


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM wait: what they raise while LLVM calls Python is lost, and leaves nothing compiled."""
    pending: list[Callable[[], Any]] = []

    def hold(handler: Callable[..., Any], *arguments: Any) -> None:  # noqa: ANN401  a number and a frame
        pending.append(partial(handler, *arguments))

    handlers_before = {}
    if threading.current_thread() is threading.main_thread():
        handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        handlers_before = {number: handler for number, handler in handlers.items() if callable(handler)}
    for number, handler in handlers_before.items():
        signal.signal(number, partial(hold, handler))
    try:
        yield
    finally:
        for number, handler in handlers_before.items():
            signal.signal(number, handler)
        if pending:
            pending[0]()


@contextmanager
def _compiling() -> Iterator[None]:
    """Let Numba compile where ``NUMBA_DISABLE_JIT`` turns that off: interpreted, integers would be of other widths."""
    with _undisturbed(), global_compiler_lock:
        disabled = _config.DISABLE_JIT
        _config.DISABLE_JIT = 0
        try:
            yield
        finally:
            _config.DISABLE_JIT = disabled


def dispatcher_of(function: Callable[..., Any], **options: Any) -> Any:  # noqa: ANN401  Numba's own
    """Make what compiles a function when it is first called, whatever the environment says of others."""
    with _compiling():
        dispatcher: Any = njit(**options)(function)
    dispatcher.compile = _compiling()(dispatcher.compile)
    return dispatcher


def compiled(**options: Any) -> Callable[[Function], Function]:  # noqa: ANN401  Numba's own
    """Compile a function when it is first called; it runs without the interpreter's lock."""

    def decorate(function: Function) -> Function:
        # Nothing calls the loops by a pointer, and the code for that takes a sixth of the time to compile.
        options.update(nogil=True, no_cfunc_wrapper=True)
        dispatcher = dispatcher_of(function, **options)
        with suppress(RuntimeError):  # neither beside the sources nor in the user's folder may be written
            dispatcher._cache = _Cache(function)  # type: ignore[no-untyped-call]  # noqa: SLF001  no other door
        compiled_function: Function = dispatcher
        return compiled_function

    return decorate


kernel = compiled()


def helper(function: Function) -> Function:
    """Compile a function that only kernels call, that makes no arrays, and fold it into them."""
    return part(function, forceinline=True)


def part(function: Function, *, forceinline: bool = False) -> Function:
    """Compile as `helper`, for a function too large to fold into its callers."""
    # Counting references to arrays, which live as long as the kernel runs anyway, doubles the time of the matching.
    options: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}
    return dispatcher_of(function, nogil=True, forceinline=forceinline, **options)


@compiled()
def root_of(parents: NDArray[Any], label: int) -> int:
    """Return the label that stands for a component, and shorten the path to it."""
    while parents[label] != label:
        parents[label] = parents[parents[label]]
        label = parents[label]
    return label
