"""How messages name a setting: as an argument in Python, or as an option where the command line shows them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from numbers import Integral, Real
from shlex import quote
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")

_options = ContextVar("segbench_options", default=False)


def setting(option: str, argument: str) -> str:
    """Give what the reader of a message types: words for the command line, or words for Python."""
    return option if _options.get() else argument


def option_of(field: str, *, no: bool = False) -> str:
    """Write the option of a setting: ``--max-dist``, or ``--no-check``."""
    return f"--{'no-' * no}{field.replace('_', '-')}"


def named(field: str) -> str:
    """Name a setting: ``max_dist``, or ``--max-dist``."""
    return setting(option_of(field), field)


def format_setting(field: str, value: object = ..., *, of: str = "") -> str:
    """Write a setting with a value or ``...``: ``repairs=Repairs(scale=255)``, or ``--scale 255``."""
    value = tuple(map(_plain, value)) if isinstance(value, (tuple, list)) else _plain(value)
    argument = f"{field}={'...' if value is ... else repr(value)}"
    words = "" if value is ... or isinstance(value, bool) else f" {_typed(value)}"
    option = option_of(field, no=value is False)
    return setting(option + words, f"{of.lower()}={of}({argument})" if of else argument)


def _plain(value: object) -> object:
    """Give a number of Python for one of NumPy, and 255 for 255.0, but 1e300 as it is."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return value
    if isinstance(value, Integral):
        return int(value)
    found = float(value)
    return int(found) if found.is_integer() and abs(found) < 2**53 else found


def _typed(value: object) -> str:
    return quote(",".join(map(str, value)) if isinstance(value, tuple) else str(value))


@contextmanager
def naming_options(on: bool = True) -> Iterator[None]:  # noqa: FBT001, FBT002  as `carried` hands it over
    """Name settings as options within a block; the command line does so while a command runs."""
    token = _options.set(on)
    try:
        yield
    finally:
        _options.reset(token)


def carried(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Make a function name settings as here, also when another thread, process or machine calls it."""
    return partial(_call, _options.get(), function)


def _call(on: bool, function: Callable[_P, _R], *args: _P.args, **kwargs: _P.kwargs) -> _R:  # noqa: FBT001  as above
    with naming_options(on):
        return function(*args, **kwargs)
