"""Classes as text: ``0-2,5,car=13``, on the command line, in a signature, or one per line in a file.

Classes of several labels, ``WT=1+2+3``, are regions, see `segbench.inputs.class_regions`.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence, Sized
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segbench.core.errors import ArgumentError, DataError
from segbench.core.messages import Either, Message, Note, Setting, together
from segbench.core.names import first_names
from segbench.core.settings import as_whole, listed, option
from segbench.inputs.class_regions import (
    MOST_CLASSES,
    REGION,
    RESERVED,
    ClassLabel,
    counted_labels,
    has_regions,
    read_region,
)
from segbench.loaders.source import read_bounded

if TYPE_CHECKING:
    from segbench.core.arrays import BoolArray

_LARGEST_BYTES = 2**20
_LINES = "write lines such as: 13 car"
_LONGEST_ADVICE = 80
_NAMED = 8
_IN_NO_MEAN = "left out of means"


def refuse_unfit(labels: Sequence[ClassLabel], names: Sequence[str], void: Sequence[int]) -> None:
    """Refuse classes that are too many, share a label or a name, lack one, are void, or cannot have their name."""
    refuse_many(labels)
    if not labels or len(names) != len(labels):
        raise ArgumentError(
            Message(
                "unfit-classes",
                "{labels} labels and {names} names; expected one label and one name per class, at least one",
                labels=len(labels),
                names=len(names),
            )
        )
    for role, values in (("label", labels), ("name", names)):
        doubled = [str(value) for value, classes in Counter(values).items() if classes > 1]
        if doubled:
            listed = first_names(doubled, _NAMED)
            raise ArgumentError(
                Message("unfit-classes", "the {role} {values} belongs to several classes", role=role, values=listed)
            )
    counted = counted_labels(labels)
    refuse_many(counted)
    if min(counted) < 0:
        raise ArgumentError(
            Message("unfit-classes", "label {label} is negative; labels are 0 or more", label=min(counted))
        )
    left_out = frozenset(void)
    both = [str(label) for label in counted if label in left_out]
    if both:
        raise ArgumentError(
            Message(
                "unfit-classes",
                "label {labels} is both a class and void; leave it out of {classes}, or write {void}",
                labels=first_names(both, _NAMED),
                classes=Setting("classes", None),
                void=void_without(void, counted),
            )
        )
    for name, label in zip(names, labels, strict=True):
        _refuse_unfit_name(name, label)


def _refuse_unfit_name(name: str, label: ClassLabel) -> None:
    """Refuse a name that no class can have, or that is another label."""
    if not name.strip() or not name.isprintable() or any(mark in RESERVED for mark in name):
        raise ArgumentError(
            Message(
                "unfit-classes",
                "{name!r} is not a valid class name; use letters, digits, blanks and punctuation: blanks alone, | , = "
                "and unprintable characters cannot name a class",
                name=name,
            )
        )
    if name.isdecimal() and int(name) != label:
        raise ArgumentError(
            Message(
                "unfit-classes",
                "the class of label {label} is called {name}, another label; give it another name",
                label=label,
                name=name,
            )
        )


def refuse_many(classes: Sized) -> None:
    """Refuse more classes than can be counted; callers list no more than one too many, as all may not fit in memory."""
    if len(classes) > MOST_CLASSES:
        raise ArgumentError(
            Message(
                "too-many-classes",
                "more than {most} classes, which is the most that can be counted; name the labels of classes alone; "
                "maps that number objects are for {protocols}",
                most=MOST_CLASSES,
                protocols=Either("Objects() or Regions()", "segbench objects or segbench regions"),
            )
        )


def void_without(void: Sequence[float], labels: Sequence[int]) -> Setting:
    """Return the setting of void without some labels."""
    return Setting("void", [label for label in void if label not in labels])


def read_background(
    classes: int | Sequence[int] | str | None, labels: Sequence[ClassLabel], names: Sequence[str]
) -> tuple[int, ...]:
    """Read the labels that means over classes leave out, which have to be some of the classes, and not all.

    Where nobody says so, these are the background by the file that lists the classes. Label 0, which lies outside all
    regions, need not be a class: then it is in no mean anyway.
    """
    if classes is None:
        return labels.background if isinstance(labels, ClassLabels) else ()
    if isinstance(classes, str):
        background = read_classes(classes)[0] if classes not in ("", "none") else ()
    else:
        single = isinstance(classes, Integral)
        several = (classes,) if single else listed(classes, "background", "(0,)", most=MOST_CLASSES + 1)
        background = tuple(as_whole(label, "background") for label in several)
    outside = {0}.difference(labels) if has_regions(labels) else set()
    background = tuple(sorted(set(background) - outside))
    if not background:
        return ()
    if others := [label for label in background if label not in labels]:
        raise ArgumentError(
            Message(
                "unfit-background",
                "{given}, but {labels} {are_no}; list all labels that are counted: {classes}",
                given=format_background(background),
                labels=first_names([*map(str, others)], _NAMED),
                are_no="is not a class" if len(others) == 1 else "are not classes",
                classes=with_labels(labels, names, others),
            )
        )
    if not in_means(labels, background).any():
        raise ArgumentError(
            Message(
                "unfit-background",
                "{given} leaves no class for the means over classes; name fewer labels",
                given=format_background(background),
            )
        )
    return background


def background_option() -> Any:
    """Declare the option of classes that means over classes leave out, a setting of measuring."""
    return option(
        "Leave these classes out of means over classes: 0, or none.",
        None,
        metavar="LABELS",
        read=str,
        measuring="apart",
        none="none leaves out no class",
        taken_away=(),
        panel="Ground truth",
        shown="the background of a dataset.json; all classes are in them otherwise",
    )


def in_means(labels: Sequence[ClassLabel], background: Sequence[int]) -> BoolArray:
    """Mark the classes that means over classes take, in their order: all but the background."""
    import numpy as np

    return np.array([label not in background for label in labels], np.bool_)


def fields_of_class(fields: Mapping[str, str], *, in_means: bool) -> dict[str, str]:
    """Return the fields of a signature of many classes for one of them; a class in no mean is marked as background."""
    fields_of_one = {name: text for name, text in fields.items() if name not in ("classes", "background")}
    return fields_of_one if in_means else fields_of_one | {"background": _IN_NO_MEAN}


def in_no_mean(of_class: Mapping[str, str]) -> bool:
    """Return whether the result of a class, by its settings, is that of the background."""
    return of_class.get("background") == _IN_NO_MEAN


def background_note(names: Sequence[str], meant: BoolArray) -> tuple[Note, ...]:
    """Name the classes that are in no mean; nothing where all are."""
    left_out = [name for name, within in zip(names, meant, strict=True) if not within]
    message = Message(
        "background-left-out",
        "left out of means over classes, background: {classes}",
        classes=first_names(left_out, _NAMED),
    )
    return (Note(message),) if left_out else ()


def labels_text(labels: Sequence[int]) -> str:
    """Write labels as the command line takes them: runs of them."""
    return written_classes(labels, list(map(str, labels)))


def few_labels(labels: Sequence[int]) -> str:
    """Write labels as runs of them, of many the first."""
    return first_names(labels_text(labels).split(","), _NAMED, ",")


def with_labels(labels: Sequence[ClassLabel], names: Sequence[str], more: Sequence[int]) -> Setting | Message:
    """Write the setting of classes that holds some labels more: where all rise, in their places, else in front."""
    added, known = [(label, str(label)) for label in more], [*zip(labels, names, strict=True)]
    rising = not has_regions(labels) and known == sorted(known)
    together = sorted([*added, *known]) if rising else [*added, *known]
    text = written_classes(*zip(*together, strict=True))
    if len(text) <= _LONGEST_ADVICE:
        return Setting("classes", text)
    return Message("setting", "{classes} with {labels}", classes=Setting("classes"), labels=few_labels(more))


def with_background(labels: Sequence[ClassLabel], names: Sequence[str], more: Sequence[int]) -> Message:
    """Write the settings under which some labels more are counted as background."""
    return together(with_labels(labels, names, more), format_background(more))


def format_background(labels: Sequence[int]) -> Setting:
    """Return the setting of the background."""
    text = labels_text(labels)
    return Setting("background", labels[0] if len(labels) == 1 else text if len(text) <= _LONGEST_ADVICE else ...)


def read_classes(text: str) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Read labels and names from text, of classes that are no regions."""
    labels, names = read_class_labels(text)
    return refuse_regions(labels), names


def refuse_regions(labels: Sequence[ClassLabel]) -> tuple[int, ...]:
    """Return the labels of classes, none of which may be a region."""
    regions = [label for label in labels if isinstance(label, str) and "+" in label]
    if regions:
        raise ArgumentError(
            Message(
                "wrong-classes",
                "{regions} are regions of several labels, which {protocols} count; list labels one by one",
                regions=first_names(regions, _NAMED),
                protocols=Either("Labels() and Contours()", "segbench labels and segbench contours"),
            )
        )
    return tuple(label for label in labels if isinstance(label, int))


def read_class_labels(text: str) -> tuple[tuple[ClassLabel, ...], tuple[str, ...]]:
    """Read labels and names from text: ``0-18``, ``road=0,car=13``, and regions, ``WT=1+2+3,TC=1+3,ET=3``."""
    labels: list[ClassLabel] = []
    names: list[str] = []
    for part in text.split(","):
        name, equals, number = part.strip().rpartition("=")
        if REGION.fullmatch(number) and (not equals or name.strip()):
            label = read_region(number)
            labels.append(label)
            names.append(name.strip() if equals else str(label))
            refuse_many(labels)
            continue
        run = re.fullmatch(r"\s*([0-9]{1,9})(?:\s*-\s*([0-9]{1,9}))?\s*", number)
        if not run or (equals and (run[2] or not name.strip())):
            raise ArgumentError(
                Message(
                    "wrong-classes",
                    "{text!r} is not a class; write labels (0,7,13 or 0-18), names with labels (road=0,car=13), "
                    "overlapping regions (WT=1+2+3,ET=3), or a file with a label and a name per line",
                    text=part.strip(),
                )
            )
        first, last = int(run[1]), int(run[2] or run[1])
        if last < first:
            raise ArgumentError(
                Message(
                    "wrong-classes",
                    "{text!r} is a range that falls; write {last}-{first}",
                    text=part.strip(),
                    first=first,
                    last=last,
                )
            )
        run_of_labels = range(first, min(last, first + MOST_CLASSES) + 1)
        labels += run_of_labels
        names += [name.strip()] if equals else map(str, run_of_labels)
        refuse_many(labels)
    return tuple(labels), tuple(names)


def written_classes(labels: Sequence[ClassLabel], names: Sequence[str]) -> str:
    """Write classes as the command line takes them: runs of labels, and names where they are not the labels."""
    parts: list[str] = []
    run: list[int] = []
    for label, name in zip((*labels, None), (*names, ""), strict=True):
        plain = name == str(label)
        if isinstance(label, str):
            parts += [_written_run(run)] if run else []
            parts.append(label if plain else f"{name}={label}")
            run = []
            continue
        if run and (not plain or label != run[-1] + 1):
            parts.append(_written_run(run))
            run = []
        if plain and label is not None:
            run.append(label)
        elif label is not None:
            parts.append(f"{name}={label}")
    return ",".join(parts)


def _written_run(labels: Sequence[int]) -> str:
    """Write labels that follow each other."""
    return f"{labels[0]}-{labels[-1]}" if len(labels) > 1 else f"{labels[0]}"


class ClassLabels(tuple[ClassLabel, ...]):  # noqa: SLOT001  a tuple has no room for slots
    """The labels of classes, with those that are void, and the background, by the file which lists them."""

    void: tuple[int, ...] = ()
    background: tuple[int, ...] = ()


def void_beside(labels: object, otherwise: Sequence[int]) -> tuple[int, ...]:
    """Return the labels that a file of classes says are void, or else those that are where nobody says so."""
    return (labels.void if isinstance(labels, ClassLabels) else ()) or tuple(otherwise)


def classes_of(text: str) -> tuple[tuple[ClassLabel, ...], tuple[str, ...]]:
    """Read ``0-18``, ``road=0,car=13``, regions, or a file of labels and names, into labels and names.

    A file has a label and a name per line, or is a ``dataset.json``, which also says which label is void.
    """
    if os.path.exists(text) and not os.path.isdir(text):  # noqa: PTH110, PTH112  which take texts of any length
        if not text.lower().endswith(".json"):
            return _read_file(text)
        from segbench.inputs.dataset_json import read_dataset_json

        classes = read_dataset_json(text)
        labels = ClassLabels(classes.labels)
        labels.void, labels.background = classes.ignored, classes.background
        return labels, classes.names
    if Path(text).suffix and "=" not in text:
        hint = "write labels as 0-18 or 0,13, or a file with a label and a name per line, as in: 13 car"
        raise DataError(text, Message("missing", "there is no such file of classes"), hint)
    return read_class_labels(text)


def lines_of(file: str, expected: str, hint: str) -> list[str]:
    """Read a small text file; `expected` is what errors say should be in it."""
    try:
        return read_bounded(file, _LARGEST_BYTES, expected, hint).decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise DataError(
            file, Message("not-text", "is not plain text, expected {expected}", expected=expected), hint
        ) from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        problem = Message("unreadable", "cannot be read ({why}), expected {expected}", why=str(why), expected=expected)
        raise DataError(file, problem, hint) from None


def _read_file(text: str) -> tuple[tuple[int, ...], tuple[str, ...]]:
    labels, names = [], []
    for number, line in enumerate(lines_of(text, "a label and a name per line", _LINES), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        row = re.fullmatch(r"\s*([0-9]{1,9})(?:\s*[,:;\t]\s*|\s+)(\S.*?)\s*", line)
        if not row:
            raise DataError(
                text,
                Message(
                    "wrong-line",
                    "line {line} is {text!r}, expected a label and a name",
                    line=number,
                    text=line.strip()[:60],
                ),
                _LINES,
            )
        labels.append(int(row[1]))
        names.append(row[2])
    if not labels:
        raise ArgumentError(
            Message("no-classes", "{file} names no class; write a label and a name per line, as in: 13 car", file=text)
        )
    return tuple(labels), tuple(names)
