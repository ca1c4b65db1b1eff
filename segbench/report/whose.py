"""Whose remark it is: one method's, some methods', or all of them."""

from __future__ import annotations

from collections.abc import Sequence

_SHOWN_NAMES = 4


def few_names(names: Sequence[str], total: int) -> str:
    """Name methods; of many the first few, or that they are all."""
    if len(names) <= _SHOWN_NAMES:
        return ", ".join(names)
    if len(names) == total:
        return f"all {total} methods"
    return f"{', '.join(names[:_SHOWN_NAMES])} and {len(names) - _SHOWN_NAMES} more"


def with_names(notes: Sequence[Sequence[str]], names: Sequence[str]) -> list[str]:
    """Put before each note whose it is, one list of notes a method; a note that all have stands once, without names."""
    whose: dict[str, list[str]] = {}
    for name, several in zip(names, notes, strict=True):
        for note in dict.fromkeys(several):
            whose.setdefault(note, []).append(name)
    return [
        note if len(methods) == len(names) else f"{few_names(methods, len(names))}: {note}"
        for note, methods in whose.items()
    ]
