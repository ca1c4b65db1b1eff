"""Notes on metrics, of which a table of some metrics shows its part."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Self

from segbench.core.names import first_names


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
