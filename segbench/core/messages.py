"""A message is data: a kind, the values that it speaks of, and the settings that would help.

Text is made where somebody reads it: `str` writes arguments of Python, the command line asks for its options. Notes,
findings, failures and errors hold messages; files keep them as JSON. No code reads the text of a message.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite
from numbers import Integral, Real
from shlex import quote
from string import Formatter
from typing import Any, Literal, TypeAlias

from segbench.core.interface import setting

Style: TypeAlias = Literal["python", "options"]
"""Whether text names settings as arguments of Python, or as options of the command line."""


@dataclass(frozen=True)
class Setting:
    """A setting with a value, as advice gives it: ``positive=128``, or ``--positive 128``.

    Parameters
    ----------
    name : str
        The field that declares it: ``"max_dist"``.
    value : object
        ``...`` where the reader chooses one; None writes the name alone.
    of : str
        The class that takes it in Python: ``"Repairs"`` for ``repairs=Repairs(scale=255)``.

    Examples
    --------
    >>> advice = Setting("scale", 255, of="Repairs")
    >>> print(advice, "or", advice.written("options"))
    repairs=Repairs(scale=255) or --scale 255
    """

    name: str
    value: Any = ...
    of: str = ""

    def written(self, style: Style | None = None) -> str:
        """Write it for a reader."""
        value = _plain(self.value)
        if _style(style) == "options":
            words = "" if value is ... or value is None or isinstance(value, bool) else f" {_typed(value)}"
            return option_of(self.name, no=value is False) + words
        argument = self.name if value is None else f"{self.name}={'...' if value is ... else repr(value)}"
        return f"{self.of.lower()}={self.of}({argument})" if self.of else argument

    def __str__(self) -> str:
        """Write it as an argument of Python."""
        return self.written()


@dataclass(frozen=True)
class Either:
    """Words that differ, for Python and for the command line: ``result.failed``, or ``--format json``."""

    python: str
    options: str

    def written(self, style: Style | None = None) -> str:
        """Write it for a reader."""
        return self.options if _style(style) == "options" else self.python

    def __str__(self) -> str:
        """Write it for Python."""
        return self.python


@dataclass(frozen=True, init=False)
class Message:
    """What is said: a kind, and a template with the values that stand in it.

    Parameters
    ----------
    kind : str
        What it is, for scripts: ``"several-values"``; the page *Messages* of the documentation lists them.
    template : str
        The text, with names of values in braces as `str.format` has them.
    **values : str, int, float, bool, None, Setting, Either, Message, or a tuple or list of these
        What stands there. Lists are written with commas.

    Examples
    --------
    >>> advice = Message("no-positive", "{count} values; give {setting}", count=3, setting=Setting("positive", 128))
    >>> print(advice)
    3 values; give positive=128
    >>> advice.written("options")
    '3 values; give --positive 128'
    >>> advice.values["count"], advice.settings
    (3, (Setting(name='positive', value=128, of=''),))
    >>> Message.of_json(advice.to_json()) == advice
    True
    """

    kind: str
    template: str
    named: tuple[tuple[str, Any], ...] = field(repr=False)

    def __init__(self, kind: str, template: str, /, **values: Any) -> None:  # noqa: ANN401  the types above
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "template", template)
        object.__setattr__(self, "named", tuple((name, _frozen(value)) for name, value in values.items()))

    @property
    def values(self) -> dict[str, Any]:
        """The values by their names."""
        return dict(self.named)

    @property
    def settings(self) -> tuple[Setting, ...]:
        """All settings with values that it speaks of, in the order of the text, also of messages within it."""
        return tuple(dict.fromkeys(_settings_in(value for _, value in self.named)))

    def written(self, style: Style | None = None) -> str:
        """Write the text for a reader."""
        values = {name: _written(value, _style(style)) for name, value in self.named}
        return _FORMATTER.vformat(self.template, (), values)

    def __str__(self) -> str:
        """Write the text, which names arguments of Python."""
        return self.written()

    def described(self, style: Style | None = None) -> dict[str, Any]:
        """Return what JSON for scripts says of it: kind, text, values, and the settings that would help."""
        return {
            "kind": self.kind,
            "text": self.written(style),
            "values": {name: _described(value, style) for name, value in self.named},
            "settings": [_described(advised, style) for advised in self.settings],
        }

    def __add__(self, other: Message | str) -> Message:
        """Put text behind it; the kind stays."""
        return Message(self.kind, "{message}{behind}", message=self, behind=other)

    def __radd__(self, other: str) -> Message:
        """Put text before it; the kind stays."""
        return Message(self.kind, "{before}{message}", before=other, message=self)

    def __bool__(self) -> bool:
        """Whether it says anything."""
        return bool(self.template)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON has it, from which `of_json` makes the same message."""
        values = {name: _as_json(value) for name, value in self.named}
        return {"kind": self.kind, "template": self.template, "values": values}

    @classmethod
    def of_json(cls, stored: Mapping[str, Any]) -> Message:
        """Return what `to_json` gave."""
        values = {str(name): _from_json(value) for name, value in stored["values"].items()}
        return Message(str(stored["kind"]), str(stored["template"]), **values)


def plain(text: str) -> Message:
    """Return a message of words alone, such as a protocol of one's own may say."""
    return Message("text", "{text}", text=text) if text else NOTHING


NOTHING = Message("text", "")


def as_message(said: Message | Setting | str) -> Message:
    """Return a message of what may be words alone, or a setting."""
    if isinstance(said, Message):
        return said
    return Message("setting", "{setting}", setting=said) if isinstance(said, Setting) else plain(said)


def joined(parts: Iterable[Message | Setting | str], between: str = "; ") -> Message:
    """Put messages one behind the other, without those that are empty; the kind is that of the first."""
    kept = [as_message(part) for part in parts if part]
    if len(kept) < 2:
        return kept[0] if kept else NOTHING
    template = between.replace("{", "{{").replace("}", "}}").join(f"{{part{number}}}" for number in range(len(kept)))
    return Message(kept[0].kind, template, **{f"part{number}": part for number, part in enumerate(kept)})


def option_of(name: str, *, no: bool = False) -> str:
    """Write the option of a setting: ``--max-dist``, or ``--no-check``."""
    return f"--{'no-' if no else ''}{name.replace('_', '-')}"


def _style(style: Style | None) -> Style:
    """Return a style; where none is given, that of the command that runs, until commands write messages themselves."""
    return style or ("options" if setting("options", "") else "python")


def write(said: Message | Setting | Either | str, style: Style | None = None) -> str:
    """Write what may be a message for a reader."""
    return said if isinstance(said, str) else said.written(style)


class _Formatter(Formatter):
    """Writes values by `str.format`'s rules; a value that is lacking is a fault of the code."""

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> Any:  # noqa: ANN401, ARG002  as Formatter has it
        return kwargs[field_name], field_name  # no attributes or items: values may come from files


_FORMATTER = _Formatter()


def _written(value: Any, style: Style) -> Any:  # noqa: ANN401  any value of a message
    """Write what has a form of its own; numbers and text stay, so that a template can format them."""
    if isinstance(value, (Message, Setting, Either)):
        return value.written(style)
    if isinstance(value, tuple):
        return ", ".join(str(_written(part, style)) for part in value)
    return value


def _frozen(value: Any) -> Any:  # noqa: ANN401  any value of a message
    """Return a value that does not change and has a hash, with numbers of Python for those of NumPy."""
    if isinstance(value, (tuple, list)):
        return tuple(map(_frozen, value))
    return _plain(value)


def _settings_in(values: Iterable[Any]) -> Iterator[Setting]:
    for value in values:
        if isinstance(value, Setting):
            yield value
        elif isinstance(value, Message):
            yield from value.settings
        elif isinstance(value, tuple):
            yield from _settings_in(value)


def _as_json(value: Any) -> Any:  # noqa: ANN401  any value of a message
    if isinstance(value, Message):
        return {"message": value.to_json()}
    if isinstance(value, Setting):
        given = {} if value.value is ... else {"value": _as_json(_frozen(value.value))}
        return {"setting": value.name, **given, **({"of": value.of} if value.of else {})}
    if isinstance(value, Either):
        return {"python": value.python, "options": value.options}
    if isinstance(value, tuple):
        return [_as_json(part) for part in value]
    json.dumps(value)  # a TypeError here is a fault of the code
    return value


def _described(value: Any, style: Style | None) -> Any:  # noqa: ANN401  any value of a message
    """Return a value as scripts are given it."""
    if isinstance(value, Message):
        return value.described(style)
    if isinstance(value, Setting):
        return {"name": value.name, "value": None if value.value is ... else _described(_frozen(value.value), style)}
    if isinstance(value, Either):
        return value.written(style)
    if isinstance(value, tuple):
        return [_described(part, style) for part in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def _from_json(stored: Any) -> Any:  # noqa: ANN401  any value of a message
    if isinstance(stored, list):
        return tuple(map(_from_json, stored))
    if not isinstance(stored, dict):
        return stored
    if "message" in stored:
        return Message.of_json(stored["message"])
    if "setting" in stored:
        value = _from_json(stored["value"]) if "value" in stored else ...
        return Setting(str(stored["setting"]), value, str(stored.get("of", "")))
    return Either(str(stored["python"]), str(stored["options"]))


def _plain(value: Any) -> Any:  # noqa: ANN401  any value of a setting
    """Return a number of Python for one of NumPy, and 255 for 255.0, but 1e300 as it is."""
    if isinstance(value, (tuple, list)):
        return tuple(map(_plain, value))
    if isinstance(value, bool) or not isinstance(value, Real):
        return value
    if isinstance(value, Integral):
        return int(value)
    number = float(value)
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def _typed(value: object) -> str:
    """Write a value as it is typed at the command line."""
    return quote(",".join(map(str, value)) if isinstance(value, tuple) else str(value))
