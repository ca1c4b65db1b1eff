"""Checks of numbers that callers pass; errors name the argument, what was found and what is expected."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import fields
from functools import cache
from itertools import islice
from numbers import Integral, Real
from typing import Any, Literal, TypeAlias, TypeVar, cast, get_args, get_origin, get_type_hints

from segbench.core.errors import ArgumentError
from segbench.core.messages import Message, Setting

_T = TypeVar("_T", int, float)

Name: TypeAlias = str | Setting
"""What errors call an argument; a setting, with the value None, is an option of the command line, too."""
Quantize: TypeAlias = Literal[8, 16]
"""How many bits float scores in [0, 1] are rounded to on request."""


def as_whole(value: Any, name: Name, *, least: int | None = 0, most: int | None = None) -> int:  # noqa: ANN401  checked here
    """Read a whole number of Python or NumPy; 2.0 is accepted, True and "2" are not."""
    number = _plain(value)
    whole = number is not None and number == int(number)
    if number is None or not whole or (least is not None and number < least) or (most is not None and number > most):
        between = "" if least is None else f" of at least {least}" if most is None else f" from {least} to {most}"
        raise _wrong(name, value, f"a whole number{between}")
    return int(number)


def as_real(
    value: Any,  # noqa: ANN401  as above
    name: Name,
    expected: Message | str = "numbers",
    *,
    least: float = -math.inf,
    most: float = math.inf,
    open_ends: bool = False,
) -> float:
    """Read a number in [`least`, `most`], or between them with `open_ends`; `expected` describes this in the error."""
    number = _plain(value)
    least, most = max(least, -sys.float_info.max), min(most, sys.float_info.max)
    if number is None or not (least < number < most if open_ends else least <= number <= most):
        raise _wrong(name, value, expected)
    return float(number)


def as_path(value: Any, name: Name) -> str:  # noqa: ANN401  as above
    """Read a path."""
    if not isinstance(value, (str, os.PathLike)):
        several = isinstance(value, (list, tuple))
        raise _wrong(name, value, "one path; call once for each of several" if several else "one path")
    return os.fspath(value)


def set_fields(settings: Any, **values: Any) -> None:  # noqa: ANN401  a frozen dataclass, of values of any type
    """Set fields of a frozen dataclass while it is made."""
    for name, value in values.items():
        object.__setattr__(settings, name, value)


def check_settings(settings: Any) -> None:  # noqa: ANN401  a dataclass
    """Insist that flags of a dataclass are True or False ("no" would be on), and each `Literal` one of its values."""
    kind: Any = type(settings)
    choices = _choices(kind)
    for field in fields(settings):
        value = getattr(settings, field.name)
        if isinstance(field.default, bool) and type(value).__name__ not in ("bool", "bool_"):  # Python's or NumPy's
            raise _wrong(field.name, value, "True or False")
        if field.name in choices and value is not field.default:
            check_choice(value, Setting(field.name, None), choices[field.name])


@cache
def _choices(kind: Any) -> dict[str, tuple[Any, ...]]:  # noqa: ANN401  a dataclass
    """Return the values of each field of a dataclass that is a `Literal`, or one or None."""
    literals = {
        name: [literal for literal in (hint, *get_args(hint)) if get_origin(literal) is Literal]
        for name, hint in get_type_hints(kind).items()
    }
    return {name: get_args(literal_types[0]) for name, literal_types in literals.items() if literal_types}


def check_choice(value: object, name: Name, choices: Iterable[object]) -> None:
    """Insist on one of some values; True is not 1."""
    expected = tuple(choices)
    if isinstance(value, bool) or value not in expected:
        words = " or ".join(map(repr, expected)) if len(expected) == 2 else f"one of {', '.join(map(str, expected))}"
        raise _wrong(name, value, words)


def listed(values: Any, name: Name, example: str, *, most: int | None = None) -> tuple[Any, ...]:  # noqa: ANN401  as above
    """Read several values, of many no more than `most`; `example` shows how they are written."""
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise _wrong(name, values, f"several values, as in {example}")
    return tuple(islice(values, most))


def as_void(values: Any, example: str, read: Callable[[Any], _T]) -> tuple[_T, ...]:  # noqa: ANN401  as above
    """Read the ground-truth values that are left out, one or several: rising, each once."""
    is_single = isinstance(values, Real) and not isinstance(values, bool)
    return tuple(sorted({read(value) for value in ((values,) if is_single else listed(values, "void", example))}))


def as_quantize(value: Any, name: Name) -> Quantize | None:  # noqa: ANN401  as above
    """Read how many bits scores are rounded to, None for not at all."""
    if value is not None and _plain(value) not in (8, 16):
        raise _wrong(name, value, "8 or 16")
    return None if value is None else cast("Quantize", int(value))


def _wrong(name: Name, value: object, expected: Message | str) -> ArgumentError:
    """Return the error of an argument that has another value than it may have."""
    value_text = f"{value:g}" if isinstance(value, float) else f"{value!r:.60}"
    return ArgumentError(
        Message(
            "wrong-value",
            "{argument} is {value}, expected {expected}",
            argument=name,
            value=value_text,
            expected=expected,
        )
    )


def _plain(value: object) -> int | float | None:
    """Return a number of Python or NumPy as int or float; None for anything else, an infinity and NaN."""
    if isinstance(value, bool):
        return None
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        number = float(value)
        return number if math.isfinite(number) else None
    return None
