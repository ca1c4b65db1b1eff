"""``dataset.json`` of nnU-Net and of the Medical Segmentation Decathlon: labels with their names.

Which label is ignored, and which is the background, their names tell.

nnU-Net writes a label for each name, ``{"background": 0, "liver": 1, "ignore": 2}``, or the labels of regions, which
may overlap, ``{"background": 0, "whole": [1, 2, 3], "core": [2, 3]}``; the Decathlon and nnU-Net's first version a name
for each label, ``{"0": "background", "1": "liver"}``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from segbench.core.errors import DataError
from segbench.core.messages import Message
from segbench.inputs.class_regions import MOST_CLASSES, RESERVED, ClassLabel, region_of
from segbench.loaders.source import WRITE_AGAIN, read_json

_LARGEST_BYTES = 2**24
_LARGEST_LABEL = 10**9
_IGNORE = "ignore"
"""What nnU-Net calls the label of voxels that do not count."""
_BACKGROUND = "background"
"""What both call label 0, which is in no mean over classes."""
_EXPECTED = 'expected nnU-Net\'s "labels", such as {"background": 0, "liver": 1}'
_WITHOUT_RESERVED = str.maketrans(dict.fromkeys(RESERVED, ";"))


class DatasetClasses(NamedTuple):
    """The classes of a data set, the labels that are ignored, and those of the background.

    Labels rise. With regions, classes are in the order of the file, without the background, which lies outside all.
    """

    labels: tuple[ClassLabel, ...]
    names: tuple[str, ...]
    ignored: tuple[int, ...]
    background: tuple[int, ...] = ()


def read_dataset_json(path: str) -> DatasetClasses:
    """Read labels and names of a ``dataset.json``."""
    content = read_json(path, _LARGEST_BYTES, "a description of a data set", hint="shorten it", otherwise=WRITE_AGAIN)
    labels = content.get("labels") if isinstance(content, dict) else None
    if not isinstance(labels, dict) or not labels:
        raise DataError(path, Message("no-labels", "has no labels"), _EXPECTED)
    return _classes_in(path, labels)


def _classes_in(path: str, labels: Mapping[str, Any]) -> DatasetClasses:
    """Return the classes that labels and names tell."""
    named: dict[ClassLabel, str] = {}
    ignored: list[int] = []
    for key, value in labels.items():
        by_label = isinstance(value, str) and key.isdecimal()
        several, name = ([key], value) if by_label else (value if isinstance(value, list) else [value], key)
        members = [number for number in map(_label_of, several[:MOST_CLASSES]) if number is not None]
        if not members or len(members) < len(several) or (label := region_of(members)) in (*named, *ignored):
            problem = Message("wrong-label", "gives {name!r} the label {label}", name=name, label=f"{value!r:.60}")
            raise DataError(path, problem, "give each name a whole number of its own, from 0, or a list of such")
        if name == _IGNORE and not by_label:
            ignored += members
        else:
            named[label] = _name_of(str(name), label)
    if any(isinstance(label, str) for label in named):
        regions = {label: name for label, name in named.items() if label != 0}
        return DatasetClasses(tuple(regions), tuple(regions.values()), tuple(sorted(ignored)))
    if not named:
        raise DataError(path, Message("no-labels", "has no label that counts"), _EXPECTED)
    rising = sorted((label, name) for label, name in named.items() if isinstance(label, int))
    numbers, names = zip(*rising, strict=True)
    has_background = len(names) > 1 and (numbers[0], names[0].lower()) == (0, _BACKGROUND)
    return DatasetClasses(numbers, names, tuple(sorted(ignored)), (0,) if has_background else ())


def _label_of(value: Any) -> int | None:
    """Return a label; None of anything else."""
    if isinstance(value, str) and value.isdecimal():
        value = int(value[:10])
    is_label = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _LARGEST_LABEL
    return value if is_label else None


def _name_of(text: str, label: ClassLabel) -> str:
    """Return a name that a class can have."""
    name = "".join(letter for letter in text.translate(_WITHOUT_RESERVED) if letter.isprintable()).strip()
    return f"class {label}" if not name or (name.isdecimal() and int(name) != label) else name
