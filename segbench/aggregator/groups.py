"""What images belong to, such as the categories of a data set: settings of measuring of every run."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any

from segbench.core.errors import ArgumentError
from segbench.core.interface import format_setting, named
from segbench.core.names import first_names
from segbench.core.numbers import many, of_all
from segbench.loaders.file_list import read_column
from segbench.loaders.pairing import natural

KINDS: Mapping[str, str] = {"group_by": "group"}
"""The settings that say what images belong to, with what that is called."""

By = str | Mapping[str, str] | None
"""A value of such a setting: ``"folder"``, ``"meta.csv:weather"``, or what each image belongs to by its name."""

FOLDER = "folder"
MAPPING = "a mapping"
"""How a mapping of Python is called where other values are named as they were given."""

ALL_IMAGES = "all images"
_NONE = "none"
_RESERVED = re.compile(rf"{ALL_IMAGES}|mean of \d+ groups?")  # names of the rows beside the groups
_LISTED = 5
_COLUMN = "a column of a CSV file, 'meta.csv:weather'"
_EXPECTED = f"expected 'folder', or {_COLUMN}"


@dataclass(frozen=True)
class Assignment:
    """What each image belongs to by its name, such as its group; others belong to nothing of this `kind`."""

    kind: str
    by: str  # the setting: "folder", or a column with the path of its file; a mapping is not written out
    of_images: Mapping[str, str]
    notes: tuple[str, ...] = ()  # on what does not fit

    @property
    def names(self) -> list[str]:
        """The groups, numbers in their names in order."""
        return sorted(set(self.of_images.values()), key=natural)

    def require(self, name: str) -> str:
        """Insist that there is such a group."""
        if name not in self.names:
            known = first_names(self.names, 20)
            what = f"{format_setting(self.kind, name)}: there is no such {self.kind}"
            raise ArgumentError(f"{what}; the {self.kind}s are {known}")
        return name

    def among(self, names: Iterable[str]) -> Assignment:
        """Return what these images belong to by the same setting, with what is to be said of them alone."""
        images = sorted(names)
        if self.by == FOLDER:
            of_images = _first_folders(images)
        else:
            of_images = {name: self.of_images[name] for name in images if name in self.of_images}
        return replace(self, of_images=of_images, notes=_without(self.kind, of_images, images))

    def stored(self) -> dict[str, Any]:
        """Return what a results file holds: the setting, and the images with their groups unless names say these."""
        return {"by": self.by, "of_images": {} if self.by == FOLDER else dict(self.of_images)}


def assignments(settings: Mapping[str, By], names: Collection[str]) -> dict[str, Assignment]:
    """Return by kind what images belong to, as settings say; an empty value, or none, says nothing."""
    chosen = {name: by for name, by in settings.items() if by and by != _NONE}
    return {KINDS[name]: assignment(name, by, names) for name, by in chosen.items()}


def assignment(setting: str, by: str | Mapping[str, str], names: Iterable[str]) -> Assignment:
    """Say what images belong to, by their first folder, a column of a CSV file, or a mapping."""
    images, kind = sorted(names), KINDS[setting]
    label, what, strange = MAPPING, f"the mapping of {named(setting)}", list[str]()
    if isinstance(by, Mapping):
        of_images, strange = _fitted(kind, {str(name): str(group) for name, group in by.items()}, images)
    elif by == FOLDER:
        of_images, label, what = _first_folders(images), FOLDER, FOLDER
    else:
        path, column = _path_and_column(setting, by)
        of_images, strange = _fitted(kind, read_column(path, column), images)
        label, what = f"{Path(path).absolute()}:{column}", by
    if not of_images:
        by_folder = f"no image lies in a sub-folder; give {_COLUMN}"
        hint = by_folder if by == FOLDER else f"it names none of the images, which are called {first_names(images, 3)}"
        raise ArgumentError(f"{what if label == MAPPING else format_setting(setting, what)} gives no {kind}: {hint}")
    for name, group in of_images.items():
        if _RESERVED.fullmatch(group):
            raise ArgumentError(f"{name} is in a {kind} called {group!r}, which names another row; rename this {kind}")
    notes = _without(kind, of_images, images)
    if strange:
        notes += (f"{many(len(strange), 'row')} of {what} without an image: {first_names(strange, _LISTED)}",)
    return Assignment(kind, label, of_images, notes)


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


def _first_folders(images: Iterable[str]) -> dict[str, str]:
    """Return the first folder in the name of each image that has one; a million names share the texts."""
    return {name: sys.intern(name.partition("/")[0]) for name in images if "/" in name}


def _without(kind: str, of_images: Mapping[str, str], images: Sequence[str]) -> tuple[str, ...]:
    """Say which images belong to nothing; nothing where all do."""
    without = [name for name in images if name not in of_images]
    if not without:
        return ()
    return (f"{of_all(len(without), len(images), 'image')} in no {kind}: {first_names(without, _LISTED)}",)


def _fitted(kind: str, groups: Mapping[str, str], images: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Give the groups by image, whose name may be written with the suffix of a file; and names without an image."""
    known = set(images)
    found: dict[str, str] = {}
    strange = []
    for name, group in groups.items():
        image = next((each for each in (name, name.rpartition(".")[0]) if each in known), None)
        if image is None:
            strange.append(name)
        elif group and found.setdefault(image, group) != group:
            raise ArgumentError(f"{image!r} is in {found[image]!r} and, as {name!r}, in {group!r}; give it one {kind}")
    return found, strange


def _path_and_column(setting: str, by: str) -> tuple[str, str]:
    """Take the name of a column apart from the path of its CSV file."""
    path, colon, column = by.rpartition(":")
    if not colon or not path:
        raise ArgumentError(f"{format_setting(setting, by)} is not understood, {_EXPECTED}")
    return path, column
