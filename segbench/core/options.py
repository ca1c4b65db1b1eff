"""Fields of a protocol as options of the command line: each that has a help text in its metadata."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, Field, field, fields
from typing import Any

from segbench.core.errors import ArgumentError
from segbench.core.messages import Message, option_of
from segbench.core.numbers import written


def option(help: str, default: Any = None, **others: Any) -> Any:  # noqa: A002, ANN401  as argparse calls it; of any type
    """Declare a field that is an option of the command line.

    Others: `flag`, such as "-o --output", where it is not the name of the field; `metavar`; `panel` of the help;
    `shown`, the default in words; `choices`; `least` and `most` of a number; `callback`, called before others are read;
    `rare` for those that only --help-all shows; `complete`, which gives words for the Tab key.

    `read` makes its value of text, and those of the fields `also`; its errors end with the `example`. Runs that differ
    in fields `of_predictions` may be compared: these change only what is predicted. Fields marked `measuring` change no
    counts, only the table: results files take others when they are read. Where runs differ in one, they are measured by
    the "union" of their values, with it if "any" has it, each with its "own", or apart from each other ("apart"); a
    "shorthand" is stored as the fields that it sets. Where the word none takes one away, `none` says in the help what
    it does.
    """
    return field(default=default, metadata={"help": help, **others})


def option_like(kind: Any, name: str, **changes: Any) -> Any:  # noqa: ANN401  a dataclass; of any type
    """Declare an option that another protocol has, too, with some changes."""
    option_field = kind.__dataclass_fields__[name]
    default = changes.pop("default", option_field.default)
    return field(default=default, metadata={**option_field.metadata, **changes})


def fields_with(protocol: Any, mark: str) -> frozenset[str]:  # noqa: ANN401  a dataclass
    """Name the fields with a mark, such as `of_predictions`, see `option`."""
    return frozenset(option_field.name for option_field in fields(protocol) if option_field.metadata.get(mark))


def changed_options(protocol: Any, names: Collection[str]) -> dict[str, str]:  # noqa: ANN401  a dataclass
    """Write the options of these names that differ from their defaults, as signatures have them."""
    options = [
        option_field
        for option_field in fields(protocol)
        if option_field.name in names and option_field.metadata.get("help")
    ]
    values = {option.name: getattr(protocol, option.name) for option in options}
    defaults = {option.name: option.default for option in options}
    return {name: setting_text(value) for name, value in values.items() if value != defaults[name]}


def setting_text(value: Any) -> str:  # noqa: ANN401  a value of a field
    """Write a value of an option."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    values = value if isinstance(value, (tuple, list)) else (value,)
    return ",".join(written(part) if isinstance(part, (int, float)) else str(part) for part in values) or "none"


def options_of(kind: Any) -> dict[str, Field[Any]]:  # noqa: ANN401  a dataclass
    """Return the fields of a dataclass that are options, by the names of their parameters: no_thin for --no-thin."""
    return {
        flag_of(option_field).lstrip("-").replace("-", "_"): option_field
        for option_field in fields(kind)
        if option_field.metadata.get("help")
    }


def flag_of(option_field: Field[Any]) -> str:
    """Write the option of a field, in its longer form."""
    flags: str = option_field.metadata.get("flag") or option_of(option_field.name, no=option_field.default is True)
    return flags.rsplit(maxsplit=1)[-1]


def made(kind: Callable[..., Any], typed: Mapping[str, Any], **others: Any) -> Any:  # noqa: ANN401  values of fields
    """Make a dataclass of what was typed, by the names of its parameters, and of values of other fields."""
    options = options_of(kind)
    missing = [
        flag_of(option_field)
        for name, option_field in options.items()
        if option_field.default is MISSING and name not in typed
    ]
    if missing:
        raise ArgumentError(
            Message(
                "missing-option",
                "the {protocol} protocol needs {missing}",
                protocol=getattr(kind, "name", kind.__name__),
                missing=missing,
            )
        )
    for name, value in typed.items():
        others |= _values(options[name], value)
    return kind(**others)


def _values(option_field: Field[Any], typed: Any) -> dict[str, Any]:  # noqa: ANN401  text, or what Click made of it
    """Return the values of the fields of an option; a flag turns its field to the other value."""
    if isinstance(option_field.default, bool):
        return {option_field.name: not option_field.default}
    also = option_field.metadata.get("also", ())
    value = value_of(option_field, typed)
    return dict(zip((option_field.name, *also), value, strict=True)) if also else {option_field.name: value}


def value_of(option_field: Field[Any], typed: Any) -> Any:  # noqa: ANN401  as above
    """Return the value of an option that was typed; none takes a setting of measuring away, see `option`."""
    if typed == "none" and "none" in option_field.metadata:
        return () if isinstance(option_field.default, tuple) else option_field.default
    read = option_field.metadata.get("read")
    try:
        return read(typed) if read else typed
    except ArgumentError:
        raise
    except ValueError as error:
        example = ""
        if "example" in option_field.metadata:
            example = f"; write {flag_of(option_field)} {option_field.metadata['example']}"
        raise ArgumentError(
            Message(
                "wrong-option",
                "{option} {typed!r} {reason}{example}",
                option=flag_of(option_field),
                typed=typed,
                reason=str(error),
                example=example,
            )
        ) from None


def read_numbers(text: str) -> tuple[float, ...]:
    """Read numbers between commas."""
    try:
        return tuple(float(number) for number in text.split(","))
    except ValueError:
        raise ValueError("is not a list of numbers with commas between them") from None


def read_whole(text: str) -> int:
    """Read a whole number."""
    try:
        return int(text)
    except ValueError:
        raise ValueError("is not a whole number") from None


def read_void(text: str) -> tuple[float, ...]:
    """Read values to leave out; "none" and an empty text for none."""
    return () if text in ("", "none") else read_numbers(text)


def read_thresholds(text: str) -> int | tuple[float, ...]:
    """Read a number of thresholds, or a list; -1 is a slip for the former, and -1.0 a list of one."""
    return int(text) if re.fullmatch(r"[+-]?[0-9]+", text) else read_numbers(text)
