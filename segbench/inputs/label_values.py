"""Values of label maps to classes: remapping, void, and values that are neither."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from types import MappingProxyType
from typing import TYPE_CHECKING

from segbench.core.errors import ArgumentError
from segbench.core.messages import Message

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from segbench.core.arrays import Array, IntArray

_EXPECTED = "write VALUE=LABEL pairs: 7=0,8=1; ranges of one length: 1-150=0-149; and * for all other values: *=255"
_MOST_VALUES = 1 << 16  # as a label map has at most
_FEWEST_LEVELS = 256
"""Distinct values that images of negative values exceed."""
_MOST_LABELS = 1000
"""Distinct labels that an image holds at most."""
_PART = re.compile(r"(\*|-?[0-9]{1,9})(?:-([0-9]{1,9}))?=(-?[0-9]{1,9})(?:-([0-9]{1,9}))?")


@dataclass(frozen=True)
class Remapping:
    """Which label a value represents as stored; `others` for all values without an entry, None to keep these."""

    labels: Mapping[int, int] = field(default_factory=lambda: MappingProxyType({}))
    others: int | None = None

    @classmethod
    def parse(cls, text: str) -> Remapping:
        """Read a remapping as written on the command line."""
        labels: dict[int, int] = {}
        others: int | None = None
        for part in text.split(",") if text else ():
            pair = _PART.fullmatch(part.strip())
            if not pair:
                raise ArgumentError(
                    Message(
                        "wrong-remapping",
                        "{text!r} is not a remapping of labels; {expected}",
                        text=part.strip(),
                        expected=_EXPECTED,
                    )
                )
            value, last, label, last_label = pair.groups()
            if value == "*":
                if last or last_label or others is not None:
                    raise ArgumentError(
                        Message(
                            "wrong-remapping",
                            "{text!r} is not the label of all other values; {expected}",
                            text=part.strip(),
                            expected=_EXPECTED,
                        )
                    )
                others = int(label)
                continue
            values = range(int(value), int(last or value) + 1)
            if len(values) > _MOST_VALUES:
                raise ArgumentError(
                    Message(
                        "wrong-remapping",
                        "{text!r} is a range of more than {most} values; name the values that maps hold, or all "
                        "others: *={label}",
                        text=part.strip(),
                        most=_MOST_VALUES,
                        label=label,
                    )
                )
            if last_label and int(last_label) - int(label) != len(values) - 1:
                raise ArgumentError(
                    Message(
                        "wrong-remapping",
                        "{text!r} has ranges of different lengths; {expected}",
                        text=part.strip(),
                        expected=_EXPECTED,
                    )
                )
            for offset, stored in enumerate(values):
                if stored in labels:
                    problem = Message(
                        "wrong-remapping", "the value {value} is remapped twice; name it once", value=stored
                    )
                    raise ArgumentError(problem)
                labels[stored] = int(label) + (offset if last_label else 0)
            if not values:
                raise ArgumentError(
                    Message(
                        "wrong-remapping",
                        "{text!r} is an empty range; {expected}",
                        text=part.strip(),
                        expected=_EXPECTED,
                    )
                )
        return cls(MappingProxyType(labels), others)

    @property
    def ambiguous(self) -> frozenset[int]:
        """Values without an entry that keep a number which other values are given.

        None if the map gives labels no new numbers, as ``2=1``, which only joins two.
        """
        moved = {value: label for value, label in self.labels.items() if value != label}
        if self.others is not None or moved.keys().isdisjoint(moved.values()):
            return frozenset()
        return frozenset(moved.values()).difference(self.labels)

    def label_of(self, value: int) -> int:
        """Return the label of a value."""
        return self.labels.get(value, value if self.others is None else self.others)

    def labels_of(self, values: IntArray) -> IntArray:
        """Return the label of each of some consecutive values."""
        import numpy as np

        labels = values.copy() if self.others is None else np.full(values.size, self.others)
        for value, label in self.labels.items():
            if 0 <= value - int(values[0]) < values.size:
                labels[value - int(values[0])] = label
        return labels


def places_of(values: Array, labels: Sequence[int]) -> NDArray[np.intp]:
    """Return the index of each value among some labels, or else how many labels there are."""
    import numpy as np

    order = np.argsort(labels)
    indices = order[np.searchsorted(labels, values, sorter=order).clip(max=len(labels) - 1)]
    return np.where(np.asarray(labels)[indices] == values, indices, len(labels))


def as_map_text(mapping: str | Mapping[int, int], name: str) -> str:
    """Write a remapping as the command line takes it; text stays as it is, without blanks."""
    if isinstance(mapping, Mapping):
        mapping = ",".join(f"{value}={label}" for value, label in mapping.items())
    if not isinstance(mapping, str):
        raise ArgumentError(
            Message(
                "wrong-remapping",
                "{name} is {given}, expected a text or a mapping; {expected}",
                name=name,
                given=f"{mapping!r:.60}",
                expected=_EXPECTED,
            )
        )
    text = mapping.replace(" ", "")
    Remapping.parse(text)
    return text


def are_intensities(values: Sequence[int] | Array) -> bool:
    """Return whether the rising values of an image are those of a photograph or scan, such as one of CT."""
    return len(values) > _MOST_LABELS or (len(values) > _FEWEST_LEVELS and bool(values[0] < -1))


def pairs_text(pairs: Mapping[int, int]) -> str:
    """Write pairs of label and class, in the order of labels, runs of them as ranges."""
    ranges = groupby(enumerate(pairs.items()), lambda placed: [number - placed[0] for number in placed[1]])
    parts = []
    for _, placed in ranges:
        first, *others = (pair for _, pair in placed)
        sides = zip(first, others[-1], strict=True) if others else ((number,) for number in first)
        parts.append("=".join("-".join(map(str, numbers)) for numbers in sides))
    return ",".join(parts)


def shift_to_zero(classes: Sequence[int]) -> str:
    """Write the remapping of labels that count from 1 to classes that count from 0; empty where these do not."""
    size = len(classes)
    return f"1-{size}=0-{size - 1}" if tuple(classes) == tuple(range(size)) else ""
