"""A message is data: a kind, the values that it speaks of, and the settings that would help.

Text is made where somebody reads it: `str` writes arguments of Python, the command line asks for its options. A `Note`
is a message on a side of an image, on metrics, or on a whole set. Findings, failures and errors hold messages, too;
files keep them as JSON. No code reads the text of a message.
"""

from __future__ import annotations

import json
import re
import warnings
from collections import ChainMap
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import isfinite
from numbers import Integral, Real
from shlex import quote
from string import Formatter
from typing import Any, Literal, TypeAlias

from segbench.core.names import first_names
from segbench.core.numbers import many, number, of_all, verb

Style: TypeAlias = Literal["python", "options"]
"""Whether text names settings as arguments of Python, or as options of the command line."""


@dataclass(frozen=True, slots=True)
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
    metavar : str
        What stands for a value that the reader chooses: ``"N"`` for ``--scale N``.

    Examples
    --------
    >>> advice = Setting("scale", 255, of="Repairs")
    >>> print(advice, "or", advice.written("options"))
    repairs=Repairs(scale=255) or --scale 255
    """

    name: str
    value: Any = ...
    of: str = ""
    metavar: str = ""

    def __post_init__(self) -> None:
        """Freeze the value, so that settings are equal, and have a hash, by what is written."""
        object.__setattr__(self, "value", _frozen(self.value))

    def written(self, style: Style = "python") -> str:
        """Write it for a reader."""
        value = self.value
        if style == "options":
            words = "" if value is None or isinstance(value, bool) else _typed(value)
            words = self.metavar if value is ... else words
            return option_of(self.name, no=value is False) + (f" {words}" if words else "")
        chosen = (self.metavar or "...") if value is ... else repr(value)
        argument = self.name if value is None else f"{self.name}={chosen}"
        return f"{self.of.lower()}={self.of}({argument})" if self.of else argument

    def __str__(self) -> str:
        """Write it as an argument of Python."""
        return self.written()


@dataclass(frozen=True, slots=True)
class Either:
    """Words that differ, for Python and for the command line: ``result.failed``, or ``--format json``."""

    python: Message | Setting | str
    options: Message | Setting | str

    def written(self, style: Style = "python") -> str:
        """Write it for a reader."""
        return write(self.options if style == "options" else self.python, style)

    def __str__(self) -> str:
        """Write it for Python."""
        return self.written()


@dataclass(frozen=True, init=False, slots=True)
class Message:
    """What is said: a kind, and a template with the values that stand in it.

    Parameters
    ----------
    kind : str
        What it is, for scripts: ``"several-values"``; the page *Messages* of the documentation lists them.
    template : str
        The text, with names of values in braces as `str.format` has them.
    **values : str, int, float, bool, None, Setting, Either, Message, or a tuple or list of these
        What stands there. Lists are written with commas, or with what follows a colon, as in ``{shape: x }``; so are
        numbers with a noun, ``{files:many file}``, or the verb of so many, ``{files:verb have}``,
        and in the digits of papers, ``{score:number}``. A setting called
        ``given`` is one that the reader gave, not advice.

    Examples
    --------
    >>> advice = Message("no-positive", "{count} values; give {setting}", count=3, setting=Setting("positive", 128))
    >>> print(advice)
    3 values; give positive=128
    >>> advice.written("options")
    '3 values; give --positive 128'
    >>> advice.values["count"], advice.settings
    (3, (Setting(name='positive', value=128, of='', metavar=''),))
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
        return tuple(dict.fromkeys(_settings_in(value for name, value in self.named if name != "given")))

    def written(self, style: Style = "python") -> str:
        """Write the text for a reader."""
        values = {name: _written(value, style) for name, value in self.named}
        return _FORMATTER.vformat(self.template, (), values)

    def __str__(self) -> str:
        """Write the text, which names arguments of Python."""
        return self.written()

    def extended(self, template: str, **values: Any) -> Message:  # noqa: ANN401  the types above
        """Put more text behind it, with values of its own; the kind stays."""
        return Message(self.kind, self.template + template, **{**self.values, **values})

    def has(self, name: str) -> bool:
        """Return whether a value of some name stands in its text."""
        return any(used == name for _, used, _, _ in _FORMATTER.parse(self.template))

    def described(self, style: Style = "python") -> dict[str, Any]:
        """Return what JSON for scripts says of it: kind, text, values, and the settings that would help."""
        return {
            "kind": self.kind,
            "text": self.written(style),
            "values": {name: described(value, style) for name, value in self.named},
            "settings": described(self.settings, style),
        }

    def __add__(self, other: Message | Setting | str) -> Message:
        """Put text behind it; kind and values stay, unless it says nothing."""
        if not self:
            return as_message(other)
        if isinstance(other, str):
            return Message(self.kind, self.template + _escaped(other), **self.values)
        return Message(self.kind, "{message}{behind}", message=self, behind=other)

    def __radd__(self, other: str) -> Message:
        """Put text before it; kind and values stay."""
        return Message(self.kind, _escaped(other) + self.template, **self.values)

    def __bool__(self) -> bool:
        """Return whether it says anything."""
        return bool(self.template)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON has it, from which `of_json` makes the same message."""
        values = {name: _as_json(value) for name, value in self.named}
        return {"kind": self.kind, "template": self.template, "values": values}

    @classmethod
    def of_json(cls, stored: Mapping[str, Any]) -> Message:
        """Rebuild the message from its `to_json`."""
        values = {str(name): _from_json(value) for name, value in stored["values"].items()}
        return Message(str(stored["kind"]), str(stored["template"]), **values)


def _escaped(text: str) -> str:
    """Write text as templates have it."""
    return text.replace("{", "{{").replace("}", "}}")


def plain(text: str) -> Message:
    """Return a message of words alone, such as a protocol of your own may say."""
    return Message("text", "{text}", text=text) if text else NOTHING


NOTHING = Message("text", "")


def as_message(message_or_text: Message | Setting | str) -> Message:
    """Return a message as it is, and make one of a text or a setting."""
    if isinstance(message_or_text, Message):
        return message_or_text
    if isinstance(message_or_text, Setting):
        return Message("setting", "{setting}", setting=message_or_text)
    return plain(message_or_text)


def joined(parts: Iterable[Message | Setting | str], between: str = "; ") -> Message:
    """Put messages one behind the other, without those that are empty; the kind is that of the first."""
    messages = [as_message(part) for part in parts if part]
    if len(messages) < 2:
        return messages[0] if messages else NOTHING
    values = {f"part{number}": message for number, message in enumerate(messages)}
    template = _escaped(between).join(f"{{{name}}}" for name in values)
    return Message(messages[0].kind, template, **values)


def alternatives(parts: Iterable[Message | Setting | str], between: str = "; or ") -> Message:
    """Put fixes behind each other, any of which is enough, without those that are empty."""
    fixes = [as_message(part) for part in parts if part]
    sentence = joined(fixes, between)
    return Message("alternatives", sentence.template, **sentence.values) if len(fixes) > 1 else sentence


def together(*settings: Setting | Message) -> Message:
    """Put settings that are given together behind each other: ``void=(), at=0.5``, or ``--void none --at 0.5``."""
    if len(settings) == 1:
        return as_message(settings[0])
    *others, last = settings
    return Message("setting", "{first}{comma}{last}", first=together(*others), comma=Either(", ", " "), last=last)


def protocol_with(protocol: str, command: str, *settings: Setting | Message) -> Message:
    """Write a protocol with settings: ``Labels(classes=19)``, or the command and its options."""
    opens, closes = Either(f"{protocol}(", command), Either(")", "")
    return Message("setting", "{opens}{settings}{closes}", opens=opens, settings=together(*settings), closes=closes)


def option_of(name: str, *, no: bool = False) -> str:
    """Write the option of a setting: ``--max-dist``, or ``--no-check``."""
    return f"--{'no-' if no else ''}{name.replace('_', '-')}"


def write(message_or_text: Message | Setting | Either | str, style: Style = "python") -> str:
    """Write a message, a setting or a text for a reader."""
    return message_or_text if isinstance(message_or_text, str) else message_or_text.written(style)


class _Parts(tuple[str, ...]):
    """A list as text, whose format is what stands between its parts."""

    __slots__ = ()

    def __format__(self, between: str) -> str:
        return (between or ", ").join(self)

    __str__ = __repr__ = lambda self: format(self, "")


class _Formatter(Formatter):
    """Writes values by `str.format`'s rules; a value that is lacking is a fault of the code."""

    def format_field(self, value: Any, format_spec: str) -> str:  # noqa: ANN401  as Formatter has it
        """Write a value: of numbers, the formats ``many NOUN`` and ``verb PLURAL`` are ours, and ``number``."""
        if _WIDE.search(format_spec):  # templates may come from files
            raise ValueError("a format that would fill the memory")
        if format_spec == "number":
            return number(value)
        form, _, word = format_spec.partition(" ")
        if word and form in ("many", "verb") and isinstance(value, int):
            return many(value, word) if form == "many" else verb(value, word)
        return format(value, format_spec)

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> Any:  # noqa: ANN401, ARG002  as Formatter has it
        return kwargs[field_name], field_name  # no attributes or items: values may come from files


_FORMATTER = _Formatter()
_WIDE = re.compile("[0-9]{3}")


def _written(value: Any, style: Style) -> Any:  # noqa: ANN401  any value of a message
    """Write messages and settings as text; numbers and text stay, so that a template can format them."""
    if isinstance(value, (Message, Setting, Either)):
        return value.written(style)
    if isinstance(value, tuple):
        return _Parts(str(_written(part, style)) for part in value)
    return value


def _settings_in(values: Iterable[Any]) -> Iterator[Setting]:
    for value in values:
        if isinstance(value, Setting):
            if value.value is not None:  # else it is named, and not advised
                yield value
        elif isinstance(value, Message):
            yield from value.settings
        elif isinstance(value, Either):
            yield from _settings_in((value.python, value.options))
        elif isinstance(value, tuple):
            yield from _settings_in(value)


def _as_json(value: Any) -> Any:  # noqa: ANN401  any value of a message
    if isinstance(value, Message):
        return {"message": value.to_json()}
    if isinstance(value, Setting):
        chosen = {} if value.value is ... else {"value": _as_json(value.value)}
        texts = {"of": value.of, "metavar": value.metavar}
        return {"setting": value.name, **chosen, **{key: text for key, text in texts.items() if text}}
    if isinstance(value, Either):
        return {"python": _as_json(value.python), "options": _as_json(value.options)}
    if isinstance(value, tuple):
        return [_as_json(part) for part in value]
    json.dumps(value)  # a TypeError here is a fault of the code
    return value


def described(value: Any, style: Style = "python") -> Any:  # noqa: ANN401  any value of a message
    """Return a value as JSON for scripts has it; a setting has no value where the reader chooses one."""
    if isinstance(value, Message):
        return value.described(style)
    if isinstance(value, Setting):
        return {"name": value.name} | ({} if value.value in (..., None) else {"value": described(value.value, style)})
    if isinstance(value, Either):
        return value.written(style)
    if isinstance(value, tuple):
        return [described(part, style) for part in value]
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
        return Setting(str(stored["setting"]), value, str(stored.get("of", "")), str(stored.get("metavar", "")))
    return Either(_from_json(stored["python"]), _from_json(stored["options"]))


def _frozen(value: Any) -> Any:  # noqa: ANN401  any value of a message or a setting
    """Return a value that does not change and has a hash: a number of Python for one of NumPy, and 255 for 255.0."""
    if isinstance(value, (tuple, list)):
        return tuple(map(_frozen, value))
    if isinstance(value, bool) or not isinstance(value, Real):
        return value
    if isinstance(value, Integral):
        return int(value)
    number = float(value)
    return int(number) if number.is_integer() and abs(number) < 2**53 else number  # 1e300 stays as it is


def _typed(value: object) -> str:
    """Write a value as it is typed at the command line."""
    return quote((",".join(map(str, value)) or "none") if isinstance(value, tuple) else str(value))


Side: TypeAlias = Literal["ground truth", "prediction", "field", ""]


@dataclass(frozen=True, slots=True, repr=False)
class Note:
    """A message about data or numbers that stand beside it.

    Parameters
    ----------
    message : Message
        What is said; `metrics` and `side` stand in its template where their names belong.
    side : {"ground truth", "prediction", "field", ""}
        Which file of an image it is about, which stands before the text unless the template has it.
    doubt : bool
        Whether data are probably not what was meant, so that Python's callers are warned.
    metrics : tuple of pair of str
        The metrics that it is about: key, and the name as it is written; empty where it is about all.
    most : int, optional
        How many names are written; None for all.
    detail : Message or str
        What it says of one image alone, in brackets behind the text; notes on a set leave it out.
    amount : int
        A number of pixels, values or the like in one image, in brackets, which adds up over images.
    images, total : int
        How many images of how many have it, where it is on a set; 0 where it is on one image, or on the set alone.
    before : str
        What stands before all of it, such as the runs that it is on.

    Examples
    --------
    >>> note = Note(Message("left-out", "left out of {metrics}: {images} images", images=2), metrics=(("hd", "HD"),))
    >>> print(note)
    left out of HD: 2 images
    >>> note.about({"assd"}) is None
    True
    >>> print(Note(Message("turned", "turned"), side="prediction", amount=7, images=2, total=3))
    prediction: turned: 7 (2 of 3 images)
    >>> print(Note(Message("other-files", "{place}: 3 files left out", place="A")).said_of("A"))  # folder A, method A
    A: 3 files left out
    """

    message: Message
    side: Side = ""
    doubt: bool = False
    metrics: tuple[tuple[str, str], ...] = ()
    most: int | None = None
    detail: Message | str = ""
    amount: int = 0
    images: int = 0
    total: int = 0
    before: str = ""

    @property
    def kind(self) -> str:
        """What it is, for scripts."""
        return self.message.kind

    @property
    def values(self) -> dict[str, Any]:
        """All values that it speaks of, by name."""
        values = [message.values for message in (self.message, self.detail) if isinstance(message, Message)]
        counts = {"amount": self.amount, "images": self.images, "total": self.total}
        return dict(ChainMap({name: count for name, count in counts.items() if count}, *values))

    def written(self, style: Style = "python") -> str:
        """Write it for a reader."""
        names = list(dict.fromkeys(name for _, name in self.metrics))
        values = {"metrics": first_names(names, self.most or len(names))} if names else {}
        is_in_text = bool(self.side) and self.message.has("side")
        values |= {"side": self.side} if is_in_text else {}
        text = self.message.extended("", **values).written(style)
        if self.images:
            amount = f": {self.amount}" if self.amount else ""
            text += f"{amount} ({of_all(self.images, self.total, 'image')})"
        elif self.amount or self.detail:
            text += f" [{self.amount or write(self.detail, style)}]"
        side = f"{self.side}: " if self.side and not is_in_text else ""
        return self.before + side + text

    def __str__(self) -> str:
        """Write it, with settings as arguments of Python."""
        return self.written()

    def __repr__(self) -> str:
        """Write it, with its kind."""
        return f"<note {self.kind}: {self}>"

    def with_values(self, **values: Any) -> Note:  # noqa: ANN401  as messages have them
        """Return the note with other values in its text."""
        return replace(self, message=self.message.extended("", **values))

    def said_of(self, subject: str) -> Note:
        """Return the note with what it is about before it, such as methods, unless it names a folder called so."""
        if self.message.values.get("place") == subject:
            return self
        return replace(self, before=f"{subject}: {self.before}")

    @property
    def of_set(self) -> Note:
        """The note without what it says of one image alone."""
        return replace(self, detail="", amount=0) if self.detail or self.amount else self

    def about(self, keys: Collection[str] | None) -> Note | None:
        """Return the note restricted to metrics of some keys, None for all; None if it is about other metrics."""
        if keys is None or not self.metrics:
            return self
        metrics = tuple((key, name) for key, name in self.metrics if key in keys)
        return replace(self, metrics=metrics) if metrics else None

    def described(self, style: Style = "python") -> dict[str, Any]:
        """Return what JSON for scripts says of it: kind, side, text, values, settings, and what else there is."""
        about = {"side": self.side, "metrics": [key for key, _ in self.metrics], "doubt": self.doubt}
        return Message(self.kind, "", **self.values).described(style) | about | {"text": self.written(style)}

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON has it, without what is as usual, from which `of_json` makes the same note."""
        fields = {
            "side": self.side,
            "doubt": self.doubt,
            "metrics": dict(self.metrics),
            "most": self.most,
            "detail": part_to_json(self.detail),
            "amount": self.amount,
            "images": self.images,
            "total": self.total,
            "before": self.before,
        }
        return self.message.to_json() | {name: value for name, value in fields.items() if value}

    @classmethod
    def of_json(cls, stored: Mapping[str, Any]) -> Note:
        """Rebuild the note from its `to_json`."""
        fields = {name: value for name, value in stored.items() if name not in ("kind", "template", "values")}
        metrics = tuple(fields.pop("metrics", {}).items())
        detail = part_of_json(fields.pop("detail", ""))
        before = str(fields.pop("before", ""))
        return cls(Message.of_json(stored), metrics=metrics, detail=detail, before=before, **fields)


def part_to_json(part: Message | str) -> Any:  # noqa: ANN401  a text or an object
    """Return a message or a text as JSON has it."""
    return part.to_json() if isinstance(part, Message) else part


def part_of_json(stored: Any) -> Message | str:  # noqa: ANN401  a text or an object
    """Rebuild a message or a text from `part_to_json`."""
    return Message.of_json(stored) if isinstance(stored, dict) else str(stored)


def as_note(note_or_text: Note | Message | str) -> Note:
    """Return a note as it is, and make one of a message or a text, as a protocol of your own may give."""
    return note_or_text if isinstance(note_or_text, Note) else Note(as_message(note_or_text))


def part_of(count: int, total: int, noun: str = "image") -> Message:
    """Return the value ``number`` of notes that are written once for several parts: ``2 of 9 images``."""
    nouns = noun if total == 1 else f"{noun}s"
    return Message("number", "{count} of {total} {nouns}", count=count, total=total, nouns=nouns)


class NoteWarning(UserWarning):
    """A warning that carries a message or a note as its only argument."""


def warn_of(notes: Iterable[Note], *, stacklevel: int) -> None:
    """Warn once, of all notes that are doubts; what they say of one image alone is left out."""
    doubts = sorted({str(note.of_set) for note in notes if note.doubt})
    if doubts:
        warnings.warn("; ".join(doubts), UserWarning, stacklevel=stacklevel + 1)


def notes_about(notes: Iterable[Note], keys: Collection[str] | None) -> Iterator[Note]:
    """Yield the notes about metrics of some keys, None for all; they name no other metrics."""
    yield from filter(None, (note.about(keys) for note in notes))
