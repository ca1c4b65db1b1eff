"""Notes: what has to be said beside data and numbers, on a side of an image, on metrics, or on a whole set."""

from __future__ import annotations

import warnings
from collections import ChainMap
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from segbench.core.messages import Message, Style, as_message, write
from segbench.core.names import first_names
from segbench.core.numbers import of_all

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
        parts = [part.values for part in (self.message, self.detail) if isinstance(part, Message)]
        numbers = {"amount": self.amount, "images": self.images, "total": self.total}
        return dict(ChainMap({name: number for name, number in numbers.items() if number}, *parts))

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
        elif bracketed := str(self.amount) if self.amount else write(self.detail, style):
            text += f" [{bracketed}]"
        return self.before + (f"{self.side}: " if self.side and not is_in_text else "") + text

    def __str__(self) -> str:
        """Write it, with settings as arguments of Python."""
        return self.written()

    def __repr__(self) -> str:
        """Write it with its kind."""
        return f"<note {self.kind}: {self}>"

    def with_values(self, **values: Any) -> Note:  # noqa: ANN401  as messages have them
        """Return the note with other values in its text."""
        return replace(self, message=self.message.extended("", **values))

    def said_of(self, what: str) -> Note:
        """Return the note with what it is said of before it: methods, runs or classes."""
        return replace(self, before=f"{what}: " + self.before)

    @property
    def of_set(self) -> Note:
        """The note without what it says of one image alone."""
        return replace(self, detail="", amount=0) if self.detail or self.amount else self

    def about(self, keys: Collection[str] | None) -> Note | None:
        """Return its part on metrics of some keys, or of all; None if it is about others."""
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
        others = {
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
        return self.message.to_json() | {name: value for name, value in others.items() if value}

    @classmethod
    def of_json(cls, stored: Mapping[str, Any]) -> Note:
        """Return what `to_json` gave."""
        others = {name: value for name, value in stored.items() if name not in ("kind", "template", "values")}
        metrics = tuple(others.pop("metrics", {}).items())
        detail, before = part_of_json(others.pop("detail", "")), str(others.pop("before", ""))
        return cls(Message.of_json(stored), metrics=metrics, detail=detail, before=before, **others)


def part_to_json(part: Message | str) -> Any:  # noqa: ANN401  a text or an object
    """Return what may be a message as JSON has it."""
    return part.to_json() if isinstance(part, Message) else part


def part_of_json(stored: Any) -> Message | str:  # noqa: ANN401  a text or an object
    """Return what `part_to_json` gave."""
    return Message.of_json(stored) if isinstance(stored, dict) else str(stored)


def as_note(note_or_text: Note | Message | str) -> Note:
    """Return a note of what may be words alone, as a protocol of one's own gives them."""
    return note_or_text if isinstance(note_or_text, Note) else Note(as_message(note_or_text))


def part_of(count: int, total: int, noun: str = "image") -> Message:
    """Return the value ``number`` of notes that are written once for several parts: ``2 of 9 images``."""
    nouns = noun if total == 1 else f"{noun}s"
    return Message("number", "{count} of {total} {nouns}", count=count, total=total, nouns=nouns)


class NoteWarning(UserWarning):
    """A warning that carries a message or a note as its only argument."""


def warn_of(notes: Iterable[Note], *, stacklevel: int) -> None:
    """Warn once of all notes that are doubts, without what they say of one image alone."""
    doubts = sorted({str(note.of_set) for note in notes if note.doubt})
    if doubts:
        warnings.warn("; ".join(doubts), UserWarning, stacklevel=stacklevel + 1)


def notes_about(notes: Iterable[Note], keys: Collection[str] | None) -> Iterator[Note]:
    """Yield the notes that matter beside metrics of some keys, or of all; notes name no others."""
    yield from filter(None, (note.about(keys) for note in notes))
