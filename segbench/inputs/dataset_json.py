"""``dataset.json`` of nnU-Net and of the Medical Segmentation Decathlon: labels with their names, and which is ignored.

nnU-Net writes a label for each name, ``{"background": 0, "liver": 1, "ignore": 2}``, the Decathlon and nnU-Net's first
version a name for each label, ``{"0": "background", "1": "liver"}``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from segbench.core.errors import LISTED, DataError
from segbench.core.messages import Message, Setting
from segbench.core.names import first_names

_LARGEST_BYTES = 2**24
_LARGEST_LABEL = 10**9
_IGNORE = "ignore"
"""What nnU-Net calls the label of voxels that do not count."""
_EXPECTED = 'expected nnU-Net\'s "labels", such as {"background": 0, "liver": 1}'
_RESERVED = str.maketrans("|,=\n\r", ";;;;;")


class DatasetClasses(NamedTuple):
    """The classes of a data set, rising, and the labels that are ignored."""

    labels: tuple[int, ...]
    names: tuple[str, ...]
    ignored: tuple[int, ...]


def read_dataset_json(path: str) -> DatasetClasses:
    """Read labels and names of a ``dataset.json``; labels of regions that overlap are refused."""
    from segbench.loaders.source import read_bounded  # loads NumPy, and help needs none

    try:
        content = json.loads(read_bounded(path, _LARGEST_BYTES, "a description of a data set", "shorten it"))
    except (OSError, ValueError, RecursionError) as error:
        problem = Message("not-json", "is not JSON ({why})", why=str(error))
        raise DataError(path, problem, "write the file again") from None
    labels = content.get("labels") if isinstance(content, dict) else None
    if not isinstance(labels, dict) or not labels:
        raise DataError(path, Message("no-labels", "has no labels"), _EXPECTED)
    return _classes_in(path, labels)


def _classes_in(path: str, labels: Mapping[str, Any]) -> DatasetClasses:
    """Return the classes that labels and names tell."""
    named: dict[int, str] = {}
    ignored: list[int] = []
    regions: list[str] = []
    for key, value in labels.items():
        several = value if isinstance(value, list) else [value]
        if len(several) > 1:
            regions.append(key)
            continue
        by_label = isinstance(value, str) and key.isdecimal()
        label, name = (key, value) if by_label else (several[0] if several else None, key)
        number = _label_of(label)
        if number is None or number in named or number in ignored:
            problem = Message("wrong-label", "gives {name!r} the label {label}", name=name, label=repr(label))
            raise DataError(path, problem, "give each name a whole number of its own, from 0")
        if name == _IGNORE and not by_label:
            ignored.append(number)
        else:
            named[number] = _name_of(str(name), number)
    if regions:
        problem = Message(
            "overlapping-regions",
            "has regions of several labels, which overlap: {regions}",
            regions=first_names(regions, LISTED),
        )
        members = [number for value in labels.values() if isinstance(value, list) for number in map(_label_of, value)]
        every = {*named, *(number for number in members if number is not None)}.difference(ignored)
        listed = ",".join(map(str, sorted(every)))
        fix = Message("fix", "list the labels themselves: {classes}", classes=Setting("classes", listed))
        raise DataError(path, problem, fix)
    if not named:
        raise DataError(path, Message("no-labels", "has no label that counts"), _EXPECTED)
    rising = sorted(named)
    return DatasetClasses(tuple(rising), tuple(named[label] for label in rising), tuple(sorted(ignored)))


def _label_of(value: Any) -> int | None:
    """Return a label; None of anything else."""
    if isinstance(value, str) and value.isdecimal():
        value = int(value[:10])
    is_label = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _LARGEST_LABEL
    return value if is_label else None


def _name_of(text: str, label: int) -> str:
    """Return a name that a class can have."""
    name = "".join(letter for letter in text.translate(_RESERVED) if letter.isprintable()).strip()
    return f"class {label}" if not name or (name.isdecimal() and int(name) != label) else name
