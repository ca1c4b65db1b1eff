"""Fields of a protocol as options of the command line.

A field with a help text in its metadata is an option: its name, type and default are those of the field. Nothing else
has to change for it to appear in the help of the protocol's verb, in presets and in the commands of the report::

    max_dist: float = field(default=0.0075, metadata=option("Set the tolerance as a fraction of the diagonal."))
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from segbench.core.errors import ArgumentError, SegbenchError
from segbench.core.interface import option_of

Panel = Literal["Ground truth", "Protocol"]
Read = Callable[[str], Any]
_READ_BY_TYPER = (bool, int, float, str)


def option(
    help: str,  # noqa: A002  the name that command-line libraries and argparse use
    *,
    flag: str = "",
    metavar: str = "",
    panel: Panel = "Protocol",
    read: Read | None = None,
    also: tuple[str, ...] = (),
    default: str = "",
    of_predictions: bool = False,
) -> dict[str, Any]:
    """Give the metadata of a field that is an option of the command line.

    Runs that differ in fields `of_predictions` may be compared: these change only what is predicted.
    """
    return {
        "help": help,
        "flag": flag,
        "metavar": metavar,
        "panel": panel,
        "read": read,
        "also": also,
        "default": default,
        "of_predictions": of_predictions,
    }


@dataclass(frozen=True, kw_only=True)
class Option:
    """A field of a protocol as an option of the command line; other attributes are those of `option`."""

    name: str  # the parameter of the command and in presets: no_thin for --no-thin
    fields: tuple[str, ...]  # the field of the protocol, and further ones that the same text gives
    flag: str
    help: str
    kind: type  # bool for a flag; else what the text is read as: int, float or str
    choices: tuple[str, ...]
    metavar: str
    panel: str
    read: Read | None
    default: Any  # that of the field; `dataclasses.MISSING` if there is none
    default_text: str  # as the help shows it; empty where it is not shown
    default_in_words: bool  # and cannot be typed

    @property
    def required(self) -> bool:
        """Whether the field has no default."""
        return self.default is MISSING

    def values(self, given: Any) -> dict[str, Any]:  # noqa: ANN401  text, or what Typer made of it
        """Make the values of the fields from what was typed; a flag turns its field to the other value."""
        if self.kind is bool:
            return {self.fields[0]: not self.default}
        if self.choices and given not in self.choices:
            raise ArgumentError(f"{self.flag} {given!r} is not one of {', '.join(self.choices)}")
        try:
            value = (self.read or self.kind)(given)
        except ArgumentError:
            raise
        except ValueError as error:
            raise ArgumentError(f"{self.flag} {given!r} {error}") from None
        return dict(zip(self.fields, value, strict=True)) if len(self.fields) > 1 else {self.fields[0]: value}


@cache
def options_of(protocol: type) -> tuple[Option, ...]:
    """Give the options of a protocol, in the order of its fields."""
    hints = get_type_hints(protocol)
    return tuple(
        _option(protocol, each.name, hints[each.name], each.default, each.metadata)
        for each in fields(protocol)
        if each.metadata.get("help")
    )


def of_predictions(protocol: type) -> frozenset[str]:
    """Name the fields in which runs that are compared may differ, since they change only what is predicted."""
    return frozenset(each.name for each in fields(protocol) if each.metadata.get("of_predictions"))


def _option(protocol: type, name: str, hint: Any, default: Any, metadata: Mapping[str, Any]) -> Option:  # noqa: ANN401
    plain = _without_none(hint)
    choices = tuple(map(str, get_args(plain))) if get_origin(plain) is Literal else ()
    read = metadata.get("read")
    kind = str if choices or read else plain
    if kind not in _READ_BY_TYPER:
        raise ArgumentError(
            f"the option {name!r} of {protocol.__name__} has the type {hint}; add read=..., which makes it from text"
        )
    flag = metadata.get("flag") or option_of(name, no=default is True)
    shown = metadata.get("default", "")
    if not shown and default not in (MISSING, None, (), "") and kind is not bool:
        shown = str(default)
    return Option(
        name=flag.lstrip("-").replace("-", "_"),
        fields=(name, *metadata.get("also", ())),
        flag=flag,
        help=metadata["help"],
        kind=kind,
        choices=choices,
        metavar=metadata.get("metavar", ""),
        panel=metadata.get("panel", "Protocol"),
        read=read,
        default=default,
        default_text=shown,
        default_in_words=bool(metadata.get("default")),
    )


def _without_none(hint: Any) -> Any:  # noqa: ANN401  a type, as typing gives it
    kinds = [kind for kind in get_args(hint) if kind is not type(None)]
    return kinds[0] if get_origin(hint) in (Union, UnionType) and len(kinds) == 1 else hint


def protocol_from(protocol: type, given: Mapping[str, Any]) -> Any:  # noqa: ANN401  an instance of it
    """Make a protocol from what was typed, by the names of its options; other fields keep their defaults."""
    options = options_of(protocol)
    missing = [each.flag for each in options if each.required and each.name not in given]
    if missing:
        raise ArgumentError(f"the {getattr(protocol, 'name', protocol.__name__)} protocol needs {', '.join(missing)}")
    values = [each.values(given[each.name]) for each in options if each.name in given]
    return protocol(**{field: value for some in values for field, value in some.items()})


def typed_options(protocol: type, settings: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Find by trial the options that give a protocol the settings of a signature, and the settings left over."""
    typed: dict[str, Any] = {}
    left = dict(settings)
    while left:
        has = _fields(protocol, typed)
        left = {key: text for key, text in left.items() if has.get(key) != text}
        found = next((trial for key, text in left.items() for trial in _trials(protocol, typed, key, text)), None)
        if found is None:
            break
        typed = found
    words: list[str] = []
    for each in options_of(protocol):
        if each.name in typed:
            words += [each.flag] if each.kind is bool else [each.flag, typed[each.name]]
    return words, list(left)


def _trials(protocol: type, typed: Mapping[str, Any], key: str, text: str) -> list[dict[str, Any]]:
    """Give what has to be typed beside the rest for one setting to have this text, the simplest first."""
    parts = text.split(",")
    # A setting may end with what no option says: "1,5,1.01,smoothing 1".
    texts = [",".join(parts[:end]) for end in range(len(parts), 0, -1)]
    trials = [
        {**typed, each.name: given}
        for each in options_of(protocol)
        if each.name not in typed
        for given in ([True] if each.kind is bool else texts)
    ]
    return [trial for trial in trials if _fields(protocol, trial).get(key) == text]


def _fields(protocol: type, typed: Mapping[str, Any]) -> Mapping[str, str]:
    """Give the signature of a protocol made like this; empty if it cannot be made."""
    try:
        fields_: Mapping[str, str] = protocol_from(protocol, typed).signature_fields()
    except (SegbenchError, ValueError):
        return {}
    return fields_


def read_numbers(text: str) -> tuple[float, ...]:
    """Read numbers between commas."""
    try:
        return tuple(float(number) for number in text.split(","))
    except ValueError:
        raise ValueError("is not a list of numbers; write them with commas, as in 0,255 or 0.25,0.5") from None


def read_void(text: str) -> tuple[float, ...]:
    """Read values to leave out; "none" and an empty text for none."""
    return () if text in ("", "none") else read_numbers(text)


def read_thresholds(text: str) -> int | tuple[float, ...]:
    """Read a number of thresholds, or a list; -1 is a slip for the former, and -1.0 a list of one."""
    return int(text) if re.fullmatch(r"[+-]?[0-9]+", text) else read_numbers(text)
