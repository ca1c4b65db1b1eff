"""What images belong to, groups such as categories and units such as patients: settings of measuring of every run."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any

from segbench.core.errors import ArgumentError
from segbench.core.messages import Message, Note, Setting
from segbench.core.names import first_names
from segbench.core.numbers import many, of_all
from segbench.loaders.file_list import read_column
from segbench.loaders.pairing import natural

GROUP, UNIT = "group", "unit"
KINDS: Mapping[str, str] = {"group_by": GROUP, UNIT: UNIT}
"""The settings that say what images belong to, with what that is called."""

By = str | Mapping[str, str] | Callable[[str], str] | None
"""A value of such a setting.

``"folder"`` for the first folder in the names of images; ``"meta.csv:patient"`` for a column of a CSV file with the
names of images in a column called name, image or file, or in its first; a pattern of whole names, with folders and
without suffix, ``"#_slice*"``, in which ``#`` is the group or unit and takes as much as it can, ``*`` is anything, and
``?`` one character;
what each image belongs to by its name; or a function of the name.
"""

FOLDER = "folder"
MAPPING = "a mapping"
"""How a mapping or function of Python is called where other values are named as they were given."""

ALL_IMAGES = "all images"
_NONE = "none"
_RESERVED = re.compile(rf"{ALL_IMAGES}|mean of \d+ groups?")  # names of the rows beside the groups
_LISTED = 5
_COLUMNS = {GROUP: "meta.csv:weather", UNIT: "meta.csv:patient"}
_PARTS = {"#": "(.+)", "*": ".*", "?": "."}  # of patterns
FEWEST_UNITS = 6
"""Below this many units there are no tests over them."""


@dataclass(frozen=True)
class Assignment:
    """What each image belongs to by its name, such as its group; others belong to nothing of this `kind`."""

    kind: str
    by: str  # the setting: "folder", a pattern, or a column with the path of its file; a mapping is not written out
    of_images: Mapping[str, str]
    notes: tuple[Note, ...] = ()  # on what does not fit

    @property
    def names(self) -> list[str]:
        """The groups, numbers in their names in order."""
        return sorted(set(self.of_images.values()), key=natural)

    @property
    def noun(self) -> str:
        """What one of them is called: the name of the column, without what marks it as a number, or the kind."""
        column = "" if is_by_name(self.by) else self.by.rpartition(":")[2]
        return re.sub(r"[ _-]?id$", "", column, flags=re.IGNORECASE) if self.by != MAPPING and column else self.kind

    @property
    def label(self) -> str:
        """The setting as signatures have it: without the folder of a CSV file, which differs between machines."""
        return self.by if is_by_name(self.by) else PurePath(self.by).name

    @property
    def described(self) -> str:
        """How many there are, and an example: 12 units, such as case_01 with 14 images."""
        images = Counter(self.of_images.values())
        example, number = images.most_common(1)[0]
        if len(images) > 1 and number == 1:
            return f"{many(len(images), self.noun)} of one image each, such as {example}: nothing belongs together"
        return f"{many(len(images), self.noun)}, such as {example} with {many(number, 'image')}"

    def require(self, name: str) -> str:
        """Insist that there is such a group."""
        if name not in self.names:
            raise ArgumentError(
                Message(
                    "unknown-part",
                    "{given}: there is no such {part}; the {part}s are {known}",
                    given=Setting(self.kind, name),
                    part=self.kind,
                    known=first_names(self.names, 20),
                )
            )
        return name

    def refuse_divided(self, parts: Mapping[str, str], kind: str) -> None:
        """Refuse units with images in several groups or folds, given the one of each image: these hold whole units."""
        first: dict[str, str] = {}
        for image, unit in self.of_images.items():
            if first.setdefault(unit, parts.get(image, "")) != parts.get(image, ""):
                raise ArgumentError(
                    Message(
                        "divided-unit",
                        "the {noun} {unit!r} has images in several {whole}s: {parts: and }; "
                        "let each {noun} lie in one {whole}, or leave out {whole}s or {noun}s",
                        noun=self.noun,
                        unit=unit,
                        whole=kind,
                        parts=[part or "none" for part in (first[unit], parts.get(image, ""))],
                    )
                )

    def among(self, names: Iterable[str]) -> Assignment:
        """Return what these images belong to by the same setting, with what is to be said of them alone."""
        images = sorted(names)
        if is_by_name(self.by):
            of_images = by_name(self.kind, self.by, images)
        else:
            of_images = {name: self.of_images[name] for name in images if name in self.of_images}
        return replace(self, of_images=of_images, notes=_without(self.kind, of_images, images))

    def stored(self) -> dict[str, Any]:
        """Return what a results file holds: the setting, and the images with their groups unless names say these."""
        return {"by": self.by, "of_images": {} if is_by_name(self.by) else dict(self.of_images)}


def assignments(settings: Mapping[str, By], names: Collection[str]) -> dict[str, Assignment]:
    """Return by kind what images belong to, as settings say; an empty value, or none, says nothing."""
    chosen = {name: by for name, by in settings.items() if by and by != _NONE}
    return {KINDS[name]: assignment(name, by, names) for name, by in chosen.items()}


def assignment(setting: str, by: str | Mapping[str, str] | Callable[[str], str], names: Iterable[str]) -> Assignment:
    """Say what images belong to, see `By`; every image is of some unit."""
    images, kind = sorted(names), KINDS[setting]
    label, strange = MAPPING, list[str]()
    source: Message | str = Message("mapping", "the mapping of {setting}", setting=Setting(setting, None))
    if callable(by):
        by = {name: by(name) for name in images}
    if isinstance(by, Mapping):
        of_images, strange = _fitted(kind, {str(name): str(group) for name, group in by.items()}, images)
    elif is_by_name(by):
        of_images, label, source = by_name(kind, by, images), by, by
    else:
        path, column = _path_and_column(setting, by)
        of_images, strange = _fitted(kind, read_column(path, column), images)
        label, source = f"{Path(path).absolute()}:{column}", by
    without = [name for name in images if name not in of_images]
    if not of_images or (without and kind == UNIT):
        raise ArgumentError(
            Message(
                "images-without-part",
                "{given} gives no {part}{some}{listed}; {fix}",
                given=source if label == MAPPING else Setting(setting, source),
                part=kind,
                some=f" to {of_all(len(without), len(images), 'image')}: " if of_images else ": images are ",
                listed=first_names(without, 3),
                images=len(without),
                total=len(images),
                others=strange,
                fix=_hint(by, strange),
            )
        )
    for name, group in of_images.items():
        if _RESERVED.fullmatch(group):
            raise ArgumentError(
                Message(
                    "reserved-name",
                    "{image} is in a {part} called {name!r}, which names another row; rename this {part}",
                    image=name,
                    part=kind,
                    name=group,
                )
            )
    notes = _without(kind, of_images, images)
    if strange:
        message = Message(
            "rows-without-image",
            "{rows:many row} of {given} without an image: {names}",
            rows=len(strange),
            given=source,
            names=first_names(strange, _LISTED),
        )
        notes += (Note(message),)
    return Assignment(kind, label, of_images, notes)


def usual_units(by: str, names: Collection[str]) -> tuple[dict[str, Assignment], tuple[Note, ...]]:
    """Return the units that a data set or benchmark is known for, where they are enough to test over; or a note.

    None is known of those with an empty `by`.
    """
    if not by:
        return {}, ()
    units = by_name(UNIT, by, names)
    number = len(set(units.values()))
    if len(units) < len(names) or number == len(names):
        return {}, ()
    if number >= FEWEST_UNITS:
        return {UNIT: Assignment(UNIT, by, units)}, ()
    message = Message(
        "few-units",
        "images come from {units} videos or patients, too few to test over: intervals and p-values are over images and "
        "hold for these alone",
        units=number,
    )
    return {}, (Note(message),)


def is_by_name(by: str) -> bool:
    """Whether a setting reads what images belong to from their names alone."""
    return by == FOLDER or "#" in by


def by_name(kind: str, by: str, images: Iterable[str]) -> dict[str, str]:
    """Return what images belong to by their first folder or a pattern; a million names share the texts."""
    if by == FOLDER:
        return {name: sys.intern(name.partition("/")[0]) for name in images if "/" in name}
    if by.count("#") > 1:
        raise ArgumentError(
            Message(
                "wrong-pattern",
                "the pattern {pattern!r} has several #, expected one, which stands for the {part}",
                pattern=by,
                part=kind,
            )
        )
    pattern = re.compile("".join(_PARTS.get(character, re.escape(character)) for character in by), re.DOTALL)
    matches = ((name, pattern.fullmatch(name)) for name in images)
    return {name: sys.intern(match[1]) for name, match in matches if match}


def _hint(by: object, strange: Sequence[str]) -> str:
    """Say how to give what images belong to that a setting does not give, which may name `strange` images instead."""
    if by == FOLDER:
        return "they lie in no sub-folder: give a column of a CSV file, 'meta.csv:patient', or a pattern, '#_*'"
    if isinstance(by, str) and "#" in by:
        return "the pattern is of whole names, with folders and without suffix, where * is anything"
    listed = f"it names {first_names(strange, 3)} instead: " if strange else ""
    return f"{listed}name all images as they are called here"


def together(parts: Sequence[Mapping[str, Assignment]]) -> dict[str, Assignment]:
    """Put together what the images of parts of a set belong to, as the first part that says so does.

    Paths of a CSV file may differ, as on machines that share no disk. Parts with another setting add nothing.
    """
    merged: dict[str, Assignment] = {}
    for kind, part in ((kind, part) for assigned in parts for kind, part in assigned.items()):
        first = merged.setdefault(kind, part)
        if PurePath(first.by).name == PurePath(part.by).name:
            merged[kind] = replace(first, of_images={**part.of_images, **first.of_images})
    return merged


def _without(kind: str, of_images: Mapping[str, str], images: Sequence[str]) -> tuple[Note, ...]:
    """Say which images belong to nothing; nothing where all do."""
    without = [name for name in images if name not in of_images]
    if not without:
        return ()
    message = Message(
        "images-without-part",
        "{images} of {total:many image} in no {part}: {names}",
        images=len(without),
        total=len(images),
        part=kind,
        names=first_names(without, _LISTED),
    )
    return (Note(message),)


def _fitted(kind: str, groups: Mapping[str, str], images: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Return the groups by image, whose name may be written with the suffix of a file; and names without an image."""
    known = set(images)
    of_images: dict[str, str] = {}
    strange = []
    for name, group in groups.items():
        image = next((written for written in (name, name.rpartition(".")[0]) if written in known), None)
        if image is None:
            strange.append(name)
        elif group and of_images.setdefault(image, group) != group:
            raise ArgumentError(
                Message(
                    "several-parts",
                    "{image!r} is in {first!r} and, as {name!r}, in {second!r}; give it one {part}",
                    image=image,
                    first=of_images[image],
                    name=name,
                    second=group,
                    part=kind,
                )
            )
    return of_images, strange


def _path_and_column(setting: str, by: str) -> tuple[str, str]:
    """Take the name of a column apart from the path of its CSV file."""
    path, colon, column = by.rpartition(":")
    if not colon or not path:
        raise ArgumentError(
            Message(
                "wrong-value",
                "{given} is not understood, expected 'folder', a column of a CSV file, '{column}', "
                "or a pattern of names, '#_*'",
                given=Setting(setting, by),
                column=_COLUMNS[KINDS[setting]],
            )
        )
    return path, column
