"""Classes that are regions, each the pixels with any of several labels: ``WT=1+2+3,TC=1+3,ET=3``, which may overlap.

The label of a region is its text, ``"1+2+3"``, that of any other class a number. What is counted are the labels in the
files (`counted_labels`); `membership` says which of these belong to each class.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from segbench.core.settings import as_whole

if TYPE_CHECKING:
    from segbench.core.arrays import BoolArray

ClassLabel: TypeAlias = int | str
"""What a class is by: the number of a label, or those of a region as text."""

REGION = re.compile(r"\s*[0-9]{1,9}(?:\s*\+\s*[0-9]{1,9})+\s*")
"""How a region is written."""
RESERVED = "|,=\n\r"
"""Separators of class names, which no name may contain."""

MOST_CLASSES = 4096
"""A confusion matrix of so many takes 134 MB."""
_OUTSIDE = 0
"""What lies outside all regions, whether or not a class has this label."""


def region_of(labels: Iterable[int]) -> ClassLabel:
    """Return the class of some labels: a region, or of a single label its number."""
    members = sorted(set(labels))
    return members[0] if len(members) == 1 else "+".join(map(str, members))


def read_region(text: str) -> ClassLabel:
    """Read the labels of a region, ``1+2+3``."""
    return region_of(map(int, text.split("+")))


def as_class_label(value: Any) -> ClassLabel:
    """Read the label of a class as Python has it: a number, several, or the text of a region."""
    if isinstance(value, str) and REGION.fullmatch(value):
        return read_region(value)
    if isinstance(value, (tuple, list, range, set, frozenset)) and 0 < len(value) <= MOST_CLASSES:
        return region_of(as_whole(label, "classes") for label in value)
    return as_whole(value, "classes")


def labels_of(label: ClassLabel) -> tuple[int, ...]:
    """Return the labels of the pixels of a class."""
    return (label,) if isinstance(label, int) else tuple(map(int, label.split("+")))


def has_regions(classes: Sequence[ClassLabel]) -> bool:
    """Return whether a class has several labels."""
    return any(isinstance(label, str) for label in classes)


def counted_labels(classes: Sequence[ClassLabel]) -> tuple[int, ...]:
    """Return the labels that are counted: those of the classes, and with regions also 0, rising."""
    if not has_regions(classes):
        return tuple(label for label in classes if isinstance(label, int))
    return tuple(sorted({_OUTSIDE, *(label for of_class in classes for label in labels_of(of_class))}))


def names_of_labels(classes: Sequence[ClassLabel], names: Sequence[str]) -> tuple[str, ...]:
    """Name the labels that are counted: by the class that has this label alone, else by their numbers."""
    named = dict(zip(classes, names, strict=True))
    return tuple(named.get(label, str(label)) for label in counted_labels(classes))


def membership(classes: Sequence[ClassLabel]) -> BoolArray:
    """Mark which of the labels that are counted belong to each class, shape (classes, labels)."""
    import numpy as np

    labels = counted_labels(classes)
    return np.array([np.isin(labels, labels_of(of_class)) for of_class in classes])
