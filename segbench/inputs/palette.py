"""Colour-coded label maps: which colour represents which label."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segbench.core.arrays import Array
from segbench.core.errors import ArgumentError, DataError
from segbench.core.messages import Message, Setting, joined
from segbench.inputs.class_names import lines_of
from segbench.inputs.predicted_labels import in_colour

_ROW = re.compile(r"\s*(\d{1,3})[\s,]+(\d{1,3})[\s,]+(\d{1,3})[\s,]+(\d{1,5})(?:[\s,]+(\S[^;,|=]*?))?\s*")
_HEADER = re.compile(r"\s*r[\s,]+g[\s,]+b[\s,]+label(?:[\s,]+name)?\s*", re.IGNORECASE)
_EXPECTED = "write r,g,b,label,name: 128,64,128,0,road (the name may be left out)"
_UNKNOWN = 1 << 16
_SHOWN = 8


def as_palette(palette: Any) -> str:
    """Read a palette as text, ``r,g,b,label,name`` between semicolons, from such a text, a file, or a mapping."""
    if isinstance(palette, Mapping):
        palette = ";".join(",".join(map(str, (*colour, label))) for colour, label in palette.items())
    if not isinstance(palette, (str, Path)):
        raise ArgumentError(
            Message(
                "wrong-palette",
                "palette is {given}, expected a file, a text or a mapping; {expected}",
                given=f"{palette!r:.60}",
                expected=_EXPECTED,
            )
        )
    text = str(palette)
    if not text:
        return ""
    rows_given = text.split(";")
    lines = rows_given if _ROW.fullmatch(rows_given[0]) else lines_of(text, "a palette", _EXPECTED)
    rows: dict[tuple[str, ...], str] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#") or (not rows and _HEADER.fullmatch(line)):
            continue
        row = _ROW.fullmatch(line)
        if not row or max(map(int, row.groups()[:3])) > 255:
            raise ArgumentError(
                Message(
                    "wrong-palette",
                    "row {row} of the palette is {text!r}; {expected}",
                    row=number,
                    text=line.strip()[:60],
                    expected=_EXPECTED,
                )
            )
        *colour, label, name = row.groups()
        if tuple(colour) in rows:
            raise ArgumentError(
                Message(
                    "wrong-palette",
                    "the colour {colour} comes twice in the palette; name it once",
                    colour=",".join(colour),
                )
            )
        rows[tuple(colour)] = ",".join((*colour, label, *([name] if name else [])))
    if not rows:
        raise ArgumentError(
            Message(
                "wrong-palette", "the palette {text!r} holds no colour; {expected}", text=text[:60], expected=_EXPECTED
            )
        )
    return ";".join(rows.values())


def labels_in(palette: str) -> dict[int, str]:
    """Return the labels of a palette, rising, with their names; a label without a name is called by its number."""
    names: dict[int, str] = {}
    for row in palette.split(";"):
        *_, label, name = [*row.split(","), ""] if row.count(",") == 3 else row.split(",")
        if name or int(label) not in names:
            names.setdefault(int(label), name)
            names[int(label)] = names[int(label)] or name
    return {label: names[label] or str(label) for label in sorted(names)}


@lru_cache(maxsize=2)
def _table(palette: str) -> NDArray[np.int32]:
    """Return the label of each of all colours."""
    table = np.full(1 << 24, _UNKNOWN, np.int32)
    for row in palette.split(";"):
        red, green, blue, label = map(int, row.split(",")[:4])
        table[red << 16 | green << 8 | blue] = label
    return table


def through_palette(file: str, labels: Array, palette: str) -> Array:
    """Return the labels of a map in colour; other maps as they are. Without a palette grey levels are labels."""
    if not in_colour(labels):
        return labels
    colours = labels & np.uint32(0xFFFFFF)
    if palette:
        labels_by_colour: Array = _table(palette)[colours]
        unknown = labels_by_colour == _UNKNOWN
        if unknown.any():
            problem = Message(
                "unknown-colours",
                "{pixels} pixels have colours that the palette lacks: {colours}",
                pixels=int(np.count_nonzero(unknown)),
                colours=_listed(np.unique(colours[unknown])),
            )
            hints = [
                Message(
                    "fix", "add these colours to the palette; label maps must not be saved as JPEG, or interpolated"
                )
            ]
            if _are_grey(colours):
                hints.append(Message("one-channel", "label maps that are not in colour must have one channel"))
            raise DataError(file, problem, joined(hints))
        return labels_by_colour.astype(np.uint16)
    if _are_grey(colours):
        return (colours & np.uint32(255)).astype(np.uint8)
    problem = Message("in-colour", "is in colour ({colours}), expected labels", colours=_listed(np.unique(colours)))
    palette_of = Setting("palette", metavar="FILE")
    hint = Message("fix", "say which colour is which label: {palette} of r,g,b,label,name", palette=palette_of)
    raise DataError(file, problem, hint)


def _are_grey(colours: NDArray[np.uint32]) -> bool:
    return np.array_equal((colours & np.uint32(255)) * np.uint32(0x010101), colours)


def _listed(colours: NDArray[np.uint32]) -> str:
    shown = [f"{c >> 16},{c >> 8 & 255},{c & 255}" for c in colours[:_SHOWN].tolist()]
    return "; ".join(shown) + (f"; ... ({colours.size} colours)" if colours.size > _SHOWN else "")
