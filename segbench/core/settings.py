"""Settings and arguments: how they are declared, checked, read from text, and what is said of unknown ones.

A protocol declares its settings as fields with `option`, which makes them options of the command line, too, and checks
them with `check_settings`, `as_whole` and the like, whose errors say what was found and what is expected.
"""

from __future__ import annotations

import difflib
import inspect
import math
import os
import re
import shlex
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import MISSING, Field, field, fields
from functools import cache
from itertools import islice
from numbers import Integral, Real
from typing import Any, Literal, NoReturn, TypeAlias, TypeVar, cast, get_args, get_origin, get_type_hints

from segbench.core.errors import ArgumentError, SegbenchError, UnknownArgumentError
from segbench.core.guesses import VALUES, options_meant, value_meant
from segbench.core.messages import NOTHING, Message, Setting, joined, option_of
from segbench.core.names import first_names
from segbench.core.numbers import written

_MOST_CLASSES = 1000

Number = TypeVar("Number", int, float)

Name: TypeAlias = str | Setting
"""What errors call an argument; a setting, with the value None, is an option of the command line, too."""
Quantize: TypeAlias = Literal[8, 16]
"""How many bits float scores in [0, 1] are rounded to on request."""


def as_whole(value: Any, name: Name, *, least: int | None = 0, most: int | None = None) -> int:  # noqa: ANN401  checked here
    """Read a whole number of Python or NumPy; 2.0 is accepted, True and "2" are not."""
    number = _plain(value)
    whole = number is not None and number == int(number)
    if number is None or not whole or (least is not None and number < least) or (most is not None and number > most):
        expected = "a whole number"
        if least is not None:
            expected += f" of at least {least}" if most is None else f" from {least} to {most}"
        raise _wrong(name, value, expected)
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
    for setting in fields(settings):
        value = getattr(settings, setting.name)
        if isinstance(setting.default, bool) and type(value).__name__ not in ("bool", "bool_"):  # Python's or NumPy's
            raise _wrong(setting.name, value, "True or False")
        if setting.name in choices and value is not setting.default:
            check_choice(value, Setting(setting.name, None), choices[setting.name])


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
        meant = value_meant(name.name if isinstance(name, Setting) else name, value, expected)
        raise _wrong(name, value, f"{words}; perhaps {meant!r} is meant" if meant else words)


def listed(values: Any, name: Name, example: str, *, most: int | None = None) -> tuple[Any, ...]:  # noqa: ANN401  as above
    """Read several values, of many no more than `most`; `example` shows how they are written."""
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise _wrong(name, values, f"several values, as in {example}")
    return tuple(islice(values, most))


def as_distinct(
    values: Any,  # noqa: ANN401  as above
    name: str,
    example: str,
    read: Callable[[Any, Name], Number],
) -> tuple[Number, ...]:
    """Read one number or several, as `read` reads each: rising, each once; `example` shows how several are written."""
    several = (values,) if isinstance(values, Real) else listed(values, name, example)
    return tuple(sorted({read(value, Setting(name, None)) for value in several}))


def as_quantize(value: Any) -> Quantize | None:  # noqa: ANN401  as above
    """Read how many bits scores are rounded to, None for not at all."""
    if value is not None and _plain(value) not in (8, 16):
        raise _wrong(Setting("quantize", None), value, "8 or 16")
    return None if value is None else cast("Quantize", int(value))


def _wrong(name: Name, value: object, expected: Message | str) -> ArgumentError:
    """Return the error of an argument with a wrong value."""
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


def option(help: str, default: Any = None, **others: Any) -> Any:  # noqa: A002, ANN401  as argparse calls it; of any type
    """Declare a field that is an option of the command line.

    Others: `flag`, such as "-o --output", where it is not the name of the field; `metavar`; `panel` of the help;
    `shown`, the default in words; `choices`; `least` and `most` of a number; `callback`, called before others are read;
    `rare` for those that only --help-all shows; `complete`, which gives words for the Tab key.

    `read` makes its value of text, and those of the fields `also`; its errors end with the `example`. `write` makes
    text of it again where that is another than usual. Runs that differ in fields `of_predictions` may be compared:
    these change only what is predicted. Fields marked `measuring` change no counts, only the table: results files
    take others when they are read; `may_count` says that some values do decide what is counted. Where runs differ in
    one, they are measured by the "union" of their values, with it if "any" has it, each with its "own", or apart from
    each other ("apart"); a "shorthand" is stored as the fields that it sets. Where the word none takes one away,
    `none` says in the help what it does, and `taken_away` is the value that it then has, if that is not the default.
    """
    return field(default=default, metadata={"help": help, **others})


def option_like(kind: Any, name: str, **changes: Any) -> Any:  # noqa: ANN401  a dataclass; of any type
    """Declare an option that another protocol has, too, with some changes."""
    option_field = kind.__dataclass_fields__[name]
    default = changes.pop("default", option_field.default)
    return field(default=default, metadata={**option_field.metadata, **changes})


def changed_options(protocol: Any, names: Collection[str]) -> dict[str, str]:  # noqa: ANN401  a dataclass
    """Write the options of these names that differ from their defaults, as signatures have them."""
    options = [
        option_field
        for option_field in fields(protocol)
        if option_field.name in names and option_field.metadata.get("help")
    ]
    values = {option.name: getattr(protocol, option.name) for option in options}
    defaults = {option.name: option.default for option in options}
    texts = {name: setting_text(value) for name, value in values.items()}
    return {name: text for name, text in texts.items() if text != setting_text(defaults[name])}


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
    *_, longest = flags.split()
    return longest


def made(kind: Callable[..., Any], typed: Mapping[str, Any], **others: Any) -> Any:  # noqa: ANN401  values of fields
    """Make a dataclass from options that were typed, by their parameters, and from values of other fields."""
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
        default = () if isinstance(option_field.default, tuple) else option_field.default
        return option_field.metadata.get("taken_away", default)
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


def read_number(text: str) -> float:
    """Read a number."""
    try:
        return float(text)
    except ValueError:
        raise ValueError("is not a number") from None


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


def refuse_unknown_settings(kind: type[Any], settings: Mapping[str, Any]) -> None:
    """Refuse settings that a dataclass does not have, and say which were meant."""
    known = {field.name: field for field in fields(kind)}
    unknown = [name for name in settings if name not in known]
    unknown = unknown_to(kind, unknown) if unknown else []
    if not unknown:
        return
    others = {name: value for name, value in settings.items() if name in known}
    answers = [_setting_meant(kind, name, settings[name], others) for name in unknown]
    advice = joined(answers) or Message("fix", "its settings are {known}", known=tuple(known))
    raise UnknownArgumentError(
        Message(
            "unknown-argument",
            "{called} has no setting {listed}; {advice}",
            called=kind.__name__,
            listed=first_names(unknown, len(unknown)),
            unknown=unknown,
            advice=advice,
        )
    )


def refuse_unnamed_settings(kind: type[Any], value: object) -> NoReturn:
    """Refuse a setting without its name, and write it with the name of the first setting that takes it."""
    names = [field.name for field in fields(kind) if field.init]
    name = next((name for name in names if _takes(kind, name, value, {})), names[0])
    raise UnknownArgumentError(
        Message(
            "unnamed-setting",
            "{called} takes settings by their names: write {called}({setting})",
            called=kind.__name__,
            setting=Setting(name, value).written("python"),
        )
    )


def unknown_to(called: Any, names: Collection[str]) -> list[str]:  # noqa: ANN401  anything that is called
    """Return the names that are no keyword arguments of a function or class."""
    parameters = inspect.signature(called).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return []
    return [name for name in names if name not in parameters]


def _setting_meant(kind: type[Any], typed: str, value: Any, others: Mapping[str, Any]) -> Message:  # noqa: ANN401  of any type
    """Say what to write for a setting that a protocol does not have; empty if no setting is similar."""
    settings = meant_settings(kind, typed, value, others)
    if not settings:
        similar = difflib.get_close_matches(typed, [field.name for field in fields(kind)], 1, 0.75)
        settings = {name: value for name in similar if _takes(kind, name, value, others)}
    if not settings:
        return NOTHING
    name, suggested = next(iter(settings.items()))
    return Message("fix", "write {setting}", setting=Setting(name, suggested))


def meant_settings(kind: type[Any], typed: str, value: Any, others: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ANN401  as above
    """Return the settings that a word stands for, with the value as they take it, or else an example."""
    known = {field.name: field for field in fields(kind)}
    by_flag = {flag_of(field): name for name, field in known.items()} | {
        flag_of(field): field.name for field in options_of(kind).values()
    }
    meant = {by_flag[flag]: text for flag, text in options_meant(typed) if flag in by_flag}
    with_same_flag = by_flag.get(f"--{typed.replace('_', '-')}")
    if with_same_flag is not None:
        meant = {with_same_flag: ""} | meant
    as_typed = {
        name: form
        for name, text in meant.items()
        for form in reversed(_forms(name, value, text))
        if _takes(kind, name, form, others)
    }
    examples = {name: _example(known[name], text) for name, text in meant.items() if name not in as_typed}
    return as_typed | {name: value for name, value in examples.items() if _takes(kind, name, value, others)}


def _forms(name: str, value: Any, example: str) -> list[Any]:  # noqa: ANN401  of any type
    """Return the forms in which a setting may take a value: a number also as a rule, as pixels, or so many labels."""
    if isinstance(value, str):
        return [value, *(form for form, words in VALUES.get(name, {}).items() if value in words.split())]
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return [value]
    if name == "max_dist":
        return [value, f"{value}px"]
    if example.strip("'").startswith(">="):
        return [f">={value}"]
    return [value, tuple(range(value))] if isinstance(value, int) and 0 < value < _MOST_CLASSES else [value]


def _takes(kind: type[Any], name: str, value: Any, others: Mapping[str, Any]) -> bool:  # noqa: ANN401  as above
    """Return whether a dataclass accepts a value of a setting, beside others."""
    if name in others or value is None:
        return False
    with suppress(SegbenchError, TypeError):
        kind(**{**others, name: value})
        return True
    return False


def _example(field: Field[Any], text: str) -> object:
    """Return the value in the example of an option; None where it has none, or one that needs words."""
    words = shlex.split(text)
    if len(words) != 1 or words[0].isupper() or not field.metadata.get("help"):
        return None
    with suppress(ArgumentError, ValueError):
        return value_of(field, words[0])
    return None
