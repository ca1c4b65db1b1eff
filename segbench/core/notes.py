"""Notes: what has to be said beside data and numbers, on a side of an image, on metrics, or on a whole set."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, TypeAlias

from segbench.core.messages import Message, Style, as_message, write
from segbench.core.names import first_names

Side: TypeAlias = Literal["ground truth", "prediction", "field", ""]


@dataclass(frozen=True)
class Note:
    """A message about data or numbers that stand beside it.

    Parameters
    ----------
    message : Message
        What is said; `metrics` stands in its template where their names belong.
    side : {"ground truth", "prediction", "field", ""}
        Which file of an image it is about, which stands before the text.
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

    Examples
    --------
    >>> note = Note(Message("left-out", "left out of {metrics}: {images} images", images=2), metrics=(("hd", "HD"),))
    >>> print(note)
    left out of HD: 2 images
    >>> note.about({"assd"}) is None
    True
    """

    message: Message
    side: Side = ""
    doubt: bool = False
    metrics: tuple[tuple[str, str], ...] = ()
    most: int | None = None
    detail: Message | str = ""
    amount: int = 0

    @property
    def kind(self) -> str:
        """What it is, for scripts."""
        return self.message.kind

    def written(self, style: Style | None = None) -> str:
        """Write it for a reader."""
        names = list(dict.fromkeys(name for _, name in self.metrics))
        listed = {"metrics": first_names(names, self.most or len(names))} if names else {}
        text = Message(self.message.kind, self.message.template, **{**self.message.values, **listed}).written(style)
        bracketed = str(self.amount) if self.amount else write(self.detail, style)
        return (f"{self.side}: " if self.side else "") + text + (f" [{bracketed}]" if bracketed else "")

    def __str__(self) -> str:
        """Write it, with settings as arguments of Python."""
        return self.written()

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

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON has it, from which `of_json` makes the same note."""
        return {
            **self.message.to_json(),
            "side": self.side,
            "doubt": self.doubt,
            "metrics": dict(self.metrics),
            "most": self.most,
            "detail": self.detail.to_json() if isinstance(self.detail, Message) else self.detail,
            "amount": self.amount,
        }

    @classmethod
    def of_json(cls, stored: Mapping[str, Any]) -> Note:
        """Return what `to_json` gave."""
        detail = stored["detail"]
        return cls(
            Message.of_json(stored),
            side=stored["side"],
            doubt=bool(stored["doubt"]),
            metrics=tuple(stored["metrics"].items()),
            most=stored["most"],
            detail=Message.of_json(detail) if isinstance(detail, dict) else str(detail),
            amount=int(stored["amount"]),
        )


def as_note(said: Note | Message | str) -> Note:
    """Return a note of what may be words alone, as a protocol of one's own gives them."""
    return said if isinstance(said, Note) else Note(as_message(said))


class MetricNote(str):
    """A note that names metrics, by their keys, between two texts: all of them, or the first so many."""

    __slots__ = ("after", "before", "most", "names")

    before: str
    names: Mapping[str, str]
    after: str
    most: int | None

    def __new__(cls, before: str, names: Mapping[str, str], after: str, most: int | None = None) -> Self:
        """Write the note."""
        listed = list(dict.fromkeys(names.values()))
        note = super().__new__(cls, f"{before}{first_names(listed, most or len(listed))}{after}")
        note.before, note.names, note.after, note.most = before, names, after, most
        return note

    def __getnewargs__(self) -> tuple[str, Mapping[str, str], str, int | None]:  # type: ignore[override]  # str has one
        return self.before, self.names, self.after, self.most


class Doubt(str):
    """A note on data that are probably not what was meant: Python's callers are warned of it, too."""

    __slots__ = ()


def warn_of(notes: Iterable[str], *, stacklevel: int) -> None:
    """Warn once of all notes that are doubts."""
    doubts = sorted({note for note in notes if isinstance(note, Doubt)})
    if doubts:
        warnings.warn("; ".join(doubts), UserWarning, stacklevel=stacklevel + 1)


def behind(text: str, note: str, prefix: str = "") -> str:
    """Write a text before a note, which stays a doubt; its metrics have longer keys if there is a prefix."""
    if isinstance(note, Doubt):
        return Doubt(text + note)
    if not isinstance(note, MetricNote):
        return text + note
    names = {f"{prefix}{key}": name for key, name in note.names.items()}
    return MetricNote(text + note.before, names, note.after, note.most)


def notes_about(notes: Iterable[str], keys: Collection[str] | None) -> Iterator[str]:
    """Give the notes that matter beside metrics of some keys, or of all; notes name no others."""
    for note in notes:
        if keys is None or not isinstance(note, MetricNote):
            yield note
        elif names := {key: name for key, name in note.names.items() if key in keys}:
            yield MetricNote(note.before, names, note.after, note.most)
